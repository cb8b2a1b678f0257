/**
 * Callers' queries against the oracle: filters on visible, masked and related cells, selected cells, order, all pages by
 * cursor, totals. All queries run through the service, on a real Postgres.
 */
import { layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import * as fc from "fast-check"
import { expect } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { BOUNDS } from "../../src/database/sql/throughRelation.ts"
import type { LookupError } from "../../src/domain/errors.ts"
import { encodeId } from "../../src/domain/ids.ts"
import { emailKey } from "../../src/domain/keys.ts"
import type { Page } from "../../src/domain/Page.ts"
import { CurrentPrincipal, type Principal } from "../../src/domain/Principal.ts"
import { EntityQueryService } from "../../src/services/EntityQueryService.ts"
import { TestServices } from "../support/database.ts"
import { generousPolicy, member, NOW, query } from "./generators.ts"
import { insertRows } from "./load.ts"
import { type Caller, type PolicyJson, type RuleJson, type View, type Views, viewsOf } from "./oracle.ts"
import { aimed, answer, everything, type Filter, folded, type Query, shownEntity } from "./queryOracle.ts"
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
  tallied
} from "./setting.ts"
import {
  emptyOrganization,
  makeWorld,
  type Organization,
  random,
  TYPE_NAMES,
  type TypeName,
  READABLE
} from "./world.ts"

/** A policy with callers, and the queries of each caller. */
const SCENARIOS = partOf(245)
const QUERIES = 24
const SEED = 20261122
const WORLDS = [21, 22].slice(0, partOf(2))

/** The worlds are small: with these bounds, each way of a search through a relation answers some of the queries. */
const WAYS: ReadonlyArray<Partial<typeof BOUNDS>> = [
  { sampled: 3, often: 1, related: 2, leading: 4, read: 12, probed: 8 },
  { sampled: 3, often: 1000, related: 1000, leading: 1000, read: 1000, probed: 1000 },
  { sampled: 3, often: -1, related: 1000, leading: 1000, read: 1000, probed: 1000 }
]
let scenarios = 0

interface Scenario {
  readonly policy: PolicyJson
  readonly caller: Caller
  readonly queries: ReadonlyArray<Query>
  readonly where: number
  /** Seeds the choice of the existing rows that every other query is about. */
  readonly aim: number
}

const scenario: fc.Arbitrary<Scenario> = fc.record({
  policy: generousPolicy,
  caller: member,
  queries: fc.array(query, { minLength: QUERIES, maxLength: QUERIES }),
  where: fc.nat({ max: 2 * WORLDS.length - 1 }),
  aim: fc.nat()
})

const ask = (
  principal: Principal,
  query: Query,
  rest: { readonly cursorEntityId?: string; readonly limit?: number } = {}
) =>
  Effect.flatMap(EntityQueryService, (queries) =>
    Effect.result(
      queries.findEntities({
        organizationId: principal.organizationId,
        entityTypeId: query.type,
        filters: query.filters,
        selectColumns: query.select,
        limit: query.limit,
        ...rest
      })
    )
  ).pipe(Effect.provideService(CurrentPrincipal, principal))

const equal = (what: string, found: unknown, wanted: unknown) => {
  const [left, right] = [JSON.stringify(found), JSON.stringify(wanted)]
  if (left !== right) throw new Error(`${what}\n  found    ${left}\n  expected ${right}`)
}

