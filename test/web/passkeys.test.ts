/** Adding a passkey and signing in with it, in a real browser with a virtual authenticator. */
import { Effect, Exit, Scope } from "effect"
import type { Browser, CDPSession, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { AuditLog } from "../../src/services/audit/AuditLog.ts"
import { administered } from "../support/administered.ts"
import { accessibilityFaults, device, type Looks, openBrowser, openPage } from "../support/browser.ts"
import { runMax } from "../support/cli.ts"
import { migratedDatabase } from "../support/database.ts"
import { startServer, type TestServer } from "../support/http.ts"

const scope = Scope.makeUnsafe()
let database: string
let server: TestServer
let browser: Browser
/** Passkeys are bound to a name, so the pages are opened at localhost. */
let origin: string
let harbor: Effect.Success<ReturnType<typeof administered>>

beforeAll(async () => {
  database = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  server = await startServer(database)
  origin = server.url.replace("127.0.0.1", "localhost")
  harbor = await server.run(administered({ slug: "harbor" }))
  browser = await openBrowser()
})

afterAll(async () => {
  await browser.close()
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const visit = async (path: string, who?: string, looks: Looks = {}) => {
  const cookie = {
    name: "max_session",
    value: who === undefined ? "" : await server.run(harbor.session(who)),
    url: origin
  }
  const watched = await openPage(browser, origin, { ...looks, ...(who === undefined ? {} : { cookie }) })
  await watched.page.goto(`${origin}${path}`)
  await watched.page.locator("main h1").waitFor()
  return watched
}

const credentialsOf = async ({ authenticatorId, client }: { client: CDPSession; authenticatorId: string }) =>
  (await client.send("WebAuthn.getCredentials", { authenticatorId })).credentials

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click()
const said = (page: Page, text: string | RegExp) => page.getByText(text).waitFor()

/** Adds a passkey on the account page. */
const add = async (page: Page, name: string) => {
  await page.getByLabel("Name of the device").fill(name)
  await press(page, "Add a passkey")
  await said(page, `${name} is added.`)
}

const actions = () =>
  server.run(
    Effect.map(
      Effect.flatMap(AuditLog, (log) =>
        log.list(harbor.organization, { chain: "changes", limit: 100, action: "passkey." })
      ),
      (records) => records.map(({ action }) => action)
    )
  )

/** With MAX_SCREENSHOTS=docs/images the pictures of the docs are taken. */
const shoot = async (page: Page, name: string) => {
  const folder = process.env["MAX_SCREENSHOTS"]
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` })
}

describe("a passkey", () => {
  it.each([
    { theme: "light", width: 1280 },
    { theme: "dark", width: 390 }
  ] as const)(
    "is added on the account page, signs in without a link, and is removed ($theme, $width px)",
    async ({ theme, width }) => {
      const { close, faults, page } = await visit("/account", "theo", { theme, width })
      await page.getByRole("heading", { name: "Passkeys" }).waitFor()
      const authenticator = await device(page)
      await add(page, `My laptop ${theme}`)
      expect(await credentialsOf(authenticator)).toMatchObject([{ isResidentCredential: true, rpId: "localhost" }])

      await page.context().clearCookies()
      await page.goto(`${origin}/sign-in`)
      await press(page, "Sign in with a passkey")
      await page.locator("textarea").waitFor()
      await page.goto(`${origin}/account`)
      await said(page, /last used/)

      await page.getByRole("button", { name: `Remove My laptop ${theme}` }).click()
      await shoot(page, `account-${width > 400 ? "desktop" : "phone"}-${theme}`)
      await press(page, "Remove this passkey")
      await said(page, "is removed")
      await page.context().clearCookies()
      await page.goto(`${origin}/sign-in`)
      await press(page, "Sign in with a passkey")
      await said(page, /isn't valid here/)
      expect(faults).toEqual([])
      await close()
    }
  )

  // Without a virtual authenticator: the session of the checks' debugger would end it.
  it("has pages without faults for screen readers, as wide as a phone", async () => {
    for (const [path, who] of [
      ["/account", "amina"],
      ["/sign-in", undefined]
    ] as const) {
      const { close, page } = await visit(path, who, { width: 390 })
      await page.getByRole("button", { name: /passkey/ }).waitFor()
      expect(await accessibilityFaults(page), path).toEqual([])
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path).toBe(true)
      await close()
    }
  })

  it("whose counter goes back is removed, because another device has a copy", async () => {
    const { close, page } = await visit("/account", "theo")
    const authenticator = await device(page)
    await add(page, "Key")
    const [credential] = await credentialsOf(authenticator)
    const signIn = async () => {
      await page.context().clearCookies()
      await page.goto(`${origin}/sign-in`)
      await press(page, "Sign in with a passkey")
    }
    await signIn()
    await page.locator("textarea").waitFor()
    const { authenticatorId, client } = authenticator
    await client.send("WebAuthn.removeCredential", { authenticatorId, credentialId: credential!.credentialId })
    await client.send("WebAuthn.addCredential", { authenticatorId, credential: { ...credential!, signCount: 0 } })
    await signIn()
    await said(page, /may have been copied/)
    expect(await actions()).toContain("passkey.ended")
    await signIn()
    await said(page, /isn't valid here/)
    await close()
  })

  it("is not offered at an IP address, and the page names the setting that is missing", async () => {
    const cookie = { name: "max_session", value: await server.run(harbor.session("theo")), url: server.url }
    const { close, page } = await openPage(browser, server.url, { cookie })
    await page.goto(`${server.url}/account`)
    await said(page, /MAX_PUBLIC_URL/)
    await page.context().clearCookies()
    await page.goto(`${server.url}/sign-in`)
    await page.getByLabel("Your sign-in link").waitFor()
    expect(await page.getByRole("button", { name: "Sign in with a passkey" }).count()).toBe(0)
    await close()
  })
})

it("is listed and ended by the operator's commands", async () => {
  const { close, page } = await visit("/account", "amina")
  await device(page)
  await add(page, "Tablet")
  const env = { DATABASE_URL: database, MAX_ORG: "harbor" }
  const listed = JSON.parse((await runMax(["passkey", "list", "--json"], env)).stdout) as ReadonlyArray<{
    id: string
    name: string
  }>
  const { id } = listed.find(({ name }) => name === "Tablet")!
  expect((await runMax(["passkey", "list"], env)).stdout).toMatch(/Tablet +Amina Osei/)
  expect((await runMax(["passkey", "remove", id], env)).code).toBe(0)
  expect(await runMax(["passkey", "remove", id], env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("max passkey list")
  })
  await page.context().clearCookies()
  await page.goto(`${origin}/sign-in`)
  await press(page, "Sign in with a passkey")
  await said(page, /isn't valid here/)
  await close()
})
