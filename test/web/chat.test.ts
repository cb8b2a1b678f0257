import { Effect } from "effect"
import { beforeEach, describe, expect, it } from "vitest"
import type { Page } from "playwright-core"
import { ask } from "../support/browser.ts"
import { finds, inTurn, says } from "../support/messages.ts"
import { basisKeyOf } from "../support/members.ts"
import { GUEST, ROSA, YUKI } from "../support/stage.ts"
import { staged } from "../support/staged.ts"
import { publish } from "../support/agent.ts"

const here = staged()

beforeEach(() => here.stage.messages.reset(() => says("Hello.")))

const { visit } = here

const field = (page: Page) => page.locator(".composer textarea")
const says_ = (page: Page, text: string) => page.locator(".answer").getByText(text).last().waitFor()
const questions = (page: Page) => page.locator(".question h2").allInnerTexts()
const answers = (page: Page) => page.locator(".prose").allInnerTexts()
const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20))
}

const PHONE = finds("people", [["name", "eq", "Amélie Quinn"]], { selectColumns: ["phone", "company"] })
const LAURAS = finds("people", [["name", "eq", "Laura Szabó"]], { selectColumns: ["company"] })
const WHICH = "Laura Szabó at Cedar Labs is a customer, Laura Szabó at Heron Optics is a lead. Which one?"
const slow = (text: string) => says(text, { pace: 30, piece: 6 })
/** An answer that takes half a minute, so that it is still going on when the page looks, or ends soon after `hurry`. */
const lasting = (text: string) => {
  let pace = 500
  const reply = Object.defineProperty({ ...says(text, { piece: 6 }) }, "pace", { get: () => pace })
  return { reply, hurry: () => (pace = 10) }
}
const LONG = "Here is what I know of the harbor and its people, told slowly, word by word. ".repeat(4)

describe("signing in on the chat page", () => {
  it("explains how without a credential, and accepts a pasted link", () =>
    visit(
      async (page) => {
        await page.getByText("max serve --sign-in you@example.com").waitFor()
        await page.getByLabel("Your sign-in link").fill("not a link")
        await page.keyboard.press("Enter")
        await page.getByText("neither a sign-in link nor a token").waitFor()
        await page.getByLabel("Your sign-in link").fill(await here.stage.linkFor(ROSA))
        await page.keyboard.press("Enter")
        await page.getByText("What would you like to know?").waitFor()
        await page.getByRole("button", { name: "Sign out" }).click()
        await page.getByText("Your sign-in link").waitFor()
        expect(await page.context().cookies()).toEqual([])
      },
      { who: null }
    ))

  it("removes a link's code from the address, and says when a link was used before", () =>
    visit(
      async (page) => {
        const link = await here.stage.linkFor(ROSA)
        await page.goto(link)
        await page.getByText("What would you like to know?").waitFor()
        expect(page.url()).toBe(`${here.stage.url}/`)
        await page.context().clearCookies()
        await page.goto(link)
        await page.getByText("This link or token was used before or has expired.").waitFor()
      },
      { who: null }
    ))

  it("accepts a token while the page is open, and stores it nowhere", () =>
    visit(
      async (page) => {
        await page.getByLabel("Your sign-in link").fill(await here.stage.tokenFor(ROSA))
        await page.keyboard.press("Enter")
        await page.locator(".index").waitFor()
        expect(await page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])")).toBe(
          '[{},{},""]'
        )
        await page.reload()
        await page.getByText("Your sign-in link").waitFor()
      },
      { who: null }
    ))

  it("offers example questions with names that the person may see", async () => {
    await visit(async (page) => {
      await page.getByText("Ask about people, companies and meetings at Harbor Supply.").waitFor()
      await page.getByRole("button", { name: "Who works at Alder Foods?" }).click()
      await says_(page, "Hello.")
      expect(await questions(page)).toEqual(["Who works at Alder Foods?"])
    })
    await visit(
      async (page) => {
        await page.getByText("You have access to no data yet.").waitFor()
        expect(await page.locator(".index").count()).toBe(0)
      },
      { who: GUEST }
    )
  })
})

