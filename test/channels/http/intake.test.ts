/** Tickets over HTTP: answered once, proposed by the integration's member, approved by another. */
import { Effect, Exit, Scope } from "effect"
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
let atlas: Organization
let boss: string
let desk: Awaited<ReturnType<typeof member>>
let ada: string

const member = (email: string, role: string, scopes: ReadonlyArray<TokenScope>) =>
  server.run(memberWithToken(atlas, email, [role], scopes))

beforeAll(async () => {
  server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))), {
    writesPerMinute: 10_000
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

  it("leaves out what it quotes, and is refused where nothing is left or too much", async () => {
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
    for (const more of [{ source: "Zen Desk" }, { sourceId: "" }, { from: "x".repeat(321) }, { organization: 1 }])
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
