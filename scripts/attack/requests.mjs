/**
 * Every request of Max's interface, with valid values for all parameters. `find` builds them from the attacked
 * organization's data; `missing` lists the declared parameters that no request covers.
 */
import { INTAKE, METRICS_TOKEN, SMS } from "./world.mjs"

const as = (token) => ({ authorization: `Bearer ${token}` })

/** What a browser keeps while its user is at an identity provider. */
const PENDING = Buffer.from(
  JSON.stringify({ provider: "made-up", state: "made-up", nonce: "made-up", verifier: "made-up" })
).toString("base64url")

/** The answer of an authenticator to a challenge that Max didn't make. */
const PASSKEY = {
  id: "bWFkZS11cA",
  rawId: "bWFkZS11cA",
  type: "public-key",
  clientExtensionResults: {},
  response: {
    clientDataJSON: "e30",
    authenticatorData: "AAAA",
    attestationObject: "oA",
    signature: "AAAA",
    userHandle: "AAAAAAAAAAAA"
  }
}

/** A file of two rows; the second one is bad. */
const FILE = { name: "people.csv", file: "id,name,status,when\n1,Ada Attack,lead,31.12.2026\n2,,customer,never\n" }

/** A policy file that gives nothing. */
const POLICY = JSON.stringify({ version: 1, roles: { rep: {} }, rules: [] })

