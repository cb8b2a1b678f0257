/** Imports by administrators over HTTP: the same importer, report and audit record as the command, for one power. */
import { Effect, Exit, Scope } from "effect"
import { request as httpRequest } from "node:http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { holdEpoch, raiseEpoch } from "../../../src/database/epoch.ts"
import type { Imported, ImportEvent, ImportRuns, Proposal } from "../../../src/wire/admin/import.ts"
import { IdentityResolver } from "../../../src/services/members/IdentityResolver.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { administered } from "../../support/administered.ts"
import { migratedDatabase } from "../../support/database.ts"
import { ask, startServer, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"
import { until } from "../../support/until.ts"
import { importFiles, refusalOfFile } from "../../support/imports.ts"

const scope = Scope.makeUnsafe()
let server: TestServer
let atlas: Effect.Success<ReturnType<typeof administered>>

beforeAll(async () => {
  server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))))
  atlas = await server.run(administered({ slug: "atlas" }))
})
afterAll(async () => {
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const PEOPLE = "id,Full Name,E-mail,Salary\np1,Nia Okoro,nia@atlas.example,70000\np2,Bo Lind,bo@atlas.example,1.5\n"

const formOf = (text: string, options: object, name = "people.csv") => {
  const form = new FormData()
  form.set("options", JSON.stringify(options))
  form.set("file", new Blob([text]), name)
  return form
}

const post = (path: string, body: FormData, headers: Record<string, string> = bearer(atlas.admin.secret)) =>
  fetch(`${server.url}/v1/admin/import${path}`, { method: "POST", headers, body })
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })

const importing = async (text: string, options: object, secret = atlas.admin.secret) => {
  const response = await post("", formOf(text, options), bearer(secret))
  expect(response.headers.get("content-type")).toBe("text/event-stream")
  const events = (await response.text())
    .trim()
    .split("\n\n")
    .map((block) => JSON.parse(block.slice("data: ".length)) as ImportEvent)
  return { events, last: events.at(-1)! }
}

const resultOf = (event: ImportEvent): Imported => {
  expect(event).toMatchObject({ _tag: "done" })
  return (event as Extract<ImportEvent, { _tag: "done" }>).result
}

const audited = async () => {
  const answer = await ask(server.url, "/v1/admin/audit?action=data.imported", { headers: bearer(atlas.admin.secret) })
  return answer.json.records as ReadonlyArray<{ actor: string; subject: string; details: object }>
}

const runsOf = async (secret: string, query = "") =>
  (await ask(server.url, `/v1/admin/import/runs${query}`, { headers: bearer(secret) })).json as ImportRuns

const waitsForTheEpoch = Effect.flatMap(Database, ({ owner }) =>
  Effect.map(
    owner`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
      AND query LIKE '%SELECT epoch FROM max.organizations%'`,
    (rows) => rows.length > 0
  )
)

const find = async (name: string, type = "people") =>
  (
    await ask(server.url, "/v1/tools/findEntities", {
      method: "POST",
      headers: { ...bearer(atlas.admin.secret), "content-type": "application/json" },
      body: JSON.stringify({ entityTypeId: type, filters: [{ columnId: "name", op: "eq", value: name }] })
    })
  ).json.total as number

