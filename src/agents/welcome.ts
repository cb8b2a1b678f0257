/**
 * The welcome before the first question: the organization, the person, and example questions in the organization's own
 * words. Names in the examples are looked up as the person, like everything else.
 */
import { Effect } from "effect"
import { type Organization, PEOPLE } from "../domain/EntityType.ts"
import type { Entity } from "../domain/Page.ts"
import { CurrentPrincipal } from "../domain/Principal.ts"
import type { Filter } from "../domain/Query.ts"
import { EntityQueryService } from "../services/EntityQueryService.ts"
import type { TypeOverview } from "../services/lookup/listed.ts"
import { possessive, uncapitalized } from "./english.ts"
import { contextName } from "./turnContext.ts"

export interface NextQuestion {
  /** The slug of the type. */
  readonly type: string
  readonly label: string
  /** With `{name}` for the entity's name. */
  readonly question: string
}

export interface Examples {
  /** The plural name of the type. */
  readonly about: string
  readonly questions: ReadonlyArray<string>
}

/** Limits: types with examples, questions per type. */
const MAX_TYPES = 4
const MAX_QUESTIONS = 2
/** Rows to choose an example name from. */
const CANDIDATES = 8

/** Only a plausible name goes into an example, because pressing the example sends it as the person's own words. */
const NAME = /^\p{Lu}[\p{L}\p{M}'’.&-]*(?: [\p{L}\p{M}'’.&-]+){0,3}$/u
const MAX_NAME = 32

/** The usual slug of a person's employer. */
const COMPANY = "company"
const has = ({ columns }: Entity, slug: string): boolean => columns?.[slug] !== undefined && columns[slug] !== null

const MEETINGS = "meetings"
const COMPANIES = "companies"
const ATTENDEES = "attendees"
const START = "start"

/** Columns that an example is asked for. */
const TELLING = [COMPANY, "phone", "email"]
const held = (entity: Entity): number => TELLING.filter((slug) => has(entity, slug)).length

/** What one asks next about a person, a company or a meeting. */
const nextQuestions = (overview: ReadonlyArray<TypeOverview>): ReadonlyArray<NextQuestion> => {
  const hasColumn = (type: string, slug: string) =>
    overview.some(({ columns, id }) => id === type && columns.some((column) => column.id === slug))
  const contact = (type: string) => [
    ...(hasColumn(type, "phone") ? [{ type, label: "Phone", question: "What is {name}’s phone number?" }] : []),
    ...(hasColumn(type, "email") ? [{ type, label: "E-mail", question: "What is {name}’s e-mail address?" }] : [])
  ]
  return [
    ...contact(PEOPLE),
    ...(hasColumn(MEETINGS, ATTENDEES)
      ? [{ type: PEOPLE, label: "Meetings", question: "What meetings are there with {name}?" }]
      : []),
    ...contact(COMPANIES),
    ...(hasColumn(PEOPLE, COMPANY) ? [{ type: COMPANIES, label: "People", question: "Who works at {name}?" }] : [])
  ]
}

/** What is there for the person: an example of a type, and whether questions about it find anything. */
interface Found {
  readonly example: Entity | undefined
  readonly hasPeople: boolean
  readonly hasMeetings: boolean
  readonly hasNextMeeting: boolean
}

const questionsOf = (type: TypeOverview, found: Found): ReadonlyArray<string> => {
  const { example, hasMeetings, hasNextMeeting, hasPeople } = found
  const name = example?.displayName
  const hasColumn = (slug: string) => example !== undefined && has(example, slug)
  switch (type.id) {
    case PEOPLE:
      if (name === undefined) return [`How many ${uncapitalized(type.pluralName)} are there?`]
      return [
        `Who is ${name}?`,
        ...(hasColumn("phone") ? [`What is ${possessive(name)} phone number?`] : []),
        ...(hasColumn("email") ? [`What is ${possessive(name)} e-mail address?`] : [])
      ]
    case COMPANIES:
      return name === undefined
        ? []
        : [
            ...(hasPeople ? [`Who works at ${name}?`] : []),
            ...(hasColumn("phone") ? [`What is ${possessive(name)} phone number?`] : [])
          ]
    case MEETINGS:
      return [
        ...(hasNextMeeting ? [`When is my next ${uncapitalized(type.name)}?`] : []),
        hasMeetings
          ? `List my ${uncapitalized(type.pluralName)}`
          : `How many ${uncapitalized(type.pluralName)} are there?`
      ]
    default:
      return [
        `How many ${uncapitalized(type.pluralName)} are there?`,
        ...(name === undefined ? [] : [`Tell me about ${name}`])
      ]
  }
}

