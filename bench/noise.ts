/**
 * The requests of a noisy organization, on a thread of its own: its client has an event loop of its own, as in life, and doesn't
 * delay the client whose lookups are measured.
 */
import { Effect } from "effect"
import { parentPort, Worker, workerData } from "node:worker_threads"
import type { Asked } from "./contestants/answering.ts"
import { load } from "./load.ts"

/** Requests in flight, and what they send in turn. */
export interface Noise {
  readonly inFlight: number
  readonly everyMs?: number
  readonly requests: ReadonlyArray<readonly [token: string, asked: Asked]>
}

interface Assignment {
  readonly port: number
  readonly noises: ReadonlyArray<Noise>
  /** The number of answers so far, as a 32-bit integer. */
  readonly answered: SharedArrayBuffer
}

/** Starts the thread of a server's noise. */
export const makeNoise = Effect.fnUntraced(function* (port: number, noises: ReadonlyArray<Noise>) {
  const answered = new SharedArrayBuffer(4)
  const assignment: Assignment = { port, noises, answered }
  const worker = yield* Effect.acquireRelease(
    Effect.callback<Worker>((resume) => {
      // The bundle of all benchmarks: main.ts runs `noise` on this thread.
      const started = new Worker(process.env["MAX_BENCH"]!, { argv: ["noise"], workerData: assignment })
      started.once("message", () => resume(Effect.succeed(started)))
      started.once("error", (error) => resume(Effect.die(error)))
    }),
    (started) => Effect.promise(() => started.terminate())
  )
  const count = new Int32Array(answered)
  return {
    /** The answers so far. */
    answered: () => Atomics.load(count, 0),
    /** Sends requests for so many seconds. Returns the number of answers. */
    run: (seconds: number) =>
      Effect.callback<number>((resume) => {
        worker.once("message", (answers: number) => resume(Effect.succeed(answers)))
        worker.postMessage(seconds)
      })
  }
})

/** What the thread runs. */
export const noise = (): void => {
  const { answered, noises, port } = workerData as Assignment
  const count = new Int32Array(answered)
  const send = ({ requests, ...rest }: Noise, seconds: number) =>
    load({
      ...rest,
      port,
      seconds,
      refused: true,
      token: (round) => requests[round % requests.length]![0],
      asked: (round) => requests[round % requests.length]![1],
      onAnswer: () => void Atomics.add(count, 0, 1)
    })
  parentPort!.on("message", (seconds: number) => {
    const all = Effect.forEach(noises, (each) => send(each, seconds), { concurrency: "unbounded" })
    void Effect.runPromise(all).then((loaded) =>
      parentPort!.postMessage(loaded.reduce((sum, { times }) => sum + times.length, 0))
    )
  })
  parentPort!.postMessage("ready")
}
