/** A turn that this process answers or follows: its events, and the listeners that it wakes. */
import { Effect, type Fiber } from "effect"
import type { Changing } from "../../agents/changing.ts"
import type { TurnInput } from "../../agents/MaxAgent.ts"
import { SENTENCES } from "../../agents/sentences.ts"
import type { Basis } from "../../domain/Basis.ts"
import { Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import type { NamedTurn } from "../../wire/chat.ts"
import type { TurnEvent } from "../../wire/TurnEvent.ts"
import type { Claim, ClaimedTurn, TurnKey } from "../../services/conversations/TurnNames.ts"
import { decoded, encoded, type EventLog, type Listener, type Numbered, numbered } from "./Listener.ts"

export type Message = Pick<TurnInput, "after" | "organization" | "say" | "session">

type Failed = Extract<TurnEvent, { readonly _tag: "error" }>

export const lost: TurnEvent = { _tag: "error", reason: "Unavailable", message: Unavailable.error.message }
const withdrawn: TurnEvent = { _tag: "error", reason: "Unavailable", message: SENTENCES.rightsChanged }
export const stopped: TurnEvent = { _tag: "error", reason: "Stopped", message: "You stopped this answer." }
export const otherMessage: Failed = {
  _tag: "error",
  reason: "InvalidInput",
  message: "A turn with this name and another message is in progress."
}

/** The numbers of one attempt's events. A later attempt's are higher, so that a listener of an earlier one receives them all. */
const STRIDE = 1_000_000
/** The most characters of encoded events in the database. */
const MAX_KEPT = 1024 * 1024

/** Whether an event is the first of an attempt. */
export const isFirst = ({ number }: Numbered): boolean => number % STRIDE === 1

/** Characters as Postgres counts them. */
const lengthOf = (text: string): number => {
  let length = 0
  for (const _ of text) length += 1
  return length
}

const isLast = (event: TurnEvent): boolean => event._tag === "done" || event._tag === "error"

/** A message in a comparable form, to recognize a repeated request. */
export const textOf = ({ after, say, session }: Message): string => JSON.stringify({ say, session, after })

type Stored = Pick<Message, "after" | "say" | "session">
export const readMessage = (text: string): Stored => JSON.parse(text) as Stored

export const namedTurn = (turn: string, message: string, answering: boolean): NamedTurn => {
  const { after, say, session } = readMessage(message)
  return {
    turn,
    ...("text" in say ? { asked: say.text } : { choice: say.choice }),
    ...(session === undefined ? {} : { conversation: session }),
    ...(after === undefined ? {} : { after }),
    answering
  }
}

/** The holder, its attempt, and the characters of its events that have been read. */
export interface Following {
  readonly holder: string | undefined
  readonly attempt: number
  readonly read: number
}

export class Turn implements EventLog {
  readonly events: Array<Numbered> = []
  readonly listeners = new Set<Listener>()
  isOver = false
  /** Whether the access that it was begun with has ended: nothing more of it is shown. */
  isWithdrawn = false
  /** The last event if the turn is interrupted. */
  onInterrupt: TurnEvent = lost
  fiber?: Fiber.Fiber<void>
  /** Set while this process answers a named turn. */
  claim: Claim | undefined
  /** The position in the events of the process that answers, while this one follows. */
  following: Following | undefined
  /** Its events in the database while another process follows: their number, and their characters. */
  private written = { events: 0, length: 0 }
  private isWriting = false
  /** The number before the first event of this attempt. */
  private base = 0

  readonly principal: Principal
  readonly basis: Basis
  readonly message: Message
  /** Undefined if the client hasn't named the turn: then it ends with its last listener. */
  readonly key: TurnKey | undefined
  readonly changes: Changing | undefined

  constructor(
    { changes, principal }: { readonly principal: Principal; readonly changes: Changing | undefined },
    basis: Basis,
    message: Message,
    key: TurnKey | undefined
  ) {
    this.principal = principal
    this.changes = changes
    this.basis = basis
    this.message = message
    this.key = key
  }

  private wake(): void {
    for (const listener of this.listeners) listener.wake()
  }

  publish(event: TurnEvent): void {
    if (this.isOver || (this.isWithdrawn && event !== withdrawn)) return
    const number = Math.max(this.events.at(-1)?.number ?? 0, this.base) + 1
    // Withdraws what an earlier attempt has sent.
    if (this.base > 0 && number === this.base + 1 && event._tag !== "error") {
      this.events.push(numbered(number, { _tag: "retract" }), numbered(number + 1, event))
    } else this.events.push(numbered(number, event))
    // Set with the last event, so that no client receives it and still sees the turn in progress.
    this.isOver = isLast(event)
    this.wake()
  }

  /** Ends a turn without a last event. */
  finish(): void {
    this.isOver = true
    this.wake()
  }

  /** Ends a turn whose access has ended; its listeners get nothing more but the reason. */
  withdraw(): void {
    this.isWithdrawn = true
    this.onInterrupt = withdrawn
    for (const listener of this.listeners) listener.skip()
  }

  /** Begins to answer. */
  answer({ holder, organizationId }: Claim, attempt: number): true {
    this.claim = { holder, organizationId }
    this.following = undefined
    this.base = attempt * STRIDE
    return true
  }

  private blocks(events: ReadonlyArray<TurnEvent>): ReadonlyArray<string> {
    return events.map((event, index) => encoded(this.base + 1 + index, event))
  }

  private own(): ReadonlyArray<TurnEvent> {
    return this.events.filter(({ number }) => number > this.base).map(({ event }) => event)
  }

  /** Hands the events that the database doesn't have yet to `write`, one write at a time; none above the limit. */
  write(write: (after: number, more: string) => Effect.Effect<void, Unavailable>): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { events, length } = this.written
      const own = this.own()
      const more = this.blocks(own).slice(events).join("")
      if (this.isWriting || more === "" || length + more.length > MAX_KEPT) return Effect.void
      this.isWriting = true
      return Effect.ignore(
        Effect.tap(write(length, more), () =>
          Effect.sync(() => void (this.written = { events: own.length, length: length + lengthOf(more) }))
        )
      ).pipe(Effect.ensuring(Effect.sync(() => void (this.isWriting = false))))
    })
  }

  /**
   * All events of this attempt, given those of the agent or as published. Above the limit, what followers have already, and
   * the last event, which has the whole answer.
   */
  kept(emitted?: ReadonlyArray<TurnEvent>): string {
    const before: ReadonlyArray<TurnEvent> = this.base === 0 ? [] : [{ _tag: "retract" }]
    const blocks = this.blocks(emitted === undefined ? this.own() : [...before, ...emitted])
    const all = blocks.join("")
    return all.length > MAX_KEPT ? [...blocks.slice(0, this.written.events), blocks.at(-1)!].join("") : all
  }

  /** Receives what another process has written. */
  receive({ attempt, ended, holder, more }: ClaimedTurn): void {
    const read = this.following?.holder === holder ? this.following.read : 0
    this.following = { holder, attempt, read: read + lengthOf(more) }
    if (!this.isWithdrawn) this.events.push(...decoded(more))
    this.isOver = ended
    this.wake()
  }
}
