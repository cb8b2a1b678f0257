/** Plans whose steps point at what earlier ones read: the reads come first, and the change has one card. */
import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { afterAll, beforeAll, expect } from "vitest"
import { Actions } from "../../../src/services/actions/Actions.ts"
import type { ProposedStep } from "../../../src/services/changes/pointers.ts"
import { addPeople } from "../../support/atlas.ts"
import { changing, confirmed, person } from "../../support/changes.ts"
import { servicesWith } from "../../support/database.ts"
import { fileOf, startService } from "../../support/service.ts"

let service: Awaited<ReturnType<typeof startService>>
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const Configured = Layer.unwrap(Effect.sync(() => servicesWith({ privateHosts: [service.host] })))

const reading = (slug: string, result: object, rest: object = {}) => ({
  slug,
  name: `Read with ${slug}`,
  description: "Reads.",
  category: "read",
  fields: [{ slug: "order", name: "Order", kind: "text", needed: true }],
  http: {
    method: "GET",
    url: `${service.url}/${slug}/{order}`,
    result,
    problem: ["/why"],
    ...rest
  }
})

const invoke = (role: string, name: string) => ({
  id: `${role}-${name}`,
  effect: "allow",
  role,
  action: "invoke",
  name
})
const RULES = [
  ...["set_quantity", "get_order", "get_items"].map((name) => invoke("admin", name)),
  invoke("rep", "set_quantity"),
  invoke("manager", "get_items")
]
const SECOND = { confirm: [{ action: "invoke", name: "set_quantity", by: "second", approvers: ["rep"] }] }

const planning = Effect.fnUntraced(function* (slug: string, policy: object = {}) {
  const { organization } = yield* changing(slug, RULES, policy as never)
  const { actions } = JSON.parse(fileOf(service.url)) as { readonly actions: ReadonlyArray<object> }
  const file = [
    reading("get_order", { Quantity: "/quantity", Next: "/next" }),
    reading("get_items", { Item: "/n", Text: "/t" }, { entries: "/items" }),
    ...actions
  ]
  yield* (yield* Actions).publish(organization, JSON.stringify({ version: 1, actions: file }), "test")
  service.answers(({ path }, response) => {
    const body = path.startsWith("/get_items")
      ? { items: [{ n: "00010", t: "Forks" }, ...(path.endsWith("2") ? [{ n: "00020", t: "Knives" }] : [])] }
      : path.endsWith("404")
        ? { why: "There is no such order." }
        : { quantity: 44, next: path.endsWith("1") ? "4500000002" : "4500000003" }
    response
      .writeHead(path.endsWith("404") ? 404 : 200, { "content-type": "application/json" })
      .end(JSON.stringify(body))
  })
  return { organization, buyer: yield* person(organization, `buyer@${slug}.example`, "admin") }
})

const read = (actionId: string, order: string | { step: number; result: string }): ProposedStep => ({
  actionId,
  values: [{ columnId: "order", value: order }]
})
const set = (
  quantity: string | { step: number; result: string },
  order: string | { step: number; result: string } = "4500000001"
): ProposedStep => ({
  actionId: "set_quantity",
  values: [
    { columnId: "order", value: order },
    { columnId: "quantity", value: quantity }
  ]
})
const asked = () => service.asked.map(({ method, path }) => `${method} ${path}`)

