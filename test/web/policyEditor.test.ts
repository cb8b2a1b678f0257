/** An administrator edits the policy as a file in the browser: problems, what would change, publication and restoring. */
import { Effect, Exit, Scope } from "effect"
import type { Browser, Locator, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import type { PolicyDocument } from "../../src/permissions/policyDocument.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { administered } from "../support/administered.ts"
import { accessibilityFaults, type Looks, openBrowser, openPage, type Watched } from "../support/browser.ts"
import { migratedDatabase } from "../support/database.ts"
import { startServer, type TestServer } from "../support/http.ts"

const scope = Scope.makeUnsafe()
let server: TestServer
let browser: Browser
let harbor: Effect.Success<ReturnType<typeof administered>>
const cookies = new Map<string, string>()
const opened: Array<Watched> = []

beforeAll(async () => {
  server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))))
  harbor = await server.run(administered({ slug: "harbor" }))
  for (const name of ["yuki", "amina"]) cookies.set(name, await server.run(harbor.session(name)))
  browser = await openBrowser()
})

afterAll(async () => {
  await browser.close()
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

afterEach(async () => {
  const faults = opened.flatMap((one) => one.faults)
  for (const { close } of opened.splice(0)) await close()
  expect(faults).toEqual([])
})

const visit = async (place: string, looks: Looks = {}, who = "yuki"): Promise<Page> => {
  const cookie = { name: "max_session", value: cookies.get(who)!, url: server.url }
  const watched = await openPage(browser, server.url, { ...looks, cookie })
  opened.push(watched)
  await watched.page.goto(`${server.url}/admin${place}`)
  await watched.page.locator("main h1").waitFor()
  return watched.page
}

const inForce = () => server.run(Effect.flatMap(Policies, (policies) => policies.current(harbor.organization)))
const publish = async (change: (file: PolicyDocument) => unknown) => {
  const { document } = await inForce()
  const text = JSON.stringify(change(JSON.parse(document) as PolicyDocument), null, 2)
  await server.run(Effect.flatMap(Policies, (policies) => policies.publish(harbor.organization, text, "operator")))
}

const editor = (page: Page) => page.getByLabel("Policy file (JSON)")
const press = (within: Page | Locator, name: string) => within.getByRole("button", { name, exact: true }).click()
const section = (page: Page, name: string) => page.getByRole("region", { name, exact: true })

const NO_STATUS = {
  id: "no-status",
  effect: "deny",
  role: "member",
  action: "read",
  type: "people",
  columns: ["status"]
} as const

const withNoStatus = (text: string) => {
  const file = JSON.parse(text) as PolicyDocument
  const tests = [{ as: `lena@${harbor.host}`, read: "people", hides: ["status"] }]
  return JSON.stringify({ ...file, rules: [...file.rules, NO_STATUS], tests }, null, 2)
}

/** With MAX_SCREENSHOTS=docs/images the pictures of the docs are taken. */
const shoot = async (page: Page, name: string, { theme, width }: Looks) => {
  const folder = process.env["MAX_SCREENSHOTS"]
  if (folder === undefined) return
  const path = `${folder}/admin-${name}-${width! > 400 ? "desktop" : "phone"}-${theme}.png`
  await page.screenshot({ path, fullPage: true })
}

const LOOKS = [
  { width: 1280, height: 900, theme: "light" },
  { width: 390, height: 800, theme: "dark" }
] as const

describe("the policy as a file on the administration page", () => {
  it.each(LOOKS)(
    "shows problems at their lines, and what a file would change ($width pixels, $theme)",
    async (looks) => {
      const page = await visit("#/policy/edit", looks)
      const { document } = await inForce()
      await expect.poll(() => editor(page).inputValue()).toBe(document)
      const wrong = withNoStatus(document).replace(
        '"role": "member",\n      "action": "read"',
        '"role": "membr",\n      "action": "read"'
      )
      await editor(page).fill(wrong)
      await press(page, "Check")
      const problem = page.locator(".remarks li").first()
      await problem.getByText('There is no role "membr"').waitFor()
      const line = wrong.split("\n").findIndex((text) => text.includes("membr")) + 1
      await problem.getByRole("button", { name: `Line ${line}` }).click()
      const selected = await editor(page).evaluate(
        (area: { value: string; selectionStart: number; selectionEnd: number }) =>
          area.value.slice(area.selectionStart, area.selectionEnd)
      )
      expect(selected).toContain('"role": "membr"')
      expect(await accessibilityFaults(page)).toEqual([])

      await editor(page).fill(withNoStatus(document))
      await page.getByText("The text has changed. Check it again").waitFor()
      await press(page, "Check")
      await section(page, "What changes").getByText("no-status").waitFor()
      await section(page, "Tests").getByText("passes").waitFor()
      const gains = section(page, "Who gains and loses")
      await gains.getByText("status lost on 8 rows").first().waitFor()
      expect(await gains.getByRole("heading", { level: 3 }).allInnerTexts()).toEqual(["member", "manager"])
      await page.getByRole("textbox", { name: "Who" }).fill("lena")
      await press(page, "Look")
      const look = page.getByRole("region", { name: "What Lena Brandt would see" })
      await look.getByText(/^people: all 8/).waitFor()
      expect(await look.innerText()).not.toContain("status")
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(looks.width)
      expect(await accessibilityFaults(page)).toEqual([])
      await shoot(page, "policy-edit", looks)

      // The text is kept while other pages are looked at, and nothing has been published.
      await page.getByRole("link", { name: "History" }).click()
      await page.getByRole("table").waitFor()
      await page.getByRole("link", { name: "Edit", exact: true }).click()
      await expect.poll(() => editor(page).inputValue()).toBe(withNoStatus(document))
      await press(page, "Discard my text")
      await press(page.getByRole("dialog"), "Discard")
      await expect.poll(() => editor(page).inputValue()).toBe(document)
      expect(await inForce()).toEqual({ document, version: 2 })
    }
  )

  it.each(LOOKS)("is also a grid that edits the same file ($width pixels, $theme)", async (looks) => {
    const page = await visit("#/policy/edit", looks)
    const { document, version } = await inForce()
    const grid = section(page, "Grid")
    await grid.getByRole("combobox", { name: "Type", exact: true }).selectOption("people")
    const cell = (name: string) => grid.getByLabel(name, { exact: true })
    const rules = async () => (JSON.parse(await editor(page).inputValue()) as PolicyDocument).rules
    const kept = (JSON.parse(document) as PolicyDocument).rules
    await cell("Status, member").waitFor()
    await shoot(page, "policy-grid", looks)
    expect(await accessibilityFaults(page)).toEqual([])
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(looks.width)

    // With the keyboard alone; nothing waits for the answer to the edit before.
    await grid.getByLabel("Roles may").selectOption("update")
    await cell("Name, member").focus()
    await page.keyboard.press("ArrowDown")
    await cell("Status, member").selectOption("own")
    await expect.poll(rules).toEqual([
      ...kept,
      {
        id: "member-update-own-people",
        effect: "allow",
        role: "member",
        action: "update",
        type: "people",
        columns: ["name", "status"],
        where: { owner: "$me" }
      }
    ])
    expect(await cell("Name, member").inputValue()).toBe("own")
    expect(await accessibilityFaults(page)).toEqual([])

    // The grid follows the file, and says when it can't read it.
    await editor(page).fill("{")
    await grid.getByText("The file has 1 problem").waitFor()
    await editor(page).fill(withNoStatus(document))
    await grid.getByLabel("Roles may").selectOption("read")
    await expect.poll(() => grid.innerText()).toContain("the file denies some")
    await grid.getByText(/that the grid can't say/).click()
    const rule = grid.locator(".remarks li").filter({ hasText: "no-status" })
    expect(await rule.innerText()).toContain("deny member may not see status of any people")
    await rule.getByRole("button").click()
    expect(await page.locator(":focus").getAttribute("id")).toBe(await editor(page).getAttribute("id"))
    await cell("Status, manager").selectOption("none")
    expect((await rules()).map(({ id }) => id)).toContain("no-status")
    expect(await accessibilityFaults(page)).toEqual([])
    expect(await inForce()).toEqual({ document, version })
    await press(page, "Discard my text")
    await press(page.getByRole("dialog"), "Discard")
    await expect.poll(() => editor(page).inputValue()).toBe(document)
  })

  it("publishes with the keyboard alone, and restores the version before from the history", async () => {
    const page = await visit("#/policy/edit")
    const before = await inForce()
    await editor(page).fill(withNoStatus(before.document))
    const focusOn = async (name: string) => {
      for (let tabs = 0; tabs < 60; tabs++) {
        const focused = page.locator(":focus")
        if ((await focused.count()) > 0 && (await focused.innerText()) === name) return
        await page.keyboard.press("Tab")
      }
      throw new Error(`The keyboard doesn't reach ${name}.`)
    }
    await editor(page).focus()
    await focusOn("Check")
    await page.keyboard.press("Enter")
    await section(page, "Who gains and loses").getByText("status lost").first().waitFor()
    await focusOn(`Publish version ${before.version + 1}`)
    await page.keyboard.press("Enter")
    await page.getByRole("dialog").waitFor()
    await focusOn("Publish")
    await page.keyboard.press("Enter")
    await page.getByText(`Version ${before.version + 1} in force`).waitFor()
    expect(await inForce()).toEqual({ version: before.version + 1, document: withNoStatus(before.document) })
    await expect.poll(() => page.getByText("Not published").count()).toBe(0)

    await page.getByRole("link", { name: "History" }).click()
    await page.getByRole("link", { name: `Restore version ${before.version}` }).click()
    await expect.poll(() => editor(page).inputValue()).toBe(before.document)
    await press(page, "Check")
    await press(page, `Publish version ${before.version + 2}`)
    await press(page.getByRole("dialog"), "Publish")
    await page.getByText(`Version ${before.version + 2} in force`).waitFor()
    expect(await inForce()).toEqual({ version: before.version + 2, document: before.document })
    await expect.poll(() => editor(page).inputValue()).toBe(before.document)
  })

  it("says what another administrator has published meanwhile, and keeps the text", async () => {
    const page = await visit("#/policy/edit")
    const before = await inForce()
    const mine = withNoStatus(before.document)
    await editor(page).fill(mine)
    await press(page, "Check")
    await page.getByRole("button", { name: /^Publish version/ }).waitFor()
    await publish((file) => ({ ...file, roles: { ...file.roles, guest: {} } }))
    await press(page, `Publish version ${before.version + 1}`)
    await press(page.getByRole("dialog"), "Publish")
    const notice = section(page, `Version ${before.version + 1} was published meanwhile`)
    await notice.getByText("guest").waitFor()
    expect(await editor(page).inputValue()).toBe(mine)
    expect(await accessibilityFaults(page)).toEqual([])
    await press(page, `Continue from version ${before.version + 1}`)
    await press(page, "Check")
    // What publishing would undo of the other's changes is among the changes.
    await section(page, "What changes").getByText("guest").waitFor()
    await press(page, `Publish version ${before.version + 2}`)
    await press(page.getByRole("dialog"), "Publish")
    await page.getByText(`Version ${before.version + 2} in force`).waitFor()
    expect((await inForce()).document).toBe(mine)
  })

  it("names the commands, and offers no editor, to an administrator without the power", async () => {
    const page = await visit("#/policy", {}, "amina")
    await page.getByText("max policy publish policy.json").first().waitFor()
    expect(await page.getByRole("link", { name: "Edit", exact: true }).count()).toBe(0)
    await page.goto(`${server.url}/admin#/policy/edit`)
    expect(await editor(page).count()).toBe(0)
  })
})
