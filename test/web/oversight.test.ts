/** The administrators' pages of usage and health. */
import { Effect, Exit, Scope } from "effect"
import { mkdirSync } from "node:fs"
import { afterAll, beforeAll, expect, it } from "vitest"
import type { Browser, Page } from "playwright-core"
import { todayIn } from "../../src/domain/values.ts"
import { Database } from "../../src/database/Database.ts"
import { UnclearQuestions } from "../../src/services/administration/UnclearQuestions.ts"
import { recordBackup } from "../../src/services/operations/backupRecord.ts"
import { Organizations } from "../../src/services/organizations/Organizations.ts"
import { type Outcome, Spending } from "../../src/services/conversations/Spending.ts"
import { administered } from "../support/administered.ts"
import { accessibilityFaults, openBrowser, openPage } from "../support/browser.ts"
import { migratedDatabase } from "../support/database.ts"
import { startServer, type TestServer } from "../support/http.ts"

const scope = Scope.makeUnsafe()
let server: TestServer
let browser: Browser
let harbor: Effect.Success<ReturnType<typeof administered>>

beforeAll(async () => {
  server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))), {
    prices: new Map([["claude-haiku-5-5", { input: 1, output: 5 }]])
  })
  harbor = await server.run(administered({ slug: "harbor" }))
  await server.run(ask(harbor))
  browser = await openBrowser()
})
afterAll(async () => {
  await browser.close()
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

/** Questions of two people on two days. */
const ask = Effect.fnUntraced(function* ({ idOf, organization }: typeof harbor) {
  const { settle } = yield* Spending
  const one = (name: string, daysAgo: number, model: string, outcome: Outcome) => {
    const today = Date.parse(`${todayIn(organization.timeZone)}T00:00:00Z`)
    const day = new Date(today - daysAgo * 86_400_000).toISOString().slice(0, 10)
    const tokens = model === "basic" ? 0 : 1_200_000
    const spent = { model, inputTokens: tokens, outputTokens: tokens / 10 }
    return settle({ organizationId: organization.id, anchorId: idOf(name) }, { day, tokens: 0 }, spent, outcome)
  }
  for (const outcome of ["answered", "answered", "declined", "failed"] as const)
    yield* one("lena", 0, "claude-haiku-5-5", outcome)
  yield* one("theo", 3, "basic", "answered")
  yield* one("theo", 40, "basic", "stopped")
})

const LOOKS = [
  ["dark", 1280],
  ["light", 1280],
  ["light", 390],
  ["dark", 390]
] as const

/** Opens a page as this administrator at each width, in light and dark. */
const inEachLook = async (
  place: string,
  name: string,
  use: (page: Page) => Promise<void>,
  afterwards?: () => Promise<unknown>
) => {
  for (const [theme, width] of LOOKS) {
    const cookie = { name: "max_session", value: await server.run(harbor.session(name)), url: server.url }
    const { close, faults, page } = await openPage(browser, server.url, { theme, width, cookie })
    await page.goto(`${server.url}/admin#/people`)
    await page.getByRole("link", { name: place, exact: true }).click()
    await use(page)
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width)
    expect(await accessibilityFaults(page)).toEqual([])
    expect(faults).toEqual([])
    const folder = process.env["MAX_SCREENSHOTS"]
    if (folder !== undefined && name === "yuki") {
      mkdirSync(folder, { recursive: true })
      await page.evaluate("scrollTo(0, 0)")
      const device = width === 390 ? "phone" : "desktop"
      await page.screenshot({ path: `${folder}/admin-${place.toLowerCase()}-${device}-${theme}.png`, fullPage: true })
    }
    await close()
    await afterwards?.()
  }
}

const rowsOf = async (page: Page, table: string) => {
  const rows = page.getByRole("table", { name: table }).getByRole("row")
  await rows.first().waitFor({ state: "attached" })
  return (await rows.allInnerTexts()).slice(1).map((text) => text.replaceAll(/\s+/g, " ").trim())
}

it("shows questions, outcomes and costs by day, person and model with totals, for a chosen period", async () => {
  await inEachLook("Usage", "yuki", async (page) => {
    await page.getByRole("table", { name: "Usage by day" }).waitFor()
    const [today, earlier, total] = await rowsOf(page, "Usage by day")
    expect(today).toMatch(/4 2 1 1 5,280,000 \$7\.20$/)
    expect(earlier).toMatch(/1 1 0 0 0 \$0\.00$/)
    expect(total).toMatch(/^Total 5 3 1 1 5,280,000 \$7\.20$/)
    const [lena, theo] = await rowsOf(page, "Usage by person")
    expect(lena).toMatch(/^Lena Brandt 4 2 1 1/)
    expect(theo).toMatch(/^Théo Mercier 1 1 0 0/)
    expect((await rowsOf(page, "Usage by model"))[0]).toMatch(/^claude-haiku-5-5 4/)
    await page.getByText("A conversation that hasn't been used for 30 days is deleted").waitFor()
    await page.getByRole("link", { name: "90 days" }).click()
    await page.getByText("1 question was stopped").waitFor()
    expect((await rowsOf(page, "Usage by day")).at(-1)).toMatch(/^Total 6 3 1 1/)
    expect(await page.getByRole("link", { name: "90 days" }).getAttribute("aria-current")).toBe("page")
  })
})

it("shows the questions that weren't understood, once an administrator has switched that on", async () => {
  const unclear = <A>(use: (service: UnclearQuestions["Service"]) => Effect.Effect<A, unknown>) =>
    server.run(Effect.flatMap(UnclearQuestions, use))
  await unclear((service) => service.set(harbor.organization, false))
  await inEachLook("Usage", "yuki", async (page) => {
    const section = page.getByRole("region", { name: "Questions that weren't understood" })
    const press = (name: string) => page.getByRole("button", { name, exact: true })
    await section.getByText("They aren't kept.").waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await press("Keep them from now on").click()
    await page.getByRole("dialog").getByRole("button", { name: "Keep them", exact: true }).click()
    await section.getByText("There is none yet.").waitFor()
    for (const question of ["… the companies of …", "what is … of the …", "… the companies of …"])
      await unclear((service) => service.keep(harbor.organization, question))
    await page.reload()
    const [first] = await rowsOf(page, "Questions that weren't understood")
    expect(first).toContain("… the companies of … 2")
    expect(await accessibilityFaults(page)).toEqual([])
    await press("Stop and forget them").click()
    await page.getByRole("dialog").getByRole("button", { name: "Forget", exact: true }).click()
    await section.getByText("They aren't kept.").waitFor()
  })
  expect(await unclear((service) => service.report(harbor.organization))).toMatchObject({ kept: false, questions: [] })
})

it("keeps conversations for a shorter time, which the keyboard sets, and as long as the operator again", async () => {
  await inEachLook(
    "Usage",
    "yuki",
    async (page) => {
      const section = page.getByRole("region", { name: "How long conversations are kept" })
      const days = section.getByLabel("Days to keep an unused conversation")
      const save = section.getByRole("button", { name: "Save" })
      const isSaved = () => expect.poll(() => page.locator("[role=status]").last().innerText()).toBe("Saved.")
      await section.getByText("hasn't been used for 30 days is deleted").waitFor()
      expect([await days.inputValue(), await save.isDisabled()]).toEqual(["", true])
      await days.focus()
      await page.keyboard.type("31")
      await page.keyboard.press("Enter")
      expect(
        await days.evaluate(
          (field) =>
            (field as unknown as { readonly validity: { readonly rangeOverflow: boolean } }).validity.rangeOverflow
        )
      ).toBe(true)
      await days.fill("")
      await page.keyboard.type("14")
      await page.keyboard.press("Tab")
      await page.keyboard.press("Enter")
      await isSaved()
      await section.getByText("hasn't been used for 14 days is deleted").waitFor()
      await section.getByText("would keep it for 30 days").waitFor()
      expect(await section.locator("code").innerText()).toBe("max org set --conversation-days 14")
      expect(await accessibilityFaults(page)).toEqual([])
      await days.fill("")
      await page.keyboard.press("Enter")
      await section.getByText("hasn't been used for 30 days is deleted").waitFor()
      await days.fill("14")
      await page.keyboard.press("Enter")
      await section.getByText("hasn't been used for 14 days is deleted").waitFor()
    },
    () =>
      server.run(Effect.flatMap(Organizations, (all) => all.change(harbor.organization, { conversationDays: null })))
  )
})

it("shows doctor's findings in words with their remedies, the worst first, and the last backup", async () => {
  await server.run(
    Effect.gen(function* () {
      const { owner } = yield* Database
      const indexes = yield* owner<{ name: string }>`SELECT i.indexrelid::regclass::text AS name FROM pg_index i
        WHERE i.indrelid = 'data.people'::regclass AND NOT i.indisprimary AND i.indexrelid::regclass::text LIKE '%status%'`
      expect(indexes).toHaveLength(1)
      for (const { name } of indexes) yield* owner.unsafe(`DROP INDEX ${name}`).unprepared
      yield* recordBackup(owner, { rows: 12, bytes: 3456 })
    })
  )
  await inEachLook("Health", "yuki", async (page) => {
    const findings = page.getByRole("list", { name: "Findings" }).getByRole("listitem")
    await findings.first().waitFor()
    const texts = (await findings.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " "))
    // Other findings may need attention, too: the server's connections are shared with other tests.
    const weak = texts.filter((text) => text.includes(" Attention "))
    expect(texts.slice(0, weak.length)).toEqual(weak)
    expect(weak).toContainEqual(
      expect.stringMatching(
        /^Indexes Attention No index covers .*people\.status_k.* An operator can mend it.*CREATE INDEX CONCURRENTLY/
      )
    )
    expect(texts).toContainEqual(expect.stringMatching(/^Version of Postgres Good Postgres \d+/))
    expect(texts).toContainEqual("Connection Good The database answers its owner.")
    expect(await page.locator("main").innerText()).toMatch(/Everything works; \d+ checks? needs? attention/)
    await page.getByText("Last backup").waitFor()
    expect(await page.getByText("None is recorded for this organization").count()).toBe(0)
    expect(await page.locator("main").innerText()).toContain("max backup max.backup")
    const again = page.waitForResponse(/\/v1\/admin\/health$/)
    await page.getByRole("button", { name: "Check again" }).click()
    expect((await again).status()).toBe(200)
  })
})

it("names no person whose name the administrator may not see", async () => {
  await inEachLook("Usage", "amina", async (page) => {
    await page.getByRole("table", { name: "Usage by day" }).waitFor()
    expect((await rowsOf(page, "Usage by person"))[0]).toMatch(/^A name you can't see \S+ 4/)
    expect(await page.content()).not.toContain("Lena Brandt")
  })
})
