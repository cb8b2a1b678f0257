/**
 * An administrator chooses an address that the server then asks. A provider of an administrator leads into no private network: not by
 * its issuer, its description, its keys, a redirect, or a name that leads elsewhere later.
 */
import { Effect, Exit, Scope } from "effect"
import { randomUUID } from "node:crypto"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { IdentityProviders, providerId } from "../../../src/services/access/IdentityProviders.ts"
import { administered } from "../../support/administered.ts"
import { migratedDatabase } from "../../support/database.ts"
import { ask, callTool, JSON_TYPE, startServer, type TestServer } from "../../support/http.ts"
import { startNames } from "../../support/names.ts"
import { startProvider } from "../../support/provider.ts"
import { startService } from "../../support/service.ts"

const scope = Scope.makeUnsafe()
let names: ReturnType<typeof startNames>
/** What the operator doesn't list: connections to it are counted. */
let inside: Server
let port: number
let connections = 0
const sockets = new Set<Socket>()
/** A host that the operator lists, which answers as a test says. */
let listed: Awaited<ReturnType<typeof startService>>
let other: Awaited<ReturnType<typeof startService>>
let keys: Awaited<ReturnType<typeof startProvider>>
let server: TestServer
let atlas: Effect.Success<ReturnType<typeof administered>>

beforeAll(async () => {
  names = startNames()
  inside = createServer((socket) => {
    connections += 1
    sockets.add(socket)
    socket.on("error", () => {})
    socket.end("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}")
  })
  await new Promise<void>((resolve) => inside.listen(0, "::", resolve))
  port = (inside.address() as AddressInfo).port
  listed = await startService()
  other = await startService()
  keys = await startProvider()
  const database = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  server = await startServer(database, { privateHosts: [listed.host, other.host] })
  atlas = await server.run(administered({ slug: "atlas" }))
})
afterAll(async () => {
  await server.stop()
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => inside.close(resolve))
  await listed.stop()
  await other.stop()
  await keys.stop()
  names.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})
beforeEach(() => {
  connections = 0
})

const call = (path: string, body: object) =>
  ask(server.url, `/v1/admin/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${atlas.admin.secret}`, ...JSON_TYPE },
    body: JSON.stringify(body)
  })
const sql = (text: string) => server.run(Effect.flatMap(Database, ({ owner }) => owner.unsafe(text)))
/** A new token each time: an admitted one is remembered for a minute. */
const tokenOf = (issuer: string) =>
  keys.sign({
    sub: "lena",
    email: "lena@atlas.example",
    email_verified: true,
    iss: issuer,
    aud: "max",
    jti: randomUUID()
  })
const both = async (issuer: string) => {
  const body = { issuer, audience: "max", token: await tokenOf(issuer) }
  return [await call("providers/trial", body), await call("providers", body)]
}

/** What is said where no provider can be read, whatever the reason. */
const UNREADABLE = {
  status: 400,
  problems: [{ field: "issuer", message: expect.stringContaining("can't read a provider there") }]
}
const isRefused = async (issuer: string) => {
  for (const answer of await both(issuer)) {
    const { problems, status } = answer.json
    expect({ issuer, status, problems }).toEqual({ issuer, ...UNREADABLE })
    for (const word of ["private", "refused", "ENOTFOUND", "ECONN", "timeout", "redirect"])
      expect([issuer, answer.text.replace(/MAX_PRIVATE_HOSTS/g, "")]).toEqual([
        issuer,
        expect.not.stringContaining(word)
      ])
  }
  expect([issuer, connections]).toEqual([issuer, 0])
}

/** The description of the listed host, with other addresses in it. */
const describes = (more: Readonly<Record<string, unknown>> = {}) =>
  listed.answers((_, response) => {
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify({ issuer: listed.url, jwks_uri: `${keys.issuer}/keys`, ...more }))
  })

