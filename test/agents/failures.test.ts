import { layer } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { afterAll, expect } from "vitest"
import { MaxAgent } from "../../src/agents/MaxAgent.ts"
import { SENTENCES } from "../../src/agents/sentences.ts"
import { Database } from "../../src/database/Database.ts"
import { Sessions } from "../../src/services/conversations/Sessions.ts"
import { ADMIN, agentFor, company, say } from "../support/agent.ts"
import { calls, finds, inTurn, says, startMessages } from "../support/messages.ts"
import { until } from "../support/until.ts"

const server = await startMessages()
afterAll(() => server.close())
const busy = { status: 529, error: "overloaded_error", headers: { "retry-after-ms": "10" } } as const

layer(agentFor(server, { turnSeconds: 6 }), { excludeTestServices: true })("a failing turn", (it) => {
  it.effect("retries while the model is busy, then replies that it is busy", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      server.reset(inTurn(busy, busy, says("Hello.")))
      expect((yield* say(organization, ADMIN, "hello")).shown).toBe("Hello.")
      server.reset(() => busy)
      const failed = yield* say(organization, ADMIN, "hello")
      expect(failed.error).toMatchObject({ reason: "Model" })
      expect(failed.error!.message).toMatch(/^I'm too busy to answer right now\. .* \(ref [0-9A-HJKMNP-TV-Z]{4}\)$/)
    })
  )

  it.effect("retracts the text of a broken stream and repeats the step once", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      for (const death of [{ diesAfter: 4 }, { failsAfter: 4 }]) {
        server.reset(inTurn(says("You are the first of many people here.", death), says("Hello again.")))
        const answered = yield* say(organization, ADMIN, "hello")
        expect(answered.events.some((event) => event._tag === "retract")).toBe(true)
        expect(answered.shown).toBe("Hello again.")
      }
      server.reset(() => says("You are the first of many people here.", { diesAfter: 4 }))
      const failed = yield* say(organization, ADMIN, "hello")
      expect([failed.shown, failed.error?.reason, server.requests.length]).toEqual(["", "Model", 2])
    })
  )

  it.effect("replies plainly when the model refuses, and says so when the reply was cut off", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      server.reset(() => says("I will not", { stop: "refusal" }))
      expect((yield* say(organization, ADMIN, "do harm")).shown).toBe(SENTENCES.refused)
      server.reset(() => says("There is much to say about it and", { stop: "max_tokens" }))
      expect((yield* say(organization, ADMIN, "tell me")).shown).toBe(
        `There is much to say about it and ${SENTENCES.stopped}`
      )
    })
  )

  it.effect("stops a model that loops at the maximum number of steps", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      server.reset(() => finds("people", []))
      const failed = yield* say(organization, ADMIN, "loop")
      expect(failed.error).toMatchObject({ reason: "Budget", message: SENTENCES.turnIsSpent })
      expect(server.requests).toHaveLength(6)
    })
  )

  it.effect("answers unknown tools, malformed JSON and invalid input, so that the model can correct itself", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      server.reset(
        inTurn(
          {
            content: [
              ...calls(["dropTables", {}], ["findEntities", { type: "people" }]).content!,
              { type: "broken_tool_use", name: "findEntities", json: '{"entityTypeId": ' }
            ]
          },
          says("Sorry, once more please.")
        )
      )
      expect((yield* say(organization, ADMIN, "hi")).shown).toBe("Sorry, once more please.")
      expect(server.requests[1]!.rejected).toBeUndefined()
      expect(server.requests[1]!.raw.match(/"is_error":true/g)).toHaveLength(3)
    })
  )

  it.effect("asks once for a corrected reply, then removes the failing sentences and says so", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      server.reset(inTurn(says("Her address is made@up.example."), says("I don't know her address.")))
      const better = yield* say(organization, ADMIN, "her address?")
      expect(better.shown).toBe("I don't know her address.")
      expect(server.requests[1]!.raw).toContain("made@up.example")
      expect(server.requests[1]!.raw).toContain("occurs neither in a result")
      server.reset(() => says("There is good news. Her address is made@up.example. Ask me for more."))
      const cleaned = yield* say(organization, ADMIN, "her address?")
      expect(cleaned.shown).toBe(`There is good news. Ask me for more. ${SENTENCES.leftOut}`)
      expect(cleaned.everShown).not.toContain("made@up")
      server.reset(() => says("Her address is made@up.example."))
      expect((yield* say(organization, ADMIN, "her address?")).shown).toBe(SENTENCES.nothingLeft)
      expect(server.requests).toHaveLength(2)
    })
  )

  it.effect("retracts text that the model writes before a tool call", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      server.reset(
        inTurn(
          { content: [{ type: "text", text: "Let me look that up for you. " }, ...finds("people", []).content!] },
          says("There are people.")
        )
      )
      const answered = yield* say(organization, ADMIN, "people?")
      expect([answered.shown, answered.done!.text]).toEqual(["There are people.", "There are people."])
    })
  )

  it.effect("stops at its deadline and aborts the model request", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      server.reset(() => says("slow ".repeat(400), { pace: 50 }))
      const failed = yield* say(organization, ADMIN, "slow")
      expect(failed.error).toMatchObject({ reason: "Timeout" })
      expect([failed.everShown.slice(0, 9), failed.shown]).toEqual(["slow slow", ""])
      yield* Effect.promise(() => until(() => server.requests[0]!.aborted))
    })
  )

  it.effect("aborts the model request on interruption, stores nothing and releases the session", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      const agent = yield* MaxAgent
      const sessions = yield* Sessions
      server.reset(() => says("Hello."))
      const { done } = yield* say(organization, ADMIN, "hello")
      server.reset(() => says("slow ".repeat(400), { pace: 50 }))
      const input = {
        organization,
        who: { kind: "email", key: ADMIN },
        session: done!.session,
        say: { text: "slow" }
      } as const
      const fiber = yield* Effect.forkChild(Stream.runDrain(agent.turn(input)))
      yield* Effect.promise(() => until(() => server.requests[0] !== undefined && server.requests[0].sentAt.length > 3))
      yield* Fiber.interrupt(fiber)
      yield* Effect.promise(() => until(() => server.requests[0]!.aborted))
      expect((yield* sessions.show(organization, done!.session)).turns).toHaveLength(1)
      server.reset(() => says("Here again."))
      expect((yield* say(organization, ADMIN, "hello?", done!.session)).shown).toBe("Here again.")
    })
  )

  it.effect("replies that lookups are unavailable when the database fails", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      const { owner } = yield* Database
      server.reset(inTurn(finds("people", [["name", "eq", "Ada Lovelace"]]), says("No person has that name.")))
      yield* owner.unsafe("ALTER TABLE data.people RENAME TO people_gone")
      const failed = yield* say(organization, ADMIN, "who is Ada Lovelace?").pipe(
        Effect.ensuring(Effect.orDie(owner.unsafe("ALTER TABLE data.people_gone RENAME TO people")))
      )
      expect(failed.error).toMatchObject({ reason: "Unavailable" })
      expect(failed.error!.message).toMatch(/^I can't look things up right now\. Please try again in a minute\. \(ref /)
      expect(failed.everShown).toBe("")
    })
  )
})
