/**
 * The chat page's latency in Chromium against the built `max serve`: the first visit, typing while a long answer streams
 * in, many conversations, and a long one. Medians of five; every visit starts with an empty cache.
 */
import { Effect, Layer } from "effect"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Browser, Page } from "playwright-core"
import { Database } from "../src/database/Database.ts"
import { Env } from "../src/env.ts"
import { Live } from "../src/layers.ts"
import { OrganizationState } from "../src/services/catalog/OrganizationState.ts"
import { openBrowser } from "../test/support/browser.ts"
import { basisKeyOf } from "../test/support/members.ts"
import { says, startMessages } from "../test/support/messages.ts"
import type { Timed } from "./figures.ts"

const ROUNDS = 5
const PORT = "7791"
const URL = `http://127.0.0.1:${PORT}`
const ADA = "ada@example.com"
const WORDS = 5000
const CONVERSATIONS = 500
const TURNS = 1000

const median = (times: ReadonlyArray<number>): number => [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)]!
const share = (times: ReadonlyArray<number>, part: number): number =>
  [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0

const timed = (scenario: string, ms: number, target?: number): Timed => ({
  scenario,
  ms,
  target,
  ok: target === undefined || ms <= target
})

interface Folders {
  readonly dataDir: string
  readonly stateDir: string
}

const max = (environment: Record<string, string>, ...args: ReadonlyArray<string>): string => {
  const { status, stderr, stdout } = spawnSync(process.execPath, [join("bin", "max"), ...args], {
    env: environment,
    encoding: "utf8"
  })
  if (status !== 0) throw new Error(`max ${args.join(" ")} ended with ${status}: ${stderr}`)
  return stdout.trim()
}

const startServer = (environment: Record<string, string>): Promise<ChildProcess> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join("bin", "max"), "serve"], {
      env: environment,
      stdio: ["ignore", "ignore", "pipe"]
    })
    let log = ""
    child.stderr.on("data", (chunk: Buffer) => {
      log += chunk.toString()
      if (log.includes("Max answers at")) resolve(child)
    })
    child.on("exit", (code) => reject(new Error(`max serve ended with ${code}: ${log}`)))
  })

/** Stores conversations for the token's person, the first of them long. */
const fill = ({ dataDir, stateDir }: Folders) =>
  Effect.gen(function* () {
    const { owner } = yield* Database
    const { organization } = yield* OrganizationState
    yield* owner.unsafe(
      `WITH own AS (SELECT DISTINCT organization_id, anchor_id FROM max.credentials)
       INSERT INTO max.sessions (organization_id, session_id, anchor_id, turns, updated_at)
       SELECT organization_id, 'many-' || n, anchor_id, CASE n WHEN 1 THEN ${TURNS} ELSE 3 END, now() - n * interval '1 hour'
       FROM own, generate_series(1, ${CONVERSATIONS}) n`
    )
    yield* owner.unsafe(
      `INSERT INTO max.turns (organization_id, session_id, position, epoch, asked, answered, refs, model, input_tokens, output_tokens, reference, basis, expires_at)
       SELECT s.organization_id, s.session_id, p, o.epoch, 'Question ' || p || ' of ' || s.session_id,
         'Answer **' || p || '**: a few people, and what is known of them.' || E'\\n\\n- one\\n- two', '[]', 'm', 1, 1, 'AAAA', $1::text, 'infinity'
       FROM max.sessions s JOIN max.organizations o ON o.organization_id = s.organization_id, generate_series(1, s.turns) p`,
      [yield* basisKeyOf(yield* organization(undefined), ADA)]
    )
  }).pipe(
    Effect.provide(
      Live.pipe(Layer.provide(Env.layerWith({ databaseUrl: undefined, dataDir, stateDir, logLevel: "error" })))
    ),
    Effect.scoped
  )

/** Polls an expression: Playwright's `waitForFunction` evaluates inside the page, which its policy forbids. */
const until = async (page: Page, condition: string): Promise<void> => {
  while (!(await page.evaluate<boolean>(condition))) await page.waitForTimeout(5)
}

/** Records when the input field appears. */
const WATCH = `new MutationObserver((_, watch) => {
  if (document.querySelector(".composer textarea") === null) return
  watch.disconnect()
  window.usableAt = performance.now()
}).observe(document, { childList: true, subtree: true })`

const visit = async (browser: Browser, token: string): Promise<Page> => {
  const context = await browser.newContext({ extraHTTPHeaders: { authorization: `Bearer ${token}` } })
  const page = await context.newPage()
  await page.addInitScript(WATCH)
  await page.goto(URL)
  await until(page, "window.usableAt !== undefined")
  return page
}

