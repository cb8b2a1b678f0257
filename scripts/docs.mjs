// Runs every shell block of README.md and docs/, page by page and in order, in one shell per page with its own folder and
// state. Pages declare their prerequisites in comments that aren't rendered:
//   <!-- run first: … -->      commands that create the assumed state, before the next block
//   <!-- typed: … -->          the input of the next block
//   <!-- goes on: TEXT -->     the next block is one command that runs until the page's end or the next such block. It is
//                              ready when it prints TEXT, and must exit cleanly
//   <!-- here, A is B -->      replaces A (such as an example host) by B, which may be a variable, in the page's blocks
//   <!-- not run: WHY -->      skips the next block
// The shell provides $CHECKOUT (this folder), $DATABASE (an empty database for the page), `sql URL STATEMENT …`,
// `sheet FROM.csv TO.xlsx`, and a free port in place of 7700. Usage: npm run docs [-- PAGE …]
import { build as bundle } from "esbuild"
import { spawn } from "node:child_process"
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { build } from "./build.mjs"
import { isStale, root } from "./stale.mjs"

const AT_ONCE = 2
const PAGE_MS = 900_000
const OWN = "127.0.0.1:7700"

const PARTS = /^ *<!--[^]*?-->[ \t]*$|^ *```(\w*)[^\n]*\n([^]*?)^ *```[ \t]*$/gm
const COMMENT = /^ *<!-- (?:(run first|typed|goes on|not run): ?([^]*?)|here, ([^\n]*\S) is (\S+)) *\n?-->/

/** The shell blocks of a page, each with its preceding comments. */
const readPage = (path) => {
  const text = readFileSync(join(root, path), "utf8")
  const blocks = []
  const stands = [[OWN, "127.0.0.1:$MAX_HTTP_PORT"]]
  let before = {}
  for (const { 0: whole, 1: language, 2: code, index } of text.matchAll(PARTS)) {
    if (code === undefined) {
      const [, what, said, shown, here] = COMMENT.exec(whole) ?? []
      if (shown !== undefined) stands.push([shown, here])
      if (what !== undefined) before[what] = said.trim()
    } else if (language === "sh") {
      blocks.push({ line: text.slice(0, index).split("\n").length, code: code.trim(), ...before })
      before = {}
    }
  }
  const real = (code) => stands.reduce((read, [shown, here]) => read.replaceAll(shown, here), code)
  // In a list joined by &&, `set -e` ignores all failures but the last.
  return blocks.map((block) => ({ ...block, code: real(block.code).replaceAll(" && ", "\n") }))
}

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`

/** Stops a long-running command and requires a clean exit. */
const END = 'for pid in ${on[@]+"${on[@]}"}; do kill -TERM "$pid"; wait "$pid"; done; on=()'

/** A page as one script that stops at the first failing command. */
const scriptOf = (blocks) => {
  const lines = ["set -euo pipefail", "on=()"]
  for (const { line, code, ...said } of blocks) {
    lines.push(`echo "--- before line ${line}"`, said["run first"] ?? "")
    if (said["not run"] !== undefined) continue
    const input = said.typed === undefined ? "/dev/null" : `<(printf '%s\\n' ${quoted(said.typed)})`
    lines.push(`echo "--- line ${line}"`, `exec < ${input}`)
    if (said["goes on"] === undefined) lines.push(code)
    else {
      const isThere = `grep -qsF ${quoted(said["goes on"])} .said`
      // Without the words of the command before, which would be taken for this one's.
      lines.push(END, "rm -f .said", `(exec env ${code}) > .said 2>&1 &`, "on+=($!)")
      lines.push(`until ${isThere}; do kill -0 $! || { cat .said; exit 1; }; sleep 0.1; done`)
    }
  }
  return [...lines, 'echo "--- its end"', END].join("\n")
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

const folder = mkdtempSync(join(tmpdir(), "max-docs-"))
// As root, embedded servers run as another user, who needs access to this folder.
chmodSync(folder, 0o755)

/** A server for pages that use the reader's own database. */
const startServer = async () => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", SERVER], {
    cwd: root,
    env: { ...process.env, FOLDER: folder },
    stdio: ["pipe", "pipe", "inherit"]
  })
  const url = await new Promise((resolve, reject) => {
    child.stdout.once("data", (chunk) => resolve(String(chunk).trim()))
    child.once("exit", (code) => reject(new Error(`The database's server ended with ${code}`)))
  })
  return { url, stop: () => new Promise((resolve) => child.once("exit", resolve) && child.stdin.end()) }
}
const SERVER = `
import { Effect } from "effect"
import { start, urlOf } from "./dist/lib/database/embedded/EmbeddedServer.js"
await Effect.runPromise(Effect.scoped(Effect.gen(function* () {
  const server = yield* start({ dataDir: process.env.FOLDER + "/server", stateDir: process.env.FOLDER + "/server-state" })
  console.log(urlOf(server))
  yield* Effect.promise(() => new Promise((resolve) => process.stdin.on("end", resolve).resume()))
})))`

/** Loaded from the checkout, so that its imports resolve. */
const SQL = `
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
const [url, ...statements] = process.argv.slice(1)
await Effect.runPromise(Effect.scoped(Effect.gen(function* () {
  const sql = yield* PgClient.make({ url: Redacted.make(url), maxConnections: 1 })
  for (const statement of statements) yield* sql.unsafe(statement).unprepared
})).pipe(Effect.provide(Reactivity.layer)))`

