/** Groups and figures on the page: a table with bars or a line, from the lookup's result. */
import { Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import demo from "../../src/channels/cli/demo/policy.json" with { type: "json" }
import { Importer } from "../../src/services/import/Importer.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { accessibilityFaults, askAndWait, openPage } from "../support/browser.ts"
import { calls, inTurn, says } from "../support/messages.ts"
import { YUKI } from "../support/stage.ts"
import { staged } from "../support/staged.ts"

const here = staged({ provider: "basic" })

/** With MAX_SCREENSHOTS=docs/images the pictures of the docs are taken. */
const shoot = async (page: Page, name: string) => {
  const folder = process.env["MAX_SCREENSHOTS"]
  if (folder !== undefined) await page.screenshot({ path: join(folder, `chat-${name}.png`) })
}

const { visit } = here
const table = (page: Page) =>
  page
    .locator(".figures")
    .last()
    .locator("tr")
    .evaluateAll((rows) =>
      rows.map((row) =>
        [...row.querySelectorAll("th, td:not(.bar)")].map((cell) => (cell.textContent ?? "").replace(/\s/g, " "))
      )
    )

describe("groups in an answer", () => {
  it("are a table with a bar for each, instead of the list in the text, the same after a reload", () =>
    visit(async (page) => {
      await askAndWait(page, "people by status")
      const shown = await table(page)
      expect(shown).toEqual([
        ["Status", "Count", "Share"],
        ["Customer", "3", "33 %"],
        ["Staff", "3", "33 %"],
        ["Lead", "2", "22 %"],
        ["Paused", "1", "11 %"]
      ])
      const widths = await page
        .locator(".figures rect")
        .evaluateAll((bars) => bars.map((bar) => bar.getAttribute("width")))
      expect(widths.map((width) => Math.round(Number(width)))).toEqual([100, 100, 67, 33])
      expect(await page.locator(".answer").last().innerText()).not.toMatch(/Customer[\s\S]*customer: 3/i)
      expect(await accessibilityFaults(page)).toEqual([])
      await shoot(page, "figures-desktop-light")
      await page.setViewportSize({ width: 390, height: 800 })
      await page.emulateMedia({ colorScheme: "dark" })
      await shoot(page, "figures-phone-dark")
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390)
      expect(await accessibilityFaults(page)).toEqual([])
      await page.reload()
      await page.locator(".figures").waitFor()
      expect(await table(page)).toEqual(shown)
    }))

  it("of periods are a line from four of them, and a wide table of two columns has neither", () =>
    visit(
      async (page) => {
        const folder = mkdtempSync(join(tmpdir(), "max-figures-"))
        const file = join(folder, "meetings.jsonl")
        const meetings = [1, 1, 2, 3, 4, 5].map((month, index) =>
          JSON.stringify({
            id: `figures-${index}`,
            name: `Review ${index}`,
            start: `2025-0${month}-10 10:00`,
            end: `2025-0${month}-10 11:00`
          })
        )
        writeFileSync(file, meetings.join("\n"))
        await here.stage.run(
          Effect.flatMap(Importer, (importer) =>
            importer.import(here.stage.organization, { files: [file], type: "meetings" })
          )
        )
        rmSync(folder, { recursive: true })
        await askAndWait(page, "meetings by month in 2025")
        expect((await table(page)).map((row) => row.at(1))).toEqual(["Count", "2", "1", "1", "1", "1"])
        const points = await page.locator(".figures polyline").getAttribute("points")
        expect(points?.split(" ").map((point) => point.split(",")[1])).toEqual(["0.0", "60.0", "60.0", "60.0", "60.0"])
        await shoot(page, "figures-line-desktop-light")
        await askAndWait(page, "meetings by owner and month in 2025")
        expect(await page.locator(".figures").last().locator("svg").count()).toBe(0)
      },
      { who: YUKI }
    ))

  it("stand below a sentence about one of them, with what was counted", () =>
    visit(async (page) => {
      await askAndWait(page, "which company has the most people")
      const answer = await page.locator(".answer").last().innerText()
      expect(answer).toMatch(/Alder Foods, Cedar Labs and Heron Optics have the most people/)
      expect(await page.locator(".figures figcaption").innerText()).toBe("People by company")
      expect(await table(page)).toContainEqual(["None", "3", "33 %"])
    }))

  it("can be taken away as the rows behind them", () =>
    visit(
      async (page) => {
        await askAndWait(page, "customers by company")
        const [saved] = await Promise.all([
          page.waitForEvent("download"),
          page.getByRole("button", { name: "Download as CSV" }).click()
        ])
        const stream = await saved.createReadStream()
        let text = ""
        for await (const chunk of stream) text += chunk
        expect(text.trim().split("\n")).toHaveLength(4)
      },
      { who: YUKI }
    ))

  it("aren't shown any more once the person's rights have changed", () =>
    visit(async (page) => {
      await askAndWait(page, "people by status")
      const policy = JSON.stringify({ ...demo, roles: { ...demo.roles, guest: { inherits: [] } } })
      await here.stage.run(
        Effect.flatMap(Policies, (policies) => policies.publish(here.stage.organization, policy, "test"))
      )
      await page.reload()
      await page.getByText("Your access has changed since").waitFor()
      expect(await page.locator(".figures").count()).toBe(0)
    }))
})

