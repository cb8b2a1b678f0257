/**
 * Measures the trace store at its default capacity: lists, totals, the histogram, one trace by reference; and the client
 * CPU that storing adds to lookups that are traced at the default share.
 */
import { Effect, Layer } from "effect"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Database } from "../src/database/Database.ts"
import { shortReference } from "../src/domain/reference.ts"
import { Env } from "../src/env.ts"
import { ConfiguredDatabase, Services } from "../src/layers.ts"
import { Recorder } from "../src/observability/Recorder.ts"
import { TraceStore } from "../src/services/traces/TraceStore.ts"
import { addPeople, asMember, makeOrganization } from "../test/support/atlas.ts"
import { busyTraces } from "../test/support/traces.ts"
import type { Measured, Timed } from "./figures.ts"

const TRACES = 20_000
const BATCH = 500
const TIMES = 60
const TARGET = 300
/** Lookups per turn, so that a turn takes much longer than reading the clock. */
const LOOKUPS = 400
const ROUNDS = 48

const PEOPLE = 5000

/** Runs on a new embedded database. */
const onOwnDatabase = <A, E>(
  scenarios: Effect.Effect<A, E, Layer.Success<typeof Services> | Database | Env | TraceStore>
) => {
  const home = mkdtempSync(join(tmpdir(), "max-bench-traces-"))
  // Run by root, the server uses another account, which needs access to this folder.
  chmodSync(home, 0o755)
  const settings = { databaseUrl: undefined, dataDir: join(home, "data"), stateDir: join(home, "state") }
  const services = Layer.merge(Services, TraceStore.layer).pipe(
    Layer.provideMerge(ConfiguredDatabase),
    Layer.provideMerge(Env.layerWith({ ...settings, lookupTimeout: 5000 }))
  )
  return scenarios.pipe(
    Effect.provide(services),
    Effect.ensuring(Effect.sync(() => rmSync(home, { recursive: true, force: true })))
  )
}

const p95 = (times: ReadonlyArray<number>): number => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)]!

const timed = <E, R>(scenario: string, ask: Effect.Effect<unknown, E, R>, target?: number) =>
  Effect.gen(function* () {
    const times: Array<number> = []
    for (let time = 0; time < TIMES; time++) {
      const began = performance.now()
      yield* ask
      times.push(performance.now() - began)
    }
    const ms = p95(times)
    return { scenario: `${scenario}, p95`, ms, target, ok: target === undefined || ms <= target } satisfies Timed
  })

export const traces = (quiet: boolean) =>
  onOwnDatabase(
    Effect.gen(function* () {
      const organization = yield* makeOrganization("bench")
      const store = yield* TraceStore
      const all = busyTraces(TRACES, organization.id)
      const began = performance.now()
      for (let from = 0; from < all.length; from += BATCH) yield* store.write(all.slice(from, from + BATCH))
      const { owner } = yield* Database
      // Autovacuum does the same about a minute later.
      yield* owner.unsafe("ANALYZE max.traces").unprepared
      const spans = all.reduce((sum, one) => sum + one.spans.length, 0)
      if (!quiet)
        console.log(
          `${TRACES} traces of ${spans} spans, stored in ${((performance.now() - began) / 1000).toFixed(1)} s`
        )
      const own = { organizationId: organization.id }
      const reference = shortReference(all[TRACES / 2]!.traceId)
      return [
        yield* timed("the newest 100 of 20,000 traces", store.list({ ...own, limit: 100 }), TARGET),
        yield* timed("the newest 100 that failed", store.list({ ...own, failed: true, limit: 100 }), TARGET),
        yield* timed("the newest 100 of a name", store.list({ ...own, name: "invoke_agent", limit: 100 }), TARGET),
        yield* timed("totals of all spans", store.top({ ...own, limit: 30 }), TARGET),
        yield* timed("the histogram of durations", store.histogram({ ...own, limit: 1 }), TARGET),
        yield* timed("a complete trace by its reference", store.get(reference, organization.id), TARGET),
        yield* timed("totals of all spans over all organizations", store.top({ limit: 30 }), TARGET),
        yield* timed("pruning a full store", store.prune({ days: 7, megabytes: 1000, traces: TRACES }))
      ] satisfies ReadonlyArray<Timed>
    })
  )

/** The client CPU of storing, relative to a traced lookup, an untraced lookup, and tracing alone. */
export const storing = (quiet: boolean) =>
  onOwnDatabase(
    Effect.gen(function* () {
      const organization = yield* makeOrganization("bench")
      const people = Array.from({ length: PEOPLE }, (_, n) => ({ name: `Person ${n}`, email: `p${n}@example.com` }))
      yield* addPeople(organization, people)
      const { find: ask } = yield* asMember(organization, "bench@example.com", "admin")
      const store = yield* TraceStore
      const find = (round: number) =>
        ask({ filters: [{ columnId: "email", op: "eq", value: `p${(round * 7919) % PEOPLE}@example.com` }] })
      const recorder = Recorder.make({ share: 0.1, slow: 250 })
      const spent = { untraced: 0, traced: 0, storing: 0 }
      let round = 0
      let stored = 0
      const measured = <A, E, R>(name: keyof typeof spent, effect: Effect.Effect<A, E, R>) =>
        Effect.gen(function* () {
          const before = process.cpuUsage()
          yield* effect
          const { system, user } = process.cpuUsage(before)
          if (round > LOOKUPS * 4) spent[name] += (system + user) / (ROUNDS * LOOKUPS)
        })
      const lookups = Effect.suspend(() => find(round++)).pipe(Effect.repeat({ times: LOOKUPS - 1 }))
      for (let turn = 0; turn < ROUNDS + 2; turn++) {
        const both = [measured("untraced", lookups), measured("traced", Effect.withTracer(lookups, recorder.tracer))]
        // Alternates the order, because storing evicts the first contestant's CPU caches.
        yield* Effect.all(turn % 2 === 0 ? both : both.toReversed(), { discard: true })
        // A running process stores traces about as often, once a second.
        yield* measured(
          "storing",
          Effect.suspend(() => {
            const kept = recorder.take()
            stored += kept.length
            return store.write(kept)
          })
        )
      }
      const { storing: cost, traced, untraced } = spent
      if (!quiet)
        console.log(
          `CPU of a lookup ${untraced.toFixed(1)} µs, traced ${traced.toFixed(1)} µs, storing ${cost.toFixed(2)} µs more (${stored} kept of ${round / 2})`
        )
      return [
        {
          scenario: "a lookup traced at the default share and stored, against not stored, client CPU",
          ratio: (traced + cost) / traced,
          target: 1.05
        },
        {
          scenario: "a lookup traced at the default share and stored, against an untraced lookup, client CPU",
          ratio: (traced + cost) / untraced
        },
        {
          scenario: "what storing adds to what tracing itself costs, client CPU",
          ratio: (traced - untraced + cost) / (traced - untraced)
        }
      ] satisfies ReadonlyArray<Measured>
    })
  )
