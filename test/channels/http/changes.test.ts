/** Changes over HTTP: proposing, deciding, scopes, cookies, and every bad input as one clear problem. */
import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { raiseEpoch } from "../../../src/database/epoch.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { decodeId, encodeId } from "../../../src/domain/ids.ts"
import { Credentials, type Scope as TokenScope } from "../../../src/services/access/Credentials.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { addPeople } from "../../support/atlas.ts"
import { cellOf, changing, forgetLimits, rowsIn } from "../../support/changes.ts"
import { migratedDatabase } from "../../support/database.ts"
import { ask, JSON_TYPE, startServer, startServerForTest, type TestServer } from "../../support/http.ts"
import { memberWithToken } from "../../support/members.ts"
import { CONFIRM, RULES } from "../../support/repRules.ts"
import { until } from "../../support/until.ts"

const BOTH: ReadonlyArray<TokenScope> = ["changes", "confirm"]

const scope = Scope.makeUnsafe()
let databaseUrl: string
let server: TestServer
let atlas: Organization
let admin: string
let rep: Awaited<ReturnType<typeof member>>

const member = (email: string, role: string, scopes: ReadonlyArray<TokenScope> = BOTH) =>
  server.run(memberWithToken(atlas, email, [role], scopes))

beforeAll(async () => {
  databaseUrl = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  const many = { writesPerMinute: 10_000, destructivePerHour: 10_000, changedRowsPerDay: 100_000 }
  server = await startServer(databaseUrl, many)
  atlas = (await server.run(changing("atlas", RULES, CONFIRM))).organization
  admin = (await member("boss@atlas.example", "admin")).token
  rep = await member("rep@atlas.example", "rep")
})

