import { beforeAll, beforeEach, describe, expect, it } from "vitest"
import type { Page } from "playwright-core"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { forgetLimits } from "../support/changes.ts"
import { accessibilityFaults, type Looks } from "../support/browser.ts"
import { asksFor, asOwner, confirming, idsOf, statusOf, type Steps } from "../support/drafting.ts"
import { ROSA, YUKI } from "../support/stage.ts"
import { staged } from "../support/staged.ts"

const here = staged()

const FOLDER = process.env["MAX_SCREENSHOTS"]
const LIGHT: Looks = { theme: "light", width: 1280, height: 800 }
const PHONE: Looks = { theme: "dark", width: 360, height: 740 }

const CONFIRM = [
  { action: "update", type: "people", columns: ["status"], above: 2, by: "twice" },
  { action: "update", type: "people", columns: ["email"], by: "second", approvers: ["admin"] }
]

beforeAll(() => confirming(here.stage, CONFIRM))
beforeEach(() => here.stage.run(forgetLimits(here.stage.organization)))

const { visit } = here

/** Checks what is on the screen, and takes its picture where pictures are wanted. */
const look = async (page: Page, name: string, { theme, width }: Looks = LIGHT) => {
  if (FOLDER !== undefined) {
    mkdirSync(FOLDER, { recursive: true })
    await page.screenshot({ path: join(FOLDER, `change-${name}-${width === 360 ? "phone" : "desktop"}-${theme}.png`) })
  }
  expect.soft(await accessibilityFaults(page), name).toEqual([])
  expect.soft(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), `${name} fits`).toBe(true)
}

const setting = async (values: Readonly<Record<string, string>>, ...names: ReadonlyArray<string>): Promise<Steps> => [
  {
    actionId: "people.update",
    entityIds: await idsOf(here.stage, ROSA, "people", ...names),
    values: Object.entries(values).map(([columnId, value]) => ({ columnId, value }))
  }
]

const card = (page: Page) => page.locator(".draft").last()
const press = (page: Page, name: string | RegExp) => card(page).getByRole("button", { name, exact: true }).click()
const seen = async (page: Page) => (await card(page).innerText()).replace(/\s+/g, " ")

/** Asks for a status on Rosa's page; the card is shown. */
const asksForStatus = async (
  page: Page,
  status: string,
  names: ReadonlyArray<string>,
  then?: (id: string) => Promise<unknown>
) => asksFor({ stage: here.stage, page, who: ROSA, steps: await setting({ status }, ...names) }, then)

describe.each([LIGHT, PHONE])("a draft on the page, $theme, $width wide", (looks) => {
  it("is shown from what to what, changes nothing until it is confirmed, has a receipt, and can be undone", () =>
    visit(
      async (page) => {
        await asksForStatus(page, "Won", ["Noor Okafor"])
        expect(await seen(page)).toMatch(
          /^Change 1 person Noor Okafor Status from Customer → to Won Nothing has changed yet\. Open for [45]:\d\d\. Change 1 person Don't$/
        )
        await card(page).locator(".solid:enabled").waitFor()
        await look(page, "draft", looks)
        expect(await statusOf(here.stage, "Noor Okafor")).toBe("Customer")
        await page.reload()
        await card(page).waitFor()
        expect(await seen(page)).toMatch(/^Change 1 person Noor Okafor Status from Customer → to Won/)
        await press(page, "Change 1 person")
        await card(page).getByText("Changed 1 person.").waitFor()
        expect(await statusOf(here.stage, "Noor Okafor")).toBe("Won")
        await look(page, "receipt", looks)
        await page.reload()
        await card(page).getByText("Changed 1 person.").waitFor()
        await press(page, "Undo")
        const inverse = page.locator(".draft .draft")
        await inverse.getByText("Undo: Change 1 person").waitFor()
        expect((await inverse.innerText()).replace(/\s+/g, " ")).toMatch(/Status from Won → to Customer/)
        expect(await statusOf(here.stage, "Noor Okafor")).toBe("Won")
        await inverse.locator(".solid:enabled").waitFor()
        await look(page, "undo", looks)
        await inverse.getByRole("button", { name: "Undo it" }).click()
        await page.locator(".draft").first().getByText("It was undone since.").waitFor()
        expect(await statusOf(here.stage, "Noor Okafor")).toBe("Customer")
        await page.reload()
        const undone = page.locator(".draft").first()
        await undone.getByText("It was undone since.").waitFor()
        expect(await undone.getByRole("button").count()).toBe(0)
      },
      { looks }
    ))
})

