/**
 * 1,000 people who listen over HTTP, in a real `max serve`: idle ones, who listen to a turn whose model says nothing more,
 * and ones who each have a turn of their own under way. What it takes to hold them, whether anybody else is still
 * answered, and what is left when all of them go away at the same moment. A model that never ends is scripted.
 */
import { spawn } from "node:child_process"
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createServer, request } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Measured } from "./figures.ts"

const CLIENTS = 1000
/** So many begin at once: this isn't about what a burst does to the database. */
const AT_ONCE = 50
const NAMED = 10
const ROUNDS = 3
const MAX_BYTES = 200e6
/** How much more than before is "back to where it was". */
const SLACK = 1.1

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const until = async (what: string, holds: () => boolean | Promise<boolean>): Promise<number> => {
  const from = performance.now()
  while (!(await holds())) {
    if (performance.now() - from > 120_000) throw new Error(`It never came to this: ${what}`)
    await sleep(20)
  }
  return performance.now() - from
}

/** A model that begins to answer and is heard of no more; `open` are the calls that nobody has cancelled. */
const startModel = async () => {
  const model = { url: "", open: 0, cancelled: 0, close: () => {} }
  const events = [
    {
      type: "message_start",
      message: {
        id: "msg",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 10, output_tokens: 1 }
      }
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "One moment, please. " } }
  ]
  const server = createServer((asked, response) => {
    asked.resume()
    asked.on("end", () => {
      model.open += 1
      response.on("close", () => {
        model.open -= 1
        model.cancelled += 1
      })
      response.writeHead(200, { "content-type": "text/event-stream" })
      for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  model.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  model.close = () => {
    server.closeAllConnections()
    server.close()
  }
  return model
}

/** Says on SIGUSR2 what the program holds after everything unused is gone. */
const WATCH = `data:text/javascript,process.on("SIGUSR2", () => { gc(); gc(); console.error("HELD " + process.memoryUsage().heapUsed) })`

/** `max` from this checkout; resolves when it has said `ready`, or has ended well. */
const startMax = (args: ReadonlyArray<string>, env: NodeJS.ProcessEnv, ready?: RegExp) =>
  new Promise<{ pid: number; found: string; said: () => string; end: () => Promise<number | null> }>(
    (resolve, reject) => {
      const watching = ready === undefined ? [] : ["--expose-gc", "--import", WATCH]
      const child = spawn(process.execPath, [...watching, join("dist", "bin", "max.js"), ...args], {
        env,
        stdio: ["ignore", "pipe", "pipe"]
      })
      let said = ""
      const ended = new Promise<number | null>((done) => child.on("close", done))
      const started = (found: string) =>
        resolve({ pid: child.pid!, found, said: () => said, end: () => (child.kill("SIGTERM"), ended) })
      const listen = (chunk: Buffer) => {
        said += chunk.toString()
        const found = ready?.exec(said)?.[1]
        if (found !== undefined) started(found)
      }
      child.stdout.on("data", listen)
      child.stderr.on("data", listen)
      void ended.then((code) =>
        code === 0 ? started(said.trim()) : reject(new Error(`max ${args.join(" ")} ended with ${code}: ${said}`))
      )
    }
  )

const residentBytes = (pid: number) =>
  1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1])
const openFiles = (pid: number) => readdirSync(`/proc/${pid}/fd`).length

interface Client {
  readonly socket: Socket
  text: string
  closed: boolean
}

/** A client that listens on a socket of its own. */
const listen = (url: string, token: string, asked: { readonly path: string; readonly body?: object }): Client => {
  const { hostname, port } = new URL(url)
  const body = asked.body === undefined ? "" : JSON.stringify(asked.body)
  const head = `Host: localhost\r\nAuthorization: Bearer ${token}\r\n`
  const bytes =
    body === ""
      ? `GET ${asked.path} HTTP/1.1\r\n${head}\r\n`
      : `POST ${asked.path} HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const socket = connect(Number(port), hostname, () => socket.write(bytes))
  const client: Client = { socket, text: "", closed: false }
  socket.on("data", (chunk: Buffer) => void (client.text += chunk.toString()))
  socket.on("error", () => (client.closed = true))
  socket.on("close", () => (client.closed = true))
  return client
}

/** Waits until all of them hear something; that one of them hears anything but a stream of events is a failure. */
const hear = async (clients: ReadonlyArray<Client>) => {
  const hears = ({ closed, text }: Client) => closed || text.includes("event: delta")
  const ms = await until("everybody hears something", () => clients.every(hears))
  const wrong = clients.filter(({ closed, text }) => closed || !text.startsWith("HTTP/1.1 200"))
  if (wrong.length > 0) throw new Error(`${wrong.length} of ${clients.length} heard something else: ${wrong[0]!.text}`)
  return ms
}

/** Milliseconds until the server has answered that it is alive. */
const alive = (url: string) =>
  new Promise<number>((resolve, reject) => {
    const from = performance.now()
    request(new URL("/healthz", url), { agent: false }, (response) => {
      response.resume()
      response.on("end", () => resolve(performance.now() - from))
    })
      .on("error", reject)
      .end()
  })

const MB = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`

const measure = async (home: string, quiet: boolean): Promise<ReadonlyArray<Measured>> => {
  const model = await startModel()
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    MAX_DATA_DIR: join(home, "data"),
    MAX_STATE_DIR: join(home, "state"),
    MAX_HTTP_PORT: "0",
    MAX_CALLS_PER_PERSON: "1000000",
    MAX_CALLS_PER_ORGANIZATION: "1000000",
    MAX_TURN_SECONDS: "600",
    MAX_DAY_TURNS: "1000000",
    MAX_DAY_TOKENS: "900000000",
    ANTHROPIC_API_KEY: "sk-bench",
    ANTHROPIC_BASE_URL: model.url
  }
  await startMax(["init", "--org", "bench", "--country", "US", "--time-zone", "UTC"], env)
  await startMax(["member", "add", "ada@example.com", "--role", "admin", "--create"], env)
  const made = await startMax(["token", "create", "ada@example.com", "--name", "bench", "--scope", "chat"], env)
  const token = /max_\S+/.exec(made.found)![0]
  const server = await startMax(["serve"], env, /Max answers at (\S+);/)
  const held = async () => {
    const before = server.said().length
    process.kill(server.pid, "SIGUSR2")
    await until("the heap is known", () => /HELD \d+/.test(server.said().slice(before)))
    return Number(/HELD (\d+)/.exec(server.said().slice(before))![1])
  }

  const begin = async (asked: (index: number) => Parameters<typeof listen>[2], count: number) => {
    const clients: Array<Client> = []
    while (clients.length < count) {
      const more = Array.from({ length: Math.min(AT_ONCE, count - clients.length) }, (_, index) =>
        listen(server.found, token, asked(clients.length + index))
      )
      await hear(more)
      clients.push(...more)
    }
    return clients
  }

  let [slowest, leaving] = [0, 0]
  /** Rounds of clients who come and all go at once: the most memory with them, and the heap without, over the first round's. */
  const rounds = async (what: string, asked: Parameters<typeof begin>[0], calls: number) => {
    let [most, first, heap, files, each] = [0, 0, 0, 0, 0]
    const before = model.open
    for (let round = 0; round < ROUNDS; round++) {
      const clients = await begin(asked, CLIENTS)
      await sleep(2000)
      most = Math.max(most, residentBytes(server.pid))
      slowest = Math.max(slowest, await alive(server.found))
      if (clients.some(({ closed }) => closed)) throw new Error("Somebody was cut off")
      if (model.open !== before + calls) throw new Error(`${model.open} calls of the model are open`)
      const holding = await held()
      // Without a word of goodbye.
      for (const { socket } of clients) socket.resetAndDestroy()
      const gone = until("every call of the model is cancelled", () => model.open === before)
      slowest = Math.max(slowest, await alive(server.found))
      leaving = Math.max(leaving, await gone)
      // What is compiled and kept for good is there after the first round.
      if (round === 0) await sleep(5000)
      else await until("every file is closed", () => openFiles(server.pid) <= files)
      heap = await held()
      each = (holding - heap) / CLIENTS
      if (round === 0) [first, files] = [heap, openFiles(server.pid)]
    }
    if (!quiet) {
      console.log(
        `${CLIENTS} ${what}: ${MB(most)} resident with them, ${(each / 1000).toFixed(1)} kB of the heap in use for each; ` +
          `without, ${MB(residentBytes(server.pid))} resident and ${MB(heap)} in use`
      )
    }
    return { most, grown: heap / first }
  }

  try {
    await begin((index) => ({ path: "/v1/chat", body: { text: `question ${index}`, turn: `t${index}` } }), NAMED)
    const idle = await rounds("who listen", (index) => ({ path: `/v1/chat/t${index % NAMED}` }), 0)
    const busy = await rounds(
      "with a turn each",
      (index) => ({ path: "/v1/chat", body: { text: `question ${index}` } }),
      CLIENTS
    )
    const code = await server.end()
    if (code !== 0) throw new Error(`max serve ended with ${code}`)
    if (!quiet) {
      console.log(
        `Others were answered within ${slowest.toFixed(0)} ms; of all who went away at once, every call of the model was cancelled within ${leaving.toFixed(0)} ms`
      )
    }
    return [
      { scenario: `memory with ${CLIENTS} who listen, of ${MB(MAX_BYTES)}`, ratio: idle.most / MAX_BYTES, target: 1 },
      { scenario: "the heap after they went away, of that after the first thousand", ratio: idle.grown, target: SLACK },
      { scenario: `memory with ${CLIENTS} turns under way, of ${MB(MAX_BYTES)}`, ratio: busy.most / MAX_BYTES },
      { scenario: "the heap after they went away, of that after the first thousand", ratio: busy.grown, target: SLACK }
    ]
  } finally {
    await server.end()
    model.close()
  }
}

export const sse = async (quiet: boolean) => {
  const home = mkdtempSync(join(tmpdir(), "max-bench-sse-"))
  chmodSync(home, 0o755)
  try {
    return await measure(home, quiet)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
