/** Open requests of a `max serve` process when clients disconnect, the process ends or the database fails. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Exit, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { readdirSync } from "node:fs"
import { connect as connectTcp, type Socket } from "node:net"
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest"
import { connect, type TurnEvent } from "../../../src/channels/http/client.ts"
import { program, runMax } from "../../support/cli.ts"
import { migratedDatabase } from "../../support/database.ts"
import { callTool, serveForTest } from "../../support/http.ts"
import { type MessagesServer, says, startMessages } from "../../support/messages.ts"
import { until } from "../../support/until.ts"
import { connectTo } from "../../support/newDatabase.ts"

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

/** Prints the heap size after garbage collection on SIGUSR2. */
const WATCH = `data:text/javascript,process.on("SIGUSR2", () => { gc(); gc(); console.error("HELD " + process.memoryUsage().heapUsed) })`

/** A model that sends one piece of its answer and then keeps the stream open. */
const endless = () => says("A moment, please. And then this goes on. ", { pace: 300_000, piece: 20 })

/** Opens a turn, and resolves with its socket after the first piece of the answer. */
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

describe("500 clients that disconnect in the middle of an answer", () => {
  it("leave no model call, connection or memory behind, in two rounds", async () => {
    const server = await serveForTest(env, [process.execPath, "--expose-gc", "--import", WATCH, program, "serve"])
    const files = () => readdirSync(`/proc/${server.pid}/fd`).length
    const heapSize = async () => {
      const before = server.said().length
      process.kill(server.pid, "SIGUSR2")
      await until(() => /HELD \d+/.test(server.said().slice(before)))
      return Number(/HELD (\d+)/.exec(server.said().slice(before))![1])
    }
    // The first round compiles code and fills caches that stay; the second may add nothing to it.
    let [maxHeap, maxFiles] = [Infinity, 50]
    for (let round = 0; round < 2; round++) {
      messages.reset(endless)
      const clients: Array<Socket> = []
      while (clients.length < 500) {
        const more = Array.from({ length: 50 }, (_, index) => listener(server.url, clients.length + index))
        clients.push(...(await Promise.all(more)))
      }
      expect(messages.requests.filter(({ aborted }) => !aborted)).toHaveLength(500)
      expect(files()).toBeGreaterThan(1000)
      // Half of them close the connection, half reset it.
      for (const [index, socket] of clients.entries()) {
        socket.removeAllListeners().on("error", () => {})
        if (index % 2 === 0) socket.resetAndDestroy()
        else socket.destroy()
      }
      await until(() => messages.requests.every(({ aborted }) => aborted))
      // After an aborted request, node's fetch may open an idle connection to the model; `hangUp` closes those.
      let openFiles = 0
      await until(() => {
        messages.hangUp()
        openFiles = files()
        return openFiles <= maxFiles
      })
      expect((await callTool(server, token, "findEntities", find)).status).toBe(200)
      let heap = 0
      await until(async () => {
        heap = await heapSize()
        return heap < maxHeap
      })
      ;[maxHeap, maxFiles] = [1.1 * heap, openFiles + 5]
    }
    server.end("SIGTERM")
    expect(await server.ended).toBe(0)
    expect(server.said()).not.toMatch(/\n\s+at /)
  })
})

describe("a server process that receives SIGTERM", () => {
  it("finishes open answers, cancels endless ones, and exits with 0 within ten seconds", async () => {
    const server = await serveForTest(env)
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
      await until(() => events.some(({ _tag }) => _tag === "delta"))
      return { events, ended }
    }
    const endlessly = await hear("endless")
    const slowly = await hear("slowly")
    const stopLoad = new AbortController()
    onTestFinished(() => stopLoad.abort())
    const outcomes: Array<number | string> = []
    const load = Array.from({ length: 4 }, async () => {
      while (!stopLoad.signal.aborted) {
        outcomes.push(
          await callTool(server, token, "findEntities", find).then(
            ({ status }) => status,
            (error: NodeJS.ErrnoException) => error.code ?? "failed"
          )
        )
      }
    })
    await until(() => outcomes.length > 20)
    const began = Date.now()
    server.end("SIGTERM")
    expect(await slowly.ended).toBe("the end")
    expect(slowly.events.at(-1)).toMatchObject({ _tag: "done" })
    expect(await server.ended).toBe(0)
    expect(Date.now() - began).toBeLessThan(30_000)
    stopLoad.abort()
    await Promise.all(load)
    // Clients get a complete answer, or learn that the server is gone.
    const expected = [200, 503, "ECONNREFUSED", "ECONNRESET", "EPIPE"]
    expect(outcomes.filter((outcome) => !expected.includes(outcome))).toEqual([])
    await endlessly.ended
    expect(endlessly.events.map(({ _tag }) => _tag)).not.toContain("done")
    await until(() => messages.requests.every(({ aborted, sentAt }) => aborted || sentAt.length > 2))
    expect(server.said()).not.toMatch(/\n\s+at /)
  })
})

describe("a database that terminates its connections during queries", () => {
  const run = <A>(use: (sql: PgClient.PgClient) => Effect.Effect<A, unknown>) =>
    Effect.runPromise(
      Effect.scoped(Effect.flatMap(connectTo(env["DATABASE_URL"]!), use)).pipe(
        Effect.provide(Reactivity.layer)
      ) as Effect.Effect<A, unknown>
    )

  it("makes waiting requests unavailable, never empty, and later ones succeed", async () => {
    const server = await serveForTest({ ...env, MAX_LOOKUP_TIMEOUT: "5000" })
    const max = connect({ url: server.url, token })
    expect((await callTool(server, token, "findEntities", find)).json.total).toBe(1)
    messages.reset((_, index) =>
      index === 0 ? { content: [{ type: "tool_use", name: "findEntities", input: find }] } : says("Found no people.")
    )
    const waiting = (sql: PgClient.PgClient) =>
      sql.unsafe<{ n: number }>(
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
      ).unprepared
    const chat = async () => {
      const events: Array<TurnEvent> = []
      try {
        for await (const event of max.chat({ text: "who is there?" })) events.push(event)
      } catch (error) {
        events.push(error as TurnEvent)
      }
      return events
    }
    const events = await run((sql) =>
      Effect.gen(function* () {
        yield* sql.unsafe("BEGIN").unprepared
        yield* sql.unsafe("LOCK TABLE data.people IN ACCESS EXCLUSIVE MODE").unprepared
        const calls = Array.from({ length: 5 }, () => callTool(server, token, "findEntities", find))
        const turn = chat()
        yield* Effect.promise(() =>
          until(async () => {
            const [row] = await Effect.runPromise(waiting(sql))
            return row!.n > 0
          })
        )
        // All connections but the one with the lock.
        yield* sql.unsafe(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).unprepared
        const answers = yield* Effect.promise(() => Promise.all(calls))
        for (const { json, status } of answers)
          expect([status, json.type]).toEqual([503, "urn:max:problem:unavailable"])
        // The lock is held until everything has ended: what comes late waits for it, too, until its timeout.
        return yield* Effect.promise(() => turn)
      })
    )
    expect(events.map((event) => (event._tag === "error" ? event.reason : event._tag)).at(-1)).toBe("Unavailable")
    expect(JSON.stringify(events)).not.toContain("Found no people")
    await until(async () => (await callTool(server, token, "findEntities", find)).status === 200)
    expect((await callTool(server, token, "findEntities", find)).json.total).toBe(1)
    server.end("SIGTERM")
    expect(await server.ended).toBe(0)
  })
})
