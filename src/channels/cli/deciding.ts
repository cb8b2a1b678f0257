/**
 * A person's decision at the terminal: the change in lines, then a question. Without a terminal nothing is asked: the command
 * that confirms is printed, because a pipe can't have looked.
 */
import { Console, Effect } from "effect"
import { createInterface } from "node:readline"
import type { Preview } from "../../domain/Change.ts"
import { Changes } from "../../services/changes/Changes.ts"
import { changeLines, confirmCommand, receiptLine, shown } from "./changeView.ts"
import { note } from "./output.ts"

/** Who has the terminal has the database's credentials, so it admits administrators as such. */
export const TERMINAL = { channel: "terminal", administers: true }

/** Whether a person sits at both ends. */
export const isInteractive = (): boolean => process.stdin.isTTY === true && process.stdout.isTTY === true

/** Asks one question; undefined at the end of input. */
export type Ask = (question: string) => Effect.Effect<string | undefined>

/** Asks on the process's own terminal. */
export const askTerminal: Ask = (question) =>
  Effect.callback<string | undefined>((resume) => {
    const lines = createInterface({ input: process.stdin, output: process.stdout })
    let answer: string | undefined
    lines.on("close", () => resume(Effect.succeed(answer)))
    lines.question(question, (text) => {
      answer = text
      lines.close()
    })
    return Effect.sync(() => lines.close())
  })

const isYes = (answer: string | undefined): boolean => /^\s*y(es)?\s*$/i.test(answer ?? "")
/** The second confirmation is at least a second after the first; a quick answer waits the rest of it. */
const A_SECOND = "1100 millis"

/**
 * Shows a change and asks for the decision; in a pipe it prints the command that confirms it. `afterAnswer`: it stands below an
 * answer, which says that nothing has changed yet.
 */
export const decide = Effect.fnUntraced(function* (preview: Preview, ask: Ask | undefined, afterAnswer = false) {
  yield* Console.log(changeLines(preview, afterAnswer).join("\n"))
  const { changeId, digest, level, rows } = preview
  if (digest === undefined) return
  if (ask === undefined) return yield* note(`To confirm it: ${confirmCommand(preview)}`)
  const changes = yield* Changes
  if (!preview.confirmedOnce) {
    const answer = yield* ask("Change it? [y/N] ")
    // The end of input is no decision: the change stays open until it expires.
    if (answer === undefined) return
    if (!isYes(answer)) {
      yield* changes.reject(changeId, TERMINAL)
      return yield* Console.log("Nothing was changed.")
    }
  }
  const first = yield* changes.confirm({ changeId, digest, via: TERMINAL })
  if (first._tag === "Applied") return yield* Console.log(receiptLine(first.receipt, changeId))
  if (first._tag === "Waiting") return yield* Console.log(waitingLine(changeId, first.approvers))
  const what = preview.destructive ? "delete" : "change"
  const typed = yield* ask(`Type ${first.rows} to ${what} ${first.rows === 1 ? "this row" : "these rows"}: `)
  if (typed === undefined) return
  if (level !== "twice" || typed.trim() !== String(rows)) {
    yield* changes.reject(changeId, TERMINAL)
    return yield* Console.log("Nothing was changed.")
  }
  yield* Effect.sleep(A_SECOND)
  const second = yield* changes.confirm({ changeId, digest, rows, via: TERMINAL })
  if (second._tag === "Applied") yield* Console.log(receiptLine(second.receipt, changeId))
})

/** What a confirmed change of level `second` waits for. */
export const waitingLine = (changeId: string, approvers: ReadonlyArray<string>): string =>
  `Waits for another person with the role ${approvers.map(shown).join(" or ")}: max inbox shows it to them, max change show ${changeId} to you.`

/** The open changes of a conversation that its person hasn't decided; none while changes are switched off. */
export const openIn = Effect.fnUntraced(function* (sessionId: string) {
  const changes = yield* Changes
  const waiting = yield* Effect.catchTag(changes.list({ which: "me", sessionId }), "NotInScope", () =>
    Effect.succeed([])
  )
  return yield* Effect.forEach(waiting.filter(({ state }) => state === "open").toReversed(), ({ changeId }) =>
    changes.preview(changeId, TERMINAL)
  )
})
