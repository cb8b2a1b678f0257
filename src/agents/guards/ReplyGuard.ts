/**
 * The output guard between a model and a person. It buffers streamed text up to the next safe boundary, normalizes it,
 * and releases it if it avoids internal vocabulary and every value in it is grounded. A reply that fails is never shown.
 */
import { type Claim, claims } from "./claims.ts"
import type { Grounding } from "./Grounding.ts"
import { normalize, sentences } from "./normalize.ts"

const MACHINERY =
  /(?<![\p{L}\p{N}])(?:entit(?:y|ies)|ids?|columns?|tables?|filter(?:s|ed|ing)?|databases?|quer(?:y|ies|ied|ying)|records?|schemas?|listEntityTypes|listColumnsForType|findEntities|entityTypes?|entityTypeId|entityId|columnId|cursorEntityId|nextCursorEntityId|selectColumns|nameContains|displayName|ilike)(?![\p{L}\p{N}])/giu
const ID_LIKE = /(?<![\p{L}\p{N}])[a-z]{1,14}(?![\p{L}\p{N}])/gu

/** A violation in a reply, with its position. */
interface Fault {
  readonly start: number
  readonly end: number
  /** Sent back to the model. */
  readonly reason: string
  /** Forgiven if its sentence turns out to be a question. */
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

/** Characters before new text in which a claim that ends in it can begin. */
const LOOKBACK = 120

/** The faults of a text that end after a position, in order. */
const faultsOf = (text: string, from: number, grounding: Grounding): ReadonlyArray<Fault> => {
  const offset = Math.max(0, from - LOOKBACK)
  const window = text.slice(offset)
  const faults: Array<Fault> = []
  const add = (start: number, end: number, reason: string, untilSentenceEnds = false) => {
    if (offset + end > from) faults.push({ start: offset + start, end: offset + end, reason, untilSentenceEnds })
  }
  for (const claim of claims(window, grounding.locale)) {
    if (grounding.isGrounded(claim)) continue
    const what = window.slice(claim.start, claim.end)
    add(
      claim.start,
      claim.end,
      `The ${KINDS[claim.kind]} "${what}" occurs neither in a result nor in what the person wrote.`,
      claim.kind === "relative"
    )
  }
  for (const match of window.matchAll(MACHINERY)) {
    const [word] = match
    if (grounding.knowsWord(word) || grounding.knowsWord(singular(word))) continue
    add(match.index, match.index + word.length, `"${word}" is internal vocabulary.`)
  }
  for (const match of window.matchAll(ID_LIKE)) {
    const [word] = match
    if (!grounding.isId(word) || grounding.knowsWord(word)) continue
    add(match.index, match.index + word.length, `"${word}" is an internal id.`)
  }
  return faults.sort((a, b) => a.start - b.start)
}

/** A word after which no claim can continue: letters that are not part of a date, amount or address. */
const TERMINATES_CLAIM = /^["'“‘(*_-]*\p{L}[\p{L}\p{M}'’-]*["'”’)*_]*[,;!?]?$/u
const CONTINUES_CLAIM =
  /^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|^(?:of|and|at|in|on|to|a|an|the|this|next|last|coming|previous|past|today|tonight|tomorrow|yesterday|one|two|three|four|five|six|seven|ten|days?|weeks?|months?|years?|ago|dot|usd|eur|gbp|jpy|chf|cad|aud|inr|dollars?|euros?|pounds?)$|day$/i

/** The end of the text that can be judged now: after the last word that no claim can continue from. */
const safeBoundary = (text: string, from: number): number => {
  let boundary = from
  for (const match of text.slice(from).matchAll(/\S+\s+/g)) {
    const word = match[0].trimEnd()
    if ((TERMINATES_CLAIM.test(word) && !CONTINUES_CLAIM.test(word)) || match[0].includes("\n")) {
      boundary = from + match.index + match[0].length
    }
  }
  return boundary
}

interface Verdict {
  /** Text that may be shown now. */
  readonly text: string
  /** Why the reply failed. Nothing more of it may be shown. */
  readonly fault?: string
}

export interface ReplyGuard {
  readonly push: (delta: string) => Verdict
  readonly end: () => Verdict
  /** Whether the guard removed a sentence. */
  readonly removedText: () => boolean
}

/** Judges a reply as it streams; the first fault rejects the whole reply. */
export const strictGuard = (grounding: Grounding): ReplyGuard => {
  // `text` is normalized and ends at white space; `tail` is the incomplete last word, normalized once it is complete.
  let text = ""
  let tail = ""
  let shown = 0
  let failed = false
  const judge = (boundary: number, ended: boolean): Verdict => {
    let until = boundary
    for (const fault of faultsOf(text.slice(0, boundary), shown, grounding)) {
      const [sentence, complete] = sentenceAt(sentences(text), fault.start)
      const isComplete = complete || ended
      if (fault.untilSentenceEnds && isComplete && sentence.trimEnd().endsWith("?")) continue
      if (!fault.untilSentenceEnds || isComplete) {
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
      text += normalize(tail.slice(0, cut + 1))
      tail = tail.slice(cut + 1)
      const boundary = safeBoundary(text, shown)
      return boundary > shown ? judge(boundary, false) : { text: "" }
    },
    end: () => {
      if (failed) return { text: "" }
      text += normalize(tail)
      tail = ""
      return judge(text.length, true)
    },
    removedText: () => false
  }
}

/** Judges a reply sentence by sentence and removes the sentences that fail. */
export const lenientGuard = (grounding: Grounding): ReplyGuard => {
  let rest = ""
  let removed = false
  const judge = (parts: ReadonlyArray<string>): Verdict => ({
    text: parts
      .filter((part) => {
        const question = part.trimEnd().endsWith("?")
        const passes = faultsOf(part, 0, grounding).every((fault) => question && fault.untilSentenceEnds)
        removed ||= !passes
        return passes
      })
      .join("")
  })
  return {
    push: (delta) => {
      rest += delta
      const parts = sentences(normalize(rest))
      if (parts.length < 2) return { text: "" }
      rest = parts.at(-1)!
      return judge(parts.slice(0, -1))
    },
    end: () => {
      const parts = sentences(normalize(rest))
      rest = ""
      return judge(parts)
    },
    removedText: () => removed
  }
}

/** The sentence at a position, and whether it is complete. */
const sentenceAt = (parts: ReadonlyArray<string>, position: number): readonly [string, boolean] => {
  let end = 0
  for (const [index, part] of parts.entries()) {
    end += part.length
    if (position < end) return [part, index < parts.length - 1]
  }
  return [parts.at(-1) ?? "", false]
}
