/**
 * What administrators do on the page is also a command. Each act is done over HTTP in one organization and by command in its
 * twin: both leave the same state and the same audit events but for the actor. An administrator's route is in the table of
 * acts, or is shown to change nothing.
 */
import { Effect, Exit, Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Api } from "../../src/channels/http/Api.ts"
import { Database } from "../../src/database/Database.ts"
import type { PolicyDocument } from "../../src/permissions/policyDocument.ts"
import { AuditLog } from "../../src/services/audit/AuditLog.ts"
import { IdentityProviders, providerId } from "../../src/services/access/IdentityProviders.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { administered } from "../support/administered.ts"
import { ACCOUNT, PUBLIC_URL, startCarrier, TOKEN } from "../support/carrier.ts"
import { runMax } from "../support/cli.ts"
import { migratedDatabase } from "../support/database.ts"
import { startServer, type TestServer } from "../support/http.ts"
import { fileOf } from "../support/imports.ts"
import { makeOrganization } from "../support/atlas.ts"
import { memberWithToken } from "../support/members.ts"
import { rowsOfOrganization } from "../support/organizationRows.ts"
import { startProvider } from "../support/provider.ts"
import { type MessagesServer, says, startMessages } from "../support/messages.ts"
import { until } from "../support/until.ts"

const KEY = "sk-ant-canary-0123456789abcdef-7f3a"

const scope = Scope.makeUnsafe()
const stateDir = mkdtempSync(join(tmpdir(), "max-both-"))
let url: string
let server: TestServer
let model: MessagesServer
let provider: Awaited<ReturnType<typeof startProvider>>
let carrier: Awaited<ReturnType<typeof startCarrier>>