const SHEET = `
import { readFileSync, writeFileSync } from "node:fs"
import { sheetXml, workbook } from ${JSON.stringify(join(folder, "xlsx.mjs"))}
const [from, to] = process.argv.slice(1)
const rows = readFileSync(from, "utf8").trim().split("\\n").map((line) => line.split(","))
writeFileSync(to, workbook({ Customers: sheetXml(rows) }))`

const bin = join(folder, "bin")
const makeCommands = async () => {
  mkdirSync(bin)
  await bundle({
    entryPoints: [join(root, "test/support/xlsx.ts")],
    outfile: join(folder, "xlsx.mjs"),
    bundle: true,
    format: "esm",
    platform: "node",
    logLevel: "warning"
  })
  writeFileSync(
    join(bin, "sheet"),
    `#!/bin/sh\nexec ${quoted(process.execPath)} --input-type=module -e ${quoted(SHEET)} -- "$@"\n`,
    { mode: 0o755 }
  )
  symlinkSync(join(root, "dist/bin/max.js"), join(bin, "max"))
  chmodSync(join(root, "dist/bin/max.js"), 0o755)
  writeFileSync(
    join(bin, "sql"),
    `#!/bin/sh\ncd ${quoted(root)} && exec ${quoted(process.execPath)} --input-type=module -e ${quoted(SQL)} -- "$@"\n`,
    { mode: 0o755 }
  )
}

/** The environment of a reader's shell, and the settings that reach the package registry. */
const PASSED = /^(PATH|LANG|TZ|TERM|npm_config_.*|NODE_EXTRA_CA_CERTS|HTTPS?_PROXY|NO_PROXY)$/i
const surroundings = Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED.test(name)))

const runPage = async (path, blocks, server, number) => {
  const home = join(folder, String(number))
  mkdirSync(home)
  const database = `page${number}`
  const env = {
    npm_config_cache: join(process.env.HOME, ".npm"),
    npm_config_userconfig: join(process.env.HOME, ".npmrc"),
    ...surroundings,
    PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: home,
    MAX_HTTP_PORT: String(await freePort()),
    CHECKOUT: root
  }
  if (server !== undefined) {
    env.DATABASE = server.url.replace(/\/[^/?]*\?/, `/${database}?`)
    blocks[0]["run first"] = `sql ${quoted(server.url)} "CREATE DATABASE ${database}"\n${blocks[0]["run first"] ?? ""}`
  }
  const from = Date.now()
  const child = spawn("bash", ["-c", scriptOf(blocks)], {
    cwd: home,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true
  })
  let said = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk))
  const overdue = setTimeout(() => process.kill(-child.pid, "SIGKILL"), PAGE_MS)
  const code = await new Promise((resolve) => child.on("close", resolve))
  clearTimeout(overdue)
  if (code !== 0) {
    try {
      // Removes leftover processes.
      process.kill(-child.pid, "SIGTERM")
    } catch {}
  }
  // curl exits with 0 for an error response.
  const refused = /urn:max:problem:[a-z-]+/.exec(said)?.[0]
  const ok = code === 0 && refused === undefined
  const marked = blocks.filter((block) => block["not run"] !== undefined)
  console.log(
    `${ok ? "ok  " : "FAIL"} ${path}: ${blocks.length - marked.length} run (${((Date.now() - from) / 1000).toFixed(1)} s)`
  )
  for (const block of marked) console.log(`       line ${block.line} skipped: ${block["not run"]}`)
  if (!ok || process.env.MAX_DOCS_OUTPUT === "on")
    console.log(said.trimEnd().split("\n").slice(-60).join("\n").replace(/^/gm, "     | "))
  if (!ok) console.log(`     ended with ${refused ?? code}`)
  return { ok, ran: blocks.length - marked.length, marked: marked.length }
}

const main = async () => {
  if (isStale()) await build()
  const chosen = process.argv.slice(2)
  const pages = ["README.md", ...readdirSync(join(root, "docs"), { recursive: true }).map((name) => `docs/${name}`)]
    .filter((path) => path.endsWith(".md") && (chosen.length === 0 || chosen.includes(path)))
    .map((path) => ({ path, blocks: readPage(path) }))
    .filter(({ blocks }) => blocks.length > 0)
  await makeCommands()
  const needsServer = ({ blocks }) => blocks.some((block) => `${block.code}${block["run first"]}`.includes("$DATABASE"))
  const server = pages.some(needsServer) ? await startServer() : undefined
  const waiting = pages.map(
    (page, number) => () => runPage(page.path, page.blocks, needsServer(page) ? server : undefined, number)
  )
  const outcomes = []
  try {
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) outcomes.push(await next())
      })
    )
  } finally {
    await server?.stop()
  }
  const sum = (count) => outcomes.reduce((total, outcome) => total + count(outcome), 0)
  console.log(
    `${pages.length} pages, ${sum(({ ran }) => ran)} blocks run, ${sum(({ marked }) => marked)} marked as not run`
  )
  if (outcomes.some(({ ok }) => !ok)) process.exitCode = 1
}

try {
  await main()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
