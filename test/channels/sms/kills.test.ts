/** Crash test: kills the server at every step of receive → turn → send. */
import { Effect, Exit, Scope } from "effect"
import { PgClient } from "@effect/sql-pg"
import { Reactivity } from "effect/reactivity"
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
import { killableServer, type Running } from "../../support/killable.ts"
import { series } from "../../support/long.ts"
import { type MessagesServer, says, startMessages } from "../../support/messages.ts"
import { until } from "../../support/until.ts"
import { connectTo } from "../../support/newDatabase.ts"

const KILLS = series({ short: 10, long: 200 })
const SENDERS = ["+15125550142", "+15125550143", "+15125550144"]

const scope = Scope.makeUnsafe()
let killable: Awaited<ReturnType<typeof killableServer>>
let carrier: Carrier
let model: MessagesServer
let env: Record<string, string>
let database: PgClient.PgClient
const start = () => killable.start(env)

beforeAll(async () => {
  killable = await killableServer()
  carrier = await startCarrier()
  model = await startMessages()
  const url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  database = await Effect.runPromise(connectTo(url).pipe(Effect.provide(Reactivity.layer), Scope.provide(scope)))
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
  killable?.stop()
  await carrier?.close()
  await model?.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const sql = (text: string) => Effect.runPromise(database.unsafe<any>(text))

/** Makes every pause elapse. */
const skipPauses = async () => {
  await sql("UPDATE max.sms_outbox SET next_at = now() WHERE state IN ('queued', 'trying')")
  await sql("UPDATE max.sms_senders SET due_at = now() WHERE due_at IS NOT NULL")
}

/** Makes every pause and the killed process's leases elapse. */
const expireLeases = async () => {
  await sql("UPDATE max.sms_senders SET leased_until = now() - interval '1 second' WHERE lease IS NOT NULL")
  await skipPauses()
}

const POINTS = ["received", "asked", "answered", "sending", "accepted", "sent", "reconciled"] as const

it(`a server killed ${KILLS} times loses no message and sends none twice`, async () => {
  let running: Running
  /** The point of the next kill, which happens once. */
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

  /** The model repeats the questions it was asked. */
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

  /** Messages that the carrier redelivers until the webhook acknowledges them. */
  const waiting: Array<Params> = []
  const sent: Array<string> = []
  const deliver = async () => {
    for (const params of waiting.slice()) {
      const answer = await post(running, params).catch(() => undefined)
      if (answer?.status === 200) waiting.splice(waiting.indexOf(params), 1)
      if (answer === undefined) return
    }
  }

  /** Delivers and skips pauses until every message is answered. */
  const drained = () =>
    until(async () => {
      expect(running.child.exitCode ?? running.child.signalCode).toBe(null)
      await deliver()
      const [left] = await sql(`SELECT (SELECT count(*) FROM max.sms_inbox WHERE state = 'waiting')::int
        + (SELECT count(*) FROM max.sms_outbox WHERE state IN ('queued', 'trying'))::int AS n`)
      if (left.n > 0) await skipPauses()
      return left.n === 0
    })

  for (let kill = 0; kill < KILLS; kill++) {
    point = undefined
    running = await start()
    // Every other kill happens before the server has recovered from the last one.
    if (kill % 2 === 0) await drained()
    point = POINTS[kill % POINTS.length]
    for (let more = 1 + (kill % 3); more > 0; more--) {
      const name = `q${sent.length}q`
      sent.push(name)
      waiting.push(messageFrom(SENDERS[sent.length % SENDERS.length]!, name))
    }
    if (point === "received") setTimeout(() => reached("received"), Math.random() * 60)
    if (point === "reconciled") setTimeout(() => reached("reconciled"), 100 + Math.random() * 200)
    await deliver()
    const late = setTimeout(() => running.child.kill("SIGKILL"), 3000)
    await running.ended
    clearTimeout(late)
    await expireLeases()
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
      `${said.length} texts accepted, ${model.requests.length} turns begun, ${turns.n} stored, ${carrier.asked.list} queries for sent texts`
  )
  expect(times).toEqual(sent.map(() => 1))
  // Every stored turn was sent, and every sent answer is stored.
  expect(turns.n).toBe(said.length)
})
