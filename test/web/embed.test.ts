import { Effect } from "effect"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import type { IncomingMessage, ServerResponse } from "node:http"
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest"
import type { Browser } from "playwright-core"
import { Memberships } from "../../src/services/members/Memberships.ts"
import { accessibilityFaults, openBrowser, openPage, styleOf } from "../support/browser.ts"
import { ask } from "../support/http.ts"
import { finds, inTurn, says } from "../support/messages.ts"
import { openSite, type Site } from "../support/site.ts"
import { openStage, ROSA, type Stage, YUKI } from "../support/stage.ts"

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
    const call = page.locator("max-chat .next a")
    await call.waitFor()
    expect(await call.getAttribute("href")).toBe("tel:+16175550188")
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

/** Watches the server in this process, for the time of a test. */
const observe = (
  channel: string,
  see: (message: { readonly request: IncomingMessage; readonly response: ServerResponse }) => void
) => {
  const listener = (message: unknown) => see(message as Parameters<typeof see>[0])
  subscribe(channel, listener)
  onTestFinished(() => void unsubscribe(channel, listener))
}

describe("an allowed origin on the same site, to which the browser sends the session cookie", () => {
  const rosa = async () => {
    const list = Effect.flatMap(Memberships, (members) => members.list(stage.organization))
    return (await stage.run(list)).find(({ identifiers }) => identifiers.includes(ROSA))!
  }

  it.each(["Chromium's own headers", "no Sec-Fetch-Site, as on plain http"])(
    "changes nothing and reads nothing with it: %s",
    async (headers) => {
      body = ""
      const { close, page } = await openPage(browser, stage.url)
      const origin = { "x-requested-with": "max", origin: stage.url }
      const signedIn = await ask(stage.url, "/v1/session", {
        body: JSON.stringify({ code: (await stage.linkFor(YUKI)).split("#")[1] }),
        headers: { "content-type": "application/json", ...origin }
      })
      const cookie = String(signedIn.headers["set-cookie"]).split(";")[0]!
      const [name, value] = cookie.split("=") as [string, string]
      await page.context().addCookies([{ name, value, url: stage.url, httpOnly: true, sameSite: "Strict" }])
      const { anchorId } = await rosa()
      const suspend = `${stage.url}/v1/admin/people/${anchorId}/suspend`
      const session = `${stage.url}/v1/session`
      await page.goto(site.url)
      const answered: Array<{ status: number; cookie: boolean; method: string | undefined }> = []
      const isOurs = ({ headers: { host } }: IncomingMessage) => host === new URL(stage.url).host
      observe("http.server.request.start", ({ request }) => {
        if (isOurs(request) && headers.startsWith("no")) delete request.headers["sec-fetch-site"]
      })
      observe("http.server.response.finish", ({ request, response }) => {
        const { method } = request
        const isWithCookie = request.headers.cookie?.includes(name) === true
        if (isOurs(request)) answered.push({ status: response.statusCode, cookie: isWithCookie, method })
      })
      const attempts = [
        `fetch("${suspend}", { method: "POST", mode: "no-cors", credentials: "include" })`,
        `fetch("${suspend}", { method: "POST", mode: "no-cors", credentials: "include", body: "{}" })`,
        `fetch("${suspend}", { method: "POST", credentials: "include" })`,
        `fetch("${suspend}", { method: "POST", credentials: "include", headers: { "content-type": "application/json" } })`,
        `fetch("${suspend}", { method: "POST", credentials: "include", headers: { "x-requested-with": "max" } })`,
        `fetch("${session}", { method: "DELETE", credentials: "include" })`,
        `fetch("${session}", { mode: "no-cors", credentials: "include" })`,
        `fetch("${session}", { credentials: "include" }).then((answer) => answer.text())`,
        `navigator.sendBeacon("${suspend}")`,
        `navigator.sendBeacon("${suspend}", new Blob(["{}"], { type: "text/plain" }))`,
        `new Promise((end) => Object.assign(new Image(), { onload: end, onerror: end, src: "${session}" }))`,
        ...["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"].map(
          (type, index) => `(() => {
            const frame = Object.assign(document.createElement("iframe"), { name: "frame${index}" })
            const form = Object.assign(document.createElement("form"), { action: "${suspend}", method: "post", enctype: "${type}", target: frame.name })
            document.body.append(frame, form)
            form.submit()
          })()`
        )
      ]
      const texts: Array<unknown> = []
      for (const attempt of attempts)
        texts.push(await page.evaluate(`Promise.resolve(${attempt}).then((told) => String(told), () => "refused")`))
      // Two with no-cors, one without a preflight, two beacons, three forms.
      await expect.poll(() => answered.filter(({ cookie, method }) => cookie && method === "POST").length).toBe(8)
      expect(answered.filter(({ cookie, method }) => cookie && method === "GET").length).toBe(3)
      // Without Sec-Fetch-Site, images and no-cors reads are answered; the browser keeps the answer from the page.
      const isRefused = ({ method, status }: (typeof answered)[number]) =>
        status >= 400 || (headers.startsWith("no") && method === "GET")
      expect(answered.filter((one) => one.cookie && !isRefused(one))).toEqual([])
      expect(texts.join()).not.toContain("harbor")
      expect((await rosa()).suspended).toBe(false)
      // Control: the same cookie changes the member from Max's own origin.
      for (const path of [suspend, suspend.replace("suspend", "resume")]) {
        const headers = { cookie, ...origin }
        expect((await ask(stage.url, new URL(path).pathname, { method: "POST", headers })).status).toBe(204)
      }
      await close()
    }
  )
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
