import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { Credentials } from "../../../src/services/access/Credentials.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { Spending } from "../../../src/services/conversations/Spending.ts"
import { todayIn } from "../../../src/domain/values.ts"
import { SmsSettings } from "../../../src/services/texting/SmsSettings.ts"
import { administered } from "../../support/administered.ts"
import { migratedDatabase } from "../../support/database.ts"
import { type Answer, ask, callTool, JSON_TYPE, startServer, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"
import { ACCOUNT, SECRET, texted } from "../../support/texted.ts"

const CANARY = { atlas: "qzatlasqz", borealis: "qzborealisqz" } as const
type Slug = keyof typeof CANARY

/** The numbers of the two organizations share no four digits; the message body must appear in no response. */
const NUMBERS = {
  atlas: { line: "+18015554711", member: "+18015554712", stranger: "+18015554713" },
  borealis: { line: "+18015556821", member: "+18015556822", stranger: "+18015556823" }
} as const
const BODY = "qzwhatwassaidqz"

const scope = Scope.makeUnsafe()
let server: TestServer
const organizations = {} as Record<Slug, Effect.Success<ReturnType<typeof administered>>>

beforeAll(async () => {
  server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))))
  for (const slug of ["atlas", "borealis"] as const) {
    organizations[slug] = await server.run(administered({ slug, canary: CANARY[slug] }))
    const { idOf, organization } = organizations[slug]
    const { line, member: phone, stranger } = NUMBERS[slug]
    const member = { id: idOf("lena"), phone }
    await server.run(texted(organization, { line, member, stranger, body: `${BODY} ${CANARY[slug]}` }))
  }
})

