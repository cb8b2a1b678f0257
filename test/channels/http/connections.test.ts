/** The model and the phone line on the page: secrets are tried, sealed, and used; none ever comes back. */
import { Effect, Exit, Redacted, Scope } from "effect"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { holdEpoch, raiseEpoch } from "../../../src/database/epoch.ts"
import { IdentityResolver } from "../../../src/services/members/IdentityResolver.ts"
import { ModelSettings } from "../../../src/services/models/ModelSettings.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { Secrets } from "../../../src/services/secrets/Secrets.ts"
import type { ModelConnection, PhoneLine } from "../../../src/wire/admin/connections.ts"
import { administered } from "../../support/administered.ts"
import { ACCOUNT, messageFrom, OURS, post, PUBLIC_URL, startCarrier, TOKEN } from "../../support/carrier.ts"
import { migratedDatabase } from "../../support/database.ts"
import { postTurn } from "../../support/eventStream.ts"
import { ask, JSON_TYPE, startServer, startServerForTest, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"
import { type MessagesServer, says, startMessages } from "../../support/messages.ts"

const KEY = "sk-ant-canary-0123456789abcdef-7f3a"
const SECOND = "sk-ant-second-0123456789abcdef-9b1c"

const scope = Scope.makeUnsafe()
const folder = mkdtempSync(join(tmpdir(), "max-secrets-"))
const stateDir = join(folder, "state")
const secretsDir = join(folder, "secrets")
let database: string
let model: MessagesServer
let carrier: Awaited<ReturnType<typeof startCarrier>>
let server: TestServer
let atlas: Effect.Success<ReturnType<typeof administered>>
let chat: string

const settings = () => ({
  anthropicUrl: model.url,
  twilioUrl: carrier.url,
  publicUrl: PUBLIC_URL,
  stateDir,
  secretsDir
})

beforeAll(async () => {
  for (const [slug, name, secret] of [
    ["atlas", "anthropic", SECOND],
    ["other", "theirs", "sk-ant-theirs-0123456789abcdef"]
  ] as const) {
    mkdirSync(join(secretsDir, slug), { recursive: true })
    writeFileSync(join(secretsDir, slug, name), `${secret}\n`)
  }
  writeFileSync(join(folder, "outside"), "sk-ant-outside-0123456789")
  database = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  model = await startMessages(() => says("From the model."))
  carrier = await startCarrier()
  server = await startServer(database, settings())
  atlas = await server.run(administered({ slug: "atlas" }))
  chat = (await server.run(memberWithToken(atlas.organization, "kim@atlas.example", ["member"], ["chat"]))).token
})
afterAll(async () => {
  await server.stop()
  await model.close()
  await carrier.close()
  rmSync(folder, { recursive: true, force: true })
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const call = (path: string, body?: object, method?: string, secret = atlas.admin.secret, at = server) =>
  ask(at.url, `/v1/admin${path}`, {
    headers: { ...JSON_TYPE, authorization: `Bearer ${secret}` },
    ...(method === undefined ? {} : { method }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
const shown = async (at = server) =>
  (await call("/model", undefined, "GET", atlas.admin.secret, at)).json as ModelConnection
const line = async () => (await call("/line")).json as PhoneLine

/** The answer of one question, and the model that gave it. */
const answer = async (at = server) => {
  const events = await (await postTurn(at, chat, { text: "Who is Olga Offen?" })).all
  return events
}
const sql = (text: string) =>
  server.run(Effect.flatMap(Database, ({ owner }) => owner.unsafe<Record<string, unknown>>(text)))
const acts = async () =>
  (await sql(
    "SELECT actor, action, details::text AS details FROM max.audit_log WHERE action LIKE 'model.%' OR action LIKE 'sms.%' ORDER BY sequence"
  )) as ReadonlyArray<{ actor: string; action: string; details: string }>
const reset = async () => {
  for (const table of ["secrets", "model_settings", "sms_numbers", "sms_settings"])
    await sql(`DELETE FROM max.${table}`)
}

beforeEach(() => void (model.takes = (key) => (key === KEY || key === SECOND ? "yes" : "no key")))
afterEach(reset)

describe("the key of an organization's model", () => {
  it("is tried with Anthropic, sealed, and answers from the next question on, until it is removed", async () => {
    expect(await shown()).toMatchObject({ answers: "basic", files: ["anthropic"] })
    expect(await answer()).not.toContain("From the model.")
    expect((await call("/model/key", { secret: ` ${KEY}\n` })).status).toBe(204)
    expect(await shown()).toMatchObject({
      answers: "claude-haiku-5-5",
      key: { ending: "7f3a", opens: true, by: atlas.idOf("yuki") }
    })
    expect(await answer()).toContain("From the model.")
    expect(model.requests.at(-1)!.headers.authorization).toBe(`Bearer ${KEY}`)
    const mode = async () =>
      (await ask(server.url, "/v1/welcome", { headers: { authorization: `Bearer ${chat}` } })).json.mode
    expect(await mode()).toBe("model")
    // The next key counts for the next question.
    expect((await call("/model/key", { secret: SECOND })).status).toBe(204)
    expect(await answer()).toContain("From the model.")
    expect(model.requests.at(-1)!.headers.authorization).toBe(`Bearer ${SECOND}`)
    expect((await call("/model/key", undefined, "DELETE")).status).toBe(204)
    expect(await answer()).not.toContain("From the model.")
    expect(await mode()).toBe("basic")
    expect((await call("/model/key", undefined, "DELETE")).status).toBe(409)
    expect((await acts()).map(({ action, actor }) => [action, actor])).toEqual(
      ["model.key-set", "model.key-set", "model.key-removed"].map((action) => [action, atlas.idOf("yuki")])
    )
  })

  it("is in no answer, no audit record and nowhere in the database in the clear; its sealing key is the owner's alone", async () => {
    await call("/model/key", { secret: KEY })
    const answers = [await call("/model"), await call("/audit"), await call("/line")].map(({ text }) => text)
    const [dump] = await sql(
      `SELECT (SELECT string_agg(s::text || encode(coalesce(sealed, ''), 'escape'), '') FROM max.secrets s)
        || (SELECT string_agg(a::text, '') FROM max.audit_log a) AS text`
    )
    for (const text of [...answers, String(dump!["text"])]) expect(text).not.toContain(KEY.slice(0, 20))
    expect(statSync(join(stateDir, "seal.key")).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(stateDir, "seal.key"))).toHaveLength(32)
  })

  it.each([
    ["one that Anthropic refuses", "no key", "Anthropic refused this key. Nothing was changed."],
    ["one that has no such model", "no model", 'Anthropic has no model "claude-haiku-5-5" for this key.'],
    ["one that can't be tried", "down", "Anthropic didn't answer, so the key could not be tried."]
  ] as const)("is not saved: %s", async (_, taken, words) => {
    model.takes = () => taken
    const refused = await call("/model/key", { secret: KEY })
    expect([refused.status, refused.json.detail]).toEqual([409, expect.stringContaining(words)])
    expect(refused.text).not.toContain(KEY)
    expect(await shown()).not.toHaveProperty("key")
    expect(await sql("SELECT FROM max.secrets")).toEqual([])
  })

  it("is refused where it isn't a key at all, before Anthropic is asked", async () => {
    model.takes = () => "yes"
    for (const body of [
      { secret: "two words" },
      { secret: "k\u0001y" },
      { secret: "x".repeat(501) },
      {},
      { secret: KEY, file: "anthropic" }
    ]) {
      const refused = await call("/model/key", body)
      expect([400, 409]).toContain(refused.status)
    }
    expect(await sql("SELECT FROM max.secrets")).toEqual([])
  })

  it("can be one that the operator keeps for this organization, by its name and never by a path", async () => {
    model.takes = () => "yes"
    for (const file of [
      "theirs",
      "../other/theirs",
      "../../outside",
      "/etc/hostname",
      ".",
      "..",
      "other/theirs",
      "none"
    ])
      expect([file, (await call("/model/key", { file })).status]).toEqual([file, 409])
    expect((await call("/model/key", { file: "anthropic" })).status).toBe(204)
    expect((await shown()).key).toMatchObject({ file: "anthropic", opens: true })
    expect(await answer()).toContain("From the model.")
    expect(model.requests.at(-1)!.headers.authorization).toBe(`Bearer ${SECOND}`)
    expect((await acts()).at(-1)!.details).toBe('{"file":"anthropic"}')
  })

  it("doesn't open in another organization's row, under another name, altered, or with another sealing key", async () => {
    await call("/model/key", { secret: KEY })
    const other = await server.run(administered({ slug: "other" }))
    await sql(`INSERT INTO max.secrets (organization_id, name, version, sealed, set_by)
      SELECT ${other.organization.id}, name, version, sealed, set_by FROM max.secrets WHERE organization_id = ${atlas.organization.id}`)
    const copied = await call("/model", undefined, "GET", other.admin.secret)
    expect(copied.json.key).toMatchObject({ opens: false })
    expect(copied.json.key).not.toHaveProperty("ending")
    await sql(`UPDATE max.secrets SET name = 'sms ${OURS}' WHERE organization_id = ${other.organization.id}`)
    const renamed = await server.run(
      Effect.flatMap(Secrets, (secrets) => secrets.shown(other.organization, `sms ${OURS}`))
    )
    expect(renamed).toMatchObject({ opens: false })
    const moved = await startServerForTest(database, { ...settings(), stateDir: join(folder, "elsewhere") })
    expect((await shown(moved)).key).toMatchObject({ opens: false })
    // No other model answers in its place.
    const failed = await answer(moved)
    expect(failed).toContain("urn:max:problem:no-answer")
    expect(failed).not.toContain("From the model.")
    expect(await answer()).toContain("From the model.")
    await sql(`UPDATE max.secrets SET sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1)`)
    expect((await shown()).key).toMatchObject({ opens: false })
  })

  it("doesn't count where the operator has configured a provider, and can't be set there", async () => {
    await call("/model/key", { secret: KEY })
    const configured = await startServerForTest(database, { ...settings(), provider: "basic" })
    const at = (path: string, body?: object) => call(path, body, undefined, atlas.admin.secret, configured)
    expect(await shown(configured)).toMatchObject({ configured: "basic", answers: "basic", key: { ending: "7f3a" } })
    expect(await answer(configured)).not.toContain("From the model.")
    for (const [path, body] of [
      ["/model/key", { secret: KEY }],
      ["/model", { model: "claude-opus-5" }]
    ] as const) {
      const refused = await at(path, body)
      expect([refused.status, refused.json.detail]).toEqual([409, "The operator of Max has chosen the model (basic)."])
    }
    expect((await at("/model", { dayTurns: 5 })).status).toBe(204)
  })
})

describe("what an organization sets about its model", () => {
  it("is a model that its key was tried with, and the default again with null", async () => {
    await call("/model/key", { secret: KEY })
    model.takes = (_, name) => (name === "claude-opus-5" || name === "claude-haiku-5-5" ? "yes" : "no model")
    expect((await call("/model", { model: "claude-nothing" })).json.detail).toContain("claude-nothing")
    expect((await call("/model", { model: "claude-opus-5" })).status).toBe(204)
    expect(await shown()).toMatchObject({ model: "claude-opus-5", answers: "claude-opus-5" })
    await answer()
    expect(model.requests.at(-1)!.body.model).toBe("claude-opus-5")
    expect((await call("/model", { model: null })).status).toBe(204)
    await answer()
    expect(model.requests.at(-1)!.body.model).toBe("claude-haiku-5-5")
  })

  it("is a day's budget within the operator's, which counts from the next question on", async () => {
    const small = await startServerForTest(database, { ...settings(), dayTurns: 50, dayTokens: 60_000 })
    const at = (body: object) => call("/model", body, undefined, atlas.admin.secret, small)
    for (const body of [{ dayTurns: 51 }, { dayTokens: 60_001 }, { dayTurns: -1 }, { dayTurns: 1.5 }])
      expect([body, [400, 409].includes((await at(body)).status)]).toEqual([body, true])
    await sql("DELETE FROM max.spending")
    expect((await at({ dayTurns: 1 })).status).toBe(204)
    expect(await answer(small)).not.toContain("event: error")
    expect(await answer(small)).toContain("budget")
    expect((await at({ dayTurns: null })).status).toBe(204)
    expect(await answer(small)).not.toContain("budget")
    // Fewer tokens than an answer may need: the whole budget is an answer's.
    await call("/model/key", { secret: KEY })
    await sql("DELETE FROM max.spending")
    expect((await at({ dayTokens: 2000 })).status).toBe(204)
    expect(await answer(small)).toContain("From the model.")
    expect((await at({ dayTokens: 0 })).status).toBe(204)
    expect(await answer(small)).toContain("budget")
    await sql("DELETE FROM max.spending")
  })
})

describe("the phone line", () => {
  it("answers a number whose account and token Twilio confirmed, with the sealed token", async () => {
    const wrong = await call("/line/numbers", { phone: OURS, account: ACCOUNT, secret: "wrong-token-0123456789" })
    expect([wrong.status, wrong.json.detail]).toEqual([
      409,
      "Twilio refused this account or its token. Nothing was changed."
    ])
    const short = await call("/line/numbers", { phone: OURS, account: "AC1", secret: TOKEN })
    expect([short.status, short.json.detail]).toEqual([400, expect.stringContaining("AC and 32 digits")])
    expect((await line()).numbers).toEqual([])
    expect((await call("/line/numbers", { phone: "(512) 555-0100", account: ACCOUNT, secret: TOKEN })).status).toBe(204)
    const { numbers, webhook } = await line()
    expect(numbers).toMatchObject([{ phone: OURS, isOperators: false, secret: { opens: true } }])
    expect(JSON.stringify(numbers)).not.toContain(TOKEN)
    expect(webhook).toBe(`${PUBLIC_URL}/v1/sms/twilio`)
    const message = messageFrom("+18015550103", "Who is Olga Offen?")
    expect((await post(server, message)).status).toBe(200)
    await expect.poll(() => carrier.accepted.length, { timeout: 60_000 }).toBe(1)
    expect((await call("/line/numbers/remove", { phone: OURS })).status).toBe(204)
    expect((await line()).numbers).toEqual([])
    expect(await sql("SELECT FROM max.secrets")).toEqual([])
  })

  it("is set, opened with a role and closed; each act is recorded with its administrator", async () => {
    const before = (await acts()).length
    for (const body of [
      { contact: "Jo at the desk", changes: true, tellsApprovers: true, openRole: "member" },
      { openRole: null }
    ])
      expect([body, (await call("/line", body)).status]).toEqual([body, 204])
    expect(await line()).toMatchObject({ contact: "Jo at the desk", changes: true, tellsApprovers: true })
    expect(await line()).not.toHaveProperty("openRole")
    const yuki = atlas.idOf("yuki")
    expect((await acts()).slice(before)).toEqual([
      { actor: yuki, action: "sms.contact-set", details: "{}" },
      { actor: yuki, action: "sms.changes-set", details: '{"changes":"once","tellApprovers":true}' },
      { actor: yuki, action: "sms.opened", details: '{"role":"member"}' },
      { actor: yuki, action: "sms.closed", details: "{}" }
    ])
    const unknown = await call("/line", { openRole: "pilot" })
    expect([unknown.status, unknown.json.detail]).toEqual([409, expect.stringContaining('There is no role "pilot".')])
  })
})

describe("the powers over connections", () => {
  it("are those over secrets, and for whom the line answers also those over members and the policy", async () => {
    const { organization } = atlas
    const token = await server.run(
      Effect.gen(function* () {
        const policies = yield* Policies
        const file = JSON.parse((yield* policies.current(organization)).document) as { roles: object }
        const roles = { ...file.roles, keeper: { inherits: ["member"], administers: ["secrets"] } }
        yield* policies.publish(organization, JSON.stringify({ ...file, roles }), "operator")
        return (yield* memberWithToken(organization, "keeper@atlas.example", ["keeper"], ["admin"])).token
      })
    )
    const keeper = (path: string, body?: object, method?: string) => call(path, body, method, token)
    expect((await keeper("/model/key", { secret: KEY })).status).toBe(204)
    expect((await keeper("/line", { contact: "Jo" })).status).toBe(204)
    for (const body of [{ openRole: "member" }, { openRole: null }, { changes: true }])
      expect([body, (await keeper("/line", body)).status]).toEqual([body, 403])
    for (const [path, body, method] of [
      ["/model", undefined, "GET"],
      ["/model", { dayTurns: 1 }, "POST"],
      ["/model/key", { secret: KEY }, "POST"],
      ["/model/key", undefined, "DELETE"],
      ["/line", undefined, "GET"],
      ["/line", { contact: "Mallory" }, "POST"],
      ["/line/numbers", { phone: OURS, account: ACCOUNT, secret: TOKEN }, "POST"],
      ["/line/numbers/remove", { phone: OURS }, "POST"]
    ] as const)
      expect([path, method, (await call(path, body, method, atlas.auditor.secret)).status]).toEqual([path, method, 403])
  })

  it("end with the epoch that gave them: what changed meanwhile refuses the act, and nothing is written", async () => {
    const { id } = atlas.organization
    const stale = await server.run(
      Effect.flatMap(IdentityResolver, (identities) =>
        identities.readmit({ organizationId: id, anchorEntityId: atlas.idOf("yuki") })
      )
    )
    await server.run(
      Effect.flatMap(Database, ({ app }) =>
        Effect.gen(function* () {
          yield* holdEpoch(app, id)
          yield* raiseEpoch(app, id, [{ actor: "operator", action: "membership.changed", subject: "x" }])
        }).pipe(app.withTransaction)
      )
    )
    const refused = await server.run(
      Effect.flatMap(ModelSettings, (models) =>
        Effect.flip(models.setKey(atlas.organization, { secret: Redacted.make(KEY) }, stale.principal))
      )
    )
    expect((refused as Error).message).toContain("Something else changed")
    expect(await sql("SELECT FROM max.secrets")).toEqual([])
  })
})
