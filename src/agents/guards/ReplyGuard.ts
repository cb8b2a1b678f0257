/**
 * The output guard between a model and a person. It buffers streamed text up to the next safe boundary, normalizes it,
 * and releases it if it avoids internal vocabulary and every value in it is grounded. A reply that fails is never shown.
 */
import { type Claim, claims } from "./claims.ts"
import { claimsDeed } from "./deeds.ts"
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

/** Characters of a claim in the reason that the model reads. */
const MAX_CITED = 200

/** The faults of a text that end after a position, in order. */
const faultsOf = (text: string, from: number, grounding: Grounding): ReadonlyArray<Fault> => {
  const offset = Math.max(0, from - LOOKBACK)
  const window = text.slice(offset)
  const faults: Array<Fault> = []
  const { seen } = grounding
  const add = (start: number, end: number, reason: string, untilSentenceEnds = false) => {
    if (offset + end > from) faults.push({ start: offset + start, end: offset + end, reason, untilSentenceEnds })
  }
  for (const claim of claims(window, grounding.locale)) {
    if (grounding.isGrounded(claim)) {
      if (seen.size > 1) {
        const { end, text: sentence } = sentenceAround(text, offset + claim.start)
        // The name may follow the value, so a sentence is judged again as it grows.
        if (seen.contradicts(sentence, claim)) add(claim.start, end - offset, CONTRADICTS)
      }
      continue
    }
    const what = window.slice(claim.start, claim.end).slice(0, MAX_CITED)
    const isPercent = what.endsWith("%")
    if (isPercent && grounding.figures.isShare(window.slice(claim.start))) continue
    add(
      claim.start,
      claim.end,
      `The ${KINDS[claim.kind]} "${what}" occurs neither in a result nor in what the person wrote.`,
      // The numbers of a share follow it.
      claim.kind === "relative" || (isPercent && !ENDED.test(window.slice(claim.end)))
    )
  }
  for (const match of seen.size > 1 ? window.matchAll(STATUS_IS) : []) {
    const { end, text: sentence } = sentenceAround(text, offset + match.index)
    if (seen.contradictsStatus(sentence)) add(match.index, end - offset, CONTRADICTS)
  }
  const { deeds, figures } = grounding
  if (!deeds.isApplied() || figures.size > 0) {
    const begin = Math.max(0, from - MAX_SENTENCE)
    let at = begin - offset
    for (const sentence of sentences(text.slice(begin))) {
      const end = at + sentence.length
      if (offset + end > from) {
        if (!deeds.isApplied() && claimsDeed(sentence, grounding.deeds.of())) add(at, end, NO_RECEIPT)
        const problem = figures.problem(sentence, grounding.locale)
        // Another group may follow, so only a whole sentence is judged.
        if (problem !== undefined) add(at, end, problem, true)
      }
      at = end
    }
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

const STATUS_IS = /status is \p{L}+/giu
const ENDS = /[.!?]\s|\n/
/** Also at the end of the text, so that a percentage in a last question isn't forgiven. */
const ENDED = /[.!?](?:\s|$)|\n/

const NO_RECEIPT = "It says that something was changed. Nothing was: a change happens when the person confirms it."
const CONTRADICTS = "A value or status is not the one of the only entity that its sentence names."

/** The sentence or line around a position, as far as it has been written, and where it ends. */
const sentenceAround = (text: string, at: number): { readonly text: string; readonly end: number } => {
  const before = text.slice(Math.max(0, at - MAX_SENTENCE), at).split(ENDS)
  const [after = ""] = text.slice(at, at + MAX_SENTENCE).split(ENDS)
  return { text: before.at(-1)! + after, end: at + after.length }
}

/** A word after which no claim can continue: letters that are not part of a date, amount or address. */
const TERMINATES_CLAIM = /^["'“‘(*_-]*\p{L}[\p{L}\p{M}'’-]*(?:["”)*_]["'”’)*_]*)?[,;!?]?$/u
const CONTINUES_CLAIM =
  /^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|^(?:of|and|at|in|on|to|a|an|the|this|next|last|coming|previous|past|today|tonight|tomorrow|yesterday|one|two|three|four|five|six|seven|ten|days?|weeks?|months?|years?|ago|dot|usd|eur|gbp|jpy|chf|cad|aud|inr|dollars?|euros?|pounds?)$|day$/i

/** The end of the text that can be judged now, among words from a position on: after the last one that ends all claims. */
const safeBoundary = (text: string, from: number): number | undefined => {
  let boundary: number | undefined
  let at = from
  for (const piece of text.slice(from).split(/(?<=\s)(?=\S)/)) {
    const word = piece.trim()
    at += piece.length
    if ((TERMINATES_CLAIM.test(word) && !CONTINUES_CLAIM.test(word)) || piece.includes("\n")) boundary = at
  }
  return boundary
}

/** The position after the last white space; 0 if there is none. */
const lastSpaceEnd = (text: string): number => {
  let end = text.length
  while (end > 0 && !/\s/.test(text[end - 1]!)) end -= 1
  return end
}

/** Several times what a model may write in one reply. A longer reply is a fault: a cut could shorten a number. */
const MAX_REPLY = 16_000
const TOO_LONG = `The reply is longer than ${MAX_REPLY} characters.`

/** Characters before new text in which its sentence is looked for, and in which a question may stay open. */
const MAX_SENTENCE = 2000

/** Sentences and lines that are judged one by one. */
const MAX_SENTENCES = 500

/** Normalizes a part of a reply; more than the limit shows that the reply is too long. */
const normalizePart = (text: string): string => normalize(text, MAX_REPLY + 1)

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
  let boundary = 0
  /** A date that is forgiven if its sentence, which has not ended yet, becomes a question. */
  let pending = false
  let failed = false
  const fail = (fault: string): Verdict => {
    failed = true
    return { text: "", fault }
  }
  const judge = (ended: boolean): Verdict => {
    let until = boundary
    let sentenceAt: SentenceAt | undefined
    const start = Math.max(0, shown - MAX_SENTENCE)
    pending = false
    for (const fault of faultsOf(text.slice(0, boundary), shown, grounding)) {
      sentenceAt ??= sentencesOf(text.slice(start))
      const [sentence, complete] = sentenceAt(fault.start - start)
      const isComplete = complete || ended || text.length - shown > MAX_SENTENCE
      if (fault.untilSentenceEnds && isComplete && sentence.trimEnd().endsWith("?")) continue
      if (!fault.untilSentenceEnds || isComplete) return fail(fault.reason)
      pending = true
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
      const cut = lastSpaceEnd(delta)
      if (text.length + tail.length + delta.length > MAX_REPLY) return fail(TOO_LONG)
      if (cut === 0) {
        tail += delta
        return { text: "" }
      }
      const read = text.length
      text += normalizePart(tail + delta.slice(0, cut))
      tail = delta.slice(cut)
      if (text.length > MAX_REPLY) return fail(TOO_LONG)
      boundary = safeBoundary(text, read) ?? boundary
      // Only the end of its sentence decides an open question.
      if (pending && !/[.!?…\n]/.test(text.slice(read)) && text.length - shown <= MAX_SENTENCE) return { text: "" }
      return boundary > shown ? judge(false) : { text: "" }
    },
    end: () => {
      if (failed) return { text: "" }
      text += normalizePart(tail)
      tail = ""
      if (text.length > MAX_REPLY) return fail(TOO_LONG)
      boundary = text.length
      return judge(true)
    },
    removedText: () => false
  }
}

/** Judges a reply sentence by sentence and removes the sentences that fail. */
export const lenientGuard = (grounding: Grounding): ReplyGuard => {
  let rest = ""
  let read = 0
  /** The length from which a long sentence is looked at again. */
  let next = 0
  let removed = false
  const parted = (): ReadonlyArray<string> => {
    const parts = sentences(normalizePart(rest))
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    if (read <= MAX_REPLY && length <= MAX_REPLY && parts.length <= MAX_SENTENCES) return parts
    // What follows is left out, and with it the sentence that it continues.
    removed = true
    return [""]
  }
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
      read += delta.length
      rest = read > MAX_REPLY ? "" : rest + delta
      if (rest.length < next) return { text: "" }
      const parts = parted()
      rest = parts.at(-1)!
      next = rest.length > MAX_SENTENCE ? rest.length * 1.25 : 0
      if (parts.length < 2) return { text: "" }
      return judge(parts.slice(0, -1))
    },
    end: () => {
      const parts = parted()
      rest = ""
      return judge(parts)
    },
    removedText: () => removed
  }
}

/** The sentence at a position, and whether it is complete; positions are asked in ascending order. */
type SentenceAt = (position: number) => readonly [sentence: string, complete: boolean]

const sentencesOf = (text: string): SentenceAt => {
  const parts = sentences(text)
  let index = 0
  let end = parts[0]!.length
  return (position) => {
    while (position >= end && index < parts.length - 1) end += parts[++index]!.length
    return [parts[index]!, index < parts.length - 1]
  }
}
