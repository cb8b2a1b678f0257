/**
 * An office without a terminal: from an empty database to a colleague's first answer and through what an administrator does
 * afterwards. After `max serve` every step is a page; only the code of the first link is read from where the server left it.
 */
import { Effect, Exit, Scope } from "effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Browser, Locator, Page } from "playwright-core"
import { afterAll, beforeAll, expect, it } from "vitest"
import { ask, askAndWait, device, openBrowser, openPage } from "../support/browser.ts"
import { ACCOUNT, startCarrier, TOKEN } from "../support/carrier.ts"
import { serveMax } from "../support/cli.ts"
import { migratedDatabase } from "../support/database.ts"
import { type MessagesServer, says, startMessages } from "../support/messages.ts"
import { DESKTOP, look, PHONE } from "../support/staged.ts"
import { until } from "../support/until.ts"

const KEY = "sk-ant-canary-0123456789abcdef-7f3a"
const EMAIL = "What is the e-mail address of Nia Okoro?"
const ROWS = ["Full Name,E-mail,Status", "Nia Okoro,nia@harbor.example,Customer", "Taro Mori,taro@harbor.example,Lead"]

let browser: Browser
let model: MessagesServer
let carrier: Awaited<ReturnType<typeof startCarrier>>

beforeAll(async () => {
  browser = await openBrowser()
  model = await startMessages(() => says("Answered by the model."))
  carrier = await startCarrier()
})
afterAll(async () => {
  await browser.close()
  await model.close()
  await carrier.close()
})

const serving = async (use: (link: string) => Promise<void>) => {
  const scope = Scope.makeUnsafe()
  const folder = mkdtempSync(join(tmpdir(), "max-journey-"))
  const server = await serveMax({
    DATABASE_URL: await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))),
    MAX_STATE_DIR: folder,
    MAX_HTTP_PORT: "0",
    ANTHROPIC_BASE_URL: model.url,
    MAX_TWILIO_URL: carrier.url
  })
  try {
    await until(() => /There is no organization yet/.test(server.said()))
    await use(readFileSync(join(folder, "setup-link"), "utf8").trim())
  } finally {
    server.end("SIGTERM")
    await server.ended
    rmSync(folder, { recursive: true, force: true })
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

const press = (within: Page | Locator, name: string | RegExp) =>
  within.getByRole("button", { name, exact: true }).click()
const inDialog = (page: Page, name: string) => press(page.getByRole("dialog"), name)
const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true }).waitFor()

