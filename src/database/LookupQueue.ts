/**
 * Waiting lookups: one queue per organization, served round robin, so that an organization's next turn comes after at most
 * one turn of each other organization, however many lookups those have waiting. They run on two connections, so that the
 * statements of one organization leave the other connection free: an organization with few lookups keeps to the connection
 * on which its lookups run, and one with many or slow lookups is busy and uses the second only.
 */
import type { Neighbours } from "./Neighbours.ts"
import type { BatchForm, Statement } from "./sql/ResolvedQuery.ts"

/** An organization with more lookups outstanding than this is busy, and for a while afterwards. */
const FEW = 4
/** Milliseconds for which an organization stays busy after it had many lookups: its people send the next ones. */
const MANY_MS = 1000
/** An organization's waiting lookups; further ones are refused. */
export const MAX_WAITING = 1000
/** The same after a lookup that reached the statement timeout. */
const SLOW_MS = 10_000
/** Concurrent statements of a connection: while Postgres executes one, this process reads the rows of the other. */
export const CONCURRENT = 2
/** The same for a busy organization without neighbours, whose lookups may have many texts. */
const BUSY_CONCURRENT = 4
/** Requests in one batch. */
const MAX_BATCH = 32
/** A smaller batch is never split. */
const MIN_SPLIT = 4
/** While a busy organization searches beside others, its lookups rest after a statement for so many times the statement's duration. */
const REST = 3
/** The longest rest, in milliseconds. */
const MAX_REST_MS = 50
/** A busy organization's lookups in one batch beside others, because this process answers a batch without a pause. */
const BATCHED_BESIDE_OTHERS = 1

export interface Queued {
  readonly organizationId: bigint
  readonly statement: Statement
  readonly since: number
  /** Undefined once the request is answered or its caller is interrupted. */
  readonly resume: unknown
  /** Runs without others, because a batch with it failed. */
  isAlone?: boolean
}

/** Requests that one execution answers: by the batch form, or, for a single request, by its own statement. */
export interface Batch<R> {
  readonly requests: ReadonlyArray<R>
  readonly form: BatchForm | undefined
}

export type ConnectionName = "first" | "second"

/** The lookups of one organization. */
interface Lookups<R> {
  readonly organizationId: bigint
  readonly waiting: Array<R>
  /** Waiting or running. */
  outstanding: number
  /** Where its lookups run, if any do. */
  connection: ConnectionName
  /** When its running statement began. */
  began: number | undefined
  /** The end of its rest, if it must rest. */
  restsUntil: number
}

export class LookupQueue<R extends Queued> {
  private readonly organizations = new Map<bigint, Lookups<R>>()
  /** The organizations with waiting requests, in the order of their turns. */
  private readonly turns = new Set<Lookups<R>>()
  private readonly busyUntil = new Map<bigint, number>()
  /** Whether a lookup of an organization that isn't busy has ended since the latest statement of a busy one beside others. */
  private hasQuietEnded = true
  private readonly neighbours: Pick<Neighbours, "beside" | "isSearching">
  private readonly now: () => number

  /** `now`: the time in milliseconds, for tests. */
  constructor(neighbours: Pick<Neighbours, "beside" | "isSearching">, now = () => performance.now()) {
    this.neighbours = neighbours
    this.now = now
  }

  /** All waiting requests. */
  size = 0

  /** Returns false, and queues nothing, if too many requests of the organization wait. */
  push(request: R): boolean {
    const { organizationId } = request
    let lookups = this.organizations.get(organizationId)
    if (lookups === undefined) {
      lookups = { organizationId, waiting: [], outstanding: 0, connection: "first", began: undefined, restsUntil: 0 }
      this.organizations.set(organizationId, lookups)
    }
    if (lookups.waiting.length >= MAX_WAITING) return false
    lookups.outstanding += 1
    if (lookups.outstanding > FEW) this.markBusy(organizationId, MANY_MS)
    this.enqueue(request, lookups)
    return true
  }

