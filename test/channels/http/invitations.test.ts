/** Invitations, sign-in links and roles: what an administrator does to members over HTTP. */
import { Effect, Exit, Redacted, Scope } from "effect"
import { createServer } from "node:net"
import { SMTPServer } from "smtp-server"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { Credentials } from "../../../src/services/access/Credentials.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { administered } from "../../support/administered.ts"
import { addPeople } from "../../support/atlas.ts"
import { migratedDatabase } from "../../support/database.ts"
import { ask, JSON_TYPE, startServer, type TestServer } from "../../support/http.ts"
import { until } from "../../support/until.ts"

const scope = Scope.makeUnsafe()
const PUBLIC = "https://max.example.com"
const mails: Array<string> = []
const sink = new SMTPServer({
  disabledCommands: ["AUTH", "STARTTLS"],
  onData: (stream, _session, done) => {
    let text = ""
    stream.on("data", (chunk: Buffer) => (text += chunk.toString()))
    stream.on("end", () => {
      mails.push(text.replaceAll("=\r\n", "").replaceAll("=3D", "="))
      done()
    })
  },
  onRcptTo: ({ address }, _session, done) =>
    done(address.startsWith("refused@") ? new Error("no such mailbox") : undefined)
})
let database: string
let server: TestServer
let mailing: TestServer
let atlas: Effect.Success<ReturnType<typeof administered>>
let borealis: Effect.Success<ReturnType<typeof administered>>

beforeAll(async () => {
  database = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  server = await startServer(database)
  atlas = await server.run(administered({ slug: "atlas" }))
  borealis = await server.run(administered({ slug: "borealis" }))
  await new Promise<void>((resolve) => sink.listen(0, "127.0.0.1", resolve))
  const { port } = sink.server.address() as { readonly port: number }
  mailing = await startServer(database, {
    smtpUrl: Redacted.make(`smtp://127.0.0.1:${port}`),
    mailFrom: "max@example.com",
    publicUrl: PUBLIC
  })
})