it.each([DESKTOP, PHONE])(
  "An administrator goes from an empty database to a colleague's first answer, and on, in a browser alone ($width px, $theme)",
  (looks) =>
    serving(async (link) => {
      const { origin } = new URL(link)
      const administrator = await openPage(browser, origin, looks)
      const { page } = administrator
      page.setDefaultTimeout(60_000)
      const open = async (place: string, title: string) => {
        await page.goto(`${origin}/admin#/${place}`)
        await heading(page, title)
      }

      const publish = async () => {
        await press(page, /^Publish version/)
        await inDialog(page, "Publish")
        await expect.poll(() => page.getByText("Not published").count()).toBe(0)
      }

      // The organization and its first administrator, who comes in again with a passkey.
      await page.goto(link)
      await heading(page, "Set Max up")
      await page.getByLabel("Name", { exact: true }).fill("Harbor Supply")
      await page.getByLabel("Country").fill("us")
      await page.getByLabel("Time zone").fill("America/New_York")
      await page.getByLabel("Your name").fill("Ada Park")
      await page.getByLabel("Your e-mail address").fill("ada@harbor.example")
      await look(page, "journey-organization", looks)
      await page.keyboard.press("Enter")
      await heading(page, "Harbor Supply is set up.")
      await device(page)
      await press(page, "Add a passkey")
      await page.getByText("The passkey is added.").waitFor()

      // Data, from a file with headers of its own.
      await page.getByRole("link", { name: "Import a file" }).click()
      await page
        .getByLabel("Drop a file here")
        .setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer: Buffer.from(ROWS.join("\n")) })
      await press(page, "Check the file")
      await press(page, "Import 2 rows")
      await page.getByRole("region", { name: "Imported" }).waitFor()
      await look(page, "journey-import", looks)

      // Who sees what: members get the e-mail addresses of people, with one cell of the grid.
      await open("policy/edit", "Policy")
      const grid = page.getByRole("region", { name: "Grid", exact: true })
      await grid.getByRole("combobox", { name: "Type", exact: true }).selectOption("people")
      await grid.getByLabel("E-mail, member", { exact: true }).selectOption("all")
      await page.getByText("Not published").waitFor()
      await press(page, "Check")
      await page.getByRole("region", { name: "What changes" }).getByText("member").first().waitFor()
      await look(page, "journey-policy", looks)
      await publish()

      // A colleague, who opens the link in a browser of their own and asks.
      await open("people", "People")
      await press(page, "Invite people")
      const invite = page.getByRole("dialog")
      await invite.getByLabel("E-mail addresses or phone numbers, one per line").fill("Bo Lind <bo@harbor.example>")
      await invite.getByLabel("member", { exact: true }).check()
      await inDialog(page, "Invite")
      const invitation = await invite.locator(".links code").innerText()
      await look(page, "journey-invitation", looks)
      await inDialog(page, "Done")
      const colleague = await openPage(browser, origin, looks)
      colleague.page.setDefaultTimeout(60_000)
      await colleague.page.goto(invitation)
      await askAndWait(colleague.page, "What is the status of Nia Okoro?")
      await colleague.page.locator(".turn[aria-busy=false] .answer").getByText("Customer").first().waitFor()
      await look(colleague.page, "journey-answer", looks)
      await askAndWait(colleague.page, EMAIL)
      await colleague.page.locator(".turn").last().getByText("nia@harbor.example").first().waitFor()

      // The policy before is put in force again: from the next question on the colleague doesn't see the address.
      await open("policy/history", "Policy")
      await page
        .getByRole("link", { name: /^Restore/ })
        .first()
        .click()
      await page.getByText("Not published").waitFor()
      await press(page, "Check")
      await publish()
      await askAndWait(colleague.page, EMAIL)
      expect(await colleague.page.locator(".turn").last().innerText()).not.toContain("nia@harbor.example")

      // The model's key and the phone line, each tried before it is kept.
      await open("model", "Model")
      await page.getByLabel("Key", { exact: true }).fill(KEY)
      await press(page, "Try and save the key")
      await page.getByText("…7f3a").waitFor()
      await open("phone", "Phone")
      await page.getByLabel("Number", { exact: true }).fill("512-555-0100")
      await page.getByLabel("Account").fill(ACCOUNT)
      await page.getByLabel("Auth token").fill(TOKEN)
      await page.keyboard.press("Enter")
      await page.getByText("+15125550100").first().waitFor()
      await look(page, "journey-phone", looks)
      await askAndWait(colleague.page, "And who is Taro?")
      await colleague.page.locator(".turn").last().getByText("Answered by the model.").waitFor()

      // Roles, a suspension that counts from the next question on, and a link for another browser.
      await open("people", "People")
      await page.getByRole("link", { name: "Bo Lind" }).click()
      await press(page, "Change roles")
      await page.getByRole("dialog").getByLabel("admin", { exact: true }).check()
      await inDialog(page, "Change roles")
      await expect.poll(() => page.locator("dd").filter({ hasText: "Change roles" }).innerText()).toContain("admin")
      await press(page, "Suspend")
      await inDialog(page, "Suspend")
      await page.getByRole("button", { name: "Restore access", exact: true }).waitFor()
      await ask(colleague.page, "people")
      await colleague.page.getByText("You have no access here").first().waitFor()
      await press(page, "Restore access")
      await inDialog(page, "Restore access")
      await page.getByRole("button", { name: "Suspend", exact: true }).waitFor()
      await press(page, "Sign-in link")
      await press(page, "Create the link")
      const again = await page.getByRole("dialog").locator("code").innerText()
      await look(page, "journey-person", looks)
      await page.keyboard.press("Escape")
      const returned = await openPage(browser, origin, looks)
      returned.page.setDefaultTimeout(60_000)
      await returned.page.goto(again)
      await askAndWait(returned.page, "And who is Taro?")
      await returned.page.locator(".turn").last().getByText("Answered by the model.").waitFor()

      // Everything is counted and on record.
      await open("usage", "Usage")
      await page.getByText("Bo Lind").first().waitFor()
      await look(page, "journey-usage", looks)
      await open("health", "Health")
      await page.getByText("Connection", { exact: true }).waitFor()
      await open("audit", "Audit")
      const table = page.getByRole("table").first()
      await table.waitFor()
      await look(page, "journey-audit", looks)
      const recorded = await table.innerText()
      for (const words of [/Ada Park/, /policy/i, /phone|number/i, /suspended/]) expect(recorded).toMatch(words)
      expect(recorded).not.toContain(KEY)

      expect([administrator, colleague, returned].flatMap(({ faults }) => faults)).toEqual([])
      for (const { close } of [administrator, colleague, returned]) await close()
    })
)
