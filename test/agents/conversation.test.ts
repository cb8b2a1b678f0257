import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { afterAll, expect } from "vitest"
import { agentFor, say, turn, heard } from "../support/agent.ts"
import { addPeople, asMember, makeOrganization } from "../support/atlas.ts"
import { calls, contextIn, finds, inTurn, resultsIn, says, startMessages } from "../support/messages.ts"

const server = await startMessages()
afterAll(() => server.close())
const admin = "admin@atlas.example"

const atlas = Effect.gen(function* () {
  const organization = yield* makeOrganization(`atlas-${Math.random().toString(36).slice(2)}`)
  yield* addPeople(organization, [
    { name: "Ada Lovelace", status: "Customer", phone: "+1 512-555-0142", email: "ada@analytical.example" },
    { name: "Ada Byron", status: "Lead", phone: "+1 512-555-0143" },
    { name: "Ada Byron", status: "Lost", phone: "+1 512-555-0144" }
  ])
  yield* asMember(organization, admin, "admin")
  server.reset()
  return organization
})

layer(agentFor(server), { excludeTestServices: true })("a conversation", (it) => {
  it.effect("looks up a person, and resolves a pronoun in the next question", () =>
    Effect.gen(function* () {
      const organization = yield* atlas
      server.script = inTurn(
        finds("people", [["name", "eq", "Ada Lovelace"]]),
        says("Ada Lovelace is a customer."),
        (request) => {
          const { focus } = contextIn(request) as { focus: ReadonlyArray<{ id: string }> }
          return finds("people", [["id", "eq", focus[0]!.id]], { selectColumns: ["phone"] })
        },
        says("Her phone number is (512) 555-0142.")
      )
      const first = yield* say(organization, admin, "who is Ada Lovelace?")
      expect(first.events.map((event) => event._tag).filter((tag) => tag !== "delta")).toEqual(["tool", "done"])
      expect(first.events[0]).toEqual({ _tag: "tool", message: "Looking up people…" })
      expect(first).toMatchObject({
        shown: "Ada Lovelace is a customer.",
        done: { text: "Ada Lovelace is a customer." }
      })
      expect(first.done!.references).toMatchObject([{ type: "people", name: "Ada Lovelace" }])
      const second = yield* say(organization, admin, "and her phone?", first.done!.session)
      expect(second.shown).toBe("Her phone number is (512) 555-0142.")
      expect(second.done!.references).toMatchObject([{ id: first.done!.references[0]!.id, name: "Ada Lovelace" }])
      expect(second.done!.session).toBe(first.done!.session)
      expect(server.requests).toHaveLength(4)
      // Counts the JSON as sent, which is more than the model's input.
      const tokens = server.requests.map(
        ({ body }) => encode(JSON.stringify([body.system, body.tools, body.messages])).length
      )
      console.log(`two questions: ${tokens.join(" + ")} o200k tokens in`)
      expect(tokens.reduce((sum, one) => sum + one)).toBeLessThanOrEqual(4000)
      const { types } = contextIn(server.requests[0]!.body) as { readonly types: unknown }
      expect(encode(JSON.stringify(types)).length).toBeLessThanOrEqual(120)
      expect(server.requests.every((request) => request.rejected === undefined)).toBe(true)
      expect(resultsIn(server.requests[3]!.body)[0]).toContain("512-555-0142")
    })
  )

  it.effect("offers choices among namesakes, and passes a choice to the model as its number", () =>
    Effect.gen(function* () {
      const organization = yield* atlas
      server.script = inTurn(
        finds("people", [["name", "ilike", "ada"]]),
        says("I found Ada Lovelace, Ada Byron (Lead) and Ada Byron (Lost). Which one do you mean?"),
        says("You chose one.")
      )
      const first = yield* say(organization, admin, "who is Ada?")
      const matches = first.events.find((event) => event._tag === "matches")
      expect(matches).toMatchObject({
        choices: [
          { name: "Ada Lovelace" },
          { name: "Ada Byron", status: "Lead" },
          { name: "Ada Byron", status: "Lost" }
        ]
      })
      const choice = (matches as { choices: ReadonlyArray<{ handle: string }> }).choices[1]!.handle
      const who = { kind: "email", key: admin } as const
      yield* turn({ organization, who, session: first.done!.session, say: { choice } })
      const last = server.requests.at(-1)!.body.messages.at(-1)!
      expect(JSON.stringify(last.content)).toContain("number 2")
      const before = server.requests.length
      const wrong = heard(
        yield* turn({ organization, who, session: first.done!.session, say: { choice: "people/zzz" } })
      )
      expect(wrong.error).toMatchObject({ reason: "InvalidInput" })
      expect(server.requests).toHaveLength(before)
    })
  )

  it.effect("runs a step's tool calls concurrently and answers every call", () =>
    Effect.gen(function* () {
      const organization = yield* atlas
      server.script = inTurn(
        calls(
          ["listEntityTypes", {}],
          ["listColumnsForType", { entityTypeId: "people" }],
          ["findEntities", { entityTypeId: "people", filters: [], limit: 0 }]
        ),
        says("There are 4 people.")
      )
      const answered = yield* say(organization, admin, "how many people are there?")
      expect(answered.shown).toBe("There are 4 people.")
      expect(answered.done!.references).toEqual([])
      expect(resultsIn(server.requests[1]!.body)).toHaveLength(3)
    })
  )
})
