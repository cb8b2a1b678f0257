/**
 * One organization of many people against one of a tenth: every question as the role that sees everything and as a role
 * that sees rows by references, with the timeouts of a server.
 */
import { Effect, Exit, Layer } from "effect"
import { join } from "node:path"
import { Env } from "../src/env.ts"
import { ConfiguredDatabase, Services } from "../src/layers.ts"
import { settingsOf, type Where } from "./database.ts"
import type { Measured } from "./figures.ts"
import { median, quantile } from "./race.ts"
import { asking } from "./store.ts"
import { openAlone, type Role } from "./world/load.ts"
import { QUESTIONS } from "./world/questions.ts"

const SEEING: ReadonlyArray<Role> = ["everything", "company"]
/** Per question, for both sizes together. */
const SECONDS = 6
const ROUNDS = 60
const AT_LEAST = 4

/** Questions of the lookup pool, which must not grow with the organization; searches may grow as its rows do. */
const EQUALITY = /^(phone|email|email, none|name, common|name, rare)$/
const MOST = { equality: 1.5, search: 10 }

const opened = Effect.fnUntraced(function* (people: number, { keep }: Where) {
  const { release, settings } = settingsOf({ keep: keep === undefined ? undefined : join(keep, `alone-${people}`) })
  yield* Effect.addFinalizer(() => Effect.sync(release))
  const { lookupTimeout: _, searchTimeout: __, ...rest } = settings
  const built = (with_: typeof rest) =>
    Layer.build(
      Layer.fresh(Services.pipe(Layer.provideMerge(ConfiguredDatabase), Layer.provideMerge(Env.layerWith(with_))))
    )
  const within = Effect.provideContext(yield* built(rest))
  const of = yield* within(openAlone(people))
  const callers = yield* within(Effect.forEach(SEEING, (role) => asking(of, role)))
  return { people, of, callers }
})

export const big = (rows: number, where: Where, quiet: boolean, only: string | undefined) =>
  Effect.scoped(table(rows, where, quiet, only))

const table = Effect.fnUntraced(function* (rows: number, where: Where, quiet: boolean, only: string | undefined) {
  const say = (text: string) => {
    if (!quiet) console.log(text)
  }
  const sizes = [yield* opened(Math.ceil(rows / 10), where), yield* opened(rows, where)]
  const measured: Array<Measured> = []
  for (const [seeing, role] of SEEING.entries())
    for (const [name, question] of Object.entries(QUESTIONS)) {
      if (only !== undefined && !name.includes(only)) continue
      const times = sizes.map((): Array<number> => [])
      const failed = sizes.map(() => 0)
      const began = performance.now()
      for (let round = 0; round < ROUNDS && (round < AT_LEAST || performance.now() - began < 1000 * SECONDS); round++)
        for (let turn = 0; turn < sizes.length; turn++) {
          const place = (round + turn) % sizes.length
          const { callers, of } = sizes[place]!
          const started = performance.now()
          const exit = yield* Effect.exit(callers[seeing]!.find(question(of, round)))
          times[place]!.push(performance.now() - started)
          if (Exit.isFailure(exit)) failed[place]! += 1
        }
      const [small, large] = times.map(median)
      const ratio = large! / small!
      const shown = times.map(
        (all, place) =>
          `${median(all).toFixed(2).padStart(9)} ${quantile(all, 0.95).toFixed(1).padStart(8)} ${Math.max(...all)
            .toFixed(1)
            .padStart(8)}${failed[place] === 0 ? "" : ` ${failed[place]} FAILED`}`
      )
      say(`${role.padEnd(11)} ${name.padEnd(34)} ${shown.join(" | ")} | ${ratio.toFixed(2)}x (${times[0]!.length})`)
      measured.push({
        scenario: `${name}, seeing ${role}: p50 at ${rows} people against ${Math.ceil(rows / 10)}`,
        ratio: failed.some((one) => one > 0) ? Number.POSITIVE_INFINITY : ratio,
        target: EQUALITY.test(name) ? MOST.equality : MOST.search
      })
    }
  return measured satisfies ReadonlyArray<Measured>
})
