/**
 * The store of traces when it is as full as it gets by default: a list, a list of what failed, where the time went, the
 * histogram, one trace by its reference. And what storing costs beside tracing: this process's CPU for lookups that are
 * traced at the default share, with what was kept thrown away and with it stored.
 */
import { Effect } from "effect"
import { CurrentPrincipal } from "../src/domain/Principal.ts"
import { shortReference } from "../src/domain/reference.ts"
import { Recorder } from "../src/observability/Recorder.ts"
import { EntityQueryService } from "../src/services/EntityQueryService.ts"
import { TraceStore } from "../src/services/TraceStore.ts"
import { busyTraces } from "../test/support/traces.ts"
import type { Measured, Timed } from "./figures.ts"
import { byEmail, makePeople, onOwnDatabase } from "./store.ts"

const TRACES = 20_000
const BATCH = 500
const TIMES = 60
const TARGET = 300
/** Lookups a turn, so that a turn is long beside what it is measured by. */
const LOOKUPS = 400
const ROUNDS = 16

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
      const { organization } = yield* makePeople(1000)
      const store = yield* TraceStore
      const all = busyTraces(TRACES, organization.id)
      const began = performance.now()
      for (let from = 0; from < all.length; from += BATCH) yield* store.write(all.slice(from, from + BATCH))
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
        yield* timed("where the time went in all of them", store.top({ ...own, limit: 30 }), TARGET),
        yield* timed("how long they took, as a histogram", store.histogram({ ...own, limit: 1 }), TARGET),
        yield* timed("one by its reference, whole", store.get(reference, organization.id), TARGET),
        yield* timed("the same over all organizations: where the time went", store.top({ limit: 30 }), TARGET),
        yield* timed("pruning what is full", store.prune({ days: 7, megabytes: 1000, traces: TRACES }))
      ] satisfies ReadonlyArray<Timed>
    }).pipe(Effect.provide(TraceStore.layer))
  )

/** What storing costs beside what tracing costs, as a share of a traced lookup's CPU. */
export const storing = (quiet: boolean) =>
  onOwnDatabase(
    Effect.gen(function* () {
      const { admit, organization } = yield* makePeople(10_000)
      const principal = yield* admit
      const queries = yield* EntityQueryService
      const store = yield* TraceStore
      const find = (round: number) =>
        queries
          .findEntities({ ...byEmail(10_000, round), organizationId: organization.id })
          .pipe(Effect.provideService(CurrentPrincipal, principal))
      const recorder = Recorder.make({ share: 0.1, slow: 250 })
      const cost = [0, 0]
      let round = 0
      for (let turn = 0; turn < (ROUNDS + 1) * 2; turn++) {
        const kept = turn % 2
        const before = process.cpuUsage()
        for (let lookup = 0; lookup < LOOKUPS; lookup++) yield* Effect.withTracer(find(round++), recorder.tracer)
        const taken = recorder.take()
        if (kept === 1) yield* store.write(taken)
        const { system, user } = process.cpuUsage(before)
        if (turn >= 2) cost[kept]! += (system + user) / (ROUNDS * LOOKUPS)
      }
      const [thrown, stored] = cost as [number, number]
      if (!quiet) console.log(`CPU of a traced lookup ${thrown.toFixed(1)} µs, with storing ${stored.toFixed(1)} µs`)
      return [
        {
          scenario: "tracing at its default share with storing against without, client CPU",
          ratio: stored / thrown,
          target: 1.05
        }
      ] satisfies ReadonlyArray<Measured>
    }).pipe(Effect.provide(TraceStore.layer))
  )
