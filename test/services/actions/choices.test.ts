/** What can be chosen for a field of an action, through the person's own plan, and problems at their fields. */
import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { afterAll, beforeAll, expect } from "vitest"
import { CurrentPrincipal } from "../../../src/domain/Principal.ts"
import { Actions } from "../../../src/services/actions/Actions.ts"
import { Changes } from "../../../src/services/changes/Changes.ts"
import { decodeId } from "../../../src/domain/ids.ts"
import { IdentityResolver } from "../../../src/services/members/IdentityResolver.ts"
import { addPeople } from "../../support/atlas.ts"
import { changing, person, valuesOf } from "../../support/changes.ts"
import { servicesWith } from "../../support/database.ts"
import { fileOf, startService } from "../../support/service.ts"

let service: Awaited<ReturnType<typeof startService>>
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const Configured = Layer.unwrap(Effect.sync(() => servicesWith({ privateHosts: [service.host] })))

const rule = (role: string, rest: object) => ({ id: `${role}-${JSON.stringify(rest).length}`, effect: "allow", role, ...rest }) // prettier-ignore
const RULES = [
  rule("admin", { action: "invoke", name: "set_quantity" }),
  rule("rep", { action: "invoke", name: "set_quantity" }),
  rule("admin", { action: "invoke", name: "list_items" }),
  rule("rep", { action: "read", type: "people", columns: "*", where: { status: { not: "hidden" } } })
]
const LIST = {
  slug: "list_items",
  name: "Items of an order",
  description: "Lists the items of an order.",
  category: "read",
  fields: [{ slug: "order", name: "Order", kind: "text", needed: true }]
}
const FIELDS = [
  { slug: "order", name: "Order", kind: "reference", target: "people", sends: "name", needed: true },
  { slug: "item", name: "Item", kind: "reference", target: "people", sends: "status", within: "order", needed: true },
  { slug: "line", name: "Line", kind: "reference", from: { action: "list_items", sends: "Item", match: ["Text"] } },
  { slug: "quantity", name: "Quantity", kind: "number", needed: true, min: 0 },
  {
    slug: "parts",
    name: "Part",
    kind: "group",
    fields: [
      { slug: "material", name: "Material", kind: "text", needed: true, maxLength: 4 },
      { slug: "pieces", name: "Pieces", kind: "integer", min: 1 }
    ]
  }
]

const ordering = Effect.fnUntraced(function* (slug: string) {
  const { organization } = yield* changing(slug, RULES)
  const http = { url: `${service.url}/{order}/{item}`, body: { l: "{line}", n: "{quantity}", p: { each: "parts", entry: { m: "{material}", n: "{pieces}" } } } } // prettier-ignore
  const { actions } = JSON.parse(fileOf(service.url, http, { fields: FIELDS })) as {
    readonly actions: ReadonlyArray<object>
  }
  const list = {
    ...LIST,
    http: { method: "GET", url: `${service.url}/{order}/items`, entries: "/items", result: { Item: "/n", Text: "/t" } }
  }
  yield* (yield* Actions).publish(organization, JSON.stringify({ version: 1, actions: [list, ...actions] }), "test")
  const orders = yield* addPeople(organization, [
    { name: "4500000001", status: "open" },
    { name: "4500000002", status: "open" }
  ])
  const of = (order: number) => ({ owner: String(decodeId(orders[order]!)) })
  yield* addPeople(organization, [
    { name: "Forks", status: "00010", ...of(0) },
    { name: "Steel knives", status: "00020", ...of(0) },
    { name: "Table knives", status: "00030", ...of(1) },
    { name: "Hidden knives", status: "hidden", ...of(0) }
  ] as never)
  const chooser = Effect.fnUntraced(function* (role: string) {
    const email = `${role}@${slug}-chooser.example`
    const buyer = yield* person(organization, email, role)
    const { principal } = yield* (yield* IdentityResolver).admit(organization, { kind: "email", key: email })
    const changes = yield* Changes
    const names = (
      field: string,
      text: string,
      values: Readonly<Record<string, string>> = {},
      actionId = "set_quantity"
    ) =>
      changes.choices({ actionId, field, text, values }).pipe(
        Effect.map((choices) => choices.map(({ name }) => name)),
        Effect.provideService(CurrentPrincipal, principal)
      )
    return { ...buyer, names, changes, principal }
  })
  return { organization, orders, chooser }
})

