/** Shapes an answer as a text message: short, in GSM-7 where possible, with numbered choices. */
import type { Choice } from "../../wire/TurnEvent.ts"
import type { ShapedText } from "../../domain/Sms.ts"
import { plain, segmentsOf } from "./gsm.ts"

/** Characters. */
export const MAX_LENGTH = 320

const ENDING = "..."

/** Whether a text can be cut here without splitting a word, a number or an address. */
const isBreak = (text: string, at: number): boolean =>
  /\s/.test(text[at]!) && !(/[\d+()/.-]/.test(text[at - 1] ?? "") && /[\d+(]/.test(text[at + 1] ?? ""))

/** Truncates a text at a word; at the end of a line if that keeps at least half of the room. */
export const fitted = (text: string, room: number): string => {
  if (text.length <= room) return text
  const most = room - ENDING.length
  const line = text.lastIndexOf("\n", most)
  if (line >= room / 2) return `${text.slice(0, line).trimEnd()}\n${ENDING}`.slice(0, room)
  for (let at = most; at > 0; at--) if (isBreak(text, at)) return `${text.slice(0, at).trimEnd()}${ENDING}`
  // A single word that does not fit: any part of it would be wrong.
  return ENDING
}

const shaped = (body: string): ShapedText => ({ body, segments: segmentsOf(body).count })

const tidy = (text: string): string =>
  plain(text)
    .replace(/ +/g, " ")
    .replace(/ ?\n\s*/g, "\n")
    .trim()

const ITEM = /^(\d{1,2})[.)] /

/** The introduction and the numbered lines of a list: the answer's own list if it numbers every choice. */
const listed = (text: string, choices: ReadonlyArray<Choice>) => {
  const lines = text.split("\n")
  const first = lines.findIndex((line) => ITEM.test(line))
  const items = lines.filter((line) => ITEM.test(line))
  return items.length >= choices.length && items.every((line, index) => ITEM.exec(line)![1] === String(index + 1))
    ? { intro: lines.slice(0, first).join("\n"), items: items.slice(0, choices.length) }
    : {
        intro: text,
        items: choices.map(({ name, status }, index) =>
          tidy(`${index + 1}. ${name}${status === undefined ? "" : `, ${status}`}`)
        )
      }
}

const offer = (count: number): string => (count === 2 ? "Reply 1 or 2." : `Reply 1 to ${count}.`)

/** A shaped text with the choices that fit in it. */
export interface Reply extends ShapedText {
  readonly choices: ReadonlyArray<Choice>
}

/** Shapes an answer; `greeting` introduces Max in the first text of a conversation. */
export const shapeReply = (text: string, choices: ReadonlyArray<Choice> = [], greeting = ""): Reply => {
  const start = tidy(greeting)
  const before = start === "" ? "" : `${start} `
  const said = tidy(text)
  if (choices.length < 2) return { ...shaped(before + fitted(said, MAX_LENGTH - before.length)), choices: [] }
  const { intro, items } = listed(said, choices)
  const tail = `\n${offer(10)}`.length
  const head = before + fitted(intro, Math.floor(MAX_LENGTH / 2) - before.length)
  const shown: Array<string> = []
  let left = MAX_LENGTH - head.length - tail
  for (const item of items) {
    if (item.length + 1 > left) break
    shown.push(item)
    left -= item.length + 1
  }
  // Fewer than two choices are no choice.
  if (shown.length < 2) return { ...shaped(before + fitted(said, MAX_LENGTH - before.length)), choices: [] }
  return { ...shaped([head, ...shown, offer(shown.length)].join("\n")), choices: choices.slice(0, shown.length) }
}
