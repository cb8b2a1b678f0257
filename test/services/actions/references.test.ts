/** References of declared actions: what a person names is found through the person's own plan, and what is sent is read from it. */
import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { ServerResponse } from "node:http"
import { afterAll, beforeAll, describe, expect, it as test } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { CurrentPrincipal } from "../../../src/domain/Principal.ts"
import { decodeId } from "../../../src/domain/ids.ts"
import { Actions } from "../../../src/services/actions/Actions.ts"
import { readActions } from "../../../src/services/actions/readActions.ts"
import { Changes } from "../../../src/services/changes/Changes.ts"
import { ChangeOutbox } from "../../../src/services/changes/calls/ChangeOutbox.ts"
import { addPeople } from "../../support/atlas.ts"
import { systemCatalog } from "../../support/catalog.ts"
import { changing, confirmed, person, valuesOf } from "../../support/changes.ts"
import { servicesWith } from "../../support/database.ts"
import { fileOf, startService } from "../../support/service.ts"

let service: Awaited<ReturnType<typeof startService>>
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const Configured = Layer.unwrap(Effect.sync(() => servicesWith({ privateHosts: [service.host] })))

const rule = (role: string, rest: object) => ({
  id: `${role}-${Object.values(rest).join("-")}`,
  effect: "allow",
  role,
  ...rest
})
const RULES = [
  rule("admin", { action: "invoke", name: "set_quantity" }),
  rule("rep", { action: "invoke", name: "set_quantity" }),
  rule("admin", { action: "invoke", name: "list_items" })
]
/** What a representative sees of the rows: not those with the status `hidden`. */
const SEES = { ...rule("rep", { action: "read", type: "people" }), columns: "*", where: { status: { not: "hidden" } } }

/** Orders and their items, as rows that lead to other rows; the status of an item is its number. */
const FIELDS = [
  { slug: "order", name: "Order", kind: "reference", target: "people", sends: "name", needed: true },
  { slug: "item", name: "Item", kind: "reference", target: "people", sends: "status", within: "order", needed: true },
  { slug: "quantity", name: "Quantity", kind: "number", needed: true, min: 0 }
]

const ordering = Effect.fnUntraced(function* (slug: string, policy: object = {}, rules: ReadonlyArray<object> = []) {
  const { organization } = yield* changing(slug, [...RULES, ...rules] as never, policy as never)
  const file = fileOf(
    service.url,
    { url: `${service.url}/orders/{order}/items/{item}`, body: { OrderQuantity: "{quantity:text}" } },
    { fields: FIELDS }
  )
  yield* (yield* Actions).publish(organization, file, "test")
  const orders = yield* addPeople(organization, [
    { name: "4500000001", status: "open" },
    { name: "4500000002", status: "open" }
  ])
  const of = (order: number) => ({ owner: String(decodeId(orders[order]!)) })
  const items = yield* addPeople(organization, [
    { name: "Forks", status: "00010", ...of(0) },
    { name: "Steel knives", status: "00020", ...of(0) },
    { name: "Table knives", status: "00030", ...of(0) },
    { name: "Forks", status: "00010", ...of(1) },
    { name: "Big forks", status: "00020", ...of(1) },
    { name: "Spoons", status: "hidden", ...of(0) }
  ] as never)
  const buyer = yield* person(organization, `buyer@${slug}.example`, "admin")
  return { organization, buyer, orders, items }
})

const step = (values: Readonly<Record<string, string>> = {}) => ({
  steps: [
    { actionId: "set_quantity", values: valuesOf({ order: "4500000001", item: "forks", quantity: "44", ...values }) }
  ]
})
const sent = Effect.gen(function* () {
  const outbox = yield* ChangeOutbox
  while (yield* outbox.deliver);
})

