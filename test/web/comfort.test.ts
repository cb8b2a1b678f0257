import { beforeEach, describe, expect, it } from "vitest"
import type { Page } from "playwright-core"
import { accessibilityFaults, ask } from "../support/browser.ts"
import { finds, inTurn, says } from "../support/messages.ts"
import { staged } from "../support/staged.ts"

const here = staged()

beforeEach(() => here.stage.messages.reset(() => says("Hello.")))

const { visit } = here

const said = (page: Page, text: string) => page.locator(".answer").getByText(text).last().waitFor()
const focused = (page: Page) =>
  page.evaluate<string>(
    "document.activeElement.getAttribute('aria-label') || document.activeElement.placeholder || (document.activeElement === document.body ? '' : document.activeElement.innerText)"
  )
const LONG = "Here is what I know of the harbor and its people, told slowly, word by word. ".repeat(4)
const PHONE = finds("people", [["name", "eq", "Amélie Quinn"]], { selectColumns: ["phone"] })

describe("the field for a question", () => {
  it("has one line when the page opens, also on a phone", () =>
    visit(
      async (page) => {
        await expect
          .poll(() => page.locator(".composer textarea").evaluate((field: any) => field.clientHeight as number))
          .toBeLessThan(50)
      },
      { looks: { width: 360, height: 740 } }
    ))

  it("can be reached by the first control, and with Ctrl+/; Ctrl+K searches, Ctrl+Shift+O begins a conversation", () =>
    visit(async (page) => {
      await ask(page, "Anything?")
      await said(page, "Hello.")
      const first = await page.evaluate("document.querySelector('a[href], button, input, textarea').innerText")
      expect(first).toBe("Skip to the question")
      await page.locator(".skip").focus()
      await page.locator(".turn[aria-busy=false]").waitFor()
      expect((await page.locator(".skip").boundingBox())!.width).toBeGreaterThan(100)
      await page.keyboard.press("Enter")
      expect(await focused(page)).toBe("Ask Max")
      await page.keyboard.press("Control+k")
      await expect.poll(() => focused(page)).toBe("Search your questions")
      await page.keyboard.press("Control+/")
      expect(await focused(page)).toBe("Ask Max")
      await page.keyboard.press("Control+Shift+O")
      await page.getByText("What would you like to know?").waitFor()
      await expect.poll(() => focused(page)).toBe("Ask Max")
    }))

  it("keeps every character that is typed without a modifier key", () =>
    visit(async (page) => {
      await page.locator(".composer textarea").focus()
      await page.keyboard.type("/ko K?")
      expect(await page.locator(".composer textarea").inputValue()).toBe("/ko K?")
    }))
})

describe("a long question", () => {
  it("is folded, and can be unfolded", () =>
    visit(async (page) => {
      await ask(page, "Could you please tell me about the harbor? ".repeat(40))
      await said(page, "Hello.")
      const height = () => page.locator(".question h2").evaluate((one: any) => one.clientHeight as number)
      const folded = await height()
      expect(folded).toBeLessThan(140)
      const button = page.getByRole("button", { name: "Show the whole question" })
      expect(await button.getAttribute("aria-expanded")).toBe("false")
      await button.click()
      expect(await height()).toBeGreaterThan(2 * folded)
      expect(await accessibilityFaults(page)).toEqual([])
    }))
})

describe("the list of conversations", () => {
  it("says which question contains the words of a search, and names the conversation that is deleted", () =>
    visit(async (page) => {
      await ask(page, "First of all, the weather")
      await said(page, "Hello.")
      await ask(page, "And what about the quince harvest of last year?")
      await page.locator(".turn[aria-busy=false]").nth(1).waitFor()
      await page.getByPlaceholder("Search your questions").fill("QUINCE")
      await page.locator(".matched").waitFor()
      expect(await page.locator(".item").allInnerTexts()).toEqual([
        expect.stringMatching(/weather[\s\S]*quince harvest/)
      ])
      await page.getByPlaceholder("Search your questions").fill("weather")
      await page.locator(".matched").waitFor({ state: "detached" })
      await page.locator(".item").first().hover()
      await page.getByRole("button", { name: "Delete “First of all, the weather”" }).click()
      await page.getByText("Delete “First of all, the weather”?").waitFor()
      await page.getByRole("button", { name: "Keep" }).click()
    }))
})

describe("text of an answer", () => {
  it("that announced a lookup stays on the page, apart from the answer", () =>
    visit(async (page) => {
      here.stage.messages.reset(
        inTurn(
          { content: [{ type: "text", text: "Let me look at the people first." }, ...PHONE.content!] },
          says("Her number is +1 617-555-0188.")
        )
      )
      await ask(page, "Amélie Quinn's phone?")
      await said(page, "+1 617-555-0188")
      expect(await page.locator(".preface").innerText()).toBe("Let me look at the people first.")
      await page.getByRole("button", { name: "Copy", exact: true }).waitFor()
    }))

  it("that was written before a stop stays on the page", () =>
    visit(async (page) => {
      here.stage.messages.reset(() => says(LONG, { pace: 60, piece: 12 }))
      await ask(page, "Tell me everything")
      await page.locator(".prose.growing").getByText("Here is what I know").waitFor()
      await page.getByRole("button", { name: "Stop" }).click()
      await page.getByText("It wasn't saved.").waitFor()
      expect(await page.locator(".prose").last().innerText()).toMatch(/^Here is what I know/)
    }))
})

describe("when the network is back", () => {
  it("the page asks again by itself, once", () =>
    visit(async (page) => {
      await ask(page, "Hello?")
      await said(page, "Hello.")
      await page.context().setOffline(true)
      await ask(page, "Still there?")
      await page.locator(".failed").getByText("Max can't be reached").waitFor()
      await page.context().setOffline(false)
      await page.locator(".turn[aria-busy=false]").nth(1).getByText("Hello.").waitFor()
      expect(await page.locator(".question h2").allInnerTexts()).toEqual(["Hello?", "Still there?"])
      expect(here.stage.messages.requests).toHaveLength(2)
    }))

  it("a page that opened without a server shows the conversations", () =>
    visit(async (page) => {
      await ask(page, "To be found again")
      await said(page, "Hello.")
      await page.route("**/v1/**", (route) => route.abort())
      await page.reload()
      await page.getByText("Max can't be reached.").waitFor()
      await page.unroute("**/v1/**")
      await page.locator(".history").getByText("To be found again").first().waitFor()
      await said(page, "Hello.")
      expect(await page.locator(".question h2").allInnerTexts()).toEqual(["To be found again"])
    }))
})
