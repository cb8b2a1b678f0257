import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Browser } from "playwright-core"
import { administered } from "../support/administered.ts"
import { type Looks, openBrowser, openPage } from "../support/browser.ts"
import { migratedDatabase } from "../support/database.ts"
import { startServer, type TestServer } from "../support/http.ts"

const scope = Scope.makeUnsafe()
let server: TestServer
let browser: Browser
let harbor: Effect.Success<ReturnType<typeof administered>>
let session: string

beforeAll(async () => {
  server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))))
  harbor = await server.run(administered({ slug: "harbor" }))
  session = await server.run(harbor.session("yuki"))
  browser = await openBrowser()
})

afterAll(async () => {
  await browser.close()
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const open = (looks: Looks = {}, secret = session) =>
  openPage(browser, server.url, { ...looks, cookie: { name: "max_session", value: secret, url: server.url } })

const shots = process.env["MAX_SCREENSHOTS"]

describe.skipIf(shots === undefined)("screenshots", () => {
  it("of every page", async () => {
    const lena = harbor.idOf("lena")
    const places: Record<string, string> = {
      people: "#/people",
      person: `#/people/${lena}`,
      policy: "#/policy",
      history: "#/policy/history",
      explain: `#/policy/explain?person=${lena}&type=people&row=${harbor.owner}`,
      "explain-type": `#/policy/explain?person=${lena}&type=people`,
      audit: "#/audit"
    }
    for (const theme of ["light", "dark"] as const) {
      for (const [size, width] of [["desktop", 1280], ["phone", 360]] as const) {
        const { close, faults, page } = await open({ theme, width, height: width === 360 ? 740 : 800 })
        for (const [name, hash] of Object.entries(places)) {
          await page.goto(`${server.url}/admin${hash}`)
          await page.waitForLoadState("networkidle")
          await page.waitForTimeout(150)
          await page.screenshot({ path: `${shots}/admin-${name}-${size}-${theme}.png`, fullPage: true })
        }
        expect(faults).toEqual([])
        await close()
      }
    }
  })
})
