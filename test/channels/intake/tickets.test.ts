/**
 * Sixty tickets and e-mails, handed in and answered with a scripted model: what reaches the service of purchase orders once another
 * member has approved what was drafted. Only the model is scripted; it writes names and numbers as the tickets have them.
 */
import { layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { afterAll, beforeAll, expect } from "vitest"
import { startService } from "../../../examples/purchase-orders/service.ts"
import { takingIn } from "../../../src/channels/intake/takeIn.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { CurrentPrincipal } from "../../../src/domain/Principal.ts"
import { Actions } from "../../../src/services/actions/Actions.ts"
import { ChangeOutbox } from "../../../src/services/changes/calls/ChangeOutbox.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { TICKETS } from "../../agents/basic/tickets.ts"
import { agentFor } from "../../support/agent.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { type Person, person } from "../../support/changes.ts"
import { calls, type Reply, resultsIn, says, startMessages, type WireRequest } from "../../support/messages.ts"
import { MODEL } from "./ticketModel.ts"

const TOKEN = "a token of the service"
const model = await startMessages()
let service: Awaited<ReturnType<typeof startService>>
beforeAll(async () => {
  process.env["SAP_TOKEN"] = TOKEN
  service = await startService(TOKEN)
})
afterAll(async () => {
  await model.close()
  await service.stop()
})

const LIMITS = {
  writesPerMinute: 10_000,
  destructivePerHour: 10_000,
  callsPerPerson: 10_000,
  changedRowsPerDay: 10_000
}
const Configured = Layer.unwrap(Effect.sync(() => agentFor(model, { ...LIMITS, privateHosts: [service.host] })))

const exampleText = (name: string) =>
  readFileSync(new URL(`../../../examples/purchase-orders/${name}`, import.meta.url), "utf8")

/** One more action, which takes an order alone. */
const RELEASE = {
  slug: "release_purchase_order",
  name: "Release a purchase order",
  description: "Releases a purchase order.",
  category: "write",
  fields: [{ slug: "order", name: "Purchase order", kind: "text", needed: true }],
  http: {
    method: "PATCH",
    url: "http://127.0.0.1:4480/sap/opu/odata/sap/API_PURCHASEORDER_PROCESS_SRV/A_PurchaseOrder('{order}')",
    headers: { authorization: "Bearer {token}", "if-match": "*" },
    secrets: { token: "env:SAP_TOKEN" },
    key: "RequestID",
    body: { PurchaseOrderStatus: "Released" }
  }
}
const CREATE = "create_purchase_order; supplier=17300001; material=TG11; quantity=5; plant=1710"
const CREATE_TEXT = "Please create a purchase order for supplier 17300001 with 5 of TG11 for plant 1710"

/** The organization of the example, whose desk proposes and whose lead approves. */
const ordering = Effect.fnUntraced(function* (slug: string) {
  const organization = yield* makeOrganization(slug)
  const policy = JSON.parse(exampleText("policy.json")) as { readonly rules: ReadonlyArray<object> }
  const release = { id: "release", effect: "allow", role: "buyer", action: "invoke", name: RELEASE.slug }
  yield* (yield* Policies).publish(
    organization,
    JSON.stringify({ ...policy, rules: [...policy.rules, release] }),
    "test"
  )
  const file = JSON.parse(exampleText("actions.json")) as { readonly actions: ReadonlyArray<object> }
  const actions = JSON.stringify({ ...file, actions: [...file.actions, RELEASE] })
  yield* (yield* Actions).publish(organization, actions.replaceAll("127.0.0.1:4480", service.host), "test")
  const desk = yield* person(organization, `desk@${slug}.example`, "buyer")
  const lead = yield* person(organization, `lead@${slug}.example`, "lead")
  return { organization, desk, lead }
})

/** A call as the tool takes it. */
const requestOf = (text: string) => {
  const [actionId, ...values] = text.split(";").map((part) => part.trim())
  return ["requestAction", { actionId, values }] as const
}

/** What it says after its calls: what was read, row by row, why something can't be done, or what it would do. */
const concluding = (results: ReadonlyArray<string>): string =>
  results
    .map((text) => {
      const [first = "", , ...rows] = text.split("\n")
      // A choice is a name and, after a tab, an id, which isn't for people.
      if (first.startsWith("needs: ")) return text.replace("needs: ", "").replaceAll(/\t.*/g, "")
      return first.startsWith("done: ") ? rows.map((row) => row.replaceAll("\t", ", ")).join("\n") : "I would do this."
    })
    .join("\n\n")

/** The model's answer to a request: its calls first, and what it says once it has their results. */
const answering =
  (asked: ReadonlyArray<string>) =>
  (request: WireRequest): Reply => {
    const results = resultsIn(request)
    if (results.length > 0) return says(concluding(results))
    return asked.length === 0 ? says("Could you tell me exactly what should be done?") : calls(...asked.map(requestOf))
  }

/** Hands a message in; the answer, and what the lead's approvals and the outbox then make the service write. */
const handled = Effect.fnUntraced(function* (
  { desk, lead, organization }: { desk: Person; lead: Person; organization: Organization },
  text: string,
  asked: ReadonlyArray<string>
) {
  const before = structuredClone(service.orders)
  service.written.length = 0
  model.reset(answering(asked))
  const takeIn = yield* takingIn
  const message = { source: "desk", sourceId: randomUUID(), from: "customer@elsewhere.example", text }
  const taken = yield* Effect.provideService(takeIn(organization, message), CurrentPrincipal, desk.principal)
  if ("_tag" in taken) throw new Error(JSON.stringify(taken))
  expect(model.requests.filter(({ rejected }) => rejected !== undefined)).toEqual([])
  // Nothing is written before another member approves it.
  expect(service.written).toEqual([])
  const outbox = yield* ChangeOutbox
  for (const { changeId, level } of taken.changes) {
    expect(level).toBe("second")
    const preview = yield* lead.preview(changeId)
    const approving = yield* Effect.forkChild(lead.confirm({ changeId, digest: preview.digest! }))
    const approved = yield* Effect.raceFirst(
      Fiber.join(approving),
      Effect.forever(Effect.andThen(outbox.deliver, Effect.yieldNow))
    )
    expect(approved._tag).toBe("Applied")
  }
  const after = { reply: taken.reply ?? "", written: service.written.map(parsed), changes: taken.changes.length }
  service.orders.splice(0, service.orders.length, ...before)
  return after
})

/** A request as the service noted it, with numbers as numbers. */
const parsed = (line: string) => {
  const [method = "", path = "", body = "{}"] = line.split(/ (.+?)(?: (\{.*))?$/).filter((part) => part !== "")
  return [method, path, numbersIn(JSON.parse(body) as object)]
}
const numbersIn = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(numbersIn)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(
          Object.entries(value).map(([key, part]) => [
            key,
            ["OrderQuantity", "NetPriceAmount"].includes(key) ? Number(part) : numbersIn(part)
          ])
        )
      : value

const placesOf = (written: ReadonlyArray<ReadonlyArray<unknown>>) =>
  written.map(([method, path]) => `${String(method)} ${String(path)}`)

/** What a plan comes to at the service, by its orders of now: requests, and the texts of what it shows or what fits several. */
const expectedOf = (plan: (typeof TICKETS)[number]["plan"]) => {
  const written: Array<unknown> = []
  // Texts that stand in one line of the reply, in any order.
  const said: Array<ReadonlyArray<string>> = []
  for (const [action, values] of plan === "declined" ? [] : plan) {
    const { item, material, order, plant, price, quantity, supplier, terms } = values
    const found = service.orders.find((one) => one.PurchaseOrder === order)
    const shown = (one: (typeof service.orders)[number]) => [
      one.PurchaseOrder,
      one.Supplier,
      one.PaymentTerms,
      one.PurchaseOrderStatus
    ]
    const line = (one: (typeof service.orders)[number]["items"][number]) => [
      one.PurchaseOrderItem,
      one.PurchaseOrderItemText,
      one.Material,
      one.Plant
    ]
    const items = (found?.items ?? []).filter(
      (one) => item === one.PurchaseOrderItem || one.PurchaseOrderItemText.toLowerCase().includes(item ?? " ")
    )
    const onItem = (write: (path: string) => void) => {
      const [one, ...others] = items
      if (one === undefined) said.push([item ?? ""])
      else if (others.length > 0) said.push(...items.map((each) => [each.PurchaseOrderItemText]))
      else write(`/A_PurchaseOrderItem(PurchaseOrder='${order ?? ""}',PurchaseOrderItem='${one.PurchaseOrderItem}')`)
    }
    const row = {
      ...(material === undefined ? {} : { Material: material }),
      ...(quantity === undefined ? {} : { OrderQuantity: Number(quantity) }),
      ...(price === undefined ? {} : { NetPriceAmount: Number(price) }),
      ...(plant === undefined ? {} : { Plant: plant })
    }
    const header = `/A_PurchaseOrder('${order ?? ""}')`
    switch (action) {
      case "get_purchase_order":
        said.push(shown(found!))
        break
      case "list_purchase_orders":
        said.push(...service.orders.filter((one) => one.Supplier === supplier).map(shown))
        break
      case "get_po_items":
        said.push(...found!.items.map(line))
        break
      case "get_po_item":
        said.push(...items.map(line))
        break
      case "update_po_item":
        onItem((path) => written.push(["PATCH", path, row]))
        break
      case "delete_po_item":
        onItem((path) => written.push(["DELETE", path, {}]))
        break
      case "update_po_header":
        written.push(["PATCH", header, { PaymentTerms: terms }])
        break
      case "delete_purchase_order":
        written.push(["DELETE", header, {}])
        break
      case "add_po_item":
        written.push(["POST", `${header}/to_PurchaseOrderItem`, row])
        break
      case "create_purchase_order":
        written.push(["POST", "/A_PurchaseOrder", { Supplier: supplier, to_PurchaseOrderItem: [row] }])
        break
      default:
        throw new Error(action)
    }
  }
  return { written, said }
}

layer(Configured, { excludeTestServices: true })("tickets and e-mails with a scripted model", (it) => {
  it.effect(
    "come to the plan of each of sixty: what is approved is written, what is read or unclear is said, and nothing else",
    () =>
      Effect.gen(function* () {
        expect([TICKETS.length, MODEL.length]).toEqual([60, 60])
        const world = yield* ordering("orders")
        const wrong: Array<unknown> = []
        for (const [at, { plan, text }] of TICKETS.entries()) {
          const { said, written } = expectedOf(plan)
          const got = yield* handled(world, text, MODEL[at]!)
          const isRight =
            isEqual(got.written, written) &&
            said.every((parts) => got.reply.split("\n").some((line) => parts.every((part) => line.includes(part)))) &&
            got.changes === Math.sign(written.length)
          if (!isRight) wrong.push({ at, text, written, said, got })
        }
        expect(wrong).toEqual([])
      })
  )

  it.effect("point at what an earlier step of the same answer is answered, which is filled in once that is done", () =>
    Effect.gen(function* () {
      const world = yield* ordering("chained")
      const text = `${CREATE_TEXT}, and add 2 of TG12 for plant 1710 to it.`
      const added = "add_po_item; order=@create_purchase_order.Purchase order; material=TG12; quantity=2; plant=1710"
      const { changes, written } = yield* handled(world, text, [CREATE, added])
      expect(changes).toBe(1)
      expect(placesOf(written)).toEqual([
        "POST /A_PurchaseOrder",
        "POST /A_PurchaseOrder('4500000003')/to_PurchaseOrderItem"
      ])
      const told = model.requests.flatMap(({ body }) => resultsIn(body)).join("\n")
      expect(told).toContain("a later action can take its answer: @create_purchase_order.Purchase order")
      expect(told).toContain("the Purchase order that “Create a purchase order” answers")
    })
  )

  it.effect("are refused a step whose values are all filled in, unless the author asked for that deed", () =>
    Effect.gen(function* () {
      const world = yield* ordering("unasked")
      const released = "release_purchase_order; order=@create_purchase_order.Purchase order"
      const asked = yield* handled(world, `${CREATE_TEXT} and release it.`, [CREATE, released])
      expect(placesOf(asked.written)).toEqual(["POST /A_PurchaseOrder", "PATCH /A_PurchaseOrder('4500000003')"])
      const { reply, written } = yield* handled(world, `${CREATE_TEXT}.`, [CREATE, released])
      expect(placesOf(written)).toEqual(["POST /A_PurchaseOrder"])
      expect(reply).toContain("didn't ask to change this")
    })
  )
})

const isEqual = (a: unknown, b: unknown) => {
  try {
    expect(a).toEqual(b)
    return true
  } catch {
    return false
  }
}
