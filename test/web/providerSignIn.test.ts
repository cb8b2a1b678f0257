/** Signing in at a real OpenID provider with a real browser. */
import { Effect, Exit, Scope } from "effect"
import { writeFileSync, mkdtempSync, rmSync } from "node:fs"
import { createServer, type Server } from "node:http"
import { exportJWK, generateKeyPair, type GenerateKeyPairResult, SignJWT } from "jose"
import { type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Provider } from "oidc-provider"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { IdentityProviders, providerId } from "../../src/services/access/IdentityProviders.ts"
import { Memberships } from "../../src/services/members/Memberships.ts"
import { administered } from "../support/administered.ts"
import { accessibilityFaults, openBrowser, openPage } from "../support/browser.ts"
import { migratedDatabase } from "../support/database.ts"
import { ask, startServer, type TestServer } from "../support/http.ts"
import { look } from "../support/staged.ts"

const SECRET = "a secret of the client that is long enough"
/** One that an administrator pastes is a single word. */
const PASTED = "a-secret-of-the-client-that-is-long-enough"
const folder = mkdtempSync(join(tmpdir(), "max-oidc-"))
const scope = Scope.makeUnsafe()
let url: string
let issuer: string
let identities: Server
let keys: GenerateKeyPairResult
let server: TestServer
let browser: Browser
let harbor: Effect.Success<ReturnType<typeof administered>>

const listening = (one: Server, port = 0): Promise<number> =>
  new Promise((resolve) => {
    one.listen(port, "127.0.0.1", () => resolve((one.address() as AddressInfo).port))
  })

const freePort = async () => {
  const probe = createServer()
  const port = await listening(probe)
  await new Promise((resolve) => probe.close(resolve))
  return port
}

/** What each account's ID token says. */
const ACCOUNTS: Readonly<Record<string, Record<string, unknown>>> = {
  lena: { email: "lena@harbor.example", email_verified: true, roles: ["auditor", "no-such-role"] },
  unverified: { email: "theo@harbor.example", email_verified: false },
  jonas: { email: "jonas@harbor.example", email_verified: true },
  stranger: { email: "stranger@elsewhere.example", email_verified: true }
}

beforeAll(async () => {
  writeFileSync(join(folder, "secret"), SECRET, { mode: 0o600 })
  const [port, at] = [await freePort(), await freePort()]
  url = `http://127.0.0.1:${port}`
  issuer = `http://127.0.0.1:${at}`
  keys = await generateKeyPair("RS256", { extractable: true })
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...(await exportJWK(keys.privateKey)), kid: "one", alg: "RS256", use: "sig" }] },
    clients: ["max", "max-roles", "max-page", "max-replaced"].map((client_id) => ({
      client_id,
      client_secret: ["max-page", "max-replaced"].includes(client_id) ? PASTED : SECRET,
      redirect_uris: [`${url}/v1/session/callback`]
    })),
    cookies: { keys: ["a key of the test"] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["roles"] },
    conformIdTokenClaims: false,
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, ...ACCOUNTS[id] }) })
  })
  identities = createServer(provider.callback())
  await listening(identities, at)
  server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))), {
    httpPort: port,
    publicUrl: url,
    privateHosts: [new URL(issuer).host],
    stateDir: folder
  })
  harbor = await server.run(administered({ slug: "harbor" }))
  const clientSecret = `file:${join(folder, "secret")}`
  for (const provider of [
    { audience: "max", signIn: { name: "Harbor ID", clientSecret } },
    { audience: "max-roles", roleClaim: "roles", signIn: { name: "Harbor roles", clientSecret } }
  ]) {
    await server.run(
      Effect.flatMap(IdentityProviders, (providers) => providers.add(harbor.organization, { issuer, ...provider }))
    )
  }
  browser = await openBrowser()
})

