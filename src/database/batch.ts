/**
 * Batches lookups: requests that arrive while the connection is busy run as one statement, because starting a statement
 * costs Postgres several times what looking up one more row does. A batch holds requests with the same text, so that they
 * differ only in values; each request gets the rows of its own values, under its own plan.
 */
import { Context, Effect, Exit, type Fiber, References } from "effect"
import type { SqlError } from "effect/sql"
import { Unavailable } from "../domain/errors.ts"
import type { StatementPool } from "./StatementPool.ts"
import { type Batch, batchesOf, batchParameters, rowsByRequest } from "./batchGroups.ts"
import type { Statement } from "./sql/ResolvedQuery.ts"

/** Longer than the server's statement timeout: frees a caller whose socket has stopped answering. */
export const DEADLINE_MS = 8000
/** The interval at which deadlines are checked. */
const WATCH_MS = 500
/** Concurrent statements: while Postgres executes one, this process reads the rows of the other. */
const MAX_RUNNING = 2

type Rows = ReadonlyArray<object>
type Failure = SqlError.SqlError | Unavailable

interface Request {
  readonly statement: Statement
  readonly since: number
  /** Undefined once the request is answered or its caller is interrupted. */
  resume: ((exit: Exit.Exit<Rows, Failure>) => void) | undefined
}

/** Compiled statements need nothing of their caller's context. */
export const forkUntraced = Effect.runForkWith(Context.make(References.TracerEnabled, false))

/** An execution in progress. */
interface Run {
  readonly requests: ReadonlyArray<Request>
  readonly fiber: Fiber.Fiber<Rows, SqlError.SqlError>
}

/** Batches the lookups of one pool. */
export class LookupBatcher {
  private readonly pool: Pick<StatementPool, "unsafe">
  private waiting: Array<Request> = []
  private readonly runs = new Set<Run>()
  private scheduled = false
  private watched = false

  constructor(pool: Pick<StatementPool, "unsafe">) {
    this.pool = pool
  }

  /** The rows of a statement, in a batch with concurrent requests; fails after the deadline at the latest. */
  request(statement: Statement): Effect.Effect<Rows, Failure> {
    return Effect.callback((resume) => {
      const request: Request = { statement, since: performance.now(), resume }
      this.waiting.push(request)
      this.schedule()
      return Effect.sync(() => {
        request.resume = undefined
      })
    })
  }

  /** A lone request starts in this tick; several wait for the end of it, so that later ones can join their batch. */
  private schedule(): void {
    if (this.scheduled || this.runs.size >= MAX_RUNNING || this.waiting.length === 0) return
    this.scheduled = true
    if (this.runs.size === 0 && this.waiting.length === 1) queueMicrotask(this.start)
    else setImmediate(this.start)
  }

  private readonly start = (): void => {
    this.scheduled = false
    const requests = this.waiting.filter(({ resume }) => resume !== undefined)
    this.waiting = []
    for (const batch of batchesOf(requests, MAX_RUNNING - this.runs.size)) this.send(batch)
    this.watch()
  }

  private send({ form, requests }: Batch<Request>): void {
    const { parameters, text } = requests[0]!.statement
    if (form === undefined) this.run(requests, text, parameters, (rows) => [rows])
    else this.run(requests, form.text, batchParameters(requests, form), (rows) => rowsByRequest(rows, requests.length))
  }

  private run(
    requests: ReadonlyArray<Request>,
    text: string,
    parameters: ReadonlyArray<unknown>,
    split: (rows: Rows) => ReadonlyArray<Rows> | undefined
  ): void {
    const run: Run = { requests, fiber: forkUntraced(this.pool.unsafe<object>(text, parameters)) }
    this.runs.add(run)
    run.fiber.addObserver((exit) => {
      this.runs.delete(run)
      if (Exit.isSuccess(exit)) {
        const rows = split(exit.value)
        if (rows === undefined) answer(requests, UNAVAILABLE)
        else for (let index = 0; index < requests.length; index++) requests[index]!.resume?.(Exit.succeed(rows[index]!))
      } else if (requests.length === 1) answer(requests, exit)
      // One request's error must not fail the others: retry each alone.
      else for (const one of requests) if (one.resume !== undefined) this.send({ requests: [one], form: undefined })
      this.schedule()
    })
  }

  /** One timer for all requests: fails those that are past the deadline. */
  private watch(): void {
    if (this.watched || this.runs.size + this.waiting.length === 0) return
    this.watched = true
    setTimeout(() => {
      this.watched = false
      const oldest = performance.now() - DEADLINE_MS
      answer(
        this.waiting.filter(({ since }) => since < oldest),
        UNAVAILABLE
      )
      for (const { fiber, requests } of this.runs) {
        const late = requests.filter(({ since }) => since < oldest)
        answer(late, UNAVAILABLE)
        if (late.length === requests.length) fiber.interruptUnsafe()
      }
      this.watch()
    }, WATCH_MS).unref()
  }
}

const UNAVAILABLE = Exit.fail(Unavailable.error)

const answer = (requests: ReadonlyArray<Request>, exit: Exit.Exit<Rows, Failure>): void => {
  for (const request of requests) {
    request.resume?.(exit)
    request.resume = undefined
  }
}