const visits = async (browser: Browser, token: string): Promise<ReadonlyArray<Timed>> => {
  const painted: Array<number> = []
  const usable: Array<number> = []
  for (let round = 0; round < ROUNDS; round++) {
    const page = await visit(browser, token)
    await until(page, "performance.getEntriesByName('first-contentful-paint').length > 0")
    painted.push(await page.evaluate<number>("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
    usable.push(await page.evaluate<number>("window.usableAt"))
    await page.context().close()
  }
  return [timed("first paint", median(painted), 1000), timed("usable: a question can be typed", median(usable), 1500)]
}

/** Milliseconds from a click until a condition is met and painted, measured in the page. */
const clickToPaint = (page: Page, selector: string, condition: string): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve) => {
    const started = performance.now()
    const check = () => (${condition}) ? requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - started))) : requestAnimationFrame(check)
    document.querySelector(${JSON.stringify(selector)}).click()
    check()
  })`)

const long = async (browser: Browser, token: string): Promise<ReadonlyArray<Timed>> => {
  const times: Array<number> = []
  for (let round = 0; round < ROUNDS; round++) {
    const page = await visit(browser, token)
    await page.locator(".history .open").first().waitFor()
    const last = `document.querySelector(".turn:last-child .prose strong")?.textContent === "${TURNS}"`
    times.push(await clickToPaint(page, ".history .open", last))
    await page.context().close()
  }
  const page = await visit(browser, token)
  const started = performance.now()
  while ((await page.locator(".history .item").count()) < CONVERSATIONS) {
    await page.evaluate("document.querySelector('.history .list').scrollTo(0, 1e9)")
    await page.waitForTimeout(10)
  }
  const listed = performance.now() - started
  await page.context().close()
  return [
    timed(`a conversation of ${TURNS} turns opens at its end`, median(times), 300),
    timed(`the list of ${CONVERSATIONS} conversations, scrolled to its end`, listed)
  ]
}

const FRAMES = `(() => {
  window.frames = []
  window.keys = []
  let last = performance.now()
  const frame = (now) => { window.frames.push(now - last); last = now; requestAnimationFrame(frame) }
  requestAnimationFrame(frame)
  new PerformanceObserver((list) => {
    for (const { duration, name } of list.getEntries()) if (name === "keydown") window.keys.push(duration)
  }).observe({ type: "event", durationThreshold: 16, buffered: true })
})()`

/** Types while a long answer streams in; the browser reports only keys that take longer than one frame. */
const typing = async (browser: Browser, token: string, layout: string): Promise<ReadonlyArray<Timed>> => {
  const page = await visit(browser, token)
  await page.locator(".composer textarea").fill(`Tell me everything, ${layout}`)
  await page.keyboard.press("Enter")
  await page.locator(".prose.growing").waitFor()
  await page.evaluate(FRAMES)
  let typed = 0
  while ((await page.locator(".prose.growing").count()) > 0) {
    await page.keyboard.type("quick ")
    typed += 6
  }
  const keys = await page.evaluate<ReadonlyArray<number>>("window.keys")
  const frames = await page.evaluate<ReadonlyArray<number>>("window.frames")
  const words = await page.evaluate<number>("document.querySelector('.prose').textContent.split(/\\s+/).length")
  await page.context().close()
  if (words < WORDS) throw new Error(`Only ${words} words arrived.`)
  const all = [...keys, ...Array.from({ length: Math.max(0, typed - keys.length) }, () => 16)]
  return [
    timed(
      `a key until it is painted, p95 of ${typed}, while ${WORDS} words stream in ${layout}`,
      share(all, 0.95),
      100
    ),
    timed(`  the longest of them`, Math.max(...all)),
    timed(`  a frame, p95 of ${frames.length}`, share(frames, 0.95))
  ]
}

const sentence = "Here is a plain sentence of ten words about these people. "
const ANSWERS = {
  "in paragraphs": `${sentence.repeat(5).trim()}\n\n`.repeat(WORDS / 55 + 1),
  "in one paragraph": sentence.repeat(WORDS / 11 + 1)
} as const

export const page = async (): Promise<ReadonlyArray<Timed>> => {
  const home = mkdtempSync(join(tmpdir(), "max-bench-page-"))
  chmodSync(home, 0o755)
  const messages = await startMessages((request) => {
    const asked = JSON.stringify(request.messages.at(-1))
    return says(asked.includes("one paragraph") ? ANSWERS["in one paragraph"] : ANSWERS["in paragraphs"], {
      piece: 24,
      pace: 4
    })
  })
  const folders = { dataDir: join(home, "data"), stateDir: join(home, "state") }
  const environment = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    MAX_DATA_DIR: folders.dataDir,
    MAX_STATE_DIR: folders.stateDir,
    MAX_HTTP_PORT: PORT,
    MAX_CALLS_PER_PERSON: "100000",
    MAX_ORG: "bench",
    ANTHROPIC_API_KEY: "sk-bench",
    ANTHROPIC_BASE_URL: messages.url
  }
  let server: ChildProcess | undefined
  let browser: Browser | undefined
  try {
    max(environment, "init", "--org", "bench", "--country", "US", "--time-zone", "UTC")
    max(environment, "member", "add", ADA, "--role", "admin", "--create")
    const token = max(environment, "token", "create", ADA, "--name", "bench", "--scope", "chat")
    await Effect.runPromise(fill(folders))
    server = await startServer(environment)
    browser = await openBrowser()
    // A warm-up visit, so that the first reads from disk aren't measured.
    await (await visit(browser, token)).context().close()
    return [
      ...(await visits(browser, token)),
      ...(await long(browser, token)),
      ...(await typing(browser, token, "in paragraphs")),
      ...(await typing(browser, token, "in one paragraph"))
    ]
  } finally {
    await browser?.close()
    server?.kill()
    await messages.close()
    rmSync(home, { recursive: true, force: true })
  }
}
