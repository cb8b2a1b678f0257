import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { afterAll, expect } from "vitest"
import { SENTENCES } from "../../src/agents/sentences.ts"
import { Database } from "../../src/database/Database.ts"
import { Spending } from "../../src/services/conversations/Spending.ts"
import { ADMIN, agentFor, agentOver, company, MEMBER, say } from "../support/agent.ts"
import { migratedDatabase } from "../support/database.ts"
import { finds, inTurn, resultsIn, says, startMessages } from "../support/messages.ts"
import { addPeople } from "../support/atlas.ts"

const server = await startMessages()
afterAll(() => server.close())

layer(agentFor(server, { dayTurns: 3, dayTokens: 100_000, turnTokens: 20_000 }), {
  excludeTestServices: true
})("the day's budget", (it) => {
  it.effect("refuses a turn when it is exhausted, without a model request, and is separate for each organization", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      server.reset(() => says("Hello."))
      for (let turn = 0; turn < 3; turn++) expect((yield* say(organization, ADMIN, "hello")).shown).toBe("Hello.")
      server.reset()
      expect((yield* say(organization, MEMBER, "hello")).events).toEqual([
        { _tag: "error", reason: "Budget", message: SENTENCES.dayIsSpent }
      ])
      expect(server.requests).toEqual([])
      const other = yield* company
      server.reset(() => says("Hello."))
      expect((yield* say(other.organization, ADMIN, "hello")).shown).toBe("Hello.")
    })
  )

  it.effect("books the tokens used and returns the unused reservation", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      const spending = yield* Spending
      const { owner } = yield* Database
      server.reset(
        inTurn(
          { ...finds("people", []), usage: { input_tokens: 900, output_tokens: 30 } },
          says("There are people.", { usage: { input_tokens: 1100, output_tokens: 20 } })
        )
      )
      const { done } = yield* say(organization, ADMIN, "people?")
      expect(done!.usage).toEqual({ model: "claude-haiku-5-5", steps: 2, inputTokens: 2000, outputTokens: 50 })
      server.reset(() => says("Hello.", { usage: { input_tokens: 500, output_tokens: 5 } }))
      yield* say(organization, MEMBER, "hello")
      const [day] = yield* owner<{
        turns: number
        tokens: bigint
      }>`SELECT turns, tokens FROM max.spending WHERE organization_id = ${organization.id}`
      expect(day).toMatchObject({ turns: 2, tokens: 2555n })
      expect(yield* spending.report(organization, 1, "model")).toEqual([
        {
          model: "claude-haiku-5-5",
          turns: 2,
          answered: 2,
          declined: 0,
          failed: 0,
          inputTokens: 2500,
          outputTokens: 55
        }
      ])
      expect((yield* spending.report(organization, 30, "person")).map(({ turns }) => turns)).toEqual([1, 1])
    })
  )

  it.effect("books the estimated input of a failed turn", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      const spending = yield* Spending
      server.reset(() => says("It is a long story.", { diesAfter: 2 }))
      expect((yield* say(organization, ADMIN, "hello")).error?.reason).toBe("Model")
      const [spent] = yield* spending.report(organization, 1, "model")
      expect(spent).toMatchObject({ turns: 1, answered: 0, failed: 1 })
      expect(spent!.inputTokens).toBeGreaterThan(1000)
    })
  )
})

layer(agentFor(server, { turnTokens: 3000 }), { excludeTestServices: true })("a turn's budget", (it) => {
  it.effect("refuses a step when its tokens are exhausted", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      server.reset(() => ({ ...finds("people", []), usage: { input_tokens: 1000, output_tokens: 50 } }))
      const failed = yield* say(organization, ADMIN, "people?")
      expect(failed.error).toMatchObject({ reason: "Budget", message: SENTENCES.turnIsSpent })
      expect(server.requests.length).toBeLessThan(4)
    })
  )
})

layer(agentFor(server), { excludeTestServices: true })("a turn's row limit", (it) => {
  it.effect("is reported to the model when it is exhausted", () =>
    Effect.gen(function* () {
      const { organization } = yield* company
      yield* addPeople(
        organization,
        Array.from({ length: 40 }, (_, index) => ({ name: `Person ${index}` }))
      )
      server.reset(
        inTurn(...Array.from({ length: 5 }, () => finds("people", [], { limit: 25 })), says("That is what I have."))
      )
      expect((yield* say(organization, ADMIN, "everybody")).shown).toBe("That is what I have.")
      const last = server.requests.map(({ body }) => resultsIn(body)[0] ?? "")
      expect(last.filter((text) => text.startsWith("total"))).toHaveLength(4)
      expect(last.at(-1)).toMatch(/^That is all/)
    })
  )
})

layer(Layer.empty, { excludeTestServices: true })("the day's budget in several processes", (it) => {
  it.effect("admits exactly its number of concurrent turns", () =>
    Effect.gen(function* () {
      const url = yield* migratedDatabase
      const settings = { dayTurns: 30 }
      const processes = [
        yield* Layer.build(Layer.fresh(agentOver(server, url, settings))),
        yield* Layer.build(Layer.fresh(agentOver(server, url, settings)))
      ]
      const organization = yield* Effect.provideContext(
        Effect.map(company, (one) => one.organization),
        processes[0]!
      )
      const reservations = yield* Effect.forEach(
        Array.from({ length: 60 }, (_, index) => index),
        (index) =>
          Spending.use((spending) => spending.reserve(organization, 10, { turns: 30, tokens: 1_000_000 })).pipe(
            Effect.provideContext(processes[index % 2]!)
          ),
        { concurrency: "unbounded" }
      )
      expect(reservations.filter((one) => one !== undefined)).toHaveLength(30)
      const tokens = yield* Effect.forEach(
        Array.from({ length: 40 }, (_, index) => index),
        (index) =>
          Spending.use((spending) => spending.reserve(organization, 10, { turns: 1000, tokens: 450 })).pipe(
            Effect.provideContext(processes[index % 2]!)
          ),
        { concurrency: "unbounded" }
      )
      expect(tokens.filter((one) => one !== undefined)).toHaveLength(15)
    }).pipe(Effect.scoped)
  )
})
