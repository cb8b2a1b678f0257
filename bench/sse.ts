/**
 * 1,000 SSE clients of a real `max serve`, first all listening to a few silent turns, then each with its own open turn.
 * Measures the memory that they use, the latency of other requests meanwhile, and the memory left after all disconnect
 * simultaneously. The scripted model never finishes.
 */
import { spawn } from "node:child_process"
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createServer, request } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Measured } from "./figures.ts"

const CLIENTS = 1000
/** Clients that connect concurrently, so that the benchmark doesn't measure a burst on the database. */
const BATCH = 50
const NAMED = 10
const ROUNDS = 3
const MAX_BYTES = 200e6
/** Tolerated growth of the heap between rounds. */
const SLACK = 1.1

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const until = async (what: string, holds: () => boolean | Promise<boolean>): Promise<number> => {
  const from = performance.now()
  while (!(await holds())) {
    if (performance.now() - from > 120_000) throw new Error(`Timed out waiting until ${what}`)
    await sleep(20)
  }
  return performance.now() - from
}

/** A model that starts an answer and then stays silent; `open` counts the calls in progress. */
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

/** Prints the heap size after garbage collection on SIGUSR2. */
const WATCH = `data:text/javascript,process.on("SIGUSR2", () => { gc(); gc(); console.error("HELD " + process.memoryUsage().heapUsed) })`

/** Runs `max` from this checkout; resolves when its output matches `ready`, or when it exits with 0. */
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

/** A client that listens on a separate socket. */
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

/** Waits until every client has received a piece of an answer; any other response is an error. */
const hear = async (clients: ReadonlyArray<Client>) => {
  const hears = ({ closed, text }: Client) => closed || text.includes("event: delta")
  const ms = await until("every client has received something", () => clients.every(hears))
  const wrong = clients.filter(({ closed, text }) => closed || !text.startsWith("HTTP/1.1 200"))
  if (wrong.length > 0) throw new Error(`${wrong.length} of ${clients.length} got another response: ${wrong[0]!.text}`)
  return ms
}

/** Milliseconds until /healthz is answered. */
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
  const heapSize = async () => {
    const before = server.said().length
    process.kill(server.pid, "SIGUSR2")
    await until("the heap is known", () => /HELD \d+/.test(server.said().slice(before)))
    return Number(/HELD (\d+)/.exec(server.said().slice(before))![1])
  }

  const begin = async (asked: (index: number) => Parameters<typeof listen>[2], count: number) => {
    const clients: Array<Client> = []
    while (clients.length < count) {
      const more = Array.from({ length: Math.min(BATCH, count - clients.length) }, (_, index) =>
        listen(server.found, token, asked(clients.length + index))
      )
      await hear(more)
      clients.push(...more)
    }
    return clients
  }

  let [slowest, leaving] = [0, 0]
  /** Connects and disconnects all clients per round: the maximum resident memory, and the heap's growth since the first round. */
  const rounds = async (what: string, asked: Parameters<typeof begin>[0], calls: number) => {
    let [most, first, heap, files, each] = [0, 0, 0, 0, 0]
    const before = model.open
    for (let round = 0; round < ROUNDS; round++) {
      const clients = await begin(asked, CLIENTS)
      await sleep(2000)
      most = Math.max(most, residentBytes(server.pid))
      slowest = Math.max(slowest, await alive(server.found))
      if (clients.some(({ closed }) => closed)) throw new Error("A client was disconnected")
      if (model.open !== before + calls) throw new Error(`${model.open} calls of the model are open`)
      const withClients = await heapSize()
      // All connections are reset.
      for (const { socket } of clients) socket.resetAndDestroy()
      const gone = until("every call of the model is cancelled", () => model.open === before)
      slowest = Math.max(slowest, await alive(server.found))
      leaving = Math.max(leaving, await gone)
      // The first round compiles code and fills caches that stay.
      if (round === 0) await sleep(5000)
      else await until("every file is closed", () => openFiles(server.pid) <= files)
      heap = await heapSize()
      each = (withClients - heap) / CLIENTS
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
    const idle = await rounds("listening", (index) => ({ path: `/v1/chat/t${index % NAMED}` }), 0)
    const busy = await rounds(
      "with a turn each",
      (index) => ({ path: "/v1/chat", body: { text: `question ${index}` } }),
      CLIENTS
    )
    const code = await server.end()
    if (code !== 0) throw new Error(`max serve ended with ${code}`)
    if (!quiet) {
      console.log(
        `Other requests were answered within ${slowest.toFixed(0)} ms; after all clients disconnected, every model call was cancelled within ${leaving.toFixed(0)} ms`
      )
    }
    return [
      { scenario: `memory with ${CLIENTS} listeners, of ${MB(MAX_BYTES)}`, ratio: idle.most / MAX_BYTES, target: 1 },
      { scenario: "the heap after they disconnected, of that after the first round", ratio: idle.grown, target: SLACK },
      { scenario: `memory with ${CLIENTS} open turns, of ${MB(MAX_BYTES)}`, ratio: busy.most / MAX_BYTES },
      { scenario: "the heap after they disconnected, of that after the first round", ratio: busy.grown, target: SLACK }
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
