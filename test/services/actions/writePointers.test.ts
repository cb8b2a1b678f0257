/** Plans whose steps point at what earlier ones write: rows by their ids, and calls by what another system answers. */
import { layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { afterAll, beforeAll, expect } from "vitest"
import { Actions } from "../../../src/services/actions/Actions.ts"
import { CurrentPrincipal } from "../../../src/domain/Principal.ts"
import { ChangeOutbox } from "../../../src/services/changes/calls/ChangeOutbox.ts"
import { Changes } from "../../../src/services/changes/Changes.ts"
import type { ProposedStep } from "../../../src/services/changes/pointers.ts"
import { Database } from "../../../src/database/Database.ts"
import { cellOf, changing, confirmed, type Person, person, rowsIn, VIA } from "../../support/changes.ts"
import { servicesWith } from "../../support/database.ts"
import { startService } from "../../support/service.ts"

let service: Awaited<ReturnType<typeof startService>>
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const Configured = Layer.unwrap(Effect.sync(() => servicesWith({ privateHosts: [service.host] })))

const field = (slug: string, name: string, rest: object = {}) => ({ slug, name, kind: "text", needed: true, ...rest })
const posting = (slug: string, name: string, fields: ReadonlyArray<object>, path: string, rest: object = {}) => ({
  slug,
  name,
  description: `${name}.`,
  category: "write",
  fields,
  http: {
    method: "POST",
    url: `${service.url}${path}`,
    body: Object.fromEntries((fields as ReadonlyArray<{ slug: string }>).map((one) => [one.slug, `{${one.slug}}`])),
    key: "Idempotency-Key",
    problem: ["/why"],
    ...rest
  }
})
const ITEM = [
  field("order", "Order", { pattern: "[0-9]{4,10}" }),
  field("line", "Line", { kind: "integer", needed: false }),
  field("material", "Material")
]
const actionsOf = () => [
  {
    ...posting("create_order", "Create an order", [field("supplier", "Supplier")], "/orders", {
      result: { Number: "/number", Line: "/line", Items: "/items/*/n" }
    }),
    inverse: { action: "delete_order", fields: { order: { result: "Number" } } }
  },
  {
    ...posting("add_item", "Add an item", ITEM, "/orders/{order}/items", {
      result: { Item: "/number" },
      body: { material: "{material}", line: "{line}" }
    }),
    inverse: { action: "remove_item", fields: { order: { field: "order" }, item: { result: "Item" } } }
  },
  {
    slug: "remove_item",
    name: "Remove an item",
    description: "Removes an item.",
    category: "write",
    fields: [field("order", "Order"), field("item", "Item")],
    http: { method: "DELETE", url: `${service.url}/orders/{order}/items/{item}`, once: true }
  },
  posting("release_order", "Release an order", [field("order", "Order")], "/orders/{order}/release", { body: {} }),
  posting("greet", "Greet a person", [field("who", "Who")], "/greetings"),
  {
    slug: "delete_order",
    name: "Delete an order",
    description: "Deletes an order.",
    category: "write",
    fields: [field("order", "Order")],
    http: { method: "DELETE", url: `${service.url}/orders/{order}`, once: true }
  },
  {
    slug: "get_order",
    name: "Read an order",
    description: "Reads.",
    category: "read",
    fields: [field("order", "Order")],
    http: { method: "GET", url: `${service.url}/orders/{order}`, result: { Supplier: "/supplier" } }
  },
  posting("assign", "Assign a person", [field("who", "Who", { kind: "reference", target: "people" })], "/assignments")
]
const NAMES = [
  "create_order",
  "add_item",
  "release_order",
  "greet",
  "delete_order",
  "remove_item",
  "get_order",
  "assign"
]

const invoke = (role: string, name: string) => ({
  id: `${role}-${name}`,
  effect: "allow",
  role,
  action: "invoke",
  name
})

/** What the service answers to a new order. */
let order: Record<string, unknown> = {}
const buying = Effect.fnUntraced(function* (slug: string, policy: object = {}) {
  const rules = ["admin", "manager"].flatMap((role) => NAMES.map((name) => invoke(role, name)))
  const { organization } = yield* changing(slug, rules, policy as never)
  yield* (yield* Actions).publish(organization, JSON.stringify({ version: 1, actions: actionsOf() }), "test")
  order = { number: "4500000777", line: 10 }
  service.answers(({ path }, response) => {
    const body = path === "/orders" ? order : { number: "00010", supplier: "ACME" }
    response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify(body))
  })
  return { organization, buyer: yield* person(organization, `buyer@${slug}.example`, "admin") }
})

