import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Browser } from "playwright-core"
import { accessibilityFaults, openBrowser, openPage } from "../support/browser.ts"
import { migratedDatabase } from "../support/database.ts"
import { ask, startServer, type TestServer } from "../support/http.ts"

const PAGES = ["/", "/account", "/admin", "/setup", "/traces"]
const scope = Scope.makeUnsafe()
let server: TestServer
let browser: Browser

beforeAll(async () => {
  server = await startServer(await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))))
  browser = await openBrowser()
})

afterAll(async () => {
  await browser.close()
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const scriptOf = (html: string): string => /src="(\/assets\/[^"]+\.js)"/.exec(html)![1]!

describe("the built pages", () => {
  it.each(PAGES)("%s is served with a Content Security Policy that allows only this origin", async (path) => {
    const { headers, status, text } = await ask(server.url, path)
    expect(status).toBe(200)
    expect(headers["content-type"]).toBe("text/html; charset=utf-8")
    expect(headers["content-security-policy"]).toMatch(/default-src 'none'; script-src 'self';.*trusted-types/)
    expect(text).not.toMatch(/https?:|<style|<script(?! type="module" crossorigin src="\/assets\/)/)
  })

  it("are sent compressed to clients that accept it, with the same ETag as uncompressed", async () => {
    const script = scriptOf((await ask(server.url, "/")).text)
    const plain = await ask(server.url, script)
    const small = await ask(server.url, script, { headers: { "accept-encoding": "gzip, br" } })
    expect(plain.headers["content-encoding"]).toBeUndefined()
    expect(small.headers).toMatchObject({
      "content-encoding": "br",
      vary: "accept-encoding",
      etag: plain.headers["etag"]
    })
  })

  it.each([
    ["/", 60_000],
    ["/admin", 120_000]
  ])("load at %s at most %i bytes of compressed script", async (place, most) => {
    const loaded = new Set<string>()
    const load = async (path: string): Promise<number> => {
      if (loaded.has(path)) return 0
      loaded.add(path)
      const { headers, text } = await ask(server.url, path, { headers: { "accept-encoding": "gzip" } })
      const own = Number(headers["content-length"] ?? text.length)
      const plain = (await ask(server.url, path)).text
      // The sign-in is loaded later, by a page that has no session.
      const imported = [...plain.matchAll(/(?:from|import)\s*["']\.\/([^"']+\.js)["']/g)].map(
        (match) => `/assets/${match[1]}`
      )
      return own + (await Promise.all(imported.map(load))).reduce((sum, size) => sum + size, 0)
    }
    const html = (await ask(server.url, place)).text
    const scripts = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)].map((match) => match[1]!)
    let size = 0
    for (const script of scripts) size += await load(script)
    expect(loaded.size).toBeGreaterThan(1)
    expect(size).toBeGreaterThan(20_000)
    expect(size).toBeLessThanOrEqual(most)
  })

  it("are cached: assets forever, pages until they change", async () => {
    const page = await ask(server.url, "/")
    const asset = await ask(server.url, scriptOf(page.text))
    expect(asset.headers["cache-control"]).toBe("public, max-age=31536000, immutable")
    expect(page.headers["cache-control"]).toBe("no-cache")
    const again = await ask(server.url, "/", { headers: { "if-none-match": String(page.headers["etag"]) } })
    expect(again).toMatchObject({ status: 304, text: "" })
  })

  it.each(["/assets/none.js", "/assets/..%2f..%2fpackage.json", "/assets/../../package.json", "/assets/chat.js.br"])(
    "%s is not found",
    async (path) => {
      expect(await ask(server.url, path)).toMatchObject({ status: 404 })
    }
  )

  it.each(PAGES)("%s runs in a browser without faults", async (path) => {
    const { close, faults, page } = await openPage(browser, server.url)
    await page.goto(`${server.url}${path}`)
    await page.locator("main").waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    expect(faults).toEqual([])
    await close()
  })
})
