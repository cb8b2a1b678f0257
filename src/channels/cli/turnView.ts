/** Shows a turn: streaming on a terminal; in a pipe only the complete answer, so that retracted text never appears there. */
import { printable } from "../../domain/text.ts"
import type { Figures } from "../../domain/Presented.ts"
import type { Choice, TurnEvent } from "../../wire/TurnEvent.ts"
import { tableLines, terminal, type Terminal } from "./figuresView.ts"
import { dim } from "./output.ts"

interface Screen {
  readonly columns: number
  /** Draws figures; absent where the answer's text says enough. */
  readonly figures?: Terminal
  readonly write: (text: string) => void
}

export interface TurnView {
  readonly show: (event: TurnEvent) => void
  /** The choices of the last answer. */
  readonly choices: () => ReadonlyArray<Choice>
  /** Ends a turn that was cancelled. */
  readonly cancelled: () => void
}

/** Removes everything that could move the cursor, except line ends. */
const safe = (text: string): string => text.split("\n").map(printable).join("\n")

const choiceLines = (choices: ReadonlyArray<Choice>): string =>
  choices
    .map(
      ({ name, status }, index) =>
        `  ${index + 1}  ${printable(name)}${status === undefined ? "" : ` (${printable(status)})`}\n`
    )
    .join("")

/** The choices, unless the answer numbers them itself. */
const choicesAfter = (text: string, choices: ReadonlyArray<Choice>): string =>
  choices.every((_, index) => new RegExp(`^${index + 1}\\. `, "m").test(text)) ? "" : choiceLines(choices)

/** An answer whose groups are tables: in the place of their list in the text, or below it. */
const withTables = (text: string, figures: ReadonlyArray<Figures>, terminal: Terminal): string => {
  const [from, to] = figures.find(({ lines }) => lines !== undefined)?.lines ?? []
  const lines = text.split("\n")
  const tables = figures.flatMap((one) => ["", ...tableLines(one, terminal)])
  return from === undefined
    ? [...lines, ...tables].join("\n")
    : [...lines.slice(0, from), ...tables.slice(1), ...lines.slice(to)].join("\n")
}

/** For a terminal. */
const liveView = (screen: Screen): TurnView => {
  let said = ""
  let activity = false
  let choices: ReadonlyArray<Choice> = []
  let figures: ReadonlyArray<Figures> = []
  const clearActivity = () => {
    if (activity) screen.write("\r\u001b[2K")
    activity = false
  }
  const rows = () =>
    said.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil([...line].length / screen.columns)), 0)
  const retract = () => {
    if (said === "") return
    const up = rows() - 1
    screen.write(`\r${up > 0 ? `\u001b[${up}A` : ""}\u001b[J`)
    said = ""
  }
  const end = (text: string) => {
    clearActivity()
    if (said !== "") screen.write("\n")
    if (text !== "") screen.write(text)
    said = ""
  }
  return {
    choices: () => choices,
    cancelled: () => end(dim("Stopped.\n")),
    show: (event) => {
      switch (event._tag) {
        case "tool":
          clearActivity()
          if (said === "") {
            screen.write(dim(printable(event.message)))
            activity = true
          }
          return
        case "delta": {
          clearActivity()
          const text = safe(event.text)
          said += text
          return screen.write(text)
        }
        case "retract":
          clearActivity()
          return retract()
        case "matches":
          choices = event.choices
          return
        case "figures":
          figures = [...figures, event.figures]
          return
        case "done": {
          if (figures.length > 0 && screen.figures !== undefined) {
            retract()
            said = withTables(safe(event.text), figures, screen.figures)
            figures = []
            screen.write(said)
          }
          const left = choicesAfter(said, choices)
          return end(left === "" ? "" : dim(left))
        }
        case "error":
          retract()
          return end(`${safe(event.message)}\n`)
      }
    }
  }
}

/** For a pipe or a file. */
export const quietView = (screen: Screen): TurnView => {
  let choices: ReadonlyArray<Choice> = []
  return {
    choices: () => choices,
    cancelled: () => undefined,
    show: (event) => {
      if (event._tag === "matches") choices = event.choices
      if (event._tag === "done") screen.write(`${safe(event.text)}\n${choicesAfter(event.text, choices)}`)
      if (event._tag === "error") screen.write(`${safe(event.message)}\n`)
    }
  }
}

/** The view for a terminal or a pipe. */
export const viewOf = (output: NodeJS.WriteStream): TurnView => {
  const screen: Screen = { columns: output.columns ?? 80, write: (text) => void output.write(text) }
  return output.isTTY ? liveView({ ...screen, figures: terminal(output) }) : quietView(screen)
}
