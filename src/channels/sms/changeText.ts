/**
 * A change as one text, made by code from its preview: the whole of it with the words that confirm it, or a link. No part of
 * a change is left out, and no value can be read as Max's own words.
 */
import type { Preview, PreviewCell, PreviewStep } from "../../domain/Change.ts"
import { printable } from "../../domain/text.ts"
import type { TurnEvent } from "../../wire/TurnEvent.ts"
import { askingFor } from "./codes.ts"
import { plain } from "./gsm.ts"
import { MAX_LENGTH } from "./shapeReply.ts"

/** Characters of the longest value in a text. A longer one may have been cut already. */
const MAX_VALUE = 100
/** A value without quotes is a few words without punctuation that separates the parts of the text. */
const BARE = /^[\p{L}\p{N}+@#]([\p{L}\p{N} .,@+&'()/_-]{0,40})$/u
const MAX_WORDS = 5
const RIGHT_TO_LEFT = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u

/** A value within a text; undefined if it can't be told apart from the words around it. */
const shown = (text: string): string | undefined => {
  const value = plain(printable(text)).trim()
  if (value === "" || value.length > MAX_VALUE || RIGHT_TO_LEFT.test(value)) return undefined
  if (BARE.test(value) && value.split(" ").length <= MAX_WORDS) return value
  return value.includes('"') ? undefined : `"${value}"`
}

const EMPTY = "(empty)"

const cellText = ({ becomes, name, was }: PreviewCell, isNew: boolean): string | undefined => {
  const column = shown(name)
  const before = was === undefined ? EMPTY : shown(was)
  const after = becomes === undefined ? EMPTY : shown(becomes)
  if (column === undefined || before === undefined || after === undefined) return undefined
  return isNew ? `${column} ${after}` : `${column} ${before} -> ${after}`
}

const stepText = ({ action, actionId, cells, displayName }: PreviewStep): string | undefined => {
  const isNew = actionId.endsWith(".create")
  const subject = isNew ? shown(action) : displayName === undefined ? undefined : shown(displayName)
  const parts = cells.map((cell) => cellText(cell, isNew))
  return subject === undefined || parts.includes(undefined) || parts.length === 0
    ? undefined
    : `${subject}: ${parts.join(", ")}`
}

/** The text that asks for a change's confirmation; undefined if the change needs more than one text, or more than one yes. */
const wholeText = ({
  complete,
  destructive,
  level,
  own,
  remains,
  seconds,
  state,
  steps
}: Preview): string | undefined => {
  if (remains !== undefined) return undefined
  if (state !== "open" || level !== "once" || !own || !complete || destructive || seconds === undefined)
    return undefined
  const parts = steps.map(stepText)
  return parts.length === 0 || parts.includes(undefined) ? undefined : `${parts.join("; ")}? ${askingFor(seconds)}`
}

export interface ChangeText {
  readonly text: string
  /** The change that the text asks to confirm; absent if it has the link. */
  readonly changeId?: string
}

/** The address of a change on Max's page. */
export const linkOf = (publicUrl: string | undefined, changeId: string): string =>
  publicUrl === undefined ? "Max's page" : `${publicUrl}/inbox/${changeId}`

/** The text for the changes that an answer drafted. `byCode`: the number may confirm by code now. */
export const changeText = (
  drafts: ReadonlyArray<Preview>,
  { byCode, greeting, publicUrl }: { byCode: boolean; greeting: string; publicUrl: string | undefined }
): ChangeText => {
  const [draft, ...others] = drafts
  const whole = byCode && others.length === 0 ? wholeText(draft!) : undefined
  const greeted = [`${greeting} ${whole}`.trim(), whole].find((text) => text !== undefined && text.length <= MAX_LENGTH)
  if (whole !== undefined && greeted !== undefined) return { text: greeted, changeId: draft!.changeId }
  return {
    text: `Nothing has changed yet. Look at this change and confirm it here: ${linkOf(publicUrl, draft!.changeId)}`
  }
}

/** The changes of an answer that wait for a decision. */
export const draftsIn = (events: ReadonlyArray<TurnEvent>): ReadonlyArray<Preview> =>
  events.flatMap((event) =>
    event._tag === "draft" && (event.draft.state === "open" || event.draft.state === "waiting") ? [event.draft] : []
  )
