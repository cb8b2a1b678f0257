/**
 * Drafts a change from the readings of a request: looks up what each one means and drafts the one that means something. Two
 * readings that mean different changes are declined, and so is a request of which anything can't be looked up.
 */
import { PEOPLE } from "../../../domain/EntityType.ts"
import type { ListedColumn } from "../../../domain/Page.ts"
import type { Context, ContextType } from "../readConversation.ts"
import { Effort } from "../Effort.ts"
import { both } from "../locate.ts"
import { type Answer, columnsOf, inParallel, MAX_PARALLEL, type Script, tool } from "../script.ts"
import { Deed, type Request } from "./Deed.ts"
import { actionOf, type Draft, valuesOf } from "./Draft.ts"
import { cellsOf, columnOf, targetOf } from "./draftCells.ts"
import { creation } from "./draftNew.ts"
import { CANCELS, draftOfEach, draftOfSet } from "./draftSet.ts"
import { findSubject } from "./findSubject.ts"
import { NOT_FOUND, type Problem, problem, RANKS, type Row, type World } from "./rows.ts"
import { calendarOf } from "./moments.ts"
import { readNew } from "./readNew.ts"
import { asksForChange, readAgain } from "./readRequest.ts"
import { settle, UNKNOWN_VALUE } from "./settle.ts"
import { UNKNOWN } from "./setValues.ts"
import { possessive } from "./possessive.ts"
import { telegram } from "./telegram.ts"
import { isOfPerson, knownPeople } from "./told.ts"
import {
  carries,
  columnOfConcept,
  type Field,
  fieldsOf,
  isCategory,
  reasonOf,
  type Vocabulary,
  vocabularyOf
} from "./vocabulary.ts"
import { cannotDo, DRAFTED, NOT_ALL, NOT_UNDERSTOOD, notWhole, ofSet, which } from "./wording.ts"

const MAX_TYPES = 5
const MAX_ACTIONS = 6
/** The readings that are tried: each costs lookups. */
export const MAX_TRIED = 8
/** Steps that the descriptions of all readings may take together. */
export const MAX_EFFORT = 160

/** How many steps of the turn were needed so far, and what they have answered. */
interface Rounds {
  made: number
  readonly known: Map<string, Answer>
}

/** The calls that have no answer yet, each once. */
const missingOf = <C>(calls: ReadonlyArray<C>, { known }: Rounds): ReadonlyArray<C> => {
  const keys = calls.map((call) => JSON.stringify(call))
  return calls.filter((_, index) => !known.has(keys[index]!) && keys.indexOf(keys[index]!) === index)
}
const stepsOf = (calls: ReadonlyArray<unknown>): number => Math.ceil(calls.length / MAX_PARALLEL)
/** A turn has few steps: no reading is tried for longer than leaves room for a draft and its reply. */
const MAX_ROUNDS = 8
/** The same for what is tried if nothing else can be drafted. */
const MAX_LATE = 12

/** The result of a script within so many steps; undefined if it takes more. */
function* within<A>(script: Script<A>, rounds: Rounds, most: number): Script<A | undefined> {
  let state = script.next()
  while (state.done !== true) {
    if (rounds.made + stepsOf(missingOf(state.value, rounds)) > most) return undefined
    state = script.next(yield state.value)
  }
  return state.value
}

/** Asks for each call once, however many readings ask for it. */
function* once<A>(script: Script<A>, rounds: Rounds): Script<A> {
  const { known } = rounds
  let state = script.next()
  while (state.done !== true) {
    const keys = state.value.map((call) => JSON.stringify(call))
    const missing = missingOf(state.value, rounds)
    if (missing.length > 0) {
      rounds.made += stepsOf(missing)
      const answers = yield missing
      for (const [index, call] of missing.entries()) known.set(JSON.stringify(call), answers[index]!)
    }
    state = script.next(keys.map((key) => known.get(key)!))
  }
  return state.value
}

