/** A text by which an administrator tries a line: to their own linked number only, through the outbox and its limits. */
import { Effect } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { Credentials } from "../../../src/services/access/Credentials.ts"
import { WaysIn } from "../../../src/services/access/WaysIn.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { TestTexts } from "../../../src/services/texting/TestTexts.ts"
import type { LineTests } from "../../../src/wire/admin/connections.ts"
import { ACCOUNT, OURS, post } from "../../support/carrier.ts"
import { ask, JSON_TYPE } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"
import { until } from "../../support/until.ts"
import { ADA, type Setting, startSetting, STRANGER } from "./setting.ts"

const BODY = "This is Max: a test of this number. Texts from it reach you."

/** A setting whose administrator Ada has a linked number. */
const administered = async (...options: Parameters<typeof startSetting>) => {
  const s = await startSetting(...options)
  const [ada] = await s.people([{ name: "Ada Lovelace", phone: ADA, role: "admin" }])
  const { secret } = await s.run(
    Effect.flatMap(Credentials, (credentials) =>
      credentials.createToken(s.organization, { anchorId: ada!, name: "console", scopes: ["admin"], days: 1 })
    )
  )
  return { s, ada: ada!, secret }
}

let s: Setting
let ada: string
let secret: string

beforeAll(async () => {
  ;({ ada, s, secret } = await administered())
})
afterAll(() => s.stop())
beforeEach(() => s.reset())

const test = (body: object = { line: OURS }, token = secret, at: { readonly url: string } = s) =>
  ask(at.url, "/v1/admin/line/tests", {
    headers: { ...JSON_TYPE, authorization: `Bearer ${token}` },
    body: JSON.stringify(body)
  })
const tests = async (token = secret, at: { readonly url: string } = s) =>
  (await ask(at.url, "/v1/admin/line/tests", { headers: { authorization: `Bearer ${token}` } })).json as LineTests
const refused = async (...args: Parameters<typeof test>) => {
  const { json, status } = await test(...args)
  return [status, json.detail]
}

