import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { admit, openWorld, type Role, type Size, type World } from "../../bench/world/load.ts"
import { QUESTIONS } from "../../bench/world/questions.ts"
import { Database } from "../../src/database/Database.ts"
import type { Statement } from "../../src/database/sql/ResolvedQuery.ts"
import { encodeId } from "../../src/domain/ids.ts"
import { CurrentPrincipal } from "../../src/domain/Principal.ts"
import type { FindQuery } from "../../src/domain/Query.ts"
import { EntityQueryService } from "../../src/services/EntityQueryService.ts"
import { TestServices } from "../support/database.ts"
import { type Access, accessOfStatement } from "../support/plans.ts"

const ROWS = 200_000
/** From all rows of a type to next to none of them, by a column, by a relation, and cell by cell. */
const SEEING: ReadonlyArray<Role> = ["everything", "nearly", "company", "masked", "little"]

/** Equality on an identifier: it runs on the connection that lookups share, planned for its values or for any. */
const LOOKUPS: Readonly<Record<string, number>> = {
  phone: 20,
  email: 20,
  "nobody's email": 20,
  "name, rare": 200,
  "name, common": 5000
}
/**
 * A condition of a plan that has no index, over a table of which half is one organization's: to read the table is as good
 * a way as any. How many rows may be looked at is held for it, too.
 */
const UNINDEXED = { question: "huge company company contains, and status", way: "Seq Scan on companies" }

/** Few see it by name: what they see is in the index that leads to it, with its name. */
const BY_REFERENCE: ReadonlyArray<Role> = ["little", "company"]
/** How many rows of tables are read for those: the page, and what the plan refers to. */
const FETCHED = 500
const IN_INDEXES = ["name contains, common", "name contains three", "everybody"]

/** The index of patterns, which is no way to one value. */
const PATTERNS = /by \w+_name_k_phone_k_email_k_idx$/
const TABLES = /^Seq Scan on (people|companies|meetings|meeting_attendees)$/

/**
 * The world, with statistics that are the same each time: so large a target for one column makes ANALYZE read every row
 * instead of a sample of them. Nobody asks by these columns by a common value; what is kept of the others is as usual.
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

/** A page in the middle, of what is ordered by id and of what is ordered by a time. */
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
    "everybody, later": { entityTypeId: "people", filters: [], cursorEntityId: person },
    "meetings from, later": { entityTypeId: "meetings", filters: [from], cursorEntityId: meeting }
  } satisfies Readonly<Record<string, FindQuery>>
})

interface Asked {
  readonly name: string
  readonly query: FindQuery
}

/** Every question, once for each of its values. */
const questions = Effect.fnUntraced(function* (world: World, size: Size) {
  const of = world.organizations[size]
  const asked = new Map<string, Asked>()
  for (const [name, question] of Object.entries(QUESTIONS)) {
    for (let round = 0; round < (name in LOOKUPS ? 2 : 4); round++) {
      const query = question(of, round)
      asked.set(`${name} ${query.filters.map(({ value }) => value).join(", ")}`, { name, query })
    }
  }
  for (const [name, query] of Object.entries(yield* later(world, size))) asked.set(name, { name, query })
  return asked
})

/** What is wrong with how a statement runs. */
const faultsOf = (
  of: { readonly size: Size; readonly role: Role; readonly name: string; readonly people: number },
  { fetched, rows, ways }: Access
): ReadonlyArray<string> => {
  const { name, people, role, size } = of
  const most = LOOKUPS[name] ?? 4 * people + 1000
  return [
    ...ways.filter(
      (way) => TABLES.test(way) && !(way === UNINDEXED.way && `${size} ${role} ${name}` === UNINDEXED.question)
    ),
    ...(name in LOOKUPS ? ways.filter((way) => PATTERNS.test(way)) : []),
    ...(rows > most ? [`${rows} rows are looked at`] : []),
    ...(size === "huge" && fetched > FETCHED && BY_REFERENCE.includes(role) && IN_INDEXES.includes(name)
      ? [`${fetched} rows are read from tables`]
      : [])
  ]
}

/** So many callers who ask the same. */
const SEVERAL = 5

/** The statement of a lookup as it is for several callers. */
const forSeveral = ({ batch, parameters }: Statement, callers: number): Statement => {
  const { shared, text } = batch!()
  return {
    text,
    parameters: parameters.map((value, index) =>
      shared.has(index) ? value : Array.from({ length: callers }, () => value)
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

layer(TestServices, { timeout: 180_000, excludeTestServices: true })("the plans of Postgres", (it) => {
  for (const size of ["huge", "middle", "small"] as const) {
    it.effect(
      `read no table from end to end in a ${size} organization, and no more than a question is about`,
      () =>
        Effect.gen(function* () {
          const world = yield* openedWorld
          const { search } = yield* Database
          const asked = yield* questions(world, size)
          const faults: Array<string> = []
          for (const role of SEEING) {
            const explain = yield* asking(world, size, role)
            for (const [said, { name, query }] of asked) {
              if (role === "masked" && query.entityTypeId === "meetings") continue
              const statement = yield* explain(query)
              for (const plan of name in LOOKUPS ? (["custom", "generic"] as const) : (["custom"] as const)) {
                const access = yield* search.withTransaction(accessOfStatement(search, statement, plan))
                for (const fault of faultsOf({ name, people: world.organizations[size].people, role, size }, access))
                  faults.push(`${said}, seeing ${role}, ${plan} plan: ${fault}`)
                if (!(name in LOOKUPS)) continue
                const several = yield* search.withTransaction(
                  accessOfStatement(search, forSeveral(statement, SEVERAL), plan)
                )
                const each = { ...several, rows: several.rows / SEVERAL }
                for (const fault of faultsOf({ name, people: world.organizations[size].people, role, size }, each))
                  faults.push(`${said}, seeing ${role}, ${plan} plan for several: ${fault}`)
              }
            }
          }
          expect(faults).toEqual([])
        }),
      180_000
    )
  }

  it.effect(
    "are found out when an index is gone",
    () =>
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
          // The index comes back with the end of the transaction.
          const access = yield* Effect.flip(owner.withTransaction(Effect.flatMap(look, Effect.fail)))
          return "ways" in access
            ? faultsOf({ name, people: of.people, role, size }, access)
            : yield* Effect.die(access)
        })
        const middle = (name: string, index: string) => found("middle", "everything", name, index)
        expect(yield* middle("phone", "people_organization_id_phone_k_id_idx")).not.toEqual([])
        expect(yield* middle("name, rare", "people_organization_id_name_k_id_idx")).not.toEqual([])
        expect(yield* middle("everybody", "people_organization_id_status_k_id_idx")).toEqual([])
        for (const column of ["owner_id", "company_id"]) {
          const index = `people_organization_id_${column}_id_name_k_idx`
          expect(yield* found("huge", "company", "name contains, common", index)).not.toEqual([])
        }
      }),
    180_000
  )
})
