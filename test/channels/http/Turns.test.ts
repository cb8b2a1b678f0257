/** Turns of a process, and of two over one database: who can listen to one, until when, and what ends it. */
import { layer } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Schedule, Scope, Stream } from "effect"
import { afterAll, beforeAll, beforeEach, expect } from "vitest"
import { decoded, type Listener } from "../../../src/channels/http/Listener.ts"
import { OpenStreams } from "../../../src/channels/http/OpenStreams.ts"
import { Turns } from "../../../src/channels/http/Turns.ts"
import { Database } from "../../../src/database/Database.ts"
import { Unavailable } from "../../../src/domain/errors.ts"
import { SENTENCES } from "../../../src/agents/sentences.ts"
import { IdentityResolver } from "../../../src/services/members/IdentityResolver.ts"
import { ADMIN, agentOver, company, MEMBER, publish } from "../../support/agent.ts"
import { migratedDatabase } from "../../support/database.ts"
import { type MessagesServer, says, startMessages } from "../../support/messages.ts"

let server: MessagesServer
beforeAll(async () => {
  server = await startMessages()
})
afterAll(() => server.close())
beforeEach(() => server.reset(() => says("Hello there.")))

/** An answer of minutes, so that what happens meanwhile happens before its end. */
const slowly = () => server.reset(() => says("A long story. ".repeat(100), { pace: 300, piece: 6 }))

const STOPPED = { _tag: "error", reason: "Stopped", message: "You stopped this answer." }
const CHANGED = { _tag: "error", reason: "Unavailable", message: SENTENCES.rightsChanged }
const LOST = { _tag: "error", reason: "Unavailable", message: Unavailable.error.message }
const OTHER = "A turn with this name and another message is in progress."

/** A process: its turns, and how it ends. */
const startProcess = Effect.gen(function* () {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const turns = Turns.layer.pipe(Layer.provide(OpenStreams.layer))
  const context = yield* Layer.buildWithScope(Layer.fresh(turns), scope)
  return { ...Context.get(context, Turns), end: Scope.close(scope, Exit.void) }
})

/** An organization, two processes, and people as they arrive with a credential. */
const start = Effect.gen(function* () {
  const { organization } = yield* company
  const identities = yield* IdentityResolver
  const hearer = Effect.fnUntraced(function* (email = ADMIN, more: object = {}) {
    const { principal } = yield* identities.admit(organization, { kind: "email", key: email })
    return { principal, scopes: ["chat"] as const, credentialId: "c", expiresAt: Date.now() + 86_400_000, ...more }
  })
  const message = (text: string) => ({ organization, say: { text }, session: undefined, after: undefined })
  return { a: yield* startProcess, b: yield* startProcess, hearer, message, organization }
})

/** All events until the stream ends. */
const all = (listener: Listener) =>
  Effect.map(Stream.runCollect(Stream.fromPull(Effect.succeed(listener.pull()))), (chunks) =>
    decoded([...chunks].map((bytes) => new TextDecoder().decode(bytes)).join("")).map(({ event, number }) => ({
      ...event,
      number
    }))
  )
const tags = (events: ReadonlyArray<{ readonly _tag: string }>) => [...new Set(events.map(({ _tag }) => _tag))]
/** Waits for the first event of a turn. */
const begun = (listener: Listener) => listener.peek()
const eventually = Effect.fnUntraced(function* (isTrue: () => boolean) {
  while (!isTrue()) yield* Effect.sleep(10)
})
const sql = Effect.map(Database, ({ owner }) => owner)

const settings = { turnSeconds: 120, dayTurns: 10_000, dayTokens: 100_000_000 }
const Site = Layer.unwrap(Effect.suspend(() => Effect.map(migratedDatabase, (url) => agentOver(server, url, settings))))