/**
 * Drafts what the request asks for, and says what is drafted or why nothing is; undefined if the message asks for nothing.
 * `chosen` is the row that the person chose.
 */
export const draftDeed = (request: Request, context: Context, chosen?: Row): Script<string | undefined> => {
  const rounds: Rounds = { made: 0, known: new Map() }
  return once(drafting(request, context, chosen, rounds), rounds)
}

function* drafting(
  message: Request,
  context: Context,
  chosen: Row | undefined,
  rounds: Rounds
): Script<string | undefined> {
  const signed = chosen === undefined ? yield* possessive(message.said, context) : message.said
  const request = signed === message.said ? message : readAgain(signed, context)
  const own = asksForChange(request) ? yield* planned(request, context, chosen, rounds) : undefined
  if (own !== undefined && typeof own !== "string") return yield* proposing(own)
  // A correction that isn't understood leaves nothing to draft of what it corrects.
  if (chosen !== undefined || request.instead !== undefined || (own !== undefined && !isOpen(own))) return own
  const told = yield* within(telegram(signed, context), rounds, MAX_LATE)
  const meant = told && (yield* meaning(told, context, undefined, rounds, false, MAX_LATE))
  return meant === undefined || typeof meant === "string" ? own : yield* proposing([meant])
}

/** Whether a reason leaves open that the words mean something else. */
const isOpen = (reason: string): boolean =>
  [NOT_FOUND, NOT_UNDERSTOOD, UNKNOWN, UNKNOWN_VALUE].some((start) => reason.startsWith(start))

/** The drafts of the one change that a request means; a text says why there is none. */
function* planned(
  request: Request,
  context: Context,
  chosen: Row | undefined,
  rounds: Rounds
): Script<ReadonlyArray<Draft> | string> {
  const { instead, pairs = [] } = request
  const meant = (each: Request) => meaning(each, context, chosen, rounds)
  const [[one, other], twos] = yield* both(
    inParallel([meant(request), ...(instead === undefined ? [] : [meant(instead)])]),
    inParallel(pairs.map((two) => inParallel(two.map(meant))))
  )
  const joint = twos.map(together).filter((each) => each !== undefined)
  if (other !== undefined)
    return typeof other === "string" || typeof one === "string" || !corrects(one!, other) ? notWhole(context) : [other]
  if (typeof one === "string" && joint.length === 0 && one.startsWith(NOT_FOUND)) {
    const misspelt = yield* meaning(request, context, chosen, rounds, true)
    return typeof misspelt === "string" ? one : [misspelt]
  }
  if (typeof one === "string") return joint.length === 1 ? joint[0]! : one
  return joint.length > 0 ? notWhole(context) : [one!]
}

/** Drafts of different rows, each understood whole; undefined otherwise. */
const together = (drafts: ReadonlyArray<Draft | string>): ReadonlyArray<Draft> | undefined => {
  const whole = drafts.filter((each) => typeof each !== "string")
  const rows = whole.flatMap((each) => callsOf(each).flatMap(({ entityIds = [] }) => entityIds))
  return whole.length === drafts.length &&
    new Set(rows).size === rows.length &&
    whole.flatMap(callsOf).length <= MAX_PARALLEL
    ? whole
    : undefined
}

/** Whether a draft sets other values in the same columns of the same rows. */
const corrects = (one: Draft, other: Draft): boolean => {
  const placeOf = ({ actionId, entityIds, values = [] }: Draft) =>
    JSON.stringify([actionId, entityIds, values.map((value) => value.slice(0, value.indexOf("="))).sort()])
  return placeOf(one) === placeOf(other) && keyOf(one) !== keyOf(other)
}

/** The calls that draft all of a change. */
const callsOf = ({ actionId, entityIds, further = [], values }: Draft) => [
  { actionId, ...(entityIds && { entityIds }), ...(values && { values }) },
  ...further
]

