/**
 * Between a model's words and a person: text waits for the next safe boundary, is put into its normal form, and leaves
 * when it is in people's language and every value in it is well-founded. What fails is never shown.
 */
import { type Claim, claims } from "./claims.ts"
import type { Grounds } from "./Grounding.ts"
import { normal, sentences } from "./normalize.ts"

const MACHINERY =
  /(?<![\p{L}\p{N}])(?:entit(?:y|ies)|ids?|columns?|tables?|filter(?:s|ed|ing)?|databases?|quer(?:y|ies|ied|ying)|records?|schemas?|listEntityTypes|listColumnsForType|findEntities|entityTypes?|entityTypeId|entityId|columnId|cursorEntityId|nextCursorEntityId|selectColumns|nameContains|displayName|ilike)(?![\p{L}\p{N}])/giu
const ID_LIKE = /(?<![\p{L}\p{N}])[a-z]{1,14}(?![\p{L}\p{N}])/gu

/** What is wrong with a part of a reply, and where. */
interface Fault {
  readonly start: number
  readonly end: number
  /** Told to the model that wrote it. */
  readonly reason: string
  /** May become right when its sentence turns out to be a question. */
  readonly untilSentenceEnds: boolean
}

const singular = (word: string): string => word.replace(/ies$/i, "y").replace(/s$/i, "")

const KINDS: Readonly<Record<Claim["kind"], string>> = {
  url: "link",
  email: "e-mail address",
  phone: "phone number",
  date: "date",
  relative: "date",
  time: "time",
  amount: "number"
}

/** How far back a claim that ends in new text can begin. */
const REACH = 120

/** The faults of a text that end behind a position, in order. */
const faultsOf = (text: string, from: number, grounds: Grounds): ReadonlyArray<Fault> => {
  const offset = Math.max(0, from - REACH)
  const window = text.slice(offset)
  const faults: Array<Fault> = []
  const add = (start: number, end: number, reason: string, untilSentenceEnds = false) => {
    if (offset + end > from) faults.push({ start: offset + start, end: offset + end, reason, untilSentenceEnds })
  }
  for (const claim of claims(window, grounds.place)) {
    if (grounds.holds(claim)) continue
    const what = window.slice(claim.start, claim.end)
    add(
      claim.start,
      claim.end,
      `The ${KINDS[claim.kind]} "${what}" is in no result and wasn't written by the person.`,
      claim.kind === "relative"
    )
  }
  for (const match of window.matchAll(MACHINERY)) {
    const [word] = match
    if (grounds.knowsWord(word) || grounds.knowsWord(singular(word))) continue
    add(match.index, match.index + word.length, `"${word}" is a word of the machinery.`)
  }
  for (const match of window.matchAll(ID_LIKE)) {
    const [word] = match
    if (!grounds.isId(word) || grounds.knowsWord(word)) continue
    add(match.index, match.index + word.length, `"${word}" is internal.`)
  }
  return faults.sort((a, b) => a.start - b.start)
}

/** A word behind which a claim can't go on: letters that are part of no date, amount or address. */
const PLAIN = /^["'“‘(*_-]*\p{L}[\p{L}\p{M}'’-]*["'”’)*_]*[,;!?]?$/u
const GOES_ON =
  /^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|^(?:of|and|at|in|on|to|a|an|the|this|next|last|coming|previous|past|today|tonight|tomorrow|yesterday|one|two|three|four|five|six|seven|ten|days?|weeks?|months?|years?|ago|dot|usd|eur|gbp|jpy|chf|cad|aud|inr|dollars?|euros?|pounds?)$|day$/i

/** The end of what may be judged now: behind the last word that no claim can go on from. */
const safeBoundary = (text: string, from: number): number => {
  let boundary = from
  for (const match of text.slice(from).matchAll(/\S+\s+/g)) {
    const word = match[0].trimEnd()
    if ((PLAIN.test(word) && !GOES_ON.test(word)) || match[0].includes("\n")) {
      boundary = from + match.index + match[0].length
    }
  }
  return boundary
}

interface Judged {
  /** Text that may be shown now. */
  readonly text: string
  /** Why the reply has failed; nothing more of it may be shown. */
  readonly fault?: string
}

export interface ReplyGuard {
  readonly push: (delta: string) => Judged
  readonly end: () => Judged
  /** Whether a part was left out. */
  readonly leftOut: () => boolean
}

/** Judges a reply as it comes; the first fault ends it. */
export const strictGuard = (grounds: Grounds): ReplyGuard => {
  // In its normal form up to the last white space; a word that isn't complete is normalized when it is.
  let text = ""
  let tail = ""
  let shown = 0
  let failed = false
  const judge = (boundary: number, ended: boolean): Judged => {
    let until = boundary
    for (const fault of faultsOf(text.slice(0, boundary), shown, grounds)) {
      const [sentence, complete] = sentenceAt(sentences(text), fault.start)
      const isOver = complete || ended
      if (fault.untilSentenceEnds && isOver && sentence.trimEnd().endsWith("?")) continue
      if (!fault.untilSentenceEnds || isOver) {
        failed = true
        return { text: "", fault: fault.reason }
      }
      until = fault.start
      break
    }
    const released = text.slice(shown, until)
    shown = Math.max(shown, until)
    return { text: released }
  }
  return {
    push: (delta) => {
      if (failed) return { text: "" }
      tail += delta
      const cut = tail.search(/\s\S*$/)
      if (cut < 0) return { text: "" }
      text += normal(tail.slice(0, cut + 1))
      tail = tail.slice(cut + 1)
      const boundary = safeBoundary(text, shown)
      return boundary > shown ? judge(boundary, false) : { text: "" }
    },
    end: () => {
      if (failed) return { text: "" }
      text += normal(tail)
      tail = ""
      return judge(text.length, true)
    },
    leftOut: () => false
  }
}

/** Judges a reply sentence by sentence and leaves out those that fail. */
export const lenientGuard = (grounds: Grounds): ReplyGuard => {
  let rest = ""
  let left = false
  const judge = (parts: ReadonlyArray<string>): Judged => ({
    text: parts
      .filter((part) => {
        const question = part.trimEnd().endsWith("?")
        const passes = faultsOf(part, 0, grounds).every((fault) => question && fault.untilSentenceEnds)
        left ||= !passes
        return passes
      })
      .join("")
  })
  return {
    push: (delta) => {
      rest += delta
      const parts = sentences(normal(rest))
      if (parts.length < 2) return { text: "" }
      rest = parts.at(-1)!
      return judge(parts.slice(0, -1))
    },
    end: () => {
      const parts = sentences(normal(rest))
      rest = ""
      return judge(parts)
    },
    leftOut: () => left
  }
}

/** The sentence at a position, and whether it has ended. */
const sentenceAt = (parts: ReadonlyArray<string>, position: number): readonly [string, boolean] => {
  let end = 0
  for (const [index, part] of parts.entries()) {
    end += part.length
    if (position < end) return [part, index < parts.length - 1]
  }
  return [parts.at(-1) ?? "", false]
}
