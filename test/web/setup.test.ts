/** The first run in a real browser: from an empty database to the first answer, without a terminal after `max serve`. */
import { Effect, Exit, Scope } from "effect"
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { generate } from "../../src/services/import/sample/generate.ts"
import { accessibilityFaults, askAndWait, device, openBrowser, openPage } from "../support/browser.ts"
import { runMax, serveMax } from "../support/cli.ts"
import { migratedDatabase } from "../support/database.ts"
import { until } from "../support/until.ts"

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

/** A person of the sample data with a name of their own; the file names the same one. */
const KNOWN = generate(new Date()).people.find(
  ({ name, status }, _, all) => status === "customer" && all.filter((other) => other["name"] === name).length === 1
) as { readonly name: string; readonly status: string }

/** `max serve` on an empty database, whose output isn't a terminal, and the link that it offers. */
const serving = async (use: (link: string, env: Readonly<Record<string, string>>) => Promise<void>) => {
  const scope = Scope.makeUnsafe()
  const folder = mkdtempSync(join(tmpdir(), "max-setup-"))
  const env = {
    DATABASE_URL: await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))),
    MAX_STATE_DIR: folder,
    MAX_HTTP_PORT: "0"
  }
  const server = await serveMax(env)
  try {
    await until(() => /There is no organization yet/.test(server.said()))
    const path = join(folder, "setup-link")
    expect(server.said()).toContain(path)
    expect(server.said()).not.toContain("max_setup_")
    expect(statSync(path).mode & 0o777).toBe(0o600)
    await use(readFileSync(path, "utf8").trim(), env)
  } finally {
    server.end("SIGTERM")
    await server.ended
    rmSync(folder, { recursive: true, force: true })
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

const shoot = async (page: Page, name: string) => {
  const folder = process.env["MAX_SCREENSHOTS"]
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
}

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click()

const fillIn = async (page: Page, organization: string, email: string) => {
  await page.getByLabel("Name", { exact: true }).fill(organization)
  await page.getByLabel("Country").fill("us")
  await page.getByLabel("Time zone").fill("America/New_York")
  await page.getByLabel("Your name").fill("Ada Park")
  await page.getByLabel("Your e-mail address").fill(email)
}

const looksRight = async (page: Page) => {
  expect(await accessibilityFaults(page)).toEqual([])
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true)
}

const HEADINGS: Readonly<Record<string, string>> = {
  data: "Bring your data",
  policy: "Decide who sees what",
  people: "Invite people",
  answer: "Ask"
}