/** The welcome for the current principal, without examples for types that have none. */
export const welcome = Effect.fn("welcome")(function* (organization: Organization) {
  const queries = yield* EntityQueryService
  const { anchorEntityId } = yield* CurrentPrincipal
  const organizationId = organization.id
  const overview = yield* queries.overview({ organizationId })
  const columnOf = (type: string, slug: string) =>
    overview.some(({ columns, id }) => id === type && columns.some((column) => column.id === slug))
  const page = (type: TypeOverview) =>
    queries.findEntities({
      organizationId,
      entityTypeId: type.id,
      filters: [],
      limit: CANDIDATES,
      selectColumns: TELLING.filter((slug) => columnOf(type.id, slug))
    })
  const exampleOf = (type: TypeOverview) =>
    type.id === MEETINGS
      ? Effect.undefined
      : Effect.map(page(type), ({ entities }) =>
          entities
            .filter(({ entityId }) => entityId !== anchorEntityId)
            .filter(({ displayName = "" }) => displayName.length <= MAX_NAME && NAME.test(displayName))
            // The one of which most can be asked; a customer is a better example than a colleague.
            .toSorted((a, b) => held(b) - held(a))
            .at(0)
        )
  /** Whether there are entities for a question; false if the columns that it needs can't be seen. */
  const are = (type: string, ...filters: ReadonlyArray<Filter>) =>
    filters.every(({ columnId }) => columnOf(type, columnId))
      ? Effect.map(
          queries.findEntities({ organizationId, entityTypeId: type, filters: [...filters], limit: 1 }),
          ({ total }) => total > 0
        )
      : Effect.succeed(false)
  const mine = { columnId: ATTENDEES, op: "eq" as const, value: anchorEntityId }
  const nothing = Effect.succeed(false)
  const foundOf = Effect.fnUntraced(function* (type: TypeOverview) {
    const isMeeting = type.id === MEETINGS && anchorEntityId !== ""
    const example = yield* exampleOf(type)
    return yield* Effect.all({
      example: Effect.succeed(example),
      hasPeople:
        type.id === COMPANIES && example !== undefined
          ? are(PEOPLE, { columnId: COMPANY, op: "eq", value: example.entityId })
          : nothing,
      hasMeetings: isMeeting ? are(MEETINGS, mine) : nothing,
      hasNextMeeting: isMeeting ? are(MEETINGS, mine, { columnId: START, op: "gte", value: "tomorrow" }) : nothing
    })
  })
  const me =
    anchorEntityId === "" || !overview.some(({ id }) => id === PEOPLE)
      ? undefined
      : (yield* queries.findEntities({
          organizationId,
          entityTypeId: PEOPLE,
          filters: [{ columnId: "id", op: "eq", value: anchorEntityId }],
          limit: 1
        })).entities[0]?.displayName
  const examples = yield* Effect.forEach(
    overview.slice(0, MAX_TYPES),
    (type) =>
      Effect.map(foundOf(type), (found): Examples => ({
        about: contextName(type.pluralName),
        questions: questionsOf(type, found).slice(0, MAX_QUESTIONS)
      })),
    { concurrency: "unbounded" }
  )
  return {
    organization: contextName(organization.name),
    ...(me === undefined ? {} : { person: contextName(me) }),
    kinds: overview.map(({ pluralName }) => uncapitalized(contextName(pluralName))),
    examples: examples.filter(({ questions }) => questions.length > 0),
    next: nextQuestions(overview)
  }
})
