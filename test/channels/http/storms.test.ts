/** What many clients, the process's end and the database's do to what is under way, in a `max serve` of its own. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Redacted, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { readdirSync } from "node:fs"
import { connect as connectTcp, type Socket } from "node:net"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { connect, type TurnEvent } from "../../../src/channels/http/client.ts"
import { program, runMax, serveMax } from "../../support/cli.ts"
import { migratedDatabase } from "../../support/database.ts"
import { callTool } from "../../support/http.ts"
import { type MessagesServer, says, startMessages } from "../../support/messages.ts"

const scope = Scope.makeUnsafe()
let messages: MessagesServer
let env: Record<string, string> = {}
let token = ""

beforeAll(async () => {
  messages = await startMessages()
  const url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  env = {
    DATABASE_URL: url,
    MAX_LOOKUP_TIMEOUT: "20000",
    MAX_SEARCH_TIMEOUT: "20000",
    MAX_HTTP_PORT: "0",
    MAX_CALLS_PER_PERSON: "1000000",
    MAX_CALLS_PER_ORGANIZATION: "1000000",
    MAX_DAY_TURNS: "1000000",
    MAX_DAY_TOKENS: "900000000",
    MAX_TURN_SECONDS: "600",
    ANTHROPIC_API_KEY: "sk-test",
    ANTHROPIC_BASE_URL: messages.url
  }
  for (const args of [
    ["init", "--org", "atlas", "--country", "US", "--time-zone", "UTC"],
    ["member", "add", "ada@atlas.com", "--role", "admin", "--create"]
  ]) {
    expect(await runMax(args, env)).toMatchObject({ code: 0 })
  }
  const scopes = ["--scope", "tools", "--scope", "chat"]
  token = (await runMax(["token", "create", "ada@atlas.com", "--name", "test", ...scopes], env)).stdout.trim()
})

afterAll(async () => {
  await messages.close()
  await Effect.runPromise(Scope.close(scope, Exit.void))
})

beforeEach(() => messages.reset(() => says("Hello there.")))

const find = { entityTypeId: "people", filters: [] }
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const until = async (what: string, holds: () => boolean | Promise<boolean>) => {
  for (const from = Date.now(); !(await holds()); await sleep(20)) {
    if (Date.now() - from > 60_000) throw new Error(`It never came to this: ${what}`)
  }
}

/** Says on SIGUSR2 what the process holds after everything unused is gone. */
const WATCH = `data:text/javascript,process.on("SIGUSR2", () => { gc(); gc(); console.error("HELD " + process.memoryUsage().heapUsed) })`

/** A model that says a word and then nothing more for as long as it is listened to. */
const endless = () => says("A moment, please. And then this goes on. ", { pace: 300_000, piece: 20 })

/** A client with a turn of its own, as soon as it hears a word of the answer. */
const listener = (url: string, index: number) =>
  new Promise<Socket>((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const body = JSON.stringify({ text: `question ${index}` })
    const head = `POST /v1/chat HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`
    const socket = connectTcp(Number(port), hostname, () =>
      socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
    )
    let text = ""
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes("event: delta")) resolve(socket)
      else if (!text.startsWith("HTTP/1.1 200")) reject(new Error(text))
    })
    socket.on("error", reject)
    socket.on("close", () => reject(new Error(`closed after ${text}`)))
  })

describe("five hundred clients that leave in the middle of an answer", () => {
  it("leave no call of the model, no connection and no memory behind, round after round", async () => {
    const server = await serveMax(env, [process.execPath, "--expose-gc", "--import", WATCH, program, "serve"])
    const files = () => readdirSync(`/proc/${server.pid}/fd`).length
    const held = async () => {
      const before = server.said().length
      process.kill(server.pid, "SIGUSR2")
      await until("the heap is known", () => /HELD \d+/.test(server.said().slice(before)))
      return Number(/HELD (\d+)/.exec(server.said().slice(before))![1])
    }
    const heap: Array<number> = []
    const open: Array<number> = []
    for (let round = 0; round < 2; round++) {
      messages.reset(endless)
      const clients: Array<Socket> = []
      while (clients.length < 500) {
        const more = Array.from({ length: 50 }, (_, index) => listener(server.url, clients.length + index))
        clients.push(...(await Promise.all(more)))
      }
      expect(messages.requests.filter(({ aborted }) => !aborted)).toHaveLength(500)
      expect(files()).toBeGreaterThan(1000)
      // Half of them without a word of goodbye.
      for (const [index, socket] of clients.entries()) {
        socket.removeAllListeners().on("error", () => {})
        if (index % 2 === 0) socket.resetAndDestroy()
        else socket.destroy()
      }
      await until("every call is cancelled", () => messages.requests.every(({ aborted }) => aborted))
      // For a call that was broken off node's fetch may open a connection anew, with nothing to send on it: the other side ends those.
      await until("the connections are closed", () => {
        messages.hangUp()
        return files() < 50
      })
      expect((await callTool(server, token, "findEntities", find)).status).toBe(200)
      heap.push(await held())
      open.push(files())
    }
    // What is compiled and kept for good is there after the first round.
    expect(heap[1]! / heap[0]!).toBeLessThan(1.1)
    expect(open[1]!).toBeLessThanOrEqual(open[0]! + 5)
    server.end("SIGTERM")
    expect(await server.ended).toBe(0)
    expect(server.said()).not.toMatch(/\n\s+at /)
  })
})

