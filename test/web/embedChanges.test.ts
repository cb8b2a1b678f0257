import { Effect } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import type { Page } from "playwright-core"
import { Credentials, type Scope } from "../../src/services/access/Credentials.ts"
import { Memberships } from "../../src/services/members/Memberships.ts"
import { accessibilityFaults, openPage } from "../support/browser.ts"
import { forgetLimits } from "../support/changes.ts"
import { asOwner, confirming, draftIn, idsOf, statusOf } from "../support/drafting.ts"
import { ask } from "../support/http.ts"
import { says } from "../support/messages.ts"
import { openSite, type Site } from "../support/site.ts"
import { ROSA } from "../support/stage.ts"
import { staged } from "../support/staged.ts"

const allowedOrigins: Array<string> = []
let site: Site
let body = ""
let token = ""

beforeAll(async () => {
  site = await openSite(
    () => body,
    () => token
  )
  allowedOrigins.push(site.url)
})
const here = staged({ allowedOrigins })
beforeAll(() => confirming(here.stage, []))
beforeEach(async () => {
  await here.stage.run(forgetLimits(here.stage.organization))
  body = `<script src="${here.stage.url}/embed.js" async></script><max-chat token-from="/max-token"></max-chat>`
})
afterAll(() => site.close())

const tokenWith = (scopes: ReadonlyArray<Scope>) =>
  here.stage.run(
    Effect.gen(function* () {
      const members = yield* Memberships
      const credentials = yield* Credentials
      const all = yield* members.list(here.stage.organization)
      const { anchorId } = all.find(({ identifiers }) => identifiers.includes(ROSA))!
      return (yield* credentials.createToken(here.stage.organization, { anchorId, name: "site", scopes, days: 1 }))
        .secret
    })
  )

const card = (page: Page) => page.locator("max-chat .draft").last()

/** Asks in the embedded chat for a status that the scripted model drafts; the card is shown. */
const drafted = async (page: Page, name: string, status: string): Promise<string> => {
  const say = async (text: string, answer: string) => {
    await page.locator("max-chat .composer textarea").fill(text)
    await page.keyboard.press("Enter")
    // An answer is shown before its turn is kept, with which its conversation begins.
    await page.locator("max-chat .turn[aria-busy=false]").getByText(answer).last().waitFor()
  }
  here.stage.messages.reset(() => says("Hello."))
  await page.goto(site.url)
  await page.locator("max-chat .composer textarea").waitFor()
  await say("Hello?", "Hello.")
  const [session] = await asOwner(here.stage, "SELECT session_id FROM max.sessions ORDER BY created_at DESC LIMIT 1")
  const steps = [
    {
      actionId: "people.update",
      entityIds: await idsOf(here.stage, ROSA, "people", name),
      values: [{ columnId: "status", value: status }]
    }
  ]
  let changeId: string | undefined
  here.stage.messages.reset(async () => {
    changeId ??= await draftIn(here.stage, ROSA, steps, String(session!["session_id"]), 2)
    return says("It waits for you below.")
  })
  await say("Please change that", "It waits for you below.")
  await card(page).waitFor()
  return changeId!
}

describe("a draft inside another site", () => {
  it("has a link into Max's own page and nothing that a script of the site could press", async () => {
    token = await tokenWith(["chat", "changes"])
    const { close, page } = await openPage(here.browser, site.url)
    const changeId = await drafted(page, "Noor Okafor", "Won")
    const link = card(page).getByRole("link", { name: "Decide in Max" })
    const href = (await link.getAttribute("href"))!
    expect(new URL(href, here.stage.url).origin).toBe(here.stage.url)
    expect(href).toContain(changeId)
    expect([await link.getAttribute("target"), await link.getAttribute("rel")]).toEqual(["_blank", "noopener"])
    expect(await accessibilityFaults(page)).toEqual([])
    // The site's script reaches into the open shadow root: it presses everything, sends a form's events and reads the token.
    await page.evaluate(`(() => {
      const root = document.querySelector("max-chat").shadowRoot
      for (const one of root.querySelectorAll(".draft button, .draft form, .draft input")) {
        one.removeAttribute?.("disabled")
        one.click?.()
        one.requestSubmit?.()
      }
      for (const key of ["Enter", " ", "y"]) root.querySelector(".draft").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true }))
    })()`)
    const digest =
      await page.evaluate<string>(`fetch("/max-token").then((answer) => answer.json()).then(async ({ token }) => {
      const headers = { authorization: "Bearer " + token, "content-type": "application/json" }
      const change = await (await fetch("${here.stage.url}/v1/changes/${changeId}", { headers })).json()
      const sent = await fetch("${here.stage.url}/v1/changes/${changeId}/confirm", { method: "POST", headers, body: JSON.stringify({ digest: change.digest, rows: 1 }) })
      return String(sent.status)
    })`)
    expect(digest).toBe("403")
    expect(await statusOf(here.stage, "Noor Okafor")).toBe("Customer")
    // Max's own page has the same draft.
    const own = await openPage(here.browser, here.stage.url)
    await here.stage.signIn(own.page, ROSA)
    await own.page.goto(new URL(href, here.stage.url).href)
    await own.page.locator(".draft").getByRole("button", { name: "Change 1 person" }).click({ timeout: 60_000 })
    await own.page.getByText("Changed 1 person.").waitFor()
    expect(await statusOf(here.stage, "Noor Okafor")).toBe("Won")
    await own.close()
    await close()
  })

  it("is decided in place where the site's token may confirm", async () => {
    token = await tokenWith(["chat", "changes", "confirm"])
    const { close, page } = await openPage(here.browser, site.url)
    await drafted(page, "Amélie Quinn", "Won")
    expect(await card(page).getByRole("link", { name: "Decide in Max" }).count()).toBe(0)
    await card(page).getByRole("button", { name: "Change 1 person" }).click({ timeout: 60_000 })
    await card(page).getByText("Changed 1 person.").waitFor()
    expect(await statusOf(here.stage, "Amélie Quinn")).toBe("Won")
    await close()
  })
})

describe("a site that puts Max's own page into a frame", () => {
  it.each(["/", "/inbox", "/sign-in", "/admin", "/account"])("gets no page at %s to lay its own over", async (path) => {
    const { headers } = await ask(here.stage.url, path)
    expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'")
    body = `<iframe title="Max" src="${here.stage.url}${path}" style="opacity:0.01"></iframe>`
    const { close, page } = await openPage(here.browser, site.url)
    await page.goto(site.url)
    await expect.poll(() => page.frames().map((frame) => frame.url())).toContain("chrome-error://chromewebdata/")
    expect(await page.frames()[1]!.locator("textarea, button").count()).toBe(0)
    await close()
  })
})
