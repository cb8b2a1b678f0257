/**
 * Noninterference: when hidden cells, rows, targets and links change, or rows of another organization, every response to
 * the caller stays the same, byte for byte.
 */
import { layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import * as fc from "fast-check"
import { expect } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { encodeId } from "../../src/domain/ids.ts"
import { CurrentPrincipal, type Principal } from "../../src/domain/Principal.ts"
import { EntityQueryService } from "../../src/services/EntityQueryService.ts"
import { TestServices } from "../support/database.ts"
import { generousPolicy, member, query } from "./generators.ts"
import { type Change, replaceOrganization } from "./load.ts"
import type { Caller, PolicyJson, Views } from "./oracle.ts"
import { answer, ASKABLE, everything, type Query, shownEntity } from "./queryOracle.ts"
import {
  admit,
  caseText,
  count,
  floorOf,
  holds,
  makePlaces,
  makeTally,
  partOf,
  type Place,
  type Tally,
  tallied
} from "./setting.ts"
import { changedUnseen } from "./unseen.ts"
import { type Cell, FIRST_ID, type Kind, makeWorld, type Organization, random, TYPE_NAMES, READABLE } from "./world.ts"

const SCENARIOS = partOf(140)
/** Queries per caller: some random, some about the changes. */
const QUERIES = 8
const TARGETED = 8
const SEED = 20261123
const WORLDS = [31, 32, 33]

interface Scenario {
  readonly policy: PolicyJson
  readonly caller: Caller
  readonly queries: ReadonlyArray<Query>
  readonly where: number
  readonly changes: number
}

const scenario: fc.Arbitrary<Scenario> = fc.record({
  policy: generousPolicy,
  caller: member,
  queries: fc.array(query, { minLength: QUERIES, maxLength: QUERIES }),
  where: fc.nat({ max: WORLDS.length * 2 - 1 }),
  changes: fc.nat()
})

/** A cell's value as a filter value. */
const asWritten = (kind: Kind, cell: Cell): string | undefined => {
  if (cell === null) return undefined
  if (kind === "list") return (cell as ReadonlyArray<string>).find((tag) => tag !== "")
  if (typeof cell === "bigint") return encodeId(cell)
  return String(cell).trim() === "" ? undefined : String(cell)
}

/** Queries aimed at the hidden changes: by the old value, by the new value and by order. */
const targeted = (before: Organization, after: Organization, next: () => number): ReadonlyArray<Query> => {
  const queries: Array<Query> = []
  for (const type of TYPE_NAMES) {
    for (const [id, entity] of after.entities[type]) {
      const former = before.entities[type].get(id)
      for (const [columnId, { kind }] of Object.entries(READABLE[type])) {
        const [old, now] = [former?.cells[columnId] ?? null, entity.cells[columnId] ?? null]
        if (former === entity || old === now) continue
        for (const value of [asWritten(kind, old), asWritten(kind, now)]) {
          if (value === undefined) continue
          const op = ASKABLE[kind].includes("gte") && next() < 0.5 ? "gte" : "eq"
          queries.push({ type, filters: [{ columnId, op, value }], select: [columnId], limit: 3 })
        }
      }
    }
  }
  return queries.sort(() => next() - 0.5).slice(0, TARGETED)
}

/** All responses to a query: three pages, the total alone, and faults. */
const responsesTo = Effect.fnUntraced(
  function* (query: Query, principal: Principal) {
    const queries = yield* EntityQueryService
    const organizationId = principal.organizationId
    const find = (rest: { readonly cursorEntityId?: string; readonly limit?: number }) =>
      Effect.map(
        Effect.result(
          queries.findEntities({
            organizationId,
            entityTypeId: query.type,
            filters: query.filters,
            selectColumns: query.select,
            limit: query.limit,
            ...rest
          })
        ),
        (result) =>
          Result.isSuccess(result) ? result.success : { fault: result.failure._tag, message: result.failure.message }
      )
    const heard: Array<unknown> = [yield* find({ limit: 0 }), yield* queries.listEntityTypes({ organizationId })]
    heard.push(
      yield* Effect.result(queries.listColumnsForType({ organizationId, entityTypeId: query.type })).pipe(
        Effect.map((result) => (Result.isSuccess(result) ? result.success : result.failure.message))
      )
    )
    let page = yield* find({})
    heard.push(page)
    for (let count = 0; count < 2 && "nextCursorEntityId" in page && page.nextCursorEntityId !== undefined; count++) {
      page = yield* find({ cursorEntityId: page.nextCursorEntityId })
      heard.push(page)
    }
    // Cursors that name a possibly hidden row, or none.
    for (const cursor of [FIRST_ID + 1n, FIRST_ID + 6n, FIRST_ID + 500n])
      heard.push(yield* find({ cursorEntityId: encodeId(cursor) }))
    return JSON.stringify(heard)
  },
  (effect, _, principal) => Effect.provideService(effect, CurrentPrincipal, principal)
)

/** The answer to a caller who sees everything: shows whether a change is observable at all. */
const answerText = (query: Query, organization: Organization, views: Views): string =>
  JSON.stringify(answer(query, views, organization).map((entity) => shownEntity(query, entity, views, organization)))

const runScenario = Effect.fnUntraced(function* (
  one: Scenario,
  place: Place,
  other: Place,
  tally: Tally & { kept: number; answered: number }
) {
  const { owner } = yield* Database
  const principal = yield* admit(place, one.policy, one.caller)
  const { after, kept } = changedUnseen(one, place.organization)
  const elsewhere = makeWorld(one.changes)[1]!
  // Half of the random queries select all visible columns.
  const anything = one.queries.map((query, index) => (index % 2 === 0 ? query : { ...query, filters: [] }))
  const queried = [...anything, ...targeted(place.organization, after, random(one.changes + 1))]
  const before: Array<string> = []
  for (const query of queried) before.push(yield* responsesTo(query, principal))

  const changes: ReadonlyArray<Change> = [
    { organizationId: place.stored.id, from: place.organization, to: after },
    {
      organizationId: other.stored.id,
      from: other.organization,
      to: { ...elsewhere, country: other.organization.country }
    }
  ]
  yield* replaceOrganization(owner, changes)
  const now: Array<string> = []
  for (const query of queried) now.push(yield* responsesTo(query, principal))
  yield* replaceOrganization(
    owner,
    changes.map(({ from, organizationId, to }) => ({ organizationId, from: to, to: from }))
  )

  tally.kept += kept
  const [allBefore, allAfter] = [everything(place.organization), everything(after)]
  for (const [index, query] of queried.entries()) {
    const answered = !before[index]!.includes("fault")
    if (answered) tally.answered += 1
    // A change is observable if a caller who sees everything gets a different answer.
    count(
      tally,
      answered && before[index]!.includes("entityId"),
      answerText(query, place.organization, allBefore) !== answerText(query, after, allAfter)
    )
    if (before[index] !== now[index])
      throw new Error(`${JSON.stringify(query)}\n  before ${before[index]}\n  after  ${now[index]}`)
  }
})

layer(TestServices, { excludeTestServices: true })("noninterference", (it) => {
  it.effect("a change of hidden data or of another organization changes no byte of any response", () =>
    Effect.gen(function* () {
      const places = yield* makePlaces(WORLDS.flatMap(makeWorld))
      const tally = { ...makeTally(), kept: 0, answered: 0 }
      yield* holds(
        scenario,
        {
          name: "noninterference",
          cases: SCENARIOS,
          seed: SEED,
          // Both organizations of a world change.
          queue: ({ where }) => Math.floor(where / 2),
          text: (one) => caseText(one.caller, one.policy, places[one.where]!.organization.slug)
        },
        (one) => runScenario(one, places[one.where]!, places[one.where ^ 1]!, tally)
      )
      console.log(`noninterference: ${tally.kept} changes of what is hidden, ${tally.answered} queried answered`)
      tallied("noninterference", 2000, tally)
      expect(tally.kept).toBeGreaterThanOrEqual(floorOf(5 * SCENARIOS))
      expect(tally.answered).toBeGreaterThanOrEqual(floorOf(0.5 * tally.cases))
    })
  )
})
