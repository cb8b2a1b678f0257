/**
 * Turns in progress in this process, and their listeners. An unnamed turn, and the model call behind it, is cancelled when
 * its last listener leaves. A turn that its client has named continues: the client can resume listening until a minute
 * after its end, or stop it.
 */
import { Context, Duration, Effect, Fiber, Layer, Schedule, type Scope, Stream } from "effect"
import { MaxAgent, type TurnInput } from "../../agents/MaxAgent.ts"
import type { NamedTurn } from "../../wire/chat.ts"
import type { TurnEvent } from "../../wire/TurnEvent.ts"
import type { Basis } from "../../domain/Basis.ts"
import { InvalidInput, type NotAdmitted, Unavailable } from "../../domain/errors.ts"
import { CurrentPrincipal, type Principal } from "../../domain/Principal.ts"
import { EntityQueryService } from "../../services/EntityQueryService.ts"
import type { Caller } from "../../services/access/Admission.ts"
import { SENTENCES } from "../../agents/sentences.ts"
import { Listener, type Numbered, numbered } from "./Listener.ts"
import { OpenStreams } from "./OpenStreams.ts"

interface Turn {
  readonly basis: Basis
  /** The message in a comparable form, to recognize a repeated request. */
  readonly fingerprint: string
  readonly message: Message
  readonly events: Array<Numbered>
  readonly listeners: Set<Listener>
  readonly isNamed: boolean
  isOver: boolean
  /** Whether the access that it was begun with has ended: nothing more of it is shown. */
  isWithdrawn: boolean
  /** The last event if the turn is interrupted. */
  onInterrupt: TurnEvent
  fiber?: Fiber.Fiber<void>
}

/** A listener's principal, and when the credential expires that it listens with. */
type Hearer = Pick<Caller, "expiresAt" | "principal">

type Message = Pick<TurnInput, "after" | "organization" | "say" | "session">

/** How long a named turn can be resumed after its end. */
const RETENTION = Duration.minutes(1)
/** Proxies close idle connections; a model may be silent for longer than they allow. */
const KEEP_ALIVE = Duration.seconds(15)

const isLast = (event: TurnEvent): boolean => event._tag === "done" || event._tag === "error"

/** The basis is the key's first part: a turn is reached only with the rights that it is made from. */
const keyOf = ({ key }: Basis, name: string): string => `${key} ${name}`

const namedTurn = (turn: string, { isOver, message: { after, say, session } }: Turn): NamedTurn => ({
  turn,
  ...("text" in say ? { asked: say.text } : { choice: say.choice }),
  ...(session === undefined ? {} : { conversation: session }),
  ...(after === undefined ? {} : { after }),
  answering: !isOver
})

const lost: TurnEvent = { _tag: "error", reason: "Unavailable", message: Unavailable.error.message }
const withdrawn: TurnEvent = { _tag: "error", reason: "Unavailable", message: SENTENCES.rightsChanged }
const stopped: TurnEvent = { _tag: "error", reason: "Stopped", message: "You stopped this answer." }

const wake = ({ listeners }: Turn): void => {
  for (const listener of listeners) listener.wake()
}

export class Turns extends Context.Service<
  Turns,
  {
    /** Starts a turn, or listens to the person's turn with this name and the same message. */
    readonly begin: (
      hearer: Hearer,
      message: Message,
      name: string | undefined
    ) => Effect.Effect<Listener, InvalidInput | NotAdmitted | Unavailable, Scope.Scope>
    /** Listens to the person's turn with this name, after an event; undefined if there is none. */
    readonly find: (
      hearer: Hearer,
      name: string,
      after: number
    ) => Effect.Effect<Listener | undefined, NotAdmitted | Unavailable, Scope.Scope>
    /** The person's named turns, oldest first. */
    readonly held: (principal: Principal) => Effect.Effect<ReadonlyArray<NamedTurn>, NotAdmitted | Unavailable>
    /** Cancels the person's turn with this name, and the model call behind it; false if there is none. */
    readonly stop: (principal: Principal, name: string) => Effect.Effect<boolean, NotAdmitted | Unavailable>
  }
