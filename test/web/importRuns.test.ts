/** Past imports on the page Import, in a real browser: those of the page and of commands. */
import { Effect, Exit, Scope } from "effect"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { administered } from "../support/administered.ts"
import { openBrowser, openPage } from "../support/browser.ts"
import { runMax } from "../support/cli.ts"
import { migratedDatabase } from "../support/database.ts"
import { startServer, type TestServer } from "../support/http.ts"
import { importFile } from "../support/imports.ts"
import { DESKTOP, look, PHONE } from "../support/staged.ts"

const FILE = "id,name,email,status\np1,Nia Okoro,nia@harbor.example,customer\np2,Bo Lind,,lead\n"

const scope = Scope.makeUnsafe()
let url: string
let server: TestServer
let browser: Browser
let harbor: Effect.Success<ReturnType<typeof administered>>
let session: string

beforeAll(async () => {
  url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  server = await startServer(url)
  harbor = await server.run(administered({ slug: "harbor" }))
  session = await server.run(harbor.session("yuki"))
  browser = await openBrowser()
})
afterAll(async () => {
  await browser.close()
  await server.stop()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

describe.each([
  [DESKTOP, 1],
  [PHONE, 2],
  [{ ...PHONE, theme: "light" as const }, 3],
  [{ ...DESKTOP, theme: "dark" as const }, 4]
] as const)("an administrator at $width px, $theme", (looks, visit) => {
  it("sees what came in, from whom and with which counts, and finds an import there once it is done", async () => {
    const cookie = { name: "max_session", value: session, url: server.url }
    const { close, faults, page } = await openPage(browser, server.url, { ...looks, cookie })
    await page.goto(`${server.url}/admin#/import`)
    const section = page.getByRole("region", { name: "Past imports" })
    const rows = section.getByRole("table").locator("tbody tr")
    if (visit === 1) await section.getByText("Nothing has been imported yet.").waitFor()
    // Each visit adds one import by command and one on the page.
    const earlier = (visit - 1) * 2
    await server.run(importFile(harbor.organization, `${FILE}c${visit},Cy ${visit},,\n`))
    await page.reload()
    await expect.poll(() => rows.count()).toBe(earlier + 1)
    const first = rows.first().getByRole("cell")
    expect((await first.allInnerTexts()).slice(1)).toEqual(
      visit === 1 ? ["a command", "People", "3", "3", "0", "0", "0"] : ["a command", "People", "3", "1", "1", "1", "0"]
    )

    const upload = `${FILE.replace("lead", `lead ${visit}`)}\n`
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer: Buffer.from(upload) })
    await page.getByRole("button", { name: "Check the file" }).click()
    await expect.poll(() => section.count()).toBe(0)
    await page.getByRole("button", { name: /^Import \d/ }).click()
    await expect.poll(() => rows.count()).toBe(earlier + 2)
    expect((await first.allInnerTexts()).slice(1)).toEqual(["Yuki Tanaka", "People", "2", "0", "1", "1", "0"])
    await look(page, "admin-import-done", looks)
    await page.getByRole("button", { name: "Import another file" }).click()
    await page.evaluate("scrollTo(0, document.body.scrollHeight)")
    await look(page, "admin-import-runs", looks)

    const command = await section.locator("code").innerText()
    const [max, ...args] = command.split(" ")
    expect(max).toBe("max")
    const ran = await runMax([...args, "--org", "harbor", "--json"], { DATABASE_URL: url })
    expect([ran.code, (JSON.parse(ran.stdout) as ReadonlyArray<unknown>).length]).toEqual([0, earlier + 2])
    await first.nth(1).getByRole("link").click()
    await page.getByRole("heading", { level: 1, name: "Yuki Tanaka" }).waitFor()
    expect(faults).toEqual([])
    await close()
  })
})
