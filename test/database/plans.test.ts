import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import { expect, inject } from "vitest"
import { admit, openWorld, type Role, type Size, type World } from "../../bench/world/load.ts"
import { QUESTIONS } from "../../bench/world/questions.ts"
import { Database } from "../../src/database/Database.ts"
import type { Statement } from "../../src/database/sql/ResolvedQuery.ts"
import { BOUNDS } from "../../src/database/sql/throughRelation.ts"
import {
  compileDelete,
  compileLock,
  compilePropose,
  compileSeen,
  compileUpdate,
  compileVerify
} from "../../src/database/sql/write.ts"
import { columnBySlug, peopleOf } from "../../src/domain/EntityType.ts"
import { encodeId } from "../../src/domain/ids.ts"
import { CurrentPrincipal } from "../../src/domain/Principal.ts"
import type { FilterOp, FindQuery } from "../../src/domain/Query.ts"
import { makeCallers } from "../../src/services/changes/callers.ts"
import { EntityQueryService } from "../../src/services/EntityQueryService.ts"
import { IdentityResolver } from "../../src/services/members/IdentityResolver.ts"
import { OrgEntityStore } from "../../src/services/OrgEntityStore.ts"
import { TestServices } from "../support/database.ts"
import { type Access, accessOfStatement } from "../support/plans.ts"
import { connectTo } from "../support/newDatabase.ts"

const ROWS = 200_000
/** From all rows of a type to almost none, by a column, by a relation and cell by cell. */
const SEEING: ReadonlyArray<Role> = ["everything", "nearly", "company", "masked", "little"]

/** Queries of the lookup pool, under custom and generic plans, each with the most rows that it may read. */
const LOOKUPS: Readonly<Record<string, number>> = {
  phone: 20,
  email: 20,
  "email, none": 20,
  "name, rare": 200,
  "name, common": 5000
}
/** Roles that see rows by a reference: the reference's index includes the name. */
const BY_REFERENCE: ReadonlyArray<Role> = ["little", "company"]
/** Table rows that those roles may read: the page, and the rows that the plan refers to. */
const FETCHED = 500
const IN_INDEXES = ["name contains, common", "name contains three", "everyone"]

/** The trigram index, which is the wrong index for equality. */
const PATTERNS = /by \w+_name_k_phone_k_email_k_idx$/
const TABLES = /^Seq Scan on (people|companies|meetings|meeting_attendees)$/

/**
 * The world with reproducible statistics: one column with the largest target makes ANALYZE read all rows instead of a
 * sample. No query filters these columns by a common value; the statistics of other columns keep their usual size.
 */
const openedWorld = Effect.gen(function* () {
  const { owner } = yield* Database
  for (const column of [
    "people ALTER id",
    "companies ALTER id",
    "meetings ALTER id",
    "meeting_attendees ALTER meeting_id"
  ])
    yield* owner.unsafe(`ALTER TABLE data.${column} SET STATISTICS 10000`).unprepared
  return yield* openWorld(ROWS)
})

/** Queries for a page in the middle, ordered by id and by time. */
const later = Effect.fnUntraced(function* (world: World, size: Size) {
  const { owner } = yield* Database
  const { organization, people } = world.organizations[size]
  const middle = (table: string, count: number) =>
    Effect.map(
      owner.unsafe<{ id: bigint }>(
        `SELECT id FROM data.${table} WHERE organization_id = $1::bigint ORDER BY id OFFSET $2::int LIMIT 1`,
        [organization.id, Math.floor(count / 2)]
      ),
      ([row]) => encodeId(row!.id)
    )
  const [person, meeting] = [yield* middle("people", people), yield* middle("meetings", people / 10)]
  const from = { columnId: "start", op: "gte", value: "2023-01" } as const
  return {
    "everyone, later": { entityTypeId: "people", filters: [], cursorEntityId: person },
    "meetings from, later": { entityTypeId: "meetings", filters: [from], cursorEntityId: meeting }
  } satisfies Readonly<Record<string, FindQuery>>
})

const filter = (columnId: string, op: FilterOp, value: string) => ({ columnId, op, value })