describe("the issuer of an administrator's provider", () => {
  it("is no private, loopback or link-local address, in any notation", async () => {
    for (const host of [
      "10.0.0.1",
      "172.16.0.1",
      "192.168.1.1",
      "100.64.0.1",
      "169.254.169.254",
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0x7f.0.0.1",
      "0177.0.0.1",
      "0.0.0.0",
      "localhost",
      "localhost.",
      "idp.localhost",
      "idp.internal",
      "idp",
      "[::1]",
      "[::]",
      "[::ffff:127.0.0.1]",
      "[::ffff:a9fe:a9fe]",
      "[::7f00:1]",
      "[64:ff9b::7f00:1]",
      "[2002:7f00:1::]",
      "[fd00::1]",
      "[fe80::1]"
    ])
      await isRefused(`https://${host}:${port}`)
    // http is for loopback, and there for operators and hosts that they list.
    for (const host of ["127.0.0.1", "localhost", "[::1]"]) await isRefused(`http://${host}:${port}`)
    expect(connections).toBe(0)
  })

  it("is no name that leads to one, alone or among public ones", async () => {
    for (const [name, ...addresses] of [
      ["loopback.names.example", "127.0.0.1"],
      ["metadata.names.example", "169.254.169.254"],
      ["ten.names.example", "10.1.2.3"],
      ["six.names.example", "::1"],
      ["mapped.names.example", "::ffff:127.0.0.1"],
      ["mixed.names.example", "127.0.0.1", "93.184.215.14"],
      ["behind.names.example", "93.184.215.14", "127.0.0.1"],
      ["none.names.example"]
    ] as const) {
      names.leads(name, ...addresses)
      await isRefused(`https://${name}:${port}`)
      expect(names.asked).toContain(name)
    }
  })

  it("says the same where a host answers and is no provider, answers too much, or redirects", async () => {
    const large = JSON.stringify({ issuer: listed.url, jwks_uri: `${listed.url}/keys`, more: "a".repeat(1_100_000) })
    for (const answer of [
      { status: 200, body: "<html>intranet</html>" },
      { status: 404, body: "{}" },
      { status: 401, body: JSON.stringify({ issuer: listed.url, jwks_uri: `${listed.url}/keys` }) },
      { status: 200, body: JSON.stringify({ issuer: "https://elsewhere.example", jwks_uri: `${listed.url}/keys` }) },
      { status: 200, body: JSON.stringify({ issuer: listed.url, jwks_uri: "file:///etc/passwd" }) },
      { status: 200, body: large },
      { status: 302, body: "", location: `http://127.0.0.1:${port}/` },
      { status: 307, body: "", location: `https://loopback.names.example:${port}/` }
    ]) {
      listed.answers((_, response) => {
        const location = answer.location === undefined ? {} : { location: answer.location }
        response.writeHead(answer.status, { "content-type": "application/json", ...location }).end(answer.body)
      })
      await isRefused(listed.url)
      expect(listed.asked.length).toBe(2)
    }
  })

  it("isn't waited for longer than a few seconds", { timeout: 60_000 }, async () => {
    listed.answers(() => {})
    const before = Date.now()
    await isRefused(listed.url)
    expect(Date.now() - before).toBeLessThan(25_000)
  })
})

describe("the description of an administrator's provider", () => {
  it("leads to keys at no private address, at no name of one, at no other host that is listed", async () => {
    names.leads("keys.names.example", "127.0.0.1")
    other.answers()
    for (const keysAt of [
      `http://127.0.0.1:${port}/keys`,
      `https://127.0.0.1:${port}/keys`,
      `https://localhost:${port}/keys`,
      `https://[::ffff:127.0.0.1]:${port}/keys`,
      `https://169.254.169.254/latest/meta-data`,
      // The name was public when the description was written.
      `https://keys.names.example:${port}/keys`,
      `${other.url}/keys`
    ]) {
      describes({ jwks_uri: keysAt })
      await isRefused(listed.url)
    }
    expect(other.asked).toEqual([])
  })

  it("leads to keys that don't redirect", async () => {
    listed.answers(({ path }, response) => {
      if (path === "/keys") return response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end()
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({ issuer: listed.url, jwks_uri: `${listed.url}/keys` }))
    })
    await isRefused(listed.url)
    expect(listed.asked.map(({ path }) => path)).toContain("/keys")
  })
})

