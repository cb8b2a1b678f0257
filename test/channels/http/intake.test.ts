/** Tickets over HTTP: answered once, proposed by the integration's member, approved by another. */
import { Effect, Exit, Redacted, Scope } from "effect"
import { createHmac } from "node:crypto"
import { mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { DRAFTED } from "../../../src/agents/basic/deeds/wording.ts"
import { SENTENCES } from "../../../src/agents/sentences.ts"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { decodeId } from "../../../src/domain/ids.ts"
import type { Scope as TokenScope } from "../../../src/services/access/Credentials.ts"
import { addPeople } from "../../support/atlas.ts"
import { cellOf, changing } from "../../support/changes.ts"
import { migratedDatabase } from "../../support/database.ts"
import { ask, JSON_TYPE, startServer, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"

const READS = { effect: "allow", action: "read", type: "people", columns: ["name", "status", "email"], where: {} }
const RULES = [
  { id: "desk-reads", role: "rep", ...READS },
  { id: "desk-updates", role: "rep", ...READS, action: "update", columns: ["status"] }
]
const ROLES = { roles: { rep: { inherits: [] }, admin: { inherits: [], administers: true } } }

const scope = Scope.makeUnsafe()
let server: TestServer
let folder: string
const ZENDESK = "dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ=="
const STANDARD = "a secret of a generic webhook"
let atlas: Organization
let boss: string
let desk: Awaited<ReturnType<typeof member>>
let ada: string

const member = (email: string, role: string, scopes: ReadonlyArray<TokenScope>) =>
  server.run(memberWithToken(atlas, email, [role], scopes))

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "max-mail-"))
  for (const part of ["new", "cur", "tmp"]) await mkdir(join(folder, part))
  server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))), {
    writesPerMinute: 10_000,
    intakeAs: "desk@atlas.example",
    intakeZendeskSecret: Redacted.make(ZENDESK),
    intakeSecret: Redacted.make(`whsec_${Buffer.from(STANDARD).toString("base64")}`),
    intakeMaildir: folder
  })
  atlas = (await server.run(changing("atlas", RULES, ROLES))).organization
  boss = (await member("boss@atlas.example", "admin", ["changes", "confirm"])).token
  desk = await member("desk@atlas.example", "rep", ["changes", "confirm"])
  ;[ada] = (await server.run(
    addPeople(atlas, [
      { name: "Ada Lovelace", status: "Lead" },
      { name: "Grace Hopper", status: "Lead" },
      { name: "Alan Turing", status: "Won" },
      { name: "Emmy Noether", status: "Paused" },
      { name: "Karen Jones", status: "Lost" }
    ])
  )) as [string]
})

afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true })
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const send = (token: string, path: string, body?: unknown) =>
  ask(server.url, path, {
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: { ...JSON_TYPE, authorization: `Bearer ${token}` }
  })
const ticket = (sourceId: string, text: string, more = {}) => ({
  source: "zendesk",
  sourceId,
  from: "customer@elsewhere.example",
  text,
  ...more
})
const statusOf = (id: string) => server.run(cellOf(atlas, String(decodeId(id)), "status"))