afterAll(async () => {
  await browser.close()
  await server.stop()
  await new Promise((resolve) => {
    identities.close(resolve)
    identities.closeAllConnections()
  })
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

/** Goes to the provider from the sign-in page and signs in there as this account. */
const signInAs = async (account: string, at = "Harbor ID") => {
  const watched = await openPage(browser, url, { width: 390 })
  const { page } = watched
  await page.goto(url)
  await page.getByRole("link", { name: `Sign in with ${at}` }).click()
  await page.locator("input[name=login]").fill(account)
  await page.locator("input[name=password]").fill("any")
  await page.locator("button[type=submit]").click()
  await page.waitForURL(/\/interaction\/|^http:\/\/127/)
  await page.locator("button[type=submit]").click()
  await page.waitForURL((address) => address.origin === url)
  return watched
}

const text = (page: Page) => page.locator("main").innerText()

describe("a person at an identity provider", () => {
  it("signs in as the member with the verified address, and out of nothing else's reach", async () => {
    const { close, page } = await signInAs("lena")
    await expect.poll(() => page.title()).toBe("Max at Harbor")
    expect(page.url()).toBe(`${url}/`)
    const cookies = await page.context().cookies(url)
    const session = cookies.find(({ name }) => name === "max_session")!
    expect(session).toMatchObject({ httpOnly: true, sameSite: "Strict" })
    // What the browser kept for the way back is used once.
    expect(cookies.filter(({ name }) => name === "max_pending")).toEqual([])
    const who = await ask(url, "/v1/session", { headers: { cookie: `max_session=${session.value}` } })
    expect(who.json).toMatchObject({ roles: ["member"], by: "session" })
    await server.run(Effect.flatMap(Memberships, ({ suspend }) => suspend(harbor.organization, "lena@harbor.example")))
    expect((await ask(url, "/v1/session", { headers: { cookie: `max_session=${session.value}` } })).status).toBe(403)
    await server.run(Effect.flatMap(Memberships, ({ resume }) => resume(harbor.organization, "lena@harbor.example")))
    await close()
  })

  it("has the roles of the provider's claim in the session, where the provider decides about roles", async () => {
    const { close, page } = await signInAs("lena", "Harbor roles")
    await expect.poll(() => page.title()).toBe("Max at Harbor")
    const session = (await page.context().cookies(url)).find(({ name }) => name === "max_session")!
    const who = await ask(url, "/v1/session", { headers: { cookie: `max_session=${session.value}` } })
    expect(who.json).toMatchObject({ roles: ["auditor"], powers: [] })
    expect(who.json.scopes).toContain("admin")
    await close()
  })

  it("is told that there is no access while suspended, without a membership, or with an unverified address", async () => {
    for (const account of ["jonas", "stranger", "unverified"]) {
      const { close, page } = await signInAs(account)
      await expect.poll(() => text(page)).toContain("You don't have access here yet")
      expect((await page.context().cookies(url)).map(({ name }) => name)).not.toContain("max_session")
      expect(await accessibilityFaults(page)).toEqual([])
      await close()
    }
  })
})

describe("a provider that an administrator adds on the page", () => {
  const filled = async (page: Page, audience: string) => {
    await page.goto(`${url}/admin#/access`)
    await page.getByLabel("Issuer").fill(issuer)
    await page.getByLabel("Audience").fill(audience)
    await page.getByLabel("Name on the sign-in page").fill("Page ID")
    await page.getByLabel("Client secret", { exact: true }).fill(PASTED)
  }

  it("is tried with a pasted token, and lets a person sign in with its sealed secret until it is removed", async () => {
    const session = { name: "max_session", value: await server.run(harbor.session("yuki")), url }
    const { close, page } = await openPage(browser, url, { width: 390, cookie: session })
    await filled(page, "max-page")
    const claims = { sub: "lena", ...ACCOUNTS["lena"], iss: issuer, aud: "max-page" }
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: "RS256", kid: "one" })
      .setExpirationTime("5m")
      .sign(keys.privateKey)
    await page.getByLabel("Token of the new provider").fill(token)
    await page.getByRole("button", { name: "Try the provider" }).click()
    const outcome = page.getByRole("group", { name: "What the token would do" })
    await expect.poll(() => outcome.innerText()).toMatch(/Accepted.*Lena Brandt/s)
    await page.getByRole("button", { name: "Trust the provider" }).click()
    await page.getByRole("button", { name: "Trust it" }).click()
    await page.getByRole("heading", { name: "Page ID" }).waitFor()
    expect(await page.locator("main").innerText()).toContain("Yuki")
    expect(await page.content()).not.toContain(PASTED)
    await close()

    const person = await signInAs("lena", "Page ID")
    await expect.poll(() => person.page.title()).toBe("Max at Harbor")
    await person.close()
    await server.run(
      Effect.flatMap(IdentityProviders, (providers) => providers.remove(harbor.organization, issuer, "max-page"))
    )
    const ways = await ask(url, "/v1/session/ways", { headers: { host: new URL(url).host } })
    expect(ways.text).not.toContain("Page ID")
  })
})

