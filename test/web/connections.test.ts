/** The pages Model and Phone in a real browser: a key and a number are tried, set and removed, with the keyboard alone. */
import { Effect, Exit, Scope } from "effect"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { administered } from "../support/administered.ts"
import { accessibilityFaults, type Looks, openBrowser, openPage } from "../support/browser.ts"
import { ACCOUNT, startCarrier, TOKEN } from "../support/carrier.ts"
import { migratedDatabase } from "../support/database.ts"
import { startServer, type TestServer } from "../support/http.ts"
import { type MessagesServer, says, startMessages } from "../support/messages.ts"

const KEY = "sk-ant-canary-0123456789abcdef-7f3a"

const scope = Scope.makeUnsafe()
const folder = mkdtempSync(join(tmpdir(), "max-connections-"))
let model: MessagesServer
let carrier: Awaited<ReturnType<typeof startCarrier>>
let server: TestServer
let browser: Browser
let harbor: Effect.Success<ReturnType<typeof administered>>
const cookies = new Map<string, string>()

beforeAll(async () => {
  mkdirSync(join(folder, "secrets/harbor"), { recursive: true })
  writeFileSync(join(folder, "secrets/harbor/anthropic"), KEY)
  model = await startMessages(() => says("From the model."))
  model.takes = (key) => (key === KEY ? "yes" : "no key")
  carrier = await startCarrier()
  const port = await freePort()
  server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))), {
    anthropicUrl: model.url,
    twilioUrl: carrier.url,
    stateDir: join(folder, "state"),
    secretsDir: join(folder, "secrets"),
    httpPort: port,
    publicUrl: `http://127.0.0.1:${port}`
  })
  harbor = await server.run(administered({ slug: "harbor" }))
  for (const name of ["yuki", "amina"]) cookies.set(name, await server.run(harbor.session(name)))
  browser = await openBrowser()
})