describe("an administrator's provider that is trusted", () => {
  const KEYS = () => JSON.stringify({ keys: [keys.publicJwk] })
  /** The listed host as a whole provider. */
  const provides = (more: Readonly<Record<string, string>> = {}) =>
    listed.answers(({ path }, response) => {
      response.setHeader("content-type", "application/json")
      const described = { issuer: listed.url, jwks_uri: `${listed.url}/keys`, ...more }
      response.end(path === "/keys" ? KEYS() : JSON.stringify(described))
    })
  const statusOf = async (token: string) => (await callTool(server, token, "listEntityTypes", {})).status

  it("is asked for its keys under the same rules later, when its name leads elsewhere", async () => {
    provides()
    const token = await tokenOf(listed.url)
    expect((await call("providers", { issuer: listed.url, audience: "max", token })).status).toBe(204)
    expect(await statusOf(token)).toBe(200)
    names.leads("moved.names.example", "127.0.0.1")
    for (const keysAt of [`https://moved.names.example:${port}/keys`, `http://127.0.0.1:${port}/keys`]) {
      await sql(`UPDATE max.identity_providers SET jwks_url = '${keysAt}'`)
      expect(await statusOf(await tokenOf(listed.url))).toBe(503)
    }
    expect([names.asked.includes("moved.names.example"), connections]).toEqual([true, 0])
    await sql("DELETE FROM max.identity_providers")
  })

  it("has nothing of the keys that an operator's provider has at a private address", async () => {
    await server.run(
      Effect.flatMap(IdentityProviders, (providers) =>
        providers.add(atlas.organization, { issuer: keys.issuer, audience: "max" })
      )
    )
    expect(await statusOf(await tokenOf(keys.issuer))).toBe(200)
    const issuer = "https://elsewhere.example"
    await sql(`INSERT INTO max.identity_providers (organization_id, issuer, audience, jwks_url, added_by)
      VALUES (${atlas.organization.id}, '${issuer}', 'max', '${keys.issuer}/keys', '${atlas.idOf("yuki")}')`)
    expect(await statusOf(await tokenOf(issuer))).toBe(503)
    await sql("DELETE FROM max.identity_providers")
  })

  it("leads the server to no private address when a person signs in, for its description or for the token", async () => {
    const begin = async (issuer: string, addedBy: string | null) => {
      await sql("DELETE FROM max.identity_providers")
      await sql(`INSERT INTO max.identity_providers (organization_id, issuer, audience, jwks_url, sign_in_name, added_by)
        VALUES (${atlas.organization.id}, '${issuer}', 'max', '${issuer}/keys', 'Atlas ID', ${addedBy === null ? "NULL" : `'${addedBy}'`})`)
      const { headers } = await ask(server.url, `/v1/session/with/${providerId({ issuer, audience: "max" })}`)
      return { location: String(headers["location"]), cookie: String(headers["set-cookie"]).split(";")[0]! }
    }
    const yuki = atlas.idOf("yuki")
    for (const issuer of [`http://127.0.0.1:${port}`, `https://loopback.names.example:${port}`])
      expect((await begin(issuer, yuki)).location).toBe("/sign-in?failed=unavailable")
    expect(connections).toBe(0)

    provides({ authorization_endpoint: `${listed.url}/authorize`, token_endpoint: `http://127.0.0.1:${port}/token` })
    const finish = async (addedBy: string | null) => {
      const { cookie, location } = await begin(listed.url, addedBy)
      const state = new URL(location).searchParams.get("state")!
      const { headers } = await ask(server.url, `/v1/session/callback?code=a&state=${state}`, { headers: { cookie } })
      return String(headers["location"])
    }
    expect([await finish(yuki), connections]).toEqual(["/sign-in?failed=unavailable", 0])
    // An operator's own leads where it says.
    expect([await finish(null), connections]).toEqual(["/sign-in?failed=refused", 1])
    await sql("DELETE FROM max.identity_providers")
  })

  it("leads the server to no private address when a client's secret is tried", async () => {
    provides({ token_endpoint: `http://127.0.0.1:${port}/token` })
    const replace = async (issuer: string, addedBy: string) => {
      await sql("DELETE FROM max.identity_providers")
      await sql(`INSERT INTO max.identity_providers (organization_id, issuer, audience, jwks_url, sign_in_name, added_by)
        VALUES (${atlas.organization.id}, '${issuer}', 'max', '${issuer}/keys', 'Atlas ID', ${addedBy})`)
      const answer = await call("providers/secret", { issuer, audience: "max", clientSecret: "a-new-secret" })
      return answer.json.problems
    }
    const unsaid = [{ field: "clientSecret", message: expect.stringContaining("didn't say whether it takes") }]
    const yuki = `'${atlas.idOf("yuki")}'`
    for (const issuer of [`http://127.0.0.1:${port}`, `https://loopback.names.example:${port}`, listed.url])
      expect([issuer, await replace(issuer, yuki), connections]).toEqual([issuer, unsaid, 0])
    // An operator's own leads where it says.
    expect([await replace(listed.url, "NULL"), connections]).toEqual([unsaid, 1])
    await sql("DELETE FROM max.identity_providers")
  })
})