describe("a ticket", () => {
  it("drafts a change that only another member approves, though the policy asks for one yes", async () => {
    const taken = await send(desk.token, "/v1/intake", ticket("1", "Set Ada Lovelace's status to Won"))
    expect([taken.status, taken.json]).toMatchObject([
      200,
      { known: false, changes: [{ state: "waiting", level: "second", rows: 1 }] }
    ])
    expect(taken.json.reply).toBe(`${DRAFTED}\n\n${SENTENCES.waitsForAnother}`)
    const { changeId } = taken.json.changes[0]
    const shown = await send(desk.token, `/v1/changes/${changeId}`)
    // The integration can't approve what it handed in, whatever its scopes are.
    const own = await send(desk.token, `/v1/changes/${changeId}/confirm`, { digest: shown.json.digest })
    expect(own.status).not.toBe(200)
    expect(await statusOf(ada)).toBe("Lead")

    const waiting = await send(boss, "/v1/changes?list=waiting")
    expect(waiting.json.changes).toMatchObject([{ changeId, state: "waiting" }])
    const preview = await send(boss, `/v1/changes/${changeId}`)
    expect(preview.json).toMatchObject({
      channel: "intake",
      proposerName: "Desk",
      source: { source: "zendesk", sourceId: "1", from: "customer@elsewhere.example" }
    })
    const approved = await send(boss, `/v1/changes/${changeId}/confirm`, { digest: preview.json.digest })
    expect([approved.status, approved.json._tag]).toEqual([200, "Applied"])
    expect(await statusOf(ada)).toBe("Won")
  })

  it("is answered once: sent again, it has the same conversation and the state of its changes", async () => {
    const message = ticket("2", "Set Grace Hopper's status to Won")
    const first = await send(desk.token, "/v1/intake", message)
    const again = await send(desk.token, "/v1/intake", message)
    expect(again.json).toEqual({ ...first.json, known: true })
    const twins = ticket("3", "who is Ada Lovelace?")
    const both = await Promise.all([1, 2, 3].map(() => send(desk.token, "/v1/intake", twins)))
    expect(new Set(both.map(({ json }) => json.conversation)).size).toBe(1)
    expect(both.filter(({ json }) => json.known === false).length).toBe(1)
    const other = await send(desk.token, "/v1/intake", { ...message, text: "Set Grace Hopper's status to Lost" })
    expect([other.status, other.json.detail]).toEqual([400, expect.stringContaining("another text")])
  })

  it("can't confirm anything by its words", async () => {
    const before = await send(desk.token, "/v1/changes?list=mine")
    for (const [index, text] of ["yes", "OK", "undo", "go ahead"].entries()) {
      const answer = await send(desk.token, "/v1/intake", ticket(`yes-${index}`, text))
      expect(answer.json.changes).toEqual([])
    }
    const after = await send(desk.token, "/v1/changes?list=mine")
    // The time that is left goes on.
    const standing = ({ json }: typeof before) =>
      (json.changes as ReadonlyArray<Record<string, unknown>>).map((change) => ({ ...change, seconds: 0 }))
    expect(standing(after)).toEqual(standing(before))
  })

  it("is proposed again with the same approval when its time was over", async () => {
    const taken = await send(desk.token, "/v1/intake", ticket("4", "Set Ada Lovelace's status to Paused"))
    const { changeId } = taken.json.changes[0]
    await server.run(
      Effect.flatMap(
        Database,
        ({ owner }) =>
          owner`UPDATE max.changes SET expires_at = now() - interval '1 minute' WHERE change_id = ${changeId}`
      )
    )
    const again = await send(desk.token, `/v1/changes/${changeId}/again`, {})
    expect(again.json).toMatchObject({ preview: { level: "second" } })
  })

  it("leaves out what it quotes, and is refused where nothing is left, too much, or what can't be stored", async () => {
    const quoted =
      "who is Ada Lovelace?\n\nOn Tue, Nov 3, 2026 at 9:12 AM Rosa <r@x.example> wrote:\n> Set Ada Lovelace's status to Lost"
    const taken = await send(desk.token, "/v1/intake", ticket("5", quoted))
    expect([taken.status, taken.json.changes, taken.json.reply]).toMatchObject([
      200,
      [],
      expect.stringContaining("Ada Lovelace")
    ])
    const empty = await send(desk.token, "/v1/intake", ticket("6", "> only a quote"))
    expect(empty.status).toBe(400)
    const long = await send(desk.token, "/v1/intake", ticket("7", "a ".repeat(5000)))
    expect(long.status).toBe(400)
    for (const more of [
      { source: "Zen Desk" },
      { sourceId: "" },
      { sourceId: "a\u0000b" },
      { from: "x".repeat(321) },
      { from: "\u0000" },
      { organization: 1 }
    ])
      expect((await send(desk.token, "/v1/intake", ticket("8", "who is Ada?", more))).status).toBe(400)
  })

  it("needs the scope for changes, and belongs to the member who hands it in", async () => {
    const reader = await member("reader@atlas.example", "rep", ["tools", "chat"])
    expect((await send(reader.token, "/v1/intake", ticket("9", "who is Ada Lovelace?"))).status).toBe(403)
    const other = await member("other@atlas.example", "rep", ["changes"])
    const mine = await send(desk.token, "/v1/intake", ticket("10", "who is Ada Lovelace?"))
    const theirs = await send(other.token, "/v1/intake", ticket("10", "who is Ada Lovelace?"))
    expect(theirs.json).toMatchObject({ known: false })
    expect(theirs.json.conversation).not.toBe(mine.json.conversation)
  })
})

const signature = (key: string, signed: string) => createHmac("sha256", key).update(signed).digest("base64")
const post = (path: string, body: string, headers: Record<string, string>) =>
  ask(server.url, path, { body, headers: { ...JSON_TYPE, ...headers } })
/** Seconds ago as Zendesk writes the time. */
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString().replace(/\.\d+Z/, "Z")
const zendesk = (body: string, time = ago(0), key = ZENDESK, signed = time + body) =>
  post("/v1/intake/zendesk", body, {
    "x-zendesk-webhook-signature": signature(key, signed),
    "x-zendesk-webhook-signature-timestamp": time
  })
const standard = (body: string, more: Record<string, string> = {}, seconds = 0) => {
  const time = String(Math.floor(Date.now() / 1000) - seconds)
  return post("/v1/intake/signed", body, {
    "webhook-id": "msg_1",
    "webhook-timestamp": time,
    "webhook-signature": `v1,AAAA v1,${signature(STANDARD, `msg_1.${time}.${body}`)}`,
    ...more
  })
}
const body = (sourceId: string, text: string, more = {}) =>
  JSON.stringify({ sourceId, from: "boss@atlas.example", text, ...more })
const waiting = async () =>
  (await send(boss, "/v1/changes?list=waiting")).json.changes as ReadonlyArray<{ changeId: string }>

