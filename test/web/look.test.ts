import { describe, expect, it } from "vitest"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { accessibilityFaults, ask, openPage } from "../support/browser.ts"
import { calls, finds, type Reply, says, type Script } from "../support/messages.ts"
import { ROSA, YUKI } from "../support/stage.ts"
import { staged } from "../support/staged.ts"

const here = staged()

const FOLDER = process.env["MAX_SCREENSHOTS"]

/** Tests cover each theme and each width once; screenshots are taken of all combinations. */
const LOOKS = [
  { theme: "light", width: 1280, height: 800 },
  { theme: "dark", width: 360, height: 740 },
  ...(FOLDER === undefined
    ? []
    : ([
        { theme: "dark", width: 1280, height: 800 },
        { theme: "light", width: 360, height: 740 }
      ] as const))
] as const

const LAURA = `I know two people of that name. **Laura Szabó** at Cedar Labs is a customer, and **Laura Szabó** at Heron Optics is a lead. Which one do you mean?`

const never = new Promise<never>(() => {})

/** The scripted model of these conversations. */
const script: Script = (request): Reply | Promise<Reply> => {
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
  if (asked.includes("laura")) {
    return results === 0
      ? finds("people", [["name", "eq", "Laura Szabó"]], { selectColumns: ["company"] })
      : says(LAURA)
  }
  if (asked === "number 2") {
    return results === 0
      ? finds("people", [["name", "eq", "Laura Szabó"]], { selectColumns: ["company", "email"] })
      : says("Laura Szabó at Heron Optics is a lead. Her e-mail address is l.szabo@heronoptics.example.")
  }
  if (asked.includes("ليلى")) {
    return results === 0
      ? finds("people", [["name", "eq", "ليلى حداد"]], { selectColumns: ["company", "phone"] })
      : says("ليلى حداد تعمل في Heron Optics، ورقمها +1 512-555-0197.")
  }
  if (asked.includes("this week")) return results === 0 ? finds("meetings", [["start", "gte", "today"]]) : never
  if (asked.includes("model")) return { status: 401, error: "authentication_error" }
  return says("Hello.")
}

describe.each(LOOKS)("the chat page in the $theme theme, $width wide", (looks) => {
  it("every state of the chat is accessible, fits the screen and causes no fault", async () => {
    here.stage.messages.reset(script)
    const { close, faults, page } = await openPage(here.browser, here.stage.url, looks)
    const isPhone = looks.width < 600
    const look = async (name: string) => {
      if (FOLDER !== undefined) {
        mkdirSync(FOLDER, { recursive: true })
        await page.screenshot({
          path: join(FOLDER, `chat-${name}-${isPhone ? "phone" : "desktop"}-${looks.theme}.png`)
        })
      }
      expect.soft(await accessibilityFaults(page), name).toEqual([])
      expect.soft(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), `${name} fits`).toBe(true)
    }
    const answered = (count: number) =>
      page
        .locator(".turn[aria-busy=false]")
        .nth(count - 1)
        .waitFor()
    await page.goto(here.stage.url)
    await page.locator("h1").waitFor()
    await look("sign-in")
    await here.stage.signIn(page, looks.theme === "light" ? ROSA : YUKI)
    await page.locator(".index").waitFor()
    await look("empty")
    await ask(page, "Who is Amélie Quinn, and how do I reach her?")
    await answered(1)
    await look("answer")
    await ask(page, "Who works at Alder Foods?")
    await answered(2)
    await ask(page, "What is Laura Szabó's status?")
    await page.locator(".choices").waitFor()
    await look("choices")
    await page.locator(".choices button").nth(1).click()
    await answered(4)
    await ask(page, "من هي ليلى حداد؟")
    await answered(5)
    await look("right-to-left")
    await ask(page, "Which meetings do I have this week?")
    await page.locator(".activity").getByText("Looking up meetings…").waitFor()
    await look("looking")
    await page.getByRole("button", { name: "Stop" }).click()
    await page.getByText("It wasn't saved.").waitFor()
    await look("stopped")
    await ask(page, "Is the model there?")
    await page.locator(".failed").waitFor()
    await look("unavailable")
    await page.locator(".turn").first().hover()
    await page.getByRole("button", { name: "Edit" }).first().click()
    await look("editing")
    for (const question of [
      "Who looks after Cedar Labs?",
      "When is my next meeting?",
      "Noor Okafor's e-mail address"
    ]) {
      await page.keyboard.press("Escape")
      await page.getByRole("button", { name: /^New/ }).click()
      await page.locator("h1", { hasText: "What would you like" }).waitFor()
      await ask(page, question)
      await answered(1)
    }
    if (isPhone) await page.getByRole("button", { name: "Conversations" }).click()
    await page.getByPlaceholder("Search your questions").fill("who")
    await page.locator(".history").getByText("When is my next meeting?").first().waitFor({ state: "detached" })
    await look("list")
    expect(faults).toEqual([])
    await close()
  })
})
