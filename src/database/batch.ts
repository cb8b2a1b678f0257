/**
 * Batches lookups: requests that arrive while the connections are busy run as one statement, because starting a statement
 * costs Postgres several times what looking up one more row does. A batch holds requests with the same text, so that they
 * differ only in values; each request gets the rows of its own values, under its own plan.
 *
 * Organizations take turns, and each keeps to one of two connections: see `LookupQueue`.
 */
import { Cause, Context, Effect, Exit, type Fiber, References, type Tracer } from "effect"
import type { SqlError } from "effect/sql"
import { Unavailable } from "../domain/errors.ts"
import { RelationLocked, type RelationLocks } from "./RelationLocks.ts"
import { type Batch, CONCURRENT, type ConnectionName, LookupQueue } from "./LookupQueue.ts"
import type { Neighbours } from "./Neighbours.ts"
import type { BatchForm, Statement } from "./sql/ResolvedQuery.ts"
import type { StatementPool } from "./StatementPool.ts"

/** Longer than the server's statement timeout: frees a caller whose socket has stopped answering. */
export const DEADLINE_MS = 8000
/** The interval at which deadlines are checked. */
const WATCH_MS = 500

type Rows = ReadonlyArray<object>
type Failure = SqlError.SqlError | Unavailable | RelationLocked | LookupTimedOut

/** A lookup reached the statement timeout of its pool. The search pool, whose timeout is longer, can still answer it. */
export class LookupTimedOut {
  readonly _tag = "LookupTimedOut"
  static readonly error = new LookupTimedOut()
}

interface Request {
  readonly organizationId: bigint
  readonly statement: Statement
  readonly span: Tracer.Span | undefined
  readonly since: number
  /** Undefined once the request is answered or its caller is interrupted. */
  resume: ((exit: Exit.Exit<Rows, Failure>) => void) | undefined
  isAlone?: boolean
}

/** Compiled statements need nothing of their caller's context. */
export const forkUntraced = Effect.runForkWith(Context.make(References.TracerEnabled, false))

/** An execution in progress. */
interface Run {
  readonly requests: ReadonlyArray<Request>
  readonly fiber: Fiber.Fiber<Rows, SqlError.SqlError>
}

type Pool = Pick<StatementPool, "unsafe">

interface Connection {
  readonly name: ConnectionName
  readonly pool: Pool
  readonly runs: Set<Run>
}

/** Batches the lookups of one process. */
export class LookupBatcher {
  private readonly first: Connection
  private readonly second: Connection
  private readonly queue: LookupQueue<Request>
  private readonly locks: Pick<RelationLocks, "isLocked">
  private scheduled = false
  private resting = false
  private watched = false

  constructor(
    lookup: Pool,
    busyLookup: Pool,
    locks: Pick<RelationLocks, "isLocked">,
    neighbours: Pick<Neighbours, "beside" | "isSearching">
  ) {
    this.locks = locks
    this.queue = new LookupQueue(neighbours)
    this.first = { name: "first", pool: lookup, runs: new Set() }
    this.second = { name: "second", pool: busyLookup, runs: new Set() }
  }

  /** The rows of a statement, in a batch with concurrent requests; fails after the deadline at the latest. */
  request(organizationId: bigint, statement: Statement, span?: Tracer.Span): Effect.Effect<Rows, Failure> {
    return Effect.callback((resume) => {
      const request: Request = { organizationId, statement, span, since: performance.now(), resume }
      if (!this.queue.push(request)) return void resume(UNAVAILABLE)
      this.schedule()
      return Effect.sync(() => {
        request.resume = undefined
      })
    })
  }

  /** A lone request starts in this tick; several wait for the end of it, so that later ones can join their batch. */
  private schedule(): void {
    if (this.scheduled || this.queue.size === 0) return
    this.scheduled = true
    if (this.running === 0 && this.queue.size === 1) queueMicrotask(this.start)
    else setImmediate(this.start)
  }

  private get running(): number {
    return this.first.runs.size + this.second.runs.size
  }

  private readonly start = (): void => {
    this.scheduled = false
    // With more than one statement left, a connection gets no more, so that requests gather into batches.
    const open = [this.first, this.second].filter(({ runs }) => runs.size < CONCURRENT)
    while (this.sendNext(open));
    this.watch()
    this.wakeAfterRest()
  }

  /** Starts lookups after their rest: while all of them rest, no statement runs whose end would start them. */
  private wakeAfterRest(): void {
    const rest = this.queue.rest()
    if (rest === undefined || this.resting) return
    this.resting = true
    setTimeout(() => {
      this.resting = false
      this.schedule()
    }, rest)
  }