  /** Queues the requests of a failed batch again, each to run alone; their organizations are busy. */
  retry(requests: ReadonlyArray<R>): void {
    for (const request of requests) {
      const lookups = this.organizations.get(request.organizationId)!
      request.isAlone = true
      this.markBusy(request.organizationId, MANY_MS)
      this.enqueue(request, lookups)
    }
  }

  /** Ends requests that `take` returned. */
  done(requests: ReadonlyArray<R>): void {
    for (const { organizationId } of requests) {
      const lookups = this.organizations.get(organizationId)!
      if (!this.isBusy(lookups)) this.hasQuietEnded = true
      this.endStatement(lookups)
      lookups.outstanding -= 1
      if (lookups.outstanding === 0) this.organizations.delete(organizationId)
    }
  }

  /** Makes an organization busy for a while, because a lookup of it reached the statement timeout. */
  markSlow(organizationId: bigint): void {
    this.markBusy(organizationId, SLOW_MS)
  }

  /** The waiting requests that arrived before this time. */
  waitingBefore(time: number): ReadonlyArray<R> {
    return [...this.turns].flatMap(({ waiting }) => waiting.filter(({ since }) => since < time))
  }

  /**
   * The next batch for a connection on which so many statements run: its text is that of the organization whose turn it is,
   * and all organizations take turns in adding their requests of this text.
   */
  take(connection: ConnectionName, running: number): Batch<R> | undefined {
    if (running >= (connection === "first" ? CONCURRENT : BUSY_CONCURRENT)) return undefined
    for (const lookups of this.turns) {
      if (!this.mayUse(connection, running, lookups)) continue
      const first = this.remove({ lookups, next: 0 }, () => true)
      if (first === undefined) continue
      const batch = this.gather(first, lookups, connection, running)
      if (this.isBounded(lookups)) this.hasQuietEnded = false
      for (const { organizationId } of batch.requests) this.endTurn(this.organizations.get(organizationId)!, connection)
      return batch
    }
    return undefined
  }

  /** Milliseconds until the first of the organizations that rest may go on; undefined if none rests. */
  rest(): number | undefined {
    if (this.turns.size === 0) return undefined
    const ends = [...this.turns].filter((lookups) => this.isResting(lookups)).map(({ restsUntil }) => restsUntil)
    return ends.length === 0 ? undefined : Math.min(...ends) - this.now()
  }

  private gather(first: R, own: Lookups<R>, connection: ConnectionName, running: number): Batch<R> {
    const { batch, text } = first.statement
    if (this.size === 0 || batch === undefined || first.isAlone === true) return alone(first)
    const sharing = [...this.turns].filter((lookups) => lookups !== own && this.mayUse(connection, running, lookups))
    if (own.waiting.length > 0) sharing.push(own)
    const isSame = ({ isAlone, statement }: R) => statement.text === text && isAlone !== true
    let waiting = 1
    for (const lookups of sharing) for (const request of lookups.waiting) if (isSame(request)) waiting += 1
    if (waiting === 1) return alone(first)
    const form = batch()
    const fits = (request: R) => isSame(request) && fitTogether(first, request, form)
    const size = sizeOf(waiting, Math.max(1, CONCURRENT - running))
    const cursors = sharing.map((lookups) => ({
      lookups,
      next: 0,
      left: (this.isBounded(lookups) ? BATCHED_BESIDE_OTHERS : MAX_BATCH) - (lookups === own ? 1 : 0)
    }))
    const requests = [first]
    for (let before = 0; before < requests.length;) {
      before = requests.length
      for (const cursor of cursors) {
        const request = requests.length < size && cursor.left > 0 ? this.remove(cursor, fits) : undefined
        if (request === undefined) continue
        cursor.left -= 1
        requests.push(request)
      }
    }
    return requests.length === 1 ? alone(first) : { requests, form }
  }