/** Drafts all of it, or nothing. */
function* proposing(drafts: ReadonlyArray<Draft>): Script<string> {
  const calls = drafts.flatMap(callsOf)
  const answers = yield* inParallel(calls.map((call) => tool("requestAction", call)))
  const isDrafted = ({ value }: Answer) => value !== undefined && (value as Drafted).choices === undefined
  const refused = answers.find((each) => !isDrafted(each))
  if (refused !== undefined) {
    const reason = cannotDo(reasonOf(refused.value === undefined ? refused.text : refused.text.split("\n")[0]!))
    return calls.length === 1 ? reason : `${NOT_ALL} ${reason}`
  }
  const [{ set }] = drafts as [Draft]
  if (drafts.length > 1 || set === undefined) return DRAFTED
  return ofSet(set, (answers.at(-1)!.value as Drafted).steps?.length)
}

interface Drafted {
  readonly choices?: ReadonlyArray<unknown>
  readonly steps?: ReadonlyArray<unknown>
}

/** What a request means; a text says why nothing can be drafted. */
function* meaning(
  request: Request,
  context: Context,
  chosen: Row | undefined,
  rounds: Rounds,
  isNear = false,
  most = MAX_ROUNDS
): Script<Draft | string> {
  const { said } = request
  const all = [...request.deeds, ...request.loose, ...request.framed]
  const types = typesOf(all, context)
  const named = new Set(all.flatMap((deed) => typeOf(deed, context) ?? []))
  const actions = [...new Set(all.flatMap((deed) => actionsOf(deed, types, context)))].slice(0, MAX_ACTIONS)
  const [columns, takes] = yield* both(
    inParallel(types.map((type) => (named.has(type) ? columnsOf(type.id) : inParallel<ListedColumn>([])))),
    inParallel(actions.map(fieldsOf))
  )
  const fields = new Map(actions.map((action, index) => [action, takes[index]!]))
  const vocabularies = types.map((type, index) => vocabularyOf(type, columns[index]!, fields))
  const effort = new Effort(MAX_EFFORT)
  const typed = (deeds: ReadonlyArray<Deed>) =>
    likeliest(deeds.flatMap((deed) => withTypes(deed, vocabularies, fields, context, effort)))
  const deeds = typed(request.deeds)
  const loose = typed(request.loose)
  const framed = typed(request.framed)
  if (deeds.length + loose.length + framed.length === 0) return refusals(all, fields) ?? notWhole(context)
  const wanted = (type: ContextType) =>
    wantedOf(
      all,
      vocabularies.find((each) => each.type.id === type.id)!,
      fields
    )
  const world: World = { said, context, vocabularies, fields, wanted, effort, ...(isNear && { isNear }) }
  const drafted = (readings: ReadonlyArray<Typed>) =>
    inParallel(readings.map(({ deed, types: own }) => draftOf(deed, own, world, chosen)))
  const read = yield* within(both(drafted(deeds), drafted(loose)), rounds, most)
  if (read === undefined) return notWhole(context)
  const [firm, others] = read
  // A reading that wasn't tried could mean another change.
  if (effort.isSpent) return notWhole(context)
  const isDraft = ({ _tag }: Draft | Problem) => _tag === "Draft"
  const own = firm.some(isDraft) ? firm : [...firm, ...others]
  const instead = own.some(isDraft) || framed.length === 0 ? undefined : yield* within(drafted(framed), rounds, most)
  if (effort.isSpent) return notWhole(context)
  // A frame that finds no row of a name may have read the name wrongly, so it isn't said.
  const told = (instead ?? []).filter((each, at) => isDraft(each) || isOfRows(framed[at]!))
  const tried = told.some(isDraft) || own.length === 0 ? told : own
  const isWhole = (each: Draft | Problem) => each._tag === "Draft" && each.isPart !== true
  const found = tried.some(isWhole) ? tried.filter((each) => each._tag === "Problem" || isWhole(each)) : tried
  const drafts = new Map(found.flatMap((each) => (each._tag === "Draft" ? [[keyOf(each), each] as const] : [])))
  const known = [...deeds, ...loose, ...framed].flatMap(({ deed }, at) =>
    knownPeople(deed, [...firm, ...others, ...(instead ?? [])][at], said)
  )
  const problems = found
    .filter((each) => each._tag === "Problem")
    .sort((a, b) => Number(isOfPerson(a, known)) - Number(isOfPerson(b, known)) || b.rank - a.rank)
  if (drafts.size > 1) return `I can read that in two ways, so I haven't drafted anything. ${notWhole(context)}`
  const [draft] = drafts.values()
  if (draft === undefined) {
    const [said] = problems
    return (which(said) ?? notWhole(context)) + ((said?.next && (yield* within(said.next, rounds, most))) ?? "")
  }
  return draft
}

