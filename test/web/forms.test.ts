/** Actions as forms on the page: made from the declaration, checked as the server checks, and proposed like every other change. */
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import demo from "../../src/channels/cli/demo/policy.json" with { type: "json" }
import { Actions } from "../../src/services/actions/Actions.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { forgetLimits } from "../support/changes.ts"
import { asOwner } from "../support/drafting.ts"
import { fileOf, startService } from "../support/service.ts"
import { YUKI } from "../support/stage.ts"
import { DESKTOP, look, PHONE, staged } from "../support/staged.ts"

const service = await startService()
const here = staged({ provider: "basic", privateHosts: [service.host] })
afterAll(() => service.stop())

const { visit } = here

const NAME = "Order a quantity"
const FIELDS = [
  { slug: "order", name: "Order", kind: "text", needed: true, pattern: "[0-9]{10}" },
  { slug: "quantity", name: "Quantity", kind: "integer", needed: true, min: 1, max: 500, description: "In pieces." },
  { slug: "company", name: "Supplier", kind: "reference", target: "companies", sends: "email", needed: true },
  { slug: "contact", name: "Contact", kind: "reference", target: "people", sends: "email", within: "company" },
  { slug: "priority", name: "Priority", kind: "text", values: ["Low", "High"], default: "Low" },
  { slug: "due", name: "Due", kind: "date" },
  { slug: "urgent", name: "Urgent", kind: "boolean" },
  { slug: "note", name: "Note", kind: "text", maxLength: 300 },
  {
    slug: "items",
    name: "Item",
    kind: "group",
    maxLength: 3,
    fields: [
      { slug: "material", name: "Material", kind: "text", needed: true, maxLength: 18 },
      { slug: "pieces", name: "Pieces", kind: "integer", needed: true, min: 1 }
    ]
  }
]

beforeAll(() =>
  here.stage.run(
    Effect.gen(function* () {
      const invoke = { id: "buys", effect: "allow", role: "rep", action: "invoke", name: "set_quantity" }
      const roles = { ...demo.roles, guest: { inherits: [] } }
      const text = JSON.stringify({ ...demo, roles, rules: [...demo.rules, invoke] })
      yield* (yield* Policies).publish(here.stage.organization, text, "test")
      const examples = ["Change the quantity on PO {order} to {quantity}"]
      const http = { body: { n: "{quantity}", to: "{company}", at: "{contact}", p: "{priority}", d: "{due}", u: "{urgent}", t: "{note}", i: { each: "items", entry: { m: "{material}", n: "{pieces}" } } } } // prettier-ignore
      const file = fileOf(service.url, http, { fields: FIELDS, examples, name: NAME })
      yield* (yield* Actions).publish(here.stage.organization, file, "test")
    })
  )
)
beforeEach(() => here.stage.run(forgetLimits(here.stage.organization)))

const opened = async (page: Page) => {
  await page.goto(`${here.stage.url}/#a/set_quantity`)
  // The page moves the focus there, from which Tab goes on.
  await page.locator(".doing h1:focus").getByText(NAME).waitFor()
}
const labelled = (page: Page, name: string) =>
  page.locator(".action-form").getByLabel(name).and(page.locator("input, select, textarea"))
const found = (page: Page) => page.locator(".found li")
const focused = (page: Page) => page.evaluate("document.activeElement.id || document.activeElement.textContent")
const proposed = async () =>
  (
    await asOwner(
      here.stage,
      "SELECT 1 FROM max.changes WHERE organization_id = $1::bigint",
      here.stage.organization.id
    )
  ).length

describe.each([DESKTOP, PHONE])("a form, $theme, $width wide", (looks) => {
  it("is opened from the list, says every problem at its field, and shows the card of what it proposes", () =>
    visit(
      async (page) => {
        if (looks.width === 390) await page.getByRole("button", { name: "Conversations" }).click()
        await page.getByRole("button", { name: "What you can do" }).click()
        await page.getByRole("heading", { name: "What you can do" }).waitFor()
        await page.getByRole("button", { name: NAME }).waitFor()
        await look(page, "form-list", looks)
        await page.getByRole("button", { name: NAME }).click()
        await page.locator(".doing h1:focus").getByText(NAME).waitFor()
        await look(page, "form-empty", looks)
        const before = await proposed()
        await labelled(page, "Quantity").fill("501")
        await labelled(page, "Note").fill("x".repeat(301))
        await page.getByRole("button", { name: "Add Item" }).click()
        await page.locator("#field-items-0-material:focus").waitFor()
        await labelled(page, "Pieces").fill("0")
        await page.getByRole("button", { name: "Show the change" }).click()
        await page.getByText("6 fields need other values:").waitFor()
        expect(await page.locator(".field .trouble").allInnerTexts()).toEqual([
          "It is needed.",
          "It must be at most 500.",
          "It is needed.",
          "It has more than 300 characters.",
          "It is needed.",
          "It must be at least 1."
        ])
        await page.locator("#field-order:focus").waitFor()
        expect(await labelled(page, "Quantity").getAttribute("aria-invalid")).toBe("true")
        expect(await proposed()).toBe(before)
        await look(page, "form-problems", looks)
        await page.getByRole("button", { name: "Item 1, Pieces" }).click()
        expect(await focused(page)).toBe("field-items-0-pieces")
        await labelled(page, "Order").fill("4500000001")
        await labelled(page, "Quantity").fill("44")
        await labelled(page, "Supplier").pressSequentially("alder")
        await page.getByRole("option", { name: "Alder Foods" }).waitFor()
        await look(page, "form-choices", looks)
        await page.getByRole("option", { name: "Alder Foods" }).click()
        await labelled(page, "Priority").selectOption("High")
        await labelled(page, "Due").fill("2026-12-24")
        await labelled(page, "Urgent").selectOption("Yes")
        await labelled(page, "Note").fill("By the back door")
        await labelled(page, "Material").fill("TG11")
        await labelled(page, "Pieces").fill("3")
        await page.getByRole("button", { name: "Show the change" }).click()
        const card = page.locator(".alone .draft")
        await card.getByText(service.host).waitFor()
        for (const value of [
          "4500000001",
          "44",
          "hello@alderfoods.example (Alder Foods)",
          "High",
          "2026-12-24",
          "By the back door"
        ])
          // prettier-ignore
          await card.getByText(value, { exact: true }).waitFor()
        expect(await card.innerText()).toMatch(/TG11/)
        expect(await focused(page)).toBe("One change")
        expect(service.asked).toEqual([])
        await look(page, "form-card", looks)
      },
      { looks }
    ))
})