describe("an administrator's import", () => {
  it("is proposed with samples, tried without a change, and recorded like the command's", async () => {
    const proposal = (await (await post("/proposal", formOf(PEOPLE, {}))).json()) as Proposal
    expect(proposal).toMatchObject({ name: "people.csv", type: "people" })
    expect(proposal.headers[1]).toEqual({ header: "Full Name", samples: ["Nia Okoro", "Bo Lind"] })
    expect(proposal.types.find(({ slug }) => slug === "people")!.proposed).toEqual(["id", "name", "email", null])

    const options = { type: "people", create: true, map: { id: "id" } }
    const tried = resultOf((await importing(PEOPLE, { ...options, dryRun: true })).last)
    expect(tried).toMatchObject({
      dryRun: true,
      rows: 2,
      createdColumns: [{ slug: "salary", kind: "number" }],
      outcome: { inserted: 2, updated: 0, new: [{ line: 2, name: "Nia Okoro" }, { name: "Bo Lind" }] }
    })
    expect([await find("Nia Okoro"), await audited()]).toEqual([0, []])

    const { events, last } = await importing(PEOPLE, options)
    expect(events.some(({ _tag }) => _tag === "progress")).toBe(true)
    expect(resultOf(last)).toMatchObject({ dryRun: false, outcome: { inserted: 2 } })
    expect(await find("Nia Okoro")).toBe(1)

    await server.run(importFiles(atlas.organization, { "people.csv": PEOPLE }))
    const [byCommand, byPage] = await audited()
    const details = { rows: 2, leftOut: 0 }
    expect(byPage).toMatchObject({
      actor: atlas.idOf("yuki"),
      subject: "people",
      details: { ...details, inserted: 2, updated: 0, unchanged: 0 }
    })
    expect(byCommand).toMatchObject({
      actor: "operator",
      subject: "people",
      details: { ...details, inserted: 0, updated: 0, unchanged: 2 }
    })
    const run = { type: "people", typeName: "People", rows: 2, leftOut: 0 }
    const { next, runs } = await runsOf(atlas.admin.secret)
    expect([next, runs]).toEqual([
      undefined,
      [
        {
          ...run,
          record: expect.any(Number),
          at: expect.any(String),
          by: "operator",
          outcome: { inserted: 0, updated: 0, unchanged: 2 }
        },
        {
          ...run,
          record: expect.any(Number),
          at: expect.any(String),
          by: atlas.idOf("yuki"),
          byName: "Yuki Tanaka",
          outcome: { inserted: 2, updated: 0, unchanged: 0 }
        }
      ]
    ])
    const first = await runsOf(atlas.admin.secret, "?limit=1")
    expect(first).toEqual({ runs: runs.slice(0, 1), next: runs[0]!.record })
    const second = await runsOf(atlas.admin.secret, `?limit=1&before=${first.next}`)
    expect(second).toEqual({ runs: runs.slice(1) })
  })

  it("reports all bad rows at once, with their lines, and imports nothing", async () => {
    const bad = "name,start\nAda's review,yesterday\nBo's review,2026-13-45\nEva's review,2026-05-04T10:00\n"
    const { last } = await importing(bad, { type: "meetings" })
    expect(last).toMatchObject({
      _tag: "refused",
      message: "Nothing was imported: people.csv has 2 bad rows.",
      lines: [expect.stringMatching(/^line 2: .*start/), expect.stringMatching(/^line 3: .*start/)]
    })
    expect(await find("Eva's review", "meetings")).toBe(0)
    const left = resultOf((await importing(bad, { type: "meetings", skipBad: true })).last)
    expect(left).toMatchObject({ rows: 3, leftOut: 2, outcome: { inserted: 1 } })
    expect(left.badRows).toHaveLength(2)
  })

  it("is rolled back if the administrator's access changes meanwhile", async () => {
    const { id } = atlas.organization
    const { principal } = await server.run(
      Effect.flatMap(IdentityResolver, (identities) =>
        identities.readmit({ organizationId: id, anchorEntityId: atlas.idOf("yuki") })
      )
    )
    const late = () => server.run(refusalOfFile(atlas.organization, "name\nLate Comer\n", { administrator: principal }))
    let [release, isHeld] = [() => {}, () => {}]
    const free = new Promise<void>((resolve) => (release = resolve))
    const held = new Promise<void>((resolve) => (isHeld = resolve))
    const changing = server.run(
      Effect.flatMap(Database, ({ app }) =>
        Effect.gen(function* () {
          yield* holdEpoch(app, id)
          yield* raiseEpoch(app, id, [{ actor: "operator", action: "membership.changed", subject: "x" }])
          isHeld()
          yield* Effect.promise(() => free)
        }).pipe(app.withTransaction)
      )
    )
    // An import that begins before the change holds the epoch would wait for nothing.
    await held
    const during = late()
    await until(() => server.run(waitsForTheEpoch))
    release()
    await changing
    expect((await during).message).toContain("Something else changed this organization")
    const stale = await late()
    expect(stale.message).toContain("Something else changed this organization")
    expect(await find("Late Comer")).toBe(0)
  })
})

