import { createServer, type Server } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { afterEach, beforeEach, expect, it } from "vitest"
import { closeUnread } from "../../../src/channels/http/closeUnread.ts"
import { until } from "../../support/until.ts"

/** More bytes than a kernel buffers for a connection. */
const LARGE_BODY = Buffer.alloc(32 * 1024 * 1024, "x")
/** Milliseconds; long enough that a busy machine doesn't look like a client that doesn't read. */
const TIMEOUT = 3000

let server: Server
let port = 0

beforeEach(async () => {
  server = closeUnread(
    createServer((request, response) => {
      if (request.url === "/large") return void response.end(LARGE_BODY)
      response.writeHead(200, { "content-type": "text/event-stream" })
      const keepAlive = setInterval(() => response.write(": still here\n\n"), 100)
      response.on("close", () => clearInterval(keepAlive))
    }),
    TIMEOUT
  )
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  port = (server.address() as AddressInfo).port
})

afterEach(() => {
  server.closeAllConnections()
  server.close()
})

/** Requests a path; `read` decides how the response is read. */
const client = (path: string, read: (socket: Socket) => void) =>
  new Promise<{ took: number; bytes: number; socket: Socket }>((resolve) => {
    const from = Date.now()
    let bytes = 0
    const socket = connect(port, "127.0.0.1", () => socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`))
    const done = () => resolve({ took: Date.now() - from, bytes, socket })
    socket.on("error", () => {})
    socket.on("close", done)
    socket.on("data", (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > LARGE_BODY.length) done()
    })
    read(socket)
  })

const connections = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))

it("closes the connection of a client that doesn't read a large response", async () => {
  void client("/large", (socket) => socket.pause())
  const from = Date.now()
  await until(async () => (await connections()) > 0)
  await until(async () => (await connections()) === 0)
  expect(Date.now() - from).toBeGreaterThanOrEqual(TIMEOUT)
})

it("closes the connection of a client that reads too slowly", async () => {
  const { bytes } = await client("/large", (socket) => {
    socket.pause()
    const reading = setInterval(() => socket.resume(), 100)
    socket.on("data", () => socket.pause())
    socket.on("close", () => clearInterval(reading))
  })
  expect(bytes).toBeLessThan(LARGE_BODY.length)
})

it("lets clients that read receive a large response and listen to a stream longer than the timeout", async () => {
  const listening = client("/listen", () => {})
  const { bytes, socket } = await client("/large", () => {})
  expect(bytes).toBeGreaterThan(LARGE_BODY.length)
  socket.destroy()
  // The stream must outlive the timeout, so this wait is the point of the test.
  await new Promise((resolve) => setTimeout(resolve, 2 * TIMEOUT))
  await until(async () => (await connections()) === 1)
  server.closeAllConnections()
  expect((await listening).bytes).toBeGreaterThan(0)
})