describe("the end of a process", () => {
  it("lets an answer under way be heard to its end, ends what doesn't, and exits with 0 within ten seconds", async () => {
    const server = await serveMax(env)
    const max = connect({ url: server.url, token })
    messages.reset((request) =>
      JSON.stringify(request.messages).includes("endless")
        ? endless()
        : says("This takes two seconds or so, whatever happens.", { pace: 200, piece: 5 })
    )
    const hear = async (text: string) => {
      const events: Array<TurnEvent> = []
      const ended = (async () => {
        for await (const event of max.chat({ text })) events.push(event)
      })().then(
        () => "the end",
        () => "cut"
      )
      await until(`${text} begins`, () => events.some(({ _tag }) => _tag === "delta"))
      return { events, ended }
    }
    const endlessly = await hear("endless")
    const slowly = await hear("slowly")
    const over = new AbortController()
    const outcomes: Array<number | string> = []
    const load = Array.from({ length: 4 }, async () => {
      while (!over.signal.aborted) {
        outcomes.push(
          await callTool(server, token, "findEntities", find).then(
            ({ status }) => status,
            (error: NodeJS.ErrnoException) => error.code ?? "failed"
          )
        )
      }
    })
    await until("there is load", () => outcomes.length > 20)
    const began = Date.now()
    server.end("SIGTERM")
    expect(await slowly.ended).toBe("the end")
    expect(slowly.events.at(-1)).toMatchObject({ _tag: "done" })
    expect(await server.ended).toBe(0)
    expect(Date.now() - began).toBeLessThan(10_000)
    over.abort()
    await Promise.all(load)
    // Nobody was told anything but a whole answer, or that the server isn't there any more.
    const told = [200, 503, "ECONNREFUSED", "ECONNRESET", "EPIPE"]
    expect(outcomes.filter((outcome) => !told.includes(outcome))).toEqual([])
    await endlessly.ended
    expect(endlessly.events.map(({ _tag }) => _tag)).not.toContain("done")
    await until("the model is left alone", () =>
      messages.requests.every(({ aborted, sentAt }) => aborted || sentAt.length > 2)
    )
    expect(server.said()).not.toMatch(/\n\s+at /)
  })
})

describe("a database that goes away while it is asked", () => {
  const run = <A>(use: (sql: PgClient.PgClient) => Effect.Effect<A, unknown>) =>
    Effect.runPromise(
      Effect.scoped(
        Effect.flatMap(PgClient.make({ url: Redacted.make(env["DATABASE_URL"]!), maxConnections: 1 }), use)
      ).pipe(Effect.provide(Reactivity.layer)) as Effect.Effect<A, unknown>
    )

  it("makes what waits for it unavailable, never empty, and answers again once it is back", async () => {
    const server = await serveMax({ ...env, MAX_LOOKUP_TIMEOUT: "5000" })
    const max = connect({ url: server.url, token })
    expect((await callTool(server, token, "findEntities", find)).json.total).toBe(1)
    messages.reset((_, index) =>
      index === 0 ? { content: [{ type: "tool_use", name: "findEntities", input: find }] } : says("Nobody is there.")
    )
    const waiting = (sql: PgClient.PgClient) =>
      sql.unsafe<{ n: number }>(
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
      )
    let asked: ReadonlyArray<Promise<Awaited<ReturnType<typeof callTool>>>> = []
    let turn: Promise<ReadonlyArray<TurnEvent>> = Promise.resolve([])
    await run((sql) =>
      Effect.gen(function* () {
        yield* sql.unsafe("BEGIN").unprepared
        yield* sql.unsafe("LOCK TABLE data.people IN ACCESS EXCLUSIVE MODE").unprepared
        asked = Array.from({ length: 5 }, () => callTool(server, token, "findEntities", find))
        turn = (async () => {
          const events: Array<TurnEvent> = []
          try {
            for await (const event of max.chat({ text: "who is there?" })) events.push(event)
          } catch (error) {
            events.push(error as TurnEvent)
          }
          return events
        })()
        for (let wait = 0; wait < 500 && (yield* waiting(sql))[0]!.n === 0; wait++) yield* Effect.sleep("20 millis")
        yield* Effect.sleep("300 millis")
        // Everybody but whoever holds the table.
        yield* sql.unsafe(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).unprepared
        const answers = yield* Effect.promise(() => Promise.all(asked))
        for (const { json, status } of answers)
          expect([status, json.type]).toEqual([503, "urn:max:problem:unavailable"])
      })
    )
    const events = await turn
    expect(events.map((event) => (event._tag === "error" ? event.reason : event._tag)).at(-1)).toBe("Unavailable")
    expect(JSON.stringify(events)).not.toContain("Nobody is there")
    await until("it answers again", async () => (await callTool(server, token, "findEntities", find)).status === 200)
    expect((await callTool(server, token, "findEntities", find)).json.total).toBe(1)
    server.end("SIGTERM")
    expect(await server.ended).toBe(0)
  })
})