/** Compares the listed types and columns with those that the oracle shows. */
const namesFor = Effect.fnUntraced(
  function* (principal: Principal, place: Place, views: ReturnType<typeof viewsOf>) {
    const queries = yield* EntityQueryService
    const organizationId = principal.organizationId
    const { entityTypes } = yield* queries.listEntityTypes({ organizationId })
    const types = entityTypes.map((type) => type.id as TypeName)
    const columns = new Map<TypeName, ReadonlySet<string>>()
    for (const type of types) {
      const listed = yield* queries.listColumnsForType({ organizationId, entityTypeId: type })
      columns.set(type, new Set(listed.columns.map((column) => column.id)))
    }
    for (const type of TYPE_NAMES) {
      if (!types.includes(type) && views[type].size > 0) throw new Error(`${type} has visible rows and isn't listed`)
      for (const column of types.includes(type) ? Object.keys(READABLE[type]) : []) {
        const { target } = READABLE[type][column]!
        const someCell = [...views[type].values()].some((cells) => cells.has(column))
        if (columns.get(type)!.has(column) || !someCell || (target !== undefined && !types.includes(target))) continue
        throw new Error(`${type}.${column} has visible cells and isn't listed`)
      }
    }
    return { types, columns, rows: (type: TypeName) => place.organization.entities[type].size }
  },
  (effect, principal) => Effect.provideService(effect, CurrentPrincipal, principal)
)

/** Counts of answered queries by feature. */
const makeTallies = () => ({
  cells: makeTally(),
  references: makeTally(),
  pages: makeTally(),
  /** Pages after the first. */
  turned: 0,
  /** Queries whose answer depends on the type's masks, or on hidden targets. */
  masked: 0,
  target: 0,
  ordered: 0
})
type Tallies = ReturnType<typeof makeTallies>

/** Whether a row of the type, or a cell of one, is hidden. */
const isConditional = (type: TypeName, views: Views, organization: Organization): boolean =>
  views[type].size < organization.entities[type].size ||
  [...views[type].values()].some((cells) => cells.size < Object.keys(READABLE[type]).length)

/** The visible rows without masks. */
const unmasked = (type: TypeName, views: Views): View =>
  new Map([...views[type].keys()].map((id) => [id, new Set(Object.keys(READABLE[type]))]))

const runScenario = Effect.fnUntraced(function* (one: Scenario, place: Place, tally: Tallies) {
  const { organization } = place
  Object.assign(BOUNDS, WAYS[scenarios++ % WAYS.length])
  const principal = yield* admit(place, one.policy, one.caller)
  const views = viewsOf(one.policy, one.caller, organization, NOW)
  const names = yield* namesFor(principal, place, views)
  /** `limited` by its only inputs: the type, and the columns and operators of the filters. */
  const limited = new Map<string, boolean>()
  const next = random(one.aim)
  const aimedQueries = one.queries.map((query, index): Query => {
    const filter = index % 2 === 0 ? undefined : aimed(query.type, organization, next)
    return filter === undefined ? query : { ...query, filters: [filter, ...query.filters.slice(2)] }
  })
  for (const query of aimedQueries) {
    const about = JSON.stringify(query)
    const known = names.columns.get(query.type)
    const named = [...query.filters.map((filter) => filter.columnId), ...query.select]
    const first = yield* ask(principal, query)
    if (known === undefined || !named.every((column) => known.has(column))) {
      if (Result.isSuccess(first) || first.failure._tag !== "UnknownName")
        throw new Error(`${about} names what is hidden and was answered`)
      continue
    }
    if (query.filters.some(isTooShort)) {
      if (Result.isSuccess(first) || first.failure._tag !== "InvalidInput")
        throw new Error(`${about} is too short and was answered`)
      continue
    }
    const wanted = answer(query, views, organization)
    const conditional = isConditional(query.type, views, organization)
    const isRelation = (column: string) => READABLE[query.type][column]!.target !== undefined
    if (named.some((column) => !isRelation(column))) count(tally.cells, wanted.length > 0, conditional)
    if (named.some(isRelation)) count(tally.references, wanted.length > 0, conditional)
    count(tally.pages, wanted.length > 0, conditional)
    const found = JSON.stringify(wanted.map(({ id }) => encodeId(id)))
    const differs = (otherwise: typeof views) =>
      JSON.stringify(answer(query, otherwise, organization).map(({ id }) => encodeId(id))) !== found
    if (differs({ ...views, [query.type]: unmasked(query.type, views) })) tally.masked += 1
    if (differs({ ...everything(organization), [query.type]: views[query.type] })) tally.target += 1
    if (wanted.length > 1 && query.filters.some(({ op }) => op === "gte" || op === "lt")) tally.ordered += 1

    const asks = JSON.stringify([query.type, ...query.filters.map(({ columnId, op }) => [columnId, op])])
    let page = yield* pageOf(first, about)
    for (let start = 0; ; start += query.limit) {
      if (start > 0) tally.turned += 1
      const isLimited = page.limited === true
      if ((limited.get(asks) ?? isLimited) !== isLimited) throw new Error(`${about}: limited depends on the values`)
      limited.set(asks, isLimited)
      if (!isLimited && differs(everything(organization)))
        throw new Error(`${about}: what is hidden changes the answer, and it isn't limited`)
      if (!isLimited && views[query.type].size < names.rows(query.type))
        throw new Error(`${about}: hidden rows, and not limited`)
      const shown = wanted.slice(start, start + query.limit)
      const more = wanted.length > start + query.limit
      equal(`${about} from ${start}`, page, {
        total: wanted.length,
        ...(isLimited ? { limited: true } : {}),
        entities: shown.map((entity) => shownEntity(query, entity, views, organization)),
        ...(more ? { nextCursorEntityId: encodeId(shown.at(-1)!.id) } : {})
      })
      if (!more) break
      page = yield* pageOf(yield* ask(principal, query, { cursorEntityId: page.nextCursorEntityId! }), about)
    }
    const counted = yield* pageOf(yield* ask(principal, query, { limit: 0 }), about)
    equal(`${about} counted`, counted, {
      total: wanted.length,
      ...(limited.get(asks) === true ? { limited: true } : {}),
      entities: []
    })
  }
})

