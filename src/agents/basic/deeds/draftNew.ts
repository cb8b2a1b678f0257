/** Drafts a new row from what was said of it. */
import { PEOPLE } from "../../../domain/EntityType.ts"
import { foldText } from "../../../domain/keys.ts"
import { Effort } from "../Effort.ts"
import { both } from "../locate.ts"
import { inParallel, type Script } from "../script.ts"
import { type Deed, Setting } from "./Deed.ts"
import { type Draft, valuesOf } from "./Draft.ts"
import { person, type Problem, problem, RANKS, type World } from "./rows.ts"
import { calendarOf, clock, momentAt } from "./moments.ts"
import { readNew } from "./readNew.ts"
import { valuesAmong } from "./labels.ts"
import { FUNCTION_WORDS } from "./lexicon.ts"
import { type Cell, settle, type Target } from "./settle.ts"
import { columnOfConcept, type Vocabulary } from "./vocabulary.ts"
import { cannotDo, notWhole } from "./wording.ts"
import { type Said, textOf, type Word } from "./words.ts"

/** A new row, of which everything that was said is known. */
export function* creation(deed: Extract<Deed, { _tag: "Create" }>, world: World): Script<Draft | Problem> {
  const { context, said } = world
  const vocabulary = world.vocabularies.find(({ type }) => type.id === deed.type.id)!
  const actionId = `${deed.type.id}.create`
  const fields = world.fields.get(actionId)
  if (fields === undefined || typeof fields === "string") return problem(RANKS.refused, cannotDo(fields ?? ""))
  // "…, call it Handover": a sentence of its own has the name.
  const isNamed = (each: Setting) => each._tag === "Concept" && each.concept === "name"
  const [naming, ...renaming] = deed.settings.filter(isNamed)
  if (renaming.length > 0 || (naming !== undefined && deed.name !== undefined))
    return problem(RANKS.words, notWhole(context))
  const own = naming === undefined ? deed : { ...deed, name: naming.value }
  const what = readNew(own, vocabulary, fields, context, world.effort)
  if (what === undefined) return problem(RANKS.words, notWhole(context))
  if (what.name === undefined) return problem(RANKS.value, unnamed(deed.type))
  const isNew = naming === undefined && deed.name === undefined
  const before = deed.rest[deed.rest.findIndex(({ start }) => start === what.name![0]!.start) - 1]
  const isFound = isNew && !/^(called|named|titled|entitled|name|title)$/.test(before?.word ?? "")
  const doubt = yield* doubtOf(what.name, isFound, vocabulary, world)
  if (doubt !== undefined) return problem(RANKS.words, doubt)
  const target: Target = { vocabulary, fields, cells: {} }
  const said1 = what.people.filter((words) => !/^(her|him|them)$/.test(textOf(said, words).toLowerCase()))
  const guests = [...said1, ...(said1.length === 0 ? deed.people : [])]
  if (said1.length > 0 && deed.people.length > 0 && !sameWords(said1, deed.people, said))
    return problem(RANKS.words, notWhole(context))
  const times = timeCells(what, target)
  if (!Array.isArray(times)) return times
  const settings = [...deed.settings.filter((each) => !isNamed(each)), ...what.settings]
  const [people, settled, kind] = [
    yield* inParallel(guests.map((words) => person(words, world))),
    yield* inParallel(settings.map((setting) => ownerOrValue(setting, target, world))),
    deed.kind === undefined ? undefined : yield* kindCell(deed.kind, target)
  ]
  const wrong = [...people, ...settled].find((each) => each._tag === "Problem")
  if (wrong !== undefined) return wrong
  const column = columnOfConcept("attendees", vocabulary.columns)
  if (people.length > 0 && !fields.some(({ id }) => id === column))
    return problem(RANKS.value, "I can't say who is there.")
  const cells = settled.filter((each) => each._tag === "Cell")
  const values = valuesOf([
    { _tag: "Cell", column: "name", value: textOf(said, what.name), shown: "" },
    ...(kind === undefined ? [] : [kind]),
    ...cells,
    ...times,
    ...(people.length === 0
      ? []
      : [
          {
            _tag: "Cell" as const,
            column: column!,
            value: people.flatMap((each) => (each._tag === "Row" ? [each.id] : [])).join(";"),
            shown: ""
          }
        ])
  ])
  return typeof values === "string" ? problem(RANKS.value, values) : { _tag: "Draft", actionId, values }
}

/** "For Apollo": a person, or else a value that rows have. */
function* ownerOrValue(setting: Setting, target: Target, world: World): Script<Cell | Problem> {
  const own = yield* settle(setting, target, world)
  const isUnknown = own._tag === "Problem" && own.rank === RANKS.missing
  if (!isUnknown || setting._tag !== "Concept" || setting.concept !== "owner") return own
  const other = yield* settle(Setting.Value({ value: setting.value }), target, world)
  return other._tag === "Cell" ? other : own
}