/** What a filter can ask besides one comparison of an own column. */
const FILTERS: Readonly<Record<string, FindQuery>> = {
  "any of two": { entityTypeId: "people", filters: [filter("status", "eq", "lead|vip")] },
  "none of two": { entityTypeId: "people", filters: [filter("status", "ne", "lead|vip")] },
  "without a company": { entityTypeId: "people", filters: [filter("company", "ne", "*")] },
  "a company's status": { entityTypeId: "people", filters: [filter("company.status", "eq", "vip")] },
  "names from M": { entityTypeId: "people", filters: [filter("name", "gte", "M")] },
  "a meeting since": { entityTypeId: "people", filters: [filter("meetings@attendees.start", "eq", "2023-01..")] }
}

/** Groups by a value, a reference, a path and a period, and figures. */
const GROUPS: ReadonlyArray<readonly [type: string, ...select: ReadonlyArray<string>]> = [
  ["people", "by status"],
  ["people", "by owner"],
  ["people", "by company.status"],
  ["people", "by status", "distinct company"],
  ["meetings", "by month start"],
  ["meetings", "by owner", "max start"]
]

/** Searches through a relation, each with the most rows that it may read in the largest organization. */
const THROUGH_RELATIONS: ReadonlyArray<readonly [name: string, rows: number]> = [
  ["company contains", 20_000],
  ["company contains, none", 2500],
  ["owner contains", 60_000],
  ["owner begins with one", 60_000],
  ["meetings with one person", 20_000],
  ["meetings with many", 60_000],
  // Not enough meetings: all are read twice.
  ["meetings of a name from", 200_000],
  ["company begins with one", 60_000]
]

/** Of all rows, those that the plan by relations shows, and the companies that it reads for them: Postgres 15 reads their names twice. */
const SHOWN = 0.15

const MANY = 1_000_000
/** The ways that a search through a relation can take (`matching.ts`): as it decides, the few, the first, all. */
const WAYS: ReadonlyArray<Partial<typeof BOUNDS>> = [
  {},
  { often: MANY, related: MANY, leading: MANY },
  { often: -1, read: MANY, probed: MANY },
  { often: MANY, related: -1 }
]

/** Filters over two and three hops. */
const HOPS: ReadonlyArray<FindQuery> = [
  { entityTypeId: "people", filters: [filter("meetings@attendees", "ne", "*")] },
  { entityTypeId: "people", filters: [filter("owner.meetings@attendees", "ne", "*")] },
  { entityTypeId: "people", filters: [filter("owner.meetings@attendees.start", "ne", "2023-01..2023-03")] },
  { entityTypeId: "people", filters: [filter("company.people@company.meetings@attendees", "ne", "*")] },
  { entityTypeId: "meetings", filters: [filter("attendees.meetings@attendees", "ne", "*")] },
  { entityTypeId: "meetings", filters: [filter("attendees.company.people@company", "ne", "*")] },
  { entityTypeId: "companies", filters: [filter("people@company.meetings@attendees", "ne", "*")] },
  { entityTypeId: "companies", filters: [filter("people@company.meetings@attendees", "eq", "*")] }
]

/** Removes Postgres's statistics, as they are after a restore until autovacuum comes. */
const forgetStatistics = Effect.gen(function* () {
  const { owner } = yield* Database
  const [row] = yield* owner<{ database: string }>`SELECT current_database() AS database`
  const url = Object.assign(new URL(inject("serverUrl")), { pathname: `/${row!.database}` })
  const admin = yield* connectTo(url.href)
  yield* admin`DELETE FROM pg_statistic WHERE starelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'data'::regnamespace)`
  yield* admin`UPDATE pg_class SET reltuples = -1, relpages = 0, relallvisible = 0 WHERE relnamespace = 'data'::regnamespace`
}).pipe(Effect.scoped, Effect.provide(Reactivity.layer))

interface NamedQuery {
  readonly name: string
  readonly query: FindQuery
}

