/** An answer as a text message: short, in the carrier's alphabet where it can be, with numbered choices. */
import type { Choice } from "../../wire/TurnEvent.ts"
import type { ShapedText } from "../../domain/Sms.ts"
import { plain, segmentsOf } from "./gsm.ts"

/** Characters of a text. */
export const MAX_LENGTH = 320

const ENDING = "..."

/** Where a text can end without a word, a number or an address being cut in two. */
const isBreak = (text: string, at: number): boolean =>
  /\s/.test(text[at]!) && !(/[\d+()/.-]/.test(text[at - 1] ?? "") && /[\d+(]/.test(text[at + 1] ?? ""))

/** The beginning of a text that fits, whole words only; at a line's end when that isn't much shorter. */
export const fitted = (text: string, room: number): string => {
  if (text.length <= room) return text
  const most = room - ENDING.length
  const line = text.lastIndexOf("\n", most)
  if (line >= room / 2) return `${text.slice(0, line).trimEnd()}\n${ENDING}`.slice(0, room)
  for (let at = most; at > 0; at--) if (isBreak(text, at)) return `${text.slice(0, at).trimEnd()}${ENDING}`
  // One word that is longer than a text: none of it would be right.
  return ENDING
}

const shaped = (body: string): ShapedText => ({ body, segments: segmentsOf(body).count })

const tidy = (text: string): string =>
  plain(text)
    .replace(/ +/g, " ")
    .replace(/ *\n\s*/g, "\n")
    .trim()

const ITEM = /^(\d{1,2})[.)] /

/** What stands before a list, and its lines in their order; the list is the text's own if it numbers every choice. */
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

/** A text and the choices that it offers: those that it had room for. */
export interface Reply extends ShapedText {
  readonly choices: ReadonlyArray<Choice>
}

/** Shapes an answer; `greeting` is who speaks, where the person hasn't been told. */
export const shapeReply = (text: string, choices: ReadonlyArray<Choice> = [], greeting = ""): Reply => {
  const start = tidy(greeting)
  const before = start === "" ? "" : `${start} `
  const said = tidy(text)
  if (choices.length < 2) return { ...shaped(before + fitted(said, MAX_LENGTH - before.length)), choices: [] }
  const { intro, items } = listed(said, choices)
  const tail = `\n${offer(10)}`.length
  const head = before + fitted(intro, Math.floor(MAX_LENGTH / 2) - before.length)
  const kept: Array<string> = []
  let left = MAX_LENGTH - head.length - tail
  for (const item of items) {
    if (item.length + 1 > left) break
    kept.push(item)
    left -= item.length + 1
  }
  // Without room for two there is nothing to choose from.
  if (kept.length < 2) return { ...shaped(before + fitted(said, MAX_LENGTH - before.length)), choices: [] }
  return { ...shaped([head, ...kept, offer(kept.length)].join("\n")), choices: choices.slice(0, kept.length) }
}
