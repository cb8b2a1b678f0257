/**
 * Crash test of changes by text and of tickets: kills the server at every step from the request to the receipt. Each change adds a
 * person with a name of its own, so that one which is lost, applied twice or applied without its yes is counted.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type Carrier, ACCOUNT, messageFrom, OURS, type Params, post, PUBLIC_URL, startCarrier, TOKEN } from "../support/carrier.ts" // prettier-ignore
import { runMax } from "../support/cli.ts"
import { migratedDatabase } from "../support/database.ts"
import { ask, JSON_TYPE } from "../support/http.ts"
import { killableServer, type Running } from "../support/killable.ts"
import { series } from "../support/long.ts"
import { calls, type MessagesServer, resultsIn, says, startMessages } from "../support/messages.ts"
import { until } from "../support/until.ts"
import { connectTo } from "../support/newDatabase.ts"

/** Where the next kill happens. Those of texts and of tickets alternate. */
const POINTS = [
  "code committing",
  "ticket drafted",
  "code confirmed",
  "ticket keeping",
  "text drafted",
  "ticket approved",
  "text offered",
  "ticket approving",
  "code told",
  "ticket handed in",
  "text received",
  "ticket asked",
  "text asked",
  "text offering"
] as const
type Point = (typeof POINTS)[number]

const KILLS = series({ short: 8, long: 203 })
const SENDERS = ["+15125550142", "+15125550143", "+15125550144"]

const scope = Scope.makeUnsafe()
let killable: Awaited<ReturnType<typeof killableServer>>
let carrier: Carrier
let model: MessagesServer
let env: Record<string, string> = {}
let database: PgClient.PgClient
/** A connection of its own, for locks that the server waits for. */
let locker: PgClient.PgClient
const tokens: Record<string, string> = {}

beforeAll(async () => {
  killable = await killableServer()
  carrier = await startCarrier()
  model = await startMessages()
  const url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  const connect = () => Effect.runPromise(connectTo(url).pipe(Effect.provide(Reactivity.layer), Scope.provide(scope)))
  database = await connect()
  locker = await connect()
  env = {
    DATABASE_URL: url,
    MAX_LOOKUP_TIMEOUT: "10000",
    MAX_HTTP_PORT: "0",
    MAX_PUBLIC_URL: PUBLIC_URL,
    MAX_TWILIO_URL: carrier.url,
    MAX_SMS_PER_NUMBER: "100000",
    MAX_SMS_SEGMENTS: "1000000",
    MAX_WRITES_PER_MINUTE: "100000",
    MAX_CHANGED_ROWS_PER_DAY: "100000",
    MAX_CALLS_PER_PERSON: "100000",
    MAX_PROVIDER: "anthropic",
    ANTHROPIC_API_KEY: "sk-test",
    ANTHROPIC_BASE_URL: model.url,
    CARRIER_TOKEN: TOKEN
  }
  for (const args of [
    ["init", "--org", "atlas", "--country", "US", "--time-zone", "UTC"],
    ...SENDERS.map((phone) => ["member", "add", phone, "--role", "admin", "--create"]),
    ...["desk", "boss"].map((name) => ["member", "add", `${name}@atlas.example`, "--role", "admin", "--create"]),
    ["sms", "add-number", OURS, "--account", ACCOUNT, "--token", "env:CARRIER_TOKEN"],
    ["sms", "set", "--changes", "once"]
  ])
    expect(await runMax(args, env), args.join(" ")).toMatchObject({ code: 0 })
  for (const [name, scopes] of [
    ["desk", ["changes"]],
    ["boss", ["changes", "confirm"]]
  ] as const) {
    const flags = scopes.flatMap((one) => ["--scope", one])
    const made = await runMax(["token", "create", `${name}@atlas.example`, "--name", name, ...flags, "--json"], env)
    tokens[name] = /max_[\w-]+/.exec(made.stdout)![0]
  }
})

