/**
 * The welcome before the first question: the organization, the person, and example questions in the organization's own
 * words. Names in the examples are looked up as the person, like everything else.
 */
import { Effect } from "effect"
import { type Organization, PEOPLE } from "../domain/EntityType.ts"
import type { Entity } from "../domain/Page.ts"
import { CurrentPrincipal } from "../domain/Principal.ts"
import { EntityQueryService, type TypeOverview } from "../services/EntityQueryService.ts"
import { possessive, uncapitalized } from "./english.ts"
import { contextName } from "./turnContext.ts"

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

const questionsOf = (type: TypeOverview, name: string | undefined): ReadonlyArray<string> => {
  const hasColumn = (slug: string) => type.columns.some(({ id }) => id === slug)
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
        : [`Who works at ${name}?`, ...(hasColumn("phone") ? [`What is ${possessive(name)} phone number?`] : [])]
    case MEETINGS:
      return [
        `When is my next ${uncapitalized(type.name)}?`,
        `What ${uncapitalized(type.pluralName)} do I have this week?`
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
  const page = (type: TypeOverview) =>
    queries.findEntities({
      organizationId,
      entityTypeId: type.id,
      filters: [],
      limit: CANDIDATES,
      selectColumns: type.columns.filter(({ id }) => id === COMPANY).map(({ id }) => id)
    })
  const nameOf = (type: TypeOverview) =>
    type.id === MEETINGS
      ? Effect.undefined
      : Effect.map(page(type), ({ entities }) =>
          entities
            .filter(({ entityId }) => entityId !== anchorEntityId)
            // A customer is a better example than a colleague.
            .toSorted((a, b) => Number(has(b, COMPANY)) - Number(has(a, COMPANY)))
            .map(({ displayName = "" }) => displayName)
            .find((name) => name.length <= MAX_NAME && NAME.test(name))
        )
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
      Effect.map(nameOf(type), (name): Examples => ({
        about: contextName(type.pluralName),
        questions: questionsOf(type, name).slice(0, MAX_QUESTIONS)
      })),
    { concurrency: "unbounded" }
  )
  return {
    organization: contextName(organization.name),
    ...(me === undefined ? {} : { person: contextName(me) }),
    kinds: overview.map(({ pluralName }) => uncapitalized(contextName(pluralName))),
    examples: examples.filter(({ questions }) => questions.length > 0)
  }
})
