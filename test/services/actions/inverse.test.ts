/** Declared inverses: what another system has done is taken back by a change of its own, which a person confirms. */
import { layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import type { ServerResponse } from "node:http"
import { afterAll, beforeAll, describe, expect, it as test } from "vitest"
import { Actions } from "../../../src/services/actions/Actions.ts"
import { readActions } from "../../../src/services/actions/readActions.ts"
import { ChangeOutbox } from "../../../src/services/changes/calls/ChangeOutbox.ts"
import { changeLines } from "../../../src/channels/cli/changeView.ts"
import { addPeople } from "../../support/atlas.ts"
import { systemCatalog } from "../../support/catalog.ts"
import { changing, confirmed, type Person, person, valuesOf } from "../../support/changes.ts"
import { servicesWith } from "../../support/database.ts"
import { startService } from "../../support/service.ts"

let service: Awaited<ReturnType<typeof startService>>
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const Configured = Layer.unwrap(Effect.sync(() => servicesWith({ privateHosts: [service.host] })))

const ORDER = { slug: "order", name: "Order", kind: "text", needed: true, pattern: "[0-9]{2,4}" }
const SUPPLIER = { slug: "supplier", name: "Supplier", kind: "text", needed: true }
const INVERSE = { action: "delete_order", fields: { order: { result: "Order" } } }

const create = (url: string, rest: object = {}) => ({
  slug: "create_order",
  name: "Create an order",
  description: "Creates an order.",
  category: "write",
  fields: [SUPPLIER],
  http: {
    method: "POST",
    url: `${url}/orders`,
    body: { s: "{supplier}" },
    result: { Order: "/id" },
    key: "Idempotency-Key",
    problem: ["/why"]
  },
  ...rest
})
const remove = (url: string, rest: object = {}) => ({
  slug: "delete_order",
  name: "Delete an order",
  description: "Deletes an order.",
  category: "write",
  fields: [ORDER],
  http: { method: "DELETE", url: `${url}/orders/{order}`, once: true, problem: ["/why"] },
  ...rest
})
const notify = (url: string) => ({
  slug: "notify",
  name: "Notify the supplier",
  description: "Sends a notice.",
  category: "external",
  fields: [SUPPLIER],
  http: { method: "POST", url: `${url}/notices`, body: { s: "{supplier}" }, once: true, problem: ["/why"] }
})

const invoke = (role: string, name: string) => ({
  id: `${role}-${name}`,
  effect: "allow",
  role,
  action: "invoke",
  name
})
const RULES = [
  ...["create_order", "delete_order", "notify"].map((name) => invoke("admin", name)),
  { id: "people", effect: "allow", role: "admin", action: "update", type: "people", columns: "*" },
  invoke("rep", "create_order")
]

const buying = Effect.fnUntraced(function* (slug: string, inverse: object | undefined = INVERSE) {
  const { organization } = yield* changing(slug, RULES)
  const { url } = service
  const actions = [create(url, inverse === undefined ? {} : { inverse }), remove(url), notify(url)]
  yield* (yield* Actions).publish(organization, JSON.stringify({ version: 1, actions }), "test")
  return { organization, buyer: yield* person(organization, `buyer@${slug}.example`, "admin") }
})

const creating = (...more: ReadonlyArray<string>) => ({
  steps: ["create_order", ...more].map((actionId) => ({ actionId, values: valuesOf({ supplier: "17300001" }) }))
})

/** Confirms a change and sends its calls; the message of its receipt. */
const carriedOut = Effect.fnUntraced(function* (who: Person, draft: Parameters<typeof confirmed>[1]) {
  const outbox = yield* ChangeOutbox
  const waiting = yield* Effect.forkChild(confirmed(who, draft))
  // Several calls, each once the one before is done.
  const done = yield* Effect.raceFirst(
    Fiber.join(waiting),
    Effect.forever(Effect.andThen(outbox.deliver, Effect.yieldNow))
  )
  return done._tag === "Applied" ? done.receipt : undefined
})

const json = (response: ServerResponse, status: number, body: object) =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
const asked = () => service.asked.map(({ method, path }) => `${method} ${path}`)

layer(Configured, { excludeTestServices: true })("an action with a declared inverse", (it) => {
  it.effect(
    "is taken back by a change of its own with what the service answered, sent once and after a confirmation",
    () =>
      Effect.gen(function* () {
        service.answers((_, response) => json(response, 200, { id: "77" }))
        const { buyer } = yield* buying("inverse")
        const { changeId, ...draft } = yield* buyer.propose(creating())
        expect(yield* carriedOut(buyer, { changeId, ...draft })).toMatchObject({
          message: "“Create an order” is done (Order: 77).",
          invertible: true
        })
        const undo = yield* buyer.undo(changeId)
        expect(undo.preview).toMatchObject({
          state: "open",
          undoes: changeId,
          steps: [{ actionId: "delete_order", cells: [{ name: "Order", becomes: "77" }] }]
        })
        const outbox = yield* ChangeOutbox
        expect(yield* outbox.deliver).toBe(false)
        expect(asked()).toEqual(["POST /orders"])
        expect((yield* buyer.preview(changeId)).undoneBy).toBeUndefined()
        expect(yield* carriedOut(buyer, undo)).toMatchObject({ message: "“Delete an order” is done." })
        expect(asked()).toEqual(["POST /orders", "DELETE /orders/77"])
        expect((yield* buyer.preview(changeId)).undoneBy).toBe(undo.changeId)
        expect(yield* Effect.flip(buyer.undo(changeId))).toMatchObject({
          message: "This change has been undone already."
        })
        expect(yield* Effect.flip(buyer.undo(undo.changeId))).toMatchObject({
          message: "Another system has done this: it can't be undone here."
        })
      })
  )

  it.effect("is offered by a receipt which says that a later step wasn't done, and isn't run by itself", () =>
    Effect.gen(function* () {
      service.answers(({ path }, response) =>
        path === "/notices" ? json(response, 422, { why: "No address." }) : json(response, 200, { id: "78" })
      )
      const { buyer } = yield* buying("partly")
      const draft = yield* buyer.propose(creating("notify"))
      expect((yield* carriedOut(buyer, draft))?.message).toBe(
        "“Create an order” is done (Order: 78). “Notify the supplier” was refused: No address. Undo proposes to take back “Create an order”; you confirm that first."
      )
      expect((yield* buyer.preview(draft.changeId)).receipt).toMatchObject({ invertible: true })
      const outbox = yield* ChangeOutbox
      expect(yield* outbox.deliver).toBe(false)
      expect(asked()).toEqual(["POST /orders", "POST /notices"])
      const undo = yield* buyer.undo(draft.changeId)
      expect(undo.preview.steps.map(({ actionId }) => actionId)).toEqual(["delete_order"])
      expect(yield* outbox.deliver).toBe(false)
      yield* carriedOut(buyer, undo)
      expect(asked()).toEqual(["POST /orders", "POST /notices", "DELETE /orders/78"])
    })
  )

  it.effect("is named by an undo of rows that leaves it, on the card and in the receipt", () =>
    Effect.gen(function* () {
      const { buyer, organization } = yield* buying("remains")
      for (const [answered, status, name] of [
        [{}, 200, "Mara"],
        [{}, 302, "Nils"]
      ] as const) {
        service.answers(({ path }, response) =>
          path === "/notices" ? json(response, status, answered) : json(response, 200, { id: "91" })
        )
        const [id] = yield* addPeople(organization, [{ name, status: "New" }])
        const draft = yield* buyer.propose({
          steps: [
            { actionId: "people.update", entityIds: [id!], values: valuesOf({ status: "Supplier" }) },
            ...creating("notify").steps
          ]
        })
        expect((yield* carriedOut(buyer, draft))?.message).toContain("1 person changed")
        const undo = yield* buyer.undo(draft.changeId)
        expect(undo.preview.steps.map(({ actionId }) => actionId)).toEqual(["people.update", "delete_order"])
        expect(undo.preview.remains).toEqual(["Notify the supplier"])
        expect(changeLines(undo.preview).join("\n")).toContain(
          "“Notify the supplier” isn't taken back: it can't be undone here."
        )
        expect((yield* carriedOut(buyer, undo))?.message).toContain("“Notify the supplier” wasn't taken back.")
        expect((yield* buyer.preview(undo.changeId)).receipt?.message).toContain("wasn't taken back.")
      }
      // What was refused didn't happen: the undo leaves nothing.
      service.answers(({ path }, response) =>
        path === "/notices" ? json(response, 422, { why: "No." }) : json(response, 200, { id: "92" })
      )
      const draft = yield* buyer.propose(creating("notify"))
      yield* carriedOut(buyer, draft)
      expect((yield* buyer.undo(draft.changeId)).preview.remains).toBeUndefined()
    })
  )

  it.effect("can be taken back again after the service has refused its inverse", () =>
    Effect.gen(function* () {
      let refusals = 1
      service.answers(({ method }, response) =>
        method === "DELETE" && refusals-- > 0
          ? json(response, 409, { why: "It is locked." })
          : json(response, 200, { id: "79" })
      )
      const { buyer } = yield* buying("again")
      const draft = yield* buyer.propose(creating())
      yield* carriedOut(buyer, draft)
      expect(yield* carriedOut(buyer, yield* buyer.undo(draft.changeId))).toMatchObject({
        message: "“Delete an order” was refused: It is locked."
      })
      expect((yield* buyer.preview(draft.changeId)).undoneBy).toBeUndefined()
      yield* carriedOut(buyer, yield* buyer.undo(draft.changeId))
      expect((yield* buyer.preview(draft.changeId)).undoneBy).toBeDefined()
      expect(asked()).toEqual(["POST /orders", "DELETE /orders/79", "DELETE /orders/79"])
    })
  )

  it.effect("is taken back only by a person who may use the action that does it", () =>
    Effect.gen(function* () {
      service.answers((_, response) => json(response, 200, { id: "80" }))
      const { organization } = yield* buying("permitted")
      const rep = yield* person(organization, "rep@permitted.example", "rep")
      const draft = yield* rep.propose(creating())
      yield* carriedOut(rep, draft)
      expect(yield* Effect.flip(rep.undo(draft.changeId))).toMatchObject({
        _tag: "NotAllowed",
        message: "You may not take back “Create an order”."
      })
      expect(asked()).toEqual(["POST /orders"])
    })
  )

  it.effect("isn't taken back where the answer lacks the value, holds one that doesn't fit, or nothing was done", () =>
    Effect.gen(function* () {
      const { buyer, organization } = yield* buying("lacking")
      const after = Effect.fnUntraced(function* (body: object, status = 200) {
        service.answers((_, response) => json(response, status, body))
        const draft = yield* buyer.propose({ steps: [{ actionId: "create_order", values: valuesOf({ supplier: JSON.stringify(body).slice(0, 20) }) }] }) // prettier-ignore
        const receipt = yield* carriedOut(buyer, draft)
        return { receipt, error: yield* Effect.flip(buyer.undo(draft.changeId)) }
      })
      const CANT = { message: "Another system has done this: it can't be undone here." }
      const lacking = yield* after({ number: "81" })
      expect(lacking.error).toMatchObject(CANT)
      expect(lacking.receipt?.invertible).toBeUndefined()
      expect((yield* after({ id: "8".repeat(300) })).error).toMatchObject(CANT)
      expect((yield* after({ id: "../admin" })).error).toMatchObject({ _tag: "InvalidInput" })
      expect((yield* after({ why: "No." }, 422)).error).toMatchObject({
        message: "Nothing of this was done, so there is nothing to undo."
      })
      yield* (yield* Actions).publish(
        organization,
        JSON.stringify({ version: 1, actions: [create(service.url)] }),
        "test"
      )
      const again = yield* person(organization, "other@lacking.example", "admin")
      service.answers((_, response) => json(response, 200, { id: "82" }))
      const draft = yield* again.propose(creating())
      yield* carriedOut(again, draft)
      expect(yield* Effect.flip(again.undo(draft.changeId))).toMatchObject(CANT)
    })
  )
})

describe("the check of an inverse", () => {
  const url = "https://orders.example"
  const check = (...actions: ReadonlyArray<object>) => {
    const read = readActions(JSON.stringify({ version: 1, actions }), { catalog: systemCatalog, hosts: [] })
    return "problems" in read ? read.problems.map(({ message, path }) => `${path}: ${message}`) : []
  }
  const inverse = (fields: object, action = "delete_order") => ({ inverse: { action, fields } })
  const list = {
    ...remove(url),
    slug: "get_order",
    category: "read",
    http: { method: "GET", url: `${url}/orders/{order}`, result: { Order: "/id" } }
  }

  test("takes an action whose fields all have a value, and two that are inverses of each other", () => {
    expect(check(create(url, { inverse: INVERSE }), remove(url))).toEqual([])
    const [close, open] = ["close_order", "open_order"].map((slug, index, both) => ({
      ...remove(url, inverse({ order: { field: "order" } }, both[1 - index])),
      slug
    }))
    expect(check(close!, open!)).toEqual([])
    expect(check({ ...close!, ...inverse({ order: { field: "order" } }, "close_order") })).toEqual([])
  })

  test("names the place of an unknown action, one that reads, a missing field and a value from nowhere", () => {
    const of = (fields: object, action?: string) => check(create(url, inverse(fields, action)), remove(url), list)
    const ACTION = "actions[0].inverse.action: It must be an action of the same file or program that changes something."
    expect(of({}, "undo_it")).toEqual([ACTION])
    expect(of({ order: { result: "Order" } }, "get_order")).toEqual([ACTION])
    expect(of({})).toEqual([`actions[0].inverse.fields: delete_order needs "order".`])
    expect(of({ order: { result: "Number" } })).toEqual([
      `actions[0].inverse.fields.order: This action has no result "Number".`
    ])
    expect(of({ order: { result: "toString" } })).toHaveLength(1)
    expect(of({ order: { field: "number" } })).toEqual([
      `actions[0].inverse.fields.order: This action has no field "number".`
    ])
    expect(of({ order: { result: "Order" }, item: { field: "supplier" } })).toEqual([
      `actions[0].inverse.fields.item: delete_order has no field "item".`
    ])
    expect(of({ order: "Order" })).toHaveLength(1)
    expect(check(remove(url), { ...list, ...inverse({ order: { field: "order" } }) })).toEqual([
      "actions[1].inverse: What only reads has no inverse."
    ])
  })

  test("refuses several values for a field of one, a reference for a text, and inverses that go round", () => {
    const several = create(url, { inverse: INVERSE, http: { ...create(url).http, result: { Order: "/ids/*/id" } } })
    expect(check(several, remove(url))).toEqual([
      `actions[0].inverse.fields.order: "Order" must be one value, for a field that takes one.`
    ])
    const person = { slug: "supplier", name: "Supplier", kind: "reference", target: "people", needed: true }
    expect(check(create(url, { fields: [person], ...inverse({ order: { field: "supplier" } }) }), remove(url))).toEqual(
      [`actions[0].inverse.fields.order: "supplier" is a reference: "order" must be a reference to the same entities.`]
    )
    const round = ["open_it", "close_it", "reset_it"].map((slug, index, all) => ({
      ...remove(url, inverse({ order: { field: "order" } }, all[(index + 1) % 3])),
      slug
    }))
    expect(check(...round)[0]).toBe(
      "actions[0].inverse.action: These inverses go round: open_it, close_it, reset_it, open_it. Two actions can be inverses of each other."
    )
  })
})
