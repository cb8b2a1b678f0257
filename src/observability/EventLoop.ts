/**
 * Watches the event loop: its delay as gauges (OpenTelemetry's semantic conventions for Node), and the periods in which it
 * was blocked, which the recorder puts on the spans that ran or waited meanwhile. Two timers do this; requests pay nothing.
 */
import { Context, Effect, Layer } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { Measures } from "./Measures.ts"

/** A period without a turn of the event loop, in milliseconds of the monotonic clock. */
export interface Block {
  readonly from: number
  readonly until: number
}

/** From this delay on, in milliseconds, the loop counts as blocked. */
export const BLOCKED = 100
/** Milliseconds between two turns of the watching timers. */
const TICK = 50
/** The gauges describe the latest complete period of this length, in milliseconds. */
const PERIOD = 10_000
/** The latest blocks that are kept; a trace is stored within a second. */
const MAX_BLOCKS = 100

export class EventLoop extends Context.Service<
  EventLoop,
  {
    /** The latest blocks, the newest last. */
    readonly blocks: () => ReadonlyArray<Block>
  }
>()("max/observability/EventLoop") {
  static readonly layer = Layer.effect(
    EventLoop,
    Effect.gen(function* () {
      const measures = yield* Measures
      const blocks: Array<Block> = []
      let due = performance.now() + TICK
      let longest = 0
      const look = () => {
        const now = performance.now()
        longest = Math.max(longest, now - due)
        if (now - due >= BLOCKED) {
          blocks.push({ from: due, until: now })
          if (blocks.length > MAX_BLOCKS) blocks.shift()
          measures.blocked()
        }
        due = now + TICK
      }
      const delay = monitorEventLoopDelay({ resolution: TICK })
      /** Seconds beyond the timer's own interval, which Node includes. */
      const seconds = (nanoseconds: number): number => Math.max(0, nanoseconds - TICK * 1e6) / 1e9
      const report = () => {
        measures.loopDelay({
          min: seconds(delay.min),
          // The histogram misses a delay that begins between its reset and its next tick.
          max: Math.max(seconds(delay.max), longest / 1000),
          mean: seconds(delay.mean),
          stddev: delay.stddev / 1e9,
          p50: seconds(delay.percentile(50)),
          p90: seconds(delay.percentile(90)),
          p99: seconds(delay.percentile(99))
        })
        delay.reset()
        longest = 0
      }
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          delay.enable()
          return [setInterval(look, TICK).unref(), setInterval(report, PERIOD).unref()]
        }),
        (timers) =>
          Effect.sync(() => {
            for (const timer of timers) clearInterval(timer)
            delay.disable()
          })
      )
      return EventLoop.of({
        blocks: () => {
          // A trace can end within a block, and be stored before the timer runs.
          look()
          return blocks
        }
      })
    })
  )
}