>()("max/channels/http/Turns") {
  static readonly layer = Layer.effect(
    Turns,
    Effect.gen(function* () {
      const agent = yield* MaxAgent
      const queries = yield* EntityQueryService
      const streams = yield* OpenStreams
      const scope = yield* Effect.scope
      const named = new Map<string, Turn>()
      const listeners = new Set<Listener>()
      yield* Effect.sync(() => {
        for (const listener of listeners) listener.keepAlive()
      }).pipe(Effect.schedule(Schedule.spaced(KEEP_ALIVE)), Effect.forkScoped)

      const basisOf = (principal: Principal) =>
        Effect.provideService(queries.basis(principal), CurrentPrincipal, principal)

      /** The turn with this key, unless its basis has expired. */
      const unexpired = (key: string) => {
        const turn = named.get(key)
        return turn !== undefined && Date.now() < turn.basis.expiresAt ? turn : undefined
      }

      const leave = (turn: Turn, listener: Listener) =>
        Effect.suspend(() => {
          listeners.delete(listener)
          turn.listeners.delete(listener)
          const isAbandoned = turn.listeners.size === 0 && !turn.isNamed
          return isAbandoned && turn.fiber !== undefined ? Fiber.interrupt(turn.fiber) : Effect.void
        })

      /** Adds a listener to a turn, until the scope closes or the listener's credential expires. */
      const listen = <E>({ expiresAt, principal }: Hearer, turn: Effect.Effect<Turn, E>, after: number) =>
        Effect.map(
          Effect.acquireRelease(
            Effect.map(turn, (turn) => {
              const listener = new Listener(turn, after)
              turn.listeners.add(listener)
              listeners.add(listener)
              const { organizationId } = principal
              const unwatch = streams.watch({ organizationId, expiresAt }, () => listener.close())
              return { listener, turn, unwatch }
            }),
            ({ listener, turn, unwatch }) => Effect.andThen(Effect.sync(unwatch), leave(turn, listener))
          ),
          ({ listener }) => listener
        )

      const publish = (turn: Turn, event: TurnEvent) =>
        Effect.sync(() => {
          if (turn.isWithdrawn && event !== withdrawn) return
          turn.events.push(numbered(turn.events.length + 1, event))
          // Set with the last event, so that no client receives it and still sees the turn in progress.
          turn.isOver = isLast(event)
          wake(turn)
        })

      /** Ends a turn whose access has ended; its listeners get nothing more but the reason. */
      const withdraw = (turn: Turn) =>
        Effect.sync(() => {
          turn.isWithdrawn = true
          turn.onInterrupt = withdrawn
          for (const listener of turn.listeners) listener.skip()
        })

      const answer = (principal: Principal, message: Message, turn: Turn) =>
        agent.turn({ ...message, who: principal }).pipe(
          Stream.runForEach((event) => publish(turn, event)),
          Effect.onInterrupt(() => Effect.suspend(() => publish(turn, turn.onInterrupt))),
          // Wakes the listeners even if the agent ended without a last event.
          Effect.ensuring(
            Effect.sync(() => {
              turn.isOver = true
              wake(turn)
            })
          )
        )

      const start = Effect.fnUntraced(function* (principal: Principal, message: Message, name: string | undefined) {
        const fingerprint = JSON.stringify([message.say, message.session, message.after])
        const basis = yield* basisOf(principal)
        const key = name === undefined ? undefined : keyOf(basis, name)
        const existing = key === undefined ? undefined : unexpired(key)
        if (existing !== undefined) {
          if (existing.fingerprint === fingerprint) return existing
          return yield* new InvalidInput({ message: "A turn with this name and another message is in progress." })
        }
        const turn: Turn = {
          basis,
          fingerprint,
          message,
          events: [],
          listeners: new Set(),
          isNamed: key !== undefined,
          isOver: false,
          isWithdrawn: false,
          onInterrupt: lost
        }
        if (key !== undefined) named.set(key, turn)
        const { epoch, organizationId } = principal
        const access = { organizationId, epoch, expiresAt: basis.expiresAt }
        const running = answer(principal, message, turn).pipe(
          Effect.andThen(key === undefined ? Effect.void : Effect.sleep(RETENTION)),
          Effect.raceFirst(Effect.andThen(streams.ended(access), withdraw(turn))),
          Effect.ensuring(Effect.sync(() => key !== undefined && named.get(key) === turn && named.delete(key)))
        )
        turn.fiber = yield* Effect.forkIn(running, scope)
        return turn
      })

      return Turns.of({
        begin: (hearer, message, name) => listen(hearer, start(hearer.principal, message, name), 0),
        find: (hearer, name, after) =>
          Effect.flatMap(basisOf(hearer.principal), (basis) => {
            const turn = unexpired(keyOf(basis, name))
            return turn === undefined ? Effect.undefined : listen(hearer, Effect.succeed(turn), after)
          }),
        held: (principal) =>
          Effect.map(basisOf(principal), (basis) => {
            const own = keyOf(basis, "")
            return [...named.keys()].flatMap((key) => {
              const turn = key.startsWith(own) ? unexpired(key) : undefined
              return turn === undefined ? [] : [namedTurn(key.slice(own.length), turn)]
            })
          }),
        stop: (principal, name) =>
          Effect.flatMap(basisOf(principal), (basis) => {
            const key = keyOf(basis, name)
            const turn = named.get(key)
            if (turn?.fiber === undefined) return Effect.succeed(false)
            // Frees the name immediately.
            named.delete(key)
            turn.onInterrupt = stopped
            return Effect.as(Fiber.interrupt(turn.fiber), true)
          })
      })
    })
  )
}