describe("a card that has just appeared", () => {
  it("can't be pressed for 700 ms, nor anything else on the page but the refusal, and takes no focus", () =>
    visit(async (page) => {
      await asksForStatus(page, "Won", ["Noor Okafor"], async () => {
        // Notes for how long after its appearance the button can't be pressed.
        await page.evaluate(`(() => {
          globalThis.pressed = 0
          document.addEventListener("click", () => { globalThis.pressed += 1 })
          const started = { at: 0 }
          globalThis.still = new Promise((end) => {
            // Called at once for each change of the page, however late it is painted.
            new MutationObserver((_, observer) => {
              const button = document.querySelector(".draft .decision .solid")
              if (button === null) return
              if (started.at === 0) {
                started.at = performance.now()
                // Pressed at once: nothing on the page receives it.
                const before = globalThis.pressed
                document.querySelector(".history .new").click()
                button.click()
                globalThis.early = [button.disabled, globalThis.pressed - before]
              }
              if (button.disabled) return
              observer.disconnect()
              end(performance.now() - started.at)
            }).observe(document.body, { subtree: true, childList: true, attributes: true })
          })
        })()`)
      })
      expect(await page.evaluate<number>("globalThis.still")).toBeGreaterThanOrEqual(600)
      expect(await page.evaluate("globalThis.early")).toEqual([true, 0])
      expect(await page.evaluate("document.activeElement.closest('.draft') === null")).toBe(true)
      await press(page, "Don't")
      await card(page).getByText("You decided against it. Nothing was changed.").waitFor()
      expect(await statusOf(here.stage, "Noor Okafor")).toBe("Customer")
    }))
})

describe("a look at the drafts of a conversation", () => {
  const LISTING = "**/v1/changes?list=mine*"

  it("that fails is repeated until the card is there", () =>
    visit(async (page) => {
      let failed = 0
      await asksForStatus(page, "Won", ["Noor Okafor"], () =>
        page.route(
          LISTING,
          (route) => {
            failed += 1
            return failed === 1 ? route.abort() : route.fulfill({ status: 503, body: "" })
          },
          { times: 2 }
        )
      )
      expect(failed).toBe(2)
      expect(await seen(page)).toMatch(/^Change 1 person Noor Okafor/)
      await press(page, "Don't")
    }))

  it("that ends after a later one doesn't take the card away", () =>
    visit(async (page) => {
      let late: (() => Promise<void>) | undefined
      await page.route(
        LISTING,
        async (route) => {
          const before = await route.fetch()
          late = () => route.fulfill({ response: before })
        },
        { times: 1 }
      )
      await asksForStatus(page, "Won", ["Noor Okafor"])
      await expect.poll(() => late !== undefined).toBe(true)
      await late!()
      await page.evaluate("new Promise((end) => requestAnimationFrame(() => setTimeout(end, 100)))")
      expect(await seen(page)).toMatch(/^Change 1 person Noor Okafor/)
      await press(page, "Don't")
    }))
})

describe("level twice", () => {
  it("needs two different controls: a press, then the number of rows", () =>
    visit(async (page) => {
      const names = ["Noor Okafor", "Amélie Quinn", "Emeka Lindqvist"]
      await asksForStatus(page, "Archived", names)
      await press(page, "Change 3 people…")
      const field = card(page).getByLabel("To change 3 people, type the number 3.")
      await field.waitFor()
      await look(page, "twice")
      const button = card(page).getByRole("button", { name: "Change 3 people", exact: true })
      await field.fill("2")
      expect(await button.isDisabled()).toBe(true)
      await field.fill("3")
      await button.click()
      await card(page).getByText("Changed 3 people.").waitFor()
      expect(await statusOf(here.stage, "Amélie Quinn")).toBe("Archived")
      await press(page, "Undo")
      const inverse = page.locator(".draft .draft")
      await inverse.getByRole("button", { name: "Undo it…" }).click()
      await inverse.getByLabel(/type the number 3/).fill("3")
      await inverse.getByRole("button", { name: "Change 3 people", exact: true }).click()
      await page.locator(".draft").first().getByText("It was undone since.").waitFor()
      expect(await statusOf(here.stage, "Amélie Quinn")).toBe("Customer")
    }))
})

describe("level second", () => {
  it("says who may approve, waits on the proposer's page, and is decided in another person's browser", () =>
    visit(async (page) => {
      await asksFor({
        stage: here.stage,
        page,
        who: ROSA,
        steps: await setting({ email: "noor@new.example" }, "Noor Okafor")
      })
      await card(page).getByText("Another person must approve it. Role: admin.").waitFor()
      await press(page, "Ask for approval")
      await card(page).getByText("Waits for the approval of another person.").waitFor()
      expect(await seen(page)).toMatch(/Open for 7[12] hours/)
      await look(page, "waiting")
      await visit(
        async (other) => {
          await other.getByRole("button", { name: "Inbox 1 waiting for you" }).click()
          await card(other).getByText("Rosa Delgado asks for this.").waitFor()
          expect(await seen(other)).toContain("from noor.okafor@alderfoods.example → to noor@new.example")
          await card(other).locator(".solid:enabled").waitFor()
          await look(other, "approval")
          await other.reload()
          await press(other, "Change 1 person")
          await card(other).getByText("Changed 1 person.").waitFor()
          await other.getByRole("button", { name: "Inbox", exact: true }).waitFor()
        },
        { who: YUKI }
      )
      // The proposer's page finds out by itself.
      await card(page).getByText("Changed 1 person.").waitFor()
    }))
})

