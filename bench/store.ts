/** The lookup against the same statement by hand, on an embedded database that is made for the run. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { Reactivity } from "effect/reactivity"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Database } from "../src/database/Database.ts"
import { nextId } from "../src/domain/ids.ts"
import { CurrentPrincipal } from "../src/domain/Principal.ts"
import type { FindQuery } from "../src/domain/Query.ts"
import { Env } from "../src/env.ts"
import { Services } from "../src/layers.ts"
import { EntityQueryService } from "../src/services/EntityQueryService.ts"
import { IdentityResolver } from "../src/services/IdentityResolver.ts"
import { Memberships } from "../src/services/Memberships.ts"
import { Organizations } from "../src/services/Organizations.ts"
import type { Measured } from "./figures.ts"

const ROUNDS = 1500
const WARM_UP = 5000

export const median = (times: ReadonlyArray<number>): number =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)]!

/** Microseconds of this process's CPU per operation, and the median of the time, in milliseconds. */
export interface Raced {
  readonly ms: number
  readonly cpu: number
}

/**
 * Runs contestants in turns, another one first each round: who goes first after the others' rows finds caches as they
 * left them.
 */
export const race = Effect.fnUntraced(function* (
  contestants: ReadonlyArray<(round: number) => Effect.Effect<unknown, unknown>>
) {
  const times = contestants.map((): Array<number> => [])
  const cpu = contestants.map(() => 0)
  for (let round = 0; round < ROUNDS + WARM_UP; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      const index = (round + turn) % contestants.length
      const before = process.cpuUsage()
      const started = performance.now()
      yield* contestants[index]!(round * contestants.length + index)
      const ms = performance.now() - started
      const { system, user } = process.cpuUsage(before)
      if (round < WARM_UP) continue
      times[index]!.push(ms)
      cpu[index]! += (user + system) / ROUNDS
    }
  }
  return times.map((all, index): Raced => ({ ms: median(all), cpu: cpu[index]! }))
})

/** Runs scenarios on an embedded database that is made for the run. */
export const onOwnDatabase = <A, E>(
  scenarios: Effect.Effect<A, E, Layer.Success<typeof Services> | Database | Env>
) => {
  const home = mkdtempSync(join(tmpdir(), "max-bench-data-"))
  chmodSync(home, 0o755)
  const services = Services.pipe(
    Layer.provideMerge(Database.layer),
    Layer.provideMerge(
      Env.layerWith({
        databaseUrl: undefined,
        dataDir: join(home, "data"),
        stateDir: join(home, "state"),
        lookupTimeout: 5000
      })
    )
  )
  return scenarios.pipe(
    Effect.provide(services),
    Effect.ensuring(Effect.sync(() => rmSync(home, { recursive: true, force: true })))
  )
}

/** An organization with this many people, and a member of it. */
export const makePeople = Effect.fnUntraced(function* (rows: number) {
  const { owner } = yield* Database
  const organizations = yield* Organizations
  const members = yield* Memberships
  const organization = yield* organizations.create({ slug: "bench", country: "US", timeZone: "UTC" })
  const first = nextId()
  yield* owner.unsafe(
    `INSERT INTO data.people (organization_id, id, name, name_k, status, status_k, email, email_k, owner_id)
     SELECT $1::bigint, $2::bigint + n, 'Person ' || n, 'person ' || n, 'lead', 'lead', 'p' || n || '@example.com', 'p' || n || '@example.com',
       CASE WHEN n % 3 = 0 THEN $2::bigint + 1 END
     FROM generate_series(1, $3::int) n`,
    [organization.id, first, rows]
  )
  yield* owner.unsafe("ANALYZE data.people").unprepared
  yield* members.add(organization, { identifier: "p1@example.com", roles: ["member"] })
  const identities = yield* IdentityResolver
  const admit = Effect.map(
    identities.admit(organization, { kind: "email", key: "p1@example.com" }),
    ({ principal }) => principal
  )
  return { organization, admit }
})

/** A lookup by e-mail, of another person each round. */
export const byEmail = (rows: number, round: number): FindQuery => ({
  entityTypeId: "people",
  selectColumns: ["phone"],
  filters: [{ columnId: "email", op: "eq", value: `p${3 * ((round * 7919) % Math.floor(rows / 3)) + 3}@example.com` }]
})

export const shown = ({ cpu, ms }: Raced): string => `${ms.toFixed(3)} ms (${cpu.toFixed(0)} µs)`

export const store = (rows: number, quiet: boolean) => onOwnDatabase(Effect.scoped(scenarios(rows, quiet)))

const scenarios = Effect.fnUntraced(function* (rows: number, quiet: boolean) {
  const { lookup } = yield* Database
  // What somebody would write who uses the driver: its client, with the settings of the lane.
  // Each contestant has a connection of its own, as it would have.
  const connected = PgClient.make({ ...lookup.config, applicationName: "bench" }).pipe(Effect.provide(Reactivity.layer))
  const [forHand, forPage] = [yield* connected, yield* connected]
  const { admit, organization } = yield* makePeople(rows)
  const principal = yield* admit
  const queries = yield* EntityQueryService
  const find = (round: number) =>
    queries
      .findEntities({ ...byEmail(rows, round), organizationId: organization.id })
      .pipe(Effect.provideService(CurrentPrincipal, principal))
  const statement = yield* queries
    .explain({ ...byEmail(rows, 0), organizationId: organization.id })
    .pipe(Effect.provideService(CurrentPrincipal, principal))
  const value = statement.parameters.indexOf(byEmail(rows, 0).filters[0]!.value)
  const byHand = (round: number) =>
    forHand.unsafe(statement.text, statement.parameters.with(value, byEmail(rows, round).filters[0]!.value))
  const pageOnly = (round: number) =>
    forPage`SELECT p.id, p.name, p.status, p.phone FROM data.people p WHERE p.organization_id = ${organization.id}
      AND p.email_k = ${byEmail(rows, round).filters[0]!.value} ORDER BY p.id LIMIT 6`
  const probe = yield* find(1)
  if (probe.total !== 1) return yield* Effect.die(new Error("The benchmark's lookup doesn't find what it looks for"))
  const [ours, hand, bare] = yield* race([find, byHand, pageOnly])
  if (!quiet)
    console.log(
      `${rows} people: find ${shown(ours!)}, the same SQL by hand ${shown(hand!)}, page only ${shown(bare!)} (medians; client CPU)`
    )
  const measured: ReadonlyArray<Measured> = [
    {
      scenario: "findEntities by e-mail against the same SQL prepared by hand",
      ratio: ours!.ms / hand!.ms,
      target: 1.15
    },
    {
      scenario: "findEntities by e-mail against page only, without permission and total",
      ratio: ours!.ms / bare!.ms,
      target: 1.5
    },
    { scenario: "the same, in the client's CPU, against the same SQL prepared by hand", ratio: ours!.cpu / hand!.cpu }
  ]
  return measured
})
