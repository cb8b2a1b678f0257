/** A stage and a browser, shared by all tests of a file. */
import type { Browser } from "playwright-core"
import { afterAll, beforeAll } from "vitest"
import { openBrowser } from "./browser.ts"
import { openStage, type Stage } from "./stage.ts"

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
    get stage() {
      return stage
    },
    get browser() {
      return browser
    }
  }
}