describe("an expired secret of a provider's client", () => {
  it.each([
    { width: 1280, theme: "light" },
    { width: 390, theme: "dark" },
    { width: 390, theme: "light" },
    { width: 1280, theme: "dark" }
  ] as const)(
    "is replaced on the page by one that the provider takes, and people sign in again, at $width in $theme",
    async (looks) => {
      const client = {
        issuer,
        audience: "max-replaced",
        signIn: { name: "Old ID", clientSecret: "env:EXPIRED_SECRET" }
      }
      process.env["EXPIRED_SECRET"] = "expired"
      await server.run(Effect.flatMap(IdentityProviders, (all) => all.add(harbor.organization, client)))
      const refused = await signInAs("lena", "Old ID")
      await expect.poll(() => text(refused.page)).toContain("The sign-in was not completed")
      await refused.close()

      const session = { name: "max_session", value: await server.run(harbor.session("yuki")), url }
      const { close, page } = await openPage(browser, url, { ...looks, cookie: session })
      await page.goto(`${url}/admin#/access`)
      const part = page.getByRole("region", { name: "Old ID" })
      const field = part.getByLabel("New client secret")
      await field.fill("another-wrong-one")
      await page.keyboard.press("Enter")
      await expect.poll(() => part.getByRole("alert").innerText()).toContain("refuses this secret")
      expect(await field.getAttribute("aria-invalid")).toBe("true")
      expect(await accessibilityFaults(page)).toEqual([])
      await part.getByText("kept by the operator").waitFor()
      await field.scrollIntoViewIfNeeded()
      await look(page, "access-secret-refused", looks)
      await field.fill(PASTED)
      await page.keyboard.press("Tab")
      await page.keyboard.press("Enter")
      await part.getByText("sealed", { exact: true }).waitFor()
      expect(await page.locator("[role=status]").last().innerText()).toBe("The provider took the new secret.")
      expect(await field.inputValue()).toBe("")
      expect(await page.content()).not.toContain(PASTED)
      await field.scrollIntoViewIfNeeded()
      await look(page, "access-secret-replaced", looks)
      await close()

      const person = await signInAs("lena", "Old ID")
      await expect.poll(() => person.page.title()).toBe("Max at Harbor")
      await person.close()
      const remove = Effect.flatMap(IdentityProviders, (all) =>
        all.remove(harbor.organization, issuer, client.audience)
      )
      await server.run(remove)
    }
  )
})