describe("a draft that can't be confirmed any more", () => {
  it("says that its time is over, and can be looked at again", () =>
    visit(async (page) => {
      await asksForStatus(page, "Won", ["Emeka Lindqvist"], (id) =>
        asOwner(
          here.stage,
          "UPDATE max.changes SET expires_at = clock_timestamp() + interval '3 seconds' WHERE change_id = $1::text",
          id
        )
      )
      await card(page)
        .getByText(/Open for 0:0\d\./)
        .waitFor()
      await card(page).getByText("The time to confirm this is over. Nothing was changed.").waitFor()
      expect(await card(page).getByRole("button").allInnerTexts()).toEqual(["Look again"])
      await look(page, "expired")
      await press(page, "Look again")
      await card(page)
        .getByText(/Open for [45]:\d\d\./)
        .waitFor()
      await page.reload()
      await card(page).waitFor()
      await expect.poll(() => page.locator(".draft").count()).toBe(1)
      await press(page, "Change 1 person")
      await card(page).getByText("Changed 1 person.").waitFor()
      expect(await statusOf(here.stage, "Emeka Lindqvist")).toBe("Won")
    }))

  it("says cell by cell what has changed since, and can be looked at again", () =>
    visit(async (page) => {
      await asksForStatus(page, "Won", ["Amélie Quinn"])
      await asOwner(here.stage, "UPDATE data.people SET status = 'Lost' WHERE name = 'Amélie Quinn'")
      await press(page, "Change 1 person")
      await card(page).getByText("Status was Customer when you looked; it is Lost now. Nothing was changed.").waitFor()
      await card(page).getByText("The data has changed since this was shown.").waitFor()
      await look(page, "stale")
      await press(page, "Look again")
      await card(page).getByText("Amélie Quinn, Status: it was Customer when you looked; it is Lost now.").waitFor()
      await press(page, "Change 1 person")
      await card(page).getByText("Changed 1 person.").waitFor()
      expect(await statusOf(here.stage, "Amélie Quinn")).toBe("Won")
    }))

  it("was decided in another tab, which this page shows by itself", () =>
    visit(async (page) => {
      await asksForStatus(page, "Lost", ["Noor Okafor"])
      const other = await page.context().newPage()
      await other.goto(page.url())
      await press(other, "Don't")
      await card(other).getByText("You decided against it.").waitFor()
      await page.bringToFront()
      await card(page).getByText("You decided against it.").waitFor()
      expect(await statusOf(here.stage, "Noor Okafor")).toBe("Customer")
    }))
})

describe("a hostile value", () => {
  it("stands alone, without markup, cut, in its own direction", () =>
    visit(async (page) => {
      const name = `\u202Eadmin yb devorppa <img src=x onerror=alert(1)> ${"W".repeat(300)}`
      await asksFor({ stage: here.stage, page, who: ROSA, steps: await setting({ name }, "Emeka Lindqvist") })
      expect(await page.locator(".draft img").count()).toBe(0)
      const value = card(page).locator("ins bdi")
      expect(await value.innerText()).not.toContain("\u202E")
      expect([...(await value.innerText())].length).toBeLessThanOrEqual(200)
      await look(page, "hostile")
      await press(page, "Don't")
    }))
})

describe("with the keyboard alone", () => {
  it("a draft is reached, confirmed and undone", () =>
    visit(async (page) => {
      const focused = () => page.evaluate<string>("document.activeElement.innerText")
      const tabTo = async (name: string, key = "Shift+Tab") => {
        for (let presses = 0; presses < 40 && (await focused()) !== name; presses++) await page.keyboard.press(key)
        expect(await focused()).toBe(name)
      }
      await asksForStatus(page, "Lost", ["Noor Okafor"])
      await card(page).locator(".solid:enabled").waitFor()
      await tabTo("Change 1 person")
      await page.keyboard.press("Enter")
      await card(page).getByText("Changed 1 person.").waitFor()
      await page.locator(".composer textarea").focus()
      await tabTo("Undo")
      await page.keyboard.press("Enter")
      await page.locator(".draft .draft .solid:enabled").waitFor()
      await page.locator(".composer textarea").focus()
      await tabTo("Undo it")
      await page.keyboard.press("Enter")
      await page.locator(".draft").first().getByText("It was undone since.").waitFor()
    }))
})