describe("groups in a model's answer", () => {
  const model = staged()

  it("are those of the lookup, readable at a zoom of 200 % and in print", async () => {
    const { close, faults, page } = await openPage(model.browser, model.stage.url)
    page.setDefaultTimeout(60_000)
    const query = { entityTypeId: "people", filters: [], selectColumns: ["by company"] }
    model.stage.messages.reset(inTurn(calls(["findEntities", query]), says("Alder Foods has 2 people.")))
    await model.stage.signIn(page)
    await askAndWait(page, "People by company?")
    expect((await table(page)).map((row) => row.slice(0, 2))).toEqual([
      ["Company", "Count"],
      ["Alder Foods", "2"],
      ["Cedar Labs", "2"],
      ["Heron Optics", "2"],
      ["None", "3"]
    ])
    // 640 pixels at a zoom of 200 %.
    await page.setViewportSize({ width: 320, height: 640 })
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320)
    expect(await accessibilityFaults(page)).toEqual([])
    await page.emulateMedia({ media: "print" })
    await expect.poll(() => page.locator(".figures td.number").last().isVisible()).toBe(true)
    expect(faults).toEqual([])
    await close()
  })

  it("show names as text, cut and isolated, and draw negative, empty and huge amounts", async () => {
    const folder = mkdtempSync(join(tmpdir(), "max-figures-"))
    const file = join(folder, "deals.jsonl")
    const huge = `${"9".repeat(90)}.5`
    const stages = [
      ["<img src=x onerror=\"document.title='run'\">", "12.5"],
      ["\u202egnorw\u2066 \u200bway", "-40"],
      ["long ".repeat(400), "0"],
      ["All", huge]
    ] as const
    const deals = stages.map(([stage, amount], index) =>
      JSON.stringify({ id: `deal-${index}`, name: `Deal ${index}`, stage, amount })
    )
    writeFileSync(file, deals.join("\n"))
    const { organization } = model.stage
    await model.stage.run(
      Effect.gen(function* () {
        const importer = yield* Importer
        yield* importer.import(organization, { files: [file], type: "deals", create: true })
        const reads = { id: "reads-deals", effect: "allow", role: "rep", action: "read", type: "deals", columns: "*" }
        const policies = yield* Policies
        yield* policies.publish(organization, JSON.stringify({ ...demo, rules: [...demo.rules, reads] }), "test")
      })
    )
    rmSync(folder, { recursive: true })
    const { close, faults, page } = await openPage(model.browser, model.stage.url)
    page.setDefaultTimeout(60_000)
    const query = { entityTypeId: "deals", filters: [], selectColumns: ["by stage", "sum amount"] }
    model.stage.messages.reset(inTurn(calls(["findEntities", query]), says("All has 1 deal.")))
    await model.stage.signIn(page)
    await askAndWait(page, "Amounts by stage?")
    const rows = new Map((await table(page)).slice(1).map(([stage, , , amount]) => [stage, amount]))
    expect([...rows.keys()].toSorted()).toEqual(
      [stages[0][0], "gnorw way", `${"long ".repeat(400).slice(0, 59)}…`, "All"].toSorted()
    )
    expect(rows.get("All")).toMatch(/^[\d,]{119}\.5$/)
    expect(await page.title()).not.toBe("run")
    expect(await page.locator(".figures img").count()).toBe(0)
    await expect.poll(() => page.locator(".figures th bdi").count()).toBe(4)
    const widths = await page
      .locator(".figures rect")
      .evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute("width"))))
    expect(widths.every((width) => width >= 0 && width <= 100)).toBe(true)
    expect(Math.max(...widths)).toBe(100)
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width)
    }
    await shoot(page, "figures-hostile")
    expect(await accessibilityFaults(page)).toEqual([])
    expect(faults).toEqual([])
    await close()
  })
})