const keyOf = (draft: Draft): string =>
  JSON.stringify(callsOf(draft).map(({ actionId, entityIds, values = [] }) => [actionId, entityIds, values.toSorted()]))

/** The actions that a reading may need, of which what they take is asked first. */
const actionsOf = (deed: Deed, types: ReadonlyArray<ContextType>, context: Context): ReadonlyArray<string> => {
  if (deed._tag === "Delete") return []
  const own = typeOf(deed, context)
  return own === undefined ? types.map((type) => actionOf(deed, type)) : [actionOf(deed, own)]
}

/** Why no reading can be drafted, if an action isn't open to the person. */
const refusals = (deeds: ReadonlyArray<Deed>, fields: World["fields"]): string | undefined => {
  const refused = [...fields.values()].filter((each) => typeof each === "string")
  return deeds.length > 0 && refused.length > 0 && refused.length === fields.size ? cannotDo(refused[0]!) : undefined
}

const MAX_CELLS = 5

const isOfRows = ({ deed }: Typed): boolean => deed._tag !== "Create" && deed.subject._tag === "Rows"

/** The columns whose cells a change depends on: those that it sets, and times. */
const wantedOf = (
  deeds: ReadonlyArray<Deed>,
  vocabulary: Vocabulary,
  fields: World["fields"]
): ReadonlyArray<string> => {
  const own = fields.get(`${vocabulary.type.id}.update`)
  if (own === undefined || typeof own === "string") return []
  const set = deeds
    .flatMap((deed) => (deed._tag === "Update" ? deed.settings : []))
    .flatMap((setting) => columnOf(setting, vocabulary) ?? [])
  const times = own.filter(({ kind }) => kind === "timestamp" || kind === "date").map(({ id }) => id)
  const length = columnOfConcept("length", vocabulary.columns)
  // "under Apollo, not Platform": which column is meant is known only from what the row has now.
  const isCompared = deeds.some(
    (deed) =>
      deed._tag === "Update" &&
      deed.settings.some((each) => each._tag === "Value" && each.was !== undefined && each.kind === undefined)
  )
  const all = isCompared
    ? own.toSorted((a, b) => Number(isCategory(b)) - Number(isCategory(a))).map(({ id }) => id)
    : []
  return [...new Set([...set, ...times.slice(0, 2), ...(length === undefined ? [] : [length]), ...all])]
    .filter((id) => id !== "name" && own.some((field) => field.id === id))
    .slice(0, MAX_CELLS)
}

/** The types that the readings can be about. */
const typesOf = (deeds: ReadonlyArray<Deed>, context: Context): ReadonlyArray<ContextType> => {
  const own = deeds.map((deed) => typeOf(deed, context))
  const all = own.includes(undefined)
    ? [...context.types].sort((a, b) => Number(b.id === PEOPLE) - Number(a.id === PEOPLE))
    : []
  return [...new Set([...own.filter((type) => type !== undefined), ...all])].slice(0, MAX_TYPES)
}