/** A column without an index needs at least three characters. */
const isTooShort = ({ columnId, op, value }: Filter) =>
  columnId === "note" && op === "ilike" && [...folded(value)].length < 3

const pageOf = (result: Result.Result<Page, LookupError>, about: string) =>
  Effect.sync(() => {
    if (Result.isFailure(result)) throw new Error(`${about} failed: ${result.failure._tag}: ${result.failure.message}`)
    return result.success
  })

/** A caller without special attributes. */
const LENA: Caller = { me: 30n, roles: ["member"], attributes: {} }

const allow = (
  type: TypeName,
  ...denials: ReadonlyArray<Pick<RuleJson, "effect" | "columns"> & Partial<RuleJson>>
): PolicyJson => ({
  version: 1,
  roles: { member: { inherits: [] } },
  rules: [{ effect: "allow" as const, columns: "*" as const }, ...denials].map((rule, index) => ({
    id: `r${index}`,
    role: "member",
    action: "read",
    type,
    ...rule
  }))
})

interface Deal {
  readonly id: bigint
  readonly name: string
  readonly [column: string]: string | bigint
}

/** Levels with ties, and one NULL. */
const DEALS: ReadonlyArray<Deal> = [
  { id: 1n, name: "a", level: "1", status: "x" },
  { id: 2n, name: "b", level: "5", status: "hidden" },
  { id: 3n, name: "c", level: "5", status: "masked", amount: "2" },
  { id: 4n, name: "d", level: "5", status: "x", amount: "1" },
  { id: 5n, name: "e", level: "5", status: "x", amount: "3" },
  { id: 6n, name: "f", level: "7", status: "x" },
  { id: 7n, name: "g", status: "x" }
]

/** An organization with only these deals. */
const ownPlace = Effect.fnUntraced(function* (slug: string, deals: ReadonlyArray<Deal>) {
  const { owner } = yield* Database
  const [place] = yield* makePlaces([emptyOrganization(slug)])
  yield* insertRows(
    owner,
    "t_deals",
    place!.stored.id,
    deals.map((deal) => ({ ...deal, id: deal.id.toString(), name_k: deal.name }))
  )
  return place!
})

