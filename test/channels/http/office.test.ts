/** What an administrator sets besides people's roles: tokens, attributes, the organization, and backups; and what is refused. */
import { Effect, Exit, Scope } from "effect"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { Credentials } from "../../../src/services/access/Credentials.ts"
import { IdentityResolver } from "../../../src/services/members/IdentityResolver.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { administered } from "../../support/administered.ts"
import { runMax } from "../../support/cli.ts"
import { migratedDatabase } from "../../support/database.ts"
import { ask, callTool, JSON_TYPE, startServer, startServerForTest, type TestServer } from "../../support/http.ts"
import { mapTables, runScript } from "../../support/mappedTables.ts"
import { memberWithToken } from "../../support/members.ts"

const scope = Scope.makeUnsafe()
const folder = mkdtempSync(join(tmpdir(), "max-office-"))
const backupDir = join(folder, "backups")
let database: string
let server: TestServer
let atlas: Effect.Success<ReturnType<typeof administered>>

beforeAll(async () => {
  mkdirSync(backupDir)
  database = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  server = await startServer(database, { backupDir })
  atlas = await server.run(administered({ slug: "atlas" }))
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const call = (path: string, body?: object, secret = atlas.admin.secret, at = server, method = "POST") =>
  ask(at.url, `/v1/admin/${path}`, {
    method,
    headers: { authorization: `Bearer ${secret}`, ...(body === undefined ? {} : JSON_TYPE) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
const read = async (path: string, secret?: string) => (await call(path, undefined, secret, server, "GET")).json
const sql = <A extends object>(text: string) =>
  server.run(Effect.flatMap(Database, ({ owner }) => owner.unsafe<A>(text)))
const events = (action: string) =>
  sql<{ actor: string; details: unknown }>(
    `SELECT actor, details::jsonb AS details FROM max.audit_log WHERE chain = 'changes' AND action LIKE '${action}' ORDER BY sequence`
  )
const TOKEN = { name: "nightly", scopes: ["tools"], days: 30 }

/** A role with the power `members` alone. */
const helper = async (inherits: ReadonlyArray<string> = ["member"]) => {
  const { document } = await server.run(Effect.flatMap(Policies, (policies) => policies.current(atlas.organization)))
  const file = JSON.parse(document) as { roles: object }
  const roles = { ...file.roles, helper: { inherits, administers: ["members"] } }
  await server.run(
    Effect.flatMap(Policies, (policies) =>
      policies.publish(atlas.organization, JSON.stringify({ ...file, roles }), "operator")
    )
  )
  return await server.run(memberWithToken(atlas.organization, "theo@atlas.example", ["helper"], ["admin"]))
}

// First: afterwards there are other organizations.
describe("a backup from the page", () => {
  it("isn't made without a folder, and a failure doesn't tell where the folder is", async () => {
    const without = await startServerForTest(database, {})
    expect((await call("backup", undefined, undefined, without)).json.detail).toContain("MAX_BACKUP_DIR")
    const gone = await startServerForTest(database, { backupDir: join(folder, "canary-gone") })
    const { status, text } = await call("backup", undefined, undefined, gone)
    expect([status, text]).toEqual([409, expect.stringContaining("The backup wasn't made")])
    expect(text).not.toContain("canary-gone")
  })

  it("is made at most once in ten minutes, and never leaves the folder", async () => {
    expect(await read("health")).toMatchObject({ mayBackUp: true })
    expect((await call("backup", undefined, atlas.auditor.secret)).status).toBe(403)
    const [one, other] = await Promise.all([call("backup"), call("backup")])
    expect([one.status, other.status].sort()).toEqual([200, 409])
    const { bytes } = (one.status === 200 ? one : other).json
    const files = readdirSync(backupDir)
    expect(files).toEqual([expect.stringMatching(/^max-[\d-]+T[\d-]+Z\.backup$/)])
    const { mode, size } = statSync(join(backupDir, files[0]!))
    expect([mode & 0o777, size]).toEqual([0o600, bytes])
    expect((await call("backup")).json.detail).toContain("less than 10 minutes old")
  })

  it("is the command's, with the administrator as its author", async () => {
    const ran = await runMax(["backup", join(folder, "by-command.backup"), "--json"], { DATABASE_URL: database })
    expect(ran.code).toBe(0)
    const made = await events("backup.made")
    expect(made.map(({ actor }) => actor)).toEqual([atlas.idOf("yuki"), "operator"])
    const [page, command] = made.map(({ details }) => details as { readonly rows: number; readonly bytes: number })
    expect(Object.keys(page!)).toEqual(Object.keys(command!))
    // The second has the record of the first, and the calls since.
    expect(command!.rows - page!.rows).toBeLessThan(20)
  })

  it("isn't made where there is a second organization, whose data it would have", async () => {
    await server.run(administered({ slug: "borealis" }))
    expect(await read("health")).toMatchObject({ mayBackUp: false })
    const { json, status } = await call("backup")
    expect([status, json.detail]).toEqual([409, expect.stringContaining("every organization")])
    expect(readdirSync(backupDir)).toHaveLength(1)
  })
})

describe("a token from the page", () => {
  it("acts for the person until it is revoked, and only its author sees it, once", async () => {
    const lena = atlas.idOf("lena")
    const made = await call(`people/${lena}/tokens`, TOKEN)
    expect(made.status).toBe(200)
    const token = made.json.token as string
    expect((await callTool(server, token, "listEntityTypes", {})).status).toBe(200)
    const shown = await read(`people/${lena}`)
    expect(JSON.stringify(shown)).not.toContain(token)
    expect(shown.held.map(({ name }: { name: string }) => name)).toContain("nightly")
    expect((await events("token.created")).at(-1)).toMatchObject({
      actor: atlas.idOf("yuki"),
      details: { person: lena }
    })
    expect(JSON.stringify(await sql("SELECT l::text AS record FROM max.audit_log l"))).not.toContain(token)
  })

  it("never administers or confirms for another person", async () => {
    for (const own of ["admin", "confirm"]) {
      const refused = await call(`people/${atlas.idOf("lena")}/tokens`, { ...TOKEN, scopes: ["tools", own] })
      expect([refused.status, refused.json.detail]).toEqual([403, expect.stringContaining(`the scope ${own}`)])
    }
    expect((await call(`people/${atlas.idOf("yuki")}/tokens`, { ...TOKEN, scopes: ["confirm"] })).status).toBe(200)
  })

  it("isn't created for a person with more powers, a suspended one, a person of another organization, or without the power", async () => {
    const { token } = await helper()
    expect((await call(`people/${atlas.idOf("lena")}/tokens`, TOKEN, token)).status).toBe(200)
    expect((await call(`people/${atlas.idOf("yuki")}/tokens`, TOKEN, token)).status).toBe(403)
    expect((await call(`people/${atlas.idOf("jonas")}/tokens`, TOKEN)).status).toBe(404)
    expect((await call(`people/${atlas.idOf("lena")}/tokens`, TOKEN, atlas.auditor.secret)).status).toBe(403)
    const [theirs] = await sql<{ id: string }>(
      "SELECT anchor_id AS id FROM max.identifiers WHERE key = 'lena@borealis.example'"
    )
    expect((await call(`people/${theirs!.id}/tokens`, TOKEN)).status).toBe(404)
    for (const wrong of [{ days: 731 }, { days: 0 }, { name: " " }, { scopes: [] }, { scopes: ["root"] }])
      expect((await call(`people/${atlas.idOf("lena")}/tokens`, { ...TOKEN, ...wrong })).status).toBeGreaterThan(399)
  })
})

describe("signing a person out on the page", () => {
  const asks = async (session: string) =>
    (await ask(server.url, "/v1/session", { headers: { cookie: `max_session=${session}` } })).status

  it("ends all sessions and unused links at once, and leaves tokens", async () => {
    const lena = atlas.idOf("lena")
    const sessions = [await server.run(atlas.session("lena")), await server.run(atlas.session("lena"))]
    const other = await server.run(atlas.session("theo"))
    const link = (await call(`people/${lena}/sign-in`)).json.code as string
    for (const session of [...sessions, other]) expect(await asks(session)).toBe(200)
    expect((await call(`people/${lena}/sign-out`)).status).toBe(204)
    for (const session of sessions) expect(await asks(session)).toBe(401)
    expect(await asks(other)).toBe(200)
    const redeemed = await server.run(
      Effect.exit(Effect.flatMap(Credentials, (credentials) => credentials.redeemLink(link, 60)))
    )
    expect(Exit.isFailure(redeemed)).toBe(true)
    expect((await callTool(server, atlas.lena.secret, "listEntityTypes", {})).status).toBe(200)
    expect(await asks(await server.run(atlas.session("lena")))).toBe(200)
    const ended = (await events("session.all-ended")).at(-1)
    expect([ended!.actor, ended!.details]).toEqual([atlas.idOf("yuki"), { sessions: 2 }])
  })

  it("isn't done to a person with more powers, without the power, or in another organization", async () => {
    const { token } = await helper()
    const session = await server.run(atlas.session("yuki"))
    expect((await call(`people/${atlas.idOf("yuki")}/sign-out`, undefined, token)).status).toBe(403)
    expect(await asks(session)).toBe(200)
    expect((await call(`people/${atlas.idOf("lena")}/sign-out`, undefined, token)).status).toBe(204)
    expect((await call(`people/${atlas.idOf("lena")}/sign-out`, undefined, atlas.auditor.secret)).status).toBe(403)
    const theirs = await server.run(administered({ slug: "cygnus" }))
    expect((await call(`people/${theirs.idOf("lena")}/sign-out`)).status).toBe(404)
  })
})

describe("identifiers of a person on the page", () => {
  const link = (name: string, named: object, secret?: string) =>
    call(`people/${atlas.idOf(name)}/identifiers`, named, secret)
  const remove = (name: string, shown: object, secret?: string) =>
    call(`people/${atlas.idOf(name)}/identifiers/remove`, shown, secret)
  const shownOf = async (name: string, secret?: string) =>
    (await read(`people/${atlas.idOf(name)}`, secret)).identifiers as ReadonlyArray<{ kind: string; text: string }>
  const admits = async (key: string) =>
    Exit.isSuccess(
      await server.run(
        Effect.exit(
          Effect.flatMap(IdentityResolver, (identities) => identities.admit(atlas.organization, { kind: "email", key }))
        )
      )
    )

  it("admit from the next request on, and no longer once removed; sessions end, tokens stay", async () => {
    expect((await link("lena", { identifier: "Lena@Work.example" })).status).toBe(204)
    expect(await admits("lena@work.example")).toBe(true)
    expect((await events("identifier.verified")).at(-1)).toMatchObject({
      actor: atlas.idOf("yuki"),
      details: { kind: "email", identifier: "l…@work.example" }
    })
    const session = await server.run(atlas.session("lena"))
    expect((await remove("lena", { kind: "email", text: "lena@work.example" })).status).toBe(204)
    expect(await admits("lena@work.example")).toBe(false)
    const still = await ask(server.url, "/v1/session", { headers: { cookie: `max_session=${session}` } })
    expect(still.status).toBe(401)
    expect((await callTool(server, atlas.lena.secret, "listEntityTypes", {})).status).toBe(200)
    expect((await events("identifier.removed")).at(-1)).toMatchObject({
      actor: atlas.idOf("yuki"),
      details: { kind: "email", identifier: "l…@work.example", left: 1, sessions: 1 }
    })
    expect((await remove("lena", { kind: "email", text: "lena@work.example" })).status).toBe(409)
  })

  it("belong to one person only: neither another member's nor that of another person's row is linked", async () => {
    for (const identifier of [`theo@${atlas.host}`, "801-555-0107", "Theo"])
      expect([identifier, (await link("lena", { identifier })).status]).toEqual([identifier, 409])
    expect((await link("lena", { identifier: "801-555-0103" })).status).toBe(204)
    expect((await remove("theo", { kind: "phone", text: "+18015550103" })).status).toBe(409)
    for (const wrong of [{}, { issuer: "https://id.example" }, { identifier: "a@b.example", subject: "a" }])
      expect((await link("lena", wrong)).status).toBe(400)
    expect((await link("lena", { subject: "lena" })).json.detail).toContain("no identity provider yet")
  })

  it("aren't linked or removed without the power, or of a person with more powers", async () => {
    const { token } = await helper()
    const yuki = { kind: "email", text: (await shownOf("yuki", token))[0]!.text }
    expect((await link("yuki", { identifier: "evil@mail.example" }, token)).status).toBe(403)
    expect((await remove("yuki", yuki, token)).status).toBe(403)
    expect((await link("lena", { identifier: "lena@home.example" }, atlas.auditor.secret)).status).toBe(403)
    expect((await link("lena", { identifier: "lena@home.example" }, token)).status).toBe(204)
    expect(await admits("evil@mail.example")).toBe(false)
    expect(await admits(`yuki@${atlas.host}`)).toBe(true)
  })

  it("leave the administrator one of their own, so that a holder of every power can sign in", async () => {
    const [own] = await shownOf("yuki")
    const last = await remove("yuki", own!)
    expect([last.status, last.json.detail]).toEqual([409, expect.stringContaining("the last identifier of yourself")])
    expect(await admits(`yuki@${atlas.host}`)).toBe(true)
    const [hers] = await shownOf("priya")
    expect((await remove("priya", hers!)).status).toBe(204)
    expect(await shownOf("priya")).toEqual([])
    expect(await admits(`priya@${atlas.host}`)).toBe(false)
  })

  it("are removed as they are shown, and not if two that are masked look the same", async () => {
    const { token } = await helper([])
    const home = { kind: "email", text: "l…@home.example" }
    expect(await shownOf("lena", token)).toContainEqual(home)
    expect((await remove("lena", { ...home, text: "lena@home.example" }, token)).status).toBe(409)
    await link("lena", { identifier: "lb@home.example" }, token)
    expect((await remove("lena", home, token)).json.detail).toContain("several identifiers that look like this")
    expect((await remove("lena", { ...home, text: "lb@home.example" })).status).toBe(204)
    expect((await remove("lena", home, token)).status).toBe(204)
    expect(await admits("lena@home.example")).toBe(false)
  })
})

describe("a list that the members are to match", () => {
  const listOf = (...members: ReadonlyArray<readonly [string, string]>) =>
    ["identifier,role", ...members.map(([name, role]) => `${name}@sync.example,${role}`)].join("\n")
  const send = async (secret: string, path: string, file: string, options: object = {}) => {
    const body = new FormData()
    body.set("options", JSON.stringify(options))
    body.set("file", new Blob([file]), "members.csv")
    const headers = { authorization: `Bearer ${secret}` }
    const response = await fetch(`${server.url}/v1/admin/people/${path}`, { method: "POST", headers, body })
    const text = await response.text()
    return { status: response.status, json: text === "" ? undefined : JSON.parse(text) }
  }
  const KEPT = [
    ["yuki", "admin"],
    ["lena", "manager"],
    ["theo", "member"],
    ["amina", "auditor"]
  ] as const
  const confirmed = { added: 0, changed: 1, suspended: 1 }

  it("is shown and then applied as it was shown, or not at all", async () => {
    const one = await server.run(administered({ slug: "sync" }))
    const states = () =>
      sql(
        `SELECT roles, suspended_at IS NULL AS active FROM max.memberships WHERE organization_id = ${one.organization.id} ORDER BY anchor_id`
      )
    const before = await states()
    const list = listOf(...KEPT)
    const preview = await send(one.admin.secret, "sync/list", list)
    expect(preview.json).toMatchObject({
      problems: [],
      added: [],
      changed: [{ who: "lena@sync.example", roles: ["manager"], before: { roles: ["member"], suspended: false } }],
      suspended: [{ id: one.idOf("priya"), name: "Priya Raman", roles: ["manager"] }],
      unchanged: 3
    })
    const wrong = await send(one.admin.secret, "sync", list, { confirmed: { ...confirmed, suspended: 2 } })
    expect([wrong.status, wrong.json.detail]).toEqual([409, expect.stringContaining("Check it again")])
    for (const [faulty, words] of [
      [listOf(...KEPT, ["lena", "root"]), "no role"],
      [listOf(...KEPT.slice(1)), "The list doesn't have you"],
      ["identifier\nyuki@sync.example", "no column with roles"]
    ] as const) {
      expect((await send(one.admin.secret, "sync/list", faulty)).json.problems.join(" ")).toContain(words)
      expect((await send(one.admin.secret, "sync", faulty, { confirmed })).status).toBe(409)
    }
    expect(await states()).toEqual(before)
    expect((await send(one.admin.secret, "sync", list, { confirmed })).status).toBe(204)
    expect(await states()).not.toEqual(before)
    expect((await events("membership.suspended")).at(-1)).toMatchObject({ actor: one.idOf("yuki") })
  })

  it("neither takes nor gives a power that its administrator lacks, and needs the power over members", async () => {
    const one = await server.run(administered({ slug: "sync-powers" }))
    const rows = (...members: ReadonlyArray<readonly [string, string]>) =>
      listOf(...members).replaceAll("@sync.example", "@sync-powers.example")
    const { document } = await server.run(Effect.flatMap(Policies, (policies) => policies.current(one.organization)))
    const file = JSON.parse(document) as { roles: object }
    const roles = { ...file.roles, helper: { inherits: ["member"], administers: ["members"] } }
    await server.run(
      Effect.flatMap(Policies, (policies) =>
        policies.publish(one.organization, JSON.stringify({ ...file, roles }), "operator")
      )
    )
    const { token } = await server.run(
      memberWithToken(one.organization, "theo@sync-powers.example", ["helper"], ["admin"])
    )
    const kept = [
      ["yuki", "admin"],
      ["theo", "helper"],
      ["amina", "auditor"],
      ["priya", "manager"]
    ] as const
    const counts = { added: 0, changed: 0, suspended: 1 }
    expect((await send(token, "sync", rows(...kept.slice(1)), { confirmed: { ...counts, suspended: 2 } })).status).toBe(
      403
    )
    expect((await send(token, "sync/list", rows(...kept, ["lena", "admin"]))).status).toBe(403)
    expect((await send(one.auditor.secret, "sync/list", rows(...kept))).status).toBe(403)
    expect((await send(one.auditor.secret, "sync", rows(...kept), { confirmed: counts })).status).toBe(403)
    const last = rows(["yuki", "member"], ...kept.slice(1))
    const lost = await send(one.admin.secret, "sync", last, { confirmed: { ...counts, changed: 1 } })
    expect([lost.status, lost.json.detail]).toEqual([409, expect.stringContaining("last active person")])
    expect((await send(token, "sync", rows(...kept), { confirmed: counts })).status).toBe(204)
  })
})

describe("attributes from the page", () => {
  const set = (name: string, attributes: object, secret?: string) =>
    call(`people/${atlas.idOf(name)}/attributes`, { attributes }, secret)

  it("replace the member's, count from the next request on, and leave the roles", async () => {
    const before = await read(`people/${atlas.idOf("lena")}`)
    expect((await set("lena", { region: "north", level: "3", remote: "true" })).status).toBe(204)
    expect(await read(`people/${atlas.idOf("lena")}`)).toMatchObject({
      attributes: { region: "north", level: 3, remote: true },
      roles: before.roles
    })
    expect((await set("lena", {})).status).toBe(204)
    expect((await read(`people/${atlas.idOf("lena")}`)).attributes).toEqual({})
    expect((await events("membership.changed")).at(-1)).toMatchObject({
      actor: atlas.idOf("yuki"),
      details: { attributes: {}, before: { attributes: { region: "north" } } }
    })
  })

  it("aren't set without the power, of a person with more powers, or under a name that can't be one", async () => {
    const { token } = await helper()
    expect((await set("lena", { region: "south" }, atlas.auditor.secret)).status).toBe(403)
    expect((await set("yuki", { region: "south" }, token)).status).toBe(403)
    expect((await set("lena", { region: "south" }, token)).status).toBe(204)
    for (const name of ["Region", "__proto__", "a b", ""]) {
      const wrong = await call(`people/${atlas.idOf("lena")}/attributes`, JSON.parse(`{"attributes":{"${name}":"x"}}`))
      expect([name, wrong.status]).toEqual([name, 400])
    }
    for (const value of ["a\u0000", "\ud800", "a\udfffb"])
      expect((await set("lena", { region: value })).status).toBe(400)
    expect((await read(`people/${atlas.idOf("lena")}`)).attributes).toEqual({ region: "south" })
  })
})

describe("the organization on the page", () => {
  it("changes with the power policy only, part by part, and says what it was", async () => {
    expect((await call("organization", { name: "Mine" }, atlas.auditor.secret)).status).toBe(403)
    for (const wrong of [{ country: "XX" }, { timeZone: "Mars/Olympus" }, { name: "a\nb" }, { name: " " }])
      expect([wrong, (await call("organization", wrong)).status]).toEqual([wrong, 409])
    expect((await call("organization", { timeZone: "Europe/Berlin" })).status).toBe(204)
    expect(await read("organization", atlas.auditor.secret)).toMatchObject({ slug: "atlas", timeZone: "Europe/Berlin" })
    const [last] = (await events("organization.changed")).slice(-1)
    expect(last).toMatchObject({ actor: atlas.idOf("yuki"), details: { timeZone: "Europe/Berlin" } })
    expect((await call("organization", { timeZone: "Europe/Berlin" })).status).toBe(204)
    expect(await events("organization.changed")).toHaveLength(1)
  })

  it("keeps conversations for a time of its own, with the power policy, and never longer than the operator", async () => {
    const days = (conversationDays: unknown, secret?: string) => call("organization", { conversationDays }, secret)
    const shown = async () => {
      const { conversationDays, mostConversationDays } = await read("usage")
      return [conversationDays, mostConversationDays]
    }
    const before = (await events("organization.changed")).length
    expect(await shown()).toEqual([30, 30])
    for (const [wrong, status] of [
      [31, 409],
      [0, 409],
      [-1, 409],
      [3650, 409],
      [1.5, 400],
      ["7", 400],
      [1e12, 409],
      [Number.MAX_SAFE_INTEGER, 409]
    ] as const)
      expect([wrong, (await days(wrong)).status]).toEqual([wrong, status])
    expect((await days(31)).json.detail).toBe("Conversations are kept from 1 to 30 days, the operator's time.")
    expect((await days(7, (await helper()).token)).status).toBe(403)
    expect(await shown()).toEqual([30, 30])
    expect((await days(7)).status).toBe(204)
    expect((await days(7)).status).toBe(204)
    expect(await shown()).toEqual([7, 30])
    expect((await days(null)).status).toBe(204)
    expect(await shown()).toEqual([30, 30])
    expect((await events("organization.changed")).slice(before)).toEqual([
      { actor: atlas.idOf("yuki"), details: { conversationDays: 7, before: { conversationDays: null } } },
      { actor: atlas.idOf("yuki"), details: { conversationDays: null, before: { conversationDays: 7 } } }
    ])
  })

  it("keeps conversations no longer by the command, either", async () => {
    const args = ["org", "set", "--org", "atlas", "--conversation-days", "40"]
    const refused = await runMax(args, { DATABASE_URL: database })
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("from 1 to 30 days")])
  })

  it("lists the tables that it reads where they are, and what has changed in them", async () => {
    expect(await read("mapped")).toEqual({ types: [], changes: [] })
    await server.run(runScript("CREATE TABLE public.boats (id bigint PRIMARY KEY, name text NOT NULL);\n"))
    await server.run(mapTables(atlas.organization, { tables: ["public.boats"], exclusive: true }))
    expect(await read("mapped")).toMatchObject({ types: [{ id: "boats", table: "public.boats" }], changes: [] })
    await server.run(runScript("ALTER TABLE public.boats ADD COLUMN flag text;\n"))
    expect((await read("mapped")).changes).toEqual([`boats: public.boats has a new column "flag".`])
  })
})
