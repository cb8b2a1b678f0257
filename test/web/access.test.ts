/** The page Access in a real browser: a token is tried, a provider added and removed, with the keyboard alone and on a phone. */
import { Effect, Exit, Scope } from "effect"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, it } from "vitest"
import { IdentityProviders } from "../../src/services/access/IdentityProviders.ts"
import { administered } from "../support/administered.ts"
import { accessibilityFaults, type Looks, openBrowser, openPage } from "../support/browser.ts"
import { migratedDatabase } from "../support/database.ts"
import { startServer, type TestServer } from "../support/http.ts"
import { startProvider } from "../support/provider.ts"

const scope = Scope.makeUnsafe()
let provider: Awaited<ReturnType<typeof startProvider>>
let server: TestServer
let browser: Browser
let harbor: Effect.Success<ReturnType<typeof administered>>

beforeAll(async () => {
  provider = await startProvider()
  server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))), {
    privateHosts: [new URL(provider.issuer).host]
  })
  harbor = await server.run(administered({ slug: "harbor" }))
  await server.run(
    Effect.flatMap(IdentityProviders, (providers) =>
      providers.add(harbor.organization, { issuer: provider.issuer, audience: "max", roleClaim: "roles" })
    )
  )
  browser = await openBrowser()
})
afterAll(async () => {
  await browser.close()
  await server.stop()
  await provider.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const visit = async (looks: Looks, who = "yuki") => {
  const cookie = { name: "max_session", value: await server.run(harbor.session(who)), url: server.url }
  const { page } = await openPage(browser, server.url, { ...looks, cookie })
  await page.goto(`${server.url}/admin#/access`)
  await page.locator("main h1").waitFor()
  return page
}
const picture = async (
  page: Page,
  name: string,
  { theme, width }: { readonly theme: string; readonly width: number }
) => {
  const folder = process.env["MAX_SCREENSHOTS"]
  const device = width === 390 ? "phone" : "desktop"
  if (folder === undefined) return
  await page.evaluate("scrollTo(0, 0)")
  await page.screenshot({ path: `${folder}/admin-${name}-${device}-${theme}.png`, fullPage: true })
}
const lena = (claims = {}) =>
  provider.sign({ sub: "lena", email: "lena@harbor.example", email_verified: true, ...claims })

it.each([
  { width: 1280, theme: "light" },
  { width: 390, theme: "dark" }
] as const)("a pasted token says whom it would admit and with which roles, or why not, at $width", async (looks) => {
  const page = await visit(looks)
  const token = page.getByLabel("Token", { exact: true })
  const outcome = page.getByRole("group", { name: "What the token would do" })
  await token.fill(await lena({ roles: ["manager", "no-such-role"] }))
  await page.keyboard.press("Tab")
  await page.keyboard.press("Enter")
  await outcome.waitFor()
  const said = await outcome.innerText()
  for (const part of ["Accepted", "Lena Brandt", "manager", "no-such-role", "Not in the policy"])
    expect(said).toContain(part)
  expect(await token.inputValue()).toBe("")
  expect(await accessibilityFaults(page)).toEqual([])
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true)
  await page.getByLabel("Claim with the roles").fill("groups")
  await token.fill(await lena({ groups: ["auditor"], exp: 1 }))
  await page.getByRole("button", { name: "Try the token" }).click()
  await expect.poll(() => outcome.innerText()).toMatch(/Refused.*has expired/s)
  expect(await accessibilityFaults(page)).toEqual([])
})

it.each([
  { width: 1200, theme: "light" },
  { width: 1200, theme: "dark" },
  { width: 390, theme: "light" },
  { width: 390, theme: "dark" }
] as const)("a new provider is trusted only after a token of it was tried, at $width in $theme", async (looks) => {
  const page = await visit(looks)
  const trust = page.getByRole("button", { name: "Trust the provider" })
  const outcome = page.getByRole("group", { name: "What the token would do" })
  const tried = page.getByRole("button", { name: "Try the provider" })
  const issuer = page.getByLabel("Issuer")
  const token = page.getByLabel("Token of the new provider")
  const isSound = async () => {
    expect(await accessibilityFaults(page)).toEqual([])
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true)
  }
  const audience = `max-${looks.width}-${looks.theme}`
  await issuer.fill("http://login.example.com")
  await page.getByLabel("Audience").fill(audience)
  await page.getByLabel("Name on the sign-in page").fill("Harbor ID")
  await token.fill(await lena({ aud: audience }))
  await tried.click()
  await page.getByRole("alert").waitFor()
  expect(await page.getByRole("alert").innerText()).toContain("must be an https URL")
  expect(await issuer.getAttribute("aria-invalid")).toBe("true")
  await isSound()
  await picture(page, "provider-refused", looks)

  await issuer.fill(provider.issuer)
  await token.fill(await lena({ aud: audience, exp: 1 }))
  await tried.click()
  await expect.poll(() => outcome.innerText()).toMatch(/Refused.*has expired/s)
  expect([await trust.count(), await issuer.getAttribute("aria-invalid")]).toEqual([0, null])

  await token.fill(await lena({ aud: audience }))
  expect(await outcome.count()).toBe(0)
  await page.keyboard.press("Tab")
  await page.keyboard.press("Enter")
  await expect.poll(() => outcome.innerText()).toMatch(/Accepted.*Lena Brandt/s)
  await isSound()
  await picture(page, "provider-new", looks)
  // What was tried counts for what was written then.
  await page.getByLabel("Role claim").fill("roles")
  expect(await trust.count()).toBe(0)
  await tried.click()
  await trust.focus()
  await page.keyboard.press("Enter")
  await page.getByRole("dialog").waitFor()
  await isSound()
  await page.getByRole("button", { name: "Trust it" }).focus()
  await page.keyboard.press("Enter")
  await page.getByText(audience, { exact: true }).waitFor()
  expect(await issuer.inputValue()).toBe("")
  await isSound()
  const answer = await fetch(`${server.url}/v1/tools/listEntityTypes`, {
    method: "POST",
    headers: { authorization: `Bearer ${await lena({ aud: audience })}`, "content-type": "application/json" },
    body: "{}"
  })
  expect(answer.status).toBe(200)
  await server.run(
    Effect.flatMap(IdentityProviders, (all) => all.remove(harbor.organization, provider.issuer, audience))
  )
})

it("is no page of an administrator without the power members", async () => {
  const page = await visit({}, "amina")
  await expect.poll(() => page.getByRole("heading", { name: "There is no such page" }).count()).toBe(1)
  expect(await page.getByRole("link", { name: "Access", exact: true }).count()).toBe(0)
})

it("a provider is removed after a question, and its tokens are refused", async () => {
  const page = await visit({ width: 390 })
  await page.getByRole("button", { name: "Remove the provider" }).focus()
  await page.keyboard.press("Enter")
  await page.getByRole("dialog").waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await page.getByRole("button", { name: "Stop trusting it" }).focus()
  await page.keyboard.press("Enter")
  await page.getByText("No identity provider is trusted yet.").waitFor()
  const answer = await fetch(`${server.url}/v1/tools/listEntityTypes`, {
    method: "POST",
    headers: { authorization: `Bearer ${await lena()}`, "content-type": "application/json" },
    body: "{}"
  })
  expect(answer.status).toBe(401)
})
