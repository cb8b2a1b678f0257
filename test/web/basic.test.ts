import { afterAll, beforeAll, expect, it } from "vitest"
import type { Browser } from "playwright-core"
import { accessibilityFaults, openBrowser, openPage } from "../support/browser.ts"
import { openStage, ROSA, type Stage, YUKI } from "../support/stage.ts"

let stage: Stage
let browser: Browser

beforeAll(async () => {
  stage = await openStage({ provider: "basic" })
  browser = await openBrowser()
})

afterAll(async () => {
  await browser.close()
  await stage.close()
})

it.each([ROSA, YUKI])("is named as such, and understands every example that %s is given", async (who) => {
  const { close, faults, page } = await openPage(browser, stage.url)
  await stage.signIn(page, who)
  await page.getByText("Basic mode.").waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  const examples = page.locator(".index button")
  const questions = await examples.allInnerTexts()
  expect(questions.length).toBeGreaterThan(4)
  const answers: Array<string> = []
  for (const question of questions) {
    await examples.getByText(question, { exact: true }).click()
    const turn = page.locator(".turn[aria-busy=false]")
    await turn.waitFor()
    answers.push(`${question} ${await turn.locator(".answer").innerText()}`)
    await page.getByRole("button", { name: "New" }).click()
    await examples.first().waitFor()
  }
  expect(
    answers.filter((answer) => /didn't understand|not something I can|couldn't find|failed/i.test(answer))
  ).toEqual([])
  expect(faults).toEqual([])
  await close()
})
