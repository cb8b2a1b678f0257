/** Declared actions: from their file to the request, and what each answer of the service comes to. */
import { layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { Actions } from "../../../src/services/actions/Actions.ts"
import { AuditLog } from "../../../src/services/audit/AuditLog.ts"
import { ChangeOutbox } from "../../../src/services/changes/calls/ChangeOutbox.ts"
import { as, changing, confirmed, person, publish, valuesOf } from "../../support/changes.ts"
import { TestServices } from "../../support/database.ts"
import { fileOf, startService } from "../../support/service.ts"

let service: Awaited<ReturnType<typeof startService>>
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const INVOKE = { id: "buys", effect: "allow", role: "admin", action: "invoke", name: "set_quantity" }
const settings = () => ({
  hosts: [service.host],
  secretOf: (reference: string) =>
    reference === "env:TOKEN" ? Effect.succeed("s3cret") : Effect.fail({ message: "no such secret" })
})
const Configured = Layer.unwrap(
  Effect.sync(() => Layer.merge(Actions.layer(settings()), ChangeOutbox.layer(settings())))
).pipe(Layer.provideMerge(TestServices))

const buying = Effect.fnUntraced(function* (slug: string, http = {}, rest = {}) {
  const { admin, organization } = yield* changing(slug, [INVOKE])
  const actions = yield* Actions
  yield* actions.publish(organization, fileOf(service.url, http, rest), "test")
  const { organizationId } = admin.principal
  return { organization, admin: yield* readmitted(organization), organizationId }
})

/** The admin under the epoch of now. */
const readmitted = Effect.fnUntraced(function* (organization: Organization) {
  return yield* person(organization, `buyer@${organization.slug}.example`, "admin")
})

type Buyer = Effect.Success<ReturnType<typeof readmitted>>

const step = (values: Readonly<Record<string, string>> = {}) => ({
  steps: [{ actionId: "set_quantity", values: valuesOf({ order: "4500000001", quantity: "44", ...values }) }]
})

/** Queues one confirmed call. */
const queued = Effect.fnUntraced(function* (admin: Buyer, values = {}) {
  const draft = yield* admin.propose(step(values))
  yield* Effect.forkChild(confirmed(admin, draft))
  const { owner } = yield* Database
  yield* Effect.repeat(owner`SELECT 1 FROM max.change_outbox WHERE change_id = ${draft.changeId}`, {
    until: (rows) => rows.length > 0
  })
  return draft.changeId
})

const outcome = Effect.fnUntraced(function* (changeId: string) {
  const { owner } = yield* Database
  const [row] = yield* owner<{ state: string; attempts: number; error: string | null; wait: number }>`
    SELECT state, attempts, error, extract(epoch FROM next_at - clock_timestamp())::int AS wait FROM max.change_outbox WHERE change_id = ${changeId}`
  return row!
})

/** Makes the next attempt due. */
const hurry = Effect.fnUntraced(function* (changeId: string) {
  const { owner } = yield* Database
  yield* owner`UPDATE max.change_outbox SET next_at = clock_timestamp(), leased_until = NULL WHERE change_id = ${changeId}`
})

layer(Configured, { excludeTestServices: true })("a declared action", (it) => {
  it.effect(
    "is proposed, confirmed, sent once with its key and secret after the commit, and shown with its result",
    () =>
      Effect.gen(function* () {
        service.answers()
        const headers = { authorization: "Bearer {token}" }
        const { admin, organization } = yield* buying("buys", {
          headers,
          secrets: { token: "env:TOKEN" },
          result: { Id: "/id" }
        })
        expect((yield* admin.actions).map(({ action }) => action.slug)).toContain("set_quantity")
        const draft = yield* admin.propose(step())
        expect(draft.preview).toMatchObject({
          state: "open",
          level: "once",
          rows: 1,
          steps: [
            {
              actionId: "set_quantity",
              call: { host: service.host },
              cells: [
                { name: "Order", becomes: "4500000001" },
                { name: "Quantity", becomes: "44" }
              ]
            }
          ]
        })
        const outbox = yield* ChangeOutbox
        expect(yield* outbox.deliver).toBe(false)
        const waiting = yield* Effect.forkChild(confirmed(admin, draft))
        yield* Effect.repeat(outbox.deliver, { until: (sent) => sent })
        const done = yield* Fiber.join(waiting)
        expect(done).toMatchObject({
          _tag: "Applied",
          receipt: { message: "“Change the quantity of an item” is done (Id: 7)." }
        })
        expect(service.asked).toEqual([
          expect.objectContaining({ method: "PATCH", path: "/orders/4500000001", body: `{"OrderQuantity":"44"}` })
        ])
        expect(service.asked[0]!.headers).toMatchObject({
          authorization: "Bearer s3cret",
          "idempotency-key": expect.stringMatching(/^[0-9a-f]{40}$/)
        })
        expect((yield* admin.preview(draft.changeId)).steps[0]!.call).toMatchObject({ state: "done" })
        expect(yield* outbox.deliver).toBe(false)
        expect(yield* Effect.flip(admin.undo(draft.changeId))).toMatchObject({ _tag: "Decided" })
        const log = yield* AuditLog
        const records = JSON.stringify(
          yield* log.list(organization, { chain: "changes", limit: 50 }),
          (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)
        )
        for (const event of ["action.published", "change.applied", "change.sent"]) expect(records).toContain(event)
        expect(records).not.toContain("4500000001")
      })
  )

  it.effect("is open to no one whom no rule allows it, or whom a rule denies it", () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* buying("denied")
      const rep = yield* person(organization, "rep@denied.example", "rep")
      expect(yield* Effect.flip(rep.propose(step()))).toMatchObject({ _tag: "UnknownName" })
      const scoped = yield* as({ ...admin.principal, scope: [{ type: "people", action: "update", columns: "*" }] })
      expect(yield* Effect.flip(scoped.propose(step()))).toMatchObject({ _tag: "UnknownName" })
      const draft = yield* admin.propose(step())
      yield* publish(organization, [INVOKE, { ...INVOKE, id: "not", effect: "deny" }])
      expect(yield* Effect.flip(confirmed(admin, draft))).toMatchObject({ _tag: "NotAllowed" })
      const { owner } = yield* Database
      expect(yield* owner`SELECT 1 FROM max.change_outbox WHERE change_id = ${draft.changeId}`).toEqual([])
    })
  )

  it.effect("isn't confirmed in another version than was shown, nor after it was retired", () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* buying("versions")
      const actions = yield* Actions
      const draft = yield* admin.propose(step())
      yield* actions.publish(organization, fileOf(service.url, { seconds: 20 }), "test")
      expect(yield* Effect.flip(confirmed(admin, draft))).toMatchObject({ _tag: "Stale" })
      const again = yield* admin.propose(step())
      yield* actions.retire(organization, "set_quantity", "test")
      expect(yield* Effect.flip(confirmed(admin, again))).toMatchObject({ _tag: "NotAllowed" })
      expect(yield* actions.list(organization)).toMatchObject([{ slug: "set_quantity", version: 3, retired: true }])
    })
  )

  it.effect("of a newer version of Max is unavailable by its name, and no other action is", () =>
    Effect.gen(function* () {
      const newer = { id: "newer", effect: "allow", role: "admin", action: "invoke", name: "set_price" }
      const { organization } = yield* changing("newer", [INVOKE, newer])
      const actions = yield* Actions
      const file = (slug: string) => fileOf(service.url, {}, { slug })
      for (const slug of ["set_quantity", "set_price"]) yield* actions.publish(organization, file(slug), "test")
      const price = (admin: Pick<Buyer, "propose">) =>
        admin.propose({ steps: [{ ...step().steps[0]!, actionId: "set_price" }] })
      const admin = yield* readmitted(organization)
      const open = yield* price(admin)
      const { owner } = yield* Database
      yield* owner`UPDATE max.actions SET definition = jsonb_set(definition, '{category}', '"telepathy"')
        WHERE organization_id = ${organization.id} AND slug = 'set_price'`
      yield* owner`UPDATE max.organizations SET epoch = epoch + 1 WHERE organization_id = ${organization.id}`
      const after = yield* person(organization, "after@newer.example", "admin")
      expect((yield* after.actions).flatMap(({ action }) => (action.slug.startsWith("set_") ? [action.slug] : []))).toEqual(["set_quantity"]) // prettier-ignore
      expect(yield* admin.propose(step())).toMatchObject({ known: false })
      const unavailable = { _tag: "NotYet", message: expect.stringMatching(/^set_price isn't available here/) }
      expect(yield* Effect.flip(price(admin))).toMatchObject(unavailable)
      // A draft of it waits until this process is updated.
      expect(yield* Effect.flip(confirmed(admin, open))).toMatchObject(unavailable)
      expect(yield* admin.preview(open.changeId)).toMatchObject({ state: "open" })
      const rep = yield* person(organization, "rep@newer.example", "rep")
      expect(yield* Effect.flip(price(rep))).toMatchObject({ _tag: "UnknownName" })
      expect(yield* Effect.flip(actions.publish(organization, file("set_price"), "test"))).toMatchObject({
        details: [expect.stringContaining("newer version")]
      })
      yield* actions.retire(organization, "set_price", "test")
      expect(yield* Effect.flip(price(admin))).toMatchObject({ _tag: "UnknownName" })
    })
  )

  describe("whose service", () => {
    const cases: ReadonlyArray<readonly [string, object, Parameters<typeof service.answers>[0], object]> = [
      [
        "refuses with a reason is refused with it",
        { problem: ["/error/errordetails/*/message"] },
        (_, response) =>
          void response
            .writeHead(409, { "content-type": "application/json" })
            .end(`{"error":{"errordetails":[{"message":"Item is blocked"}]}}`),
        { state: "refused", error: "http-409" }
      ],
      [
        "answers with a redirect isn't followed",
        {},
        (_, response) => void response.writeHead(301, { location: "/elsewhere" }).end(),
        { state: "refused", error: "http-301" }
      ],
      [
        "asks for a pause gets the request again after it",
        {},
        (_, response) => void response.writeHead(429, { "retry-after": "120" }).end(),
        { state: "queued", error: "http-429" }
      ],
      [
        "fails gets the request again under its key",
        {},
        (_, response) => void response.writeHead(500).end(),
        { state: "queued", error: "http-500" }
      ],
      [
        "fails and honors no key leaves it unknown",
        { key: undefined, once: true },
        (_, response) => void response.writeHead(500).end(),
        { state: "unknown", error: "http-500" }
      ],
      [
        "cuts the connection and honors no key leaves it unknown",
        { key: undefined, once: true },
        (_, response) => void response.destroy(),
        { state: "unknown" }
      ],
      [
        "answers with a page instead of the declared result leaves it unknown",
        { key: undefined, once: true, result: { Id: "/id" } },
        (_, response) => void response.setHeader("content-type", "text/html").end("<p>Sign in</p>"),
        { state: "unknown", error: "not-json" }
      ],
      [
        "answers without an end of 50 MB is read to a limit",
        { key: undefined, once: true, result: { Id: "/id" } },
        (_, response) => void response.setHeader("content-type", "application/json").end(`"${"x".repeat(50_000_000)}"`),
        { state: "unknown", error: "not-json" }
      ],
      [
        "answers after its time leaves it unknown",
        { key: undefined, once: true, seconds: 1 },
        () => {},
        { state: "unknown", error: "timeout" }
      ]
    ]
    for (const [at, [title, http, answer, expected]] of cases.entries())
      it.effect(title, () =>
        Effect.gen(function* () {
          const { admin } = yield* buying(`case-${at}`, http)
          service.answers(answer)
          const changeId = yield* queued(admin)
          const outbox = yield* ChangeOutbox
          expect(yield* outbox.deliver).toBe(true)
          const found = yield* outcome(changeId)
          expect(found).toMatchObject({ attempts: 1, ...expected })
          if (title.includes("pause")) expect(found.wait).toBeGreaterThan(100)
          if (title.includes("reason"))
            expect((yield* admin.preview(changeId)).receipt!.message).toContain("was refused: Item is blocked")
          expect(yield* outbox.deliver).toBe(false)
          expect(service.asked).toHaveLength(1)
          const { owner } = yield* Database
          yield* owner`DELETE FROM max.change_outbox WHERE change_id = ${changeId}`
        })
      )
  })

  it.effect("that may have been done isn't called refused when a later attempt is", () =>
    Effect.gen(function* () {
      const { admin } = yield* buying("unsure")
      service.answers((_, response) => void response.destroy())
      const changeId = yield* queued(admin)
      const outbox = yield* ChangeOutbox
      yield* outbox.deliver
      expect(yield* outcome(changeId)).toMatchObject({ state: "queued" })
      const [{ headers }] = service.asked as [(typeof service.asked)[number]]
      service.answers((_, response) => void response.writeHead(409).end())
      yield* hurry(changeId)
      yield* outbox.deliver
      expect(service.asked[0]!.headers["idempotency-key"]).toBe(headers["idempotency-key"])
      expect(yield* outcome(changeId)).toMatchObject({ state: "unknown", attempts: 2 })
      yield* outbox.retry(admin.principal.organizationId, changeId, 0)
      service.answers()
      yield* outbox.deliver
      expect(yield* outcome(changeId)).toMatchObject({ state: "done" })
    })
  )

  it.effect("whose process died while it was sent is sent again only where the service honors a key", () =>
    Effect.gen(function* () {
      for (const [slug, http, state, times] of [
        ["died-key", {}, "done", 1],
        ["died-once", { key: undefined, once: true }, "unknown", 0]
      ] as const) {
        const { admin } = yield* buying(slug, http)
        service.answers()
        const changeId = yield* queued(admin)
        const { owner } = yield* Database
        yield* owner`UPDATE max.change_outbox SET state = 'trying', attempts = 1, lease = 'gone', leased_until = clock_timestamp() - interval '1 second' WHERE change_id = ${changeId}`
        const outbox = yield* ChangeOutbox
        yield* outbox.deliver
        expect([(yield* outcome(changeId)).state, service.asked.length]).toEqual([state, times])
      }
    })
  )

  it.effect("puts values in their places only: no value changes the path, opens a template or ends a line", () =>
    Effect.gen(function* () {
      const { admin } = yield* buying("places", {
        url: `${service.url}/o/{order}/x`,
        body: { q: "{quantity}", note: "About {order}" }
      })
      service.answers()
      const outbox = yield* ChangeOutbox
      for (const order of ["a/b?c#d", "{{quantity}}", "{quantity}", "a b\r\nHost: evil", "'or'"]) {
        const draft = yield* Effect.result(queued(admin, { order }))
        if (draft._tag === "Success") yield* outbox.deliver
      }
      for (const { body, headers, path } of service.asked) {
        expect(path).toMatch(/^\/o\/[^/?#]+\/x$/)
        expect(JSON.parse(body)).toMatchObject({ q: 44 })
        expect(headers.host).toBe(service.host)
      }
      expect(service.asked.map(({ body }) => (JSON.parse(body) as { note: string }).note)).toContain("About {quantity}")
      for (const order of ["..", ".", "\u202eevil"])
        expect(yield* Effect.flip(admin.propose(step({ order })))).toMatchObject({ _tag: "InvalidInput" })
    })
  )
})