type Value = string | { readonly step: number; readonly result: string }
const step = (actionId: string, values: Readonly<Record<string, Value>>): ProposedStep => ({
  actionId,
  values: Object.entries(values).map(([columnId, value]) => ({ columnId, value }))
})
const NUMBER = { step: 0, result: "Number" }
const ORDER = step("create_order", { supplier: "ACME" })
const FORKS = step("add_item", { order: NUMBER, material: "Forks" })

const asked = () => service.asked.map(({ body, method, path }) => `${method} ${path} ${body}`.trim())

/** Confirms a change and sends its calls; the message of its receipt. */
const carriedOut = Effect.fnUntraced(function* (who: Person, draft: Parameters<typeof confirmed>[1]) {
  const outbox = yield* ChangeOutbox
  const waiting = yield* Effect.forkChild(confirmed(who, draft))
  // Several calls, each once the one before is done.
  const outcome = yield* Effect.raceFirst(
    Fiber.join(waiting),
    Effect.forever(Effect.andThen(outbox.deliver, Effect.yieldNow))
  )
  return outcome._tag === "Applied" ? outcome.receipt.message : outcome._tag
})
const shown = (preview: {
  readonly steps: ReadonlyArray<{ readonly cells: ReadonlyArray<{ readonly becomes?: string }> }>
}) => preview.steps.map(({ cells }) => cells.map(({ becomes }) => becomes))