describe("a webhook", () => {
  it("of Zendesk hands in a ticket once, proposed by the integration's member, and says nothing of the answer", async () => {
    const before = (await waiting()).length
    const ticket = body("z-1", "Set Emmy Noether's status to Won")
    const [first, again] = [await zendesk(ticket), await zendesk(ticket)]
    expect([first.status, first.json]).toEqual([200, { known: false }])
    expect([again.status, again.json]).toEqual([200, { known: true }])
    const all = await waiting()
    expect(all.length).toBe(before + 1)
    // Its From names an administrator, which permits nothing.
    const preview = await send(boss, `/v1/changes/${all[0]!.changeId}`)
    expect(preview.json).toMatchObject({
      level: "second",
      proposerName: "Desk",
      source: { source: "zendesk", sourceId: "z-1", from: "boss@atlas.example" }
    })
  })

  it("is refused with one answer where its signature, its time or its body isn't what was signed", async () => {
    const text = body("z-2", "who is Ada Lovelace?")
    const time = ago(0)
    const refused = [
      await post("/v1/intake/zendesk", text, {}),
      await zendesk(text, time, "another secret"),
      await zendesk(text, time, ZENDESK, time + body("z-2", "who is Grace Hopper?")),
      await zendesk(text, ago(400)),
      await zendesk(text, ago(-400)),
      // The same signed bytes, divided otherwise.
      await zendesk(text.slice(1), `${time}{`, ZENDESK, time + text),
      await zendesk(text, "0"),
      await standard(body("s-2", "who is Ada?", { source: "crm" }), {}, 400),
      await standard(body("s-2", "who is Ada?", { source: "crm" }), { "webhook-id": "msg_2" }),
      await standard(body("s-2", "who is Ada?", { source: "crm" }), { "webhook-signature": "v1," }),
      await standard(body("s-2", "who is Ada?", { source: "crm" }), { "webhook-timestamp": "NaN" })
    ]
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403))
    expect(new Set(refused.map(({ text }) => text)).size).toBe(1)
    expect((await zendesk(text)).json).toEqual({ known: false })
    const invalid = await zendesk(JSON.stringify({ sourceId: "z-3", text: 1 }))
    expect(invalid.status).toBe(400)
    expect((await zendesk("{")).status).toBe(400)
  })

  it("of any system is signed as Standard Webhooks has it, with its source in the body", async () => {
    const text = body("s-1", "who is Ada Lovelace?", { source: "crm" })
    expect((await standard(text)).json).toEqual({ known: false })
    expect((await standard(text)).json).toEqual({ known: true })
    expect((await standard(body("s-3", "who is Ada?"))).status).toBe(400)
  })
})

describe("a mailbox folder", () => {
  const deliver = async (name: string, bytes: string | Buffer) => {
    await writeFile(join(folder, "tmp", name), bytes)
    await rename(join(folder, "tmp", name), join(folder, "new", name))
  }
  const names = (...path: ReadonlyArray<string>) => readdir(join(folder, ...path)).catch((): Array<string> => [])
  const empty = async () => {
    while ((await names("new")).length > 0) await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const mail = (id: string, text: string, headers = "") =>
    `From: Boss <boss@atlas.example>\r\nMessage-ID: <${id}@mail.example>\r\n${headers}\r\n${text}`

  it("is emptied: each e-mail is handed in once and moved to cur, and what can't be read is moved aside", async () => {
    const before = (await waiting()).length
    const request = mail("m1", "<p>Set Karen Jones's status to Won</p>", "Content-Type: text/html\r\n")
    const parts = Array.from({ length: 500 }, (_, index) => `--b\r\n\r\n${index}\r\n`).join("")
    await writeFile(join(folder, "elsewhere"), mail("m4", "who is Ada Lovelace?"))
    await symlink(join(folder, "elsewhere"), join(folder, "new", "5.link"))
    await deliver("1.mail", request)
    await deliver("2.copy", request)
    await deliver("3.large", Buffer.alloc(30_000_000, 97))
    await deliver("4.parts", mail("m2", `${parts}--b--\r\n`, 'Content-Type: multipart/mixed; boundary="b"\r\n'))
    await deliver("6.same-id", mail("m1", "Set Karen Jones's status to Lost"))
    await deliver("7.yes", mail("m3", "yes"))
    await empty()
    expect(await names("cur")).toEqual(["1.mail:2,S", "2.copy:2,S", "7.yes:2,S"])
    expect((await names(".Refused", "cur")).sort()).toEqual(["3.large:2,", "4.parts:2,", "5.link:2,", "6.same-id:2,"])
    const all = await waiting()
    expect(all.length).toBe(before + 1)
    expect((await send(boss, `/v1/changes/${all[0]!.changeId}`)).json).toMatchObject({
      level: "second",
      proposerName: "Desk",
      source: { source: "mail", sourceId: "<m1@mail.example>", from: "boss@atlas.example" }
    })
  })
})