layer(Site, { excludeTestServices: true })("a turn", (it) => {
  it.effect("without a name is answered for its listener, and its model call ends with the last one", () =>
    Effect.gen(function* () {
      const { a, hearer, message } = yield* start
      const me = yield* hearer()
      const events = yield* Effect.scoped(Effect.flatMap(a.begin(me, message("hello"), undefined), all))
      expect(events.at(-1)).toMatchObject({ _tag: "done", text: "Hello there." })
      expect(yield* a.held(me.principal)).toEqual([])
      slowly()
      yield* Effect.scoped(Effect.flatMap(a.begin(me, message("a story"), undefined), begun))
      yield* eventually(() => server.requests[0]!.aborted)
    })
  )

  it.effect("with a name is answered once, continues without listeners, and is found again at each process", () =>
    Effect.gen(function* () {
      const { a, b, hearer, message } = yield* start
      const me = yield* hearer()
      server.reset(() => says("A short story. ".repeat(3), { pace: 20, piece: 6 }))
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* begun(yield* a.begin(me, message("a story"), "one"))
          yield* begun(yield* a.begin(me, message("a story"), "one"))
          const other = yield* Effect.flip(a.begin(me, message("another"), "one"))
          expect([other._tag, other.message]).toEqual(["InvalidInput", OTHER])
          expect(yield* a.held(me.principal)).toEqual([{ turn: "one", asked: "a story", answering: true }])
        })
      )
      while ((yield* b.held(me.principal))[0]!.answering) yield* Effect.sleep(20)
      expect(yield* b.held(me.principal)).toEqual([{ turn: "one", asked: "a story", answering: false }])
      const found = (process: typeof a, after: number, by = me) =>
        Effect.scoped(
          Effect.flatMap(process.find(by, message("").organization, "one", after), (listener) =>
            listener === undefined ? Effect.succeed(undefined) : all(listener)
          )
        )
      const events = (yield* found(a, 0))!
      expect(events.at(-1)).toMatchObject({ _tag: "done", text: "A short story. ".repeat(3).trim() })
      expect(yield* found(b, 0)).toEqual(events)
      expect(yield* found(b, events[0]!.number)).toEqual(events.slice(1))
      expect(server.requests).toHaveLength(1)
      const same = yield* Effect.scoped(Effect.flatMap(b.begin(me, message("a story"), "one"), all))
      expect([same, server.requests.length]).toEqual([events, 1])
      const other = yield* hearer(MEMBER)
      expect([yield* found(a, 0, other), yield* a.held(other.principal)]).toEqual([undefined, []])
      expect(yield* a.stop(other.principal, "one")).toBe(false)
    })
  )

  it.effect("belongs to its person and its name, also while it is answered", () =>
    Effect.gen(function* () {
      const { a, hearer, message, organization } = yield* start
      const [me, other] = [yield* hearer(), yield* hearer(MEMBER)]
      slowly()
      const one = yield* a.begin(me, message("a story"), "one")
      yield* begun(one)
      expect(yield* a.find(other, organization, "one", 0)).toBeUndefined()
      expect([yield* a.held(other.principal), yield* a.stop(other.principal, "one")]).toEqual([[], false])
      yield* begun(yield* a.begin(other, message("a story"), "one"))
      yield* begun(yield* a.begin(me, message("a story"), "two"))
      expect(server.requests).toHaveLength(3)
      expect(yield* a.stop(other.principal, "one")).toBe(true)
      expect(yield* a.stop(me.principal, "two")).toBe(true)
      expect(yield* a.held(me.principal)).toEqual([{ turn: "one", asked: "a story", answering: true }])
      yield* eventually(() => server.requests[1]!.aborted && server.requests[2]!.aborted)
      expect(server.requests[0]!.aborted).toBe(false)
    })
  )

  it.effect("is followed at another process while it is answered, and refused there with another message", () =>
    Effect.gen(function* () {
      const { a, b, hearer, message, organization } = yield* start
      const me = yield* hearer()
      slowly()
      const one = yield* a.begin(me, message("a story"), "live")
      yield* begun(one)
      const two = yield* b.begin(me, message("a story"), "live")
      const three = (yield* b.find(me, organization, "live", 0))!
      for (const listener of [two, three]) expect(yield* begun(listener)).toEqual(yield* begun(one))
      const refused = yield* Effect.flatMap(b.begin(yield* hearer(), message("another"), "live"), all).pipe(
        Effect.scoped,
        Effect.catchTag("InvalidInput", ({ message, _tag }) => Effect.succeed([{ _tag, message, number: 0 }]))
      )
      expect(refused.at(-1)!).toMatchObject({ message: OTHER })
      const ends = yield* Effect.forEach([one, two, three], (listener) => Effect.forkChild(all(listener)))
      expect(yield* b.stop(me.principal, "live")).toBe(true)
      for (const end of ends) expect((yield* Fiber.join(end)).at(-1)).toMatchObject(STOPPED)
      yield* eventually(() => server.requests[0]!.aborted)
      // Each process forgets the turn after its listeners have heard the end.
      while (yield* a.stop(me.principal, "live")) yield* Effect.sleep(10)
      expect(yield* b.held(me.principal)).toEqual([])
      expect(server.requests).toHaveLength(1)
    })
  )

  it.effect("is answered by another process that follows it when its own ends", () =>
    Effect.gen(function* () {
      const { a, b, hearer, message } = yield* start
      const me = yield* hearer()
      slowly()
      yield* begun(yield* a.begin(me, message("a story"), "moved"))
      const two = yield* b.begin(me, message("a story"), "moved")
      yield* begun(two)
      server.reset(() => says("Another story."))
      yield* a.end
      const events = yield* all(two)
      expect(events.at(-1)).toMatchObject({ _tag: "done", text: "Another story." })
      expect(tags(events)).toContain("retract")
    })
  )

  it.effect("is answered by another process that has found it when its own ends", () =>
    Effect.gen(function* () {
      const { a, b, hearer, message, organization } = yield* start
      const me = yield* hearer()
      slowly()
      yield* begun(yield* a.begin(me, message("a story"), "found"))
      const found = (yield* b.find(me, organization, "found", 0))!
      yield* begun(found)
      server.reset(() => says("Another story."))
      yield* a.end
      expect((yield* all(found)).at(-1)).toMatchObject({ _tag: "done", text: "Another story." })
    })
  )

  it.effect("is followed until it ends, by each listener until that one leaves", () =>
    Effect.gen(function* () {
      const { a, b, hearer, message } = yield* start
      const me = yield* hearer()
      server.reset(() => says("A short story. ".repeat(10), { pace: 100, piece: 6 }))
      yield* begun(yield* a.begin(me, message("a story"), "shared"))
      const two = yield* b.begin(me, message("a story"), "shared")
      yield* Effect.scoped(Effect.flatMap(b.begin(me, message("a story"), "shared"), begun))
      const heard = yield* all(two)
      expect(heard.at(-1)).toMatchObject({ _tag: "done", text: "A short story. ".repeat(10).trim() })
      // Each poll reads what is new.
      expect(heard.map(({ number }) => number)).toEqual(heard.map((_, index) => index + 1))
      // The follower forgets it, though its listener stays: another message is refused by the name's row, as an event.
      const refused = Effect.flatMap(b.begin(me, message("another"), "shared"), all).pipe(Effect.scoped)
      const events = yield* Effect.retry(refused, Schedule.spaced(20))
      expect(events.at(-1)).toMatchObject({ _tag: "error", message: OTHER })
      const other = yield* startProcess
      expect(yield* other.stop(me.principal, "shared")).toBe(true)
    })
  )

  it.effect("is stopped where it is followed when its own process stops it", () =>
    Effect.gen(function* () {
      const { a, b, hearer, message } = yield* start
      const me = yield* hearer()
      slowly()
      yield* begun(yield* a.begin(me, message("a story"), "both"))
      const two = yield* b.begin(me, message("a story"), "both")
      yield* begun(two)
      expect(yield* a.stop(me.principal, "both")).toBe(true)
      expect((yield* all(two)).at(-1)).toMatchObject(STOPPED)
      // The process that followed it doesn't answer it either: the name is free there.
      server.reset(() => says("Hello there."))
      const again = Effect.flatMap(b.begin(me, message("another"), "both"), all).pipe(Effect.scoped)
      expect((yield* Effect.retry(again, Schedule.spaced(20))).at(-1)).toMatchObject({
        _tag: "done",
        text: "Hello there."
      })
      expect(server.requests).toHaveLength(1)
    })
  )

  it.effect("of another process is followed to the next holder, and stopped for one that took its name", () =>
    Effect.gen(function* () {
      const { a, b, hearer, message } = yield* start
      const owner = yield* sql
      const me = yield* hearer()
      slowly()
      yield* begun(yield* b.begin(me, message("a story"), "own"))
      for (const name of ["next", "taken"]) yield* begun(yield* a.begin(me, message("a story"), name))
      const [next, taken] = [
        yield* b.begin(me, message("a story"), "next"),
        yield* b.begin(me, message("a story"), "taken")
      ]
      yield* begun(next)
      yield* begun(taken)
      // Neither holder is a process: the claim of the first one lapses, and is claimed by the process that follows it.
      yield* owner`UPDATE max.turn_names SET holder = 'next', attempt = 1, events = '' WHERE name = 'next'`
      yield* owner`UPDATE max.turn_names SET holder = 'taken' WHERE name = 'taken'`
      expect((yield* all(taken)).at(-1)).toMatchObject(STOPPED)
      server.reset(() => says("Another story."))
      expect((yield* all(next)).at(-1)).toMatchObject({ _tag: "done", text: "Another story." })
      // Meanwhile the process has renewed the claim of its own turn: no other one answers it.
      const asked = server.requests.length
      yield* begun(yield* a.begin(me, message("a story"), "own"))
      expect(server.requests).toHaveLength(asked)
    })
  )

  it.effect("fails when the database does, and isn't said to be stopped when its name was lost with it", () =>
    Effect.gen(function* () {
      const { a, hearer, message } = yield* start
      const owner = yield* sql
      const me = yield* hearer()
      slowly()
      const listener = yield* a.begin(me, message("a story"), "crash")
      yield* begun(listener)
      yield* owner`ALTER TABLE max.turn_names RENAME TO turn_names_away`
      const failed = yield* Effect.flatMap(a.begin(me, message("a story"), "fails"), all)
      expect(failed.at(-1)).toMatchObject(LOST)
      // Longer than the time between two renewals.
      yield* Effect.sleep("2 seconds")
      yield* owner`DELETE FROM max.turn_names_away WHERE name = 'crash'`
      yield* owner`ALTER TABLE max.turn_names_away RENAME TO turn_names`
      expect((yield* all(listener)).at(-1)).toMatchObject(LOST)
    })
  )

  it.effect("isn't found any more once the time to read its end is over", () =>
    Effect.gen(function* () {
      const { a, b, hearer, message, organization } = yield* start
      const owner = yield* sql
      const me = yield* hearer()
      yield* Effect.scoped(Effect.flatMap(a.begin(me, message("hello"), "read"), all))
      expect(yield* b.find(me, organization, "read", 0)).toBeDefined()
      yield* owner`UPDATE max.turn_names SET until = clock_timestamp() WHERE name = 'read'`
      expect(yield* b.find(me, organization, "read", 0)).toBeUndefined()
    })
  )

  it.effect("ends when its person stops it, and its name is free", () =>
    Effect.gen(function* () {
      const { a, hearer, message } = yield* start
      const me = yield* hearer()
      expect(yield* a.stop(me.principal, "none")).toBe(false)
      slowly()
      const listener = yield* a.begin(me, message("a story"), "stopped")
      yield* begun(listener)
      const end = yield* Effect.forkChild(all(listener))
      expect(yield* a.stop(me.principal, "stopped")).toBe(true)
      expect((yield* Fiber.join(end)).at(-1)).toMatchObject(STOPPED)
      expect(yield* a.held(me.principal)).toEqual([])
      server.reset(() => says("Hello there."))
      const again = yield* Effect.flatMap(a.begin(me, message("another"), "stopped"), all)
      expect(again.at(-1)).toMatchObject({ _tag: "done", text: "Hello there." })
    })
  )

  it.effect("ends with the rights that it was begun with, and nothing more of it is shown", () =>
    Effect.gen(function* () {
      const { a, hearer, message, organization } = yield* start
      const owner = yield* sql
      const me = yield* hearer()
      slowly()
      const listener = yield* a.begin(me, message("a story"), "rights")
      yield* begun(listener)
      const end = yield* Effect.forkChild(all(listener))
      yield* owner`UPDATE max.organizations SET epoch = epoch + 1 WHERE organization_id = ${organization.id}`
      expect((yield* Fiber.join(end)).at(-1)).toMatchObject(CHANGED)
      yield* eventually(() => server.requests[0]!.aborted)
      const later = yield* hearer()
      expect(yield* a.find(later, organization, "rights", 0)).toBeUndefined()
      expect(yield* a.held(later.principal)).toEqual([])
      expect(yield* a.stop(later.principal, "rights")).toBe(false)
    })
  )

  it.effect("is asked anew once a rule of its rights has ended, before anything else ends it", () =>
    Effect.gen(function* () {
      const { a, hearer, message, organization } = yield* start
      const owner = yield* sql
      const notAfter = Date.now() + 3_600_000
      const passing = { id: "passing", effect: "allow", role: "member", action: "read", type: "notes", columns: "*" }
      yield* publish(organization, (rules) => [...rules, { ...passing, notAfter: new Date(notAfter).toISOString() }])
      const me = yield* hearer(MEMBER)
      slowly()
      const first = yield* a.begin(me, message("a story"), "passing")
      yield* begun(first)
      // The first moment after the rule, by the clocks of the process and of the database; open streams end up to half a second later.
      const clock = Date.now
      yield* Effect.addFinalizer(() => Effect.sync(() => void (Date.now = clock)))
      Date.now = () => notAfter
      yield* owner`UPDATE max.turn_names SET expires_at = clock_timestamp() WHERE organization_id = ${organization.id}`
      expect(yield* a.held(me.principal)).toEqual([])
      yield* begun(yield* a.begin(me, message("a story"), "passing"))
      expect(server.requests).toHaveLength(2)
      expect((yield* all(first)).at(-1)).toMatchObject(CHANGED)
      // The end of the first leaves the second where it is.
      expect((yield* Effect.flip(a.begin(me, message("another"), "passing")))._tag).toBe("InvalidInput")
    })
  )

  it.effect("is heard until the listener's credential expires, without a last event", () =>
    Effect.gen(function* () {
      const { a, hearer, message } = yield* start
      slowly()
      const me = yield* hearer(ADMIN, { expiresAt: Date.now() })
      const events = yield* Effect.flatMap(a.begin(me, message("a story"), "expires"), all)
      expect(tags(events)).not.toContain("done")
      expect(tags(events)).not.toContain("error")
      expect(yield* a.stop(me.principal, "expires")).toBe(true)
    })
  )

  it.effect("that failed is found with its failure, and one that lost its name is stopped", () =>
    Effect.gen(function* () {
      const { a, b, hearer, message, organization } = yield* start
      const owner = yield* sql
      const me = yield* hearer()
      server.reset(() => ({ status: 400, error: "invalid_request_error" }))
      const failed = yield* Effect.flatMap(a.begin(me, message("hello"), "failed"), all)
      expect(failed.at(-1)).toMatchObject({ _tag: "error", reason: "Model" })
      expect(yield* Effect.flatMap(b.find(me, organization, "failed", 0), (listener) => all(listener!))).toEqual(failed)
      slowly()
      const listener = yield* a.begin(me, message("a story"), "lost")
      yield* begun(listener)
      yield* owner`UPDATE max.turn_names SET holder = 'another' WHERE name = 'lost'`
      expect((yield* all(listener)).at(-1)).toMatchObject(STOPPED)
    })
  )
})
