import { Effect, Exit, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { Agent, request } from "node:http"
import { connect } from "node:net"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest"
import { program, runMax } from "../../support/cli.ts"
import { migratedDatabase } from "../../support/database.ts"
import { ask, callTool, serveForTest } from "../../support/http.ts"
import { until } from "../../support/until.ts"
import { connectTo } from "../../support/newDatabase.ts"

const scope = Scope.makeUnsafe()
let env: Record<string, string> = {}
let token = ""

beforeAll(async () => {
  const url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
  env = {
    DATABASE_URL: url,
    MAX_LOOKUP_TIMEOUT: "10000",
    MAX_HTTP_PORT: "0",
    MAX_CALLS_PER_PERSON: "1000000",
    MAX_CALLS_PER_ORGANIZATION: "1000000"
  }
  for (const args of [
    ["init", "--org", "atlas", "--country", "US", "--time-zone", "UTC"],
    ["member", "add", "ada@atlas.com", "--role", "admin", "--create"]
  ]) {
    expect(await runMax(args, env)).toMatchObject({ code: 0 })
  }
  token = (await runMax(["token", "create", "ada@atlas.com", "--name", "test"], env)).stdout.trim()
})

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const serve = (more: Record<string, string> = {}, command?: ReadonlyArray<string>) =>
  serveForTest({ ...env, ...more }, command)

const find = { entityTypeId: "people", filters: [] }

/** Sends calls over keep-alive connections until stopped, and records their outcomes. */
const load = (url: string, connections: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const outcomes: Array<number | string> = []
  const stopped = new AbortController()
  onTestFinished(() => stopped.abort())
  const one = () =>
    new Promise<number | string>((resolve) => {
      const body = JSON.stringify(find)
      const sent = request(new URL("/v1/tools/findEntities", url), {
        agent,
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body)
        }
      })
      sent.on("response", (response) => {
        response.resume()
        response.on("end", () => resolve(response.statusCode!))
        response.on("error", () => resolve("cut"))
      })
      sent.on("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED" ? "refused" : "cut"))
      sent.end(body)
    })
  const done = Promise.all(
    Array.from({ length: connections }, async () => {
      while (!stopped.signal.aborted) {
        const outcome = await one()
        outcomes.push(outcome)
        if (outcome === "refused") return
      }
    })
  )
  return { outcomes, stop: () => stopped.abort(), done: done.then(() => agent.destroy()) }
}

