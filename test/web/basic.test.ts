import { expect, it } from "vitest"
import { accessibilityFaults, openPage } from "../support/browser.ts"
import { ROSA, YUKI } from "../support/stage.ts"
import { staged } from "../support/staged.ts"

const here = staged({ provider: "basic" })

it.each([ROSA, YUKI])("basic mode is labelled, and understands every example question offered to %s", async (who) => {
  const { close, faults, page } = await openPage(here.browser, here.stage.url)
  await here.stage.signIn(page, who)
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
    await page.getByRole("button", { name: "New", exact: true }).click()
    await examples.first().waitFor()
  }
  expect(
    answers.filter((answer) => /didn't understand|not something I can|couldn't find|failed/i.test(answer))
  ).toEqual([])
  expect(faults).toEqual([])
  await close()
})
