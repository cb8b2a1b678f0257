/** What the shapes of requests make of their captures. */
import { Deed, type Follows, Part, Setting, Subject } from "./Deed.ts"
import { lengthAt } from "./lengths.ts"
import { NO_ONE } from "./lexicon.ts"
import type { Calendar } from "./moments.ts"
import type { Captures } from "./shapes.ts"
import { contactOf } from "./vocabulary.ts"
import type { Word } from "./words.ts"

type Words = ReadonlyArray<Word>

/** Reads the words of a subject; undefined if they can't be one. */
type ReadSubject = (words: Words) => Subject | undefined

export type Build = (
  captures: Captures,
  read: ReadSubject,
  calendar: Calendar
) => Part | ReadonlyArray<Part> | undefined

/** Shapes, and what they make. */
export type Rule = readonly [shapes: ReadonlyArray<string>, build: Build]

/** A word that the person hasn't said. */
export const unsaid = (word: string) => ({ text: word, word, after: "", capital: false, start: 0, end: 0 })

export const update =
  (settings: (captures: Captures) => ReadonlyArray<Setting>, enough?: boolean | Follows): Build =>
  (captures, read) => {
    const subject = captures["x"] === undefined ? Subject.It() : read(captures["x"])
    if (subject === undefined) return undefined
    const deed = Deed.Update({ subject, settings: settings(captures) })
    if (enough === undefined) return Part.Order({ deed })
    return typeof enough === "boolean"
      ? Part.Statement({ deed, enough })
      : Part.Statement({ deed, enough: true, follows: enough })
  }

/** What a person did or wants: only "please update that" asks for it. */
export const reported =
  (settings: (captures: Captures) => ReadonlyArray<Setting>): Build =>
  (captures, read) => {
    const subject = read(captures["x"]!)
    return (
      subject &&
      Part.Statement({ deed: Deed.Update({ subject, settings: settings(captures) }), enough: false, isReported: true })
    )
  }

/** Only where a set of rows is meant: "give Raj all of Lena's leads". */
export const ofRows =
  (build: Build): Build =>
  (captures, read, calendar) =>
    captures["x"] !== undefined && read(captures["x"])?._tag === "Rows" ? build(captures, read, calendar) : undefined

/** "New number for Ada: 512-555-0100". */
const isNumber = ({ c, v }: Captures): boolean =>
  c?.length === 1 && /^(number|cell|mobile)$/.test(c[0]!.word) && v !== undefined && contactOf(v) === "phone"

const was = ({ o }: Captures) => (o === undefined ? {} : { was: o })
export const column = (captures: Captures): ReadonlyArray<Setting> => [
  isNumber(captures)
    ? Setting.Value({ value: captures["v"]!, ...was(captures) })
    : Setting.Column({ column: captures["c"]!, value: captures["v"]!, ...was(captures) })
]
export const value = (captures: Captures) => [
  Setting.Value({
    value: captures["v"]!,
    ...was(captures),
    ...(captures["c"] === undefined ? {} : { kind: captures["c"] })
  })
]
/** "high priority". */
export const labelled = ({ s, ...captures }: Captures) => column(s === undefined ? captures : { ...captures, v: s })
/** Settings in a list. */
export const listed: Build = ({ list, x }, read) => {
  const subject = x === undefined ? undefined : read(x)
  return subject && Part.Order({ deed: Deed.Update({ subject, settings: [], list: list! }) })
}
export const moment = ({ t }: Captures) => [Setting.Value({ value: t! })]
export const owner = (captures: Captures) => [
  Setting.Concept({ concept: "owner", value: captures["p"]!, ...was(captures) })
]
/** "Assign it to no one" leaves it without an owner. */
export const handed = (captures: Captures): ReadonlyArray<Setting> =>
  NO_ONE.has(captures["p"]!.map(({ quoted, word }) => (quoted === true ? '"' : word)).join(" "))
    ? [Setting.Column({ column: [unsaid("owner")], value: [], ...was(captures) })]
    : owner(captures)
export const named = ({ v }: Captures) => [Setting.Concept({ concept: "name", value: v! })]
export const emptied = ({ c }: Captures) => [Setting.Column({ column: c!, value: [] })]

export const shift =
  (sign: 1 | -1): Build =>
  ({ c, d, x }, read) => {
    const subject = read(x!)
    const minutes = lengthAt(d!)?.value
    return subject === undefined || minutes === undefined
      ? undefined
      : Part.Order({
          deed: Deed.Shift({ subject, minutes: sign * minutes, ...(c === undefined ? {} : { column: c }) })
        })
  }
export const stretch =
  (sign: 1 | -1): Build =>
  ({ d, x }, read) => {
    const subject = read(x!)
    const minutes = lengthAt(d!)?.value
    return subject === undefined || minutes === undefined
      ? undefined
      : Part.Order({ deed: Deed.Stretch({ subject, minutes: sign * minutes }) })
  }

/** "Take it off my list": someone else can take it, so it isn't deleted. */
const OWN_DUTIES = /^my (?:to-do |todo |task )?(?:list|plate|desk|board|pile|backlog)$/

export const remove: Build = ({ place, x }, read) => {
  if (place !== undefined && OWN_DUTIES.test(place.map(({ word }) => word).join(" "))) return undefined
  const subject = read(x!)
  return subject && Part.Order({ deed: Deed.Delete({ subject }) })
}

/** A statement that asks for nothing by itself. */
export const background: Build = ({ x }, read) => {
  const subject = x === undefined ? undefined : read(x)
  return x !== undefined && subject === undefined
    ? undefined
    : Part.Statement({ enough: false, ...(subject === undefined ? {} : { subject }) })
}