afterAll(async () => {
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const send = (
  token: string,
  path: string,
  body?: unknown,
  { at = server, headers = {} }: { at?: TestServer; headers?: Readonly<Record<string, string>> } = {}
) =>
  ask(at.url, path, {
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: { ...JSON_TYPE, authorization: `Bearer ${token}`, ...headers }
  })
const post = (token: string, path: string) =>
  ask(server.url, path, { method: "POST", headers: { authorization: `Bearer ${token}` } })

const people = (...rows: ReadonlyArray<Record<string, unknown>>) => server.run(addPeople(atlas, rows as never))
const stored = (id: string, column = "status") => server.run(cellOf(atlas, String(decodeId(id)), column))
const sql = (use: (owner: any) => Effect.Effect<unknown, any>) =>
  server.run(Effect.flatMap(Database, ({ owner }) => use(owner)))
const update = (id: string, values: unknown, more = {}) => ({
  steps: [{ actionId: "people.update", entityIds: [id], values }],
  ...more
})
const propose = async (token: string, body: unknown) => {
  const answer = await send(token, "/v1/changes", body)
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  const { changeId, known, preview } = answer.json
  return { changeId, known, preview, digest: preview.digest as string }
}
const confirm = (token: string, { changeId, digest }: { changeId: string; digest: string }, more = {}) =>
  send(token, `/v1/changes/${changeId}/confirm`, { digest, ...more })
/** Waits as a person does between the two confirmations, by moving the first one into the past. */
const aSecondLater = (changeId: string) =>
  sql((owner) => owner`UPDATE max.changes SET yes_at = yes_at - interval '2 seconds' WHERE change_id = ${changeId}`)

describe("a change over HTTP", () => {
  it("is proposed, shown, confirmed with its digest, listed and undone", async () => {
    const [ada] = await people({ name: "Ada Lovelace", status: "Lead" })
    const draft = await propose(admin, update(ada!, { status: "Won" }))
    expect(draft.preview).toMatchObject({
      state: "open",
      level: "once",
      complete: true,
      rows: 1,
      channel: "http",
      token: "boss@atlas.example",
      proposerName: "Boss",
      steps: [
        {
          actionId: "people.update",
          displayName: "Ada Lovelace",
          cells: [{ columnId: "status", name: "Status", was: "Lead", becomes: "Won" }]
        }
      ]
    })
    expect(await stored(ada!)).toBe("Lead")
    const listed = (list: string) => send(admin, `/v1/changes?list=${list}&limit=1`)
    expect((await listed("waiting")).json.changes).toMatchObject([{ changeId: draft.changeId, state: "open" }])

    const confirmed = await confirm(admin, draft)
    expect([confirmed.status, confirmed.json]).toMatchObject([
      200,
      { _tag: "Applied", receipt: { state: "applied", rows: 1, entities: [{ entityId: ada }] } }
    ])
    expect(await stored(ada!)).toBe("Won")
    // A lost answer is asked for again: the same receipt, and nothing is applied twice.
    expect((await confirm(admin, draft)).text).toBe(confirmed.text)
    expect((await listed("decided")).json.changes).toMatchObject([{ changeId: draft.changeId, state: "applied" }])

    const events = await send(admin, `/v1/changes/${draft.changeId}/events`)
    expect(events.json.events.map(({ phase }: { phase: string }) => phase)).toEqual(
      expect.arrayContaining(["opened", "applied"])
    )
    expect(events.text).not.toMatch(/Won|Lead|Ada/)
    const history = await send(admin, `/v1/entities/people/${ada}/history`)
    expect(history.json.entries).toMatchObject([
      { changeId: draft.changeId, actionId: "people.update", channel: "http", cells: [{ was: "Lead", becomes: "Won" }] }
    ])

    const undo = await post(admin, `/v1/changes/${draft.changeId}/undo`)
    expect(undo.json.preview).toMatchObject({
      undoes: draft.changeId,
      steps: [{ cells: [{ was: "Won", becomes: "Lead" }] }]
    })
    const { changeId, preview } = undo.json
    expect((await confirm(admin, { changeId, digest: preview.digest })).status).toBe(200)
    expect(await stored(ada!)).toBe("Lead")
  })

  it("takes values as column=value, and several steps that are applied together", async () => {
    const [bea] = await people({ name: "Bea", status: "Lead" })
    const draft = await propose(admin, {
      steps: [
        { actionId: "people.create", values: ["name=Cy = Co", "status=New"] },
        { actionId: "people.update", entityIds: [bea], values: ["status="] }
      ]
    })
    expect(draft.preview.steps).toMatchObject([
      { actionId: "people.create", displayName: "Cy = Co" },
      { actionId: "people.update", cells: [{ columnId: "status", was: "Lead" }] }
    ])
    expect((await confirm(admin, draft)).status).toBe(200)
    expect(await stored(bea!)).toBeNull()
    // The created row has the id that the proposal named.
    expect(await stored(draft.preview.steps[0].entityId, "name")).toBe("Cy = Co")
  })

  it("with an idempotency key is one change, however often it is sent", async () => {
    const [dan] = await people({ name: "Dan", status: "Lead" })
    const body = update(dan!, { status: "Won" }, { key: "order-66" })
    const [first, second] = await Promise.all([propose(admin, body), propose(admin, body)])
    expect(first.changeId).toBe(second.changeId)
    expect([first.known, second.known].filter(Boolean)).toHaveLength(1)
    const other = await send(admin, "/v1/changes", {
      steps: [{ actionId: "people.delete", entityIds: [dan] }],
      key: "order-66"
    })
    expect([other.status, other.json.type]).toEqual([400, "urn:max:problem:invalid-input"])
  })

  it("of level twice is asked for twice, the second time with the number of rows", async () => {
    const [eve, fay] = await people({ name: "Eve" }, { name: "Fay" })
    const draft = await propose(admin, { steps: [{ actionId: "people.delete", entityIds: [eve, fay] }] })
    const first = await confirm(admin, draft)
    expect([first.status, first.json]).toEqual([202, { _tag: "Again", rows: 2 }])
    const soon = await confirm(admin, draft, { rows: 2 })
    expect([soon.status, soon.json.type]).toEqual([409, "urn:max:problem:not-yet"])
    await aSecondLater(draft.changeId)
    const wrong = await confirm(admin, draft, { rows: 3 })
    expect([wrong.status, wrong.json.detail]).toEqual([400, "This changes 2 rows. Type that number to confirm it."])
    expect((await confirm(admin, draft, { rows: 2 })).json._tag).toBe("Applied")
    expect(await stored(eve!, "name")).toBeUndefined()
  })

  it("of level second is confirmed by its proposer and approved by another person", async () => {
    const manager = await member("manager@atlas.example", "manager")
    const [gil] = await people({ name: "Gil" })
    const draft = await propose(manager.token, update(gil!, { owner: "Rep" }))
    expect(draft.preview).toMatchObject({ level: "second", approvers: ["admin"] })
    // Another person doesn't know of it before its proposer has confirmed it.
    expect((await send(admin, `/v1/changes/${draft.changeId}`)).status).toBe(404)
    const waiting = await confirm(manager.token, draft)
    expect([waiting.status, waiting.json]).toEqual([202, { _tag: "Waiting", approvers: ["admin"] }])
    expect((await confirm(manager.token, draft)).json._tag).toBe("Waiting")

    expect((await confirm(rep.token, draft)).status).toBe(404)
    const inbox = await send(admin, "/v1/changes")
    expect(inbox.json.changes).toContainEqual(expect.objectContaining({ changeId: draft.changeId, state: "waiting" }))
    const shown = await send(admin, `/v1/changes/${draft.changeId}`)
    expect(shown.json).toMatchObject({ proposerName: "Manager", digest: draft.digest })
    expect((await confirm(admin, draft)).json.receipt).toMatchObject({ state: "applied" })
    expect(await stored(gil!, "owner_id")).not.toBeNull()
  })

  it("is rejected or withdrawn, and then says so", async () => {
    const [hal] = await people({ name: "Hal", status: "Lead" })
    for (const [end, state] of [
      ["reject", "rejected"],
      ["withdraw", "withdrawn"]
    ] as const) {
      const draft = await propose(admin, update(hal!, { status: state }))
      const ended = await post(admin, `/v1/changes/${draft.changeId}/${end}`)
      expect([ended.status, ended.text]).toEqual([204, ""])
      const late = await confirm(admin, draft)
      expect([late.status, late.json]).toMatchObject([409, { type: "urn:max:problem:decided", state }])
    }
    expect(await stored(hal!)).toBe("Lead")
  })

  it("is listed in pages, newest first", async () => {
    const lister = await member("lister@atlas.example", "admin")
    const [ian] = await people({ name: "Ian" })
    const made: Array<string> = []
    for (const status of ["A", "B", "C", "D", "E"])
      made.push((await propose(lister.token, update(ian!, { status }))).changeId)
    const seen: Array<string> = []
    let next: string | undefined
    do {
      const page = await send(
        lister.token,
        `/v1/changes?list=mine&limit=2${next === undefined ? "" : `&after=${next}`}`
      )
      seen.push(...page.json.changes.map(({ changeId }: { changeId: string }) => changeId))
      next = page.json.next
    } while (next !== undefined)
    expect(seen).toEqual(made.toReversed())
    // The lists of other people don't have them.
    expect((await send(admin, "/v1/changes?list=mine&limit=100")).text).not.toContain(made[0])
  })
})

describe("the actions over HTTP", () => {
  it("are those that are open to the person, with the JSON Schema of a step", async () => {
    const mine = await send(rep.token, "/v1/actions")
    expect(mine.json.actions).toMatchObject([
      {
        id: "people.update",
        entityTypeId: "people",
        category: "write",
        confirm: "once",
        input: {
          type: "object",
          required: ["actionId", "entityIds", "values"],
          properties: {
            actionId: { const: "people.update" },
            entityIds: { minItems: 1, maxItems: 25 },
            values: {
              additionalProperties: false,
              properties: { status: { type: "string" }, phone: { type: "string" } }
            }
          }
        }
      }
    ])
    expect(Object.keys(mine.json.actions[0].input.properties.values.properties).toSorted()).toEqual(["phone", "status"])
    expect((await send(rep.token, "/v1/actions/people.update")).json).toEqual(mine.json.actions[0])
    // A closed action reads like one that doesn't exist.
    const [closed, unknown] = await Promise.all([
      send(rep.token, "/v1/actions/people.delete"),
      send(rep.token, "/v1/actions/planet.delete")
    ])
    expect([closed.status, closed.text.replaceAll("people", "planet")]).toEqual([404, unknown.text])
    const ids = (await send(admin, "/v1/actions")).json.actions.map(({ id }: { id: string }) => id)
    expect(ids).toEqual(expect.arrayContaining(["people.create", "people.update", "people.delete", "meetings.create"]))
  })
})

describe("the scopes of changes", () => {
  it("a token without them only reads, and says which scope is missing", async () => {
    const reader = await member("reader@atlas.example", "admin", ["tools", "chat", "traces", "admin"])
    const [jan] = await people({ name: "Jan" })
    for (const [path, body] of [
      ["/v1/actions", undefined],
      ["/v1/changes", undefined],
      ["/v1/actions/people.update/choices", { field: "owner", text: "" }],
      ["/v1/changes", update(jan!, { status: "X" })],
      [`/v1/entities/people/${jan}/history`, undefined]
    ] as const) {
      const answer = await send(reader.token, path, body)
      expect([answer.status, answer.json.detail]).toEqual([
        403,
        "This token lacks the scope changes. max token create --scope changes creates one with it."
      ])
    }
    const answer = await confirm(reader.token, { changeId: "abc", digest: "0".repeat(64) })
    expect([answer.status, answer.json.type]).toEqual([403, "urn:max:problem:not-in-scope"])
  })

  it("a token with changes alone proposes and withdraws, and neither confirms nor rejects", async () => {
    const drafter = await member("drafter@atlas.example", "admin", ["changes"])
    const [kim] = await people({ name: "Kim", status: "Lead" })
    const draft = await propose(drafter.token, update(kim!, { status: "Won" }))
    for (const answer of [
      await confirm(drafter.token, draft),
      await post(drafter.token, `/v1/changes/${draft.changeId}/reject`)
    ]) {
      expect([answer.status, answer.json.detail]).toEqual([
        403,
        "This token lacks the scope confirm. max token create --scope confirm creates one with it."
      ])
    }
    expect(await stored(kim!)).toBe("Lead")
    expect((await post(drafter.token, `/v1/changes/${draft.changeId}/withdraw`)).status).toBe(204)
  })

  it("a token that an earlier version created stays read-only", async () => {
    const old = await member("old@atlas.example", "admin", ["tools", "chat"])
    const answer = await send(old.token, "/v1/session")
    expect(answer.json.scopes).toEqual(["tools", "chat"])
    expect((await send(old.token, "/v1/changes")).status).toBe(403)
  })

  it("a browser's session has both, and changes something only for Max's own page with a header that forms can't send", async () => {
    const { anchorId } = await member("browser@atlas.example", "admin", ["tools"])
    const cookie = await server.run(
      Effect.gen(function* () {
        const credentials = yield* Credentials
        const link = yield* credentials.createLink(atlas, anchorId)
        return `max_session=${(yield* credentials.redeemLink(link.secret, 600)).secret}`
      })
    )
    const [lee] = await people({ name: "Lee", status: "Lead" })
    const origin = server.url.replace("0.0.0.0", "localhost")
    const browse = (path: string, method: string, headers: Record<string, string>, body?: unknown) =>
      ask(server.url, path, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        headers: { cookie, host: new URL(origin).host, ...headers }
      })
    const own = { origin, ...JSON_TYPE }
    const draft = (await browse("/v1/changes", "POST", own, update(lee!, { status: "Won" }))).json
    const path = `/v1/changes/${draft.changeId}`
    expect(draft.preview).not.toHaveProperty("token")
    const body = { digest: draft.preview.digest }
    const foreign: ReadonlyArray<readonly [string, Record<string, string>, unknown]> = [
      ["confirm", { ...JSON_TYPE }, body],
      ["confirm", { ...JSON_TYPE, origin, "sec-fetch-site": "same-site" }, body],
      ["confirm", { "content-type": "text/plain", origin }, body],
      ["reject", { origin }, undefined],
      ["withdraw", { origin, "sec-fetch-site": "cross-site", "x-requested-with": "x" }, undefined]
    ]
    for (const [what, headers, sent] of foreign)
      expect((await browse(`${path}/${what}`, "POST", headers, sent)).status).not.toBeLessThan(400)
    // A link preview or a prefetch decides nothing.
    for (const what of ["confirm", "reject", "withdraw", "undo", "again"])
      expect((await browse(`${path}/${what}`, "GET", { origin })).status).toBe(405)
    expect(await stored(lee!)).toBe("Lead")
    expect((await browse(`${path}/confirm`, "POST", own, body)).json._tag).toBe("Applied")
    expect(await stored(lee!)).toBe("Won")
  })
})

describe("choices over HTTP", () => {
  it("are those that the caller sees, and bad input is one clear problem each", async () => {
    await people({ name: "Odile Chosen" })
    const path = "/v1/actions/people.update/choices"
    const found = await send(admin, path, { field: "owner", text: "odile" })
    expect([found.status, found.json.choices]).toEqual([200, [{ value: expect.any(String), name: "Odile Chosen" }]])
    for (const [at, body, status] of [
      [path, {}, 400],
      [path, { field: "owner" }, 400],
      [path, { field: "owner", text: 5 }, 400],
      [path, { field: "owner", text: "x".repeat(401) }, 400],
      [path, { field: "owner", text: "", values: { a: 1 } }, 400],
      [path, { field: "owner", text: "", more: true }, 400],
      [path, { field: "nothing", text: "" }, 404],
      ["/v1/actions/nothing/choices", { field: "owner", text: "" }, 404]
    ] as const) {
      const answer = await send(admin, at, body)
      expect([answer.status, typeof answer.json.detail], JSON.stringify(body)).toEqual([status, "string"])
    }
  })
})

describe("a change over HTTP is refused", () => {
  it("with one clear problem for each bad input, and nothing is written", async () => {
    const [mia, , , boss] = await people(
      { name: "Mia", status: "Lead" },
      { name: "Twin Ek" },
      { name: "Twin Ek" },
      {
        name: "Not Mine"
      }
    )
    const before = await server.run(rowsIn(atlas))
    const ids = Array.from({ length: 26 }, (_, at) => encodeId(BigInt(at + 1_000)))
    const step = (more: object) => ({ steps: [{ actionId: "people.update", entityIds: [mia], ...more }] })
    const cases: ReadonlyArray<readonly [unknown, number, string, string, string?]> = [
      [{}, 400, "invalid-input", "steps"],
      [{ steps: [] }, 400, "invalid-input", "A change has at least one step."],
      [{ steps: "all" }, 400, "invalid-input", "steps"],
      [{ ...step({ values: { status: "X" } }), force: true }, 400, "invalid-input", "force"],
      [step({ values: { status: 5 } }), 400, "invalid-input", "values"],
      [step({ values: ["status"] }), 400, "invalid-input", '"status" isn\'t column=value.'],
      [
        step({ values: { status: "X" }, entityIds: ids }),
        400,
        "invalid-input",
        "people.update takes at most 25 entityIds."
      ],
      [step({}), 400, "invalid-input", "people.update needs values."],
      [step({ values: { name: "  " } }), 400, "invalid-input", "name can't be empty."],
      [step({ values: { name: "x".repeat(401) } }), 400, "invalid-input", "name: it has more than 400 characters."],
      [step({ values: { name: "A\u0000" } }), 400, "invalid-input", "name: it contains a NUL character."],
      [step({ values: { owner: "Stranger" } }), 400, "invalid-input", 'owner: there is no person "Stranger".'],
      [step({ values: { owner: "Twin Ek" } }), 400, "unclear", 'owner: several people fit "Twin Ek". Which one?'],
      [step({ values: { nickname: "M" } }), 404, "unknown-name", 'There is no column "nickname" in people.'],
      [
        step({ values: { status: "X" }, entityIds: ["zzzz"] }),
        404,
        "unknown-name",
        'There is no person with the id "zzzz".'
      ],
      [
        step({ actionId: "planets.create", values: { name: "Mars" } }),
        404,
        "unknown-name",
        'There is no action "planets.create".'
      ],
      [
        { steps: [{ actionId: "meetings.create", values: { name: "M", start: "31.3.2026" } }] },
        400,
        "invalid-input",
        "start: "
      ],
      [
        { steps: [{ actionId: "people.delete", entityIds: [rep.anchorId] }] },
        403,
        "not-allowed",
        "Rep is a member and can't be deleted"
      ],
      // As the rep: a hidden column reads like one that doesn't exist, and a row of others isn't changed.
      [
        step({ values: { email: "a@b.example" } }),
        404,
        "unknown-name",
        'There is no column "email" in people.',
        rep.token
      ],
      [step({ values: { owner: "Mia" } }), 403, "not-allowed", "You may not change owner of people.", rep.token],
      [
        step({ values: { status: "X" }, entityIds: [boss] }),
        403,
        "not-allowed",
        "You may not change status of Not Mine.",
        rep.token
      ]
    ]
    for (const [body, status, type, detail, token = admin] of cases) {
      const answer = await send(token, "/v1/changes", body)
      expect([answer.status, answer.json.type, answer.headers["content-type"]]).toEqual([
        status,
        `urn:max:problem:${type}`,
        "application/problem+json"
      ])
      expect(answer.json.detail).toContain(detail)
    }
    const unclear = await send(admin, "/v1/changes", step({ values: { owner: "Twin Ek" } }))
    expect(unclear.json.choices).toMatchObject([{ name: "Twin Ek" }, { name: "Twin Ek" }])
    expect(await server.run(rowsIn(atlas))).toEqual(before)
  })

  it("for a forged or old digest, another person's change, an unknown id, and twice at once", async () => {
    const other = await member("other@atlas.example", "admin")
    const [ned] = await people({ name: "Ned", status: "Lead" })
    const draft = await propose(admin, update(ned!, { status: "Won" }))
    const forged = { ...draft, digest: "0".repeat(64) }
    const cases = [
      [await confirm(admin, forged), 409, "stale"],
      [await confirm(admin, { ...draft, digest: "yes" }), 400, "invalid-input"],
      [await send(admin, `/v1/changes/${draft.changeId}/confirm`, {}), 400, "invalid-input"],
      [await confirm(other.token, draft), 404, "unknown-name"],
      [await send(other.token, `/v1/changes/${draft.changeId}`), 404, "unknown-name"],
      [await send(other.token, `/v1/changes/${draft.changeId}/events`), 404, "unknown-name"],
      [await post(other.token, `/v1/changes/${draft.changeId}/reject`), 404, "unknown-name"],
      [await post(other.token, `/v1/changes/${draft.changeId}/withdraw`), 404, "unknown-name"],
      [await post(other.token, `/v1/changes/${draft.changeId}/undo`), 404, "unknown-name"],
      [await post(other.token, `/v1/changes/${draft.changeId}/again`), 404, "unknown-name"],
      [await post(admin, `/v1/changes/${draft.changeId}/again`), 409, "decided"],
      [await confirm(admin, { ...draft, changeId: "zzzz" }), 404, "unknown-name"],
      [await confirm(admin, { ...draft, changeId: "%00" }), 400, "invalid-input"]
    ] as const
    for (const [answer, status, type] of cases)
      expect([answer.status, answer.json.type]).toEqual([status, `urn:max:problem:${type}`])
    expect(await stored(ned!)).toBe("Lead")
    const answers = await Promise.all(Array.from({ length: 8 }, () => confirm(admin, draft)))
    // A confirmation that meets another one waits, or gets the same receipt.
    const applied = answers.filter(({ status }) => status === 200)
    expect(applied.length).toBeGreaterThan(0)
    expect(new Set(applied.map(({ text }) => text)).size).toBe(1)
    expect(answers.filter(({ json, status }) => status !== 200 && json.type !== "urn:max:problem:not-yet")).toEqual([])
    const history = await send(admin, `/v1/entities/people/${ned}/history`)
    expect(history.json.entries).toHaveLength(1)
  })

  it("after its time, and after the row has changed, which it says cell by cell", async () => {
    const [ola] = await people({ name: "Ola", status: "Lead", phone: "801-555-0199" })
    const late = await propose(admin, update(ola!, { status: "Won" }))
    await sql(
      (owner) => owner`UPDATE max.changes SET expires_at = clock_timestamp() WHERE change_id = ${late.changeId}`
    )
    const expired = await confirm(admin, late)
    expect([expired.status, expired.json.type]).toEqual([409, "urn:max:problem:expired"])

    const draft = await propose(admin, update(ola!, { status: "Won", phone: "801-555-0100" }))
    await sql(
      (owner) =>
        owner`UPDATE data.people SET status = 'Lost', status_k = 'lost', phone = '801-555-0142', phone_k = '+18015550142'
          WHERE name = 'Ola'`
    )
    const stale = await confirm(admin, draft)
    expect([stale.status, stale.json.type]).toEqual([409, "urn:max:problem:stale"])
    expect(stale.json.detail).toContain("Status was Lead when you looked; it is Lost now.")
    expect(stale.json.detail).toContain("Phone was 801-555-0199 when you looked; it is 801-555-0142 now.")
    expect(await stored(ola!)).toBe("Lost")
  })

  it("after the role was lost or the person suspended", async () => {
    const fleeting = await member("fleeting@atlas.example", "admin")
    const [pia] = await people({ name: "Pia", status: "Lead" })
    const draft = await propose(fleeting.token, update(pia!, { status: "Won" }))
    await server.run(
      Effect.gen(function* () {
        const { owner } = yield* Database
        yield* owner`UPDATE max.memberships SET roles = '{rep}' WHERE anchor_id = ${fleeting.anchorId}`
        yield* raiseEpoch(owner, atlas.id, [{ actor: "test", action: "test", subject: "test" }])
      })
    )
    const refused = await confirm(fleeting.token, draft)
    expect([refused.status, refused.json.type]).toEqual([403, "urn:max:problem:not-allowed"])
    expect(await stored(pia!)).toBe("Lead")
    await server.run(Effect.flatMap(Memberships, (members) => members.suspend(atlas, "fleeting@atlas.example")))
    expect((await send(fleeting.token, "/v1/changes")).status).toBe(403)
  })

  it("beyond the limits, with the seconds to wait", async () => {
    const few = await startServerForTest(databaseUrl, { writesPerMinute: 2, destructivePerHour: 1 })
    const flood = await member("flood@atlas.example", "admin")
    const [qi] = await people({ name: "Qi" })
    for (const status of ["A", "B"])
      expect((await send(flood.token, "/v1/changes", update(qi!, { status }), { at: few })).status).toBe(200)
    const third = await send(flood.token, "/v1/changes", update(qi!, { status: "C" }), { at: few })
    expect([third.status, third.json.type]).toEqual([429, "urn:max:problem:too-many-calls"])
    expect(third.json.retryAfter).toBeGreaterThan(0)
    expect(third.headers["retry-after"]).toBe(String(third.json.retryAfter))
    await server.run(forgetLimits(atlas))
  })

  it("for good after its values have been erased, which the server does by itself", async () => {
    const [una] = await people({ name: "Una", status: "Lead" })
    const draft = await propose(admin, update(una!, { status: "Won" }))
    expect((await confirm(admin, draft)).status).toBe(200)
    await sql(
      (owner) =>
        owner`UPDATE max.changes SET decided_at = decided_at - interval '91 days' WHERE change_id = ${draft.changeId}`
    )
    // No person proposes anything on this server.
    await startServerForTest(databaseUrl)
    await until(async () => (await send(admin, `/v1/changes/${draft.changeId}`)).json.steps.length === 0)
    const shown = await send(admin, `/v1/changes/${draft.changeId}`)
    expect(shown.json).toMatchObject({ state: "applied", steps: [], receipt: { rows: 1 } })
    expect((await post(admin, `/v1/changes/${draft.changeId}/undo`)).json.detail).toBe(
      "The values of this change aren't kept any more."
    )
    expect(await stored(una!)).toBe("Won")
  })

  it("everywhere while changes are switched off", async () => {
    const off = await startServerForTest(databaseUrl, { changes: "off" })
    const answer = await send(admin, "/v1/changes", update(rep.anchorId, { status: "X" }), { at: off })
    expect([answer.status, answer.json.detail]).toEqual([403, "Changes are switched off here."])
    expect((await send(admin, "/v1/actions", undefined, { at: off })).json).toEqual({ actions: [] })
  })

  it("shows hostile names as harmless text of at most 200 characters", async () => {
    const hostile = `Ada\u202E (approved by IT)\u0007 <img src=x onerror=alert(1)> ${"x".repeat(300)}`
    const [ada] = await people({ name: hostile, status: "Lead" })
    const { preview } = await propose(admin, update(ada!, { status: "\u2066Won\u2069\u001b[31m" }))
    const [step] = preview.steps
    expect([...step.displayName]).toHaveLength(200)
    // eslint-disable-next-line no-control-regex
    expect(JSON.stringify(preview)).not.toMatch(/\\u00[01]|[\u202a-\u202e\u2066-\u2069]/)
  })
})