  /** Sends a batch on the connection with fewer running statements, or else on the other one. */
  private sendNext(open: ReadonlyArray<Connection>): boolean {
    for (const connection of open.toSorted((a, b) => a.runs.size - b.runs.size)) {
      const batch = this.queue.take(connection.name, connection.runs.size)
      if (batch === undefined) continue
      this.send(batch, connection)
      return true
    }
    return false
  }

  private send({ form, requests }: Batch<Request>, connection: Connection): void {
    const { parameters, relations, text } = requests[0]!.statement
    if (this.locks.isLocked(relations)) this.end(requests, LOCKED)
    else if (form === undefined) this.run(requests, connection, text, parameters, (rows) => [rows])
    else {
      const all = batchParameters(requests, form)
      this.run(requests, connection, form.text, all, (rows) => rowsByRequest(rows, requests.length))
    }
  }

  private run(
    requests: ReadonlyArray<Request>,
    { pool, runs }: Connection,
    text: string,
    parameters: ReadonlyArray<unknown>,
    split: (rows: Rows) => ReadonlyArray<Rows> | undefined
  ): void {
    const now = performance.now()
    for (const { since, span } of requests) span?.attribute("db.client.connection.wait_time_ms", now - since)
    const run: Run = { requests, fiber: forkUntraced(pool.unsafe<object>(text, parameters)) }
    runs.add(run)
    run.fiber.addObserver((exit) => {
      runs.delete(run)
      if (Exit.isSuccess(exit)) {
        const rows = split(exit.value)
        if (rows === undefined) answer(requests, UNAVAILABLE)
        else for (let index = 0; index < requests.length; index++) requests[index]!.resume?.(Exit.succeed(rows[index]!))
        this.queue.done(requests)
      } else if (failedBy(exit, "LockTimeoutError")) {
        this.end(requests, LOCKED)
      } else if (requests.length === 1) {
        const isLate = failedBy(exit, "StatementTimeoutError")
        if (isLate) this.queue.markSlow(requests[0]!.organizationId)
        this.end(requests, isLate ? TIMED_OUT : exit)
      } else {
        // One request's error must not fail the others.
        this.queue.retry(requests)
      }
      this.schedule()
    })
  }

  private end(requests: ReadonlyArray<Request>, exit: Exit.Exit<Rows, Failure>): void {
    answer(requests, exit)
    this.queue.done(requests)
  }

  /** One timer for all requests: fails those that are past the deadline. */
  private watch(): void {
    if (this.watched || this.running + this.queue.size === 0) return
    this.watched = true
    setTimeout(() => {
      this.watched = false
      const oldest = performance.now() - DEADLINE_MS
      answer(this.queue.waitingBefore(oldest), UNAVAILABLE)
      for (const { fiber, requests } of [...this.first.runs, ...this.second.runs]) {
        const late = requests.filter(({ since }) => since < oldest)
        answer(late, UNAVAILABLE)
        if (late.length === requests.length) fiber.interruptUnsafe()
      }
      this.watch()
    }, WATCH_MS).unref()
  }
}

const UNAVAILABLE = Exit.fail(Unavailable.error)
const LOCKED = Exit.fail(RelationLocked.error)
const TIMED_OUT = Exit.fail(LookupTimedOut.error)

const answer = (requests: ReadonlyArray<Request>, exit: Exit.Exit<Rows, Failure>): void => {
  for (const request of requests) {
    request.resume?.(exit)
    request.resume = undefined
  }
}

const failedBy = (
  exit: Exit.Failure<Rows, SqlError.SqlError>,
  tag: "LockTimeoutError" | "StatementTimeoutError"
): boolean => exit.cause.reasons.some((reason) => Cause.isFailReason(reason) && reason.error.reason._tag === tag)

/** A row of a batch; `n` is the number of its request, counted from 1. */
interface NumberedRow {
  readonly n: number
}

/** The parameters of a batch: an array of the requests' values for each, or the list that they share. */
export const batchParameters = (
  requests: ReadonlyArray<Pick<Request, "statement">>,
  { shared }: Pick<BatchForm, "shared">
): ReadonlyArray<unknown> =>
  requests[0]!.statement.parameters.map((value, index) =>
    shared.has(index) ? value : requests.map(({ statement }) => statement.parameters[index])
  )

/** The rows of each request; undefined when a row belongs to no request, and then none may be used. */
export const rowsByRequest = (
  rows: ReadonlyArray<object>,
  requests: number
): ReadonlyArray<ReadonlyArray<object>> | undefined => {
  const each = Array.from({ length: requests }, (): Array<object> => [])
  for (const row of rows as ReadonlyArray<NumberedRow>) {
    const own = each[row.n - 1]
    if (own === undefined) return undefined
    own.push(row)
  }
  return each
}
