/** Measures what tracing costs a lookup: without tracing, at the default sampling share, and with every trace kept. */
import { Context, Effect, Tracer } from "effect"
import { Recorder, type Sampling } from "../src/observability/Recorder.ts"
import { onDatabase, type Where } from "./database.ts"
import type { Measured } from "./figures.ts"
import { race, raceTable } from "./race.ts"
import { asking } from "./store.ts"
import { openWorld } from "./world/load.ts"
import { byPhone } from "./world/questions.ts"

/** The defaults of Env. */
const DEFAULT: Sampling = { share: 0.1, slow: 250 }
const EVERYTHING: Sampling = { share: 1, slow: 250 }

export const tracing = (rows: number, where: Where, quiet: boolean) =>
  onDatabase(
    where,
    Effect.gen(function* () {
      const { huge } = (yield* openWorld(rows)).organizations
      const asked = yield* asking(huge, "masked")
      const find = (round: number) => asked.find(byPhone(huge, round))
      const own = yield* Effect.context<never>()
      // One context per contestant, as in a server.
      const under = (tracer: Tracer.Tracer) => {
        const context = Context.add(own, Tracer.Tracer, tracer)
        return (round: number) => Effect.provideContext(find(round), context)
      }
      const traced = (sampling: Sampling) => {
        const recorder = Recorder.make(sampling)
        const run = under(recorder.tracer)
        let rounds = 0
        return (round: number) => {
          // Empties the queue, as storing does.
          if (++rounds % 200 === 0) recorder.take()
          return run(round)
        }
      }
      // Long enough for the JIT to compile the functions that tracing adds.
      const raced = yield* race(
        [
          { name: "no traces", run: under(Tracer.nativeTracer) },
          { name: "the default share", run: traced(DEFAULT) },
          { name: "every trace", run: traced(EVERYTHING) }
        ],
        { rounds: 20_000, seconds: 20 }
      )
      if (!quiet) console.log(raceTable("tracing", raced))
      const [off, some, every] = raced
      return [
        {
          scenario: "tracing at its default share against none, time of a lookup",
          ratio: some!.ms / off!.ms,
          target: 1.1
        },
        { scenario: "tracing everything against none, time of a lookup", ratio: every!.ms / off!.ms },
        {
          scenario: "tracing at its default share against none, client CPU",
          ratio: some!.cpu / off!.cpu
        },
        { scenario: "tracing everything against none, client CPU", ratio: every!.cpu / off!.cpu }
      ] satisfies ReadonlyArray<Measured>
    })
  )
