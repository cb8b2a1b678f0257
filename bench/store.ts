/** Lookups against the bare database: each scenario is a race of Max with the same SQL by hand, or with another query. */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import { Database } from "../src/database/Database.ts"
import type { Statement } from "../src/database/sql/ResolvedQuery.ts"
import { encodeId } from "../src/domain/ids.ts"
import { CurrentPrincipal, type Principal } from "../src/domain/Principal.ts"
import type { FindQuery } from "../src/domain/Query.ts"
import { EntityQueryService } from "../src/services/EntityQueryService.ts"
import { onDatabase, type Where } from "./database.ts"
import type { Measured } from "./figures.ts"
import { outside } from "./outside.ts"
import { installPeer } from "./peers.ts"
import { pgbench } from "./pgbench.ts"
import { type Contestant, median, race, raceTable, throughput } from "./race.ts"
import { admit, openWorld, phoneOf, type Role, type WorldOrganization } from "./world/load.ts"
import { byPhone, everyone, type Question, QUESTIONS, personAt } from "./world/questions.ts"

const IN_FLIGHT = 32

export const store = (rows: number, where: Where, quiet: boolean) =>
  onDatabase(where, Effect.scoped(scenarios(rows, quiet)))

/** Runs queries as the principal with a role. */
export const asking = Effect.fnUntraced(function* (of: WorldOrganization, role: Role) {
  const queries = yield* EntityQueryService
  const principal: Principal = yield* admit(of, role)
  const as = <A, E>(effect: Effect.Effect<A, E, CurrentPrincipal>) =>
    Effect.provideService(effect, CurrentPrincipal, principal)
  const whole = (query: FindQuery) => ({ ...query, organizationId: of.organization.id })
  return {
    principal,
    find: (query: FindQuery) => as(queries.findEntities(whole(query))),
    explain: (query: FindQuery) => as(queries.explain(whole(query)))
  }
})

const scenarios = Effect.fnUntraced(function* (rows: number, quiet: boolean) {
  const loading = performance.now()
  const world = yield* openWorld(rows)
  const say = (text: string) => {
    if (!quiet) console.log(text)
  }
  say(`${rows} people in 200 organizations, ready in ${((performance.now() - loading) / 1000).toFixed(1)} s`)
  const { huge } = world.organizations
  const measured = [
    ...(yield* byHand(huge, say)),
    ...(yield* inFlight(huge, say)),
    ...(yield* bounded(huge, say)),
    ...(yield* permitted(huge, say))
  ]
  return measured satisfies ReadonlyArray<Measured>
})

type Say = (text: string) => void

/** The driver used directly: a client with the settings of the lookup pool. */
const driver = Effect.flatMap(Database, ({ lookup }) =>
  PgClient.make({ ...lookup.config, applicationName: "bench" }).pipe(Effect.provide(Reactivity.layer))
)

/** The statement of a lookup by phone, and the index of the phone among its parameters. */
const phoneStatement = Effect.fnUntraced(function* (of: WorldOrganization, role: Role) {
  const { explain } = yield* asking(of, role)
  const statement = yield* explain(byPhone(of, 0))
  return { statement, place: statement.parameters.indexOf(phoneOf(personAt(of, 0))) }
})

