/** One entity on the page: what a person sees of it, its form, its deletion, and what has been changed. */
import type { Page } from "playwright-core"
import { beforeEach, describe, expect, it } from "vitest"
import { forgetLimits } from "../support/changes.ts"
import { asOwner } from "../support/drafting.ts"
import { encodeId } from "../../src/domain/ids.ts"
import { GUEST, YUKI } from "../support/stage.ts"
import { DESKTOP, look, PHONE, staged } from "../support/staged.ts"

const here = staged({ provider: "basic" })

const { visit } = here

beforeEach(() => here.stage.run(forgetLimits(here.stage.organization)))

const ask = async (page: Page, text: string) => {
  await page.locator(".composer textarea").fill(text)
  await page.keyboard.press("Enter")
  await page.locator(".turn[aria-busy=false]").waitFor()
}
const labelled = (page: Page, name: string) =>
  page.locator(".action-form").getByLabel(name).and(page.locator("input, select, textarea"))
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true })
const detail = (page: Page, name: string) =>
  page.locator(".details > div").filter({ has: page.getByText(name, { exact: true }) }).locator("dd").innerText() // prettier-ignore
const idOf = async (type: string, name: string) => {
  const [row] = await asOwner(here.stage, `SELECT id::text AS id FROM data.${type} WHERE name = $1`, name)
  return encodeId(BigInt((row as { readonly id: string }).id))
}

describe.each([DESKTOP, PHONE])("an entity, $theme, $width wide", (looks) => {
  it("is opened from an answer, changed by its form, and shows the change afterwards", () =>
    visit(
      async (page) => {
        const name = looks === PHONE ? "Noor Okafor" : "Amélie Quinn"
        await ask(page, `who is ${name}`)
        await button(page, "All details").click()
        await page.getByRole("heading", { name }).waitFor()
        expect(await detail(page, "Company")).toBe("Alder Foods")
        await page.getByText("Nothing has been changed through Max yet.").waitFor()
        await look(page, "entity-details", looks)
        await button(page, "Change").click()
        await page.getByRole("heading", { name: `Change ${name}` }).waitFor()
        expect(await labelled(page, "Name").inputValue()).toBe(name)
        expect(await labelled(page, "Company").inputValue()).toBe("Alder Foods")
        await look(page, "entity-form", looks)
        await button(page, "Show the change").click()
        await page.getByText("Nothing is different yet.").waitFor()
        await labelled(page, "Phone").fill("617-555-0177")
        await labelled(page, "Company").fill("cedar")
        await page.getByRole("option", { name: "Cedar Labs" }).click()
        await button(page, "Show the change").click()
        const card = page.locator(".alone .draft")
        await card.waitFor()
        // Only what was changed in the form.
        expect(await card.locator("dt").allInnerTexts()).toEqual(["Company", "Phone"])
        await page.waitForTimeout(800)
        await card.getByRole("button", { name: "Change 1 person" }).click()
        await card.getByText("Changed 1 person").waitFor()
        await page.goBack()
        await page.getByRole("heading", { name: "What has changed" }).waitFor()
        expect(await detail(page, "Company")).toBe("Cedar Labs")
        const [entry] = await page.locator(".changed > li").allInnerTexts()
        expect(entry).toMatch(/Rosa Delgado/)
        expect(entry).toMatch(/Alder Foods[\s\S]*Cedar Labs/)
        expect(entry).toMatch(/617-555-0177/)
        await look(page, "entity-changed", looks)
      },
      { looks }
    ))
})

describe("an entity", () => {
  it("has a cell emptied by an empty field", () =>
    visit(async (page) => {
      await page.goto(`${here.stage.url}/#e/people/${await idOf("people", "Emeka Lindqvist")}`)
      await button(page, "Change").click()
      await labelled(page, "E-mail").fill("")
      await button(page, "Show the change").click()
      const card = page.locator(".alone .draft")
      await card.waitFor()
      expect(await card.locator("dd").allInnerTexts()).toEqual([expect.stringMatching(/emeka@cedarlabs.example[\s\S]*empty/)]) // prettier-ignore
    }))

  it("can be proposed for deletion by a person who may delete it, which deletes nothing yet", () =>
    visit(
      async (page) => {
        const id = await idOf("companies", "Heron Optics")
        await page.goto(`${here.stage.url}/#e/companies/${id}`)
        await button(page, "Delete…").click()
        await page.locator(".alone .draft").getByText("Heron Optics").first().waitFor()
        expect(await idOf("companies", "Heron Optics")).toBe(id)
      },
      { who: YUKI }
    ))

  it("shows neither values nor actions beyond what the person may see and do", () =>
    visit(async (page) => {
      // Yuki's row is staff: it is visible, and no rule lets Rosa change or delete it.
      await page.goto(`${here.stage.url}/#e/people/${await idOf("people", "Yuki Tanaka")}`)
      await page.getByRole("heading", { name: "Yuki Tanaka" }).waitFor()
      await button(page, "Change").click()
      await labelled(page, "Phone").fill("617-555-0100")
      await button(page, "Show the change").click()
      await page.getByText("You may not change phone of Yuki Tanaka.").waitFor()
      expect(await button(page, "Delete…").count()).toBe(0)
    }))

  it("that is hidden answers as one that doesn't exist", () =>
    visit(
      async (page) => {
        const id = await idOf("people", "Noor Okafor")
        for (const handle of [`people/${id}`, "people/zzzzzzzzzzzzz", "nothing/1"]) {
          await page.goto(`${here.stage.url}/#e/${handle}`)
          await page.reload()
          const said = await page.locator(".entity [role=alert]").innerText()
          expect(said).toBe(`There is no type "${handle.split("/")[0]}".`)
        }
      },
      { who: GUEST }
    ))

  it("of an unknown id says so", () =>
    visit(async (page) => {
      await page.goto(`${here.stage.url}/#e/people/zzzzzzzzzzzzz`)
      const said = await page.locator(".entity [role=alert]").innerText()
      expect(said).toBe('There is no person with the id "zzzzzzzzzzzzz".')
    }))
})
