/** The webhook that tells of changes which wait for another person: a real server on this machine receives it. */
import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { afterAll, beforeAll, expect } from "vitest"
import { isStandardSigned } from "../../../src/channels/intake/signatures.ts"
import { inspect } from "../../../src/database/migrate.ts"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { ApproverWebhook } from "../../../src/services/changes/calls/ApproverWebhook.ts"
import { approvers } from "../../../src/services/operations/doctor/approvers.ts"
import { addPeople } from "../../support/atlas.ts"
import { changing, type Person } from "../../support/changes.ts"
import { TestServices } from "../../support/database.ts"
import { startService } from "../../support/service.ts"

let service: Awaited<ReturnType<typeof startService>>
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const SECRET = "whsec_bWF4IHRlbGxzIGFwcHJvdmVycyBvZiBjaGFuZ2Vz"
const INBOX = "https://max.example.com/inbox/"

/** What the operator has set; tests take parts of it away. */
let hosts: Array<string> = []
let secrets: Record<string, string> = {}
const Configured = Layer.unwrap(
  Effect.sync(() => {
    hosts = [service.host]
    return ApproverWebhook.layer({
      hosts,
      secretOf: (reference) =>
        secrets[reference] === undefined
          ? Effect.fail({ message: "That secret isn't set." })
          : Effect.succeed(secrets[reference])
    })
  })
).pipe(Layer.provideMerge(TestServices))

const CONFIRM = [{ action: "update", type: "people", columns: ["status"], by: "second", approvers: ["manager"] }]

/** An organization whose changes of a status wait for another person. */
const organizing = Effect.fnUntraced(function* (slug: string) {
  const { admin, organization } = yield* changing(slug, [], { confirm: CONFIRM })
  service.answers()
  hosts.splice(0, hosts.length, service.host)
  secrets = { "env:HOOK": SECRET }
  const { set } = yield* ApproverWebhook
  const declare = (url = `${service.url}/hook`) => set(organization, { url, secret: "env:HOOK" })
  return { admin, organization, declare }
})

/** A change that waits for another person, of a value that no request may have. */
const waiting = Effect.fnUntraced(function* (
  organization: Organization,
  admin: Person,
  status = "canary-of-the-value"
) {
  const [id] = yield* addPeople(organization, [{ name: "canary-of-the-name", status: "Lead" }])
  const draft = yield* admin.update("people.update", [id!], { status })
  const confirmed = yield* admin.confirm({ changeId: draft.changeId, digest: draft.preview.digest! })
  expect(confirmed._tag).toBe("Waiting")
  return draft
})

/** Sends what is due now. */
const delivered = Effect.gen(function* () {
  const { deliver } = yield* ApproverWebhook
  while (yield* deliver(INBOX));
})
/** Ends the pauses between attempts. */
const later = Effect.flatMap(
  Database,
  ({ owner }) => owner`UPDATE max.approver_notices SET next_at = clock_timestamp(), leased_until = NULL`
)
const status = Effect.fnUntraced(function* ({ id }: Organization) {
  const { error, failed, told, waiting: queued } = (yield* (yield* ApproverWebhook).status(id))!
  return { told, queued, failed, error }
})
const found = Effect.fnUntraced(function* ({ slug }: Organization) {
  const { owner } = yield* Database
  const findings = yield* approvers({ inspection: yield* inspect(owner), owner } as never)
  return findings.filter(({ message }) => message.includes(slug)).map((one) => `${one.status} ${one.message}`)
})

