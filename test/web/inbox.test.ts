/** The inbox in real browsers: two for a person with two devices, and two for the proposer and the second person. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { beforeAll, beforeEach, describe, expect, it } from "vitest"
import { accessibilityFaults, type Looks } from "../support/browser.ts"
import { forgetLimits } from "../support/changes.ts"
import { asksFor, asOwner, confirming, idsOf, proposes, statusOf, type Steps } from "../support/drafting.ts"
import { GUEST, ROSA, YUKI } from "../support/stage.ts"
import { staged } from "../support/staged.ts"

const here = staged()

const FOLDER = process.env["MAX_SCREENSHOTS"]
const LIGHT: Looks = { theme: "light", width: 1280, height: 800 }
const PHONE: Looks = { theme: "dark", width: 390, height: 844 }
const PEOPLE = ["Noor Okafor", "Amélie Quinn", "Emeka Lindqvist", "ليلى حداد", "Rosa Delgado", "Yuki Tanaka"]

const CONFIRM = [
  { action: "update", type: "people", columns: ["email"], by: "second", approvers: ["admin"] },
  { action: "update", type: "people", columns: ["phone"], by: "second", approvers: ["guest"] }
]

beforeAll(() => confirming(here.stage, CONFIRM))
beforeEach(async () => {
  await asOwner(here.stage, "UPDATE max.changes SET state = 'withdrawn' WHERE state IN ('drafted', 'open', 'waiting')")
  await here.stage.run(forgetLimits(here.stage.organization))
})

const { visit } = here

/** Checks what is on the screen, and takes its picture where pictures are wanted. */
const look = async (page: Page, name: string, { theme, width }: Looks = LIGHT) => {
  if (FOLDER !== undefined) {
    mkdirSync(FOLDER, { recursive: true })
    await page.screenshot({ path: join(FOLDER, `inbox-${name}-${width === 390 ? "phone" : "desktop"}-${theme}.png`) })
  }
  expect.soft(await accessibilityFaults(page), name).toEqual([])
  expect.soft(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), `${name} fits`).toBe(true)
}

const setting = async (values: Readonly<Record<string, string>>, ...names: ReadonlyArray<string>): Promise<Steps> => [
  {
    actionId: "people.update",
    entityIds: await idsOf(here.stage, YUKI, "people", ...names),
    values: Object.entries(values).map(([columnId, value]) => ({ columnId, value }))
  }
]

const cards = (page: Page) => page.locator(".inbox .cards > li > .draft")
const goToInbox = (page: Page) => page.goto(`${here.stage.url}/inbox`)
/** For 700 ms after a card has appeared nothing on the page can be pressed. */
const settled = (page: Page) => page.waitForTimeout(800)
const list = async (page: Page, name: string) => {
  const button = page.locator(".inbox .lists").getByRole("button", { name, exact: true })
  // A card that comes or goes in between holds the page again.
  while ((await button.getAttribute("aria-pressed")) !== "true") {
    await settled(page)
    await button.click()
  }
}
const press = (page: Page, name: string) =>
  page.locator(".draft").last().getByRole("button", { name, exact: true }).click()

describe("a draft of a conversation", () => {
  it("is a row of the inbox on the person's other device, and approving it in the conversation clears the row", () =>
    visit(async (page) => {
      await asksFor({ stage: here.stage, page, who: ROSA, steps: await setting({ status: "Won" }, "Noor Okafor") })
      await visit(async (other) => {
        await other.getByRole("button", { name: "Inbox 1 waiting for you" }).click()
        await cards(other)
          .getByText(/from Customer\s*→\s*to Won/)
          .waitFor()
        expect(new URL(other.url()).pathname).toBe("/inbox")
        await press(page, "Change 1 person")
        await page.getByText("Changed 1 person.").waitFor()
        await other.getByText("No changes here.").waitFor()
        expect(await cards(other).count()).toBe(0)
        await other.getByRole("button", { name: "Inbox", exact: true }).waitFor()
        await list(other, "Decided")
        await cards(other).first().getByText("Changed 1 person.").waitFor()
      })
      expect(await statusOf(here.stage, "Noor Okafor")).toBe("Won")
    }))

  it("is refused in the inbox, which applies nothing and ends the card in the conversation", () =>
    visit(async (page) => {
      await asksFor({ stage: here.stage, page, who: ROSA, steps: await setting({ status: "Lost" }, "Amélie Quinn") })
      await visit(async (other) => {
        await goToInbox(other)
        await press(other, "Don't")
        await cards(other).getByText("You decided against it. Nothing was changed.").waitFor()
      })
      await page.getByText("You decided against it. Nothing was changed.").waitFor()
      expect(await statusOf(here.stage, "Amélie Quinn")).toBe("Customer")
    }))
})