afterAll(async () => {
  await browser.close()
  await server.stop()
  await model.close()
  await carrier.close()
  rmSync(folder, { recursive: true, force: true })
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const freePort = async (): Promise<number> => {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}

const visit = async (path: string, who: string, looks: Looks = {}) => {
  const cookie = { name: "max_session", value: cookies.get(who)!, url: server.url }
  const watched = await openPage(browser, server.url, { ...looks, cookie })
  await watched.page.goto(`${server.url}${path}`)
  await watched.page.locator("main h1").waitFor()
  return watched
}

const looksRight = async (page: Page, name: string, { theme, width }: { theme: string; width: number }) => {
  expect(await accessibilityFaults(page)).toEqual([])
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true)
  const shots = process.env["MAX_SCREENSHOTS"]
  if (shots === undefined) return
  await page.evaluate("scrollTo(0, 0)")
  await page.screenshot({
    path: `${shots}/admin-${name}-${width > 400 ? "desktop" : "phone"}-${theme}.png`,
    fullPage: true
  })
}

/** Moves the focus with the keyboard alone until it is on the element with this name. */
const tabTo = async (page: Page, role: "textbox" | "button" | "spinbutton", name: string) => {
  const wanted = page.getByRole(role, { name, exact: true })
  for (let presses = 0; presses < 60; presses++) {
    if ((await wanted.and(page.locator(":focus")).count()) === 1) return
    await page.keyboard.press("Tab")
  }
  throw new Error(`The keyboard doesn't reach ${name}`)
}

describe.each([
  { width: 1200, theme: "light" },
  { width: 390, theme: "dark" }
] as const)("an administrator at $width px, $theme", (looks) => {
  it("sets the organization's key with the keyboard: a refused one isn't saved, and a saved one never comes back", async () => {
    const { close, faults, page } = await visit("/admin#/model", "yuki", looks)
    await page.getByText("Basic mode, without a model").waitFor()
    await looksRight(page, "model-none", looks)
    const field = page.getByLabel("Key", { exact: true })
    await field.focus()
    await page.keyboard.type("sk-ant-wrong-0123456789abcdef")
    await page.keyboard.press("Enter")
    await expect.poll(() => page.getByRole("alert").innerText()).toContain("Anthropic refused this key.")
    await looksRight(page, "model-refused", looks)
    await field.fill("")
    await field.focus()
    await page.keyboard.type(KEY)
    await tabTo(page, "button", "Try and save the key")
    await page.keyboard.press("Enter")
    await page.getByText("…7f3a").waitFor()
    await expect.poll(() => page.locator("[role=status]").last().innerText()).toBe("Anthropic took the key.")
    expect(await page.content()).not.toContain(KEY)
    expect(await page.getByLabel("Key", { exact: true }).inputValue()).toBe("")
    await tabTo(page, "spinbutton", "Questions per day, at most")
    await page.keyboard.type("200")
    await page.keyboard.press("Enter")
    await expect.poll(() => page.locator("[role=status]").last().innerText()).toBe("Saved.")
    await looksRight(page, "model", looks)
    await page.reload()
    await expect.poll(() => page.getByLabel("Questions per day, at most").inputValue()).toBe("200")

    await page.getByLabel("Where it is").selectOption("anthropic")
    await page.getByRole("button", { name: "Try and save the key" }).click()
    await page.getByText("(kept by the operator)").waitFor()
    await page.getByRole("button", { name: "Remove" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Remove the key" }).click()
    await page.getByText("Basic mode, without a model").waitFor()
    await page.getByLabel("Questions per day, at most").fill("")
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await expect.poll(() => page.locator("[role=status]").last().innerText()).toBe("Saved.")
    expect(faults).toEqual([])
    await close()
  })

  it("adds a number after Twilio confirmed it, says whom it answers, and removes it", async () => {
    const { close, faults, page } = await visit("/admin#/phone", "yuki", looks)
    await page.getByText("There is no number yet.").waitFor()
    await looksRight(page, "phone-none", looks)
    await page.getByLabel("Number", { exact: true }).fill("512-555-0100")
    await page.getByLabel("Account").fill(ACCOUNT)
    await page.getByLabel("Auth token").fill("wrong-0123456789")
    await page.keyboard.press("Enter")
    await expect.poll(() => page.getByRole("alert").innerText()).toContain("Twilio refused this account or its token.")
    await page.getByLabel("Auth token").fill(TOKEN)
    await page.keyboard.press("Enter")
    await page.getByText("+15125550100").first().waitFor()
    await expect.poll(() => page.getByText(`${server.url}/v1/sms/twilio`).count()).toBe(1)
    await page.getByLabel("Whom people without access are told to ask").fill("Jo, 512-555-0199")
    await page.getByLabel("People whose number is in your data").selectOption("member")
    await page.getByText("A sender who can forge the number").waitFor()
    await page.getByLabel("Members confirm single changes by text").check()
    await looksRight(page, "phone", looks)
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await expect.poll(() => page.locator("[role=status]").last().innerText()).toBe("Saved.")
    await page.reload()
    await expect.poll(() => page.getByLabel("People whose number is in your data").inputValue()).toBe("member")
    await page.getByLabel("People whose number is in your data").selectOption("get no answers")
    await page.getByLabel("Members confirm single changes by text").uncheck()
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await expect.poll(() => page.getByRole("button", { name: "Save", exact: true }).isDisabled()).toBe(true)
    await page.getByRole("button", { name: "Remove" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Remove the number" }).click()
    await page.getByText("There is no number yet.").waitFor()
    expect(faults).toEqual([])
    await close()
  })
})

describe("an administrator without the power over secrets", () => {
  it("has neither page", async () => {
    const { close, page } = await visit("/admin#/model", "amina")
    await page.getByRole("heading", { level: 1, name: "There is no such page" }).waitFor()
    for (const name of ["Model", "Phone"]) expect(await page.getByRole("link", { name, exact: true }).count()).toBe(0)
    await close()
  })
})