layer(Configured, { excludeTestServices: true })("a plan whose steps point at what earlier ones write", (it) => {
  it.effect(
    "fills in what another system answered, says before what is filled in and after what was, and undoes both",
    () =>
      Effect.gen(function* () {
        const { buyer } = yield* buying("filled")
        const steps = [
          ORDER,
          step("add_item", { order: NUMBER, line: { step: 0, result: "Line" }, material: "Forks" }),
          step("release_order", { order: NUMBER })
        ]
        const draft = yield* buyer.propose({ steps })
        expect(service.asked).toEqual([])
        const number = "the Number that “Create an order” answers"
        expect(shown(draft.preview)).toEqual([
          ["ACME"],
          [number, "the Line that “Create an order” answers", "Forks"],
          [number]
        ])
        expect((yield* buyer.propose({ steps })).known).toBe(true)
        expect(yield* carriedOut(buyer, draft)).toContain("“Add an item” is done (Item: 00010).")
        expect(asked()).toEqual([
          'POST /orders {"supplier":"ACME"}',
          'POST /orders/4500000777/items {"line":10,"material":"Forks"}',
          "POST /orders/4500000777/release {}"
        ])
        expect(new Set(service.asked.map(({ headers }) => headers["idempotency-key"])).size).toBe(3)
        const answered = "4500000777 (answered by “Create an order”)"
        expect(shown(yield* buyer.preview(draft.changeId))).toEqual([
          ["ACME"],
          [answered, "10 (answered by “Create an order”)", "Forks"],
          [answered]
        ])
        const undo = yield* buyer.undo(draft.changeId)
        expect(shown(undo.preview)).toEqual([["4500000777", "00010"], ["4500000777"]])
      })
  )

  it.effect("writes rows that point at one another together, before the calls that point at them", () =>
    Effect.gen(function* () {
      const { buyer, organization } = yield* buying("rows")
      const person = { step: 0, result: "id" }
      const steps = [
        step("people.create", { name: "Nadia New" }),
        step("greet", { who: person }),
        step("meetings.create", { name: "Kick-off", attendees: person }),
        step("people.create", { name: "Otto New", owner: person })
      ]
      const draft = yield* buyer.propose({ steps, key: "the same" })
      expect(shown(draft.preview).flat()).toEqual(
        expect.arrayContaining(["Nadia New", "Kick-off", "Otto New", expect.stringContaining("Nadia New")])
      )
      // The ids are other ones each time, and it is the same proposal.
      expect((yield* buyer.propose({ steps, key: "the same" })).known).toBe(true)
      expect((yield* buyer.propose({ steps })).changeId).not.toBe(draft.changeId)
      expect((yield* buyer.propose({ steps })).known).toBe(true)
      expect(yield* carriedOut(buyer, draft)).toContain("2 people added, 1 meeting added")
      const { owner } = yield* Database
      const [nadia] = yield* owner<{ id: string }>`SELECT id::text AS id FROM data.people
        WHERE organization_id = ${organization.id} AND name = 'Nadia New'`
      const [otto] = yield* owner<{ id: string }>`SELECT id::text AS id FROM data.people
        WHERE organization_id = ${organization.id} AND name = 'Otto New'`
      expect(yield* cellOf(organization, otto!.id, "owner_id")).toBe(nadia!.id)
      const created = draft.preview.steps.find(({ displayName }) => displayName === "Nadia New")!
      expect(asked()).toEqual([`POST /greetings {"who":"${created.entityId}"}`])
      expect(yield* rowsIn(organization, "meetings")).toHaveLength(1)
    })
  )

  it.effect("does nothing further, and says what is missing, where an answer lacks the value or has another kind", () =>
    Effect.gen(function* () {
      const { buyer } = yield* buying("missing")
      const cases: ReadonlyArray<readonly [object, Readonly<Record<string, Value>>, string]> = [
        [{ id: 7 }, {}, "“Create an order” has answered no Number, which this takes."],
        [{ number: " " }, {}, "“Create an order” has answered no Number, which this takes."],
        [{ number: "9".repeat(300) }, {}, "“Create an order” has answered no Number, which this takes."],
        [
          { number: "../4500000001" },
          {},
          '“Create an order” has answered no Order that this takes: "../4500000001" doesn\'t fit Order.'
        ],
        [
          { number: "4500000777", line: "ten" },
          { line: { step: 0, result: "Line" } },
          '“Create an order” has answered no Line that this takes: "ten" isn\'t a whole number.'
        ]
      ]
      for (const [at, [answer, values, problem]] of cases.entries()) {
        service.asked.length = 0
        order = answer as never
        const steps = [
          step("create_order", { supplier: `ACME ${at}` }),
          step("add_item", { order: NUMBER, material: "Forks", ...values }),
          step("greet", { who: "Ada" })
        ]
        const message = yield* carriedOut(buyer, yield* buyer.propose({ steps }))
        expect(message).toContain(`“Add an item” was refused: ${problem}`)
        expect(message).toContain("“Greet a person” wasn't done: a step before it wasn't done.")
        expect(asked()).toEqual([`POST /orders {"supplier":"ACME ${at}"}`])
      }
      // A value without a pattern can't move the request to another path.
      order = { number: ".." }
      service.asked.length = 0
      const moved = yield* buyer.propose({ steps: [ORDER, step("release_order", { order: NUMBER })] })
      expect(yield* carriedOut(buyer, moved)).toContain("“Release an order” was refused: It can't be sent")
      expect(asked()).toEqual(['POST /orders {"supplier":"ACME"}'])
    })
  )

  it.effect(
    "sends the same values again after a lost answer, and nothing where the call before it isn't known to be done",
    () =>
      Effect.gen(function* () {
        const { buyer } = yield* buying("lost")
        const outbox = yield* ChangeOutbox
        const { owner } = yield* Database
        const draft = yield* buyer.propose({ steps: [ORDER, FORKS] })
        yield* confirmed(buyer, draft)
        let isFirst = true
        service.answers(({ path }, response) => {
          if (path !== "/orders" && isFirst) {
            isFirst = false
            return response.destroy()
          }
          response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify(order))
        })
        for (let attempt = 0; attempt < 4; attempt++) {
          while (yield* outbox.deliver);
          yield* owner`UPDATE max.change_outbox SET next_at = clock_timestamp() WHERE change_id = ${draft.changeId}`
        }
        expect(asked()).toEqual([
          'POST /orders {"supplier":"ACME"}',
          'POST /orders/4500000777/items {"material":"Forks"}',
          'POST /orders/4500000777/items {"material":"Forks"}'
        ])
        const keys = service.asked.map(({ headers }) => headers["idempotency-key"])
        expect(keys[1]).toBe(keys[2])

        service.answers((_, response) => void response.writeHead(400).end())
        const refused = yield* buyer.propose({ steps: [step("create_order", { supplier: "Beta" }), FORKS] })
        expect(yield* carriedOut(buyer, refused)).toContain("“Add an item” wasn't done: a step before it wasn't done.")
        expect(service.asked).toHaveLength(1)
      })
  )

  it.effect("is refused at the field whose pointer leads to nothing that it can take, before anything is stored", () =>
    Effect.gen(function* () {
      const { buyer } = yield* buying("refused")
      const refusal = (columnId: string, message: string, ...steps: ReadonlyArray<ProposedStep>) =>
        Effect.map(Effect.flip(buyer.propose({ steps })), (error) =>
          expect(error).toMatchObject({
            _tag: "InvalidInput",
            message: `${columnId}: ${message}`,
            problems: [{ field: columnId, message }]
          })
        )
      const release = (pointer: Value) => step("release_order", { order: pointer })
      yield* refusal("order", 'create_order has no result "Total".', ORDER, release({ step: 0, result: "Total" }))
      yield* refusal(
        "order",
        'create_order has no result "constructor".',
        ORDER,
        release({ step: 0, result: "constructor" })
      )
      yield* refusal("order", '"Items" of create_order can be several.', ORDER, release({ step: 0, result: "Items" }))
      yield* refusal("order", "there is no step 1 before it.", ORDER, release({ step: 1, result: "Number" }))
      yield* refusal("who", "it must be known when the change is confirmed.", ORDER, step("assign", { who: NUMBER }))
      yield* refusal("none", "release_order has no such field.", ORDER, step("release_order", { none: NUMBER }))
      yield* refusal(
        "order",
        "step 0 reads nothing that it could take.",
        ORDER,
        step("get_order", { order: NUMBER }),
        release("4500")
      )
      yield* refusal(
        "name",
        "people.create is written before a call is sent, so it can't take what that is answered.",
        ORDER,
        step("people.create", { name: NUMBER })
      )
      const nadia = step("people.create", { name: "Nadia" })
      yield* refusal(
        "who",
        'people.create has no result "name".',
        nadia,
        step("greet", { who: { step: 0, result: "name" } })
      )
      yield* refusal("order", "it is set twice.", ORDER, {
        actionId: "release_order",
        values: [
          { columnId: "order", value: "4500" },
          { columnId: "order", value: NUMBER }
        ]
      })
      expect(yield* buyer.list("mine")).toEqual([])
      expect(service.asked).toEqual([])
    })
  )

  it.effect("waits for a second person who is shown the same, and is proposed again with its pointers", () =>
    Effect.gen(function* () {
      const confirm = [{ action: "invoke", name: "add_item", by: "second", approvers: ["manager"] }]
      const { buyer, organization } = yield* buying("second", { confirm })
      const boss = yield* person(organization, "boss@second.example", "manager")
      const expired = yield* buyer.propose({ steps: [ORDER, FORKS] })
      const { owner } = yield* Database
      yield* owner`UPDATE max.changes SET expires_at = now() - interval '1 second' WHERE change_id = ${expired.changeId}`
      const draft = yield* Effect.provideService(
        (yield* Changes).again(expired.changeId, VIA),
        CurrentPrincipal,
        buyer.principal
      )
      expect(shown(draft.preview)).toEqual([["ACME"], ["the Number that “Create an order” answers", "Forks"]])
      yield* confirmed(buyer, draft)
      const seen = yield* boss.preview(draft.changeId)
      expect(shown(seen)).toEqual(shown(draft.preview))
      expect(yield* carriedOut(boss, { ...draft, preview: seen })).toContain("“Add an item” is done")
      expect(asked()).toEqual([
        'POST /orders {"supplier":"ACME"}',
        'POST /orders/4500000777/items {"material":"Forks"}'
      ])
    })
  )
})