describe("a change that needs a second person", () => {
  it("is counted, shown whole and approved in that person's inbox, and the proposer's inbox shows it", () =>
    visit(async (page) => {
      await proposes(here.stage, ROSA, await setting({ email: "noor@new.example" }, "Noor Okafor"))
      await goToInbox(page)
      await press(page, "Ask for approval")
      await cards(page).getByText("Waits for the approval of another person.").waitFor()
      await visit(
        async (other) => {
          await other.getByRole("button", { name: "Inbox 1 waiting for you" }).click()
          await cards(other).getByText("Rosa Delgado asks for this.").waitFor()
          await other.locator(".draft .solid:enabled").waitFor()
          await look(other, "approval")
          await press(other, "Change 1 person")
          await cards(other).getByText("Changed 1 person.").waitFor()
        },
        { who: YUKI }
      )
      await cards(page).getByText("Changed 1 person.").waitFor()
      expect((await cards(page).innerText()).replace(/\s+/g, " ")).toContain("to noor@new.example")
    }))

  it("can't be approved by a person who sees less than it touches, who is told so", () =>
    visit(async (page) => {
      await proposes(here.stage, ROSA, await setting({ phone: "+1 617-555-0100" }, "Noor Okafor"))
      await goToInbox(page)
      await press(page, "Ask for approval")
      await cards(page).getByText("Waits for the approval of another person.").waitFor()
      await visit(
        async (other) => {
          await goToInbox(other)
          await cards(other).getByText("This touches more than you may see, so you can't approve it.").waitFor()
          expect(await cards(other).getByRole("button").count()).toBe(0)
          const text = await cards(other).innerText()
          for (const hidden of ["Noor", "Rosa", "555"]) expect(text).not.toContain(hidden)
        },
        { who: GUEST }
      )
    }))
})

describe.each([LIGHT, PHONE])("the inbox, $theme, $width wide", (looks) => {
  it("groups more than five rows by value, with every name on demand, and keeps a receipt where it was decided", () =>
    visit(
      async (page) => {
        await proposes(
          here.stage,
          YUKI,
          await setting({ status: looks.theme === "light" ? "Lead" : "Won" }, "Amélie Quinn")
        )
        await proposes(here.stage, YUKI, await setting({ status: "Archived" }, ...PEOPLE))
        await goToInbox(page)
        await cards(page).nth(1).waitFor()
        const group = cards(page).first()
        expect((await group.innerText()).replace(/\s+/g, " ")).toContain("Change 6 people")
        expect(await group.getByText("Noor Okafor").isVisible()).toBe(false)
        await look(page, "waiting", looks)
        await settled(page)
        await group.locator("summary").first().click()
        await expect.poll(() => group.getByText("Noor Okafor").isVisible()).toBe(true)
        await look(page, "names", looks)
        await cards(page).nth(1).getByRole("button", { name: "Change 1 person" }).click()
        await cards(page).nth(1).getByText("Changed 1 person.").waitFor()
        await look(page, "receipt", looks)
        await list(page, "Decided")
        await cards(page).first().getByText("Changed 1 person.").waitFor()
        await page.getByRole("combobox", { name: "State" }).waitFor()
        await look(page, "decided", looks)
      },
      { who: YUKI, looks }
    ))
})