layer(Configured, { excludeTestServices: true })("a reference of an action", (it) => {
  it.effect(
    "is found by a part of its name within what it belongs to, shown with its name, and sent as its column",
    () =>
      Effect.gen(function* () {
        const { buyer } = yield* ordering("forks")
        const draft = yield* buyer.propose(step())
        expect(draft.preview.steps[0]!.cells).toEqual([
          { columnId: "order", name: "Order", becomes: "4500000001" },
          { columnId: "item", name: "Item", becomes: "00010 (Forks)" },
          { columnId: "quantity", name: "Quantity", becomes: "44" }
        ])
        service.answers()
        yield* confirmed(buyer, draft)
        yield* sent
        expect(service.asked.map(({ body, method, path }) => [method, path, body])).toEqual([
          ["PATCH", "/orders/4500000001/items/00010", `{"OrderQuantity":"44"}`]
        ])
      })
  )

  it.effect("is found by its id and by the column that is sent; several are a choice, and none is said", () =>
    Effect.gen(function* () {
      const { buyer, items, orders } = yield* ordering("ways")
      const same = (yield* buyer.propose(step())).changeId
      for (const values of [{ item: items[0]! }, { item: "00010" }, { item: "FORKS", order: orders[0]! }])
        expect((yield* buyer.propose(step(values))).changeId).toBe(same)
      const choice = yield* Effect.flip(buyer.propose(step({ item: "knives" })))
      expect(choice).toMatchObject({ _tag: "Unclear", choices: [{ name: "Steel knives" }, { name: "Table knives" }] })
      const [, second] = (choice as unknown as { choices: ReadonlyArray<{ id: string }> }).choices
      expect((yield* buyer.propose(step({ item: second!.id }))).preview.steps[0]!.cells[1]!.becomes).toMatch(/^00030 /)
      for (const values of [{ item: "plates" }, { order: "4500000009" }, { item: items[3]! }])
        expect(yield* Effect.flip(buyer.propose(step(values)))).toMatchObject({
          _tag: "InvalidInput",
          message: expect.stringMatching(/^(item|order): there is no /)
        })
    })
  )

  it.effect("that the person doesn't see isn't found, with the words for what doesn't exist", () =>
    Effect.gen(function* () {
      const { buyer, items, organization } = yield* ordering("unseen", {}, [SEES])
      const rep = yield* person(organization, "rep@unseen.example", "rep")
      expect((yield* buyer.propose(step({ item: "spoons" }))).preview.complete).toBe(true)
      for (const [hidden, nothing] of [
        ["spoons", "plates"],
        [items[5]!, `${items[5]!.slice(0, -1)}${items[5]!.endsWith("b") ? "c" : "b"}`]
      ] as const) {
        const words = (item: string) =>
          Effect.map(Effect.flip(rep.propose(step({ item }))), ({ _tag, message }) => [
            _tag,
            message.replaceAll(item, "X")
          ])
        expect(yield* words(hidden)).toEqual(yield* words(nothing))
      }
    })
  )

  it.effect("that the second person doesn't see is neither shown to nor approved by that person", () =>
    Effect.gen(function* () {
      const confirm = [{ action: "invoke", name: "set_quantity", by: "second", approvers: ["rep"] }]
      const { buyer, organization } = yield* ordering("second", { confirm }, [SEES])
      const rep = yield* person(organization, "rep@second.example", "rep")
      const ask = Effect.fnUntraced(function* (item: string) {
        const { changeId, preview } = yield* buyer.propose(step({ item }))
        yield* buyer.confirm({ changeId, digest: preview.digest! })
        return { changeId, digest: preview.digest!, shown: yield* rep.preview(changeId) }
      })
      const hidden = yield* ask("spoons")
      expect(hidden.shown.complete).toBe(false)
      expect(hidden.shown.digest).toBeUndefined()
      expect(JSON.stringify(hidden.shown)).not.toMatch(/spoons|hidden/i)
      expect(yield* Effect.flip(rep.confirm(hidden))).toMatchObject({ _tag: "NotAllowed" })
      const seen = yield* ask("forks")
      expect(seen.shown).toMatchObject({ complete: true, digest: seen.digest })
      expect(yield* rep.confirm(seen)).toMatchObject({ _tag: "Applied" })
    })
  )

  it.effect("that has changed since it was shown isn't confirmed", () =>
    Effect.gen(function* () {
      const { buyer, items } = yield* ordering("changed")
      const draft = yield* buyer.propose(step())
      const { owner } = yield* Database
      yield* owner`UPDATE data.people SET status = '00040', status_k = '00040' WHERE id = ${decodeId(items[0]!)}`
      expect(yield* Effect.flip(confirmed(buyer, draft))).toMatchObject({ _tag: "Stale" })
      const { owner: sql } = yield* Database
      expect(yield* sql`SELECT 1 FROM max.change_outbox WHERE change_id = ${draft.changeId}`).toEqual([])
    })
  )
})