/**
 * The question about a name that is a person or a value of the row ("Raj"), or begins or ends with one ("buy paper Raj", "high fix
 * the sink"). "Email Raj" is a name.
 */
function* doubtOf(
  name: ReadonlyArray<Word>,
  isFound: boolean,
  { columns, type }: Vocabulary,
  world: World
): Script<string | undefined> {
  const last = name.at(-1)!
  if (type.id === PEOPLE || name.some(({ quoted }) => quoted)) return undefined
  const isLong = name.length > 2
  const ends = isLong && !FUNCTION_WORDS.has(name.at(-2)!.word) ? [[last]] : []
  const begins = isFound && isLong && name[1]!.word !== "'s" ? [[name[0]!]] : []
  const parts = isLong ? [...ends, ...begins] : isFound ? [name] : []
  // "Sync Friday 3pm CET", "Sync with everyone".
  const isTimed = name.some(
    (_, at) => at > 0 && momentAt(name.slice(at), calendarOf(world.context))?.value.time !== undefined
  )
  const isJoint = columnOfConcept("attendees", columns) !== undefined && name.some(({ text }) => text === "with")
  if (isTimed || isJoint) return UNCLEAR
  const isOwned = columnOfConcept("owner", columns) !== undefined
  const [who, values] = yield* both(
    inParallel(isOwned ? parts.map((words) => person(words, world)) : []),
    inParallel(
      [...ends, ...begins.filter(([word]) => !word!.capital), ...(isLong || !isFound ? [] : [name])].map((words) =>
        valuesAmong(world.said, words, type, columns, () => [])
      )
    )
  )
  const isPerson = who.some((each) => each._tag === "Row" || each.choices !== undefined)
  if (!isPerson && values.every((found) => found.length === 0)) return undefined
  return isLong ? UNCLEAR : unnamed(type)
}
const UNCLEAR = "Put the name in quotation marks, so that I see where it begins and ends."

const unnamed = ({ name }: Vocabulary["type"]): string =>
  `What should the new ${name.toLowerCase()} be called? Say it in one sentence, with “called …”.`

const sameWords = (a: ReadonlyArray<Parameters<typeof textOf>[1]>, b: typeof a, said: Said): boolean =>
  a
    .map((words) => foldText(textOf(said, words)))
    .sort()
    .join() ===
  b
    .map((words) => foldText(textOf(said, words)))
    .sort()
    .join()

/** "lead" as a status, if rows have it; a word such as "customer" is often only a word for people. */
function* kindCell(kind: string, target: Target): Script<Cell | undefined> {
  const settled = yield* settle(statusOf(kind), target, {
    said: { text: kind, words: [] },
    context: { today: "1970-01-01", types: [] },
    vocabularies: [],
    fields: new Map(),
    effort: new Effort(0),
    wanted: () => []
  })
  return settled._tag === "Cell" ? settled : undefined
}

const statusOf = (kind: string): Setting => ({
  _tag: "Concept",
  concept: "status",
  value: [{ text: kind, word: kind, after: "", capital: false, start: 0, end: kind.length }]
})

/** The cells of a time and a length. */
const timeCells = (
  what: NonNullable<ReturnType<typeof readNew>>,
  { fields, vocabulary }: Target
): Array<Cell> | Problem => {
  const { day, time, until } = what.moment
  const cells: Array<Cell> = []
  const column = columnOfConcept("date", vocabulary.columns)
  const field = fields.find(({ id }) => id === column)
  if (day !== undefined || time !== undefined) {
    if (field === undefined || day === undefined)
      return problem(
        RANKS.value,
        day === undefined ? "On which day? Say it in one sentence." : "I can't set a day on that."
      )
    if (field.kind === "timestamp" && time === undefined)
      return problem(RANKS.value, "At what time? Say it in one sentence.")
    if (field.kind === "date" && time !== undefined) return problem(RANKS.value, "That has a day, but no time of day.")
    const value = field.kind === "date" ? day : `${day} ${clock(time!)}:00`
    cells.push({ _tag: "Cell", column: field.id, value, shown: value })
  }
  const minutes = what.minutes ?? (until === undefined || time === undefined ? undefined : until - time)
  if (minutes === undefined) return cells
  const length = columnOfConcept("length", vocabulary.columns)
  if (length === undefined || !fields.some(({ id }) => id === length) || minutes <= 0)
    return problem(RANKS.value, "I can't set how long it takes.")
  return [...cells, { _tag: "Cell", column: length, value: String(minutes), shown: `${minutes} minutes` }]
}
