import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import type { Browser } from "playwright-core"
import { accessibilityFaults, openBrowser, openPage, styleOf } from "../support/browser.ts"
import { ask } from "../support/http.ts"
import { finds, inTurn, says } from "../support/messages.ts"
import { openSite, type Site } from "../support/site.ts"
import { openStage, ROSA, type Stage } from "../support/stage.ts"

let stage: Stage
let browser: Browser
let site: Site
let otherSite: Site
let body = ""
let token = ""

const SCREENSHOTS = process.env["MAX_SCREENSHOTS"]

beforeAll(async () => {
  site = await openSite(
    () => body,
    () => token
  )
  otherSite = await openSite(
    () => body,
    () => token
  )
  stage = await openStage({ allowedOrigins: [site.url] })
  token = await stage.tokenFor(ROSA)
  browser = await openBrowser()
})

afterAll(async () => {
  await browser.close()
  await stage.close()
  await site.close()
  await otherSite.close()
})

beforeEach(() => {
  stage.messages.reset(
    inTurn(
      finds("people", [["name", "eq", "Amélie Quinn"]], { selectColumns: ["phone"] }),
      says("Her number is +1 617-555-0188.")
    )
  )
})

const tag = (attributes: string) => `<script src="${stage.url}/embed.js" ${attributes}></script>`
const AMELIE = "What is Amélie Quinn's phone number?"

describe("the chat inside another site", () => {
  it("needs one script tag, which adds a button that opens the same chat", async () => {
    body = tag(`data-token-from="/max-token"`)
    const { close, faults, page } = await openPage(browser, site.url)
    await page.goto(site.url)
    await page.getByRole("button", { name: "Ask Max" }).click()
    const field = await page.locator("max-chat .composer textarea").boundingBox()
    expect(field!.y + field!.height).toBeLessThan(800)
    await page.locator("max-chat .composer textarea").fill(AMELIE)
    await page.keyboard.press("Enter")
    await page.locator("max-chat .card").waitFor()
    expect(await page.locator("max-chat .card dd").innerText()).toBe("+1 617-555-0188")
    if (SCREENSHOTS !== undefined) await page.screenshot({ path: `${SCREENSHOTS}/chat-embed-desktop-light.png` })
    expect(await accessibilityFaults(page)).toEqual([])
    // The site's styles don't reach into the chat.
    expect(await styleOf(page.locator("max-chat .solid").first(), "textTransform")).toEqual({ textTransform: "none" })
    // All requests go to Max's own origin.
    expect(faults.filter((fault) => !fault.startsWith(`request: ${stage.url}/`))).toEqual([])
    // The next page of the site continues the conversation.
    await page.reload()
    await page.getByRole("button", { name: "Ask Max" }).click()
    await page.getByText("Her number is +1 617-555-0188.").waitFor()
    await close()
  })

  it("takes its place, colors and font from the site", async () => {
    body = `<style>max-chat{--accent:rgb(170,0,90);--paper:rgb(250,240,255);height:30rem}</style>${tag("async")}
      <max-chat token-from="/max-token"></max-chat>`
    const { close, page } = await openPage(browser, site.url, { width: 360 })
    await page.goto(site.url)
    const element = page.locator("max-chat")
    await page.locator("max-chat .index").waitFor()
    expect(await styleOf(element, "backgroundColor", "fontFamily", "height")).toEqual({
      backgroundColor: "rgb(250, 240, 255)",
      fontFamily: expect.stringContaining("Georgia"),
      height: "480px"
    })
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true)
    expect(await accessibilityFaults(page)).toEqual([])
    await close()
  })

  it("asks the site for a fresh token once after a 401", async () => {
    body = `${tag("async")}<max-chat></max-chat><script>
      let asked = 0
      document.querySelector("max-chat").token = () => (asked += 1) === 1 ? "max_a_" + "x".repeat(43) : fetch("/max-token").then((answer) => answer.json()).then(({ token }) => token)
      window.askedTimes = () => asked</script>`
    const { close, page } = await openPage(browser, site.url)
    await page.goto(site.url)
    await page.locator("max-chat .index").waitFor()
    expect(await page.evaluate("askedTimes()")).toBe(2)
    await close()
  })

  it("says that the person isn't signed in when the site gives no token", async () => {
    body = `${tag("async")}<max-chat token-from="/nothing-there"></max-chat>`
    const { close, page } = await openPage(browser, site.url)
    await page.goto(site.url)
    await page.getByText("This site hasn't signed you in to Max.").waitFor()
    expect(await page.locator("max-chat textarea").count()).toBe(0)
    await close()
  })

  it("can send no request from a site that isn't configured", async () => {
    body = `${tag("async")}<max-chat token-from="/max-token"></max-chat>`
    const { close, page } = await openPage(browser, otherSite.url)
    await page.goto(otherSite.url)
    await page.getByText("Max can't be reached right now.").waitFor()
    expect(stage.messages.requests).toEqual([])
    await close()
  })
})

describe("CORS", () => {
  const preflight = (origin: string) =>
    ask(stage.url, "/v1/chat", {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization" }
    })

  it("allows exactly the configured origins to send requests, with a token and without cookies", async () => {
    const { headers, status } = await preflight(site.url)
    expect(status).toBe(204)
    expect(headers).toMatchObject({
      "access-control-allow-origin": site.url,
      "access-control-allow-headers": "authorization,content-type,last-event-id",
      "access-control-allow-methods": "GET, POST, DELETE",
      vary: "Origin"
    })
    expect(headers["access-control-allow-credentials"]).toBeUndefined()
    for (const origin of [otherSite.url, "null", `${site.url}.example`, site.url.replace("http:", "https:")]) {
      const refused = await preflight(origin)
      expect([origin, refused.status, refused.headers["access-control-allow-origin"]]).toEqual([origin, 403, undefined])
    }
  })

  it("lets only the configured origins read responses and problems", async () => {
    const read = (origin?: string) => ask(stage.url, "/v1/session", { headers: origin === undefined ? {} : { origin } })
    expect((await read(site.url)).headers["access-control-allow-origin"]).toBe(site.url)
    expect((await read(site.url)).status).toBe(401)
    expect((await read(stage.url)).headers["access-control-allow-origin"]).toBeUndefined()
    expect((await read()).headers["access-control-allow-origin"]).toBeUndefined()
  })

  it("lets any page load only the script, which is cached for five minutes", async () => {
    const script = await ask(stage.url, "/embed.js")
    expect(script.headers).toMatchObject({
      "cross-origin-resource-policy": "cross-origin",
      "cache-control": "public, max-age=300",
      "content-type": "text/javascript; charset=utf-8"
    })
    expect((await ask(stage.url, "/")).headers["cross-origin-resource-policy"]).toBe("same-origin")
  })
})
