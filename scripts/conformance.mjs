/**
 * Runs the official MCP conformance suite against /mcp of a real `max serve`: every server scenario of each version.
 * Every scenario that applies to a tools-only server must pass; docs/mcp.md lists the others with reasons.
 * The suite needs Node 22, which is installed next to it, outside the checkout. Usage: npm run conformance
 */
import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, request as send } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openWorld } from "./attack/world.mjs"
import { build } from "./build.mjs"
import { isStale } from "./stale.mjs"

/** The scenarios that must pass, by version. In the unreleased newest version, single checks may not apply. */
const VERSIONS = {
  "0.1.16": ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"],
  "0.2.0-alpha.12": [
    "server-initialize",
    "ping",
    "tools-list",
    "dns-rebinding-protection",
    "http-header-validation",
    "sep-2164-resource-not-found",
    "input-required-result-unsupported-methods",
    "input-required-result-ignore-extra-params",
    "input-required-result-validate-input"
  ]
}

/** The reasons why a check doesn't apply: it needs a fixture of the suite or a feature beyond tools. */
const NOT_OURS =
  /Tool '?[\w-]+'? not found|Tool "?[\w-]+"? not found|Prompt '?\w+'? not found|Method not found|Not testable|-32601|failing_job|Prerequisite failed|could not be exercised|was not exercised|capabilities\.extensions|InputRequiredResult|fixture from Check/

/** A proxy that adds the token, which the suite can't send. */
const withToken = (target, token) =>
  new Promise((resolve) => {
    const server = createServer((request, response) => {
      const headers = { ...request.headers, authorization: `Bearer ${token}` }
      const onward = send(new URL(request.url, target), { method: request.method, headers }, (answer) => {
        response.writeHead(answer.statusCode, answer.headers)
        answer.pipe(response)
      })
      onward.on("error", () => response.destroy())
      response.on("close", () => onward.destroy())
      request.pipe(onward)
    })
    server.listen(0, "127.0.0.1", () => resolve(server))
  })

const folder = mkdtempSync(join(tmpdir(), "max-conformance-"))

/** Installs Node from the platform's package: the generic package needs install scripts, which are disabled. */
const NODE = `node-${process.platform}-${process.arch}`

const installed = (version) => {
  const home = join(folder, version)
  const packages = [`@modelcontextprotocol/conformance@${version}`, `${NODE}@22`]
  const done = spawnSync("npm", ["install", "--prefix", home, "--no-audit", "--no-fund", ...packages], {
    encoding: "utf8"
  })
  if (done.status !== 0) throw new Error(done.stderr)
  return join(home, "node_modules")
}

const run = (modules, args) =>
  new Promise((resolve) => {
    const child = spawn(join(modules, ".bin/conformance"), args, {
      cwd: folder,
      env: { ...process.env, PATH: `${join(modules, NODE, "bin")}:${process.env.PATH}` },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let said = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk))
    child.on("close", () => resolve(said))
  })

const checkVersion = async (version, url) => {
  const modules = installed(version)
  const said = await run(modules, ["server", "--url", url, "--suite", "all"])
  const summary = [...said.matchAll(/^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed/gm)].map(
    ([, name, passed, failed]) => ({
      name,
      passed: Number(passed),
      failed: Number(failed)
    })
  )
  if (summary.length === 0) throw new Error(said)
  const wrong = VERSIONS[version]
    .filter((name) => !summary.some((one) => one.name === name && one.passed > 0 && one.failed === 0))
    .map((name) => `${name} must pass`)
  for (const { name } of summary.filter(({ failed }) => failed > 0)) {
    const told = await run(modules, ["server", "--url", url, "--scenario", name, "--verbose"])
    const messages = [...told.matchAll(/"errorMessage": "((?:[^"\\]|\\.)*)"/g)].map(([, message]) => message)
    wrong.push(...messages.filter((message) => !NOT_OURS.test(message)).map((message) => `${name}: ${message}`))
  }
  const count = (holds) => summary.filter(holds).length
  console.log(
    `${version}: ${summary.length} scenarios; ${count(({ failed, passed }) => failed === 0 && passed > 0)} pass, ` +
      `${count(({ failed, passed }) => failed === 0 && passed === 0)} without checks, ${count(({ failed }) => failed > 0)} need a fixture of the suite's own server; ${wrong.length} failures`
  )
  for (const one of wrong) console.log(`  ${one}`)
  return wrong.length === 0
}

if (isStale()) await build()
const world = await openWorld("http://localhost:1")
const proxy = await withToken(world.url, world.admin)
try {
  for (const version of Object.keys(VERSIONS)) {
    if (!(await checkVersion(version, `http://127.0.0.1:${proxy.address().port}/mcp`))) process.exitCode = 1
  }
} finally {
  proxy.closeAllConnections()
  proxy.close()
  await world.close()
  rmSync(folder, { recursive: true, force: true })
}