describe("a form", () => {
  it("is filled in and sent by the keyboard alone, with a choice made by the arrow keys", () =>
    visit(async (page) => {
      await opened(page)
      const type = (text: string) => page.keyboard.type(text)
      const tab = () => page.keyboard.press("Tab")
      await tab()
      await type("4500000002")
      await tab()
      await type("7")
      await tab()
      await type("o")
      await page.getByText("Type three letters or more.").waitFor()
      await page.keyboard.press("Backspace")
      await page.keyboard.press("ArrowDown")
      await found(page).nth(1).waitFor()
      await page.keyboard.press("Escape")
      expect(await found(page).filter({ visible: true }).count()).toBe(0)
      await page.keyboard.press("ArrowDown")
      await page.getByRole("option", { name: "Heron Optics" }).waitFor()
      await page.keyboard.press("ArrowUp")
      await page.keyboard.press("Enter")
      const supplier = await labelled(page, "Supplier").inputValue()
      expect(supplier).toMatch(/^(Alder Foods|Heron Optics)$/)
      await tab()
      await page.keyboard.press("ArrowDown")
      await found(page).first().waitFor()
      const people = await found(page).filter({ visible: true }).allInnerTexts()
      expect(people).not.toContain("Emeka Lindqvist")
      await page.keyboard.press("Escape")
      await page.keyboard.press("Enter")
      const card = page.locator(".alone .draft")
      await card.waitFor()
      expect(await card.innerText()).toContain("4500000002")
    }))

  it("shows what the server refuses at its field, and offers what a text may stand for", () =>
    visit(async (page) => {
      await asOwner(here.stage, "UPDATE data.companies SET name = 'Heron Labs', name_k = 'heron labs' WHERE name_k = 'heron optics'") // prettier-ignore
      await opened(page)
      await labelled(page, "Order").fill("4500000003")
      await labelled(page, "Quantity").fill("1.5")
      await labelled(page, "Supplier").fill("Birch & Sons")
      await page.getByRole("button", { name: "Show the change" }).click()
      await page.getByText("One field needs another value:").waitFor()
      expect(await page.locator(".field .trouble").allInnerTexts()).toEqual([`"1.5" isn't a whole number.`])
      await page.locator("#field-quantity:focus").waitFor()
      await labelled(page, "Quantity").fill("2")
      await page.getByRole("button", { name: "Show the change" }).click()
      await page.locator(".field .trouble").getByText(`There is no company "Birch & Sons".`).waitFor()
      await page.locator("#field-company:focus").waitFor()
      await labelled(page, "Supplier").fill("labs")
      await page.getByRole("button", { name: "Show the change" }).click()
      await page.locator(".field .trouble").getByText(`Several companies fit "labs". Which one?`).waitFor()
      await page.getByRole("option", { name: "Heron Labs" }).click()
      await page.getByRole("button", { name: "Show the change" }).click()
      await page.locator(".alone .draft").getByText("hi@heronoptics.example (Heron Labs)").waitFor()
    }))

  it("is offered where an action's missing fields are asked for, with what was said", () =>
    visit(async (page) => {
      await page.locator(".composer textarea").fill("Change the quantity on PO 4500000009 to 12")
      await page.keyboard.press("Enter")
      await page.locator(".turn[aria-busy=false]").waitFor()
      expect(await page.locator(".turn .answer").innerText()).toMatch(/needs Supplier/)
      await page.getByRole("button", { name: "Fill in a form" }).click()
      await labelled(page, "Supplier").waitFor()
      expect(await labelled(page, "Order").inputValue()).toBe("4500000009")
      expect(await labelled(page, "Quantity").inputValue()).toBe("12")
      expect(await labelled(page, "Priority").inputValue()).toBe("Low")
    }))

  it("adds a row of a type, and doesn't open for an action that the person may not use", () =>
    visit(
      async (page) => {
        await page.goto(`${here.stage.url}/#a/set_quantity`)
        await page.getByText("There is no such form for you.").waitFor()
        await page.goto(`${here.stage.url}/#a/companies.create`)
        await labelled(page, "Name").fill("Birch & Daughters")
        await page.getByRole("button", { name: "Show the change" }).click()
        const card = page.locator(".alone .draft")
        await card.waitFor()
        expect(await card.innerText()).toContain("Birch & Daughters")
      },
      { who: YUKI }
    ))
})
