import { Effect, Exit, Scope } from "effect"
import { mkdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { shortReference } from "../../src/domain/reference.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import { Credentials } from "../../src/services/access/Credentials.ts"
import { TraceStore } from "../../src/services/traces/TraceStore.ts"
import { makeOrganization } from "../support/atlas.ts"
import { accessibilityFaults, openBrowser, openPage } from "../support/browser.ts"
import { migratedDatabase } from "../support/database.ts"
import { startServer, type TestServer } from "../support/http.ts"
import { memberWithToken } from "../support/members.ts"
import { busyTraces, repeatingTrace, slowTrace } from "../support/traces.ts"

/** The folder for the documentation's screenshots; without MAX_SCREENSHOTS none are taken. */
const IMAGES =
  process.env["MAX_SCREENSHOTS"] === undefined
    ? undefined
    : fileURLToPath(new URL("../../docs/images/", import.meta.url))

const scope = Scope.makeUnsafe()
let server: TestServer
let browser: Browser
let atlas: Organization
const sessions = {} as Record<"admin" | "member", string>

beforeAll(async () => {
  server = await startServer(
    await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))),
    { traceShare: 0, traceSlow: 600_000 },
    undefined,
    true
  )
  await server.run(
    Effect.gen(function* () {
      const store = yield* TraceStore
      const credentials = yield* Credentials
      atlas = yield* makeOrganization("atlas")
      for (const role of ["admin", "member"] as const) {
        const { anchorId } = yield* memberWithToken(atlas, `${role}@atlas.example`, [role], [])
        const { secret } = yield* credentials.createLink(atlas, anchorId)
        sessions[role] = (yield* credentials.redeemLink(secret, 3600)).secret
      }
      const other = yield* makeOrganization("borealis")
      yield* store.write([
        ...busyTraces(140, atlas.id),
        slowTrace(atlas.id, 2410),
        slowTrace(atlas.id, 2.4, 12),
        repeatingTrace(atlas.id),
        ...busyTraces(3, other.id, 5, 99)
      ])
    })
  )
  browser = await openBrowser()
})