describe("the filters", () => {
  it("keep what has the chosen type, person and state, of all changes and not only of those on the page", () =>
    visit(
      async (page) => {
        const steps = await setting({ email: "x@new.example" }, "Noor Okafor")
        const first = await proposes(here.stage, ROSA, steps)
        const [company] = await idsOf(here.stage, YUKI, "companies", "Alder Foods")
        await asOwner(here.stage, "UPDATE max.changes SET state = 'waiting' WHERE change_id = $1::text", first)
        for (let index = 0; index < 9; index++)
          await proposes(here.stage, YUKI, [
            {
              actionId: "companies.update",
              entityIds: [company!],
              values: [{ columnId: "status", value: `Lead ${index}` }]
            }
          ])
        await goToInbox(page)
        await cards(page).nth(7).waitFor()
        await expect.poll(() => cards(page).count()).toBe(8)
        await settled(page)
        await page.getByRole("button", { name: "Show more" }).click()
        await cards(page).nth(9).waitFor()
        await page.getByRole("combobox", { name: "Type" }).selectOption("people")
        await cards(page).nth(1).waitFor({ state: "detached" })
        expect(await cards(page).innerText()).toContain("Rosa Delgado asks for this.")
        await page.getByRole("combobox", { name: "Type" }).selectOption("")
        await cards(page).nth(7).waitFor()
        await page.getByRole("combobox", { name: "Person" }).selectOption("Rosa Delgado")
        await cards(page).nth(1).waitFor({ state: "detached" })
        await list(page, "Proposed by you")
        await cards(page).nth(7).waitFor()
        await page.getByRole("combobox", { name: "State" }).selectOption("rejected")
        await page.getByText("No change fits.").waitFor()
        await page.getByRole("combobox", { name: "State" }).selectOption("open")
        await cards(page).nth(7).waitFor()
      },
      { who: YUKI }
    ))
})

describe("a link to one change", () => {
  it("opens it after the sign-in, in the tab where the sign-in link opens", async () => {
    const id = await proposes(here.stage, ROSA, await setting({ status: "Won" }, "Emeka Lindqvist"))
    await visit(
      async (page) => {
        await page.goto(`${here.stage.url}/inbox/${id}`)
        await page.getByLabel("Your sign-in link").waitFor()
        const other = await page.context().newPage()
        await other.goto(await here.stage.linkFor(ROSA))
        await other
          .locator(".draft")
          .getByText(/to Won/)
          .waitFor()
        expect(new URL(other.url()).pathname).toBe(`/inbox/${id}`)
        await settled(other)
        await other.getByRole("button", { name: "All changes in the inbox" }).click()
        await cards(other).getByText("Emeka Lindqvist").waitFor()
        await other.goBack()
        await other.getByRole("heading", { name: "One change" }).waitFor()
      },
      { who: null }
    )
  })

  it("of another person is not found, in the same words as an unknown one", async () => {
    const id = await proposes(here.stage, YUKI, await setting({ status: "Won" }, "Emeka Lindqvist"))
    await visit(async (page) => {
      const shown = async (change: string) => {
        await page.goto(`${here.stage.url}/inbox/${change}`)
        await page.locator(".conversation .failed").waitFor()
        return page.locator(".conversation .failed").innerText()
      }
      expect(await shown(id)).toBe(await shown("bcdfghj"))
    })
  })
})

describe("with the keyboard alone", () => {
  it("the inbox is opened, filtered, and a change in it is confirmed", () =>
    visit(async (page) => {
      await proposes(here.stage, ROSA, await setting({ status: "Lost" }, "Noor Okafor"))
      const focused = () =>
        page.evaluate<string>(
          "document.activeElement.innerText.replace(/\\s+/g, ' ').trim() || document.activeElement.tagName"
        )
      const tabTo = async (name: string | RegExp, key = "Tab") => {
        const fits = async () => new RegExp(name).test(await focused())
        for (let presses = 0; presses < 60 && !(await fits()); presses++) await page.keyboard.press(key)
        expect(await focused()).toMatch(name)
      }
      await page.reload()
      await page.getByRole("button", { name: /^Inbox 1/ }).waitFor()
      await tabTo(/^Inbox/)
      await page.keyboard.press("Enter")
      await page.locator(".draft .solid:enabled").waitFor()
      await tabTo(/^Waiting for you$/)
      await tabTo(/^Change 1 person$/)
      await page.keyboard.press("Enter")
      await cards(page).getByText("Changed 1 person.").waitFor()
      expect(await statusOf(here.stage, "Noor Okafor")).toBe("Lost")
    }))
})
