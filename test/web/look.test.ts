import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Browser, Page } from "playwright-core"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { accessibilityFaults, openBrowser, openPage } from "../support/browser.ts"
import { calls, finds, type Reply, says, type Script } from "../support/messages.ts"
import { openStage, type Stage } from "../support/stage.ts"

let stage: Stage
let browser: Browser

beforeAll(async () => {
  stage = await openStage()
  browser = await openBrowser()
})

afterAll(async () => {
  await browser.close()
  await stage.close()
})

const FOLDER = process.env["MAX_SCREENSHOTS"]

const LOOKS = [
  { theme: "light", width: 1280, height: 800 },
  { theme: "dark", width: 1280, height: 800 },
  { theme: "light", width: 360, height: 740 },
  { theme: "dark", width: 390, height: 844 }
] as const

const LAURA = `I know two people of that name. **Laura Szabó** at Cedar Labs is a customer, and **Laura Szabó** at Heron Optics is a lead. Which one do you mean?`

/** The model, as far as these conversations need one. */
const script: Script = (request): Reply => {
  const texts = request.messages.flatMap(({ content, role }) =>
    typeof content === "string"
      ? [{ role, text: content }]
      : content.flatMap((block) => (block.type === "text" ? [{ role, text: block.text ?? "" }] : []))
  )
  const asked = texts
    .filter(({ role }) => role === "user")
    .at(-1)!
    .text.toLowerCase()
  const last = request.messages.at(-1)!.content
  const results = typeof last === "string" ? 0 : last.filter(({ type }) => type === "tool_result").length
  if (asked.includes("amélie")) {
    return results === 0
      ? finds("people", [["name", "eq", "Amélie Quinn"]], { selectColumns: ["phone", "email", "company"] })
      : says(
          "Amélie Quinn is a customer at Alder Foods. You reach her at +1 617-555-0188 or amelie.quinn@alderfoods.example."
        )
  }
  if (asked.includes("alder")) {
    return results === 0
      ? calls(
          [
            "findEntities",
            {
              entityTypeId: "companies",
              filters: [{ columnId: "name", op: "eq", value: "Alder Foods" }],
              selectColumns: ["phone"]
            }
          ],
          [
            "findEntities",
            {
              entityTypeId: "people",
              filters: [{ columnId: "company", op: "ilike", value: "Alder" }],
              selectColumns: ["email"]
            }
          ]
        )
      : says(
          "Two people work at **Alder Foods**:\n\n- Amélie Quinn, customer, amelie.quinn@alderfoods.example\n- Noor Okafor, customer, noor.okafor@alderfoods.example"
        )
  }
  if (asked.includes("laura"))
    return results === 0
      ? finds("people", [["name", "eq", "Laura Szabó"]], { selectColumns: ["company"] })
      : says(LAURA)
  if (asked.includes("slow")) return results === 0 ? finds("people", [], {}) : (new Promise(() => {}) as never)
  if (asked.includes("broken")) return { status: 401, error: "authentication_error" }
  return says("Hello.")
}

const asks = async (page: Page, text: string) => {
  await page.locator(".composer textarea").fill(text)
  await page.keyboard.press("Enter")
}
const answered = (page: Page) => page.locator(".turn[aria-busy=false]").last().waitFor()

describe.each(LOOKS)("$theme, $width wide", (looks) => {
  it("every state", async () => {
    stage.messages.reset(script)
    const { close, faults, page } = await openPage(browser, stage.url, looks)
    const look = async (name: string) => {
      if (FOLDER !== undefined) {
        mkdirSync(FOLDER, { recursive: true })
        const size = looks.width < 600 ? "phone" : "desktop"
        await page.screenshot({ path: join(FOLDER, `${name}-${size}-${looks.theme}.png`) })
      }
      expect.soft(await accessibilityFaults(page), name).toEqual([])
    }
    await page.goto(stage.url)
    await page.locator("h1").waitFor()
    await look("sign-in")
    await stage.signIn(page)
    await page.locator(".index").waitFor()
    await look("empty")
    await asks(page, "Who is Amélie Quinn, and how do I reach her?")
    await answered(page)
    await look("answer")
    await asks(page, "Who works at Alder Foods?")
    await page.locator(".turn[aria-busy=false]").nth(1).waitFor()
    await look("answers")
    await asks(page, "What is Laura Szabó's status?")
    await page.locator(".choices").waitFor()
    await look("choices")
    await asks(page, "This one is slow")
    await page.locator(".activity").waitFor()
    await page.waitForTimeout(300)
    await look("activity")
    await page.getByRole("button", { name: "Stop" }).click()
    await page.getByText("Nothing of it is kept").waitFor()
    await look("stopped")
    await asks(page, "This one is broken")
    await page.locator(".failed").waitFor()
    await look("failed")
    if (looks.width < 600) {
      await page.getByRole("button", { name: "Conversations" }).click()
      await page.locator(".history").waitFor()
      await look("list")
    }
    expect(faults).toEqual([])
    await close()
  })
})