/** The type that a reading names; undefined if it names none. */
const typeOf = (deed: Deed, context: Context): ContextType | undefined => {
  if (deed._tag === "Create") return deed.type
  const { subject } = deed
  switch (subject._tag) {
    case "It":
      return context.types.find(({ id }) => id === context.focus?.[0]?.type)
    case "Named":
      return subject.type
    case "Rows":
      return subject.lookup.noun.type
    case "Described":
      return subject.type ?? context.types.find(({ id }) => id === "meetings")
  }
}

interface Typed {
  readonly deed: Deed
  readonly types: ReadonlyArray<ContextType>
}

/** A reading with the types whose columns can carry it. */
const withTypes = (
  deed: Deed,
  vocabularies: ReadonlyArray<Vocabulary>,
  fields: World["fields"],
  context: Context,
  effort: Effort
): ReadonlyArray<Typed> => {
  if (deed._tag !== "Create" && deed.subject._tag === "It" && (context.focus ?? []).length === 0) return []
  if (deed._tag === "Update" && deed.list !== undefined)
    return vocabularies.flatMap((vocabulary) =>
      spelledOut(deed, vocabulary, fieldsFor(deed, vocabulary.type, fields), context, effort).flatMap((each) =>
        withTypes(each, [vocabulary], fields, context, effort)
      )
    )
  const own = typeOf(deed, context)
  // "Extend Rotate keys by two days": what has no length has a date.
  if (deed._tag === "Stretch") {
    const dated = vocabularies.filter(({ columns }) => columnOfConcept("length", columns) === undefined)
    if (dated.length > 0) {
      const { minutes, subject } = deed
      const lasting = vocabularies.filter((each) => !dated.includes(each))
      return [
        ...withTypes(Deed.Shift({ subject, minutes }), dated, fields, context, effort),
        ...(lasting.length === 0 ? [] : withTypes(deed, lasting, fields, context, effort))
      ]
    }
  }
  const types = vocabularies
    .filter(
      (each) =>
        (own === undefined || each.type.id === own.id) &&
        carries(deed, each, fieldsFor(deed, each.type, fields), calendarOf(context))
    )
    .map(({ type }) => type)
  return types.length === 0 ? [] : [{ deed, types }]
}

/** A deed with the settings of its list; none if the type's columns can't carry all of it. */
const spelledOut = (
  { list, settings, subject }: Extract<Deed, { _tag: "Update" }>,
  vocabulary: Vocabulary,
  fields: ReadonlyArray<Field>,
  context: Context,
  effort: Effort
): ReadonlyArray<Deed> => {
  const whole = { type: vocabulary.type, rest: list!, name: list!, people: [], settings: [] }
  const read = readNew(Deed.Create(whole), vocabulary, fields, context, effort)
  if (read === undefined || read.settings.length === 0 || read.people.length > 0 || read.minutes !== undefined)
    return []
  if (Object.keys(read.moment).length > 0) return []
  return [Deed.Update({ subject, settings: [...settings, ...read.settings] })]
}

const fieldsFor = (deed: Deed, type: ContextType, fields: World["fields"]) => {
  const own = fields.get(actionOf(deed, type))
  return own === undefined || typeof own === "string" ? [] : own
}

/** The readings that are tried. One whose name contains the column of another reading is that other one, misread. */
const likeliest = (deeds: ReadonlyArray<Typed>): ReadonlyArray<Typed> => {
  const columns = deeds
    .flatMap(({ deed }) => (deed._tag === "Update" ? deed.settings : []))
    .flatMap((setting) => (setting._tag === "Column" ? [setting.column[0]!.start] : []))
  const isMisread = ({ deed }: Typed) =>
    deed._tag === "Update" &&
    deed.subject._tag === "Named" &&
    !deed.settings.some(({ _tag }) => _tag === "Column") &&
    columns.some(
      (start) =>
        deed.subject._tag === "Named" && deed.subject.words.some((word) => word.start === start && word.end > start)
    )
  // A set is no name, and "board as completed" is no value.
  const isSet = ({ deed }: Typed) => deed._tag !== "Create" && deed.subject._tag === "Rows"
  const ends = ({ deed }: Typed) =>
    deed._tag !== "Update" ||
    (deed.list?.some(({ quoted, word }) => quoted !== true && word === "as") !== true &&
      deed.settings.every(
        ({ value }) =>
          !value.some(
            ({ quoted, word }, at) => quoted !== true && /^(as|to|into)$/.test(word) && value[at + 1]?.word !== "do"
          )
      ))
  const sets = deeds.filter((each) => isSet(each) && ends(each))
  const kept = (sets.length > 0 ? sets : deeds).filter((each) => !isMisread(each))
  return (kept.length > 0 ? kept : deeds).slice(0, MAX_TRIED)
}

