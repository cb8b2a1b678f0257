import { describe, expect, it } from "vitest"
import type { Page } from "playwright-core"
import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Importer } from "../../src/services/import/Importer.ts"
import { accessibilityFaults, askAndWait } from "../support/browser.ts"
import { ROSA, YUKI } from "../support/stage.ts"
import { staged } from "../support/staged.ts"

const here = staged({ provider: "basic" })

const { visit } = here

const rows = (page: Page) => page.locator(".turn").last().locator(".row")
const question = (page: Page) => page.locator(".question h2").last()

describe("a list in an answer", () => {
  it("is shown as rows, with short dates, without the asker's name, and nothing is said twice", () =>
    visit(async (page) => {
      await askAndWait(page, "my meetings")
      const shown = await rows(page).allInnerTexts()
      expect(shown).toHaveLength(3)
      expect(shown[0]).toMatch(/^Contract renewal\s/)
      expect(shown[0]).toContain("Amélie Quinn")
      expect(shown[0]).toContain("Alder Foods")
      expect(shown.join()).not.toContain("Rosa Delgado")
      // "Mon, Nov 23, 10:00 AM", with the year in another year only.
      expect(shown[0]).toMatch(/\b[A-Z][a-z]{2}, [A-Z][a-z]{2} \d{1,2},(?: \d{4},)? 10:00\sAM/)
      expect(await page.locator(".answer").last().innerText()).not.toMatch(/Contract renewal[\s\S]*Contract renewal/)
      expect(await accessibilityFaults(page)).toEqual([])
    }))

  it("is the same after a reload", () =>
    visit(async (page) => {
      await askAndWait(page, "my meetings")
      const shown = await rows(page).allInnerTexts()
      await page.reload()
      await expect.poll(() => rows(page).allInnerTexts()).toEqual(shown)
    }))

  it("has rows that can be pressed to ask about the entity, also in an earlier turn", () =>
    visit(async (page) => {
      await askAndWait(page, "my meetings")
      await page.getByRole("button", { name: "Site visit" }).click()
      await page.locator(".turn[aria-busy=false]").nth(1).waitFor()
      expect(await question(page).innerText()).toBe("Site visit")
      expect(await page.locator(".answer").last().innerText()).toContain("Cedar Labs")
      await askAndWait(page, "list people")
      await page.getByRole("button", { name: "Laura Szabó" }).click()
      await page.locator(".turn[aria-busy=false]").nth(3).waitFor()
      await askAndWait(page, "who is Noor Okafor")
      await page.getByRole("button", { name: "Amélie Quinn" }).click()
      await page.locator(".turn[aria-busy=false]").nth(5).waitFor()
      expect(await page.locator(".answer").last().innerText()).toContain("Alder Foods")
    }))

  it("that goes on has a button for the next rows, and the last row is without the hint", () =>
    visit(async (page) => {
      await askAndWait(page, "list people")
      await expect.poll(() => rows(page).count()).toBe(5)
      expect(await page.locator(".answer").last().innerText()).not.toContain("Say “more”")
      await page.getByRole("button", { name: "More", exact: true }).click()
      await page.locator(".turn[aria-busy=false]").nth(1).waitFor()
      await expect.poll(() => rows(page).count()).toBe(4)
      expect(await page.getByRole("button", { name: "More", exact: true }).count()).toBe(0)
    }))

  it("can be saved whole as a CSV file, also after a reload, and what isn't a list can't", () =>
    visit(async (page) => {
      await askAndWait(page, "list people")
      await expect.poll(() => rows(page).count()).toBe(5)
      await page.reload()
      await rows(page).nth(4).waitFor()
      const saved = page.waitForEvent("download")
      await page.getByRole("button", { name: "Download as CSV" }).click()
      const file = await saved
      expect(file.suggestedFilename()).toBe("people.csv")
      const [header, ...lines] = readFileSync(await file.path(), "utf8")
        .trimEnd()
        .split("\r\n")
      expect(header).toMatch(/^\uFEFFid,name,/)
      // The list shows five of them.
      expect(lines).toHaveLength(9)
      expect(lines.join()).toContain("Amélie Quinn")
      expect(await accessibilityFaults(page)).toEqual([])
      await askAndWait(page, "phone of Noor Okafor")
      expect(await page.locator(".turn").last().getByRole("button", { name: "Download as CSV" }).count()).toBe(0)
    }))

  it("of choices is shown once, as buttons", () =>
    visit(async (page) => {
      await askAndWait(page, "phone of Laura Szabó")
      await page.locator(".choices").waitFor()
      expect(await rows(page).count()).toBe(0)
      expect((await page.locator(".answer").last().innerText()).match(/Cedar Labs/g)).toHaveLength(1)
    }))
})

describe("an answer about one person", () => {
  it("offers the next questions that weren't answered, and a link to the number that was", () =>
    visit(async (page) => {
      await askAndWait(page, "phone of Noor Okafor")
      const next = page.locator(".next")
      expect(await next.getByRole("link", { name: "Call Noor Okafor" }).getAttribute("href")).toBe("tel:+16175550119")
      expect(await next.getByRole("button").allInnerTexts()).toEqual(["E-mail", "Meetings", "All details"])
      await next.getByRole("button", { name: "E-mail" }).click()
      await page.locator(".turn[aria-busy=false]").nth(1).waitFor()
      expect(await page.locator(".answer").last().innerText()).toContain("noor.okafor@alderfoods.example")
      await expect.poll(() => page.locator(".next").count()).toBe(1)
      await page.getByRole("button", { name: "Meetings", exact: true }).click()
      await page.locator(".turn[aria-busy=false]").nth(2).waitFor()
      expect(await page.locator(".answer").last().innerText()).toMatch(/meeting/i)
      expect(await page.locator(".answer").last().innerText()).not.toMatch(/didn't understand|can't look that up/)
    }))
})

describe("a starter", () => {
  it.each([ROSA, YUKI])("offered to %s finds something", (who) =>
    visit(
      async (page) => {
        const examples = page.locator(".index button")
        await examples.first().waitFor()
        const empty: Array<string> = []
        for (const text of await examples.allInnerTexts()) {
          await examples.getByText(text, { exact: true }).click()
          const turn = page.locator(".turn[aria-busy=false]")
          await turn.waitFor()
          const answer = await turn.locator(".answer").innerText()
          if (/\bno\b|couldn't|can't|didn't|\b0\b|nothing/i.test(answer)) empty.push(`${text} ${answer}`)
          await page.getByRole("button", { name: "New", exact: true }).click()
          await examples.first().waitFor()
        }
        expect(empty).toEqual([])
      },
      { who }
    )
  )
})

describe("a hostile row in a list", () => {
  it("stays in its row, in its own direction, without markup", async () => {
    const folder = mkdtempSync(join(tmpdir(), "max-rows-"))
    const file = join(folder, "people.jsonl")
    const names = ["<img src=x onerror=alert(1)>", "\u202Eevil\u202C 1. Second", `${"W".repeat(300)}`]
    writeFileSync(file, names.map((name) => JSON.stringify({ name, status: "Odd" })).join("\n"))
    await here.stage.run(
      Effect.gen(function* () {
        const importer = yield* Importer
        yield* importer.import(here.stage.organization, { files: [file], type: "people", map: {}, ignore: [] })
      })
    )
    rmSync(folder, { recursive: true })
    await visit(
      async (page) => {
        await askAndWait(page, "list people with status Odd")
        expect(await page.locator(".answer img").count()).toBe(0)
        expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true)
      },
      { who: YUKI }
    )
  })
})