afterAll(async () => {
  await server.stop()
  await mailing.stop()
  await new Promise<void>((resolve) => sink.close(() => resolve()))
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const call = (path: string, body?: unknown, token = atlas.admin.secret, base = server.url) =>
  ask(base, `/v1/admin/${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      ...(base === mailing.url ? { host: "max.example.com" } : {}),
      ...(body === undefined ? {} : JSON_TYPE)
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })

const invite = (identifier: string, roles: ReadonlyArray<string> = ["member"], token?: string) =>
  call("people/invite", { people: [{ identifier }], roles }, token)

/** Signs in with the code of a link, as a page does. */
const signIn = (code: string) =>
  ask(server.url, "/v1/session", {
    method: "POST",
    headers: { ...JSON_TYPE, origin: server.url },
    body: JSON.stringify({ code })
  })

const cookieOf = ({ headers }: Awaited<ReturnType<typeof signIn>>) => String(headers["set-cookie"]).split(";")[0]!

const whoAmI = (cookie: string) => ask(server.url, "/v1/session", { headers: { cookie } })

const personOf = async (id: string) =>
  (await ask(server.url, `/v1/admin/people/${id}`, { headers: { authorization: `Bearer ${atlas.admin.secret}` } })).json

describe("an invitation", () => {
  it("creates the person with a membership that grants nothing until the link is used, once", async () => {
    const sent = await invite("nia.okoro@atlas.example")
    expect(sent.status, sent.text).toBe(200)
    const [{ code, id, ...rest }] = sent.json.invitations
    expect(rest).toMatchObject({ identifier: "nia.okoro@atlas.example", created: true, mailed: false })
    expect(await personOf(id)).toMatchObject({ name: "Nia Okoro", state: "invited", roles: ["member"] })
    const signedIn = await signIn(code)
    expect(signedIn.status, signedIn.text).toBe(204)
    expect((await whoAmI(cookieOf(signedIn))).json).toMatchObject({ organization: "atlas", roles: ["member"] })
    expect(await personOf(id)).toMatchObject({ state: "active" })
    expect((await signIn(code)).status).toBe(401)
    const events = await server.run(
      Effect.flatMap(
        Database,
        ({ owner }) => owner<{ action: string; actor: string }>`SELECT action, actor FROM max.audit_log
          WHERE organization_id = ${atlas.organization.id} AND subject = ${id} ORDER BY sequence`
      )
    )
    const admin = atlas.idOf("yuki")
    expect(events).toEqual([
      { action: "membership.added", actor: admin },
      { action: "identifier.verified", actor: admin },
      { action: "membership.invited", actor: admin },
      { action: "invitation.accepted", actor: id }
    ])
  })

  it("is accepted by one of fifty simultaneous attempts", async () => {
    const { code } = (await invite("fifty@atlas.example")).json.invitations[0]
    const answers = await Promise.all(Array.from({ length: 50 }, () => signIn(code)))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array.from({ length: 49 }, () => 401)])
  })

  it("ends when an administrator suspends the person or restores the access", async () => {
    for (const act of ["suspend", "resume"]) {
      const { code, id } = (await invite(`ended-${act}@atlas.example`)).json.invitations[0]
      expect((await call(`people/${id}/${act}`)).status).toBe(204)
      expect((await signIn(code)).status).toBe(401)
      expect((await personOf(id)).state).toBe(act === "suspend" ? "suspended" : "active")
    }
  })

  it("ends when an operator adds the member, and when it is sent again", async () => {
    const [first] = (await invite("again@atlas.example")).json.invitations
    const [second] = (await invite("again@atlas.example", ["manager"])).json.invitations
    expect(second.id).toBe(first.id)
    expect((await signIn(first.code)).status).toBe(401)
    const added = { identifier: "again@atlas.example", roles: ["member"] }
    await server.run(Effect.flatMap(Memberships, (members) => members.add(atlas.organization, added)))
    expect((await signIn(second.code)).status).toBe(401)
  })

  it("ends when a synchronized list of members leaves the person out", async () => {
    const { code, id } = (await invite("unlisted@borealis.example", ["member"], borealis.admin.secret)).json
      .invitations[0]
    const listed = [{ place: "line 1", identifier: "yuki@borealis.example", roles: ["admin"] }]
    await server.run(Effect.flatMap(Memberships, (members) => members.sync(borealis.organization, listed)))
    expect((await signIn(code)).status).toBe(401)
    const members = await server.run(Effect.flatMap(Memberships, ({ list }) => list(borealis.organization)))
    expect(members.find(({ anchorId }) => anchorId === id)).toMatchObject({ suspended: true, invited: false })
  })

  it("grants the roles that the membership has when it is accepted", async () => {
    const { code, id } = (await invite("later@atlas.example", ["manager"])).json.invitations[0]
    expect((await call(`people/${id}/roles`, { roles: ["member"] })).status).toBe(204)
    expect((await whoAmI(cookieOf(await signIn(code)))).json.roles).toEqual(["member"])
  })

  it("of many people is sent to all or to none, and the answer names every reason", async () => {
    const people = [
      "one@atlas.example",
      "not an address",
      "lena@atlas.example",
      "two@atlas.example",
      "TWO@atlas.example"
    ]
    const refused = await call("people/invite", {
      people: people.map((identifier) => ({ identifier })),
      roles: ["member"]
    })
    expect(refused).toMatchObject({ status: 409 })
    expect(refused.json.detail).toContain("not an address")
    expect(refused.json.detail).toContain("twice")
    const members = await server.run(Effect.flatMap(Memberships, ({ list }) => list(atlas.organization)))
    expect(members.flatMap(({ identifiers }) => identifiers)).not.toContain("one@atlas.example")
    expect((await invite("lena@atlas.example")).json.detail).toContain("is a member already")
    expect((await invite("jonas@atlas.example")).json.detail).toContain("suspended")
    expect((await invite("x@atlas.example", ["chief"])).json.detail).toContain("There is no role")
  })

  it("isn't made for an address that two people have, and makes none of them a member", async () => {
    const email = "shared@atlas.example"
    await server.run(
      addPeople(atlas.organization, [
        { name: "Ann Twin", email },
        { name: "Ben Twin", email }
      ])
    )
    const refused = await invite(email)
    expect([refused.status, refused.json.detail]).toEqual([409, expect.stringContaining("belongs to several people")])
    const members = await server.run(Effect.flatMap(Memberships, ({ list }) => list(atlas.organization)))
    expect(members.flatMap(({ identifiers }) => identifiers)).not.toContain(email)
  })

  it("needs the power over members, and never gives a power that the administrator lacks", async () => {
    expect(await invite("by-auditor@atlas.example", ["member"], atlas.auditor.secret)).toMatchObject({
      status: 403,
      json: { type: "urn:max:problem:not-allowed" }
    })
    const clerk = await server.run(
      Effect.gen(function* () {
        const policies = yield* Policies
        const { document } = yield* policies.current(atlas.organization)
        const policy = JSON.parse(document)
        policy.roles.clerk = { inherits: ["member"], administers: ["members"] }
        yield* policies.publish(atlas.organization, JSON.stringify(policy), "operator")
        const members = yield* Memberships
        const { anchorId } = yield* members.add(atlas.organization, {
          identifier: "clerk@atlas.example",
          roles: ["clerk"],
          create: {}
        })
        const credentials = yield* Credentials
        const token = { anchorId, name: "clerk", scopes: ["admin"] as const, days: 1 }
        return { anchorId, token: (yield* credentials.createToken(atlas.organization, token)).secret }
      })
    )
    expect((await invite("by-clerk@atlas.example", ["member"], clerk.token)).status).toBe(200)
    expect((await invite("raised@atlas.example", ["admin"], clerk.token)).status).toBe(403)
    const admin = atlas.idOf("yuki")
    for (const [path, body] of [
      [`people/${clerk.anchorId}/roles`, { roles: ["clerk", "admin"] }],
      [`people/${admin}/roles`, { roles: ["member"] }],
      [`people/${admin}/sign-in`, undefined]
    ] as const) {
      expect((await call(path, body, clerk.token)).status, path).toBe(403)
    }
  })

  it("of another organization can't be made, taken over or used here", async () => {
    const { code, id } = (await invite("theirs@borealis.example", ["member"], borealis.admin.secret)).json
      .invitations[0]
    expect((await call(`people/${id}/roles`, { roles: ["admin"] })).status).toBe(404)
    expect((await call(`people/${id}/sign-in`)).status).toBe(404)
    expect((await whoAmI(cookieOf(await signIn(code)))).json.organization).toBe("borealis")
  })

  it("expires", async () => {
    const { code, id } = (await invite("expired@atlas.example")).json.invitations[0]
    await server.run(
      Effect.flatMap(
        Database,
        ({ owner }) =>
          owner`UPDATE max.credentials SET expires_at = now() WHERE anchor_id = ${id} AND kind = 'invitation'`
      )
    )
    expect((await signIn(code)).status).toBe(401)
    expect((await personOf(id)).state).toBe("invited")
  })
})

describe("an administrator's sign-in link", () => {
  it("signs an active member in, once, and is recorded with its author", async () => {
    const lena = atlas.idOf("lena")
    const { json } = await call(`people/${lena}/sign-in`)
    expect((await whoAmI(cookieOf(await signIn(json.code)))).json.roles).toEqual(["member"])
    expect((await signIn(json.code)).status).toBe(401)
    expect((await call(`people/${atlas.idOf("jonas")}/sign-in`)).status).toBe(404)
    const [last] = await server.run(
      Effect.flatMap(
        Database,
        ({ owner }) => owner<{ actor: string }>`SELECT actor FROM max.audit_log WHERE subject = ${lena}
          AND action = 'sign-in.offered' ORDER BY sequence DESC LIMIT 1`
      )
    )
    expect(last!.actor).toBe(atlas.idOf("yuki"))
  })
})

describe("the last holder of a power", () => {
  it("keeps it: neither roles nor a suspension can take it", async () => {
    const admin = atlas.idOf("yuki")
    const refused = await call(`people/${admin}/roles`, { roles: ["member"] })
    expect(refused).toMatchObject({ status: 409 })
    expect(refused.json.detail).toContain("last active person")
    const second = (await invite("second@atlas.example", ["admin"])).json.invitations[0]
    // An invited person doesn't count until they have come.
    expect((await call(`people/${admin}/roles`, { roles: ["member"] })).status).toBe(409)
    expect((await signIn(second.code)).status).toBe(204)
    expect((await call(`people/${second.id}/suspend`)).status).toBe(204)
    expect((await personOf(admin)).roles).toEqual(["admin"])
  })
})

describe("mail", () => {
  it("carries an invitation, with the link and no other data", async () => {
    const sent = await call(
      "people/invite",
      {
        people: [{ identifier: "mailed@atlas.example" }, { identifier: "+18015550155", name: "Pia Phone" }],
        roles: ["member"]
      },
      atlas.admin.secret,
      mailing.url
    )
    expect(sent.json.invitations.map(({ mailed }: { readonly mailed: boolean }) => mailed)).toEqual([true, false])
    await until(() => mails.length === 1)
    expect(mails[0]).toContain("To: mailed@atlas.example")
    expect(mails[0]).toContain(`${PUBLIC}/sign-in#${sent.json.invitations[0].code}`)
    expect(mails[0]).not.toContain("+18015550155")
  })

  it("that is refused leaves the invitation, which the administrator can pass on", async () => {
    const { json } = await call(
      "people/invite",
      { people: [{ identifier: "refused@atlas.example" }], roles: ["member"] },
      atlas.admin.secret,
      mailing.url
    )
    expect(json.invitations[0].mailed).toBe(false)
    expect((await signIn(json.invitations[0].code)).status).toBe(204)
  })

  it("that can't be sent, because the mail server is down, leaves the invitation, and a link to oneself is answered as ever", async () => {
    const closed = createServer()
    await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve))
    const { port } = closed.address() as { readonly port: number }
    await new Promise((resolve) => closed.close(resolve))
    const down = await startServer(database, {
      smtpUrl: Redacted.make(`smtp://127.0.0.1:${port}`),
      mailFrom: "max@example.com",
      publicUrl: PUBLIC
    })
    try {
      const answer = await ask(down.url, "/v1/admin/people/invite", {
        method: "POST",
        headers: { authorization: `Bearer ${atlas.admin.secret}`, host: "max.example.com", ...JSON_TYPE },
        body: JSON.stringify({ people: [{ identifier: "down@atlas.example" }], roles: ["member"] })
      })
      expect([answer.status, answer.json.invitations[0].mailed]).toEqual([200, false])
      const known = await askFor(`theo@${atlas.host}`, down.url)
      const unknown = await askFor("stranger-here@atlas.example", down.url)
      expect([known.status, known.text]).toEqual([unknown.status, unknown.text])
      expect((await signIn(answer.json.invitations[0].code)).status).toBe(204)
    } finally {
      await down.stop()
    }
  })

  const askFor = (email: string, base = mailing.url, headers: Readonly<Record<string, string>> = { origin: PUBLIC }) =>
    ask(base, "/v1/session/mail", {
      method: "POST",
      headers: { ...JSON_TYPE, host: "max.example.com", ...headers },
      body: JSON.stringify({ email })
    })

  /** The mails to an address, once at least as many have arrived. */
  const mailsTo = async (address: string, count: number) => {
    const sent = () => mails.filter((text) => text.includes(`To: ${address}`))
    await until(() => sent().length >= count)
    return sent()
  }

  it("brings a sign-in link to an active member's address, at most five an hour, and nothing to any other", async () => {
    const before = mails.length
    const answers = []
    for (const email of ["none@atlas.example", "jonas@atlas.example", "not an address", "+18015550103"])
      answers.push(await askFor(email))
    for (let count = 0; count < 7; count += 1) answers.push(await askFor("Priya@Atlas.example "))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(new Set(["204 "]))
    // The requests are answered in order: when the last one has its mail, the earlier ones had their chance.
    await askFor("theo@atlas.example")
    const [toTheo] = await mailsTo("theo@atlas.example", 1)
    expect(mails.length - before).toBe(6)
    expect(toTheo).toContain(`${PUBLIC}/sign-in#max_`)
    const [toPriya] = await mailsTo("priya@atlas.example", 5)
    const code = /#(max_\S+)/.exec(toPriya!)![1]!
    expect((await whoAmI(cookieOf(await signIn(code)))).json.roles).toEqual(["manager"])
    expect((await signIn(code)).status).toBe(401)
  })

  it("is offered only where it is configured, as passkeys are only at a name with https, and only to Max's own page", async () => {
    const ways = async (base: string, host: string) => (await ask(base, "/v1/session/ways", { headers: { host } })).json
    expect(await ways(mailing.url, "max.example.com")).toEqual({ mail: true, passkeys: true, providers: [] })
    expect(await ways(server.url, new URL(server.url).host)).toEqual({ mail: false, passkeys: false, providers: [] })
    expect((await askFor("priya@atlas.example", mailing.url, { origin: "https://evil.example" })).status).toBe(403)
  })
})
