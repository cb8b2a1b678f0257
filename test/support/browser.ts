/**
 * Headless Chromium, driven by playwright-core. Every page records its faults: script errors, violations of the Content
 * Security Policy, dialogs, and requests to other origins.
 */
import { readFileSync, existsSync } from "node:fs"
import { spawnSync } from "node:child_process"
import { createRequire } from "node:module"
import { type Browser, chromium, type Locator, type Page } from "playwright-core"

/** Debian's packages, each with a program of its name. The headless one is the same engine without the windows of a desktop. */
const PACKAGES = ["chromium-headless-shell", "chromium"]
const PATHS = [...PACKAGES.map((name) => `/usr/bin/${name}`), "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]

const installed = (): string | undefined =>
  [process.env["CHROMIUM"], ...PATHS].find((path) => path !== undefined && existsSync(path))

const executable = (): string => {
  for (const name of PACKAGES) {
    const present = installed()
    if (present !== undefined) return present
    spawnSync("apt-get", ["install", "-y", "-q", "--no-install-recommends", name], { stdio: "ignore" })
  }
  const now = installed()
  if (now === undefined) throw new Error("The pages' tests need Chromium: apt-get install chromium, or set CHROMIUM.")
  return now
}

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: executable(),
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--force-color-profile=srgb"]
  })

export interface Watched {
  readonly page: Page
  readonly faults: ReadonlyArray<string>
  readonly close: () => Promise<void>
}

export interface Looks {
  readonly theme?: "light" | "dark"
  readonly width?: number
  readonly height?: number
  /** The session cookie. */
  readonly cookie?: { readonly name: string; readonly value: string; readonly url: string }
}

/** Opens a page in a new browser context, with its own cookies and storage. */
export const openPage = async (browser: Browser, origin: string, looks: Looks = {}): Promise<Watched> => {
  const { cookie, height = 800, theme = "light", width = 1280 } = looks
  const context = await browser.newContext({ colorScheme: theme, viewport: { width, height }, reducedMotion: "reduce" })
  if (cookie !== undefined) await context.addCookies([cookie])
  const page = await context.newPage()
  const faults: Array<string> = []
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`))
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.type()}`)
    void dialog.dismiss()
  })
  page.on("console", (message) => {
    if (/Content.Security.Policy|Trusted ?Type/i.test(message.text())) faults.push(`policy: ${message.text()}`)
  })
  page.on("request", (request) => {
    const url = new URL(request.url())
    if (/^(https?|wss?):$/.test(url.protocol) && url.origin !== origin) faults.push(`request: ${request.url()}`)
  })
  return { page, faults, close: () => context.close() }
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** Waits until the page is as it stays: a new colour scheme reaches an element with the next frame, and another element before. */
const SHOWN = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))
  .then(() => Promise.all(document.getAnimations()
    .filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity).map(({ finished }) => finished.catch(() => 0))))
  .then(() => 0)`

/** The violations that axe-core finds, as "rule: element"; the debugger injects it, so the page's policy still applies. */
export const accessibilityFaults = async (page: Page): Promise<ReadonlyArray<string>> => {
  const client = await page.context().newCDPSession(page)
  const run = async (expression: string): Promise<any> => {
    const { exceptionDetails, result } = await client.send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true
    })
    if (exceptionDetails !== undefined)
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value
  }
  await run(`${axe};0`)
  await run(SHOWN)
  const violations = await run(
    `axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => ({ id, where: nodes.map(({ target }) => String(target)) })))`
  )
  await client.detach()
  return violations.flatMap(({ id, where }: { id: string; where: ReadonlyArray<string> }) =>
    where.map((place) => `${id}: ${place}`)
  )
}

/** Computed styles of an element; `getComputedStyle` is cast because the tests are compiled without DOM types. */
export const styleOf = (of: Locator, ...names: ReadonlyArray<string>): Promise<Readonly<Record<string, string>>> =>
  of.evaluate((element, wanted) => {
    const { getComputedStyle } = globalThis as unknown as {
      readonly getComputedStyle: (of: unknown) => Readonly<Record<string, string>>
    }
    const style = getComputedStyle(element)
    return Object.fromEntries(wanted.map((name) => [name, style[name] ?? ""]))
  }, names)

/** Asks the chat page a question. An answer that still arrives is awaited first: until then the page keeps what is typed. */
export const ask = async (page: Page, text: string): Promise<void> => {
  await page.locator(".composer button[type=submit]").waitFor()
  await page.locator(".composer textarea").fill(text)
  await page.locator(".composer textarea").press("Enter")
}

/** Asks the chat page a question and waits until its answer is complete. */
export const askAndWait = async (page: Page, text: string): Promise<void> => {
  const turns = await page.locator(".turn").count()
  await ask(page, text)
  await page.locator(".turn[aria-busy=false]").nth(turns).waitFor()
}

/** A device with a fingerprint reader: it verifies the person and keeps passkeys. */
export const device = async (page: Page) => {
  const client = await page.context().newCDPSession(page)
  await client.send("WebAuthn.enable")
  const { authenticatorId } = await client.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true
    }
  })
  return { client, authenticatorId }
}