/** `path` contains `{name}` for each of `params`. `headers` are attacked; `send` and `fixed` stay unchanged. */
export const requestsOf = async (world) => {
  const mine = { send: as(world.admin) }
  const call = async (path, body, token = world.admin) => {
    const answer = await fetch(world.url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { ...as(token), "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
    return text
  }
  const session = async (token) =>
    /"session":"([^"]+)"/.exec(await call("/v1/chat", { text: "who is noah mendes?" }, token))[1]
  const [conversation, doomed] = [await session(world.admin), await session(world.admin)]
  const offered = await call("/v1/chat", { text: "who is anton hansen?" })
  const chosen = {
    choice: /"handle":"([^"]+)"/.exec(offered)[1],
    conversation: /"session":"([^"]+)"/.exec(offered)[1],
    turn: "tFRESH",
    after: 1
  }
  const { entities } = JSON.parse(
    await call("/v1/tools/findEntities", {
      entityTypeId: "people",
      filters: [{ columnId: "name", op: "eq", value: "Noah Mendes" }]
    })
  )
  const { traces } = JSON.parse(await call("/v1/traces"))
  const asset = /\/assets\/([\w.-]+\.js)/.exec(await (await fetch(world.url)).text())[1]
  const samir = world.idOf("Samir Haddad")
  const named = (turn) => () => call("/v1/chat", { text: "who is noah mendes?", turn }).catch(() => {})
  const post = (name, path, body, more = {}) => ({ name, method: "POST", path, body, ...mine, ...more })
  const upload = (name, path, options) => ({ name, method: "POST", path, upload: { options, ...FILE }, ...mine })
  const get = (name, path, query = {}, more = {}) => ({ name, method: "GET", path, query, ...mine, ...more })
  const selection = { name: "POST", slow: "true", failed: "true", denied: "true", since: 60, atLeast: 0 }
  const change = (value, more = {}) => ({
    steps: [{ actionId: "people.update", entityIds: [entities[0].entityId], values: { status: value } }],
    ...more
  })
  const proposed = async (value) => {
    const { changeId, preview } = JSON.parse(await call("/v1/changes", change(value)))
    return { id: changeId, digest: preview.digest }
  }
  const drafts = {}
  // The first is stale once the second is applied; the others are drafted from the row as the second leaves it.
  drafts.stale = await proposed("stale")
  drafts.undone = await proposed("undone")
  await call(`/v1/changes/${drafts.undone.id}/confirm`, { digest: drafts.undone.digest })
  // Refused, which makes it stale.
  await call(`/v1/changes/${drafts.stale.id}/confirm`, { digest: drafts.stale.digest }).catch(() => {})
  for (const value of ["shown", "confirmed", "rejected", "withdrawn"]) drafts[value] = await proposed(value)
  const ofChange = (what) => ({ params: { id: drafts[what].id } })
  const text = {
    MessageSid: "SMFRESH",
    AccountSid: SMS.account,
    From: SMS.theirs,
    To: SMS.ours,
    Body: "who is noah mendes?",
    NumMedia: "0"
  }
  const rpc = (method, params) => ({ jsonrpc: "2.0", id: 1, method, params })
  const find = {
    entityTypeId: "people",
    filters: [{ columnId: "name", op: "ilike", value: "noah" }],
    limit: 5,
    selectColumns: ["name"],
    cursorEntityId: entities[0].entityId
  }

  return [
    post("listEntityTypes", "/v1/tools/listEntityTypes", { nameContains: "order" }),
    post("listColumnsForType", "/v1/tools/listColumnsForType", {
      entityTypeId: "people",
      filter: { nameContains: ["na"], max: 5 }
    }),
    post("findEntities", "/v1/tools/findEntities", find),
    post("export", "/v1/export", {
      entityTypeId: "people",
      filters: [{ columnId: "name", op: "ilike", value: "noah" }],
      selectColumns: ["name"],
      byteOrderMark: true
    }),
    post("say", "/v1/chat", { text: "who is noah mendes?", conversation, turn: "tFRESH", after: 1 }),
    post("choose", "/v1/chat", chosen),
    get("welcome", "/v1/welcome"),
    get("held", "/v1/chat"),
    get(
      "resume",
      "/v1/chat/{turn}",
      {},
      { params: { turn: "resumed" }, headers: { "last-event-id": "0" }, before: named("resumed") }
    ),
    { ...get("stop", "/v1/chat/{turn}"), method: "DELETE", params: { turn: "stopped" }, before: named("stopped") },
    get("conversations", "/v1/conversations", { search: "noah", after: conversation, limit: 5 }),
    get("conversation", "/v1/conversations/{id}", { before: 5, limit: 5 }, { params: { id: conversation } }),
    { ...get("forget", "/v1/conversations/{id}"), method: "DELETE", params: { id: doomed } },
    get("an entity", "/v1/entities/{type}/{id}", {}, { params: { type: "people", id: samir } }),
    get("actions", "/v1/actions"),
    get("action", "/v1/actions/{id}", {}, { params: { id: "people.update" } }),
    post("intake", "/v1/intake", {
      source: "zendesk",
      sourceId: "tFRESH",
      from: "customer@elsewhere.example",
      text: "who is noah mendes?"
    }),
    {
      ...post("intake by Zendesk", INTAKE.zendesk.path, {
        sourceId: "tFRESH",
        from: "a@b.example",
        text: "who is noah mendes?"
      }),
      send: {}
    },
    {
      ...post("intake by a signed webhook", INTAKE.signed.path, {
        source: "mail",
        sourceId: "tFRESH",
        from: "a@b.example",
        text: "who is noah mendes?"
      }),
      send: {}
    },
    {
      ...post("intake by Zendesk without its signature", INTAKE.zendesk.path, undefined, {
        headers: {
          "x-zendesk-webhook-signature": "AAAA",
          "x-zendesk-webhook-signature-timestamp": "2026-01-01T00:00:00Z"
        }
      }),
      send: {},
      status: [401, 403],
      plain: true
    },
    {
      ...post("intake by a webhook with another signature", INTAKE.signed.path, undefined, {
        headers: { "webhook-id": "m1", "webhook-timestamp": "1767225600", "webhook-signature": "v1,AAAA" }
      }),
      send: {},
      status: [401, 403],
      plain: true
    },
    post(
      "choices",
      "/v1/actions/{id}/choices",
      { field: "owner", text: "samir", values: { status: "open" } },
      { params: { id: "people.update" } }
    ),
    post("propose", "/v1/changes", change("proposed", { key: "tFRESH" })),
    get("changes by what they are", "/v1/changes", { type: "people", proposer: samir, state: "open" }),
    get("changes of a person", "/v1/changes", {
      list: "mine",
      session: conversation,
      after: drafts.shown.id,
      limit: 5
    }),
    get("preview", "/v1/changes/{id}", {}, ofChange("shown")),
    get("events of a change", "/v1/changes/{id}/events", {}, ofChange("shown")),
    post("undo", "/v1/changes/{id}/undo", undefined, ofChange("undone")),
    post("confirm", "/v1/changes/{id}/confirm", { digest: drafts.confirmed.digest, rows: 1 }, ofChange("confirmed")),
    post("reject", "/v1/changes/{id}/reject", undefined, ofChange("rejected")),
    post("withdraw", "/v1/changes/{id}/withdraw", undefined, ofChange("withdrawn")),
    post("again", "/v1/changes/{id}/again", undefined, ofChange("stale")),
    get(
      "history of a row",
      "/v1/entities/{type}/{id}/history",
      {},
      { params: { type: "people", id: entities[0].entityId } }
    ),
    get("whoAmI", "/v1/session"),
    {
      ...post("signIn", "/v1/session", { code: "max_0000000000000_made-up" }),
      send: { origin: "FRONT" },
      status: [401]
    },
    { ...get("signOut", "/v1/session"), method: "DELETE" },
    get("ways to sign in", "/v1/session/ways", {}, { send: {} }),
    {
      ...post("mail a link", "/v1/session/mail", { email: "rosa.delgado@harbor.example" }),
      send: { origin: "FRONT" }
    },
    { ...post("begin with a passkey", "/v1/session/passkey/begin", undefined), send: { origin: "FRONT" } },
    {
      ...post("sign in with a passkey", "/v1/session/passkey", { response: PASSKEY }),
      send: { origin: "FRONT" },
      status: [401]
    },
    {
      ...post("set up", "/v1/setup", {
        code: "max_setup_made-up",
        organization: { name: "Made Up", country: "US", timeZone: "America/New_York" },
        administrator: { name: "Made Up", email: "made-up@harbor.example" }
      }),
      send: { origin: "FRONT" },
      status: [401]
    },
    get("passkeys", "/v1/passkeys", {}, { status: [403] }),
    post("begin adding a passkey", "/v1/passkeys/begin", undefined, { status: [403] }),
    post("add a passkey", "/v1/passkeys", { name: "made-up", response: PASSKEY }, { status: [403] }),
    {
      ...get("remove a passkey", "/v1/passkeys/{id}"),
      method: "DELETE",
      params: { id: "made-up" },
      status: [403]
    },
    get(
      "leave for a provider",
      "/v1/session/with/{provider}",
      {},
      { send: {}, params: { provider: "made-up" }, status: [303] }
    ),
    get(
      "back from a provider",
      "/v1/session/callback",
      { code: "made-up", state: "made-up", iss: "FRONT", error: "access_denied" },
      { send: {}, headers: { cookie: `max_pending=${PENDING}` }, status: [303] }
    ),
    get("session by token", "/v1/session", {}, { send: {}, headers: { authorization: `Bearer ${world.admin}` } }),
    get("session by cookie", "/v1/session", {}, { send: {}, headers: { cookie: world.cookie } }),
    get(
      "session asserted by a provider",
      "/v1/session",
      {},
      {
        send: {},
        headers: { "claim-sub": "yuki", "claim-email": "yuki.tanaka@harbor.example", "claim-roles": "admin" }
      }
    ),
    get(
      "client headers",
      "/v1/session",
      {},
      {
        headers: {
          host: "localhost:7700",
          origin: "FRONT",
          "user-agent": "attack/1.0",
          referer: "http://localhost/",
          accept: "text/plain",
          "accept-language": "en",
          "accept-encoding": "identity",
          "if-none-match": "x",
          "content-type": "application/json",
          "x-forwarded-for": "10.1.2.3",
          "x-forwarded-host": "localhost",
          traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
          tracestate: "a=b",
          baggage: "a=b"
        }
      }
    ),
    post("people", "/v1/admin/people/search", { search: "rosa", role: "rep", state: "active", after: samir, limit: 5 }),
    get("person", "/v1/admin/people/{id}", {}, { params: { id: samir } }),
    post("suspend", "/v1/admin/people/{id}/suspend", undefined, { params: { id: samir } }),
    post("resume a member", "/v1/admin/people/{id}/resume", undefined, { params: { id: samir } }),
    post("invite", "/v1/admin/people/invite", {
      people: [{ identifier: "guest@harbor.example", name: "Gus Guest", roles: ["rep"] }],
      roles: ["rep"]
    }),
    post("sign-in link", "/v1/admin/people/{id}/sign-in", undefined, { params: { id: samir } }),
    post("sign out", "/v1/admin/people/{id}/sign-out", undefined, { params: { id: samir } }),
    post(
      "link an identifier",
      "/v1/admin/people/{id}/identifiers",
      { identifier: "samir@elsewhere.example" },
      { params: { id: samir } }
    ),
    // There is no identity provider.
    post(
      "link a subject",
      "/v1/admin/people/{id}/identifiers",
      { subject: "samir", issuer: "https://id.example" },
      { params: { id: samir }, status: [409] }
    ),
    // No identifier looks like this, so that no request that is sent unchanged removes anything.
    post(
      "remove an identifier",
      "/v1/admin/people/{id}/identifiers/remove",
      { kind: "email", text: "…@nowhere.example" },
      { params: { id: samir }, status: [409] }
    ),
    post("roles of a member", "/v1/admin/people/{id}/roles", { roles: ["rep"] }, { params: { id: samir } }),
    post(
      "attributes of a member",
      "/v1/admin/people/{id}/attributes",
      { attributes: { region: "north" } },
      { params: { id: samir } }
    ),
    post(
      "create a token",
      "/v1/admin/people/{id}/tokens",
      { name: "attack", scopes: ["tools"], days: 1 },
      { params: { id: samir } }
    ),
    { ...get("revoke", "/v1/admin/tokens/{id}"), method: "DELETE", params: { id: world.tokenOf("Samir Haddad") } },
    get("policy", "/v1/admin/policy"),
    get("versions", "/v1/admin/policy/versions"),
    get("changes", "/v1/admin/policy/changes/{from}/{to}", {}, { params: { from: "1", to: "1" } }),
    get("policy file", "/v1/admin/policy/document"),
    get("policy version", "/v1/admin/policy/document/{version}", {}, { params: { version: "1" } }),
    post("check a policy", "/v1/admin/policy/check", { document: POLICY }),
    post("read a grid", "/v1/admin/policy/grid", {
      document: POLICY,
      type: "people",
      edit: { role: "rep", action: "read", columns: ["name"], reach: "all" }
    }),
    post("simulate a policy", "/v1/admin/policy/simulation", { document: POLICY, id: samir }),
    post("simulate for a person", "/v1/admin/policy/simulation", {
      document: POLICY,
      identifier: "rosa.delgado@harbor.example"
    }),
    // Another version is in force, so that no request that is sent unchanged publishes anything.
    post("publish a policy", "/v1/admin/policy/publish", { document: POLICY, replacing: 0 }, { status: [409] }),
    post("propose a policy", "/v1/admin/policy/proposals", { document: POLICY, replacing: 0 }, { status: [409] }),
    get("proposed policies", "/v1/admin/policy/proposals"),
    get("a proposed policy", "/v1/admin/policy/proposals/{id}", {}, { params: { id: "jopunmeybcyfn" }, status: [404] }),
    post("explain", "/v1/admin/explain", { id: samir, type: "people" }),
    post("explain a person", "/v1/admin/explain", { identifier: "rosa.delgado@harbor.example", type: "people" }),
    post("explain a row", "/v1/admin/explain/row", { id: samir, type: "people", row: entities[0].entityId }),
    post("explain a row", "/v1/admin/explain/row", {
      identifier: "rosa.delgado@harbor.example",
      type: "people",
      row: entities[0].entityId
    }),
    // The file has no column of addresses.
    {
      ...upload("a list of people", "/v1/admin/people/invite/list", { encoding: "utf-8", roles: ["rep"] }),
      status: [409]
    },
    { ...upload("a list to match", "/v1/admin/people/sync/list", { encoding: "utf-8" }), status: [409] },
    {
      ...upload("match a list", "/v1/admin/people/sync", {
        encoding: "utf-8",
        confirmed: { added: 0, changed: 0, suspended: 0 }
      }),
      status: [409]
    },
    upload("propose an import", "/v1/admin/import/proposal", { encoding: "utf-8", headerRow: 1 }),
    // A dry run reads, matches and checks every cell; the attack leaves the data as it is.
    upload("import", "/v1/admin/import", {
      encoding: "utf-8",
      headerRow: 1,
      type: "people",
      map: { id: "id", name: "name", status: "status" },
      ignore: ["when"],
      create: false,
      idPrefix: "attack-",
      locale: "de-DE",
      dates: "dmy",
      skipBad: true,
      keepChanges: true,
      dryRun: true
    }),
    get("past imports", "/v1/admin/import/runs", { before: 1000, limit: 5 }),
    post("sample data", "/v1/admin/import/sample", undefined, { status: [409] }),
    get("model", "/v1/admin/model"),
    post("set the model", "/v1/admin/model", { model: "claude-haiku-5-5", dayTurns: 5000, dayTokens: 1_000_000 }),
    // No provider takes these, so that nothing that is sent unchanged is stored.
    post("set the model's key", "/v1/admin/model/key", { secret: "sk-attack" }, { status: [409] }),
    post("choose a key", "/v1/admin/model/key", { file: "anthropic" }, { status: [409] }),
    { ...get("remove the model's key", "/v1/admin/model/key"), method: "DELETE", status: [409] },
    get("phone line", "/v1/admin/line"),
    post("set the line", "/v1/admin/line", {
      contact: "Jo at the front desk",
      openRole: null,
      changes: false,
      tellsApprovers: false
    }),
    post(
      "add a number",
      "/v1/admin/line/numbers",
      { phone: "+15125550198", account: `AC${"0".repeat(32)}`, secret: "attack" },
      { status: [204, 409] }
    ),
    post(
      "add a number with a kept token",
      "/v1/admin/line/numbers",
      { phone: "+15125550198", account: `AC${"0".repeat(32)}`, file: "twilio" },
      { status: [409] }
    ),
    get("test texts", "/v1/admin/line/tests"),
    // No number is linked to the administrator.
    post("send a test text", "/v1/admin/line/tests", { line: "+15125550198" }, { status: [204, 409] }),
    post("remove a number", "/v1/admin/line/numbers/remove", { phone: "+15125550198" }, { status: [204, 409] }),
    get("identity providers", "/v1/admin/providers"),
    post(
      "try a provider's token",
      "/v1/admin/providers/try",
      {
        issuer: "https://login.example.com",
        audience: "unknown",
        token: "eyJhbGciOiJub25lIn0.e30.",
        roleClaim: "roles"
      },
      { status: [409] }
    ),
    ...["/trial", ""].map((path) =>
      post(
        `a new identity provider${path}`,
        `/v1/admin/providers${path}`,
        {
          issuer: "https://127.0.0.1/login",
          audience: "new",
          roleClaim: "roles",
          signIn: "Example ID",
          clientSecret: "secret",
          token: "eyJhbGciOiJub25lIn0.e30."
        },
        { status: [400] }
      )
    ),
    post(
      "replace a client's secret",
      "/v1/admin/providers/secret",
      { issuer: "https://login.example.com", audience: "unknown", clientSecret: "secret" },
      { status: [409] }
    ),
    post(
      "remove an identity provider",
      "/v1/admin/providers/remove",
      { issuer: "https://login.example.com", audience: "unknown" },
      { status: [409] }
    ),
    get("types", "/v1/admin/types"),
    get("usage", "/v1/admin/usage", { days: "30" }),
    get("questions", "/v1/admin/usage/questions", {}),
    post("keep questions", "/v1/admin/usage/questions", { kept: true }),
    get("health", "/v1/admin/health"),
    // The attacked server has no folder for backups.
    post("back up", "/v1/admin/backup", undefined, { status: [409] }),
    get("organization", "/v1/admin/organization"),
    post("set the organization", "/v1/admin/organization", {
      name: "Attacked",
      country: "US",
      timeZone: "America/New_York",
      conversationDays: 30
    }),
    get("mapped tables", "/v1/admin/mapped"),
    get("steps", "/v1/admin/setup"),
    get("audit", "/v1/admin/audit", {
      chain: "changes",
      action: "member",
      who: samir,
      since: "2020-01-01",
      before: 1000,
      limit: 5
    }),
    get("verification", "/v1/admin/audit/verification"),
    get("changes", "/v1/admin/changes", { before: "jopuvumecfmzq", limit: 5 }),
    get("texts", "/v1/admin/texts", { before: "2030-01-01T00:00:00.000Z", limit: 5 }),
    get("traces", "/v1/traces", { ...selection, limit: 5 }),
    get("live", "/v1/traces/live", selection),
    get("findings", "/v1/traces/findings", { since: 60 }),
    get("top", "/v1/traces/top", selection),
    get("compare", "/v1/traces/compare", { a: traces[0].traceId, b: traces[1].traceId }),
    get("trace", "/v1/traces/{id}", {}, { params: { id: traces[0].traceId } }),
    get("metrics", "/metrics", {}, { send: {}, headers: { authorization: `Bearer ${METRICS_TOKEN}` } }),
    { name: "text", method: "POST", path: "/v1/sms/twilio", form: text },
    {
      name: "text without a signature",
      method: "POST",
      path: "/v1/sms/twilio",
      form: text,
      headers: { "x-twilio-signature": "AAAA" },
      status: [403],
      plain: true
    },
    { name: "pictures", method: "POST", path: "/v1/sms/twilio", form: { ...text, NumMedia: "1", OptOutType: "HELP" } },
    {
      name: "report of a text",
      method: "POST",
      path: "/v1/sms/twilio/status/{text}",
      params: { text: "joofcbwmahgdr" },
      form: {
        MessageSid: "SM0",
        MessageStatus: "delivered",
        ErrorCode: "30003",
        AccountSid: SMS.account,
        From: SMS.ours,
        To: SMS.theirs
      }
    },
    post(
      "MCP, hello",
      "/mcp",
      rpc("initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "attack", version: "1" }
      })
    ),
    post("MCP, the tools", "/mcp", rpc("tools/list", {})),
    post("MCP, the tools with changes", "/mcp/changes", rpc("tools/list", {})),
    post("MCP, a call with changes", "/mcp/changes", rpc("tools/call", { name: "findEntities", arguments: find })),
    post("MCP, a call", "/mcp", rpc("tools/call", { name: "findEntities", arguments: find }), {
      headers: { "mcp-protocol-version": "2025-11-25" }
    }),
    post(
      "MCP, columns",
      "/mcp",
      rpc("tools/call", {
        name: "listColumnsForType",
        arguments: { entityTypeId: "people", filter: { nameContains: ["na"], max: 5 } }
      })
    ),
    get(
      "resource metadata",
      "/.well-known/oauth-protected-resource",
      {},
      { send: {}, headers: { host: "localhost:7700" } }
    ),
    get(
      "resource metadata of MCP",
      "/.well-known/oauth-protected-resource/mcp",
      {},
      { send: {}, headers: { host: "localhost:7700" } }
    ),
    get(
      "resource metadata of MCP with changes",
      "/.well-known/oauth-protected-resource/mcp/changes",
      {},
      { send: {}, headers: { host: "localhost:7700" } }
    ),
    get("page of a change", "/inbox/{change}", {}, { send: {}, params: { change: "made-up" } }),
    get("asset", "/assets/{name}", {}, { send: {}, params: { name: asset }, headers: { "if-none-match": "x" } }),
    ...[
      "/healthz",
      "/readyz",
      "/docs",
      "/openapi.json",
      "/",
      "/sign-in",
      "/account",
      "/setup",
      "/inbox",
      "/admin",
      "/traces",
      "/embed.js"
    ].map((path) => get(path, path, { anything: "x" }, { send: {} }))
  ]
}