beforeAll(async () => {
  url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  model = await startMessages(() => says("From the model."))
  carrier = await startCarrier()
  provider = await startProvider()
  server = await startServer(url, {
    anthropicUrl: model.url,
    twilioUrl: carrier.url,
    privateHosts: [new URL(provider.issuer).host],
    publicUrl: PUBLIC_URL,
    stateDir
  })
})
afterAll(async () => {
  await server.stop()
  await model.close()
  await carrier.close()
  await provider.stop()
  rmSync(stateDir, { recursive: true, force: true })
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const max = (args: ReadonlyArray<string>) =>
  runMax(args, {
    DATABASE_URL: url,
    ANTHROPIC_BASE_URL: model.url,
    MAX_TWILIO_URL: carrier.url,
    MAX_STATE_DIR: stateDir,
    ANTHROPIC_KEY: KEY,
    TWILIO_TOKEN: TOKEN
  })

type Twin = Effect.Success<ReturnType<typeof administered>>

/** One request over HTTP, and the same act as arguments of `max`. */
interface Act {
  readonly route: string
  readonly what: string
  /** What is done to both organizations by command before. */
  readonly before?: ReadonlyArray<(twin: Twin) => ReadonlyArray<string>>
  readonly path?: (twin: Twin) => string
  readonly body?: (twin: Twin) => object | FormData | Promise<object>
  readonly command: (twin: Twin) => ReadonlyArray<string>
  /** An act without audit events of its own. */
  readonly leaves?: "a waiting change"
}

const form = (file: string, options: object) => {
  const made = new FormData()
  made.set("options", JSON.stringify(options))
  made.set("file", new Blob([file]), "people.csv")
  return made
}

const address = (name: string) => (twin: Twin) => `${name}@${twin.host}`
const inviting = (twin: Twin) => ["member", "invite", address("nia")(twin), address("bo")(twin), "--role", "member"]
const LIST = "Name,E-mail,Role\nNia Okoro,nia@list.example,manager\nBo,bo@list.example,\n"
/** Lena's roles change, Jonas gets access again, and the others go. */
const members = ({ host }: Twin) => `identifier,role\nyuki@${host},admin\nlena@${host},manager\njonas@${host},member\n`
const IMPORTED = "id,name,email,Salary\np1,Nia Okoro,nia@import.example,70000\n"
const withRule = (text: string) => {
  const file = JSON.parse(text) as PolicyDocument
  const rule = { id: "names", effect: "allow", role: "auditor", action: "read", type: "companies", columns: ["name"] }
  return JSON.stringify({ ...file, rules: [...file.rules, rule] })
}
const policyOf = (twin: Twin) => server.run(Effect.flatMap(Policies, (policies) => policies.current(twin.organization)))
const published = new Map<Twin, { readonly version: number; readonly text: string }>()
const PHONES = new Map<string, string>()
/** A number is answered for one organization only. */
const phoneOf = (twin: Twin) => {
  const { slug } = twin.organization
  if (!PHONES.has(slug)) PHONES.set(slug, `+1512${550 + PHONES.size}0100`)
  return PHONES.get(slug)!
}
/** A pair of issuer and audience belongs to one organization. */
const trusted = (twin: Twin) => ["--issuer", provider.issuer, "--audience", twin.host]
/** The same provider with a token that it has signed, as an administrator sends it. */
const vouched = async (twin: Twin, rest: object = {}) => {
  const claims = { sub: "lena", aud: twin.host, email: address("lena")(twin), email_verified: true }
  return { issuer: provider.issuer, audience: twin.host, token: await provider.sign(claims), ...rest }
}
const addingNumber = (twin: Twin) => {
  const token = ["--account", ACCOUNT, "--token", "env:TWILIO_TOKEN", "--seal"]
  return ["sms", "add-number", phoneOf(twin), ...token]
}

const ACTS: ReadonlyArray<Act> = [
  {
    route: "POST /v1/admin/people/:id/suspend",
    what: "suspends a member",
    path: ({ idOf }) => idOf("lena"),
    command: (twin) => ["member", "suspend", address("lena")(twin)]
  },
  {
    route: "POST /v1/admin/people/:id/resume",
    what: "restores a member's access",
    path: ({ idOf }) => idOf("jonas"),
    command: (twin) => ["member", "resume", address("jonas")(twin)]
  },
  {
    route: "POST /v1/admin/people/invite",
    what: "invites people by address",
    body: (twin) => ({ people: ["nia", "bo"].map((name) => ({ identifier: address(name)(twin) })), roles: ["member"] }),
    command: inviting
  },
  {
    route: "POST /v1/admin/people/invite",
    what: "invites a list, as it was shown",
    body: () => ({
      people: [
        { identifier: "nia@list.example", name: "Nia Okoro", roles: ["manager"] },
        { identifier: "bo@list.example", name: "Bo", roles: ["member"] }
      ]
    }),
    command: () => ["member", "invite", "--from", fileOf("list.csv", LIST), "--role", "member"]
  },
  {
    route: "POST /v1/admin/people/invite",
    what: "invites invited people again",
    before: [inviting],
    body: (twin) => ({ people: [{ identifier: address("bo")(twin) }], roles: ["manager"] }),
    command: (twin) => ["member", "invite", address("bo")(twin), "--role", "manager"]
  },
  {
    route: "POST /v1/admin/people/sync",
    what: "makes the members match a list",
    body: (twin) => form(members(twin), { confirmed: { added: 0, changed: 2, suspended: 3 } }),
    command: (twin) => ["member", "sync", fileOf("members.csv", members(twin))]
  },
  {
    route: "POST /v1/admin/people/:id/sign-in",
    what: "offers a sign-in link",
    path: ({ idOf }) => idOf("lena"),
    command: (twin) => ["member", "sign-in", address("lena")(twin)]
  },
  {
    route: "POST /v1/admin/people/:id/sign-out",
    what: "signs a member out everywhere",
    before: [(twin) => ["member", "sign-in", address("lena")(twin)]],
    path: ({ idOf }) => idOf("lena"),
    command: (twin) => ["member", "sign-out", address("lena")(twin)]
  },
  {
    route: "POST /v1/admin/people/:id/identifiers",
    what: "links an identifier",
    path: ({ idOf }) => idOf("lena"),
    body: () => ({ identifier: "Lena.Brandt@work.example" }),
    command: (twin) => ["member", "link", address("lena")(twin), "lena.brandt@work.example"]
  },
  {
    route: "POST /v1/admin/people/:id/identifiers",
    what: "links a subject at the identity provider",
    before: [(twin) => ["idp", "add", "--issuer", provider.issuer, "--audience", twin.organization.slug]],
    path: ({ idOf }) => idOf("lena"),
    body: () => ({ subject: "lena-7" }),
    command: (twin) => ["member", "link", address("lena")(twin), "--subject", "lena-7"]
  },
  {
    route: "POST /v1/admin/people/:id/identifiers/remove",
    what: "removes an identifier",
    before: [(twin) => ["member", "link", address("lena")(twin), "801-555-0103"]],
    path: ({ idOf }) => idOf("lena"),
    body: (twin) => ({ kind: "email", text: address("lena")(twin) }),
    command: (twin) => ["member", "unlink", address("lena")(twin), address("lena")(twin)]
  },
  {
    route: "POST /v1/admin/people/:id/roles",
    what: "replaces roles",
    path: ({ idOf }) => idOf("lena"),
    body: () => ({ roles: ["manager", "auditor"] }),
    command: (twin) => ["member", "roles", address("lena")(twin), "--role", "manager", "--role", "auditor"]
  },
  {
    route: "POST /v1/admin/people/:id/attributes",
    what: "replaces attributes",
    path: ({ idOf }) => idOf("lena"),
    body: () => ({ attributes: { region: "north", level: "3", remote: "true" } }),
    command: (twin) => [
      "member",
      "attributes",
      address("lena")(twin),
      ...["region=north", "level=3", "remote=true"].flatMap((pair) => ["--attr", pair])
    ]
  },
  {
    route: "POST /v1/admin/people/:id/tokens",
    what: "creates a token",
    path: ({ idOf }) => idOf("lena"),
    body: () => ({ name: "nightly report", scopes: ["tools", "export"], days: 30 }),
    command: (twin) => [
      "token",
      "create",
      address("lena")(twin),
      "--name",
      "nightly report",
      "--scope",
      "tools,export",
      "--days",
      "30"
    ]
  },
  {
    route: "POST /v1/admin/organization",
    what: "changes the organization's name, country and time zone",
    body: () => ({ name: "Harbor Ltd", country: "DE", timeZone: "Europe/Berlin" }),
    command: () => ["org", "set", "--name", "Harbor Ltd", "--country", "DE", "--time-zone", "Europe/Berlin"]
  },
  {
    route: "POST /v1/admin/organization",
    what: "keeps conversations for a shorter time than the operator",
    body: () => ({ conversationDays: 7 }),
    command: () => ["org", "set", "--conversation-days", "7"]
  },
  {
    route: "POST /v1/admin/organization",
    what: "keeps conversations as long as the operator again",
    before: [() => ["org", "set", "--conversation-days", "7"]],
    body: () => ({ conversationDays: null }),
    command: () => ["org", "set", "--conversation-days", "0"]
  },
  {
    route: "DELETE /v1/admin/tokens/:id",
    what: "revokes a token",
    path: ({ lena }) => lena.id,
    command: ({ lena }) => ["token", "revoke", lena.id]
  },
  {
    route: "POST /v1/admin/policy/publish",
    what: "publishes a policy over the version that it was made from",
    body: (twin) => ({ document: published.get(twin)!.text, replacing: published.get(twin)!.version }),
    command: (twin) => [
      "policy",
      "publish",
      fileOf("policy.json", published.get(twin)!.text),
      "--replacing",
      String(published.get(twin)!.version)
    ]
  },
  {
    route: "POST /v1/admin/policy/proposals",
    what: "proposes a policy, which waits for another person",
    body: (twin) => ({ document: published.get(twin)!.text, replacing: published.get(twin)!.version }),
    command: (twin) => [
      "policy",
      "publish",
      fileOf("policy.json", published.get(twin)!.text),
      "--propose",
      "--replacing",
      String(published.get(twin)!.version),
      "--as",
      address("yuki")(twin)
    ],
    // The proposer is a person in both; what the audit log has of it, its decision writes.
    leaves: "a waiting change"
  },
  {
    route: "POST /v1/admin/import",
    what: "imports a file with a new column",
    body: () =>
      form(IMPORTED, { type: "people", create: true, map: { id: "id", name: "name", email: "email" }, dryRun: false }),
    command: () => ["import", fileOf("people.csv", IMPORTED), "--type", "people", "--create"]
  },
  {
    route: "POST /v1/admin/import/sample",
    what: "adds the sample data",
    command: () => ["setup", "sample"]
  },
  {
    route: "POST /v1/admin/model/key",
    what: "seals the key of a model",
    body: () => ({ secret: KEY }),
    command: () => ["model", "key", "--from", "env:ANTHROPIC_KEY"]
  },
  {
    route: "DELETE /v1/admin/model/key",
    what: "removes the key",
    before: [() => ["model", "key", "--from", "env:ANTHROPIC_KEY"]],
    command: () => ["model", "remove-key"]
  },
  {
    route: "POST /v1/admin/model",
    what: "sets a day's budget",
    body: () => ({ dayTurns: 40, dayTokens: 50_000 }),
    command: () => ["model", "set", "--day-turns", "40", "--day-tokens", "50000"]
  },
  {
    route: "POST /v1/admin/usage/questions",
    what: "keeps questions that aren't understood",
    body: () => ({ kept: true }),
    command: () => ["usage", "--keep-questions", "on"]
  },
  {
    route: "POST /v1/admin/usage/questions",
    what: "forgets such questions",
    before: [() => ["usage", "--keep-questions", "on"]],
    body: () => ({ kept: false }),
    command: () => ["usage", "--keep-questions", "off"]
  },
  {
    route: "POST /v1/admin/line/numbers/remove",
    what: "stops answering a number",
    before: [addingNumber],
    body: (twin) => ({ phone: phoneOf(twin) }),
    command: (twin) => ["sms", "remove-number", phoneOf(twin)]
  },
  {
    route: "POST /v1/admin/line/tests",
    what: "sends a test text to the administrator's own number",
    before: [addingNumber, (twin) => ["member", "link", address("yuki")(twin), "801-555-0142"]],
    body: (twin) => ({ line: phoneOf(twin) }),
    command: (twin) => ["sms", "test", "--to-member", address("yuki")(twin)]
  },
  {
    route: "POST /v1/admin/line",
    what: "sets the contact",
    body: () => ({ contact: "Jo at the desk" }),
    command: () => ["sms", "contact", "Jo at the desk"]
  },
  {
    route: "POST /v1/admin/line",
    what: "opens the line with a role",
    body: () => ({ openRole: "member" }),
    command: () => ["sms", "open", "--role", "member"]
  },
  {
    route: "POST /v1/admin/line",
    what: "closes an open line",
    before: [() => ["sms", "open", "--role", "member"]],
    body: () => ({ openRole: null }),
    command: () => ["sms", "close"]
  },
  {
    route: "POST /v1/admin/line",
    what: "lets people confirm by text, and tells approvers",
    body: () => ({ changes: true, tellsApprovers: true }),
    command: () => ["sms", "set", "--changes", "once", "--tell-approvers", "on"]
  },
  {
    route: "POST /v1/admin/providers",
    what: "trusts an identity provider",
    body: (twin) => vouched(twin, { roleClaim: "realm_access.roles" }),
    command: (twin) => ["idp", "add", ...trusted(twin), "--role-claim", "realm_access.roles"]
  },
  {
    route: "POST /v1/admin/providers",
    what: "trusts an identity provider with which people sign in, and seals the secret of its client",
    body: (twin) => vouched(twin, { signIn: "Twin ID", clientSecret: TOKEN }),
    command: (twin) => {
      const secret = ["--client-secret", "env:TWILIO_TOKEN", "--seal"]
      return ["idp", "add", ...trusted(twin), "--sign-in", "Twin ID", ...secret]
    }
  },
  {
    route: "POST /v1/admin/providers/secret",
    what: "replaces the secret of an identity provider's client",
    before: [(twin) => ["idp", "add", ...trusted(twin), "--sign-in", "Twin ID", "--client-secret", "env:TWILIO_TOKEN"]],
    body: (twin) => ({ issuer: provider.issuer, audience: twin.host, clientSecret: KEY }),
    command: (twin) => ["idp", "secret", ...trusted(twin), "--client-secret", "env:ANTHROPIC_KEY", "--seal"]
  },
  {
    route: "POST /v1/admin/providers/remove",
    what: "stops trusting an identity provider",
    before: [(twin) => ["idp", "add", ...trusted(twin)]],
    body: (twin) => ({ issuer: provider.issuer, audience: twin.host }),
    command: (twin) => ["idp", "remove", ...trusted(twin)]
  },
  {
    route: "POST /v1/admin/line/numbers",
    what: "answers a number",
    body: (twin) => ({ phone: phoneOf(twin), account: ACCOUNT, secret: TOKEN }),
    command: addingNumber
  }
]

/** The routes that change nothing though they aren't GET, each with a request. */
const READS: Readonly<
  Record<string, (twin: Twin, document: string) => object | FormData | Promise<object | FormData>>
> = {
  "POST /v1/admin/people/search": () => ({ search: "lena" }),
  "POST /v1/admin/explain": ({ idOf }) => ({ id: idOf("lena") }),
  "POST /v1/admin/explain/row": ({ idOf, owner }) => ({ id: idOf("lena"), type: "people", row: owner }),
  "POST /v1/admin/providers/try": async (twin) => {
    const { issuer } = provider
    const audience = twin.host
    await server.run(
      Effect.flatMap(IdentityProviders, (providers) => providers.add(twin.organization, { issuer, audience }))
    )
    const claims = { sub: "lena", aud: audience, email: address("lena")(twin), email_verified: true }
    return { issuer, audience, token: await provider.sign(claims) }
  },
  "POST /v1/admin/providers/trial": (twin) => vouched(twin),
  "POST /v1/admin/policy/check": (_, document) => ({ document: withRule(document) }),
  "POST /v1/admin/policy/grid": (_, document) => ({
    document,
    edit: { role: "member", action: "read", reach: "all" }
  }),
  "POST /v1/admin/policy/simulation": (_, document) => ({ document: withRule(document) }),
  "POST /v1/admin/import/proposal": () => form(IMPORTED, {}),
  "POST /v1/admin/people/sync/list": (twin) => form(members(twin), {}),
  "POST /v1/admin/people/invite/list": () => form(LIST, { roles: ["member"] })
}

/** Refused where there is a twin; test/channels/http/office.test.ts does it both ways. */
const OF_ONE_ORGANIZATION = "POST /v1/admin/backup"

/** The administrators' routes besides GET, as the API declares them. */
const routes = Object.values(Api.groups).flatMap(({ endpoints }) =>
  Object.values(endpoints as Readonly<Record<string, { readonly method: string; readonly path: string }>>).flatMap(
    ({ method, path }) => (path.startsWith("/v1/admin") && method !== "GET" ? [`${method} ${path}`] : [])
  )
)

const request = async (route: string, twin: Twin, id: string | undefined, body: object | FormData | undefined) => {
  const [method, path] = route.split(" ") as [string, string]
  const isForm = body instanceof FormData
  const response = await fetch(`${server.url}${id === undefined ? path : path.replace(":id", id)}`, {
    method,
    headers: {
      authorization: `Bearer ${twin.admin.secret}`,
      ...(body === undefined || isForm ? {} : { "content-type": "application/json" })
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) })
  })
  const text = await response.text()
  return { status: response.status, text }
}