afterAll(async () => {
  await browser.close()
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const open = async (theme: "light" | "dark", path = "/traces", who: keyof typeof sessions = "admin", width = 1280) => {
  const cookie = { name: "max_session", value: sessions[who], url: server.url }
  const opened = await openPage(browser, server.url, { theme, cookie, width, height: 860 })
  await opened.page.goto(`${server.url}${path}`)
  return opened
}

const picture = async (page: Page, name: string) => {
  if (IMAGES === undefined) return
  mkdirSync(IMAGES, { recursive: true })
  await page.screenshot({ path: `${IMAGES}${name}.png` })
}

const overview = async (page: Page) => {
  await page.getByRole("heading", { name: "Where the time went" }).waitFor()
  await page.locator(".findings li").first().waitFor()
  await page.locator(".rows li").first().waitFor()
}

describe("the page of traces", () => {
  it.each(["light", "dark"] as const)("shows findings and waterfalls accessibly in the %s theme", async (theme) => {
    const { close, faults, page } = await open(theme)
    await overview(page)
    const slow = page.locator(".findings li", { hasText: "slow statement" })
    expect(await slow.textContent()).toContain("max contacts email:eq took 2411 ms")
    expect(await page.locator(".findings li", { hasText: "repeated statement" }).textContent()).toContain(
      "max people owner:eq ran 12 times in one trace (N+1)"
    )
    await expect.poll(() => page.locator(".rows li").count()).toBe(143)
    expect(await accessibilityFaults(page)).toEqual([])
    await picture(page, `traces-${theme}`)

    await slow.locator("a").click()
    await page.locator(".waterfall [data-span]").first().waitFor()
    await expect.poll(() => page.locator(".waterfall tbody tr").count()).toBe(4)
    expect(await page.locator(".detail .findings").textContent()).toContain("max trace explain")
    // The span with the most self time is selected first; its statement is shown without values.
    expect(await page.locator(".details h3").textContent()).toBe("postgres")
    expect(await page.locator(".details pre").textContent()).toContain("$3::text")
    expect(await accessibilityFaults(page)).toEqual([])

    await page.getByRole("button", { name: "All traces" }).click()
    await page.locator(".findings li", { hasText: "repeated statement" }).locator("a").click()
    await page.locator("#trace-name", { hasText: "invoke_agent max" }).waitFor()
    await expect.poll(() => page.locator(".waterfall tbody tr").count()).toBe(51)
    expect(await page.locator(".detail .findings").textContent()).toContain("ran 12 times in one trace (N+1)")
    expect(await accessibilityFaults(page)).toEqual([])
    await picture(page, `trace-${theme}`)
    expect(faults).toEqual([])
    await close()
  })

  it("has an address for every view", async () => {
    const { close, page } = await open("light")
    await overview(page)
    await page.locator(".row", { hasText: "invoke_agent max" }).first().click()
    await page.locator(".waterfall").waitFor()
    const address = page.url()
    const name = await page.locator("#trace-name").textContent()
    await page.goBack()
    await page.getByRole("heading", { name: "Where the time went" }).waitFor()
    await page.goto(address)
    await page.locator(".waterfall").waitFor()
    expect(await page.locator("#trace-name").textContent()).toBe(name)
    await page.goto(`${server.url}/traces?trace=${shortReference(slowTrace(atlas.id, 1).traceId)}`)
    await page.locator(".waterfall").waitFor()
    await page.goto(`${server.url}/traces?trace=ZZZZ`)
    await page.getByText("No trace with this reference is stored.").waitFor()
    await close()
  })

  it("filters the list by state, name and time, and by a bar of the histogram", async () => {
    const { close, page } = await open("light")
    await overview(page)
    const rows = page.locator(".rows li")
    const become = (holds: (count: number) => boolean) => expect.poll(async () => holds(await rows.count())).toBe(true)
    await page.getByRole("button", { name: "Denied", exact: true }).click()
    await become((count) => count > 0 && count < 20)
    await expect.poll(() => page.locator(".rows .state").count()).toBe(await rows.count())
    await page.getByRole("button", { name: "Denied", exact: true }).click()
    await become((count) => count === 143)
    await page.getByRole("searchbox").fill("invoke_agent")
    await become((count) => count > 10 && count < 80)
    await page.getByRole("searchbox").fill("")
    await become((count) => count === 143)
    await page.getByRole("button", { name: /took 2 s to 5 s/ }).click()
    await become((count) => count > 0 && count < 60)
    expect(page.url()).toContain("atLeast=2000")
    await page.locator(".chip").click()
    await page.getByRole("combobox").selectOption("15")
    await become((count) => count > 2 && count < 20)
    await close()
  })

  it("compares two traces with the keyboard alone", async () => {
    const { close, faults, page } = await open("dark")
    await overview(page)
    await page.keyboard.press("j")
    await page.locator(".waterfall").waitFor()
    const first = await page.locator(".detail header .ref").textContent()
    await page.keyboard.press("c")
    await page.getByText("Choose a trace to compare").waitFor()
    await page.locator(".row").nth(2).focus()
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Two traces" }).waitFor()
    expect(await page.locator(".side").first().textContent()).toContain(first)
    expect(await accessibilityFaults(page)).toEqual([])
    const [slow, fast] = [slowTrace(atlas.id, 1), slowTrace(atlas.id, 1, 12)].map(({ traceId }) => traceId)
    await page.goto(`${server.url}/traces?trace=${slow}&with=${fast}`)
    await page.getByRole("heading", { name: "Two traces" }).waitFor()
    expect(await page.locator(".compare tbody tr", { hasText: "postgres" }).textContent()).toMatch(
      /postgres2\.41 s.*−2\.41 s/
    )
    await picture(page, "traces-compare-dark")
    await page.keyboard.press("Escape")
    await overview(page)
    await page.keyboard.press("/")
    await expect.poll(() => page.locator("#name:focus").count()).toBe(1)
    expect(faults).toEqual([])
    await close()
  })

  it("shows new traces as they are stored, while it is live", async () => {
    const { close, page } = await open("light")
    await overview(page)
    await page.keyboard.press("l")
    await page.getByText("· live").waitFor()
    // Traces stored before the subscription aren't new, so let the subscription begin first.
    await page.waitForTimeout(1500)
    await server.run(
      Effect.flatMap(TraceStore, (store) =>
        store.write(
          busyTraces(1, atlas.id, 0, 4242).map((one) => ({ ...one, spans: [{ ...one.spans[0]!, name: "live trace" }] }))
        )
      )
    )
    const arrived = page.locator(".row", { hasText: "live trace" })
    await arrived.waitFor()
    await expect.poll(() => arrived.count()).toBe(1)
    await close()
  })

  it("says who may see traces to a person who may not", async () => {
    const member = await open("light", "/traces", "member")
    await member.page.getByText("Traces are for administrators").waitFor()
    expect(await accessibilityFaults(member.page)).toEqual([])
    await member.close()
    const anonymous = await openPage(browser, server.url)
    await anonymous.page.goto(`${server.url}/traces`)
    await anonymous.page.getByText("You aren't signed in").waitFor()
    await anonymous.close()
  })

  it("fits a narrow screen without scrolling sideways", async () => {
    const { close, page } = await open("light", "/traces", "admin", 390)
    await overview(page)
    const width = await page.evaluate<number>("document.documentElement.scrollWidth")
    expect(width).toBeLessThanOrEqual(390)
    expect(await accessibilityFaults(page)).toEqual([])
    await close()
  })
})