/** Every query, once for each of its values. */
const questions = Effect.fnUntraced(function* (world: World, size: Size) {
  const of = world.organizations[size]
  const asked = new Map<string, NamedQuery>()
  for (const [name, question] of Object.entries(QUESTIONS)) {
    for (let round = 0; round < (name in LOOKUPS ? 2 : 4); round++) {
      const query = question(of, round)
      asked.set(`${name} ${query.filters.map(({ value }) => value).join(", ")}`, { name, query })
    }
  }
  for (const [name, query] of Object.entries({ ...FILTERS, ...(yield* later(world, size)) }))
    asked.set(name, { name, query })
  return asked
})

/** The faults of a statement's execution plan. */
const faultsOf = (
  of: { readonly size: Size; readonly role: Role; readonly name: string; readonly people: number },
  { fetched, rows, ways }: Access
): ReadonlyArray<string> => {
  const { name, people, role, size } = of
  const most = LOOKUPS[name] ?? 4 * people + 1000
  return [
    ...ways.filter((way) => TABLES.test(way)),
    ...(name in LOOKUPS ? ways.filter((way) => PATTERNS.test(way)) : []),
    ...(rows > most ? [`${rows} rows are read`] : []),
    ...(size === "huge" && fetched > FETCHED && BY_REFERENCE.includes(role) && IN_INDEXES.includes(name)
      ? [`${fetched} rows are read from tables`]
      : [])
  ]
}

const BATCH_SIZE = 5

/** The batch form of a lookup, with the same values for every request. */
const asBatch = ({ batch, parameters }: Statement, requests: number): Statement => {
  const { shared, text } = batch!()
  return {
    text,
    parameters: parameters.map((value, index) =>
      shared.has(index) ? value : Array.from({ length: requests }, () => value)
    )
  }
}

const asking = Effect.fnUntraced(function* (world: World, size: Size, role: Role) {
  const queries = yield* EntityQueryService
  const of = world.organizations[size]
  const principal = yield* admit(of, role)
  return (query: FindQuery): Effect.Effect<Statement, unknown> =>
    queries
      .explain({ ...query, organizationId: of.organization.id })
      .pipe(Effect.provideService(CurrentPrincipal, principal))
})

