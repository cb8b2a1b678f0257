/** What tracing costs a lookup: not at all, the default share of traces, and every one of them, in turns in one run. */
import { Effect } from "effect"
import { CurrentPrincipal } from "../src/domain/Principal.ts"
import { Recorder, type Sampling } from "../src/observability.ts"
import { EntityQueryService } from "../src/services/EntityQueryService.ts"
import type { Measured } from "./figures.ts"
import { byEmail, makePeople, onOwnDatabase, race, shown } from "./store.ts"

/** What Env has when nothing is configured. */
const DEFAULT: Sampling = { share: 0.1, slow: 250 }
const EVERYTHING: Sampling = { share: 1, slow: 250 }

export const tracing = (rows: number, quiet: boolean) =>
  onOwnDatabase(
    Effect.gen(function* () {
      const { admit, organization } = yield* makePeople(rows)
      const principal = yield* admit
      const queries = yield* EntityQueryService
      const find = (round: number) =>
        queries
          .findEntities({ ...byEmail(rows, round), organizationId: organization.id })
          .pipe(Effect.provideService(CurrentPrincipal, principal))
      const traced = (sampling: Sampling) => {
        const recorder = Recorder.make(sampling)
        let rounds = 0
        return (round: number) => {
          // What was kept is taken away, as it is where it is stored.
          if (++rounds % 200 === 0) recorder.take()
          return Effect.withTracer(find(round), recorder.tracer)
        }
      }
      const [off, some, every] = yield* race([find, traced(DEFAULT), traced(EVERYTHING)])
      if (!quiet) console.log(`off ${shown(off!)}, default ${shown(some!)}, everything ${shown(every!)}`)
      return [
        {
          scenario: "tracing at its default share against none, time of a lookup",
          ratio: some!.ms / off!.ms,
          target: 1.1
        },
        { scenario: "tracing everything against none, time of a lookup", ratio: every!.ms / off!.ms },
        { scenario: "tracing at its default share against none, client CPU", ratio: some!.cpu / off!.cpu },
        { scenario: "tracing everything against none, client CPU", ratio: every!.cpu / off!.cpu }
      ] satisfies ReadonlyArray<Measured>
    })
  )