/** Items that the service itself has. */
const LIST = {
  slug: "list_items",
  name: "Items of an order",
  description: "Lists the items of an order.",
  category: "read",
  fields: [{ slug: "order", name: "Order", kind: "text", needed: true, pattern: "[0-9]{10}" }],
  http: {
    method: "GET",
    entries: "/d/results",
    result: { Item: "/Item", Text: "/Text", Material: "/Material" },
    problem: ["/error/errordetails/*/message"]
  }
}
const FROM = { action: "list_items", sends: "Item", match: ["Text", "Material"] }
const ITEMS = [
  { Item: "00010", Text: "Forks", Material: "TG11" },
  { Item: "00020", Text: "Steel knives", Material: "TG12" },
  { Item: "00030", Text: "Table knives", Material: "TG13" }
]

const sourced = Effect.fnUntraced(function* (slug: string, policy: object = {}, rules: ReadonlyArray<object> = []) {
  const { organization } = yield* changing(slug, [...RULES, ...rules] as never, policy as never)
  const fields = [LIST.fields[0]!, { slug: "item", name: "Item", kind: "reference", from: FROM, needed: true }, FIELDS[2]!] // prettier-ignore
  const { actions } = JSON.parse(
    fileOf(
      service.url,
      { url: `${service.url}/orders/{order}/items/{item}`, body: { OrderQuantity: "{quantity:text}" } },
      { fields }
    )
  ) as { readonly actions: ReadonlyArray<object> }
  const list = { ...LIST, http: { ...LIST.http, url: `${service.url}/orders/{order}/items` } }
  yield* (yield* Actions).publish(organization, JSON.stringify({ version: 1, actions: [list, ...actions] }), "test")
  listing(ITEMS)
  return { organization, buyer: yield* person(organization, `buyer@${slug}.example`, "admin") }
})

/** Has the service list items, and do everything else. */
const listing = (results: ReadonlyArray<object>) =>
  service.answers(({ method }, response) => {
    response.setHeader("content-type", "application/json").end(method === "GET" ? JSON.stringify({ d: { results } }) : "{}") // prettier-ignore
  })