layer(Configured, { excludeTestServices: true })("choices for a field of an action", (it) => {
  it.effect("are the entities that a text fits, among those that the person sees, within the one that is chosen", () =>
    Effect.gen(function* () {
      const { chooser, orders } = yield* ordering("choose")
      const [admin, rep] = [yield* chooser("admin"), yield* chooser("rep")]
      expect(yield* admin.names("order", "45000000")).toEqual(["4500000001", "4500000002"])
      for (const order of ["4500000001", orders[0]!]) {
        expect(yield* admin.names("item", "knives", { order })).toEqual(["Steel knives", "Hidden knives"])
        expect(yield* rep.names("item", "knives", { order })).toEqual(["Steel knives"])
        expect(yield* rep.names("item", "hidden", { order })).toEqual([])
        expect(yield* rep.names("item", "", { order })).toEqual(["Forks", "Steel knives"])
      }
      expect(yield* admin.names("item", "00010", { order: "4500000001" })).toEqual(["Forks"])
      expect(yield* admin.names("item", "' OR 1=1 --", { order: "4500000001" })).toEqual([])
      expect(yield* admin.names("item", "x".repeat(5000), { order: "4500000001" })).toEqual([])
      expect(yield* admin.names("item", "", { order: "4500000001" })).toHaveLength(3)
      expect(yield* admin.names("item", "")).toEqual([])
      expect(yield* Effect.flip(admin.names("item", "", { order: "none" }))).toMatchObject({ _tag: "InvalidInput" })
    })
  )

  it.effect("are read in the other system for who may read there, and counted as calls", () =>
    Effect.gen(function* () {
      const { chooser } = yield* ordering("read")
      const [admin, rep] = [yield* chooser("admin"), yield* chooser("rep")]
      const items = [{ n: "00010", t: "Forks" }, { n: "00020", t: "Knives" }] // prettier-ignore
      service.answers((_, response) => void response.setHeader("content-type", "application/json").end(JSON.stringify({ items }))) // prettier-ignore
      expect(yield* admin.names("line", "", { order: "4500000001" })).toEqual(["00010 Forks", "00020 Knives"])
      expect(yield* admin.names("line", "kni", { order: "4500000001" })).toEqual(["00020 Knives"])
      expect(service.asked.map(({ path }) => path)).toEqual(["/4500000001/items", "/4500000001/items"])
      expect(yield* Effect.flip(admin.names("line", ""))).toMatchObject({ message: "line needs order." })
      expect(yield* Effect.flip(rep.names("line", "", { order: "4500000001" }))).toMatchObject({ _tag: "NotAllowed" })
      let refused: unknown
      for (let call = 0; call < 100 && refused === undefined; call++)
        refused = yield* Effect.match(admin.names("order", "x"), { onFailure: (error) => error, onSuccess: () => undefined }) // prettier-ignore
      expect(refused).toMatchObject({ _tag: "TooManyCalls" })
    })
  )

  it.effect("don't exist for other fields, other actions and actions that aren't open, in the same words", () =>
    Effect.gen(function* () {
      const { chooser } = yield* ordering("closed")
      const rep = yield* chooser("rep")
      for (const [field, action] of [
        ["quantity", "set_quantity"],
        ["parts", "set_quantity"],
        ["__proto__", "set_quantity"],
        ["owner", "people.create"],
        ["owner", "nothing.create"],
        ["order", "list_items"],
        ["order", "toString"]
      ] as const) {
        const error = yield* Effect.flip(rep.names(field, "", {}, action))
        const said =
          action === "set_quantity" ? `There is no field "${field}" that stands` : `There is no action "${action}".`
        expect(error).toMatchObject({ _tag: "UnknownName", message: expect.stringContaining(said) })
      }
    })
  )
})

layer(Configured, { excludeTestServices: true })("a refused proposal", (it) => {
  it.effect("names every field that is wrong, also within a group, and the one that several entities fit", () =>
    Effect.gen(function* () {
      const { chooser } = yield* ordering("problems")
      const buyer = yield* chooser("admin")
      const refusal = (values: Readonly<Record<string, string>>) =>
        Effect.flip(buyer.propose({ steps: [{ actionId: "set_quantity", values: valuesOf(values) }] }))
      expect(
        yield* refusal({
          quantity: "-1",
          parts: `[{"material":"TG11"},{"pieces":"0"},{"material":"too long"}]`,
          x: "1"
        })
      ).toMatchObject({
        message: "Quantity: it must be at least 0.",
        problems: [
          { field: "quantity", message: "it must be at least 0" },
          { field: "parts/1/pieces", message: "it must be at least 1" },
          { field: "parts/1/material", message: "it is needed" },
          { field: "parts/2/material", message: "it has more than 4 characters" },
          { field: "x", message: expect.stringContaining("there is no field") },
          { field: "order", message: "it is needed" },
          { field: "item", message: "it is needed" }
        ]
      })
      const whole = { order: "4500000001", item: "knives", quantity: "1" }
      expect(yield* refusal(whole)).toMatchObject({ _tag: "Unclear", field: "item" })
      expect(yield* refusal({ ...whole, item: "plates" })).toMatchObject({
        message: `item: there is no person "plates".`,
        problems: [{ field: "item", message: `there is no person "plates".` }]
      })
      expect(
        yield* Effect.flip(
          buyer.propose({
            steps: [{ actionId: "people.create", values: valuesOf({ name: "A", owner: "none at all" }) }]
          })
        )
      ).toMatchObject({ problems: [{ field: "owner" }] })
    })
  )
})
