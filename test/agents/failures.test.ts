import { layer } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { afterAll, expect } from "vitest"
import { MaxAgent } from "../../src/agents/MaxAgent.ts"
import { SENTENCES } from "../../src/agents/sentences.ts"
import { Database } from "../../src/database/Database.ts"
import { Sessions } from "../../src/services/conversations/Sessions.ts"
import { ADMIN, agentFor, company, say } from "../support/agent.ts"
import { calls, finds, inTurn, says, startMessages } from "../support/messages.ts"

const server = await startMessages()
afterAll(() => server.close())
const busy = { status: 529, error: "overloaded_error", headers: { "retry-after-ms": "10" } } as const

layer(agentFor(server, { turnSeconds: 6 }), { excludeTestServices: true, timeout: 60_000 })(
  "a turn that goes wrong",
  (it) => {
    it.effect("goes on when the model was only busy, and says so when it stays so", () =>
      Effect.gen(function* () {
        const { organization } = yield* company
        server.reset(inTurn(busy, busy, says("Hello.")))
        expect((yield* say(organization, ADMIN, "hello")).shown).toBe("Hello.")
        server.reset(() => busy)
        const failed = yield* say(organization, ADMIN, "hello")
        expect(failed.error).toMatchObject({ reason: "Model" })
        expect(failed.error!.message).toMatch(
          /^I can't think right now because too much is going on\. .* \(ref [0-9A-HJKMNP-TV-Z]{4}\)$/
        )
      })
    )

    it.effect("takes back what a dying stream had said and asks once more", () =>
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

    it.effect("says plainly that it won't, when the model refuses, and that it had to stop, when it was cut off", () =>
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

    it.effect("ends with a sentence when the model only goes around in circles", () =>
      Effect.gen(function* () {
        const { organization } = yield* company
        server.reset(() => finds("people", []))
        const failed = yield* say(organization, ADMIN, "loop")
        expect(failed.error).toMatchObject({ reason: "Budget", message: SENTENCES.turnIsSpent })
        expect(server.requests).toHaveLength(6)
      })
    )

    it.effect("answers unknown tools, broken inputs and wrong shapes, so that the model can do better", () =>
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

    it.effect("asks once more for a reply that fails, with the reason, then leaves that part out and says so", () =>
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

    it.effect("takes back what was said on the way to the tools", () =>
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

    it.effect(
      "ends at its deadline, and the request with it",
      () =>
        Effect.gen(function* () {
          const { organization } = yield* company
          server.reset(() => says("slow ".repeat(400), { pace: 50 }))
          const failed = yield* say(organization, ADMIN, "slow")
          expect(failed.error).toMatchObject({ reason: "Timeout" })
          expect([failed.everShown.slice(0, 9), failed.shown]).toEqual(["slow slow", ""])
          yield* Effect.sleep("100 millis")
          expect(server.requests[0]!.aborted).toBe(true)
        }),
      30_000
    )

    it.effect("ends the request when the person goes away, keeps nothing of it and gives the session back", () =>
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
        yield* Effect.sleep("400 millis")
        yield* Fiber.interrupt(fiber)
        yield* Effect.sleep("200 millis")
        expect(server.requests[0]!.aborted).toBe(true)
        expect((yield* sessions.show(organization, done!.session)).turns).toHaveLength(1)
        server.reset(() => says("Here again."))
        expect((yield* say(organization, ADMIN, "hello?", done!.session)).shown).toBe("Here again.")
      })
    )

    it.effect("never makes an answer of a database that fails", () =>
      Effect.gen(function* () {
        const { organization } = yield* company
        const { owner } = yield* Database
        server.reset(inTurn(finds("people", [["name", "eq", "Ada Lovelace"]]), says("There is nobody by that name.")))
        yield* owner.unsafe("ALTER TABLE data.people RENAME TO people_gone")
        const failed = yield* say(organization, ADMIN, "who is Ada Lovelace?").pipe(
          Effect.ensuring(Effect.orDie(owner.unsafe("ALTER TABLE data.people_gone RENAME TO people")))
        )
        expect(failed.error).toMatchObject({ reason: "Unavailable" })
        expect(failed.error!.message).toMatch(
          /^I can't look things up right now\. Please try again in a minute\. \(ref /
        )
        expect(failed.everShown).toBe("")
      })
    )
  }
)