const byHand = Effect.fnUntraced(function* (of: WorldOrganization, say: Say) {
  const [forHand, forPage] = [yield* driver, yield* driver]
  const { find } = yield* asking(of, "everything")
  const { place, statement } = yield* phoneStatement(of, "everything")
  const parameters = (round: number) => statement.parameters.with(place, phoneOf(personAt(of, round)))
  const probe = yield* find(byPhone(of, 1))
  if (probe.total !== 1) return yield* Effect.die(new Error("The benchmark's lookup finds no person"))
  const peer = yield* Effect.scoped(preparedByPg(statement, parameters))
  if (typeof peer === "string") say(`pg wasn't run: ${peer}`)
  const contestants: ReadonlyArray<Contestant> = [
    { name: "Max, findEntities", run: (round) => find(byPhone(of, round)) },
    { name: "the same SQL over @effect/sql-pg", run: (round) => forHand.unsafe(statement.text, parameters(round)) },
    {
      name: "page only, no permission, no total",
      run: (round) => forPage`SELECT p.id, p.name, p.status, p.email FROM data.people p
        WHERE p.organization_id = ${of.organization.id} AND p.phone_k = ${phoneOf(personAt(of, round))} ORDER BY p.id LIMIT 6`
    },
    ...(typeof peer === "string" ? [] : [{ name: "the same SQL over pg", run: peer.run }])
  ]
  const raced = yield* race(contestants, { rounds: 6000, seconds: 20 })
  if (typeof peer !== "string") yield* peer.end
  say(raceTable(`eq by phone, ${of.people} people in the organization`, raced))
  const [max, hand, page, pg] = raced
  return [
    { scenario: "findEntities eq against the same SQL prepared by hand", ratio: max!.ms / hand!.ms, target: 1.15 },
    {
      scenario: "findEntities eq against page only, without permission and total",
      ratio: max!.ms / page!.ms,
      target: 1.5
    },
    { scenario: "findEntities eq against the same SQL by hand, client CPU", ratio: max!.cpu / hand!.cpu },
    ...(pg === undefined ? [] : [{ scenario: "findEntities eq against the same SQL over pg", ratio: max!.ms / pg.ms }])
  ] satisfies ReadonlyArray<Measured>
})

interface PgModule {
  readonly Client: new (config: object) => {
    readonly connect: () => Promise<void>
    readonly end: () => Promise<void>
    readonly query: (config: object) => Promise<unknown>
  }
}

const preparedByPg = Effect.fnUntraced(function* (
  { text }: Statement,
  parameters: (round: number) => ReadonlyArray<unknown>
) {
  const { lookup } = yield* Database
  const peer = installPeer("pg")
  if (typeof peer === "string") return peer
  return yield* Effect.promise(async () => {
    const { default: pg } = (await peer.load("pg")) as { readonly default: PgModule }
    const client = new pg.Client(outside(lookup))
    await client.connect()
    await client.query({ text: "SET search_path = pg_catalog, pg_temp" })
    return {
      run: (round: number) => Effect.promise(() => client.query({ name: "find", text, values: parameters(round) })),
      end: Effect.promise(() => client.end())
    }
  })
})

/** Max with many concurrent lookups, alternating with pgbench. */
const inFlight = Effect.fnUntraced(function* (of: WorldOrganization, say: Say) {
  const { lookup } = yield* Database
  const forHand = yield* driver
  const { find } = yield* asking(of, "everything")
  const { place, statement } = yield* phoneStatement(of, "everything")
  const value = "('+1' || (2000000000 + (5 * :n * 3571::bigint) % 7999999999)::text)"
  const other = pgbench(statement, place, value, Math.floor(of.people / 5), outside(lookup))
  if (typeof other === "string") {
    say(`pgbench wasn't run: ${other}`)
    return []
  }
  const ours: Array<number> = []
  const hand: Array<number> = []
  const theirs: Array<number> = []
  for (let turn = 0; turn < 4; turn++) {
    ours.push(yield* throughput((round) => find(byPhone(of, round)), { inFlight: IN_FLIGHT, seconds: 1.5 }))
    theirs.push(yield* other.run(2))
    hand.push(
      yield* throughput(
        (round) => forHand.unsafe(statement.text, statement.parameters.with(place, phoneOf(personAt(of, round)))),
        { inFlight: IN_FLIGHT, seconds: 1.5 }
      )
    )
  }
  say(
    `eq by phone a second: Max with ${IN_FLIGHT} in flight ${median(ours).toFixed(0)}, the same SQL over @effect/sql-pg ` +
      `${median(hand).toFixed(0)}, pgbench -M prepared with ${other.clients} clients ${median(theirs).toFixed(0)}`
  )
  return [
    {
      scenario: `findEntities eq, ${IN_FLIGHT} in flight, against pgbench -M prepared with ${other.clients} clients`,
      ratio: median(ours) / median(theirs),
      target: 0.8,
      atLeast: true
    },
    {
      scenario: `the same SQL over @effect/sql-pg, ${IN_FLIGHT} in flight, against pgbench`,
      ratio: median(hand) / median(theirs)
    }
  ] satisfies ReadonlyArray<Measured>
})

