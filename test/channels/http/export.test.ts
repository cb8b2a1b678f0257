import { parse } from "csv-parse/sync"
import { Effect, Exit, Scope, Stream } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { CurrentPrincipal } from "../../../src/domain/Principal.ts"
import { MAX_EXPORTED } from "../../../src/domain/Query.ts"
import { Credentials, type Scope as TokenScope } from "../../../src/services/access/Credentials.ts"
import { Exports } from "../../../src/services/exports/Exports.ts"
import { IdentityResolver } from "../../../src/services/members/IdentityResolver.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { addPeople, makeOrganization } from "../../support/atlas.ts"
import { migratedDatabase } from "../../support/database.ts"
import { ask, callTool, JSON_TYPE, startServer, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"
import { until } from "../../support/until.ts"
import { watched } from "../../support/watched.ts"

const scope = Scope.makeUnsafe()
const seen = watched()
const PER_HOUR = 10
const CANARY = "qzexportqz"
let one: TestServer
let two: TestServer

beforeAll(async () => {
  const url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  one = await startServer(url, {}, seen.layer)
  two = await startServer(url)
})

afterAll(async () => {
  await one.stop()
  await two.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const organizationWith = (
  slug: string,
  names: ReadonlyArray<string>,
  scopes: ReadonlyArray<TokenScope> = ["tools", "export"]
) =>
  one.run(
    Effect.gen(function* () {
      const organization = yield* makeOrganization(slug)
      yield* addPeople(
        organization,
        names.map((name) => ({ name, status: "export-me" }))
      )
      return { organization, ...(yield* memberWithToken(organization, `admin@${slug}.example`, ["admin"], scopes)) }
    })
  )

const take = (token: string, body: object, at = one) =>
  ask(at.url, "/v1/export", {
    body: JSON.stringify(body),
    headers: { ...JSON_TYPE, authorization: `Bearer ${token}` }
  })

const people = { entityTypeId: "people", filters: [{ columnId: "status", op: "eq", value: "export-me" }] }

const rowsIn = (text: string) => parse(text, { bom: true }) as ReadonlyArray<ReadonlyArray<string>>

interface Recorded {
  readonly actor: string
  readonly action: string
  readonly subject: string
  readonly details: { readonly columns: ReadonlyArray<string>; readonly rows?: number }
}

const recorded = (organization: Organization) =>
  one.run(
    Effect.gen(function* () {
      const { owner } = yield* Database
      const rows = yield* owner<Omit<Recorded, "details"> & { details: string }>`
        SELECT actor, action, subject, details FROM max.audit_log
        WHERE organization_id = ${organization.id} AND action LIKE 'data.%' ORDER BY sequence`
      return rows.map((row): Recorded => ({ ...row, details: JSON.parse(row.details) }))
    })
  )

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `Person ${index}`)

describe("an export over HTTP", () => {
  it("is a CSV file of everything that findEntities shows page by page", async () => {
    const { organization, anchorId, token } = await organizationWith("files", numbered(1203))
    const file = await take(token, { ...people, selectColumns: ["name", "owner"] })
    expect(file).toMatchObject({
      status: 200,
      headers: {
        "content-type": "text/csv; charset=utf-8; header=present",
        "content-disposition": 'attachment; filename="people.csv"',
        "cache-control": "no-store",
        "x-content-type-options": "nosniff"
      }
    })
    const [header, ...rows] = rowsIn(file.text)
    expect(header).toEqual(["id", "name", "owner", "owner.name"])
    const found: Array<ReadonlyArray<string>> = []
    let cursorEntityId: string | undefined
    do {
      const { json } = await callTool(one, token, "findEntities", {
        ...people,
        limit: 25,
        selectColumns: ["name"],
        ...(cursorEntityId === undefined ? {} : { cursorEntityId })
      })
      for (const { columns, entityId } of json.entities) found.push([entityId, columns.name, "", ""])
      cursorEntityId = json.nextCursorEntityId
    } while (cursorEntityId !== undefined)
    expect(rows).toEqual(found)
    expect(rows.length).toBe(1203)
    expect(await recorded(organization)).toEqual([
      { actor: anchorId, action: "data.export-begun", subject: "people", details: { columns: ["name", "owner"] } },
      {
        actor: anchorId,
        action: "data.exported",
        subject: "people",
        details: { columns: ["name", "owner"], rows: 1203 }
      }
    ])
  })

  it("ends its lines with CR LF, quotes what RFC 4180 quotes and begins with a byte order mark on request", async () => {
    const { token } = await organizationWith("quoted", ['Ada "the first", Lovelace', " Grace"])
    const { text } = await take(token, { ...people, selectColumns: ["name"], byteOrderMark: true })
    expect(text.replaceAll(/[a-z]{5,}(?=,["\s])/g, "ID")).toBe(
      '\uFEFFid,name\r\nID,"Ada ""the first"", Lovelace"\r\nID," Grace"\r\n'
    )
    const plain = await take(token, { ...people, selectColumns: ["name"] })
    expect(plain.text.slice(0, 3)).toBe("id,")
  })

  it("keeps a spreadsheet from evaluating a cell", async () => {
    const formulas = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://x","y")', "＝1+1", "  =1"]
    const { token } = await organizationWith("formulas", formulas)
    const [, ...rows] = rowsIn((await take(token, { ...people, selectColumns: ["name"] })).text)
    expect(rows.length).toBe(formulas.length)
    for (const [, name] of rows) expect(name).toMatch(/^'/)
  })

  it("needs the scope export, which sessions have and earlier tokens don't", async () => {
    const { anchorId, organization, token } = await organizationWith(
      "scopes",
      ["Ada"],
      ["tools", "chat", "changes", "confirm"]
    )
    expect(await take(token, people)).toMatchObject({
      status: 403,
      json: { detail: "This token lacks the scope export. max token create --scope export creates one with it." }
    })
    expect(await recorded(organization)).toEqual([])
    const secret = await one.run(
      Effect.gen(function* () {
        const credentials = yield* Credentials
        const link = yield* credentials.createLink(organization, anchorId)
        return (yield* credentials.redeemLink(link.secret, 3600)).secret
      })
    )
    const bySession = (headers: Readonly<Record<string, string>>) =>
      ask(one.url, "/v1/export", {
        body: JSON.stringify(people),
        headers: { ...JSON_TYPE, cookie: `max_session=${secret}`, ...headers }
      })
    expect((await bySession({ origin: one.url })).status).toBe(200)
    expect((await bySession({ origin: "https://elsewhere.example" })).status).toBe(403)
    expect((await bySession({})).status).toBe(403)
  })

  it("answers the same for what is hidden and what doesn't exist, and refuses more than 20 columns", async () => {
    const { token } = await organizationWith("names", ["Ada"])
    for (const body of [
      { entityTypeId: "salaries" },
      { entityTypeId: "people", selectColumns: ["bonus"] },
      { entityTypeId: "people", filters: [{ columnId: "bonus", op: "eq", value: "1" }] }
    ])
      expect((await take(token, body)).status).toBe(404)
    const columns = (count: number) => Array.from({ length: count }, () => "name")
    expect((await take(token, { ...people, selectColumns: columns(20) })).status).toBe(200)
    expect(await take(token, { ...people, selectColumns: columns(21) })).toMatchObject({
      status: 400,
      json: { detail: "At most 20 columns can be selected." }
    })
    for (const body of [{}, [], { entityTypeId: "people", limit: 3 }, { entityTypeId: "people", filters: [{}] }])
      expect((await take(token, body)).status).toBe(400)
    const wide = {
      entityTypeId: "people",
      filters: [],
      selectColumns: ["name", "status", "phone", "email", "owner", "id"]
    }
    expect((await callTool(one, token, "findEntities", wide)).status).toBe(400)
    expect((await callTool(one, token, "findEntities", { ...people, limit: 26 })).status).toBe(400)
  })

  it("happens 10 times an hour per person, counted across processes", async () => {
    const { organization, token } = await organizationWith("hourly", ["Ada"])
    const answers = await Promise.all(
      Array.from({ length: 2 * PER_HOUR }, (_, index) => take(token, people, index % 2 === 0 ? one : two))
    )
    // An hour may have ended in between.
    const served = answers.filter(({ status }) => status === 200).length
    expect([PER_HOUR, 2 * PER_HOUR]).toContain(served)
    const refused = await take(token, people, two)
    expect(refused.status).toBe(429)
    expect(refused.json.detail).toMatch(/^At most 10 exports an hour\. Try again in \d+ minutes\.$/)
    expect(refused.json.retryAfter).toBeLessThanOrEqual(3600)
    await until(
      async () => (await recorded(organization)).filter(({ action }) => action === "data.exported").length === served
    )
    await one.run(
      Effect.gen(function* () {
        const { owner } = yield* Database
        yield* owner`UPDATE max.calls SET minute = minute - 60 WHERE organization_id = ${organization.id}`
      })
    )
    expect((await take(token, people)).status).toBe(200)
  })

  it("has at most 10000 rows and says in its last line that there are more", async () => {
    const { token } = await organizationWith("many", numbered(MAX_EXPORTED + 1))
    const { text } = await take(token, { ...people, selectColumns: ["name"] })
    const rows = rowsIn(text)
    expect(rows.length).toBe(1 + MAX_EXPORTED + 1)
    expect(rows.at(-1)).toEqual([
      "This file ends here: it has the first 10000 rows. Export with more conditions to get the others.",
      ""
    ])
    const { text: exact } = await take(token, {
      ...people,
      filters: [...people.filters, { columnId: "name", op: "ne", value: "Person 7" }]
    })
    expect(rowsIn(exact).length).toBe(1 + MAX_EXPORTED)
  })

  it("is a table of groups where groups are asked for, each name guarded like any text", async () => {
    const { organization, token } = await organizationWith("groups", ["Ada", "Bob", "=Eve"])
    const grouped = await take(token, { ...people, selectColumns: ["by name", "distinct status"] })
    const lines = rowsIn(grouped.text)
    expect(lines[0]).toEqual(["name", "name.id", "count", "share %", "distinct status", "distinct status currency"])
    expect(lines.slice(1).toSorted()).toEqual(
      ["'=Eve", "Ada", "Bob"].map((name) => [name, "", "1", expect.stringMatching(/^3[34]$/), "1", ""])
    )
    expect(await recorded(organization)).toMatchObject([
      { action: "data.exported", subject: "people", details: { columns: ["by name", "distinct status"], rows: 3 } }
    ])
  })

  it("has every group, more than a page shows, and says in its last line where there are more groups than it has", async () => {
    const { token } = await organizationWith("grouped", numbered(MAX_EXPORTED + 1))
    const few = {
      ...people,
      selectColumns: ["by name"],
      filters: [...people.filters, { columnId: "name", op: "ilike", value: "Person 99" }]
    }
    const names = numbered(MAX_EXPORTED + 1).filter((name) => name.startsWith("Person 99"))
    const exact = rowsIn((await take(token, few)).text).slice(1)
    expect(exact.map(([name]) => name).toSorted()).toEqual(names.toSorted())
    const all = parse((await take(token, { ...people, selectColumns: ["by name"] })).text, {
      relax_column_count: true
    }) as ReadonlyArray<ReadonlyArray<string>>
    expect(all.length).toBe(1 + MAX_EXPORTED + 1)
    expect(new Set(all.slice(1, -1).map(([name]) => name)).size).toBe(MAX_EXPORTED)
    expect(all.at(-1)![0]).toMatch(/^This file ends here: it has the first 10000 groups/)
  })

  it("puts no value of a row into logs, spans and the audit log, and none of another organization into the file", async () => {
    const { organization, token } = await organizationWith("canary", [`Ada ${CANARY}`])
    const other = await organizationWith("other", ["Bob"])
    const named = { ...people, filters: [{ columnId: "name", op: "ilike", value: CANARY }] }
    expect((await take(token, named)).text).toContain(CANARY)
    expect((await take(other.token, { entityTypeId: "people" })).text).not.toContain(CANARY)
    expect(JSON.stringify(await recorded(organization))).not.toContain(CANARY)
    expect(seen.recorded()).not.toContain(CANARY)
  })
})

describe("an export under way", () => {
  const begin = (organization: Organization, email: string, more: { readonly expiresAt?: number } = {}) =>
    Effect.gen(function* () {
      const identities = yield* IdentityResolver
      const exports = yield* Exports
      const { principal } = yield* identities.admit(organization, { kind: "email", key: email })
      return yield* Effect.provideService(
        exports.begin({ ...people, selectColumns: ["name"], ...more } as Parameters<typeof exports.begin>[0]),
        CurrentPrincipal,
        principal
      )
    })

  it("ends with a line that says so when what the person may see changes", async () => {
    const { organization } = await organizationWith("changed", numbered(1203))
    const text = await one.run(
      Effect.gen(function* () {
        const members = yield* Memberships
        const { text } = yield* begin(organization, "admin@changed.example")
        let parts = 0
        const raise = Effect.suspend(() =>
          (parts += 1) === 2 ? members.suspend(organization, "admin@changed.example") : Effect.void
        )
        return yield* Stream.mkString(Stream.tap(text, () => raise))
      })
    )
    const rows = rowsIn(text)
    expect(rows.length).toBe(1 + 500 + 1)
    expect(rows.at(-1)).toEqual(["This file ends early: what you may see has changed meanwhile. Export again.", ""])
    expect((await recorded(organization)).at(-1)).toMatchObject({ action: "data.exported", details: { rows: 500 } })
  })

  it("reads nothing after its credential has expired", async () => {
    const { organization } = await organizationWith("expired", numbered(600))
    const text = await one.run(
      Effect.flatMap(begin(organization, "admin@expired.example", { expiresAt: Date.now() }), ({ text }) =>
        Stream.mkString(text)
      )
    )
    expect(rowsIn(text).at(-1)![0]).toBe("This file ends early: the sign-in has expired. Sign in and export again.")
  })

  it("reads no page that its reader doesn't ask for, and records what was written when the reader leaves", async () => {
    const { organization } = await organizationWith("left", numbered(1203))
    const rows = await one.run(
      Effect.gen(function* () {
        const { rows, text } = yield* begin(organization, "admin@left.example")
        yield* Stream.runDrain(Stream.take(text, 2))
        return rows()
      })
    )
    expect(rows).toBe(500)
    expect((await recorded(organization)).at(-1)).toMatchObject({ action: "data.exported", details: { rows: 500 } })
  })
})