layer(TestServices, { excludeTestServices: true })("Postgres's execution plans", (it) => {
  for (const size of ["huge", "middle", "small"] as const) {
    it.effect(`scan no table sequentially in a ${size} organization and read few rows beyond the matching ones`, () =>
      Effect.gen(function* () {
        const world = yield* openedWorld
        const { search } = yield* Database
        const asked = yield* questions(world, size)
        const faults: Array<string> = []
        for (const role of SEEING) {
          const explain = yield* asking(world, size, role)
          for (const [said, { name, query }] of asked) {
            const about = [query.entityTypeId, ...query.filters.map(({ columnId }) => columnId)]
            if (role === "masked" && about.some((one) => one.startsWith("meetings"))) continue
            const statement = yield* explain(query)
            for (const plan of name in LOOKUPS ? (["custom", "generic"] as const) : (["custom"] as const)) {
              const access = yield* search.withTransaction(accessOfStatement(search, statement, plan))
              for (const fault of faultsOf({ name, people: world.organizations[size].people, role, size }, access))
                faults.push(`${said}, seeing ${role}, ${plan} plan: ${fault}`)
              if (!(name in LOOKUPS)) continue
              const batch = yield* search.withTransaction(
                accessOfStatement(search, asBatch(statement, BATCH_SIZE), plan)
              )
              const each = { ...batch, rows: batch.rows / BATCH_SIZE }
              for (const fault of faultsOf({ name, people: world.organizations[size].people, role, size }, each))
                faults.push(`${said}, seeing ${role}, ${plan} plan of the batch form: ${fault}`)
            }
          }
        }
        expect(faults).toEqual([])
      })
    )
  }

  it.effect("read the rows of changes by their primary keys, however many ids are named", () =>
    Effect.gen(function* () {
      const world = yield* openedWorld
      const { owner } = yield* Database
      const { organization } = world.organizations.huge
      const identities = yield* IdentityResolver
      const caller = makeCallers(yield* OrgEntityStore)(
        yield* identities.readmit(yield* admit(world.organizations.huge, "everything"))
      )
      const { catalog } = caller
      const people = peopleOf(catalog)!
      const rows = yield* owner.unsafe<{ id: bigint }>(
        "SELECT id FROM data.people WHERE organization_id = $1::bigint ORDER BY id DESC LIMIT 25",
        [organization.id]
      )
      const [read, write] = [caller.readOf(people)!, caller.writeOf(people, "update")!]
      const assignments = [
        { column: columnBySlug(people, "email")!, texts: ["a@example.com", "a@example.com"] },
        {
          column: columnBySlug(people, "owner")!,
          texts: [rows[0]!.id.toString()],
          target: { type: people, where: read.where }
        }
      ]
      const faults: Array<string> = []
      for (const count of [1, 3, 25]) {
        const ids = rows.slice(0, count).map(({ id }) => id.toString())
        const change = { type: people, ids, assignments, read, write }
        const shown = ids.map((id) => ({ id, before: [null, null], name: null }))
        const statements = {
          propose: compilePropose(change, catalog, { type: people, id: ids[0]!, read }),
          seen: compileSeen(people, ids, people.columns, read, catalog),
          lock: compileLock(change, shown, catalog),
          update: compileUpdate(people, ids, assignments, catalog),
          verify: compileVerify(people, ids, people.columns, write, catalog),
          delete: compileDelete(people, ids, catalog)
        }
        for (const [name, statement] of Object.entries(statements))
          for (const plan of ["custom", "generic"] as const) {
            // Failing rolls the transaction back, so that no row is written.
            const looked = Effect.flatMap(accessOfStatement(owner, statement, plan), Effect.fail)
            const access = yield* Effect.flip(owner.withTransaction(looked))
            if (!("ways" in access)) return yield* Effect.die(access)
            for (const way of access.ways.filter((one) => !/_pkey$| on organizations$/.test(one)))
              faults.push(`${name} of ${count}, ${plan} plan: ${way}`)
          }
      }
      expect(faults).toEqual([])
    })
  )

  it.effect("are reported as faulty when an index is missing", () =>
    Effect.gen(function* () {
      const world = yield* openedWorld
      const { owner } = yield* Database
      const found = Effect.fnUntraced(function* (size: Size, role: Role, name: string, index: string) {
        const of = world.organizations[size]
        const explain = yield* asking(world, size, role)
        const statement = yield* explain(QUESTIONS[name]!(of, 0))
        const look = Effect.gen(function* () {
          yield* owner.unsafe(`DROP INDEX data.${index}`).unprepared
          return yield* accessOfStatement(owner, statement, "custom")
        })
        // Failing rolls the transaction back and restores the index.
        const access = yield* Effect.flip(owner.withTransaction(Effect.flatMap(look, Effect.fail)))
        return "ways" in access ? faultsOf({ name, people: of.people, role, size }, access) : yield* Effect.die(access)
      })
      const middle = (name: string, index: string) => found("middle", "everything", name, index)
      expect(yield* middle("phone", "people_organization_id_phone_k_id_idx")).not.toEqual([])
      expect(yield* middle("name, rare", "people_organization_id_name_k_id_idx")).not.toEqual([])
      expect(yield* middle("everyone", "people_organization_id_status_k_id_idx")).toEqual([])
      for (const column of ["owner_id", "company_id"]) {
        const index = `people_organization_id_${column}_id_name_k_idx`
        expect(yield* found("huge", "company", "name contains, common", index)).not.toEqual([])
      }
    })
  )

  it.effect("of groups read each row once, can do so in parallel, and look related rows up in a hash", () =>
    Effect.gen(function* () {
      const world = yield* openedWorld
      const { figures } = yield* Database
      const { people } = world.organizations.huge
      const read: Array<unknown> = []
      for (const role of ["everything", "nearly", "company", "masked"] as const) {
        const explain = yield* asking(world, "huge", role)
        for (const [entityTypeId, ...selectColumns] of GROUPS) {
          if (role === "masked" && entityTypeId === "meetings") continue
          const statement = yield* explain({ entityTypeId, filters: [], selectColumns })
          const access = accessOfStatement(figures!, statement, "custom")
          const { hashed, rows } = yield* figures!.withTransaction(access)
          // The rows themselves, the companies and people that they lead to, and a partner's companies for the plan.
          const most = (entityTypeId === "people" ? 1 : 0.6) * people * (role === "company" ? 2.2 : 1.4) + 1000
          if (rows > most) read.push([role, entityTypeId, selectColumns, rows, most])
          if (role === "everything" && selectColumns.join() === "by status") {
            // Without its fixed cost, which doesn't pay for so few rows.
            const { parallel } = yield* figures!.withTransaction(
              Effect.andThen(figures!.unsafe("SET LOCAL parallel_setup_cost = 0"), access)
            )
            if (!parallel) read.push([role, selectColumns, "serial"])
          }
          if (entityTypeId === "people" && role === "company" && !hashed) read.push([role, selectColumns, "not hashed"])
        }
      }
      expect(read).toEqual([])
    })
  )

  it.effect(
    "of a search through a relation read few rows where many related rows match, and no more where few do",
    () =>
      Effect.gen(function* () {
        const world = yield* openedWorld
        const { search } = yield* Database
        const of = world.organizations.huge
        const explain = yield* asking(world, "huge", "everything")
        const read: Array<unknown> = []
        for (const [name, most] of THROUGH_RELATIONS) {
          const statement = yield* explain(QUESTIONS[name]!(of, 1))
          const { rows } = yield* search.withTransaction(accessOfStatement(search, statement, "custom"))
          if (rows > most) read.push([name, rows])
        }
        expect(read).toEqual([])
      })
  )

  it.effect("of a search with a value that most rows have read little more than what a plan by relations shows", () =>
    Effect.gen(function* () {
      const world = yield* openedWorld
      const { search } = yield* Database
      const of = world.organizations.huge
      const explain = yield* asking(world, "huge", "company")
      const read: Array<unknown> = []
      for (const name of ["name contains and status", "company contains, and status"])
        for (const round of [0, 1, 2, 3]) {
          const statement = yield* explain(QUESTIONS[name]!(of, round))
          const { rows } = yield* search.withTransaction(accessOfStatement(search, statement, "custom"))
          if (rows > SHOWN * of.people) read.push([name, round, rows])
        }
      expect(read).toEqual([])
    })
  )

  it.effect("of a search through a relation give the same rows and total, whichever way the statement takes", () =>
    Effect.gen(function* () {
      const world = yield* openedWorld
      const { search } = yield* Database
      const of = world.organizations.huge
      const bounds = { ...BOUNDS }
      let compared = 0
      for (const role of ["everything", "company", "little"] as const) {
        const explain = yield* asking(world, "huge", role)
        for (const [name] of THROUGH_RELATIONS)
          for (const round of [0, 1]) {
            const answers: Array<unknown> = []
            for (const [index, way] of WAYS.entries()) {
              // Each way has a limit of its own, because statements are cached.
              const query = { ...QUESTIONS[name]!(of, round), limit: 20 + index }
              Object.assign(BOUNDS, bounds, way)
              const { parameters, text } = yield* explain(query)
              Object.assign(BOUNDS, bounds)
              const rows = yield* search.unsafe<{ id: bigint | null; total: number }>(text, parameters)
              if (rows[0]?.id != null) compared += 1
              answers.push([rows[0]?.total, rows.slice(0, 20).map(({ id }) => id)])
            }
            expect(answers, `${name} as ${role}`).toEqual(answers.map(() => answers[0]))
          }
      }
      expect(compared).toBeGreaterThan(40)
    })
  )

  it.effect("read each row a few times at most over several hops without statistics", () =>
    Effect.gen(function* () {
      const world = yield* openedWorld
      yield* forgetStatistics
      const { search } = yield* Database
      const most = 4 * world.organizations.huge.people + 1000
      const read: Array<unknown> = []
      for (const role of ["everything", "company"] as const) {
        const explain = yield* asking(world, "huge", role)
        for (const query of HOPS) {
          const statement = yield* explain(query)
          const { rows } = yield* search.withTransaction(accessOfStatement(search, statement, "custom"))
          if (rows > most) read.push([role, query.entityTypeId, query.filters, rows])
        }
      }
      expect(read).toEqual([])
    })
  )
})