describe("the first run", () => {
  it.each([
    { theme: "light", width: 1280 },
    { theme: "dark", width: 390 }
  ] as const)(
    "leads from an empty database to a passkey and the first answer ($theme, $width px)",
    ({ theme, width }) =>
      serving(async (link, env) => {
        const { origin } = new URL(link)
        expect(new URL(link).hostname).toBe("localhost")
        const { close, faults, page } = await openPage(browser, origin, { theme, width })
        await page.goto(link)
        await page.getByRole("heading", { name: "Set Max up" }).waitFor()
        // The code stays in no history or address bar.
        expect(page.url()).toBe(`${origin}/setup`)
        await looksRight(page)
        await fillIn(page, "Harbor Supply", "ada@harbor.example")
        await shoot(page, `setup-${width}-${theme}`)
        // With the keyboard alone.
        await page.keyboard.press("Enter")
        await page.getByRole("heading", { name: "Harbor Supply is set up." }).waitFor()
        await page.getByRole("button", { name: "Add a passkey" }).waitFor()
        await looksRight(page)
        await shoot(page, `setup-next-${width}-${theme}`)
        await device(page)
        await press(page, "Add a passkey")
        await page.getByText("The passkey is added.").waitFor()
        await page.getByRole("link", { name: "Ask the first question" }).click()
        await page.getByLabel("Ask Max").fill("What is the e-mail address of Ada Park?")
        await page.keyboard.press("Enter")
        await page.locator(".turn[aria-busy=false] .answer").getByText("ada@harbor.example").first().waitFor()

        await page.context().clearCookies()
        await page.goto(`${origin}/sign-in`)
        await press(page, "Sign in with a passkey")
        await page.getByLabel("Ask Max").waitFor()
        expect(faults).toEqual([])
        await close()

        expect(await runMax(["setup", "link"], env)).toMatchObject({
          code: 1,
          stderr: expect.stringContaining("is set up already")
        })
      })
  )

  it("is of one person: the second with the same link is told, and so is a visitor without one", () =>
    serving(async (link) => {
      const { origin } = new URL(link)
      const first = await openPage(browser, origin)
      const second = await openPage(browser, origin, { width: 390 })
      for (const { page } of [first, second]) await page.goto(link)
      await fillIn(first.page, "Harbor Supply", "ada@harbor.example")
      await fillIn(second.page, "Cedar Labs", "bo@cedar.example")
      await press(first.page, "Set up and sign in")
      await first.page.getByRole("heading", { name: "Harbor Supply is set up." }).waitFor()
      await press(second.page, "Set up and sign in")
      await second.page.getByText("used before or has expired").waitFor()
      // What was typed is still there.
      expect(await second.page.getByLabel("Name", { exact: true }).inputValue()).toBe("Cedar Labs")
      await looksRight(second.page)
      await second.page.goto(`${origin}/setup`)
      await second.page.getByRole("heading", { name: "Open the set-up link." }).waitFor()
      await looksRight(second.page)
      expect([...first.faults, ...second.faults]).toEqual([])
      for (const { close } of [first, second]) await close()
    }))

  it.each([
    { data: "a file", theme: "dark", width: 390 },
    { data: "sample data", theme: "light", width: 1280 }
  ] as const)(
    "leads with $data to a colleague's first answer in another browser, without a terminal ($theme, $width px)",
    ({ data, theme, width }) =>
      serving(async (link, env) => {
        const { origin } = new URL(link)
        const { close, faults, page } = await openPage(browser, origin, { theme, width })
        /** The steps that the list shows as done, which are those of the command. */
        const done = async (...steps: ReadonlyArray<string>) => {
          await page.goto(`${origin}/setup`)
          await page.getByRole("heading", { name: "Cedar Labs is set up." }).waitFor()
          const shown = page.locator("li h2", { has: page.locator(".done") })
          await expect.poll(() => shown.allInnerTexts()).toEqual(steps.map((step) => `${HEADINGS[step]} done`))
          const { stdout } = await runMax(["setup", "steps", "--json"], env)
          const taken = Object.entries(JSON.parse(stdout) as Readonly<Record<string, boolean>>)
          expect(taken.filter(([, isTaken]) => isTaken).map(([step]) => step)).toEqual(steps)
        }
        await page.goto(link)
        await fillIn(page, "Cedar Labs", "ada@cedar.example")
        await press(page, "Set up and sign in")
        await page.getByRole("heading", { name: "Cedar Labs is set up." }).waitFor()
        await done()

        if (data === "a file") {
          await page.getByRole("link", { name: "Import a file" }).click()
          const rows = ["Full Name,E-mail,Status", `${KNOWN.name},nia@cedar.example,${KNOWN.status}`]
          await page
            .getByLabel("Drop a file here")
            .setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer: Buffer.from(rows.join("\n")) })
          await press(page, "Check the file")
          await press(page, "Import 1 row")
          await page.getByRole("region", { name: "Imported" }).waitFor()
        } else {
          await press(page, "Add sample data")
          await page.getByText("Added: 2,000 people").waitFor({ timeout: 90_000 })
        }
        await looksRight(page)
        await shoot(page, `setup-data-${width}-${theme}`)

        await done("data")
        await page.getByRole("link", { name: "paste a key" }).click()
        await page.getByRole("heading", { name: "Model", exact: true }).waitFor()
        await done("data")
        await page.getByRole("link", { name: "The policy" }).click()
        await page.getByRole("heading", { name: "member", exact: true }).waitFor()
        await page.getByRole("link", { name: "Edit", exact: true }).click()
        const editor = page.getByLabel("Policy file (JSON)")
        const policy = await editor.inputValue()
        await editor.fill(policy.replace(/("id": "member-companies",[^}]*)"columns": "\*"/, '$1"columns": ["name"]'))
        await press(page, "Check")
        await page.getByRole("button", { name: /^Publish version/ }).click()
        await page.getByRole("dialog").getByRole("button", { name: "Publish", exact: true }).click()
        await expect.poll(() => page.getByText("Not published").count()).toBe(0)
        await done("data", "policy")
        await page.getByRole("link", { name: "Invite colleagues" }).click()
        await press(page, "Invite people")
        const dialog = page.getByRole("dialog")
        await dialog.getByLabel("E-mail addresses or phone numbers, one per line").fill("Bo Lind <bo@cedar.example>")
        await dialog.getByLabel("member", { exact: true }).check()
        await dialog.getByRole("button", { name: "Invite", exact: true }).click()
        const invitation = await dialog.locator(".links code").innerText()

        await done("data", "policy", "people")
        const colleague = await openPage(browser, origin, { theme, width })
        await colleague.page.goto(invitation)
        await askAndWait(colleague.page, `What is the status of ${KNOWN.name}?`)
        await colleague.page.locator(".turn[aria-busy=false] .answer").getByText(KNOWN.status).first().waitFor()
        await looksRight(colleague.page)
        await done("data", "policy", "people", "answer")
        await looksRight(page)
        await shoot(page, `setup-done-${width}-${theme}`)
        expect([...faults, ...colleague.faults]).toEqual([])
        for (const one of [close, colleague.close]) await one()
      })
  )

  it("has a command that makes a new link, which works on the same server", () =>
    serving(async (_, env) => {
      const { code, stdout } = await runMax(["setup", "link", "--json"], env)
      expect(code).toBe(0)
      expect((JSON.parse(stdout) as { link: string }).link).toMatch(/^http:\/\/localhost:\d+\/setup#max_setup_/)
    }))
})
