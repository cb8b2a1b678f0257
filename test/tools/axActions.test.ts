/** Actions for Ax: a typed signature for each, and several filled from one text, resolved by code and drafted. */
import { ai, type AxAIArgs } from "@ax-llm/ax"
import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { afterAll, beforeAll, expect } from "vitest"
import { CurrentPrincipal } from "../../src/domain/Principal.ts"
import type { ChangesFor } from "../../src/MaxChanges.ts"
import { Actions } from "../../src/services/actions/Actions.ts"
import { Changes } from "../../src/services/changes/Changes.ts"
import { describeAction } from "../../src/services/changes/describeAction.ts"
import { stepsOf } from "../../src/services/changes/steps.ts"
import { IdentityResolver } from "../../src/services/members/IdentityResolver.ts"
import { type ActionCaller, actionSignature, fillActions } from "../../src/tools/ax.ts"
import { addPeople } from "../support/atlas.ts"
import { changing, person, VIA } from "../support/changes.ts"
import { servicesWith } from "../support/database.ts"
import { says, startMessages } from "../support/messages.ts"
import { fileOf, startService } from "../support/service.ts"

let service: Awaited<ReturnType<typeof startService>>
const server = await startMessages()
beforeAll(async () => {
  service = await startService()
})
afterAll(() => Promise.all([service.stop(), server.close()]))

const Configured = Layer.unwrap(Effect.sync(() => servicesWith({ privateHosts: [service.host] })))
const RULES = [{ id: "buys", effect: "allow", role: "admin", action: "invoke", name: "set_quantity" }]
const FIELDS = [
  { slug: "text", name: "Buyer", kind: "reference", target: "people", sends: "name", needed: true },
  { slug: "quantity", name: "Quantity", kind: "integer", needed: true, min: 1 },
  { slug: "priority", name: "Priority", kind: "text", values: ["Low", "High"] }
]

const buyer = Effect.fnUntraced(function* (slug: string) {
  const { organization } = yield* changing(slug, RULES)
  const http = { url: `${service.url}/o`, method: "POST", body: { b: "{text}", q: "{quantity}", p: "{priority}" } }
  yield* (yield* Actions).publish(organization, fileOf(service.url, http, { fields: FIELDS }), "test")
  yield* addPeople(organization, [{ name: "Ada Lovelace" }, { name: "Ada Byron" }, { name: "Grace Hopper" }])
  const { preview } = yield* person(organization, `buyer@${slug}.example`, "admin")
  const { principal } = yield* (yield* IdentityResolver).admit(organization, { kind: "email", key: `buyer@${slug}.example` }) // prettier-ignore
  const changes = yield* Changes
  const run = <A>(effect: Effect.Effect<A, unknown, CurrentPrincipal>) =>
    Effect.runPromise(Effect.provideService(effect, CurrentPrincipal, principal))
  const caller: Pick<ChangesFor, "actions" | "choices"> & ActionCaller = {
    actions: () => run(Effect.map(changes.actions, (open) => open.map(describeAction))),
    choices: (actionId, asked) => run(changes.choices({ actionId, ...asked })),
    propose: (steps) => run(Effect.flatMap(Effect.fromResult(stepsOf(steps)), (read) => changes.propose({ steps: read, via: VIA }))) // prettier-ignore
  }
  return { caller, preview }
})

const model = () =>
  ai({
    name: "anthropic",
    apiKey: "sk-test",
    config: { model: "claude-haiku-5-5", stream: false },
    options: {
      fetch: (input: string | URL | Request, init?: RequestInit) =>
        fetch(new URL(new URL(input instanceof Request ? input.url : input).pathname, server.url), init)
    }
  } as unknown as AxAIArgs<string>)

const fills = (caller: ActionCaller, requests: unknown, unhandled = "") =>
  Effect.promise(() => {
    server.reset(() => says(`Requests: ${JSON.stringify(requests)}\nUnhandled Content: ${unhandled}`))
    return fillActions(caller).forward(model(), "Order 3 for Ada Lovelace and 5 for Grace. And what's for lunch?")
  })

layer(Configured, { excludeTestServices: true })("actions for Ax", (it) => {
  it.effect("have a typed signature each, made from the declaration", () =>
    Effect.gen(function* () {
      const { caller } = yield* buyer("signature")
      const actions = yield* Effect.promise(caller.actions)
      const text = actionSignature(actions.find(({ id }) => id === "set_quantity")!).toString()
      expect(text).toMatch(/text_value\?:string.*quantity_value\?:number.*priority_value\?:class "Low \| High"/)
      for (const action of actions) expect(actionSignature(action).toString()).toContain("personMessage:string")
    })
  )

  it.effect("are filled several at once and drafted as one change that waits, whatever the model says of itself", () =>
    Effect.gen(function* () {
      const { caller, preview } = yield* buyer("several-at-once")
      const filled = yield* fills(
        caller,
        [
          { actionId: "set_quantity", confidence: 0.99, values: { text_value: "Ada Lovelace", quantity_value: 3, confidence: 1 } }, // prettier-ignore
          { actionId: "set_quantity", values: { text_value: "Grace", quantity_value: 5, priority_value: "High" } },
          { actionId: "drop_everything", values: { text_value: "x" } },
          "nonsense"
        ],
        "what's for lunch"
      )
      expect(JSON.stringify(filled)).not.toContain("onfidence")
      expect(filled).toMatchObject({
        unhandledContent: "what's for lunch",
        actions: [
          {
            drafted: true,
            fields: [
              { field: "quantity", resolution: "exact" },
              { field: "text", resolution: "exact" }
            ]
          },
          { drafted: true, fields: [{ field: "quantity" }, { field: "priority" }, { field: "text", said: "Grace", resolution: "only match" }] } // prettier-ignore
        ]
      })
      expect(filled.actions).toHaveLength(2)
      const shown = yield* preview(filled.changeId!)
      expect(shown).toMatchObject({ state: "open" })
      expect(shown.steps.map(({ cells }) => cells[0]!.becomes)).toEqual(["Ada Lovelace", "Grace Hopper"])
      expect(service.asked).toEqual([])
    })
  )

  it.effect("stay undrafted where a text fits several, fits none, is missing, or is refused by the service", () =>
    Effect.gen(function* () {
      const { caller } = yield* buyer("undrafted")
      const one = (values: object) => fills(caller, [{ actionId: "set_quantity", values }])
      const several = yield* one({ text_value: "Ada", quantity_value: 3 })
      expect(several.changeId).toBeUndefined()
      expect(several.actions[0]!.fields.find(({ field }) => field === "text")).toMatchObject({
        resolution: "several",
        choices: [{ name: "Ada Lovelace" }, { name: "Ada Byron" }]
      })
      for (const values of [{ text_value: "Noor", quantity_value: 3 }, { text_value: "Grace" }, {}]) {
        const filled = yield* one(values)
        expect(filled.changeId).toBeUndefined()
        expect(filled.actions[0]!.fields.some(({ resolution }) => resolution === "none")).toBe(true)
      }
      const refused = yield* one({ text_value: "Grace", quantity_value: 0 })
      expect(refused).toMatchObject({ refused: "Quantity: it must be at least 1.", actions: [{ drafted: false }] })
    })
  )
})