describe("a test text", () => {
  it("reaches the administrator's own number, and its way is shown up to the carrier's report", async () => {
    expect(await tests()).toEqual({ to: "…0142", tests: [] })
    expect((await test()).status).toBe(204)
    await s.quiet()
    expect(s.carrier.accepted.map(({ body, from, to }) => [from, to, body])).toEqual([[OURS, ADA, BODY]])
    const shown = { line: OURS, to: "…0142", at: expect.any(String) }
    expect((await tests()).tests).toEqual([{ ...shown, state: "accepted" }])
    const { callback, sid } = s.carrier.accepted[0]!
    const undelivered = { MessageStatus: "undelivered", ErrorCode: "30003" }
    const report = { MessageSid: sid, AccountSid: ACCOUNT, From: OURS, To: ADA, ...undelivered }
    expect((await post(s, report, { path: new URL(callback!).pathname })).status).toBe(200)
    expect((await tests()).tests).toEqual([{ ...shown, state: "undelivered", error: "30003" }])
    const [event] = await s.sql<{ text: string }>(
      "SELECT json_build_array(actor, subject, details)::text AS text FROM max.audit_log WHERE action = 'sms.tested'"
    )
    expect(JSON.parse(event!.text)).toEqual([ada, "…0100", JSON.stringify({ person: ada, number: "…0142" })])
    expect((await s.log())[0]).toMatchObject({ direction: "out", kind: "test", state: "undelivered", error: "30003" })
  })

  it("never goes to a number that a request names", async () => {
    for (const body of [
      { line: OURS, to: STRANGER },
      { line: OURS, phone: STRANGER },
      { line: OURS, anchorId: "x" }
    ])
      expect((await test(body)).status).toBe(400)
    expect(await refused({ line: STRANGER })).toEqual([409, `"${STRANGER}" isn't a number of this organization.`])
    expect((await test({})).status).toBe(400)
    await s.quiet()
    expect(s.carrier.accepted).toEqual([])
  })

  it("is sent once a minute, however many ask at the same time", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => test()))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array.from({ length: 7 }, () => 409)])
    await s.quiet()
    expect(s.heard(ADA)).toEqual([BODY])
    expect(await refused()).toEqual([409, "One test a minute: wait a moment, then try again."])
    await s.sql("UPDATE max.sms_outbox SET created_at = created_at - interval '1 minute'")
    expect((await test()).status).toBe(204)
    await s.quiet()
    expect(s.heard(ADA)).toEqual([BODY, BODY])
  })

  it("says that the carrier refuses it, with the carrier's code", async () => {
    s.carrier.fate = () => ({ status: 400, code: 21608 })
    expect((await test()).status).toBe(204)
    await until(async () => (await tests()).tests[0]?.state === "dead")
    expect((await tests()).tests[0]).toMatchObject({ state: "dead", error: "21608" })
  })

  it("isn't sent to a number that has sent STOP to this line, until it sends START", async () => {
    await s.text(ADA, "STOP", { OptOutType: "STOP" })
    await s.quiet()
    expect(await refused()).toEqual([409, "…0142 has sent STOP to this number. Text START from it, then try again."])
    await s.text(ADA, "START", { OptOutType: "START" })
    await s.quiet()
    expect((await test()).status).toBe(204)
    await s.quiet()
    expect(s.heard(ADA)).toEqual([BODY])
  })

  it("goes to the number that wrote last, if several are linked", async () => {
    const second = "+15125550177"
    await s.run(Effect.flatMap(WaysIn, (ways) => ways.link(s.organization, ada, { identifier: second })))
    expect(await tests()).toMatchObject({ to: "…0177" })
    await s.ask(ADA, "who is ada?")
    s.carrier.reset()
    expect(await tests()).toMatchObject({ to: "…0142" })
    expect((await test()).status).toBe(204)
    await s.quiet()
    expect(s.heard(ADA)).toEqual([BODY])
    await s.run(Effect.flatMap(WaysIn, (ways) => ways.unlink(s.organization, ada, { identifier: second })))
  })

  it("needs a linked number, a number of the organization, and the power over secrets", async () => {
    const { token } = await s.run(memberWithToken(s.organization, "eve@atlas.example", ["admin"], ["admin"]))
    expect(await tests(token)).toEqual({ tests: [] })
    expect(await refused({ line: OURS }, token)).toEqual([
      409,
      "No phone number is linked to this membership. Link one first."
    ])
    const powerless = await s.run(
      Effect.gen(function* () {
        const policies = yield* Policies
        const { document } = yield* policies.current(s.organization)
        const file = JSON.parse(document) as { roles: object }
        const roles = { ...file.roles, clerk: { inherits: ["member"], administers: ["members", "data", "policy"] } }
        yield* policies.publish(s.organization, JSON.stringify({ ...file, roles }), "operator")
        return yield* memberWithToken(s.organization, "clerk@atlas.example", ["clerk"], ["admin"])
      })
    )
    expect((await test({ line: OURS }, powerless.token)).status).toBe(403)
    const shown = await ask(s.url, "/v1/admin/line/tests", {
      headers: { authorization: `Bearer ${powerless.token}` }
    })
    expect(shown.status).toBe(403)
    expect(await s.sql("SELECT 1 FROM max.sms_outbox")).toEqual([])
  })

  it("by command goes to an active member only", async () => {
    const [bob] = await s.people([{ name: "Bob Byron", phone: "+15125550143", role: "member" }])
    const queue = () =>
      s.run(Effect.result(Effect.flatMap(TestTexts, (texts) => texts.queue(s.organization, { anchorId: bob! }))))
    await s.run(Effect.flatMap(Memberships, (members) => members.suspend(s.organization, "+15125550143")))
    expect(await queue()).toMatchObject({ _tag: "Failure", failure: { _tag: "OperatorError" } })
    await s.run(Effect.flatMap(Memberships, (members) => members.resume(s.organization, "+15125550143")))
    expect(await queue()).toMatchObject({ _tag: "Success", success: { line: OURS, to: "…0143" } })
    await s.quiet()
    expect(s.heard("+15125550143")).toEqual([BODY])
  })
})

describe("the limits of texts", () => {
  const later = "UPDATE max.sms_outbox SET created_at = created_at - interval '1 minute'"

  it("count a test: the messages of a number in an hour, which questions use up, too", async () => {
    const own = await administered({ smsPerNumber: 2 })
    try {
      await own.s.ask(ADA, "who is ada?")
      expect((await test({ line: OURS }, own.secret, own.s)).status).toBe(204)
      await own.s.sql(later)
      expect(await refused({ line: OURS }, own.secret, own.s)).toEqual([
        409,
        "…0142 has used up its messages of this hour. Try again in the next one."
      ])
    } finally {
      await own.s.stop()
    }
  })

  it("count a test: the segments of the organization in a day", async () => {
    const own = await administered({ smsSegments: 1 })
    try {
      expect((await test({ line: OURS }, own.secret, own.s)).status).toBe(204)
      await own.s.sql(later)
      expect(await refused({ line: OURS }, own.secret, own.s)).toEqual([
        409,
        "The organization has used up its texts of today. Try again tomorrow."
      ])
    } finally {
      await own.s.stop()
    }
  })
})