layer(Configured, { excludeTestServices: true })("a plan whose steps read", (it) => {
  it.effect("reads first, points later steps at what was read, and is one card that says where it was read", () =>
    Effect.gen(function* () {
      const { buyer } = yield* planning("pointers")
      const draft = yield* buyer.propose({
        steps: [
          read("get_order", "4500000001"),
          set("7"),
          read("get_order", { step: 0, result: "Next" }),
          set({ step: 2, result: "Quantity" }, { step: 0, result: "Next" })
        ]
      })
      expect(asked()).toEqual(["GET /get_order/4500000001", "GET /get_order/4500000002"])
      expect(draft.reads).toEqual([
        { actionId: "get_order", rows: [{ Quantity: "44", Next: "4500000002" }] },
        { actionId: "get_order", rows: [{ Quantity: "44", Next: "4500000003" }] }
      ])
      const from = "(read from “Read with get_order”)"
      expect(draft.preview.rows).toBe(2)
      expect(draft.preview.steps.map(({ cells }) => cells.map(({ becomes }) => becomes))).toEqual([
        ["4500000001", "7"],
        [`4500000002 ${from}`, `44 ${from}`]
      ])
      // The same proposal is the same change, although it is read again.
      const { known } = yield* buyer.propose({
        steps: [read("get_order", "4500000001"), set("7"), set({ step: 0, result: "Quantity" }, "4500000002")]
      })
      expect(known).toBe(true)
    })
  )

  it.effect("can set a cell of a row to what was read", () =>
    Effect.gen(function* () {
      const { buyer, organization } = yield* planning("rows")
      const [id] = yield* addPeople(organization, [{ name: "Forks", status: "10" }])
      const draft = yield* buyer.propose({
        steps: [
          read("get_items", "1"),
          {
            actionId: "people.update",
            entityIds: [id!],
            values: [{ columnId: "status", value: { step: 0, result: "Item" } }]
          }
        ]
      })
      expect(draft.preview.steps[0]!.cells).toMatchObject([{ columnId: "status", was: "10", becomes: "00010" }])
      expect(yield* confirmed(buyer, draft)).toMatchObject({ _tag: "Applied" })
    })
  )

  it.effect("is refused at the field whose pointer leads to nothing, and asks where it leads to several", () =>
    Effect.gen(function* () {
      const { buyer } = yield* planning("nothing")
      const refusal = (...steps: ReadonlyArray<ProposedStep>) => Effect.flip(buyer.propose({ steps }))
      const first = read("get_order", "4500000001")
      const at = (message: string) => ({
        _tag: "InvalidInput",
        message: `quantity: ${message}`,
        problems: [{ field: "quantity", message }]
      })
      for (const step of [1, 2, 7, -1, 0.5])
        expect(yield* refusal(first, set({ step, result: "Quantity" }))).toMatchObject(
          at(`there is no step ${step} before it.`)
        )
      expect(yield* refusal(set("1"), set({ step: 0, result: "Quantity" }))).toMatchObject(
        at(`set_quantity has no result "Quantity".`)
      )
      expect(yield* refusal(first, set({ step: 0, result: "constructor" }))).toMatchObject(
        at(`get_order has no result "constructor".`)
      )
      expect(yield* refusal(read("get_items", "2"), set({ step: 0, result: "Item" }))).toMatchObject({
        _tag: "Unclear",
        field: "quantity",
        choices: [
          { id: "00010", name: "00010 Forks" },
          { id: "00020", name: "00020 Knives" }
        ]
      })
      expect(yield* refusal(first)).toMatchObject({ message: "get_order only reads, so it is no step of a change." })
      const many = Array.from({ length: 9 }, () => first)
      const before = service.asked.length
      expect(yield* refusal(...many, set("1"))).toMatchObject({ message: "A change has at most 8 steps that read." })
      expect(service.asked).toHaveLength(before)
    })
  )

  it.effect("is refused whole, with the service's reason, when a step that reads fails", () =>
    Effect.gen(function* () {
      const { buyer } = yield* planning("failed")
      expect(
        yield* Effect.flip(buyer.propose({ steps: [read("get_order", "404"), set({ step: 0, result: "Quantity" })] }))
      ).toMatchObject({ _tag: "InvalidInput", message: "There is no such order." })
      expect(yield* buyer.list("mine")).toEqual([])
    })
  )

  it.effect(
    "reads with nothing that the person may not use, and is neither shown to nor approved by one who may not",
    () =>
      Effect.gen(function* () {
        const { organization } = yield* planning("allowed", SECOND)
        const rep = yield* person(organization, "rep@allowed.example", "rep")
        const manager = yield* person(organization, "manager@allowed.example", "manager")
        const steps = [read("get_order", "4500000001"), set({ step: 0, result: "Quantity" })]
        expect(yield* Effect.flip(rep.propose({ steps }))).toMatchObject({
          message: 'There is no action "get_order". Known: set_quantity.'
        })
        expect(service.asked).toEqual([])
        const draft = yield* manager.propose({
          steps: [read("get_items", "1"), set("44", { step: 0, result: "Item" })]
        })
        yield* manager.confirm({ changeId: draft.changeId, digest: draft.preview.digest! })
        const seen = yield* rep.preview(draft.changeId)
        expect(seen).toMatchObject({ state: "waiting", complete: false })
        expect(JSON.stringify(seen)).not.toContain("00010")
        expect(yield* Effect.flip(rep.confirm({ changeId: draft.changeId, digest: draft.preview.digest! }))).toMatchObject({ _tag: "NotAllowed" }) // prettier-ignore
      })
  )
})