/** Every property name in a value, recursively. */
const namesIn = (value) =>
  Array.isArray(value)
    ? value.flatMap(namesIn)
    : typeof value === "object" && value !== null
      ? Object.entries(value).flatMap(([name, inner]) => [name, ...namesIn(inner)])
      : []

const namesInSchema = (schema, all) => {
  if (schema?.$ref !== undefined) return namesInSchema(all[schema.$ref.split("/").at(-1)], all)
  return [
    ...Object.entries(schema?.properties ?? {}).flatMap(([name, inner]) => [name, ...namesInSchema(inner, all)]),
    ...[schema?.items, ...(schema?.anyOf ?? []), ...(schema?.oneOf ?? []), ...(schema?.allOf ?? [])]
      .filter(Boolean)
      .flatMap((inner) => namesInSchema(inner, all))
  ]
}

/** The declared parameters and paths that no request covers. */
export const missing = (specification, routes, requests) => {
  const found = []
  for (const [path, methods] of Object.entries(specification.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const own = requests.filter((request) => request.path === path && request.method === method.toUpperCase())
      const have = new Set(
        own.flatMap(({ body, headers, params, query, upload }) =>
          [params, query, headers, body, upload].flatMap(namesIn)
        )
      )
      const declared = [
        ...(operation.parameters ?? []).filter((one) => one.in !== "cookie").map(({ name }) => name),
        ...["application/json", "multipart/form-data"].flatMap((type) =>
          namesInSchema(operation.requestBody?.content?.[type]?.schema, specification.components?.schemas ?? {})
        )
      ]
      if (own.length === 0) found.push(`${method} ${path}`)
      found.push(
        ...[...new Set(declared)].filter((name) => !have.has(name)).map((name) => `${method} ${path}: ${name}`)
      )
    }
  const reached = new Set(requests.map(({ method, path }) => `${method} ${path}`))
  for (const { method, path } of routes) {
    const route = `${method} ${path.replace(/:(\w+)/g, "{$1}")}`
    if (!reached.has(route)) found.push(route)
  }
  return found
}