/** Whether the server has sent every text of the organization. */
const isSent = ({ organization }: Twin) =>
  Effect.flatMap(Database, ({ owner }) =>
    Effect.map(
      owner`SELECT 1 FROM max.sms_senders WHERE organization_id = ${organization.id}
        AND (lease IS NOT NULL OR due_at IS NOT NULL)`,
      (rows) => rows.length === 0
    )
  )

/** Every row of the organization in every table, and its audit events, with names in place of ids, times and secrets. */
const stateOf = (twin: Twin, names: ReadonlyArray<readonly [string, string]>) =>
  server.run(
    Effect.gen(function* () {
      const state: Record<string, unknown> = {}
      for (const { name, rows } of yield* rowsOfOrganization(twin.organization))
        state[named(name)] = rows.map((row) => neutral(row, twin, names)).sort()
      return state
    })
  )

/** Without the names that Max gives to new tables and columns. */
const named = (text: string) => text.replaceAll(/\b([ct])_j[a-z]{12}\b/g, "$1_new")

/** Ids, times, hashes and sealed texts are of one row alone, and the actor is compared by itself. */
const neutral = (value: unknown, twin: Twin, names: ReadonlyArray<readonly [string, string]>): string => {
  let text = JSON.stringify(value, (key, part: unknown) =>
    /(^|_)(id|at|until|sha256|sealed|version|epoch|by)$/.test(key) ||
    /^(actor|author|document|digest|hour|key|ms|channel)$/.test(key)
      ? "…"
      : part
  )
  text = text.replaceAll(providerId({ issuer: provider.issuer, audience: twin.host }), "PROVIDER")
  for (const [id, name] of names) text = text.replaceAll(id, name)
  return named(text)
    .replaceAll(twin.host, "twin.example")
    .replaceAll(twin.organization.slug, "twin")
    .replaceAll(phoneOf(twin), "+1512xxx0100")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)/g, "TIME")
}