/** What a page is told about a file: the refusal with its lines, or the warnings. */
const told = async (text: string, options: object) => {
  const { last } = await importing(text, options)
  if (last._tag === "done") return last.result.warnings.join("\n")
  return last._tag === "refused" ? [last.message, ...last.lines].join("\n") : ""
}

describe("what an import refuses", () => {
  it.each([
    ["a type that isn't there", "name\nAda\n", { type: "ships" }, "To create it, choose “A new type …”"],
    ["headers without a column", "name,Foo,Bar\nAda,1,2\n", {}, "For each, choose a column, “a new column”"],
    ["no header with a column", "Foo,Bar\n1,2\n", {}, "say in which row it is. For each, choose"],
    ["a column that isn't there", "name,Foo\nAda,1\n", { map: { Foo: "fo" } }, "To create it, choose"],
    ["no name", "email\nada@atlas.example\n", {}, "Choose “name” for one of them. The file has: email"],
    [
      "two for one column",
      "name,a,b\nAda,1,2\n",
      { map: { a: "status", b: "status" } },
      "Choose another column for one"
    ],
    ["a reserved word", "name,In\nAda,1\n", { create: true }, "Give the header another name in the file"],
    ["a header without letters", "name,電話\nAda,1\n", { create: true }, "Give the header another name in the file"],
    ["a header that isn't there", "name\nAda\n", { ignore: ["Foo"] }, "Leave it out: people.csv has no header"],
    ["a place that none is", "name,a\nAda,1\n", { map: { a: "x:y" } }, "Goes into, a=x:y: after = comes"],
    ["a lookup of no reference", "name,a\nAda,1\n", { map: { a: "status:people.name" } }, "Choose status for a"],
    ["a lookup in another type", "name,a\nAda,1\n", { map: { a: "owner:companies.name" } }, "owner leads to people"],
    ["a lookup by no column", "name,a\nAda,1\n", { map: { a: "owner:people.mail" } }, "Goes into, a=owner:people.mail"],
    ["an unknown locale", "name\nAda\n", { locale: "x" }, 'Dates and numbers, "x": this isn\'t a locale'],
    ["ids of rows that aren't there", "name,owner\nAda,Bo\n", {}, "choose it under “Goes into”"],
    ["rows without an id", "name\nAda\n", { dryRun: true }, "choose “id” for the column that has it"]
  ])("is worded with the controls of the page, not with options of a command: %s", async (_, text, options, words) => {
    const said = await told(text, { type: "people", ...options })
    expect(said).toContain(words)
    expect(said).not.toMatch(/(^|[\s(])--[a-z]/)
  })

  it("names no option where a file's encoding is a guess or can't be read", async () => {
    const western = Buffer.concat([Buffer.from("name\nJ"), Buffer.from([0xfc]), Buffer.from("rgen\n")])
    const guessed = new FormData()
    guessed.set("options", "{}")
    guessed.set("file", new Blob([western]), "western.csv")
    const proposal = (await (await post("/proposal", guessed)).json()) as Proposal
    expect(proposal.warnings).toEqual([expect.stringContaining("If that is wrong, choose the encoding of the file.")])
    const damaged = new FormData()
    damaged.set("options", "{}")
    // Cyrillic, as Windows-1251 writes it.
    damaged.set("file", new Blob([Buffer.from("name\n\xcf\xf0\xe8\xe2\xe5\xf2\n", "latin1")]), "bad.csv")
    const refused = await post("/proposal", damaged)
    const text = await refused.text()
    expect([refused.status, text]).toEqual([409, expect.stringContaining("or name its encoding, such as windows-1250")])
    expect(text).not.toContain("--")
  })

  it("needs the power over data, before the file is read", async () => {
    for (const path of ["", "/proposal"]) {
      const response = await post(path, formOf(PEOPLE, { type: "people" }), bearer(atlas.auditor.secret))
      expect([response.status, ((await response.json()) as { type: string }).type]).toEqual([
        403,
        "urn:max:problem:not-allowed"
      ])
    }
    const runs = await ask(server.url, "/v1/admin/import/runs", { headers: bearer(atlas.auditor.secret) })
    expect([runs.status, runs.json.type]).toEqual([403, "urn:max:problem:not-allowed"])
  })

  it("tells an administrator who doesn't see the whole type nothing about rows that exist", async () => {
    const { organization } = atlas
    const { token } = await server.run(
      Effect.gen(function* () {
        const policies = yield* Policies
        const { document } = yield* policies.current(organization)
        const file = JSON.parse(document) as { roles: object }
        const roles = { ...file.roles, clerk: { inherits: ["member"], administers: ["data"] } }
        yield* policies.publish(organization, JSON.stringify({ ...file, roles }), "operator")
        return yield* memberWithToken(organization, "clerk@atlas.example", ["clerk"], ["admin"])
      })
    )
    const guess = "id,name,phone\np1,Nia Okoro,801-555-0199\np9,Otto Neu,\n"
    for (const dryRun of [true, false]) {
      const { last } = await importing(guess, { type: "people", dryRun }, token)
      expect(resultOf(last)).toMatchObject({ rows: 2 })
      expect(last).not.toHaveProperty("result.outcome")
    }
    const [run] = (await runsOf(token)).runs
    expect(run).toMatchObject({ type: "people", rows: 2, leftOut: 0 })
    expect(run).not.toHaveProperty("outcome")
    const audited = await ask(server.url, "/v1/admin/audit?action=data.imported&limit=1", { headers: bearer(token) })
    expect(audited.json.records[0]).toMatchObject({ subject: "people" })
    expect(audited.json.records[0].details).toEqual({ rows: 2, leftOut: 0 })
    const [seen] = (await runsOf(atlas.admin.secret)).runs
    expect(seen).toMatchObject({ record: run!.record, outcome: { inserted: expect.any(Number) } })
  })

  it("is a request that a page of another origin can't send with the cookie", async () => {
    const cookie = `max_session=${await server.run(atlas.session("yuki"))}`
    const own = { cookie, origin: server.url }
    const wanted = { type: "people", dryRun: true }
    const refused = await post("", formOf(PEOPLE, wanted), own)
    expect(((await refused.json()) as { type: string }).type).toBe("urn:max:problem:origin-not-allowed")
    expect((await post("", formOf(PEOPLE, wanted), { ...own, "x-requested-with": "max" })).status).toBe(200)
  })

  it("is a file above the limit, by its announced and by its real length, and another kind of body", async () => {
    const announced = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const request = httpRequest(
        `${server.url}/v1/admin/import`,
        {
          method: "POST",
          headers: {
            ...bearer(atlas.admin.secret),
            "content-type": "multipart/form-data; boundary=x",
            "content-length": 200 * 1024 * 1024
          }
        },
        (response) => {
          let text = ""
          response.on("data", (chunk: Buffer) => (text += chunk.toString()))
          response.on("end", () => resolve({ status: response.statusCode!, text }))
        }
      )
      request.on("error", reject)
      request.flushHeaders()
    })
    expect(announced).toMatchObject({ status: 413, text: expect.stringContaining("at most 32 MiB") })
    const head = `--x\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\nname\n`
    const lines = Buffer.from("Ada Park\n".repeat(100_000))
    const streamed = await fetch(`${server.url}/v1/admin/import`, {
      method: "POST",
      headers: { ...bearer(atlas.admin.secret), "content-type": "multipart/form-data; boundary=x" },
      body: ReadableStream.from([Buffer.from(head), ...Array.from({ length: 40 }, () => lines)]),
      duplex: "half"
    })
    expect([streamed.status, await streamed.text()]).toEqual([413, expect.stringContaining("at most 32 MiB")])
    const json = await ask(server.url, "/v1/admin/import", {
      method: "POST",
      headers: { ...bearer(atlas.admin.secret), "content-type": "application/json" },
      body: "{}"
    })
    expect([json.status, json.text]).toEqual([415, expect.stringContaining("multipart/form-data")])
    const broken = await post("", formOf(PEOPLE, { type: 5 }))
    expect([broken.status, await broken.text()]).toEqual([400, expect.stringContaining("type")])
    const without = new FormData()
    without.set("options", "{}")
    expect((await post("/proposal", without)).status).toBe(400)
  })
})