layer(Configured, { excludeTestServices: true })("a reference to an entry of another system", (it) => {
  it.effect("is found among what an action reads there, shown with its name and source, and sent once", () =>
    Effect.gen(function* () {
      const { buyer } = yield* sourced("there")
      const draft = yield* buyer.propose(step())
      expect(draft.preview.steps[0]!.cells[1]!.becomes).toBe("00010 (Forks, TG11, read from “Items of an order”)")
      for (const item of ["00010", "10", "tg11", "FORKS", "the first item"])
        expect((yield* buyer.propose(step({ item }))).changeId).toBe(draft.changeId)
      listing(ITEMS)
      yield* confirmed(buyer, draft)
      yield* sent
      expect(service.asked.map(({ body, method, path }) => [method, path, body])).toEqual([
        ["PATCH", "/orders/4500000001/items/00010", `{"OrderQuantity":"44"}`]
      ])
    })
  )

  it.effect("that fits several is a choice of them; one that fits none is said", () =>
    Effect.gen(function* () {
      const { buyer } = yield* sourced("several")
      expect(yield* Effect.flip(buyer.propose(step({ item: "knives" })))).toMatchObject({
        _tag: "Unclear",
        choices: [
          { id: "00020", name: "00020 Steel knives, TG12" },
          { id: "00030", name: "00030 Table knives, TG13" }
        ]
      })
      for (const item of ["plates", "00040", "the ninth item"])
        expect(yield* Effect.flip(buyer.propose(step({ item })))).toMatchObject({
          _tag: "InvalidInput",
          message: expect.stringMatching(/^item: there is no /)
        })
    })
  )

  it.effect("isn't looked for in anything but a whole answer in the declared form", () =>
    Effect.gen(function* () {
      const { buyer } = yield* sourced("answers")
      const json = (status: number, body: string) => (_: unknown, response: ServerResponse) =>
        void response.writeHead(status, { "content-type": "application/json" }).end(body)
      const many = JSON.stringify({ d: { results: Array.from({ length: 1001 }, () => ITEMS[0]) } })
      for (const answer of [
        json(500, "{}"),
        json(401, "{}"),
        json(200, "{}"),
        json(200, `{"d":{"results":[{"Other":1}]}}`),
        json(200, many),
        (_: unknown, response: ServerResponse) => void response.setHeader("content-type", "text/html").end("<p>Hi</p>"),
        (_: unknown, response: ServerResponse) => void response.writeHead(302, { location: "/" }).end(),
        (_: unknown, response: ServerResponse) => void response.destroy()
      ]) {
        service.answers(answer)
        expect(yield* Effect.flip(buyer.propose(step()))).toMatchObject({ _tag: "Unavailable" })
      }
      service.answers(json(404, `{"error":{"errordetails":[{"message":"Order 4500000001 doesn't exist"}]}}`))
      expect(yield* Effect.flip(buyer.propose(step()))).toMatchObject({
        _tag: "InvalidInput",
        message: "Order 4500000001 doesn't exist"
      })
    })
  )

  it.effect("is neither looked up for nor shown to a person who may not read it there", () =>
    Effect.gen(function* () {
      const confirm = [{ action: "invoke", name: "set_quantity", by: "second", approvers: ["rep"] }]
      const { buyer, organization } = yield* sourced("unread", { confirm })
      const rep = yield* person(organization, "rep@unread.example", "rep")
      const { asked } = service
      expect(yield* Effect.flip(rep.propose(step()))).toMatchObject({ _tag: "NotAllowed" })
      expect(asked).toEqual([])
      const { changeId, preview } = yield* buyer.propose(step())
      yield* buyer.confirm({ changeId, digest: preview.digest! })
      const shown = yield* rep.preview(changeId)
      expect(shown).toMatchObject({ complete: false })
      expect(JSON.stringify(shown)).not.toMatch(/Forks|00010/)
      expect(yield* Effect.flip(rep.confirm({ changeId, digest: preview.digest! }))).toMatchObject({ _tag: "NotAllowed" }) // prettier-ignore
    })
  )

  it.effect("is read on request too, which the audit log notes without values; it is no step of a change", () =>
    Effect.gen(function* () {
      const { buyer, organization } = yield* sourced("read")
      const changes = yield* Changes
      const reading = { actionId: "list_items", values: valuesOf({ order: "4500000001" }) }
      const read = yield* changes.read(reading).pipe(Effect.provideService(CurrentPrincipal, buyer.principal))
      expect(read.rows).toEqual(ITEMS)
      expect(yield* Effect.flip(buyer.propose({ steps: [reading] }))).toMatchObject({ _tag: "InvalidInput" })
      const { owner } = yield* Database
      expect(
        yield* owner`SELECT actor, subject, details FROM max.audit_log WHERE organization_id = ${organization.id} AND action = 'action.read'`
      ).toEqual([{ actor: buyer.anchorId, subject: "list_items", details: '{"version":1}' }])
      const rep = yield* person(organization, "rep@read.example", "rep")
      expect(
        yield* Effect.flip(changes.read(reading).pipe(Effect.provideService(CurrentPrincipal, rep.principal)))
      ).toMatchObject({ _tag: "UnknownName" })
    })
  )
})

