/** The policy as a file over HTTP: the same results as the commands, within the administrator's own access. */
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { PolicyDocument } from "../../../src/permissions/policyDocument.ts"
import { AuditLog } from "../../../src/services/audit/AuditLog.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { PolicyReview } from "../../../src/services/policies/PolicyReview.ts"
import type { SimulatedPerson } from "../../../src/wire/admin/policyEditor.ts"
import { administered } from "../../support/administered.ts"
import { migratedDatabase } from "../../support/database.ts"
import { ask, JSON_TYPE, startServer, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"

const scope = Scope.makeUnsafe()
let server: TestServer
let atlas: Effect.Success<ReturnType<typeof administered>>
let yuki: string

beforeAll(async () => {
  server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))))
  atlas = await server.run(administered({ slug: "atlas" }))
  yuki = atlas.admin.secret
})

afterAll(async () => {
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const call = (token: string, path: string, body?: unknown) =>
  ask(server.url, `/v1/admin/policy/${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : JSON_TYPE) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })

const inForce = () => server.run(Effect.flatMap(Policies, (policies) => policies.current(atlas.organization)))

type Change = (file: PolicyDocument) => unknown

/** The file in force with a change. */
const changed = async (change: Change): Promise<{ readonly version: number; readonly text: string }> => {
  const { document, version } = await inForce()
  return { version, text: JSON.stringify(change(JSON.parse(document) as PolicyDocument), null, 2) }
}

const DENIED = {
  id: "no-status",
  effect: "deny",
  role: "member",
  action: "read",
  type: "people",
  columns: ["status"]
} as const

/** Hides the status of people from members. */
const withoutStatus: Change = (file) => ({
  ...file,
  rules: [...file.rules, DENIED],
  tests: [{ as: `lena@${atlas.host}`, read: "people", hides: ["status"] }]
})

/** Publishes as the command does, so that every test starts from the same policy. */
const restore = async (document: string) =>
  void (await server.run(
    Effect.flatMap(Policies, (policies) => policies.publish(atlas.organization, document, "operator"))
  ))

describe("a policy file of an administrator", () => {
  it("is checked with the result of the command: words, changes, warnings and tests", async () => {
    const { text, version } = await changed(withoutStatus)
    const command = await server.run(Effect.flatMap(Policies, (policies) => policies.check(atlas.organization, text)))
    const { json } = await call(yuki, "check", { document: text })
    expect(json.changes).toEqual(command.changes)
    expect(json.changes).toHaveLength(1)
    expect(json.warnings).toMatchObject(command.warnings)
    expect(json.warnings).toHaveLength(command.warnings.length)
    expect(json.tests).toMatchObject(command.tests.map(({ failures, path, title }) => ({ failures, path, title })))
    expect(json.tests).toMatchObject([{ passes: true }])
    expect(text.split("\n")[json.tests[0].line - 1]?.trim()).toBe("{")
    expect(json.roles.map(({ role }: { role: string }) => role)).toEqual(Object.keys(command.policy.roles))
    expect((await inForce()).version).toBe(version)
  })

  it("is refused with every problem at its line", async () => {
    const { text } = await changed((file) => ({ ...file, rules: [...file.rules, { id: "x", role: "membr" }] }))
    const { json } = await call(yuki, "check", { document: text })
    const lines = text.split("\n")
    expect(json.problems.length).toBeGreaterThan(2)
    const role = json.problems.find(({ path }: { path: string }) => path.endsWith(".role"))
    expect(lines[role.line - 1]).toContain('"role": "membr"')
    const broken = text.replace('"version": 1,', '"version": 1')
    const [syntax] = (await call(yuki, "check", { document: broken })).json.problems
    expect(syntax).toMatchObject({ path: "policy", message: expect.stringMatching(/^The file is not valid JSON/) })
    expect(lines[syntax.line - 2]).toContain("version")
  })

  it("shows who gains and loses which rows and cells, as the command does", async () => {
    const { text } = await changed(withoutStatus)
    const simulated = (as: string) =>
      server.run(
        Effect.flatMap(PolicyReview, (review) =>
          review.simulate(atlas.organization, { as, type: "people", file: text })
        )
      )
    const { json } = await call(yuki, "simulation", { document: text })
    const people: ReadonlyArray<SimulatedPerson> = json.people
    expect(people.map(({ members, roles }) => [roles, members])).toEqual([
      [["member"], 2],
      [["manager"], 1]
    ])
    const of = (person: SimulatedPerson | undefined) => person?.types.find(({ type }) => type === "people")
    expect(of(people[0])).toEqual(await simulated(`lena@${atlas.host}`))
    expect(of(people[0])).toMatchObject({ cells: [{ column: "status", lost: { count: 8 } }] })
    const lena = (await call(yuki, "simulation", { document: text, identifier: `lena@${atlas.host}` })).json.people[0]
    expect(of(lena)).toEqual(await simulated(`lena@${atlas.host}`))
    expect(of(lena)).toMatchObject({ columns: expect.arrayContaining([{ column: "status", rows: 0 }]) })
    expect(lena.types).toHaveLength(3)
    expect(await call(yuki, "simulation", { document: "{}" })).toMatchObject({ status: 409 })
    expect(await call(yuki, "simulation", { document: text, id: "a", identifier: "b" })).toMatchObject({ status: 400 })
  })

  it("is published like by the command, with the administrator as its author", async () => {
    const before = await inForce()
    const { text, version } = await changed(withoutStatus)
    const { json } = await call(yuki, "publish", { document: text, replacing: version })
    expect(json).toEqual({ version: version + 1 })
    expect((await call(yuki, "document")).json).toEqual(await inForce())
    const [event] = await server.run(
      Effect.flatMap(AuditLog, (log) => log.list(atlas.organization, { chain: "changes", limit: 1 }))
    )
    expect(event).toMatchObject({
      actor: atlas.idOf("yuki"),
      action: "policy.published",
      subject: String(version + 1),
      details: { sha256: expect.any(String) }
    })
    const old = (await call(yuki, `document/${version}`)).json
    expect(old.version).toBe(version)
    expect(await call(yuki, "publish", { document: old.document, replacing: version + 1 })).toMatchObject({
      json: { version: version + 2 }
    })
    expect((await inForce()).document).toBe(before.document)
    expect(await call(yuki, "document/99")).toMatchObject({
      status: 409,
      json: { detail: "There is no version 99." }
    })
  })

  it("isn't published over a version that its author hasn't seen, and one of two at the same time is", async () => {
    const first = await changed(withoutStatus)
    await restore((await inForce()).document)
    const late = await call(yuki, "publish", { document: first.text, replacing: first.version })
    expect(late).toMatchObject({
      status: 409,
      // The command names max policy diff besides; the page itself shows what changed.
      json: {
        detail: `Version ${first.version + 1} is in force, not ${first.version}: another policy has been published.`
      }
    })
    const original = await inForce()
    const { text, version } = await changed(withoutStatus)
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => call(yuki, "publish", { document: text, replacing: version }))
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
    expect((await inForce()).version).toBe(version + 1)
    await restore(original.document)
  })

  it("can't take the power over the policy from the last active person who has it", async () => {
    const { text, version } = await changed((file) => ({
      ...file,
      roles: { ...file.roles, admin: { administers: ["members", "data"] }, deputy: { administers: ["policy"] } }
    }))
    const refused = await call(yuki, "publish", { document: text, replacing: version })
    expect(refused).toMatchObject({
      status: 409,
      json: { detail: expect.stringMatching(/^With this policy no active person could change the policy/) }
    })
    expect((await inForce()).version).toBe(version)
    const { text: kept } = await changed((file) => ({
      ...file,
      roles: { ...file.roles, admin: { administers: ["members", "data"] }, manager: { administers: ["policy"] } }
    }))
    const { document } = await inForce()
    expect((await call(yuki, "publish", { document: kept, replacing: version })).status).toBe(200)
    expect(await call(yuki, "document")).toMatchObject({ status: 403 })
    await restore(document)
  })

  it("is also a grid whose edits change the same file, and publish nothing", async () => {
    const before = await inForce()
    const { text } = await changed((file) => ({ ...file, rules: [...file.rules, DENIED] }))
    const grid = (await call(yuki, "grid", { document: text, type: "people" })).json
    expect(grid).toMatchObject({ document: text, type: "people", omitted: [] })
    expect(grid.types.map(({ id }: { id: string }) => id)).toEqual(["people", "companies", "meetings"])
    const [read] = grid.tables
    const at = grid.columns.findIndex(({ column }: { column: string }) => column === "status")
    const cellsOf = (table: typeof read, role: string) =>
      table.roles.find((one: { role: string }) => one.role === role).cells
    const [status] = cellsOf(read, "member").slice(at)
    const denied = read.others.findIndex(({ id }: { id: string }) => id === DENIED.id)
    expect(status.others).toContain(denied)
    expect(read.others[denied]).toMatchObject({
      effect: "deny",
      role: "member",
      words: "may not see status of any people"
    })
    expect(text.split("\n")[read.others[denied].line - 1]?.trim()).toBe("{")
    expect(text.split("\n")[read.others[denied].line]).toContain(DENIED.id)
    expect(read.reaches).toContainEqual({ reach: "own", words: expect.stringContaining("the person who asks") })

    const edit = { role: "member", action: "update", columns: ["status"], reach: "own" }
    const edited = (await call(yuki, "grid", { document: text, type: "people", edit })).json
    const [rules, now] = [text, edited.document].map((file) => (JSON.parse(file) as PolicyDocument).rules)
    expect(now!.slice(0, -1)).toEqual(rules)
    expect(now!.at(-1)).toEqual({
      id: "member-update-own-people",
      effect: "allow",
      role: "member",
      action: "update",
      type: "people",
      columns: ["status"],
      where: { owner: "$me" }
    })
    const update = edited.tables.find(({ action }: { action: string }) => action === "update")
    expect(cellsOf(update, "member")[at]).toEqual({ reach: "own", inherited: "none", others: [] })
    expect((await call(yuki, "check", { document: edited.document })).json.changes).toHaveLength(2)
    // The text stays as it was written if the edit says what it says already.
    const same = { ...edit, action: "read", columns: ["name"], reach: cellsOf(read, "member")[0].reach }
    expect((await call(yuki, "grid", { document: text, type: "people", edit: same })).json.document).toBe(text)

    const broken = await call(yuki, "grid", { document: text.replace('"member"', '"membr"') })
    expect(broken.json.problems[0]).toMatchObject({
      line: expect.any(Number),
      message: expect.stringContaining("membr")
    })
    for (const wrong of [
      { type: "nothing" },
      { edit: { ...edit, role: "stranger" } },
      { edit: { ...edit, columns: ["no"] } }
    ])
      expect([wrong, (await call(yuki, "grid", { document: text, ...wrong })).status]).toEqual([wrong, 409])
    for (const wrong of [{ edit: { ...edit, columns: [] } }, { edit: { ...edit, reach: "some" } }, { edit: {} }])
      expect([wrong, (await call(yuki, "grid", { document: text, ...wrong })).status]).toEqual([wrong, 400])
    expect(await inForce()).toEqual(before)
  })

  it("needs the power over the policy", async () => {
    const { text, version } = await changed(withoutStatus)
    const bodies = [
      ["document"],
      ["document/1"],
      ["check", { document: text }],
      ["simulation", { document: text }],
      ["grid", { document: text }],
      ["grid", { document: text, edit: { role: "member", action: "read", reach: "all" } }],
      ["publish", { document: text, replacing: version }]
    ] as const
    for (const [path, body] of bodies) {
      expect(await call(atlas.auditor.secret, path, body), path).toMatchObject({
        status: 403,
        json: { type: "urn:max:problem:not-allowed" }
      })
      expect((await call(atlas.lena.secret, path, body)).status, path).toBe(403)
    }
    expect((await inForce()).version).toBe(version)
  })

  it("may be as large as a policy file, and no larger", async () => {
    const { text } = await changed((file) => ({ ...file, $schema: "x".repeat(900_000) }))
    expect(await call(yuki, "check", { document: text })).toMatchObject({ status: 200, json: { changes: [] } })
    expect((await call(yuki, "check", { document: "x".repeat(1_000_001) })).status).toBe(400)
    expect((await call(yuki, "check", { document: "x".repeat(4_200_000) })).status).toBe(413)
    expect((await call(yuki, "check", {})).status).toBe(400)
    const people = await ask(server.url, "/v1/admin/people/search", {
      method: "POST",
      headers: { authorization: `Bearer ${yuki}`, ...JSON_TYPE },
      body: JSON.stringify({ search: "x".repeat(70_000) })
    })
    expect(people.status).toBe(413)
  })
})

const OF_PEOPLE = { effect: "allow", action: "read", type: "people", columns: ["name"] } as const

describe("an administrator of the policy who sees little of the data", () => {
  it("learns no hidden row by a simulation or a failing test, and can still publish", async () => {
    const original = await inForce()
    const { text: withEditor } = await changed((file) => ({
      ...file,
      roles: { ...file.roles, editor: { administers: ["policy"] } },
      rules: [
        ...file.rules.filter(({ id }) => !["member-contacts", "vip-hidden"].includes(id)),
        { ...OF_PEOPLE, id: "editor-people", role: "editor", where: { name: "Olga Offen" } }
      ]
    }))
    await restore(withEditor)
    const { token } = await server.run(
      memberWithToken(atlas.organization, `edith@${atlas.host}`, ["editor"], ["admin"])
    )
    /** Members see two people, on a condition that the administrator may or may not read; the test fails. */
    const probing =
      (where: Readonly<Record<string, unknown>>): Change =>
      (file) => ({
        ...file,
        rules: file.rules.map((rule) => (rule.id === "member-people" ? { ...rule, where } : rule)),
        tests: [{ as: `lena@${atlas.host}`, read: "people", expect: [] }]
      })
    const { text, version } = await changed(probing({ name: ["Otto Vip", "Olga Offen"] }))
    const simulation = await call(token, "simulation", { document: text })
    const [members] = simulation.json.people
    expect(members).toMatchObject({ roles: ["member"], who: "this person" })
    expect(members.types).toMatchObject([
      { type: "people", total: 1, before: 1, after: 1, examples: ["Olga Offen"], cells: [] },
      { type: "companies", refused: expect.any(String) },
      { type: "meetings", refused: expect.any(String) }
    ])
    expect(simulation.text).not.toMatch(/Otto|Lena|Yuki|regular|801/)
    const byStatus = await changed(probing({ status: "vip" }))
    const refused = await call(token, "simulation", { document: byStatus.text })
    expect(refused.json.people[0].types[0]).toEqual({
      type: "people",
      refused: expect.stringMatching(/read data that you may not see/)
    })
    const checked = await call(token, "check", { document: text })
    expect(checked.json.tests).toMatchObject([{ passes: false, failures: [] }])
    const published = await call(token, "publish", { document: text, replacing: version })
    expect(published).toMatchObject({
      status: 409,
      json: { detail: expect.stringMatching(/not all of its 1 test pass/) }
    })
    expect(published.text).not.toMatch(/Otto|Olga/)
    const full = await call(yuki, "check", { document: text })
    expect(full.json.tests[0].failures[0]).toMatch(/Otto Vip/)
    const harmless = await changed((file) => ({ ...file, tests: [] }))
    const renamed = harmless.text.replace('"id": "editor-people"', '"id": "editor-names"')
    expect((await call(token, "publish", { document: renamed, replacing: version })).status).toBe(200)
    await restore(original.document)
  })
})
