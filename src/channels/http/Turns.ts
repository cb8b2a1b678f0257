/**
 * Turns that are being answered by this process, and who listens to them. A turn ends with its last listener, and the
 * model's work with it; one that its client has given a name goes on, so that the client can come back for the rest,
 * until a minute after its end, or stop it. What was answered is kept with the conversation in any case.
 */
import { Context, Duration, Effect, Fiber, Layer, Schedule, type Scope, Stream } from "effect"
import { MaxAgent, type TurnInput } from "../../agents/MaxAgent.ts"
import type { TurnEvent } from "../../wire/TurnEvent.ts"
import { InvalidInput, Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import * as Telemetry from "../../observability/Telemetry.ts"
import { Listener, type Numbered, numbered } from "./Listener.ts"

interface Turn {
  /** What was said, to tell whether it is said again. */
  readonly words: string
  readonly said: Said
  readonly events: Array<Numbered>
  readonly listeners: Set<Listener>
  readonly isNamed: boolean
  isOver: boolean
  /** What it says last when it is interrupted. */
  ending: TurnEvent
  fiber?: Fiber.Fiber<void>
}

type Said = Pick<TurnInput, "after" | "organization" | "say" | "session">

/** A turn with a name, for whoever may listen to it. */
export interface HeldTurn {
  readonly turn: string
  readonly asked?: string
  readonly choice?: string
  readonly conversation?: string
  readonly after?: number
  readonly answering: boolean
}

const HELD = Duration.minutes(1)
/** While a model thinks, whatever stands between sees that the connection is alive. */
const STILL_HERE = Duration.seconds(15)

const isLast = (event: TurnEvent): boolean => event._tag === "done" || event._tag === "error"

/** After a change of policy or membership a turn from before is nobody's any more. */
const keyOf = ({ anchorEntityId, epoch, organizationId }: Principal, name: string): string =>
  `${organizationId} ${anchorEntityId} ${epoch} ${name}`

const heldTurn = (turn: string, { isOver, said: { after, say, session } }: Turn): HeldTurn => ({
  turn,
  ...("text" in say ? { asked: say.text } : { choice: say.choice }),
  ...(session === undefined ? {} : { conversation: session }),
  ...(after === undefined ? {} : { after }),
  answering: !isOver
})

const lost: TurnEvent = { _tag: "error", reason: "Unavailable", message: Unavailable.error.message }
const stopped: TurnEvent = { _tag: "error", reason: "Stopped", message: "You stopped this answer." }

const wake = ({ listeners }: Turn): void => {
  for (const listener of listeners) listener.wake()
}

export class Turns extends Context.Service<
  Turns,
  {
    /** Begins a turn, or listens to the one that the person has begun under this name with the same words. */
    readonly begin: (
      principal: Principal,
      said: Said,
      name: string | undefined
    ) => Effect.Effect<Listener, InvalidInput, Scope.Scope>
    /** Listens to a turn of the person's by its name after an event; undefined when there is none (any more). */
    readonly find: (
      principal: Principal,
      name: string,
      after: number
    ) => Effect.Effect<Listener | undefined, never, Scope.Scope>
    /** The person's turns that have a name, in the order in which they began. */
    readonly held: (principal: Principal) => ReadonlyArray<HeldTurn>
    /** Ends a turn of the person's by its name, and the model's work with it; false when there is none (any more). */
    readonly stop: (principal: Principal, name: string) => Effect.Effect<boolean>
  }
>()("max/channels/http/Turns") {
  static readonly layer = Layer.effect(
    Turns,
    Effect.gen(function* () {
      const agent = yield* MaxAgent
      const scope = yield* Effect.scope
      const named = new Map<string, Turn>()
      const everybody = new Set<Listener>()
      yield* Effect.sync(() => {
        for (const listener of everybody) listener.stillHere()
      }).pipe(Effect.schedule(Schedule.spaced(STILL_HERE)), Effect.forkScoped)

      const leave = (turn: Turn, listener: Listener) =>
        Effect.suspend(() => {
          everybody.delete(listener)
          turn.listeners.delete(listener)
          const nobody = turn.listeners.size === 0 && !turn.isNamed && turn.fiber !== undefined
          return nobody ? Fiber.interrupt(turn.fiber!) : Effect.void
        })

      /** What a turn says after an event; the listener has left when its scope ends. */
      const listen = <E>(turn: Effect.Effect<Turn, E>, after: number) =>
        Effect.map(
          Effect.acquireRelease(
            Effect.map(turn, (found) => {
              const listener = new Listener(found, after)
              found.listeners.add(listener)
              everybody.add(listener)
              return { found, listener }
            }),
            ({ found, listener }) => leave(found, listener)
          ),
          ({ listener }) => listener
        )

      const publish = (turn: Turn, event: TurnEvent) =>
        Effect.sync(() => {
          turn.events.push(numbered(turn.events.length + 1, event))
          // Whoever has heard the end doesn't see the turn go on.
          turn.isOver = isLast(event)
          wake(turn)
        })

      const answer = (principal: Principal, said: Said, turn: Turn) =>
        agent.turn({ ...said, who: principal }).pipe(
          Stream.runForEach((event) => publish(turn, event)),
          Effect.onInterrupt(() => Effect.suspend(() => publish(turn, turn.ending))),
          // Whatever became of it, nobody waits for more.
          Effect.ensuring(
            Effect.sync(() => {
              turn.isOver = true
              wake(turn)
            })
          )
        )

      const start = Effect.fnUntraced(function* (principal: Principal, said: Said, name: string | undefined) {
        const words = JSON.stringify([said.say, said.session, said.after])
        const key = name === undefined ? undefined : keyOf(principal, name)
        const begun = key === undefined ? undefined : named.get(key)
        if (begun !== undefined) {
          if (begun.words === words) return begun
          return yield* new InvalidInput({ message: "A turn of this name has begun with other words." })
        }
        const turn: Turn = {
          words,
          said,
          events: [],
          listeners: new Set(),
          isNamed: key !== undefined,
          isOver: false,
          ending: lost
        }
        if (key !== undefined) named.set(key, turn)
        const running = Telemetry.detached(answer(principal, said, turn)).pipe(
          Effect.andThen(key === undefined ? Effect.void : Effect.sleep(HELD)),
          Effect.ensuring(Effect.sync(() => key !== undefined && named.get(key) === turn && named.delete(key)))
        )
        turn.fiber = yield* Effect.forkIn(running, scope)
        return turn
      })

      return Turns.of({
        begin: (principal, said, name) => listen(start(principal, said, name), 0),
        find: (principal, name, after) =>
          Effect.suspend(() => {
            const turn = named.get(keyOf(principal, name))
            return turn === undefined ? Effect.undefined : listen(Effect.succeed(turn), after)
          }),
        held: (principal) => {
          const own = keyOf(principal, "")
          return [...named].flatMap(([key, turn]) =>
            key.startsWith(own) ? [heldTurn(key.slice(own.length), turn)] : []
          )
        },
        stop: (principal, name) =>
          Effect.suspend(() => {
            const key = keyOf(principal, name)
            const turn = named.get(key)
            if (turn?.fiber === undefined) return Effect.succeed(false)
            // From here on the name is free.
            named.delete(key)
            turn.ending = stopped
            return Effect.as(Fiber.interrupt(turn.fiber), true)
          })
      })
    })
  )
}
