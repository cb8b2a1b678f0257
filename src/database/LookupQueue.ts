/**
 * Waiting lookups: one queue per organization, served round robin, so that an organization's next turn comes after at most
 * one turn of each other organization, however many lookups those have waiting. They run on two connections, so that the
 * statements of one organization leave the other connection free.
 */
import { type Batch, fitTogether, sizeOf } from "./batchGroups.ts"
import type { Statement } from "./sql/ResolvedQuery.ts"

/** An organization with more lookups outstanding than this is busy until all of them are answered. */
const FEW = 4
/** An organization's waiting lookups; further ones are refused. */
export const MAX_WAITING = 1000
/** Milliseconds for which an organization is busy after a lookup that reached the statement timeout. */
const SLOW_MS = 10_000

export interface Queued {
  readonly organizationId: bigint
  readonly statement: Statement
  readonly since: number
  /** Undefined once the request is answered or its caller is interrupted. */
  readonly resume: unknown
  /** Runs without others, because a batch with it failed. */
  isAlone?: boolean
}

/** The lookups of one organization. */
interface Lookups<R> {
  readonly organizationId: bigint
  /** Waiting requests that may share a batch, by text; a request that runs alone is a group of its own. */
  readonly groups: Map<string | R, Array<R>>
  waiting: number
  /** Waiting or running. */
  outstanding: number
  /** On which connection its lookups run, if any do. */
  connection: Connection
  isBusy: boolean
}

/** The first connection is for organizations that aren't busy. */
export type Connection = "first" | "second"

const keyOf = <R extends Queued>(request: R): string | R =>
  request.isAlone === true ? request : request.statement.text

export class LookupQueue<R extends Queued> {
  private readonly organizations = new Map<bigint, Lookups<R>>()
  /** The organizations with waiting requests, in the order of their turns. */
  private readonly turns = new Set<Lookups<R>>()
  private readonly slowUntil = new Map<bigint, number>()

  /** All waiting requests. */
  size = 0

  /** Returns false, and queues nothing, if too many requests of the organization wait. */
  push(request: R): boolean {
    const { organizationId } = request
    let lookups = this.organizations.get(organizationId)
    if (lookups === undefined) {
      lookups = { organizationId, groups: new Map(), waiting: 0, outstanding: 0, connection: "first", isBusy: false }
      this.organizations.set(organizationId, lookups)
    }
    if (lookups.waiting >= MAX_WAITING) return false
    lookups.outstanding += 1
    if (lookups.outstanding > FEW) lookups.isBusy = true
    this.enqueue(request, lookups)
    return true
  }

  /** Queues the requests of a failed batch again, each to run alone; their organizations are busy until then. */
  retry(requests: ReadonlyArray<R>): void {
    for (const request of requests) {
      const lookups = this.organizations.get(request.organizationId)!
      request.isAlone = true
      lookups.isBusy = true
      this.enqueue(request, lookups)
    }
  }

  /** Ends requests that `take` returned. */
  done(requests: ReadonlyArray<R>): void {
    for (const { organizationId } of requests) {
      const lookups = this.organizations.get(organizationId)!
      lookups.outstanding -= 1
      if (lookups.outstanding === 0) this.organizations.delete(organizationId)
    }
  }

  /** Makes an organization busy for a while, because a lookup of it reached the statement timeout. */
  markSlow(organizationId: bigint): void {
    this.slowUntil.set(organizationId, performance.now() + SLOW_MS)
  }

  /**
   * The next batch, for a connection with `room` for so many more statements: its text is that of the organization whose turn
   * it is, and all organizations take turns in adding their requests of this text.
   */
  take(room: number, connection: Connection): Batch<R> | undefined {
    for (const lookups of this.turns) {
      if (!this.mayUse(connection, lookups)) continue
      for (const key of lookups.groups.keys()) {
        const first = this.remove(lookups, key, () => true)
        if (first === undefined) continue
        const batch = key === first ? alone(first) : this.gather(first, lookups, room, connection)
        for (const { organizationId } of batch.requests) this.organizations.get(organizationId)!.connection = connection
        return batch
      }
    }
    return undefined
  }

  /** The waiting requests that arrived before this time. */
  waitingBefore(time: number): ReadonlyArray<R> {
    return [...this.turns].flatMap(({ groups }) => [...groups.values()].flat()).filter(({ since }) => since < time)
  }

  private gather(first: R, own: Lookups<R>, room: number, connection: Connection): Batch<R> {
    const { text } = first.statement
    const sharing = [...this.turns].filter(
      (lookups) => lookups !== own && lookups.groups.has(text) && this.mayUse(connection, lookups)
    )
    if (own.groups.has(text)) sharing.push(own)
    const waiting = sharing.reduce((sum, { groups }) => sum + groups.get(text)!.length, 1)
    const form = waiting === 1 ? undefined : first.statement.batch?.()
    if (form === undefined) return alone(first)
    const requests = [first]
    const size = sizeOf(waiting, room)
    for (let taken = 0; requests.length < size && taken < requests.length; ) {
      taken = requests.length
      for (const lookups of sharing) {
        const next = this.remove(lookups, text, (request) => fitTogether(first, request, form))
        if (next !== undefined && requests.push(next) === size) break
      }
    }
    return requests.length === 1 ? alone(first) : { requests, form }
  }

  /** A busy organization uses the second connection; any other keeps to the one on which its lookups run. */
  private mayUse(connection: Connection, lookups: Lookups<R>): boolean {
    if (this.isBusy(lookups)) return connection === "second"
    return lookups.outstanding === lookups.waiting || lookups.connection === connection
  }

  private isBusy({ isBusy, organizationId }: Lookups<R>): boolean {
    if (isBusy || this.slowUntil.size === 0) return isBusy
    const until = this.slowUntil.get(organizationId)
    if (until === undefined) return false
    if (until > performance.now()) return true
    this.slowUntil.delete(organizationId)
    return false
  }

  private enqueue(request: R, lookups: Lookups<R>): void {
    const key = keyOf(request)
    const group = lookups.groups.get(key)
    if (group === undefined) lookups.groups.set(key, [request])
    else group.push(request)
    lookups.waiting += 1
    this.size += 1
    this.turns.add(lookups)
  }

  /** Removes the oldest fitting request of a group, and those before it whose callers no longer wait; this ends the turn. */
  private remove(lookups: Lookups<R>, key: string | R, fits: (request: R) => boolean): R | undefined {
    const group = lookups.groups.get(key)
    if (group === undefined) return undefined
    let found: R | undefined
    for (let index = 0; found === undefined && index < group.length; ) {
      const request = group[index]!
      if (request.resume !== undefined && !fits(request)) {
        index += 1
        continue
      }
      group.splice(index, 1)
      lookups.waiting -= 1
      this.size -= 1
      if (request.resume === undefined) this.done([request])
      else found = request
    }
    if (group.length === 0) lookups.groups.delete(key)
    if (lookups.waiting === 0) this.turns.delete(lookups)
    if (found === undefined) return undefined
    if (lookups.groups.delete(key)) lookups.groups.set(key, group)
    if (this.turns.delete(lookups)) this.turns.add(lookups)
    return found
  }
}

const alone = <R extends Queued>(request: R): Batch<R> => ({ requests: [request], form: undefined })
