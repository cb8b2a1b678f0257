/** Rate limits are counted per minute of the clock, which may change in the middle of a test. */
import { Effect, Exit } from "effect"

const currentMinute = () => Math.floor(Date.now() / 60_000)

/** Runs a test again if it fails while the minute changes; `suffix` makes the names of its data unique. */
export const inOneMinute = <E, R>(test: (suffix: string) => Effect.Effect<void, E, R>): Effect.Effect<void, E, R> => {
  const run = (attempt: number): Effect.Effect<void, E, R> =>
    Effect.suspend(() => {
      const minute = currentMinute()
      return Effect.flatMap(Effect.exit(test(`-${attempt}`)), (exit) =>
        Exit.isSuccess(exit) || currentMinute() === minute ? exit : run(attempt + 1)
      )
    })
  return run(1)
}
