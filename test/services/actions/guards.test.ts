/** Declared actions: names that lead to private addresses, limits, groups, a second person, repetition, and a restored backup. */
import { layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it as test } from "vitest"
import { connectOwner, Database } from "../../../src/database/Database.ts"
import { sourceOf } from "../../../src/database/DatabaseSource.ts"
import { Env } from "../../../src/env.ts"
import { Actions } from "../../../src/services/actions/Actions.ts"
import { guardedLookup } from "../../../src/services/network/hosts.ts"
import { ChangeOutbox } from "../../../src/services/changes/calls/ChangeOutbox.ts"
import { backup, restore } from "../../../src/services/operations/Backup.ts"
import { changing, confirmed, person, valuesOf } from "../../support/changes.ts"
import { freshDatabase, TestServices } from "../../support/database.ts"
import { fileOf, startService } from "../../support/service.ts"

let service: Awaited<ReturnType<typeof startService>>
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const settings = () => ({ hosts: [service.host], secretOf: () => Effect.fail({ message: "no secrets" }) })
const Configured = Layer.unwrap(
  Effect.sync(() => Layer.merge(Actions.layer(settings()), ChangeOutbox.layer(settings())))
).pipe(Layer.provideMerge(TestServices))

const INVOKE = { id: "buys", effect: "allow", role: "admin", action: "invoke", name: "set_quantity" }

/** An organization with the action, and a person who may use it. */
const buying = Effect.fnUntraced(function* (slug: string, http = {}, rest = {}, policy = {}) {
  const { organization } = yield* changing(slug, [INVOKE], policy)
  yield* (yield* Actions).publish(organization, fileOf(service.url, http, rest), "test")
  return { organization, buyer: yield* person(organization, `buyer@${slug}.example`, "admin") }
})
const step = (values: Readonly<Record<string, string>> = {}) => ({
  steps: [{ actionId: "set_quantity", values: valuesOf({ order: "4500000001", quantity: "44", ...values }) }]
})
const sent = Effect.gen(function* () {
  const outbox = yield* ChangeOutbox
  while (yield* outbox.deliver);
})
const states = Effect.fnUntraced(function* (changeId: string) {
  const { owner } = yield* Database
  const rows = yield* owner<{
    state: string
    error: string | null
  }>`SELECT state, error FROM max.change_outbox WHERE change_id = ${changeId}`
  return rows.map(({ error, state }) => [state, error])
})

describe("a name", () => {
  const resolved = (url: string, listed: ReadonlyArray<string> = []) =>
    new Promise<unknown>((resolve) =>
      guardedLookup(new URL(url), listed)(new URL(url).hostname, { all: true }, (error, addresses) =>
        resolve(error === null ? addresses : (error as { code?: string }).code)
      )
    )

  test("that leads to a private address isn't connected to, unless the operator lists its host", async () => {
    expect(await resolved("https://localhost")).toBe("PRIVATE")
    expect(await resolved("https://localhost", ["other.example"])).toBe("PRIVATE")
    expect(await resolved("https://localhost", ["localhost"])).toEqual(
      expect.arrayContaining([expect.objectContaining({ address: expect.stringMatching(/^(127\.0\.0\.1|::1)$/) })])
    )
    expect(await resolved("https://localhost:8443", ["localhost:8443"])).toBeInstanceOf(Array)
  })
})

