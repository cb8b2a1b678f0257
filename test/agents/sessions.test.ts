import { it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { Sessions } from "../../src/services/conversations/Sessions.ts"
import { ADMIN, agentOver, company, MEMBER, say } from "../support/agent.ts"
import { migratedDatabase } from "../support/database.ts"
import { contextIn, finds, inTurn, type MessagesServer, says, startMessages } from "../support/messages.ts"

let server: MessagesServer
beforeAll(async () => {
  server = await startMessages()
})
afterAll(() => server.close())

/** Runs with new instances of all services, as another process has them. */
const inAnotherProcess = (url: string, settings = {}) => Effect.provide(Layer.fresh(agentOver(server, url, settings)))

describe("a session", () => {
  it.live("continues in another process with the same focus", () =>
    Effect.gen(function* () {
      const url = yield* migratedDatabase
      const { first, organization } = yield* Effect.gen(function* () {
        const { organization } = yield* company
        server.reset(
          inTurn(
            finds("people", [["name", "ilike", "ada"]]),
            says("I found Ada Byron (Lead), Ada Byron (Lost) and Ada Lovelace. Which one?")
          )
        )
        return { organization, first: yield* say(organization, ADMIN, "who is Ada?") }
      }).pipe(inAnotherProcess(url))
      expect(first.done!.references).toHaveLength(3)
      expect(first.done!.session, "an id that begins with a hyphen reads as a flag").toMatch(/^[0-9a-f]{32}$/)
      yield* Effect.gen(function* () {
        server.reset(() => says("Ada Byron is lost."))
        yield* say(organization, ADMIN, "the second one", first.done!.session)
        const { body } = server.requests[0]!
        const focus = first.done!.references.map(({ id, name, type }) => ({ type, id, name }))
        expect(contextIn(body)).toMatchObject({ focus })
        expect(body.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"])
        expect(JSON.stringify(body.messages[1])).toContain("Which one?")
      }).pipe(inAnotherProcess(url))
    }).pipe(Effect.scoped)
  )

  it.live("belongs to one person: another person's id or an invented one begins a new session", () =>
    Effect.gen(function* () {
      const url = yield* migratedDatabase
      yield* Effect.gen(function* () {
        const { organization } = yield* company
        const other = yield* company
        server.reset(() => says("The merger is on."))
        const first = yield* say(organization, ADMIN, "the merger")
        for (const [whose, who] of [
          [organization, MEMBER],
          [other.organization, ADMIN]
        ] as const) {
          server.reset(() => says("Hello."))
          const second = yield* say(whose, who, "hello", first.done!.session)
          expect(second.done!.session).not.toBe(first.done!.session)
          expect(server.requests[0]!.raw).not.toContain("merger")
        }
        const third = yield* say(organization, ADMIN, "hello", "' OR true --")
        expect(third.done!.session).not.toBe(first.done!.session)
      }).pipe(inAnotherProcess(url))
    }).pipe(Effect.scoped)
  )

  it.live("serializes four concurrent turns in two processes", () =>
    Effect.gen(function* () {
      const url = yield* migratedDatabase
      const processes = [
        yield* Layer.build(Layer.fresh(agentOver(server, url))),
        yield* Layer.build(Layer.fresh(agentOver(server, url)))
      ]
      const { done, organization } = yield* Effect.gen(function* () {
        const { organization } = yield* company
        server.reset(() => says("Hello."))
        return { organization, done: (yield* say(organization, ADMIN, "hello")).done! }
      }).pipe(Effect.provideContext(processes[0]!))
      let [inFlight, most] = [0, 0]
      server.reset(async () => {
        inFlight += 1
        most = Math.max(most, inFlight)
        await new Promise((resolve) => setTimeout(resolve, 150))
        inFlight -= 1
        return says("Yes.")
      })
      const answers = yield* Effect.forEach(
        ["one", "two", "three", "four"],
        (text, index) =>
          say(organization, ADMIN, text, done.session).pipe(Effect.provideContext(processes[index % 2]!)),
        { concurrency: "unbounded" }
      )
      expect(answers.map(({ shown }) => shown)).toEqual(["Yes.", "Yes.", "Yes.", "Yes."])
      expect(most).toBe(1)
      const sessions = yield* Effect.provideContext(
        Sessions.useSync((service) => service),
        processes[0]!
      )
      const { turns } = yield* sessions.show(organization, done.session)
      expect(turns.map(({ asked }) => asked).sort()).toEqual(["four", "hello", "one", "three", "two"])
      // Each turn received the turns before it.
      expect(server.requests.map(({ body }) => body.messages.length).sort()).toEqual([3, 5, 7, 9])
    }).pipe(Effect.scoped)
  )

  it.live("continues after the answering process died, when its lease expires", () =>
    Effect.gen(function* () {
      const url = yield* migratedDatabase
      yield* Effect.gen(function* () {
        const { organization } = yield* company
        const { owner } = yield* Database
        server.reset(() => says("Hello."))
        const { done } = yield* say(organization, ADMIN, "hello")
        yield* owner`UPDATE max.sessions SET lease = 'of a process that died', leased_until = clock_timestamp() + interval '700 milliseconds'`
        expect((yield* say(organization, ADMIN, "hello?", done!.session)).shown).toBe("Hello.")
        yield* owner`UPDATE max.sessions SET lease = 'of one that lives', leased_until = clock_timestamp() + interval '1 minute'`
        expect((yield* say(organization, ADMIN, "hello?", done!.session)).error).toMatchObject({ reason: "Timeout" })
      }).pipe(inAnotherProcess(url, { turnSeconds: 2 }))
    }).pipe(Effect.scoped)
  )

  it.live("stores texts and references but no tool results, and can be listed, shown, deleted and pruned", () =>
    Effect.gen(function* () {
      const url = yield* migratedDatabase
      yield* Effect.gen(function* () {
        const { organization } = yield* company
        const { owner } = yield* Database
        const sessions = yield* Sessions
        server.reset(
          inTurn(
            finds("people", [], { selectColumns: ["phone", "email"] }),
            says("There are five people."),
            says("Hello.")
          )
        )
        const { done } = yield* say(organization, ADMIN, "who is there?")
        const [row] = yield* owner<{
          kept: string
        }>`SELECT (SELECT json_agg(t)::text FROM max.turns t) || (SELECT json_agg(s)::text FROM max.sessions s) AS kept`
        expect(row!.kept).toContain("There are five people.")
        for (const secret of ["0142", "analytical.example", "Lovelace"]) expect(row!.kept).not.toContain(secret)
        expect(yield* sessions.list(organization)).toMatchObject([{ id: done!.session, turns: 1 }])
        yield* owner`UPDATE max.sessions SET updated_at = now() - interval '31 days'`
        const second = yield* say(organization, ADMIN, "hello")
        expect((yield* sessions.list(organization)).map(({ id }) => id)).toEqual([second.done!.session])
        yield* sessions.remove(organization, second.done!.session)
        expect(yield* sessions.list(organization)).toEqual([])
        expect((yield* Effect.flip(sessions.show(organization, second.done!.session)))._tag).toBe("OperatorError")
      }).pipe(inAnotherProcess(url))
    }).pipe(Effect.scoped)
  )
})
