/** The page Access in a real browser: a token is tried and a provider removed, with the keyboard alone and on a phone. */
import { Effect, Exit, Scope } from "effect"
import type { Browser } from "playwright-core"
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
  server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))))
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

it("is no page of an administrator without the power members", async () => {
  const page = await visit({}, "amina")
  expect(await page.getByRole("heading", { name: "There is no such page" }).count()).toBe(1)
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