/** The cost of many matches against ten, and of a late page against the first. */
const bounded = Effect.fnUntraced(function* (of: WorldOrganization, say: Say) {
  const { search } = yield* Database
  const { find } = yield* asking(of, "everything")
  const [far] = yield* search.unsafe<{ id: bigint; page: number }>(
    `SELECT id, ($2::int / 5)::int AS page FROM data.people WHERE organization_id = $1::bigint ORDER BY id OFFSET $2::int LIMIT 1`,
    [of.organization.id, Math.min(500_000, Math.floor(of.people / 2))]
  )
  const ten = yield* find(QUESTIONS["status, of ten"]!(of, 0))
  if (ten.total !== 10) return yield* Effect.die(new Error(`Ten were expected, not ${ten.total}`))
  const cursorEntityId = encodeId(far!.id)
  const board =
    (value: string): Question =>
    () => ({
      entityTypeId: "people",
      filters: [{ columnId: "status", op: "eq", value }]
    })
  const raced = yield* race(
    [
      { name: `page and total, ${of.people} matches`, run: (round) => find(everyone(of, round)) },
      { name: "page and total, ten matches", run: (round) => find(board("Board")(of, round)) },
      { name: "page and total, half of all by status", run: (round) => find(board("Customer")(of, round)) },
      { name: `page ${far!.page}`, run: (round) => find({ ...everyone(of, round), cursorEntityId }) }
    ],
    { rounds: 400, seconds: 8 }
  )
  say(raceTable("bounded totals and pages", raced))
  const [all, few, half, later] = raced
  return [
    { scenario: `page and total at ${of.people} matches against ten matches`, ratio: all!.ms / few!.ms, target: 2.5 },
    { scenario: "page and total where half of all match against ten matches", ratio: half!.ms / few!.ms, target: 2.5 },
    { scenario: `page ${far!.page} against page 1`, ratio: later!.ms / all!.ms, target: 1.3 }
  ] satisfies ReadonlyArray<Measured>
})

const PATTERNS = ["name contains, common", "name contains, rare", "name contains three", "name contains, none"] as const
const NARROWED: ReadonlyArray<Role> = ["nearly", "masked", "little", "company"]

/** The cost of a permission: the same search under a plan that shows everything and under narrower ones. */
const permitted = Effect.fnUntraced(function* (of: WorldOrganization, say: Say) {
  const off = yield* asking(of, "everything")
  const on = yield* Effect.forEach(NARROWED, (role) => Effect.map(asking(of, role), (caller) => ({ role, ...caller })))
  const measured: Array<Measured> = []
  for (const pattern of PATTERNS) {
    const question = QUESTIONS[pattern]!
    // The same pattern for all contestants in a turn.
    const turn = (round: number) => Math.floor(round / (on.length + 1))
    const raced = yield* race(
      [
        { name: "sees everything", run: (round) => off.find(question(of, turn(round))) },
        ...on.map(({ find, role }) => ({
          name: `sees ${role}`,
          run: (round: number) => find(question(of, turn(round)))
        }))
      ],
      { rounds: 100, seconds: 5 }
    )
    say(raceTable(pattern, raced))
    const worst = Math.max(...raced.slice(1).map(({ ms }) => ms))
    const role = on[raced.slice(1).findIndex(({ ms }) => ms === worst)]!.role
    measured.push({
      scenario: `ilike, ${pattern}: permission on (worst, "${role}") against off`,
      ratio: worst / raced[0]!.ms,
      target: 3
    })
  }
  return measured
})