layer(TestServices, { excludeTestServices: true })("queries", (it) => {
  it.effect(
    "a query finds, shows, orders, counts and pages the rows that the oracle finds among the visible ones",
    () =>
      Effect.gen(function* () {
        const places = yield* makePlaces(WORLDS.flatMap(makeWorld))
        const tally = makeTallies()
        yield* holds(
          scenario,
          {
            name: "queries",
            cases: SCENARIOS,
            seed: SEED,
            queue: ({ where }) => where,
            text: (one) => caseText(one.caller, one.policy, places[one.where]!.organization.slug)
          },
          (one) => runScenario(one, places[one.where]!, tally)
        )
        const least = 2000
        tallied("queries, with cells", least, tally.cells)
        tallied("queries, with references", least, tally.references)
        tallied("queries, in pages and with totals", least, tally.pages)
        // Hidden data affected enough answers, through the type's masks and through hidden targets.
        for (const often of [tally.masked, tally.target, tally.ordered])
          expect(often).toBeGreaterThanOrEqual(floorOf(60))
        expect(tally.turned).toBeGreaterThanOrEqual(floorOf(0.2 * tally.pages.cases))
      })
  )

  it.effect("the page after a cursor whose row or cell is hidden is empty, as after an unknown cursor", () =>
    Effect.gen(function* () {
      const place = yield* ownPlace("cursors", DEALS)
      const everything = yield* admit(place, allow("deals"), LENA)
      const ordered: Query = {
        type: "deals",
        filters: [{ columnId: "level", op: "gte", value: "0" }],
        select: ["level"],
        limit: 2
      }
      const after = (principal: Principal, id: bigint, query: Query = ordered) =>
        Effect.flatMap(ask(principal, query, { cursorEntityId: encodeId(id) }), (result) => pageOf(result, "a page"))
      expect((yield* after(everything, 3n)).entities.map((entity) => entity.entityId)).toEqual([4n, 5n].map(encodeId))

      const masked = yield* admit(
        place,
        allow(
          "deals",
          { effect: "deny", columns: ["level"], where: { status: "masked" } },
          {
            effect: "deny",
            columns: "*",
            where: { status: "hidden" }
          }
        ),
        LENA
      )
      const nothing = JSON.stringify(yield* after(masked, 999n))
      expect(nothing).toBe(JSON.stringify({ total: 4, limited: true, entities: [] }))
      // Row 2 is hidden, row 3 has a hidden cell, row 7 has no value.
      for (const id of [2n, 3n, 7n]) expect(JSON.stringify(yield* after(masked, id))).toBe(nothing)
      // Ordered by id, a cursor is only a position: its row doesn't matter.
      const plain: Query = { ...ordered, filters: [] }
      expect(JSON.stringify(yield* after(masked, 2n, plain))).toBe(JSON.stringify(yield* after(masked, 1n, plain)))
    })
  )

  it.effect("a range orders by value, then by id, in both directions, omits NULL, and pages without gaps", () =>
    Effect.gen(function* () {
      const place = yield* ownPlace("ordering", DEALS)
      const principal = yield* admit(place, allow("deals"), LENA)
      const walk = Effect.fnUntraced(function* (filters: ReadonlyArray<Filter>, limit: number) {
        const ids: Array<string> = []
        let cursor: string | undefined
        do {
          const page: Page = yield* pageOf(
            yield* ask(
              principal,
              { type: "deals", filters, select: [], limit },
              cursor === undefined ? {} : { cursorEntityId: cursor }
            ),
            "a page"
          )
          ids.push(...page.entities.map((entity) => entity.entityId))
          cursor = page.nextCursorEntityId
        } while (cursor !== undefined)
        return ids
      })
      for (const limit of [1, 2, 3, 25]) {
        expect(yield* walk([{ columnId: "level", op: "gte", value: "5" }], limit)).toEqual(
          [2n, 3n, 4n, 5n, 6n].map(encodeId)
        )
        expect(yield* walk([{ columnId: "level", op: "lt", value: "8" }], limit)).toEqual(
          [6n, 5n, 4n, 3n, 2n, 1n].map(encodeId)
        )
        // The first range orders, the second only filters.
        expect(
          yield* walk(
            [
              { columnId: "level", op: "lt", value: "7" },
              { columnId: "amount", op: "gte", value: "1" }
            ],
            limit
          )
        ).toEqual([5n, 4n, 3n].map(encodeId))
      }
    })
  )

  it.effect("a total is exact up to 1000 and a lower bound beyond, and paging reaches every row", () =>
    Effect.gen(function* () {
      const { owner } = yield* Database
      const place = yield* ownPlace("counting", [])
      const principal = yield* admit(place, allow("people"), LENA)
      const fill = (from: number, to: number) =>
        owner.unsafe(
          `INSERT INTO data.people (organization_id, id, name, name_k) SELECT $1::bigint, i, 'N' || i, 'n' || i FROM generate_series($2::int, $3::int) i`,
          [place.stored.id, from, to]
        )
      const query: Query = {
        type: "people",
        filters: [{ columnId: "name", op: "ilike", value: "n" }],
        select: [],
        limit: 25
      }
      yield* fill(1, 1000)
      expect(yield* pageOf(yield* ask(principal, query, { limit: 0 }), "a total")).toEqual({
        total: 1000,
        entities: []
      })
      yield* fill(1001, 1030)
      expect(yield* pageOf(yield* ask(principal, query, { limit: 0 }), "a total")).toEqual({
        total: 1000,
        totalIsLowerBound: true,
        entities: []
      })
      const seen: Array<string> = []
      let cursor: string | undefined
      do {
        const page: Page = yield* pageOf(
          yield* ask(principal, query, cursor === undefined ? {} : { cursorEntityId: cursor }),
          "a page"
        )
        expect(page).toMatchObject({ total: 1000, totalIsLowerBound: true })
        seen.push(...page.entities.map((entity) => entity.entityId))
        cursor = page.nextCursorEntityId
      } while (cursor !== undefined)
      expect(seen).toEqual(Array.from({ length: 1030 }, (_, index) => encodeId(BigInt(index + 1))))
    })
  )

  it.effect("an unreadable value or limit is refused, regardless of the rows", () =>
    Effect.gen(function* () {
      const place = yield* ownPlace("refusing", DEALS)
      const principal = yield* admit(place, allow("deals", { effect: "allow", type: "people", columns: "*" }), LENA)
      const filter = (columnId: string, op: Filter["op"], value: string) => ({ filters: [{ columnId, op, value }] })
      const refused: ReadonlyArray<Partial<Query> & { readonly cursorEntityId?: string }> = [
        filter("tags", "gte", "a"),
        filter("tags", "ilike", "red"),
        filter("secret", "eq", "maybe"),
        filter("secret", "ilike", "tru"),
        filter("level", "ilike", "5"),
        filter("level", "eq", "five"),
        filter("level", "eq", "5.5"),
        filter("level", "lt", "1e3"),
        filter("level", "eq", "9223372036854775808"),
        filter("amount", "gte", "NaN"),
        filter("amount", "eq", "Infinity"),
        filter("amount", "eq", "0x10"),
        filter("due", "eq", "2026-02-30"),
        filter("due", "gte", "2026-13"),
        filter("due", "eq", "2026-03-01T10:00"),
        filter("at", "eq", "soon"),
        filter("at", "lt", "2026-03-01T25:00"),
        filter("person", "gte", "x"),
        filter("name", "eq", "   "),
        filter("name", "eq", "a\u0000"),
        filter("name", "ilike", "x".repeat(1001)),
        filter("note", "ilike", "ab"),
        { limit: -1 },
        { limit: 26 },
        { limit: 1.5 },
        { limit: Number.NaN },
        { cursorEntityId: "not an id" },
        { cursorEntityId: "" },
        { filters: Array.from({ length: 11 }, () => ({ columnId: "name", op: "eq", value: "x" })) },
        { select: ["name", "status", "note", "amount", "level", "secret"] }
      ]
      for (const { cursorEntityId, ...change } of refused) {
        const result = yield* ask(
          principal,
          { type: "deals", filters: [], select: [], limit: 5, ...change },
          cursorEntityId === undefined ? {} : { cursorEntityId }
        )
        expect([change, Result.isFailure(result) ? result.failure._tag : "answered"]).toEqual([change, "InvalidInput"])
      }
    })
  )

  it.effect("a timestamp with an impossible offset is refused before it reaches the database", () =>
    Effect.gen(function* () {
      const place = yield* ownPlace("offsets", DEALS)
      const principal = yield* admit(place, allow("deals"), LENA)
      for (const value of ["2026-03-01T10:00:00+99:99", "2026-03-01T10:00:00-16:00", "2026-03-01T10:00+14:60"]) {
        const result = yield* ask(principal, {
          type: "deals",
          filters: [{ columnId: "at", op: "gte", value }],
          select: [],
          limit: 5
        })
        expect([value, Result.isFailure(result) ? result.failure._tag : "answered"]).toEqual([value, "InvalidInput"])
      }
    })
  )

  it.effect("the largest writable dates are found without an error", () =>
    Effect.gen(function* () {
      const place = yield* ownPlace("dating", [
        { id: 1n, name: "a", due: "9999-12-31", at: "9999-12-30T00:00:00Z" },
        { id: 2n, name: "b", due: "0001-01-01", at: "0001-01-02T00:00:00Z" }
      ])
      const principal = yield* admit(place, allow("deals"), LENA)
      const found = (columnId: string, op: Filter["op"], value: string) =>
        Effect.map(
          ask(principal, { type: "deals", filters: [{ columnId, op, value }], select: [], limit: 5 }),
          (result) =>
            Result.isSuccess(result) ? result.success.entities.map((entity) => entity.displayName) : result.failure._tag
        )
      expect(yield* found("due", "eq", "9999-12-31")).toEqual(["a"])
      expect(yield* found("due", "eq", "0001")).toEqual(["b"])
      expect(yield* found("due", "lt", "0001-01-02")).toEqual(["b"])
      expect(yield* found("at", "eq", "9999-12-29")).toEqual(["a"])
      expect(yield* found("at", "gte", "9999-12-31")).toEqual([])
    })
  )

  it.effect("an e-mail address is found by any part of it, including accents", () =>
    Effect.gen(function* () {
      const { owner } = yield* Database
      const place = yield* ownPlace("accents", [])
      const principal = yield* admit(place, allow("people"), LENA)
      const email = "Zoë.Müller@example.com"
      yield* owner.unsafe(
        `INSERT INTO data.people (organization_id, id, name, name_k, email, email_k) VALUES ($1::bigint, 1, 'Zoe', 'zoe', $2::text, $3::text)`,
        [place.stored.id, email, emailKey(email)]
      )
      for (const [op, value] of [
        ["eq", email],
        ["eq", "zoë.müller@EXAMPLE.com"],
        ["ilike", "example"],
        ["ilike", "zoë"],
        ["ilike", "Müller@"],
        ["ilike", "zo"]
      ] as const) {
        const { total } = yield* pageOf(
          yield* ask(principal, { type: "people", filters: [{ columnId: "email", op, value }], select: [], limit: 5 }),
          value
        )
        expect([op, value, total]).toEqual([op, value, 1])
      }
    })
  )
})