function* draftOf(deed: Deed, types: ReadonlyArray<ContextType>, world: World, chosen?: Row): Script<Draft | Problem> {
  if (deed._tag === "Create") return yield* creation(deed, world)
  if (deed.subject._tag === "Rows") {
    const set = yield* draftOfSet(deed, deed.subject, world)
    const { each, lookup } = deed.subject
    return set._tag === "Draft" || each === undefined ? set : yield* draftOfEach(deed, each, [lookup.noun.type], world)
  }
  const row =
    chosen !== undefined && types.some(({ id }) => id === chosen.type.id)
      ? chosen
      : yield* findSubject(deed.subject, types, world, deed._tag === "Delete")
  if (isOver(deed, world)) return problem(RANKS.value, OVER)
  if (row._tag === "Problem") {
    const names = deed.subject._tag === "Named" && row.rank === RANKS.missing ? deed.subject.each : undefined
    return names === undefined
      ? ((yield* impossible(deed, row, world)) ?? row)
      : yield* draftOfEach(deed, names, types, world)
  }
  const actionId = actionOf(deed, row.type)
  const entityIds = [row.id]
  const part = row.isPart === true ? { isPart: true as const } : {}
  if (deed._tag === "Delete") return { _tag: "Draft", actionId, entityIds, ...part }
  const target = yield* targetOf(row, actionId, world)
  if (target._tag === "Problem") return target
  const cells = yield* cellsOf(deed, target, world)
  const wrong = cells.find((each) => each._tag === "Problem")
  if (wrong !== undefined) return wrong
  const values = valuesOf(cells.filter((each) => each._tag === "Cell"))
  return typeof values === "string"
    ? problem(RANKS.value, values)
    : { _tag: "Draft", actionId, entityIds, values, ...part }
}

const OVER = "The last one is over. Tell me the day, such as “the last meeting on May 3”."
/** "Cancel my last meeting with Raj": without a day it is one that was. */
const isOver = (deed: Exclude<Deed, { _tag: "Create" }>, { said }: World): boolean =>
  (deed._tag === "Shift" || (deed._tag === "Delete" && CANCELS.test(said.text))) &&
  deed.subject._tag === "Described" &&
  deed.subject.order === "last" &&
  deed.subject.moment === undefined

/** What is wrong with the values whichever of several rows is meant: then it doesn't help to choose one. */
function* impossible(deed: Deed, { choices = [] }: Problem, world: World): Script<Problem | undefined> {
  if (deed._tag !== "Update") return undefined
  const firsts = choices.filter((row, at) => choices.findIndex(({ type }) => type.id === row.type.id) === at)
  const found = yield* inParallel(firsts.map((row) => wrongValue(deed, row, world)))
  return found.every((each) => each !== undefined) ? found[0] : undefined
}

function* wrongValue(deed: Extract<Deed, { _tag: "Update" }>, row: Row, world: World): Script<Problem | undefined> {
  const target = yield* targetOf(row, actionOf(deed, row.type), world)
  if (target._tag === "Problem") return target
  const cells = yield* inParallel(deed.settings.map((setting) => settle(setting, target, world)))
  return cells.find((each) => each._tag === "Problem")
}