/** The events of an organization after the first `count`. */
const eventsOf = (twin: Twin) =>
  server.run(Effect.flatMap(AuditLog, (log) => log.list(twin.organization, { chain: "changes", limit: 1000 })))

const namesOf = (twin: Twin) =>
  server.run(
    Effect.flatMap(Database, ({ owner }) =>
      Effect.map(
        owner<{ id: string; name: string }>`SELECT anchor_id AS id, min(key) AS name FROM max.identifiers
          WHERE organization_id = ${twin.organization.id} GROUP BY 1 UNION ALL
          SELECT credential_id, name FROM max.credentials WHERE organization_id = ${twin.organization.id} AND kind = 'token'`,
        (rows) => rows.map(({ id, name }) => [id, `<${name}>`] as const)
      )
    )
  )

/** An organization without imported data has the sample added. */
const empty = (slug: string) =>
  server.run(
    Effect.gen(function* () {
      const organization = yield* makeOrganization(slug)
      const { anchorId, token } = yield* memberWithToken(organization, `yuki@${slug}.example`, ["admin"], ["admin"])
      return { organization, host: `${slug}.example`, idOf: () => anchorId, admin: { secret: token } }
    })
  )

describe("what an administrator does over HTTP", () => {
  it("is in the table of acts, or in the table of requests that change nothing", () => {
    const listed = new Set([...ACTS.map(({ route }) => route), ...Object.keys(READS), OF_ONE_ORGANIZATION])
    expect(routes.length).toBeGreaterThan(15)
    expect([...listed].sort()).toEqual([...new Set(routes)].sort())
  })

  it.each(ACTS.map((act, index) => [act.what, act, index] as const))(
    "is also a command with the same result and the same audit events: %s",
    async (_, act, index) => {
      const make = async (slug: string) =>
        act.route.endsWith("/sample") ? ((await empty(slug)) as unknown as Twin) : server.run(administered({ slug }))
      const twins = [await make(`web-${index}-twin`), await make(`cmd-${index}-twin`)] as const
      for (const twin of twins) {
        for (const before of act.before ?? []) {
          const ran = await max([...before(twin), "--org", twin.organization.slug])
          expect([ran.code, ran.stderr]).toEqual([0, expect.any(String)])
        }
        const { document, version } = await policyOf(twin)
        published.set(twin, { version, text: withRule(document) })
      }
      const [web, cmd] = twins
      const earlier = [(await eventsOf(web)).length, (await eventsOf(cmd)).length] as const
      expect(earlier[0]).toBe(earlier[1])
      const answer = await request(act.route, web, act.path?.(web), await act.body?.(web))
      expect([act.route, answer.status < 300 ? "done" : answer.text]).toEqual([act.route, "done"])
      const ran = await max([...act.command(cmd), "--org", cmd.organization.slug])
      expect([ran.code, ran.code === 0 ? "" : ran.stderr]).toEqual([0, ""])

      await Promise.all(twins.map((twin) => until(() => server.run(isSent(twin)))))

      const [ofWeb, ofCmd] = await Promise.all(
        twins.map(async (twin) => {
          const names = await namesOf(twin)
          const events = (await eventsOf(twin)).slice(0, -earlier[0] || undefined).toReversed()
          return {
            actors: [...new Set(events.map(({ actor }) => actor))],
            events: events.map(({ action, details, subject }) => neutral({ action, subject, details }, twin, names)),
            state: await stateOf(twin, names)
          }
        })
      )
      const isRecorded = act.leaves === undefined
      expect(ofWeb!.events.length > 0).toBe(isRecorded)
      expect(ofWeb!.actors).toEqual(isRecorded ? [web.idOf("yuki")] : [])
      expect(ofCmd!.actors).toEqual(isRecorded ? ["operator"] : [])
      const changes = JSON.stringify(ofWeb!.state["max.changes"] ?? [])
      expect(changes.includes('\\"state\\":\\"waiting\\"')).toBe(!isRecorded)
      expect(ofWeb!.events).toEqual(ofCmd!.events)
      expect(ofWeb!.state).toEqual(ofCmd!.state)
    }
  )

  it.each(Object.entries(READS))("changes nothing: %s", async (route, bodyOf) => {
    const twin = await server.run(administered({ slug: `reads-${Object.keys(READS).indexOf(route)}` }))
    const { document } = await policyOf(twin)
    const body = await bodyOf(twin, document)
    const before = await stateOf(twin, [])
    const events = await eventsOf(twin)
    const answer = await request(route, twin, undefined, body)
    expect([answer.status, answer.status === 200 ? "" : answer.text]).toEqual([200, ""])
    expect(await stateOf(twin, [])).toEqual(before)
    expect(await eventsOf(twin)).toEqual(events)
  })
})