layer(Configured, { excludeTestServices: true })("a declared action", (it) => {
  it.effect("is proposed as often as its limits allow, each person by itself", () =>
    Effect.gen(function* () {
      const { buyer, organization } = yield* buying("limits", {}, { limits: [{ n: 2, seconds: 3600 }] })
      yield* buyer.propose(step({ quantity: "1" }))
      const twice = step({ quantity: "2" }).steps.concat(step({ quantity: "3" }).steps)
      expect(yield* Effect.flip(buyer.propose({ steps: twice }))).toMatchObject({ _tag: "TooManyCalls" })
      const second = yield* buyer.propose(step({ quantity: "2" }))
      const refused = yield* Effect.flip(buyer.propose(step({ quantity: "3" })))
      expect(refused).toMatchObject({ _tag: "TooManyCalls", message: expect.stringContaining("at most 2 in 3600") })
      // What is known already counts once.
      expect((yield* buyer.propose(step({ quantity: "2" }))).changeId).toBe(second.changeId)
      const other = yield* person(organization, "other@limits.example", "admin")
      expect((yield* other.propose(step({ quantity: "3" }))).preview.state).toBe("open")
    })
  )

  it.effect("takes a group of items, checks each, shows them as words and sends them as JSON", () =>
    Effect.gen(function* () {
      const items = { slug: "items", name: "Items", kind: "group", needed: true, maxLength: 2 }
      const fields = [
        { slug: "supplier", name: "Supplier", kind: "text", needed: true },
        {
          ...items,
          fields: [
            { slug: "material", name: "Material", kind: "text", needed: true },
            { slug: "quantity", name: "Quantity", kind: "integer", needed: true, min: 1 },
            { slug: "plant", name: "Plant", kind: "text", default: "1010" }
          ]
        }
      ]
      const entry = { Material: "{material}", Quantity: "{quantity:text}", Plant: "{plant}", By: "{supplier}" }
      const body = { Supplier: "{supplier}", to_Item: { results: { each: "items", entry } } }
      const { buyer } = yield* buying("groups", { method: "POST", url: `${service.url}/orders`, body }, { fields })
      const ordering = (items: string) => ({
        steps: [{ actionId: "set_quantity", values: valuesOf({ supplier: "17300001", items }) }]
      })
      for (const [items, message] of [
        ["forks", "it must be a JSON list"],
        [`[{"material":"TG11"}]`, "entry 1: quantity is needed"],
        [`[{"material":"TG11","quantity":0}]`, "entry 1: quantity: it must be at least 1"],
        [`[{"material":"TG11","quantity":1,"price":2}]`, "entry 1: there is no field"],
        [`[{"material":{"a":1},"quantity":1}]`, "entry 1: material: it must be a text"],
        [`[${Array.from({ length: 3 }, () => `{"material":"A","quantity":1}`).join(",")}]`, "more than 2 entries"]
      ] as const)
        expect(yield* Effect.flip(buyer.propose(ordering(items)))).toMatchObject({
          _tag: "InvalidInput",
          message: expect.stringContaining(message)
        })
      const draft = yield* buyer.propose(
        ordering(`[{"material":"TG11 {supplier}","quantity":"10"},{"material":"TG12","quantity":2,"plant":"1710"}]`)
      )
      expect(draft.preview.steps[0]!.cells[1]).toMatchObject({
        name: "Items",
        becomes: "Material TG11 {supplier}, Quantity 10, Plant 1010; Material TG12, Quantity 2, Plant 1710"
      })
      service.answers()
      yield* confirmed(buyer, draft)
      yield* sent
      expect(JSON.parse(service.asked[0]!.body)).toEqual({
        Supplier: "17300001",
        to_Item: {
          results: [
            { Material: "TG11 {supplier}", Quantity: "10", Plant: "1010", By: "17300001" },
            { Material: "TG12", Quantity: "2", Plant: "1710", By: "17300001" }
          ]
        }
      })
    })
  )

  it.effect("that the policy gives to a second person is sent after that person's yes, and never after the first", () =>
    Effect.gen(function* () {
      const confirm = [{ action: "invoke", name: "set_quantity", by: "second", approvers: ["manager"] }]
      const { buyer, organization } = yield* buying("second", {}, {}, { confirm })
      const manager = yield* person(organization, "manager@second.example", "manager")
      service.answers()
      const draft = yield* buyer.propose(step())
      expect(draft.preview).toMatchObject({ level: "second", approvers: ["manager"] })
      yield* buyer.confirm({ changeId: draft.changeId, digest: draft.preview.digest! })
      yield* sent
      expect([yield* states(draft.changeId), service.asked]).toEqual([[], []])
      const shown = yield* manager.preview(draft.changeId)
      expect(shown).toMatchObject({
        complete: true,
        steps: [{ call: { host: service.host }, cells: [{ becomes: "4500000001" }, { becomes: "44" }] }]
      })
      yield* manager.confirm({ changeId: draft.changeId, digest: shown.digest! })
      yield* sent
      expect(service.asked).toHaveLength(1)
      expect(yield* states(draft.changeId)).toEqual([["done", null]])
    })
  )

  it.effect("asked for again is the same change, and one request, however often it is confirmed", () =>
    Effect.gen(function* () {
      const { buyer } = yield* buying("again")
      service.answers()
      const { steps } = step()
      const draft = yield* buyer.propose({ steps: [...steps, ...steps] })
      expect(draft.preview.rows).toBe(1)
      expect((yield* buyer.propose(step({ quantity: " 44 " }))).changeId).toBe(draft.changeId)
      yield* confirmed(buyer, draft)
      expect(yield* confirmed(buyer, draft)).toMatchObject({ _tag: "Applied" })
      yield* sent
      yield* confirmed(buyer, draft)
      yield* sent
      expect(service.asked).toHaveLength(1)
      const keyed = yield* buyer.propose({ ...step(), key: "k1" })
      expect((yield* buyer.propose({ ...step(), key: "k1" })).changeId).toBe(keyed.changeId)
      expect(yield* Effect.flip(buyer.propose({ ...step({ quantity: "45" }), key: "k1" }))).toMatchObject({
        _tag: "InvalidInput"
      })
    })
  )

  it.effect("that waited when a backup was made is unknown in the restored database, and isn't sent from it", () =>
    Effect.gen(function* () {
      const { buyer } = yield* buying("restored")
      service.answers()
      const draft = yield* buyer.propose(step())
      yield* confirmed(buyer, draft)
      const folder = mkdtempSync(join(tmpdir(), "max-actions-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true, force: true })))
      const file = join(folder, "data.backup")
      const { databaseUrl } = yield* Env
      const { owner } = yield* connectOwner(sourceOf({ url: databaseUrl! }))
      yield* backup(owner, file, { force: false })
      const to = yield* connectOwner(sourceOf({ url: Redacted.make(yield* freshDatabase) }))
      yield* restore(to, file)
      expect(
        yield* to.owner`SELECT state, unsure, error FROM max.change_outbox WHERE change_id = ${draft.changeId}`
      ).toEqual([{ state: "unknown", unsure: true, error: "restored" }])
      expect(yield* states(draft.changeId)).toEqual([["queued", null]])
    }).pipe(Effect.scoped)
  )
})