describe("asking on the chat page", () => {
  it("streams an answer, names the lookups, and links the number in the answer", () =>
    visit(async (page) => {
      const answer = slow("Amélie Quinn at **Alder Foods**: +1 617-555-0188.")
      let seen = () => {}
      const isSeen = new Promise<void>((resolve) => (seen = resolve))
      here.stage.messages.reset((_, step) => (step === 0 ? PHONE : isSeen.then(() => answer)))
      await ask(page, "How do I reach Amélie Quinn?")
      await page.locator(".activity").getByText("Looking up people…").waitFor()
      seen()
      const call = page.getByRole("link", { name: "Call Amélie Quinn" })
      await call.waitFor()
      expect(await call.getAttribute("href")).toBe("tel:+16175550188")
      expect(await page.locator(".prose strong").innerText()).toBe("Alder Foods")
      await page.locator('[role="status"]').getByText("Max has answered.").waitFor()
      await expect.poll(() => page.locator('[role="log"]').count()).toBe(1)
    }))

  it("continues a conversation, which the list names after its first question", () =>
    visit(async (page) => {
      here.stage.messages.reset((request) =>
        says(`You have asked ${request.messages.filter(({ role }) => role === "user").length} so far.`)
      )
      await ask(page, "First of all")
      await says_(page, "You have asked 1 so far.")
      await ask(page, "And then?")
      await says_(page, "You have asked 2 so far.")
      await page.locator(".history .title").getByText("First of all").waitFor()
      await page.getByRole("button", { name: "New", exact: true }).click()
      await page.getByText("What would you like to know?").waitFor()
      await page.goBack()
      await says_(page, "You have asked 2 so far.")
      expect(await questions(page)).toEqual(["First of all", "And then?"])
    }))

  it("offers a choice between two entities, and sends the chosen handle", () =>
    visit(async (page) => {
      here.stage.messages.reset(inTurn(LAURAS, says(WHICH), says("She is a lead.")))
      await ask(page, "Laura Szabó's status?")
      const second = page.locator(".choices button").nth(1)
      await second.waitFor()
      expect(await second.innerText()).toMatch(/Laura Szabó\s+Heron Optics\s*Lead/)
      await page.reload()
      await second.waitFor()
      await second.click()
      await says_(page, "She is a lead.")
      expect(JSON.stringify(here.stage.messages.requests.at(-1)!.body.messages.at(-1))).toContain("number 2")
      expect(await questions(page)).toEqual(["Laura Szabó's status?", "Laura Szabó"])
      await page.reload()
      await says_(page, "She is a lead.")
      expect(await questions(page)).toEqual(["Laura Szabó's status?", "Laura Szabó"])
    }))

  it("stops the model call on Escape, stores nothing of the turn, and can ask again", () =>
    visit(async (page) => {
      here.stage.messages.reset(inTurn(lasting(LONG).reply, says("In short: yes.")))
      await ask(page, "Tell me everything")
      await page.locator(".prose.growing").waitFor()
      await field(page).press("Escape")
      await page.getByText("It wasn't saved.").waitFor()
      await until(() => here.stage.messages.requests[0]!.aborted)
      await page.getByRole("button", { name: "Ask again" }).click()
      await says_(page, "In short: yes.")
      expect(await questions(page)).toEqual(["Tell me everything"])
    }))

  it("replaces an edited question and all later turns once there is an answer", () =>
    visit(async (page) => {
      here.stage.messages.reset(
        inTurn(says("One."), says("Two."), { status: 401, error: "authentication_error" }, says("Three."))
      )
      await ask(page, "First")
      await says_(page, "One.")
      await ask(page, "Second")
      await says_(page, "Two.")
      const edit = async () => {
        await page.locator(".turn").first().hover()
        await page.getByRole("button", { name: "Edit" }).first().click()
        const editor = page.getByLabel("Edit the question")
        await page.getByText("The answer below will be replaced.").waitFor()
        await editor.fill("First, said better")
        await editor.press("Enter")
      }
      await edit()
      await page.locator(".failed").waitFor()
      await page.getByRole("button", { name: "Show the earlier answer" }).click()
      expect(await answers(page)).toEqual(["One.", "Two."])
      await edit()
      await says_(page, "Three.")
      await page.reload()
      await says_(page, "Three.")
      expect([await questions(page), await answers(page)]).toEqual([["First, said better"], ["Three."]])
    }))

  it("copies an answer to the clipboard", () =>
    visit(async (page) => {
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"])
      here.stage.messages.reset(() => says("Take **this** along."))
      await ask(page, "Something to copy")
      await page.getByRole("button", { name: "Copy", exact: true }).click()
      await page.getByText("Copied").waitFor()
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe("Take **this** along.")
    }))

  it("can be used with the keyboard alone", () =>
    visit(async (page) => {
      here.stage.messages.reset(inTurn(LAURAS, says(WHICH), says("She is a customer.")))
      const focused = () =>
        page.evaluate<string>("document.activeElement.innerText || document.activeElement.getAttribute('aria-label')")
      const tabTo = async (name: RegExp, key = "Tab") => {
        for (let presses = 0; presses < 40 && !name.test(await focused()); presses++) await page.keyboard.press(key)
        expect(await focused()).toMatch(name)
      }
      await page.keyboard.type("Laura Szabó?")
      await page.keyboard.press("Enter")
      await page.locator(".choices").waitFor()
      await tabTo(/^1\s+Laura/, "Shift+Tab")
      await page.keyboard.press("Enter")
      await says_(page, "She is a customer.")
      await tabTo(/^New$/)
      await page.keyboard.press("Enter")
      await page.getByText("What would you like to know?").waitFor()
      expect(await focused()).toBe("Ask Max")
    }))
})