afterAll(async () => {
  killable?.stop()
  await carrier?.close()
  await model?.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

const sql = (text: string) => Effect.runPromise(database.unsafe<any>(text))

it(`a server killed ${KILLS} times applies each confirmed change of a text and of a ticket exactly once, and no other`, async () => {
  let running: Running
  let point: Point | undefined
  const killed: Record<string, number> = {}
  const kill = () => {
    killed[point!] = (killed[point!] ?? 0) + 1
    point = undefined
    running.child.kill("SIGKILL")
  }
  /** Kills the server if this is where. */
  const reached = (...here: ReadonlyArray<Point>) => {
    const isHere = point !== undefined && here.includes(point)
    if (isHere) kill()
    return isHere
  }
  /** Kills it some milliseconds after something was asked of it. */
  const soon = (here: Point, within: number) => setTimeout(() => reached(here), Math.random() * within)

  // The model drafts what it is asked for, and says something when that is drafted.
  model.script = (request) => {
    const said = JSON.stringify(request.messages)
    const name = [...said.matchAll(/[qt]\d+[qt]/g)].at(-1)?.[0] ?? ""
    const isText = name.startsWith("q")
    if (resultsIn(request).length > 0) {
      reached(isText ? "text drafted" : "ticket drafted")
      return says("Here it is.")
    }
    reached(isText ? "text asked" : "ticket asked")
    return calls(["requestAction", { actionId: "people.create", values: [`name=${name}`] }])
  }
  const CODE = /\b(q\d+q)\? Reply OK (\d{4})/
  carrier.fate = ({ body }) => {
    if (CODE.test(body)) {
      if (reached("text offering")) return { accept: false, ends: "broken" }
      if (reached("text offered")) return { accept: true, ends: "broken" }
    } else if (reached("code told")) return { accept: true, ends: "broken" }
    return {}
  }

  const start = () => killable.start(env)
  /** What isn't acknowledged yet is sent again: texts by the carrier, tickets by the help desk, an approval by its person. */
  const texts: Array<Params> = []
  const tickets = new Map<string, string>()
  const approvals = new Map<string, string>()
  const asked: Array<string> = []
  /** The last answer that wasn't 200, for the report of a failure. */
  let last: unknown
  const send = (who: string, path: string, body?: unknown) =>
    ask(running.url, path, {
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: { ...JSON_TYPE, authorization: `Bearer ${tokens[who]!}` }
    }).then(
      (answer) => {
        if (answer.status !== 200) last = { path, status: answer.status, json: answer.json }
        return answer
      },
      () => undefined
    )
  const handIn = async (name: string) => {
    const ticket = {
      source: "desk",
      sourceId: name,
      from: "customer@elsewhere.example",
      text: `Please add the person ${name}`
    }
    const answer = await send("desk", "/v1/intake", ticket)
    if (answer?.status !== 200) return
    const [change, ...others] = answer.json.changes as ReadonlyArray<{ changeId: string; level: string }>
    expect([change?.level, others.length]).toEqual(["second", 0])
    tickets.delete(name)
    approvals.set(name, change!.changeId)
  }
  /** What was shown, by change: a yes that is sent again is to the same digest, which an applied change shows no more. */
  const digests = new Map<string, string>()
  const approve = async (name: string, changeId: string) => {
    const shown = digests.has(changeId) ? undefined : await send("boss", `/v1/changes/${changeId}`)
    if (typeof shown?.json?.digest === "string") digests.set(changeId, shown.json.digest)
    const answer = await send("boss", `/v1/changes/${changeId}/confirm`, { digest: digests.get(changeId) })
    if (answer?.status === 200) approvals.delete(name)
  }
  const deliver = async () => {
    for (const params of texts.slice()) {
      const answer = await post(running, params).catch(() => undefined)
      if (answer?.status === 200) texts.splice(texts.indexOf(params), 1)
      if (answer === undefined) return
    }
  }
  /** The people's yes to each code that came, once. */
  const answered = new Set<string>()
  const codes = () =>
    carrier.accepted.flatMap(({ body, to }) => {
      const [, name = "", code = ""] = CODE.exec(body) ?? []
      return name === "" || answered.has(name) ? [] : [{ name, code, to }]
    })
  const sayYes = () => {
    for (const { code, name, to } of codes()) {
      answered.add(name)
      texts.push(messageFrom(to, `OK ${code}`))
    }
  }
  const skipPauses = async () => {
    await sql("UPDATE max.sms_outbox SET next_at = now() WHERE state IN ('queued', 'trying')")
    await sql("UPDATE max.sms_senders SET due_at = now() WHERE due_at IS NOT NULL")
  }
  /** Goes on until everything is acknowledged, sent and decided. */
  const drained = async (confirms: boolean) => {
    const isDrained = async () => {
      expect(running.child.exitCode ?? running.child.signalCode).toBe(null)
      if (confirms) sayYes()
      await deliver()
      for (const name of tickets.keys()) await handIn(name)
      if (confirms) for (const [name, changeId] of approvals) await approve(name, changeId)
      const [left] = await sql(`SELECT (SELECT count(*) FROM max.sms_inbox WHERE state = 'waiting')::int
        + (SELECT count(*) FROM max.sms_outbox WHERE state IN ('queued', 'trying'))::int AS n`)
      if (left.n > 0) await skipPauses()
      const open = confirms ? codes().length + approvals.size : 0
      return left.n + texts.length + tickets.size + open === 0
    }
    await until(isDrained, 300_000).catch(async () => {
      const waiting =
        await sql(`SELECT 'inbox' AS place, state, left(body, 60) AS what, NULL AS error FROM max.sms_inbox WHERE state = 'waiting'
        UNION ALL SELECT 'outbox', state, left(body, 60), error FROM max.sms_outbox WHERE state IN ('queued', 'trying')
        UNION ALL SELECT 'change', state, change_id, decided_channel FROM max.changes WHERE state <> 'applied'`)
      throw new Error(
        `Not drained: ${JSON.stringify({ waiting, texts, tickets: [...tickets], approvals: [...approvals], codes: codes(), last })}`
      )
    })
  }
  const requestByText = () => {
    const name = `q${asked.length}q`
    asked.push(name)
    texts.push(messageFrom(SENDERS[asked.length % SENDERS.length]!, `add a new person ${name}`))
  }
  const requestByTicket = () => {
    const name = `t${asked.length}t`
    asked.push(name)
    tickets.set(name, name)
    return name
  }
  /** Kills the server while it waits for a lock on a table, which is within the transaction that writes there. */
  const killWaiting = (table: string, trigger: () => Promise<unknown>) =>
    Effect.runPromise(
      Effect.gen(function* () {
        yield* locker.unsafe(`LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`)
        const triggered = trigger()
        yield* Effect.promise(() =>
          until(async () => {
            const [row] = await sql(`SELECT count(*)::int AS n FROM pg_stat_activity
              WHERE datname = current_database() AND wait_event_type = 'Lock'`)
            return row.n > 0
          })
        )
        kill()
        yield* Effect.promise(() => running.ended)
        yield* Effect.promise(() => triggered.catch(() => undefined) as Promise<unknown>)
      }).pipe(locker.withTransaction)
    )

  for (let number = 0; number < KILLS; number++) {
    point = undefined
    running = await start()
    const next = POINTS[number % POINTS.length]!
    // Every other kill of a request happens before the server has recovered from the last one.
    if (number % 2 === 0 || /^code|appro/.test(next)) await drained(true)
    if (next.startsWith("text")) requestByText()
    if (next.startsWith("code")) {
      requestByText()
      await drained(false)
      sayYes()
    }
    const name = next.startsWith("ticket") ? requestByTicket() : ""
    if (/appro/.test(next)) await drained(false)
    point = next
    switch (next) {
      case "code committing":
        await killWaiting("max.audit_log", deliver)
        break
      case "ticket keeping":
        await killWaiting("max.turns", () => handIn(name))
        break
      case "ticket approving":
        await killWaiting("max.audit_log", () => approve(name, approvals.get(name)!))
        break
      case "ticket approved":
        soon(next, 80)
        await approve(name, approvals.get(name)!)
        break
      case "ticket handed in":
        soon(next, 120)
        await handIn(name)
        break
      case "text received":
      case "code confirmed":
        soon(next, 120)
        await deliver()
        break
      default:
        await (name === "" ? deliver() : handIn(name))
    }
    // Where the point was not reached, the server is killed anyway.
    const late = setTimeout(() => running.child.kill("SIGKILL"), 5000)
    await running.ended
    clearTimeout(late)
    await sql("UPDATE max.sms_senders SET leased_until = now() - interval '1 second' WHERE lease IS NOT NULL")
    await skipPauses()
    if (number % 20 === 19) console.log(`${number + 1} kills`)
  }

  point = undefined
  running = await start()
  await drained(true)
  running.child.kill("SIGKILL")
  await running.ended
  const rows: ReadonlyArray<{ name: string; n: number }> = await sql(
    "SELECT name, count(*)::int AS n FROM data.people WHERE name ~ '^[qt][0-9]+[qt]$' GROUP BY 1"
  )
  const states: ReadonlyArray<{ state: string; n: number }> = await sql(
    "SELECT state, count(*)::int AS n FROM max.changes WHERE state <> 'drafted' GROUP BY 1"
  )
  const told = carrier.accepted.filter(({ body }) => body.includes("Done: 1 person added")).length
  console.log(`${KILLS} kills (${Object.entries(killed).map(([at, n]) => `${at} ${n}`).join(", ")}): ${asked.length} requests`) // prettier-ignore
  expect(rows.map(({ name, n }) => `${name} ${n}`).toSorted()).toEqual(asked.map((name) => `${name} 1`).toSorted())
  expect(states).toEqual([{ state: "applied", n: asked.length }])
  expect(told).toBe(asked.filter((name) => name.startsWith("q")).length)
})
