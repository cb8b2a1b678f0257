/**
 * The turns that this process answers or follows, and their listeners. An unnamed turn, and the model call behind it, is
 * cancelled when its last listener leaves. A turn that its client has named continues, is answered once by all processes
 * together (`TurnNames`), and can be listened to at each of them until a minute after its end.
 */
import { Context, Duration, Effect, Fiber, Layer, Schedule, type Scope, Stream } from "effect"
import { randomBytes } from "node:crypto"
import { changingOf } from "../../agents/changing.ts"
import { type Answer, MaxAgent } from "../../agents/MaxAgent.ts"
import type { NamedTurn } from "../../wire/chat.ts"
import type { Basis } from "../../domain/Basis.ts"
import type { Organization } from "../../domain/EntityType.ts"
import { InvalidInput, type NotAdmitted, type Unavailable } from "../../domain/errors.ts"
import { CurrentPrincipal, type Principal } from "../../domain/Principal.ts"
import { EntityQueryService } from "../../services/EntityQueryService.ts"
import type { Caller } from "../../services/access/Admission.ts"
import { type TurnKey, TurnNames } from "../../services/conversations/TurnNames.ts"
import { Listener } from "./Listener.ts"
import { OpenStreams } from "./OpenStreams.ts"
import {
  type Following,
  lost,
  type Message,
  namedTurn,
  otherMessage,
  readMessage,
  stopped,
  textOf,
  Turn
} from "./Turn.ts"

/** A listener's principal, and when the credential expires that it listens with. */
type Hearer = Pick<Caller, "credentialId" | "expiresAt" | "principal" | "scopes">

/** Proxies close idle connections; a model may be silent for longer than they allow. */
const KEEP_ALIVE = Duration.seconds(15)
/** The renewal of claims, during which the holder learns of followers in other processes. */
const RENEWAL = Schedule.spaced("500 millis")
/** The poll of a follower. */
const FOLLOW = "250 millis"
const SWEEP = Schedule.spaced("1 minute")