describe("a file", () => {
  const problems = (...fields: ReadonlyArray<object>) => {
    const all = fields.map((more, at) => ({
      slug: `f${at}`,
      name: "F",
      kind: "reference",
      target: "people",
      needed: true,
      ...more
    }))
    const body = Object.fromEntries(all.map(({ slug }) => [slug, `{${slug}}`]))
    const text = fileOf("https://sap.example.com", { url: "https://sap.example.com/x", body }, { fields: all })
    const reading = readActions(text, { catalog: systemCatalog, hosts: [] })
    return "problems" in reading ? reading.problems.map(({ path }) => path.replace("actions[0].fields", "")) : []
  }
  test.each<readonly [string, ReadonlyArray<object>, string]>([
    ["a type that doesn't exist", [{ target: "orders" }], "[0].target"],
    ["no type", [{ target: undefined }], "[0].target"],
    ["a column that doesn't exist", [{ sends: "number" }], "[0].sends"],
    ["a column of many", [{ target: "meetings", sends: "attendees" }], "[0].sends"],
    ["an outer field that doesn't exist", [{ within: "order" }], "[0].within"],
    [
      "an outer field that no column leads to",
      [{ target: "companies", within: "f1" }, { target: "meetings" }],
      "[0].within"
    ],
    ["a target of a text", [{ kind: "text" }], "[0].target"],
    ["a default", [{ default: "x" }], "[0].default"]
  ])("is refused with its place: %s", (_, fields, place) => expect(problems(...fields)).toContain(place))

  const sourceProblems = (from: object, more: object = {}, http: object = {}) => {
    const { actions } = JSON.parse(
      fileOf(
        "https://sap.example.com",
        { url: "https://sap.example.com/{order}/{item}", body: { q: "{quantity}" } },
        {
          fields: [LIST.fields[0], { slug: "item", name: "Item", kind: "reference", needed: true, from: { ...FROM, ...from } }, FIELDS[2]] // prettier-ignore
        }
      )
    ) as { readonly actions: ReadonlyArray<object> }
    const list = { ...LIST, ...more, http: { ...LIST.http, url: "https://sap.example.com/{order}", ...http } }
    const reading = readActions(JSON.stringify({ version: 1, actions: [list, ...actions] }), { catalog: systemCatalog, hosts: [] }) // prettier-ignore
    return "problems" in reading ? reading.problems.map(({ path }) => path) : []
  }
  test("may have references to what a read action of it lists", () => expect(sourceProblems({})).toEqual([]))
  test.each<readonly [string, string, Parameters<typeof sourceProblems>]>([
    ["an action that doesn't exist", "actions[1].fields[1].from.action", [{ action: "list_orders" }]],
    ["an action that changes something", "actions[1].fields[1].from.action", [{ action: "set_quantity" }]],
    ["a result that isn't read", "actions[1].fields[1].from.sends", [{ sends: "Id" }]],
    ["a result to match that isn't read", "actions[1].fields[1].from.match", [{ match: ["Name"] }]],
    ["a source without entries", "actions[1].fields[1].from.action", [{}, {}, { entries: undefined }]],
    ["entries that are several lists", "actions[0].http.entries", [{}, {}, { entries: "/d/*" }]],
    ["a read that is confirmed", "actions[0].confirm", [{}, { confirm: "once" }]],
    ["a read with another method", "actions[0].http.method", [{}, {}, { method: "POST" }]],
    ["a read without a result", "actions[0].http.result", [{}, {}, { result: undefined }]],
    ["a change by GET", "actions[0].http.method", [{}, { category: "write" }]],
    [
      "a source that needs another field",
      "actions[1].fields[1].from.action",
      [{}, { fields: [...LIST.fields, { slug: "year", name: "Year", kind: "integer", needed: true }] }]
    ]
  ])("is refused with its place: a source with %s", (_, place, given) =>
    expect(sourceProblems(...given)).toContain(place)
  )

  test("may have references", () => expect(problems({}, { within: "f0" }, { target: "companies" })).toEqual([]))
})