describe("the way back from a provider", () => {
  const callback = (query: string, cookie?: string) =>
    ask(url, `/v1/session/callback${query}`, {
      headers: { host: new URL(url).host, ...(cookie === undefined ? {} : { cookie }) }
    })

  /** Begins a sign-in without a browser: the provider's address and the cookie for the way back. */
  const begun = async () => {
    const [{ id }] = (await ask(url, "/v1/session/ways", { headers: { host: new URL(url).host } })).json.providers
    const { headers, status } = await ask(url, `/v1/session/with/${id}`, { headers: { host: new URL(url).host } })
    expect(status).toBe(303)
    return { to: new URL(String(headers["location"])), cookie: String(headers["set-cookie"]).split(";")[0]! }
  }

  it("asks for a code with PKCE, a state and a nonce, each new every time", async () => {
    const [one, two] = [await begun(), await begun()]
    expect(one.to.origin).toBe(issuer)
    expect(Object.fromEntries(one.to.searchParams)).toMatchObject({
      client_id: "max",
      response_type: "code",
      code_challenge_method: "S256",
      redirect_uri: `${url}/v1/session/callback`
    })
    for (const name of ["state", "nonce", "code_challenge"])
      expect(one.to.searchParams.get(name)).not.toBe(two.to.searchParams.get(name))
  })

  it("leads nowhere but to this server, whatever a link or a Host header asks for", async () => {
    const elsewhere = "https://evil.example"
    const { cookie, to } = await begun()
    const id = (await ask(url, "/v1/session/ways", { headers: { host: new URL(url).host } })).json.providers[0].id
    for (const name of ["returnTo", "redirect_uri", "next"]) {
      const asked = `${name}=${encodeURIComponent(elsewhere)}`
      const start = await ask(url, `/v1/session/with/${id}?${asked}`, { headers: { host: new URL(url).host } })
      const back = await callback(`?code=forged&state=${to.searchParams.get("state")}&${asked}`, cookie)
      for (const { headers } of [start, back]) expect(String(headers["location"] ?? "")).not.toContain("evil")
    }
    for (const headers of [{ host: "evil.example" }, { host: new URL(url).host, "x-forwarded-host": "evil.example" }]) {
      const { headers: answered } = await ask(url, `/v1/session/with/${id}`, { headers })
      expect(String(answered["location"] ?? "")).not.toContain("evil")
    }
  })

  /** The provider's answer with a valid code that wasn't used, and the cookie of the browser that left. */
  const heldBack = async () => {
    const { close, page } = await openPage(browser, url, { width: 390 })
    let held = ""
    page.on("request", (request) => {
      if (request.url().startsWith(`${url}/v1/session/callback`)) held = request.url()
    })
    await page.goto(`${url}/v1/session/with/${providerId({ issuer, audience: "max" })}`)
    await page.locator("input[name=login]").fill("lena")
    await page.locator("input[name=password]").fill("any")
    await page.locator("button[type=submit]").click()
    await page.waitForURL(/\/interaction\//)
    const kept = (await page.context().cookies(url)).find(({ name }) => name === "max_pending")!
    // Without it the code isn't used.
    await page.context().clearCookies({ name: "max_pending" })
    await page.locator("button[type=submit]").click()
    await expect.poll(() => held, { timeout: 20_000 }).toContain("code=")
    await close()
    return { search: new URL(held).search, kept: `max_pending=${kept.value}` }
  }

  it("counts in the browser that left, once, though the code is valid", async () => {
    const { kept, search } = await heldBack()
    const elsewhere = ["returnTo", "next"].map((name) => `&${name}=${encodeURIComponent("https://evil.example")}`)
    const first = await callback(`${search}${elsewhere.join("")}`, kept)
    expect([first.headers["location"], String(first.headers["set-cookie"])]).toEqual([
      "/",
      expect.stringContaining("max_session=")
    ])
    // Another browser has left for the provider itself; its own state in the address doesn't help.
    const other = await heldBack()
    const { cookie, to } = await begun()
    const own = new URLSearchParams(other.search)
    own.set("state", to.searchParams.get("state")!)
    for (const [query, from] of [
      [search, kept],
      [other.search, cookie],
      [`?${own}`, cookie],
      [other.search, undefined]
    ] as const) {
      const { headers } = await callback(query, from)
      expect(headers["location"], query).toBe("/sign-in?failed=refused")
      expect(String(headers["set-cookie"])).not.toContain("max_session")
    }
  })

  it("leads to the sign-in page without a session if the answer is forged, foreign or replayed", async () => {
    const { cookie, to } = await begun()
    const state = to.searchParams.get("state")!
    for (const [query, kept] of [
      [`?code=forged&state=${state}`, cookie],
      [`?code=forged&state=${state}`, undefined],
      ["?code=forged&state=another", cookie],
      [`?error=access_denied&state=${state}`, cookie],
      ["", cookie],
      [`?code=forged&state=${state}`, "max_pending=bm90IGpzb24"]
    ] as const) {
      const { headers, status } = await callback(query, kept)
      expect([status, headers["location"]], query).toEqual([303, "/sign-in?failed=refused"])
      expect(String(headers["set-cookie"]), query).not.toContain("max_session")
    }
    expect(
      (await ask(url, "/v1/session/with/unknown", { headers: { host: new URL(url).host } })).headers["location"]
    ).toBe("/sign-in?failed=refused")
  })
})