/** The basis is a part of the key: a turn is reached only with the rights that it is made from. */
const keyOf = ({ anchorEntityId, organizationId }: Principal, basis: Basis, name: string): TurnKey => ({
  organizationId,
  anchorId: anchorEntityId,
  basis,
  name
})
/** The basis is also different for each person. */
const idOf = ({ basis, name }: TurnKey): string => `${basis.key} ${name}`

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
      organization: Organization,
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
      const names = yield* TurnNames
      const queries = yield* EntityQueryService
      const streams = yield* OpenStreams
      const scope = yield* Effect.scope
      /** The named turns that this process answers or follows. */
      const named = new Map<string, Turn>()
      const listeners = new Set<Listener>()
      yield* Effect.sync(() => {
        for (const listener of listeners) listener.keepAlive()
      }).pipe(Effect.schedule(Schedule.spaced(KEEP_ALIVE)), Effect.forkScoped)
      yield* Effect.ignore(names.sweep).pipe(Effect.schedule(SWEEP), Effect.forkScoped)

      const basisOf = (principal: Principal) =>
        Effect.provideService(queries.basis(principal), CurrentPrincipal, principal)

      /** The turn with this key in this process, unless its basis has expired. */
      const unexpired = (key: TurnKey) => {
        const turn = named.get(idOf(key))
        return turn !== undefined && Date.now() < turn.basis.expiresAt ? turn : undefined
      }

      const interrupt = (turn: Turn) => (turn.fiber === undefined ? Effect.void : Fiber.interrupt(turn.fiber))

      const leave = (turn: Turn, listener: Listener) =>
        Effect.suspend(() => {
          listeners.delete(listener)
          turn.listeners.delete(listener)
          const isNeeded = turn.key !== undefined && turn.following === undefined
          return isNeeded || turn.listeners.size > 0 ? Effect.void : interrupt(turn)
        })

      /** Adds a listener to a turn, until the scope closes or the listener's credential expires. */
      const listen = ({ expiresAt, principal }: Hearer, turn: Turn, after: number) =>
        Effect.map(
          Effect.acquireRelease(
            Effect.sync(() => {
              const listener = new Listener(turn, after)
              turn.listeners.add(listener)
              listeners.add(listener)
              const { organizationId } = principal
              const unwatch = streams.watch({ organizationId, expiresAt }, () => listener.close())
              return { listener, unwatch }
            }),
            ({ listener, unwatch }) => Effect.andThen(Effect.sync(unwatch), leave(turn, listener))
          ),
          ({ listener }) => listener
        )

      const answer = (turn: Turn) => {
        const { claim, message, principal } = turn
        const own = claim && {
          lease: claim.holder,
          persist: (save: Effect.Effect<void, Unavailable>, answer: Answer) =>
            Effect.flatMap(
              Effect.uninterruptible(names.endWith(save, claim, turn.kept(answer.events), answer)),
              // The next renewal ends a turn that has lost its claim.
              (isHeld) => (isHeld ? Effect.void : Effect.never)
            )
        }
        return agent
          .turn({ ...message, ...own, who: principal, changes: turn.changes })
          .pipe(Stream.runForEach((event) => Effect.sync(() => turn.publish(event))))
      }

      /**
       * Ends a claim whose answer isn't stored. A failure that the database or this process caused frees the name. Without
       * access the claim lapses by itself: by then, no other process listens.
       */
      const settle = (turn: Turn) =>
        Effect.suspend(() => {
          const { claim, events } = turn
          const last = events.at(-1)?.event
          const isStored = last?._tag === "done" || last === stopped
          if (claim === undefined || isStored || turn.isWithdrawn) return Effect.void
          const isFinal = last?._tag === "error" && last.reason !== "Unavailable"
          return Effect.ignore(isFinal ? names.end(claim, turn.kept()) : names.release(claim))
        })

      /** Follows the process that answers: true when its claim has lapsed, false when the turn is over. */
      const follow = Effect.fnUntraced(function* (turn: Turn, key: TurnKey) {
        turn.following ??= { holder: undefined, attempt: 0, read: 0 }
        while (true) {
          const { attempt, holder, read }: Following = turn.following
          const row = yield* names.follow(key, { holder, read })
          const isOther = row !== undefined && holder !== undefined && row.holder !== holder && row.attempt <= attempt
          if (row === undefined || isOther) turn.publish(stopped)
          else if (row.message !== textOf(turn.message)) turn.publish(otherMessage)
          else if (!row.live) return true
          else turn.receive(row)
          if (turn.isOver || turn.listeners.size === 0) return false
          yield* Effect.sleep(FOLLOW)
        }
      })

      const claimAndAnswer = Effect.fnUntraced(function* (turn: Turn, key: TurnKey) {
        const holder = randomBytes(16).toString("base64url")
        const isClaimed = yield* names.claim(key, holder, textOf(turn.message), turn.message.session).pipe(
          Effect.map((attempt) => attempt !== undefined && turn.answer({ ...key, holder }, attempt)),
          Effect.uninterruptible
        )
        if (isClaimed) yield* answer(turn)
        return isClaimed
      })

      /** Answers a turn, or follows the process that does; if that one dies, answers it instead. */
      const run = (turn: Turn) => {
        const { key } = turn
        if (key === undefined) return answer(turn)
        return Effect.gen(function* () {
          if (turn.following !== undefined && !(yield* follow(turn, key))) return
          while (!(yield* claimAndAnswer(turn, key)) && (yield* follow(turn, key)));
        }).pipe(Effect.catchTag("Unavailable", () => Effect.sync(() => turn.publish(lost))))
      }

      const start = (turn: Turn) => {
        const { epoch, organizationId } = turn.principal
        const access = { organizationId, epoch, expiresAt: turn.basis.expiresAt }
        const id = turn.key && idOf(turn.key)
        if (id !== undefined) named.set(id, turn)
        return run(turn).pipe(
          Effect.onInterrupt(() => Effect.sync(() => turn.publish(turn.onInterrupt))),
          // Wakes the listeners even if the agent ended without a last event.
          Effect.ensuring(Effect.sync(() => turn.finish())),
          Effect.raceFirst(
            Effect.andThen(
              streams.ended(access),
              Effect.sync(() => turn.withdraw())
            )
          ),
          Effect.ensuring(settle(turn)),
          Effect.ensuring(Effect.sync(() => id !== undefined && named.get(id) === turn && named.delete(id))),
          Effect.forkIn(scope),
          Effect.map((fiber) => {
            turn.fiber = fiber
            return turn
          })
        )
      }

      let renewed = true
      /** Renews the claims of this process, ends turns that have lost theirs, and writes events for followers. */
      const renew = Effect.gen(function* () {
        const held = [...named.values()].flatMap((turn) =>
          turn.claim === undefined ? [] : [{ turn, claim: turn.claim }]
        )
        if (held.length === 0) return
        const before = renewed
        renewed = false
        const rows = new Map((yield* names.renew(held.map(({ claim }) => claim))).map((row) => [row.holder, row]))
        renewed = true
        for (const { claim, turn } of held) {
          const row = rows.get(claim.holder)
          if (row === undefined) {
            // After a failure of the database, its crash may have removed the claim.
            turn.onInterrupt = before ? stopped : lost
            yield* Effect.forkIn(interrupt(turn), scope)
          } else if (row.followed) {
            yield* Effect.forkIn(
              turn.write((after, more) => names.write(claim, after, more)),
              scope
            )
          }
        }
      })
      yield* Effect.ignore(renew).pipe(Effect.schedule(RENEWAL), Effect.forkScoped)

      const asking = ({ credentialId, principal, scopes }: Hearer) => ({
        principal,
        changes: changingOf({ channel: "chat", credentialId }, scopes)
      })

      return Turns.of({
        begin: Effect.fnUntraced(function* (hearer, message, name) {
          const { principal } = hearer
          const basis = yield* basisOf(principal)
          const key = name === undefined ? undefined : keyOf(principal, basis, name)
          const existing = key === undefined ? undefined : unexpired(key)
          if (existing !== undefined && textOf(existing.message) !== textOf(message)) {
            return yield* new InvalidInput({ message: otherMessage.message })
          }
          return yield* listen(hearer, existing ?? (yield* start(new Turn(asking(hearer), basis, message, key))), 0)
        }),

        find: Effect.fnUntraced(function* (hearer, organization, name, after) {
          const { principal } = hearer
          const basis = yield* basisOf(principal)
          const key = keyOf(principal, basis, name)
          const existing = unexpired(key)
          if (existing !== undefined) return yield* listen(hearer, existing, after)
          const row = yield* names.follow(key, { holder: undefined, read: 0 })
          if (row === undefined || (row.ended && !row.live)) return undefined
          const turn = new Turn(asking(hearer), basis, { organization, ...readMessage(row.message) }, key)
          if (row.live) turn.receive(row)
          return yield* listen(hearer, unexpired(key) ?? (turn.isOver ? turn : yield* start(turn)), after)
        }),

        held: Effect.fnUntraced(function* (principal) {
          const rows = yield* names.list(keyOf(principal, yield* basisOf(principal), ""))
          return rows.map(({ ended, message, name }) => namedTurn(name, message, !ended))
        }),

        stop: Effect.fnUntraced(function* (principal, name) {
          const key = keyOf(principal, yield* basisOf(principal), name)
          const turn = named.get(idOf(key))
          if (turn !== undefined) {
            turn.onInterrupt = stopped
            yield* interrupt(turn)
          }
          return (yield* names.remove(key)) || turn !== undefined
        })
      })
    })
  )
}
