/** A stage and a browser, shared by all tests of a file. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect } from "vitest"
import { accessibilityFaults, type Looks, openBrowser, openPage } from "./browser.ts"
import { openStage, ROSA, type Stage } from "./stage.ts"

export const DESKTOP: Looks = { theme: "light", width: 1280, height: 900 }
export const PHONE: Looks = { theme: "dark", width: 390, height: 844 }

const FOLDER = process.env["MAX_SCREENSHOTS"]

/** Checks what is on the screen, and takes its picture where pictures are wanted. */
export const look = async (page: Page, name: string, { theme, width }: Looks): Promise<void> => {
  if (FOLDER !== undefined) {
    mkdirSync(FOLDER, { recursive: true })
    await page.screenshot({ path: join(FOLDER, `${name}-${width === PHONE.width ? "phone" : "desktop"}-${theme}.png`) })
  }
  expect.soft(await accessibilityFaults(page), name).toEqual([])
  expect.soft(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), `${name} fits`).toBe(true)
}

/** `stage` and `browser` are available inside tests and hooks. */
export const staged = (overrides?: Parameters<typeof openStage>[0]) => {
  let stage: Stage
  let browser: Browser
  beforeAll(async () => {
    stage = await openStage(overrides)
    browser = await openBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await stage.close()
  })
  return {
    /** Opens the chat page, signed in as a member unless `who` is NULL, and requires that the browser reports no fault on it. */
    visit: async <A>(
      use: (page: Page) => Promise<A>,
      { looks = DESKTOP, who = ROSA }: { readonly looks?: Looks; readonly who?: string | null } = {}
    ): Promise<A> => {
      const { close, faults, page } = await openPage(browser, stage.url, looks)
      page.setDefaultTimeout(60_000)
      await (who === null ? page.goto(stage.url) : stage.signIn(page, who))
      const result = await use(page)
      expect(faults).toEqual([])
      await close()
      return result
    },
    get stage() {
      return stage
    },
    get browser() {
      return browser
    }
  }
}