  /**
   * A busy organization uses the second connection, one statement at a time beside others, which alternates with the lookups
   * of those that aren't busy, and with rests while it searches. Any other organization uses that connection only while it is idle.
   */
  private mayUse(connection: ConnectionName, running: number, lookups: Lookups<R>): boolean {
    if (this.isBusy(lookups)) {
      if (connection !== "second") return false
      if (!this.isBounded(lookups)) return true
      return running === 0 && !this.isResting(lookups) && (this.hasQuietEnded || !this.isServingQuiet())
    }
    if (connection === "second" && running > 0) return false
    return lookups.outstanding === lookups.waiting.length || lookups.connection === connection
  }

  /** Whether it is busy beside others. */
  private isBounded(lookups: Lookups<R>): boolean {
    return this.isBusy(lookups) && this.neighbours.beside(lookups.organizationId)
  }

  /** A lookup and a search of one organization at once take two processors. */
  private isResting(lookups: Lookups<R>): boolean {
    return (
      lookups.restsUntil > this.now() && this.neighbours.isSearching(lookups.organizationId) && this.isBounded(lookups)
    )
  }

  /** Whether a lookup of an organization that isn't busy waits or runs. */
  private isServingQuiet(): boolean {
    for (const lookups of this.organizations.values()) if (!this.isBusy(lookups)) return true
    return false
  }

  private markBusy(organizationId: bigint, milliseconds: number): void {
    const until = this.now() + milliseconds
    if (until > (this.busyUntil.get(organizationId) ?? 0)) this.busyUntil.set(organizationId, until)
  }

  private isBusy({ organizationId, outstanding }: Lookups<R>): boolean {
    if (outstanding > FEW) return true
    const until = this.busyUntil.get(organizationId)
    if (until === undefined) return false
    if (until > this.now()) return true
    this.busyUntil.delete(organizationId)
    return false
  }

  private enqueue(request: R, lookups: Lookups<R>): void {
    lookups.waiting.push(request)
    this.size += 1
    this.turns.add(lookups)
  }

  /** Removes the oldest fitting request from the cursor on, and those before it whose callers no longer wait. */
  private remove(cursor: Cursor<R>, fits: (request: R) => boolean): R | undefined {
    const { waiting } = cursor.lookups
    while (cursor.next < waiting.length) {
      const request = waiting[cursor.next]!
      const isAbandoned = request.resume === undefined
      if (!isAbandoned && !fits(request)) {
        cursor.next += 1
        continue
      }
      if (cursor.next === 0) waiting.shift()
      else waiting.splice(cursor.next, 1)
      this.size -= 1
      if (waiting.length === 0) this.turns.delete(cursor.lookups)
      if (!isAbandoned) return request
      this.done([request])
    }
    return undefined
  }

  private endStatement(lookups: Lookups<R>): void {
    if (lookups.began === undefined) return
    const now = this.now()
    lookups.restsUntil = now + Math.min(MAX_REST_MS, REST * (now - lookups.began))
    lookups.began = undefined
  }

  /** The organization's next turn comes after those of all others that wait. */
  private endTurn(lookups: Lookups<R>, connection: ConnectionName): void {
    lookups.connection = connection
    lookups.began = this.now()
    if (this.turns.delete(lookups)) this.turns.add(lookups)
  }
}

/** A place in an organization's waiting requests. */
interface Cursor<R> {
  readonly lookups: Lookups<R>
  next: number
}

const alone = <R extends Queued>(request: R): Batch<R> => ({ requests: [request], form: undefined })

/** The size of a batch when so many requests of one text wait: large groups are split over the `room` for concurrent statements. */
const sizeOf = (waiting: number, room: number): number =>
  Math.min(MAX_BATCH, Math.max(MIN_SPLIT, Math.ceil(waiting / room)))

/** Whether two requests with one text fit one batch: their list parameters are equal, in order. */
const fitTogether = (one: Queued, other: Queued, { shared }: BatchForm): boolean =>
  shared.size === 0 || listsOf(one, shared) === listsOf(other, shared)

const listsOf = ({ statement }: Queued, shared: ReadonlySet<number>): string =>
  JSON.stringify(statement.parameters.filter((_, index) => shared.has(index)))