describe("max serve", () => {
  it("shuts down gracefully under load: it answers open requests and exits with 0", async () => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const server = await serve()
      const running = load(server.url, 8)
      await until(() => running.outcomes.length >= 50)
      const began = Date.now()
      server.end(signal)
      expect(await server.ended).toBe(0)
      expect(Date.now() - began).toBeLessThan(30_000)
      running.stop()
      await running.done
      const kinds = new Set(running.outcomes)
      // An idle connection may be closed while its client starts to use it.
      expect([...kinds].filter((kind) => kind !== 200 && kind !== "refused" && kind !== "cut")).toEqual([])
      expect(running.outcomes.filter((kind) => kind === "cut").length).toBeLessThanOrEqual(8)
      expect(server.said()).not.toMatch(/\n\s+at /)
    }
  })

  it("stores no trace of its own, which would be slow and interrupted", async () => {
    const server = await serve()
    await until(() => ask(server.url, "/readyz").then(({ status }) => status === 200))
    // A refusal, whose trace is always stored.
    await callTool(server, token, "findEntities", { entityTypeId: "nothing", filters: [] })
    server.end("SIGTERM")
    expect(await server.ended).toBe(0)
    const listed = await runMax(["trace", "list", "--json"], env)
    expect(listed).toMatchObject({ code: 0 })
    expect(listed.stdout).toContain("POST /v1/tools/findEntities")
    expect(listed.stdout).not.toContain("max serve")
  })

  it("shuts down although a client never finishes its request", async () => {
    const server = await serve()
    const { hostname, port } = new URL(server.url)
    const head = `POST /v1/session HTTP/1.1\r\nHost: localhost\r\nOrigin: ${server.url}\r\n`
    const body = "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    const socket = connect(Number(port), hostname, () => socket.write(head + body))
    socket.on("error", () => {})
    onTestFinished(() => void socket.destroy())
    await ask(server.url, "/healthz")
    const began = Date.now()
    server.end("SIGTERM")
    expect(await server.ended).toBe(0)
    expect(Date.now() - began).toBeLessThan(30_000)
  })

  it("answers a request that arrived while the process stood still", async () => {
    const server = await serve()
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    onTestFinished(() => void socket.destroy())
    let text = ""
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()))
    // The server accepts the connection before it stops.
    await ask(server.url, "/healthz")
    process.kill(server.pid, "SIGSTOP")
    socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await sleep(12_000)
    process.kill(server.pid, "SIGCONT")
    await expect.poll(() => text).toMatch(/^HTTP\/1\.1 200 /)
    // Nor is it ended afterwards.
    await sleep(1500)
    expect(text).not.toContain("408")
    server.end("SIGTERM")
    expect(await server.ended).toBe(0)
  })

  it("closes connections whose request doesn't arrive in time, with a 408", async () => {
    const server = await serve()
    const { hostname, port } = new URL(server.url)
    const slow = (first: string) =>
      new Promise<{ text: string; after: number }>((resolve) => {
        const began = Date.now()
        const socket = connect(Number(port), hostname, () => socket.write(first))
        const drip = setInterval(() => socket.writable && socket.write("X-a: b\r\n"), 500)
        let text = ""
        socket.on("data", (chunk: Buffer) => (text += chunk.toString()))
        socket.on("error", () => {})
        socket.on("close", () => {
          clearInterval(drip)
          resolve({ text, after: Date.now() - began })
        })
      })
    const head = "POST /v1/tools/findEntities HTTP/1.1\r\nHost: localhost\r\n"
    const held = Array.from({ length: 100 }, () => slow(head))
    const body = `Authorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{`
    const dripping = Array.from({ length: 20 }, () => slow(head + body))
    // Other clients are answered meanwhile.
    expect((await callTool(server, token, "findEntities", find)).status).toBe(200)
    for (const { after, text } of await Promise.all(held)) {
      expect(text).toMatch(/^HTTP\/1\.1 408 [^]*application\/problem\+json[^]*urn:max:problem:request-timeout/)
      expect(after).toBeLessThan(60_000)
    }
    for (const { after, text } of await Promise.all(dripping)) {
      expect(text).toMatch(/^HTTP\/1\.1 408 /)
      expect(after).toBeLessThan(60_000)
    }
    server.end("SIGTERM")
    await server.ended
  })

  it("answers Unavailable, never an empty page, while the database refuses connections, and recovers", async () => {
    const server = await serve()
    const name = new URL(env["DATABASE_URL"]!).pathname.slice(1)
    const admin = (statement: string) =>
      Effect.runPromise(
        Effect.scoped(
          Effect.flatMap(connectTo(inject("serverUrl")), (client) => client.unsafe(statement).unprepared)
        ).pipe(Effect.provide(Reactivity.layer))
      )
    expect((await callTool(server, token, "findEntities", find)).json.total).toBe(1)
    onTestFinished(() => admin(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`).then(() => {}))
    await admin(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
    await admin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`)
    const failures = await Promise.all(Array.from({ length: 5 }, () => callTool(server, token, "findEntities", find)))
    for (const { headers, json, status } of failures) {
      expect([status, json.type, json.detail]).toEqual([
        503,
        "urn:max:problem:unavailable",
        "I can't look things up right now. Please try again in a minute."
      ])
      expect(headers["retry-after"]).toBe("5")
    }
    expect((await ask(server.url, "/healthz")).status).toBe(200)
    await until(async () => (await ask(server.url, "/readyz")).status === 503)
    await admin(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
    await until(async () => (await callTool(server, token, "findEntities", find)).status === 200)
    await until(async () => (await ask(server.url, "/readyz")).status === 200)
    server.end("SIGTERM")
    expect(await server.ended).toBe(0)
  })

  it("prints one line with the reason when it can't start", async () => {
    const server = await serve()
    const taken = await runMax(["serve"], { ...env, MAX_HTTP_PORT: new URL(server.url).port })
    expect(taken).toMatchObject({ code: 3, stderr: expect.stringMatching(/^MAX_HTTP_HOST, MAX_HTTP_PORT: .*\n$/) })
    server.end("SIGTERM")
    await server.ended
    for (const [name, value] of [
      ["MAX_HTTP_PORT", "70000"],
      ["MAX_PUBLIC_URL", "max.example.com"],
      ["MAX_PUBLIC_URL", "https://max.example.com/path"],
      ["MAX_ALLOWED_ORIGINS", "https://a.example, b.example"],
      ["MAX_CALLS_PER_PERSON", "0"]
    ] as const) {
      const ran = await runMax(["serve"], { ...env, [name]: value })
      expect(ran.code).toBe(3)
      expect(ran.stderr).toMatch(new RegExp(`^${name}: expected .*\n$`))
    }
  })

  it("writes nothing but JSON records with MAX_LOG_FORMAT=json, from its first line to its last", async () => {
    const logged = { MAX_LOG_FORMAT: "json", MAX_ACCESS_LOG: "1" }
    const server = await serve(logged)
    expect((await callTool(server, token, "findEntities", find)).status).toBe(200)
    expect((await ask(server.url, "/v1/nothing")).status).toBe(404)
    const port = new URL(server.url).port
    const taken = await runMax(["serve"], { ...env, ...logged, MAX_HTTP_PORT: port })
    const down = { ...logged, DATABASE_URL: "postgres://user:password@127.0.0.1:9/none" }
    const gone = await runMax(["serve"], { ...env, ...down })
    server.end("SIGTERM")
    expect(await server.ended).toBe(0)
    expect([taken.code, gone.code, taken.stdout, gone.stdout]).toEqual([3, 7, "", ""])
    const messages = [server.said(), taken.stderr, gone.stderr].map((said) =>
      said
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).message as string)
    )
    expect(messages[0]![0]).toMatch(/^Max answers at http/)
    expect(messages[0]!.length).toBeGreaterThan(2)
    expect(messages.slice(1)).toEqual([
      [expect.stringMatching(/^MAX_HTTP_HOST, MAX_HTTP_PORT: /)],
      ["I can't look things up right now. Please try again in a minute."]
    ])
  })

  it("writes JSON records, too, if the format is set in a file that --config names before the command", async () => {
    const folder = mkdtempSync(join(tmpdir(), "max-process-"))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, "max.json")
    writeFileSync(path, JSON.stringify({ MAX_LOG_FORMAT: "json" }))
    const down = { ...env, DATABASE_URL: "postgres://user:password@127.0.0.1:9/none" }
    const server = await serve({}, [process.execPath, program, "--config", path, "serve"])
    const gone = await runMax(["--config", path, "--org=atlas", "serve"], down)
    server.end("SIGTERM")
    expect(await server.ended).toBe(0)
    const messages = [server.said(), gone.stderr].map((said) => JSON.parse(said.split("\n")[0]!).message as string)
    expect(messages).toEqual([
      expect.stringMatching(/^Max answers at http/),
      "I can't look things up right now. Please try again in a minute."
    ])
  })

  it("prints a sign-in link only to a terminal of this machine", async () => {
    const piped = await runMax(["serve", "--sign-in", "ada@atlas.com"], env)
    expect(piped).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("terminal") })
    const open = await runMax(["serve", "--sign-in", "ada@atlas.com"], { ...env, MAX_HTTP_HOST: "0.0.0.0" })
    expect(open).toMatchObject({ code: 2, stdout: "" })
    const quoted = `'${process.execPath}' '${program}' serve --sign-in ada@atlas.com`
    const server = await serve({}, ["script", "-qefc", quoted, "/dev/null"])
    await until(() => /within five minutes/.test(server.said()))
    const [, page, code] = /(http:\S+\/sign-in)#(max_\S+)/.exec(server.said())!
    expect((await ask(server.url, new URL(page!).pathname)).status).toBe(200)
    const answer = await ask(server.url, "/v1/session", {
      body: JSON.stringify({ code }),
      headers: { "content-type": "application/json", origin: server.url }
    })
    expect(answer.status).toBe(204)
    const cookie = String((answer.headers["set-cookie"] as ReadonlyArray<string>)[0]).split(";")[0]!
    const whoAmI = await ask(server.url, "/v1/session", { headers: { cookie } })
    expect(whoAmI.json).toMatchObject({ by: "session", organization: "atlas", roles: ["admin"] })
    server.end("SIGTERM")
    await server.ended
  })
})