afterAll(async () => {
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

type Call = readonly [method: string, path: string, body?: unknown]

const call = (token: string, [method, path, body]: Call, headers: Readonly<Record<string, string>> = {}) =>
  ask(server.url, `/v1/admin/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : JSON_TYPE), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })

const NO_RULES = JSON.stringify({ version: 1, roles: { member: {} }, rules: [] })

/** All requests that change nothing, about a person, a row and a search word. */
const reads = (person: string, row: string, word: string): ReadonlyArray<Call> => [
  ["POST", "people/search", {}],
  ["POST", "people/search", { search: word }],
  ["POST", "people/search", { role: word }],
  ["GET", `people/${person}`],
  ["GET", "policy"],
  ["GET", "policy/versions"],
  ["GET", "policy/changes/1/2"],
  ["GET", "policy/changes/1/99"],
  ["GET", "policy/document"],
  ["GET", "policy/document/1"],
  ["POST", "policy/check", { document: NO_RULES }],
  ["POST", "policy/grid", { document: NO_RULES, type: "people" }],
  ["POST", "policy/simulation", { document: NO_RULES }],
  ["POST", "policy/simulation", { document: NO_RULES, id: person }],
  ["POST", "policy/simulation", { document: NO_RULES, identifier: `lena@${word}.example` }],
  ["POST", "explain", { id: person }],
  ["POST", "explain", { identifier: `lena@${word}.example`, type: "people" }],
  ["POST", "explain/row", { id: person, type: "people", row }],
  ["GET", "types"],
  ["GET", "audit"],
  ["GET", "audit?chain=reads"],
  ["GET", `audit?who=${person}&since=2020-01-01&action=membership&limit=3`],
  ["GET", "audit/verification"],
  ["GET", "changes"],
  ["GET", "changes?limit=2&before=jopuvumecfmzq"],
  ["GET", "texts"],
  ["GET", "texts?limit=2&before=2026-11-20T15:31:00.00031Z"],
  ["GET", "usage"],
  ["GET", "usage?days=90"],
  ["GET", "usage/questions"],
  ["GET", "setup"],
  ["GET", "organization"],
  ["GET", "mapped"],
  ["GET", "providers"],
  ["GET", "health"]
]

const fullText = ({ headers, status, text }: Answer) => JSON.stringify([status, headers, text])

describe("two organizations", () => {
  it("see nothing of each other, even in requests with the other's ids", async () => {
    let own = 0
    for (const [slug, other] of [
      ["atlas", "borealis"],
      ["borealis", "atlas"]
    ] as const) {
      const { admin, idOf, owner } = organizations[slug]
      for (const whose of [slug, other] as const) {
        const word = whose === slug ? CANARY[slug] : CANARY[other].slice(0, -2)
        for (const one of reads(organizations[whose].idOf("lena"), organizations[whose].owner, word)) {
          const answer = await call(admin.secret, one)
          expect(fullText(answer), JSON.stringify(one)).not.toContain(CANARY[other])
          expect(answer.status, JSON.stringify([one, answer.text])).toBeLessThan(500)
          if (answer.text.includes(CANARY[slug])) own += 1
        }
      }
      expect([idOf("lena"), owner]).not.toEqual([organizations[other].idOf("lena"), organizations[other].owner])
    }
    expect(own).toBeGreaterThan(20)
  })

  it("can't change each other's members or tokens", async () => {
    const { idOf, lena } = organizations.borealis
    for (const action of ["suspend", "resume"]) {
      expect(await call(organizations.atlas.admin.secret, ["POST", `people/${idOf("lena")}/${action}`])).toMatchObject({
        status: 404,
        json: { type: "urn:max:problem:not-found" }
      })
    }
    expect((await call(organizations.atlas.admin.secret, ["DELETE", `tokens/${lena.id}`])).status).toBe(409)
    const found = await call(organizations.borealis.admin.secret, ["GET", `people/${idOf("lena")}`])
    expect(found.json).toMatchObject({ state: "active", held: [{ id: lena.id, state: "active" }] })
  })
})

describe("the right to administer", () => {
  it("needs both a token with the scope and a role that administers", async () => {
    const { organization } = organizations.atlas
    const withoutRole = organizations.atlas.lena.secret
    const { token: withoutScope } = await server.run(
      memberWithToken(organization, "other-admin@atlas.example", ["admin"], ["tools", "chat", "traces"])
    )
    for (const token of [withoutRole, withoutScope]) {
      for (const one of [
        ...reads(organizations.atlas.idOf("yuki"), organizations.atlas.owner, CANARY.atlas),
        ["POST", `people/${organizations.atlas.idOf("theo")}/suspend`],
        ["POST", `people/${organizations.atlas.idOf("jonas")}/resume`],
        ["DELETE", `tokens/${organizations.atlas.admin.id}`]
      ] as ReadonlyArray<Call>) {
        const answer = await call(token, one)
        expect(answer, JSON.stringify(one)).toMatchObject({
          status: 403,
          json: { type: "urn:max:problem:not-in-scope" }
        })
        expect(answer.headers["content-type"]).toBe("application/problem+json")
        expect(answer.text).not.toContain(CANARY.atlas)
      }
    }
    expect((await ask(server.url, "/v1/admin/policy")).status).toBe(401)
    const session = await ask(server.url, "/v1/session", { headers: { authorization: `Bearer ${withoutRole}` } })
    expect(session.json.scopes).toEqual(["tools"])
  })

  it("follows the policy from the next request on", async () => {
    const { organization } = organizations.atlas
    const { auditor } = organizations.atlas
    expect((await call(auditor.secret, ["GET", "types"])).status).toBe(200)
    const publish = (change: (document: string) => string) =>
      server.run(
        Effect.gen(function* () {
          const policies = yield* Policies
          const { document } = yield* policies.current(organization)
          yield* policies.publish(organization, change(document), "operator")
        })
      )
    await publish((document) => document.replace(`"auditor":{"inherits":[],"administers":true}`, `"auditor":{}`))
    expect((await call(auditor.secret, ["GET", "types"])).status).toBe(403)
    await publish((document) => document.replace(`"auditor":{}`, `"auditor":{"inherits":[],"administers":true}`))
    expect((await call(auditor.secret, ["GET", "types"])).status).toBe(200)
  })

  it("belongs to no role if the policy names none", async () => {
    const { organization } = organizations.borealis
    const { token } = await server.run(memberWithToken(organization, "second@borealis.example", ["admin"], ["admin"]))
    const document = await server.run(
      Effect.flatMap(Policies, (policies) => Effect.map(policies.current(organization), (found) => found.document))
    )
    const publish = (text: string) =>
      server.run(Effect.flatMap(Policies, (policies) => policies.publish(organization, text, "operator")))
    await publish(document.replaceAll(/,"administers":(true|\[[^\]]*\])/g, ""))
    expect((await call(token, ["GET", "policy"])).status).toBe(403)
    await publish(document)
    expect((await call(token, ["GET", "policy"])).status).toBe(200)
  })

  it("is among the scopes of a session", async () => {
    const { session } = organizations.borealis
    const scopesOf = async (name: string) => {
      const headers = { cookie: `max_session=${await server.run(session(name))}` }
      return (await ask(server.url, "/v1/session", { headers })).json.scopes
    }
    expect(await scopesOf("yuki")).toEqual(["tools", "chat", "export", "changes", "confirm", "admin", "traces"])
    expect(await scopesOf("lena")).toEqual(["tools", "chat", "export", "changes", "confirm"])
  })

  it("requires the own origin and a header of the page for requests with a cookie that change something", async () => {
    const { idOf, session } = organizations.atlas
    const cookie = `max_session=${await server.run(session("yuki"))}`
    const suspend = (headers: Readonly<Record<string, string>>) =>
      ask(server.url, `/v1/admin/people/${idOf("theo")}/suspend`, { method: "POST", headers: { cookie, ...headers } })
    const own = { origin: server.url, "x-requested-with": "max" }
    for (const incomplete of [{}, { origin: server.url }, { "x-requested-with": "max" }])
      expect((await suspend(incomplete)).json.type).toBe("urn:max:problem:origin-not-allowed")
    expect((await suspend({ ...own, origin: "https://elsewhere.example" })).status).toBe(403)
    for (const site of ["same-site", "cross-site", "unknown"])
      expect((await suspend({ ...own, "sec-fetch-site": site })).status).toBe(401)
    expect((await suspend({ ...own, "sec-fetch-site": "same-origin" })).status).toBe(204)
    const resumed = await ask(server.url, `/v1/admin/people/${idOf("theo")}/resume`, {
      method: "POST",
      headers: { cookie, ...own }
    })
    expect(resumed.status).toBe(204)
  })
})

describe("suspending a member", () => {
  it("refuses the next request, and resuming accepts the same token again", async () => {
    const { admin, idOf, lena } = organizations.atlas
    const lookup = () => callTool(server, lena.secret, "listEntityTypes", {})
    expect((await lookup()).status).toBe(200)
    expect((await call(admin.secret, ["POST", `people/${idOf("lena")}/suspend`])).status).toBe(204)
    expect(await lookup()).toMatchObject({ status: 403, json: { type: "urn:max:problem:not-admitted" } })
    const suspended = await call(admin.secret, ["POST", "people/search", { state: "suspended" }])
    expect(suspended.json.people.map(({ id }: { id: string }) => id)).toContain(idOf("lena"))
    const unexplained = await call(admin.secret, ["POST", "explain", { id: idOf("lena") }])
    expect(unexplained.json.explanations[0]).toMatchObject({
      refused: expect.stringMatching(/is not an active member/)
    })
    expect((await call(admin.secret, ["POST", `people/${idOf("lena")}/resume`])).status).toBe(204)
    expect((await lookup()).status).toBe(200)
    const audit = await call(admin.secret, ["GET", `audit?who=${idOf("lena")}&action=membership.`])
    const done = audit.json.records.map(({ action, actor }: { action: string; actor: string }) => [action, actor])
    expect(done.slice(0, 2)).toEqual([
      ["membership.resumed", idOf("yuki")],
      ["membership.suspended", idOf("yuki")]
    ])
  })

  it("is impossible for oneself, and one of two administrators who suspend each other remains", async () => {
    const { admin, auditor, idOf, organization } = organizations.atlas
    const own = await call(admin.secret, ["POST", `people/${idOf("yuki")}/suspend`])
    expect(own).toMatchObject({ status: 409, json: { type: "urn:max:problem:not-possible" } })
    expect(own.json.detail).toContain("can't suspend yourself")
    for (let round = 0; round < 5; round++) {
      const both = await Promise.all([
        call(admin.secret, ["POST", `people/${idOf("amina")}/suspend`]),
        call(auditor.secret, ["POST", `people/${idOf("yuki")}/suspend`])
      ])
      expect(both.filter(({ status }) => status === 204)).toHaveLength(1)
      await server.run(
        Effect.gen(function* () {
          const members = yield* Memberships
          const active = (yield* members.list(organization)).filter(({ suspended }) => !suspended)
          expect(active.some(({ anchorId }) => anchorId === idOf("yuki") || anchorId === idOf("amina"))).toBe(true)
          for (const name of ["yuki", "amina"]) {
            yield* Effect.ignore(members.resume(organization, `${name}@${organizations.atlas.host}`))
          }
        })
      )
    }
  })

  it("is a problem for an unknown member, and so is resuming an active one", async () => {
    const { admin, idOf } = organizations.atlas
    expect((await call(admin.secret, ["POST", "people/no-such-person/suspend"])).status).toBe(404)
    expect((await call(admin.secret, ["POST", `people/${idOf("theo")}/resume`])).status).toBe(409)
    expect((await call(admin.secret, ["POST", "people/a%20b/suspend"])).status).toBe(400)
  })
})

describe("usage in the administration API", () => {
  it("is of the period, with the names that the administrator may see, and refuses other periods and keys", async () => {
    const { admin, idOf, organization } = organizations.atlas
    await server.run(
      Effect.flatMap(Spending, (spending) =>
        spending.settle(
          { organizationId: organization.id, anchorId: idOf("theo") },
          { day: todayIn(organization.timeZone), tokens: 0 },
          { model: "basic", inputTokens: 0, outputTokens: 0 },
          "declined"
        )
      )
    )
    const { json } = await call(admin.secret, ["GET", "usage?days=7"])
    expect(json).toMatchObject({
      days: 7,
      total: { questions: 1, answered: 0, declined: 1, failed: 0, dollars: 0 },
      byDay: [{ day: todayIn(organization.timeZone), questions: 1 }],
      byPerson: [{ id: idOf("theo"), name: "Théo Mercier", questions: 1 }],
      byModel: [{ model: "basic", questions: 1 }]
    })
    expect((await call(admin.secret, ["GET", "usage"])).json.days).toBe(30)
    for (const query of ["days=0", "days=367", "days=1.5", "days=x", "days=1e9999", "days=7&days=8", "by=person"]) {
      expect(await call(admin.secret, ["GET", `usage?${query}`]), query).toMatchObject({
        status: 400,
        json: { type: "urn:max:problem:invalid-input" }
      })
    }
  })
})

describe("tokens in the administration API", () => {
  it("are shown without secrets, and revoking one takes effect immediately and is recorded", async () => {
    const { admin, idOf, organization } = organizations.atlas
    const issued = await server.run(
      Effect.flatMap(Credentials, (credentials) =>
        credentials.createToken(organization, { anchorId: idOf("theo"), name: "short", scopes: ["tools"], days: 1 })
      )
    )
    const shown = await call(admin.secret, ["GET", `people/${idOf("theo")}`])
    expect(shown.json.held).toMatchObject([{ id: issued.id, name: "short", scopes: ["tools"], state: "active" }])
    expect(shown.text).not.toContain(issued.secret.slice(-43))
    expect((await callTool(server, issued.secret, "listEntityTypes", {})).status).toBe(200)
    expect((await call(admin.secret, ["DELETE", `tokens/${issued.id}`])).status).toBe(204)
    expect((await callTool(server, issued.secret, "listEntityTypes", {})).status).toBe(401)
    expect(await call(admin.secret, ["DELETE", `tokens/${issued.id}`])).toMatchObject({
      status: 409,
      json: { detail: `No active token has the id "${issued.id}".` }
    })
    const [record] = (await call(admin.secret, ["GET", "audit?action=token.revoked"])).json.records
    expect(record).toMatchObject({ actor: idOf("yuki"), subject: issued.id, details: { person: idOf("theo") } })
  })
})

describe("people in the administration API", () => {
  it("are found by words of name and role or by a complete identifier, in pages ordered by name", async () => {
    const { admin, host, idOf } = organizations.borealis
    const search = async (body: unknown) => (await call(admin.secret, ["POST", "people/search", body])).json
    const ids = (found: { people: ReadonlyArray<{ id: string }> }) => found.people.map(({ id }) => id)
    expect(ids(await search({ search: "MERCIER theo" }))).toEqual([idOf("theo")])
    expect(ids(await search({ search: `Lena@${host.toUpperCase()}` }))).toEqual([idOf("lena")])
    expect(ids(await search({ role: "manager" }))).toEqual([idOf("priya")])
    expect(ids(await search({ search: "%" }))).toEqual([])
    const all = await search({})
    expect(all.total).toBe(all.people.length)
    const paged: Array<string> = []
    for (let after: string | undefined; ;) {
      const page = await search({ limit: 2, ...(after === undefined ? {} : { after }) })
      expect(page.total).toBe(all.total)
      paged.push(...ids(page))
      if (page.next === undefined) break
      after = page.next
    }
    expect(paged).toEqual(ids(all))
    expect((await call(admin.secret, ["POST", "people/search", { limit: 0 }])).status).toBe(400)
    expect((await call(admin.secret, ["POST", "people/search", { organization: "atlas" }])).status).toBe(400)
  })
})

describe("an administrator with limited rules", () => {
  // The auditor sees no status, e-mail or phone, and only names of people whose status is known and isn't vip.
  it("gets masked identifiers, and finds a member by a complete identifier that isn't shown", async () => {
    const { auditor, host, idOf } = organizations.borealis
    const all = await call(auditor.secret, ["POST", "people/search", {}])
    const text = JSON.stringify(all.json)
    expect(text).not.toContain(`lena@${host}`)
    expect(text).toContain(`l…@${host}`)
    const found = await call(auditor.secret, ["POST", "people/search", { search: `lena@${host}` }])
    expect(found.json.people.map(({ id }: { id: string }) => id)).toEqual([idOf("lena")])
    expect((await call(auditor.secret, ["POST", "people/search", { search: "lena@" }])).json.total).toBe(0)
    // Lena's status is unknown, so the administrator's own plan hides the name.
    expect(text).not.toContain("Lena Brandt")
  })

  it("gets no explanation of hidden rows or of rules that depend on hidden cells", async () => {
    const { admin, auditor, idOf, owner } = organizations.borealis
    const question = { id: idOf("lena"), type: "people" }
    const [full] = (await call(admin.secret, ["POST", "explain", question])).json.explanations
    expect(full.total).toBeGreaterThan(7)
    expect(full.visible).toBe(full.total)
    // The vip rule depends on a status that the auditor doesn't see, so nothing is explained.
    const own = await call(auditor.secret, ["POST", "explain", question])
    expect(own).toMatchObject({
      status: 409,
      json: { detail: expect.stringMatching(/read data that you may not see/) }
    })
    const row = (token: string, who: string, id: string) =>
      call(token, ["POST", "explain/row", { id: idOf(who), type: "people", row: id }])
    expect((await row(admin.secret, "lena", owner)).json).toMatchObject({ visible: true, name: "Otto Vip" })
    expect((await row(auditor.secret, "lena", owner)).status).toBe(409)
    // The admin's one rule has no condition, so it can be explained for the rows that the auditor sees.
    const about = await call(auditor.secret, ["POST", "explain", { id: idOf("yuki"), type: "people" }])
    expect(about.json.explanations).toMatchObject([{ total: 1, visible: 1, columns: [{ column: "name", rows: 1 }] }])
    const seen = await row(auditor.secret, "yuki", organizations.borealis.open)
    expect(seen.json).toMatchObject({ name: "Olga Offen", columns: [{ column: "name", value: "Olga Offen" }] })
    expect(seen.text).not.toMatch(/regular|801-555-0108/)
    const [hidden, nothing] = [await row(auditor.secret, "yuki", owner), await row(auditor.secret, "yuki", "nosuchrow")]
    expect(hidden.status).toBe(409)
    expect(hidden.text.replaceAll(owner, "X")).toBe(nothing.text.replaceAll("nosuchrow", "X"))
    const all = await call(auditor.secret, ["POST", "explain", { id: idOf("yuki") }])
    expect(all.json.explanations).toMatchObject([
      { visible: 1 },
      { refused: expect.any(String) },
      { refused: expect.any(String) }
    ])
    expect((await call(auditor.secret, ["POST", "explain", { id: idOf("jonas"), type: "people" }])).status).toBe(409)
  })
})

interface LoggedText {
  readonly at: string
  readonly direction: string
  readonly number: string
  readonly person?: { readonly name: string }
  readonly state: string
}

describe("text messages in the administration API", () => {
  it("are listed latest first, without complete numbers, content or secrets", async () => {
    const { admin, idOf } = organizations.atlas
    const answer = await call(admin.secret, ["GET", "texts"])
    expect(answer.json.lines).toEqual([{ number: NUMBERS.atlas.line, provider: "twilio" }])
    expect(answer.json.openRole).toBeUndefined()
    const lena = { id: idOf("lena"), name: `Lena Brandt ${CANARY.atlas}` }
    expect(answer.json.texts).toHaveLength(8)
    expect(answer.json.texts.slice(0, 3)).toEqual([
      {
        at: "2026-11-20T15:50:00.000500Z",
        direction: "in",
        number: "…4712",
        line: "…4711",
        person: lena,
        state: "waiting"
      },
      { at: "2026-11-20T15:40:00.000400Z", direction: "in", number: "…4713", line: "…4711", state: "limited" },
      {
        at: "2026-11-20T15:31:00.000310Z",
        direction: "out",
        number: "…4712",
        line: "…4711",
        person: lena,
        state: "undelivered",
        kind: "answer",
        segments: 2,
        error: "30003"
      }
    ])
    // Only the operator's command can request the bodies.
    expect((await call(admin.secret, ["GET", "texts?bodies=true"])).json).toMatchObject({
      status: 400,
      detail: 'Invalid input at "bodies".'
    })
    for (const hidden of [BODY, NUMBERS.atlas.member, NUMBERS.atlas.stranger, ACCOUNT, SECRET, "QZTOKENQZ"]) {
      expect(answer.text).not.toContain(hidden)
    }
  })

  it("contain no number of another organization, not even masked", async () => {
    for (const [slug, other] of [
      ["atlas", "borealis"],
      ["borealis", "atlas"]
    ] as const) {
      const answer = await call(organizations[slug].admin.secret, ["GET", "texts"])
      expect(answer.text).toContain(NUMBERS[slug].line)
      for (const number of Object.values(NUMBERS[other])) {
        expect(fullText(answer)).not.toContain(number)
        expect(answer.text).not.toContain(`…${number.slice(-4)}`)
      }
    }
  })

  it("are paged without duplicates or gaps", async () => {
    const { admin } = organizations.atlas
    const all: ReadonlyArray<LoggedText> = (await call(admin.secret, ["GET", "texts"])).json.texts
    const paged: Array<LoggedText> = []
    for (let query = "limit=3"; ;) {
      const { next, texts } = (await call(admin.secret, ["GET", `texts?${query}`])).json
      paged.push(...texts)
      if (next === undefined) break
      query = `limit=3&before=${next}`
    }
    expect(paged).toEqual(all)
  })

  it("omit names that the administrator may not see", async () => {
    const { admin, auditor, idOf, organization, owner, open } = organizations.borealis
    // Of the senders, the auditor sees only Olga's name: her status is known and isn't vip.
    for (const [id, line] of [
      [open, "+18015556831"],
      [owner, "+18015556841"]
    ] as const) {
      await server.run(
        Effect.flatMap(
          Database,
          (database) => database.owner`INSERT INTO max.sms_inbox
            (organization_id, provider, message_id, line, phone, body, anchor_id, state, received_at)
            VALUES (${organization.id}, 'twilio', ${id}, ${line}, '+18015556832', ${BODY}, ${id}, 'answered', '2026-11-19T10:00:00Z')`
        )
      )
    }
    const namesFor = async (token: string) => {
      const answer = await call(token, ["GET", "texts"])
      expect(answer.status).toBe(200)
      const texts: ReadonlyArray<LoggedText> = answer.json.texts
      return { answer, names: [...new Set(texts.flatMap(({ person }) => person?.name ?? []))].sort() }
    }
    expect((await namesFor(admin.secret)).names).toEqual([`Lena Brandt ${CANARY.borealis}`, "Olga Offen", "Otto Vip"])
    const { answer, names } = await namesFor(auditor.secret)
    expect(names).toEqual(["Olga Offen"])
    expect(answer.text).not.toMatch(/Lena|Otto/)
    expect(answer.text).not.toContain(idOf("lena"))
    expect(answer.text).not.toContain(owner)
    expect(answer.text).toContain("…6822")
  })

  it("show the role with which the channel is open, from the next request on", async () => {
    const { admin, organization } = organizations.atlas
    const openRole = async () => (await call(admin.secret, ["GET", "texts"])).json.openRole
    await server.run(Effect.flatMap(SmsSettings, (settings) => settings.open(organization, "member")))
    expect(await openRole()).toBe("member")
    await server.run(Effect.flatMap(SmsSettings, (settings) => settings.close(organization)))
    expect(await openRole()).toBeUndefined()
  })
})

describe("invalid administration input", () => {
  it.each([
    [["POST", "explain", {}], 400],
    [["POST", "explain", { id: "a", identifier: "b@c.example" }], 400],
    [["POST", "explain", { identifier: "neither", type: "people" }], 409],
    [["POST", "explain", { identifier: "lena@qzborealisqz.example", type: "peopel" }], 409],
    [["GET", "policy/changes/one/two"], 400],
    [["GET", "policy/changes/1/0"], 409],
    [["GET", "audit?since=2026-13-45"], 400],
    [["GET", "audit?since=yesterday"], 400],
    [["GET", "audit?limit=1000"], 400],
    [["GET", "audit?before=0"], 400],
    [["GET", "audit?chain=all"], 400],
    [["GET", "texts?limit=0"], 400],
    [["GET", "texts?limit=201"], 400],
    [["GET", "texts?before=yesterday"], 400],
    [["GET", "texts?before=2026-02-30T10:00:00.000000Z"], 400],
    [["GET", "texts?before=2026-11-20T24:00:00.000000Z"], 400],
    [["GET", "texts?before=0000-01-01T10:00:00.000000Z"], 400]
  ] as ReadonlyArray<readonly [Call, number]>)(
    "%j is answered with a problem that has a detail",
    async (one, status) => {
      const answer = await call(organizations.borealis.admin.secret, one)
      expect(answer.status).toBe(status)
      expect(answer.headers["content-type"]).toBe("application/problem+json")
      expect(answer.json.detail.length).toBeGreaterThan(10)
    }
  )
})
