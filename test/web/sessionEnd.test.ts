import { beforeEach, describe, expect, it } from "vitest"
import type { Page } from "playwright-core"
import { accessibilityFaults } from "../support/browser.ts"
import { says } from "../support/messages.ts"
import { ROSA, YUKI } from "../support/stage.ts"
import { staged } from "../support/staged.ts"

const here = staged()

beforeEach(() => here.stage.messages.reset(() => says("Hello.")))

/** Opens the chat page, whose welcome has been loaded before the session ends. */
const visit: typeof here.visit = (use, options) =>
  here.visit(async (page) => {
    await page.getByText("Ask about people, companies and meetings at Harbor Supply.").waitFor()
    return use(page)
  }, options)

const field = (page: Page) => page.locator(".composer textarea")
const typed = (page: Page) => field(page).inputValue()
const signInAgain = async (page: Page, who: string) => {
  await page.getByText("Your session has ended.").waitFor()
  await page.getByLabel("Your sign-in link").fill(await here.stage.linkFor(who))
  await page.keyboard.press("Enter")
  await field(page).waitFor()
}
describe("when the session ends by itself", () => {
  it("the page says so, and a question that was sent returns to the field after the sign-in", () =>
    visit(async (page) => {
      let redeemed = 0
      page.on("request", (request) => {
        if (request.method() === "POST" && request.url().endsWith("/v1/session")) redeemed += 1
      })
      await page.context().clearCookies()
      await field(page).fill("Where does Laura work?")
      await page.keyboard.press("Enter")
      await page.getByText("Your session has ended.").waitFor()
      expect(await accessibilityFaults(page)).toEqual([])
      await signInAgain(page, ROSA)
      await expect.poll(() => typed(page)).toBe("Where does Laura work?")
      // The code of the link that opened the page is not tried again.
      expect(redeemed).toBe(1)
      expect(await page.evaluate("sessionStorage.length")).toBe(0)
      expect(here.stage.messages.requests).toHaveLength(0)
    }))

  it("the question also returns after a sign-in that left the page for another site", () =>
    visit(async (page) => {
      await page.context().clearCookies()
      await field(page).fill("Where does Laura work?")
      await page.keyboard.press("Enter")
      await page.getByText("Your session has ended.").waitFor()
      await page.goto("about:blank")
      await page.goto(await here.stage.linkFor(ROSA))
      await expect.poll(() => typed(page)).toBe("Where does Laura work?")
    }))

  it("another person who signs in on this page gets an empty field, and the question is deleted", () =>
    visit(async (page) => {
      await page.context().clearCookies()
      await field(page).fill("Where does Laura work?")
      await page.keyboard.press("Enter")
      await signInAgain(page, YUKI)
      await page.locator(".history .who").getByText("Yuki Tanaka").waitFor()
      expect(await typed(page)).toBe("")
      expect(await page.evaluate("sessionStorage.length")).toBe(0)
    }))

  it("a question that was not sent yet is kept as well, on a phone in the dark", () =>
    visit(
      async (page) => {
        await field(page).fill("Half a quest")
        await page.context().clearCookies()
        // The page asks for what waits each time that it is looked at again.
        await page.evaluate("dispatchEvent(new Event('visibilitychange'))")
        await page.getByText("Your session has ended.").waitFor()
        expect(await accessibilityFaults(page)).toEqual([])
        const folder = process.env["MAX_SCREENSHOTS"]
        if (folder !== undefined) await page.screenshot({ path: `${folder}/session-ended-390-dark.png` })
        await signInAgain(page, ROSA)
        await expect.poll(() => typed(page)).toBe("Half a quest")
      },
      { looks: { width: 390, theme: "dark" } }
    ))

  it("a sign-out deletes what was typed", () =>
    visit(async (page) => {
      await field(page).fill("Private words")
      await page.getByRole("button", { name: "Sign out" }).click()
      await page.getByLabel("Your sign-in link").fill(await here.stage.linkFor(YUKI))
      await page.keyboard.press("Enter")
      await field(page).waitFor()
      await page.locator(".history .who").getByText("Yuki Tanaka").waitFor()
      expect(await typed(page)).toBe("")
    }))
})

describe("the welcome", () => {
  it("is asked for again until the server answers it", () =>
    visit(async (page) => {
      let refused = 0
      await page.route("**/v1/welcome", (route) => {
        refused += 1
        return refused <= 2 ? route.fulfill({ status: 503, json: { type: "unavailable" } }) : route.continue()
      })
      await page.reload()
      await page.getByText("Ask about people, companies and meetings at Harbor Supply.").waitFor()
      expect(refused).toBeGreaterThan(2)
    }))
})