layer(Configured, { excludeTestServices: true })("the webhook for approvers", (it) => {
  it.effect("tells once of a change that waits: its actions, rows and link, signed, and no value of a row", () =>
    Effect.gen(function* () {
      const { admin, declare, organization } = yield* organizing("told")
      yield* declare()
      const [other] = yield* addPeople(organization, [{ name: "Otto", status: "Lead" }])
      const alone = yield* admin.update("people.update", [other!], { phone: "+1 512 555 0142" })
      yield* admin.confirm({ changeId: alone.changeId, digest: alone.preview.digest! })
      const { changeId } = yield* waiting(organization, admin)
      yield* delivered
      yield* later
      yield* delivered
      const [asked, ...others] = service.asked
      expect(others).toEqual([])
      const { body, headers, method, path } = asked!
      expect({ method, path, type: headers["content-type"] }).toEqual({
        method: "POST",
        path: "/hook",
        type: "application/json"
      })
      const read = JSON.parse(body) as { timestamp: string; data: { expires: string } }
      expect(read).toEqual({
        type: "change.waiting",
        timestamp: expect.stringMatching(/^2\d{3}-\d\d-\d\dT/) as string,
        data: {
          change: changeId,
          actions: ["people.update"],
          rows: 1,
          approvers: ["manager"],
          expires: expect.any(String) as string,
          link: `${INBOX}${changeId}`
        }
      })
      expect(Date.parse(read.data.expires)).toBeGreaterThan(Date.parse(read.timestamp))
      for (const hidden of ["canary", "told.example", admin.anchorId]) expect(body).not.toContain(hidden)
      const request = { headers: headers as Record<string, string>, body }
      expect(isStandardSigned(SECRET, request, Date.now())).toBe(true)
      expect(isStandardSigned(SECRET, { ...request, body: `${body} ` }, Date.now())).toBe(false)
      expect(headers["idempotency-key"]).toBe(headers["webhook-id"])
      expect(yield* status(organization)).toEqual({ told: 1, queued: 0, failed: 0, error: null })
    })
  )

  it.effect("is off until it is declared, tells of what waits from then on, and nothing after it is removed", () =>
    Effect.gen(function* () {
      const { admin, declare, organization } = yield* organizing("off")
      const { remove } = yield* ApproverWebhook
      yield* waiting(organization, admin)
      yield* delivered
      yield* declare()
      yield* delivered
      expect(service.asked).toEqual([])
      const { changeId } = yield* waiting(organization, admin, "another")
      yield* delivered
      expect(service.asked.map(({ body }) => body.includes(changeId))).toEqual([true])
      yield* remove(organization)
      yield* waiting(organization, admin, "a third")
      yield* delivered
      expect(service.asked).toHaveLength(1)
      expect(yield* Effect.flip(remove(organization))).toMatchObject({ message: "There is no webhook." })
      const { owner } = yield* Database
      const audited = yield* owner<{ action: string; details: string }>`SELECT action, details FROM max.audit_log
        WHERE organization_id = ${organization.id} AND action LIKE 'webhook.%' ORDER BY sequence`
      expect(audited.map(({ action }) => action)).toEqual(["webhook.set", "webhook.removed"])
      expect(JSON.stringify(audited)).toContain(service.host)
      expect(JSON.stringify(audited)).not.toContain("/hook")
    })
  )

  it.effect("tries again under the same id what may have arrived, until it is told or the change is decided", () =>
    Effect.gen(function* () {
      const { admin, declare, organization } = yield* organizing("again")
      yield* declare()
      const first = yield* waiting(organization, admin)
      const answers = [
        (_: unknown, response: { writeHead: (status: number) => { end: () => void } }) => response.writeHead(500).end(),
        (_: unknown, response: { destroy: () => void }) => response.destroy()
      ]
      service.answers((asked, response) => {
        const answer = answers.shift()
        if (answer === undefined) response.writeHead(204).end()
        else answer(asked, response as never)
      })
      for (const error of ["http-500", "ECONNRESET", null]) {
        yield* later
        yield* delivered
        expect((yield* status(organization)).error).toBe(error)
      }
      expect(service.asked).toHaveLength(3)
      expect(new Set(service.asked.map(({ headers }) => headers["webhook-id"])).size).toBe(1)
      service.answers((_, response) => void response.writeHead(503).end())
      const second = yield* waiting(organization, admin, "another")
      yield* delivered
      expect(yield* found(organization)).toEqual([
        "warn The webhook of again doesn't tell approvers: http-503 (0 given up in a week)."
      ])
      yield* admin.withdraw(second.changeId)
      yield* later
      yield* delivered
      expect(service.asked).toHaveLength(1)
      expect(first.changeId).not.toBe(second.changeId)
    })
  )

  it.effect("follows no redirect, is given up when it is refused or never told, and doctor says so", () =>
    Effect.gen(function* () {
      const { admin, declare, organization } = yield* organizing("refused")
      yield* declare()
      service.answers((_, response) => void response.writeHead(307, { location: `${service.url}/elsewhere` }).end())
      yield* waiting(organization, admin)
      yield* delivered
      expect(service.asked.map(({ path }) => path)).toEqual(["/hook"])
      expect(yield* status(organization)).toEqual({ told: 0, queued: 0, failed: 1, error: "http-307" })
      service.answers((_, response) => void response.writeHead(500).end())
      yield* waiting(organization, admin, "another")
      for (let attempt = 0; attempt < 14; attempt++) {
        yield* later
        yield* delivered
      }
      expect(service.asked).toHaveLength(12)
      expect(yield* found(organization)).toEqual([
        "warn The webhook of refused doesn't tell approvers: http-500 (2 given up in a week)."
      ])
    })
  )

  it.effect("goes to a public host by https or one that the operator lists, at declaring and at each attempt", () =>
    Effect.gen(function* () {
      const { admin, declare, organization } = yield* organizing("hosts")
      const refused = (url: string) => Effect.map(Effect.flip(declare(url)), ({ message }) => message)
      expect(yield* refused("http://hooks.example.com/")).toMatch(/^It must be https/)
      for (const url of ["https://10.0.0.1/", "https://localhost/", "https://[::1]/"])
        expect(yield* refused(url)).toMatch(/^Its host is private/)
      for (const url of ["https://me:secret@hooks.example.com/", "https://hooks.example.com/{change}", "hooks"])
        expect(yield* refused(url)).toMatch(/^A webhook's address is/)
      yield* declare()
      yield* waiting(organization, admin)
      hosts.length = 0
      yield* delivered
      expect(service.asked).toEqual([])
      expect(yield* status(organization)).toEqual({ told: 0, queued: 1, failed: 0, error: "host" })
      hosts.push(service.host)
      yield* later
      yield* delivered
      expect(service.asked).toHaveLength(1)
    })
  )

  it.effect("needs its secret, long enough, at declaring and at each attempt: nothing is sent unsigned", () =>
    Effect.gen(function* () {
      const { admin, declare, organization } = yield* organizing("secrets")
      secrets = {}
      expect(yield* Effect.flip(declare())).toMatchObject({ message: "That secret isn't set." })
      secrets = { "env:HOOK": "short" }
      expect(yield* Effect.flip(declare())).toMatchObject({ message: "The secret has fewer than 24 characters." })
      secrets = { "env:HOOK": SECRET }
      yield* declare()
      yield* waiting(organization, admin)
      secrets = {}
      yield* delivered
      expect(service.asked).toEqual([])
      expect(yield* found(organization)).toEqual([
        "warn The webhook of secrets doesn't tell approvers: secret (0 given up in a week)."
      ])
    })
  )

  it.effect("sends one request for each change when several processes look at the same time", () =>
    Effect.gen(function* () {
      const { admin, declare, organization } = yield* organizing("processes")
      yield* declare()
      const drafts = yield* Effect.forEach(["a", "b", "c", "d", "e"], (value) => waiting(organization, admin, value))
      service.answers((_, response) => void setTimeout(() => response.writeHead(204).end(), 50))
      const { deliver } = yield* ApproverWebhook
      const own = new Set(drafts.map(({ changeId }) => changeId))
      // What an earlier test left to try again is sent here, too.
      const told = () =>
        service.asked
          .map(({ body }) => (JSON.parse(body) as { data: { change: string } }).data.change)
          .filter((change) => own.has(change))
      const until = Effect.repeat(deliver(INBOX), { while: () => told().length < drafts.length })
      yield* Effect.all(
        Array.from({ length: 6 }, () => until),
        { concurrency: "unbounded" }
      )
      yield* delivered
      expect(told().toSorted()).toEqual([...own].toSorted())
    })
  )
})