describe("resuming a turn", () => {
  it("continues after a reload in the middle of an answer, with a single model call", () =>
    visit(async (page) => {
      const first = lasting(`${LONG}The end.`)
      here.stage.messages.reset(inTurn(first.reply, lasting(LONG).reply))
      await ask(page, "Tell me everything")
      await page.locator(".prose.growing").waitFor()
      await page.reload()
      await page.locator(".prose.growing").waitFor()
      first.hurry()
      await says_(page, "The end.")
      expect(await answers(page)).toEqual([`${LONG}The end.`.trim()])
      expect(here.stage.messages.requests).toHaveLength(1)
      await ask(page, "And more")
      await page.locator(".prose.growing").waitFor()
      await page.reload()
      await page.locator(".prose.growing").waitFor()
      await page.getByRole("button", { name: "Stop" }).click()
      await page.getByText("It wasn't saved.").waitFor()
    }))

  it("shows on another device what this device asked, and to no other person", () =>
    visit(async (page) => {
      const answer = lasting(`${LONG}The end.`)
      here.stage.messages.reset(() => answer.reply)
      await ask(page, "Everything, for both of us")
      await page.locator(".prose.growing").waitFor()
      await visit(async (other) => {
        await other.locator(".going").getByText("Everything, for both of us").click()
        answer.hurry()
        await says_(other, "The end.")
        await other.waitForURL(/#c\//)
        expect(await answers(other)).toEqual([`${LONG}The end.`])
      })
      await says_(page, "The end.")
      await page.waitForURL(/#c\//)
      await visit(
        async (otherPerson) => {
          await otherPerson.getByText("Your questions appear here.").waitFor()
          await otherPerson.goto(page.url())
          await otherPerson.locator(".failed").waitFor()
        },
        { who: YUKI }
      )
    }))

  it("reconnects automatically when the connection breaks in the middle", () =>
    visit(async (page) => {
      here.stage.messages.reset(() => slow(`${LONG}The end.`))
      let posts = 0
      await page.route("**/v1/chat", async (route) => {
        const request = route.request()
        if (request.method() !== "POST" || (posts += 1) > 1) return route.continue()
        const cookie = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join("; ")
        const headers = { "content-type": "application/json", cookie, origin: here.stage.url }
        const started = await fetch(request.url(), { method: "POST", headers, body: request.postData()! })
        const reader = started.body!.getReader()
        const { value } = await reader.read()
        void reader.cancel()
        return route.fulfill({ status: 200, contentType: "text/event-stream", body: Buffer.from(value!) })
      })
      await ask(page, "Through a tunnel")
      await says_(page, "The end.")
      expect([await answers(page), posts]).toEqual([[`${LONG}The end.`], 1])
      expect(here.stage.messages.requests).toHaveLength(1)
    }))
})

describe("a failed turn", () => {
  it("shows the reason with a reference, and can be tried again", () =>
    visit(async (page) => {
      here.stage.messages.reset(inTurn({ status: 401, error: "authentication_error" }, says("There it is.")))
      await ask(page, "Anything?")
      await page.locator(".failed").waitFor()
      expect(await page.locator(".failed code").innerText()).toMatch(/^[0-9A-Z]{4}$/)
      await page.getByRole("button", { name: "Try again" }).click()
      await says_(page, "There it is.")
      expect(await questions(page)).toEqual(["Anything?"])
    }))

  it("withholds an answer from before a policy change, and can ask again", () =>
    visit(async (page) => {
      here.stage.messages.reset(inTurn(PHONE, says("Her number is +1 617-555-0188."), says("I found no number.")))
      await ask(page, "Amélie Quinn's phone?")
      await says_(page, "+1 617-555-0188")
      const deny = { id: "no-phones", effect: "deny", role: "rep", action: "read", type: "people", columns: ["phone"] }
      await here.stage.run(publish(here.stage.organization, (rules) => [...rules, deny]))
      await page.reload()
      await page.getByText("Your access has changed since").waitFor()
      expect(await page.getByText("617-555-0188").count()).toBe(0)
      await page.getByRole("button", { name: "Ask again" }).click()
      await says_(page, "I found no number.")
      await here.stage.run(publish(here.stage.organization, (rules) => rules.filter(({ id }) => id !== "no-phones")))
    }))

  it("shows the sign-in when the session has ended", () =>
    visit(async (page) => {
      await page.context().clearCookies()
      await ask(page, "Am I still signed in?")
      await page.getByText("Your sign-in link").waitFor()
      expect(here.stage.messages.requests).toEqual([])
    }))
})

describe("many conversations", () => {
  it("are listed page by page and searched by question, and one of 1,000 turns opens at its end", async () => {
    const { Database } = await import("../../src/database/Database.ts")
    const { Memberships } = await import("../../src/services/members/Memberships.ts")
    await here.stage.run(
      Effect.gen(function* () {
        const { owner } = yield* Database
        const members = yield* (yield* Memberships).list(here.stage.organization)
        const yuki = members.find(({ identifiers }) => identifiers.includes(YUKI))!.anchorId
        yield* owner.unsafe(
          `INSERT INTO max.sessions (organization_id, session_id, anchor_id, turns, updated_at)
           SELECT $1::bigint, 'many-' || n, $2::text, CASE n WHEN 1 THEN 1000 ELSE 1 END, now() - n * interval '1 hour' FROM generate_series(1, 500) n`,
          [here.stage.organization.id, yuki]
        )
        yield* owner.unsafe(
          `INSERT INTO max.turns (organization_id, session_id, position, epoch, asked, answered, refs, model, input_tokens, output_tokens, reference, basis, expires_at)
           SELECT s.organization_id, s.session_id, p, o.epoch, 'Question ' || p || ' of ' || s.session_id, 'Answer ' || p, '[]', 'm', 1, 1, 'AAAA', $2::text, 'infinity'
           FROM max.sessions s JOIN max.organizations o ON o.organization_id = s.organization_id, generate_series(1, s.turns) p
           WHERE s.anchor_id = $1::text AND s.session_id LIKE 'many-%'`,
          [yuki, yield* basisKeyOf(here.stage.organization, YUKI)]
        )
      })
    )
    await visit(
      async (page) => {
        await page.locator(".history .item").first().waitFor()
        await expect.poll(() => page.locator(".history .item").count()).toBe(100)
        for (let scrolls = 0; (await page.locator(".history .item").count()) < 500 && scrolls < 40; scrolls++) {
          await page.locator(".history .list").evaluate((list: any) => list.scrollTo(0, list.scrollHeight))
          await page.waitForTimeout(100)
        }
        await expect.poll(() => page.locator(".history .item").count()).toBe(500)
        await page.getByPlaceholder("Search your questions").fill("of many-33_")
        await page.getByText("None of your questions contains these words.").waitFor()
        await page.getByPlaceholder("Search your questions").fill("OF MANY-333")
        await page.getByText("Question 1 of many-333").waitFor()
        await expect.poll(() => page.locator(".history .item").count()).toBe(1)
        await page.goto(`${here.stage.url}/#c/many-1`)
        await page.getByText("Answer 1000").waitFor()
        await expect.poll(() => page.locator(".turn").count()).toBe(24)
        await page.locator(".scroller").evaluate((one: any) => one.scrollTo(0, 0))
        await page.getByText("Question 953 of many-1").waitFor({ state: "attached" })
        // The visible turns keep their position.
        await expect.poll(() => page.getByText("Question 977 of many-1").isVisible()).toBe(true)
      },
      { who: YUKI }
    )
  })
})
