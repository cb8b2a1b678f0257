import { createServer, type Server } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { afterEach, beforeEach, expect, it } from "vitest"
import { closeUnread } from "../../../src/channels/http/unread.ts"

/** More than any kernel keeps for somebody who doesn't read. */
const MUCH = Buffer.alloc(32 * 1024 * 1024, "x")
const LONGEST = 1500

let server: Server
let port = 0

beforeEach(async () => {
  server = closeUnread(
    createServer((request, response) => {
      if (request.url === "/much") return void response.end(MUCH)
      response.writeHead(200, { "content-type": "text/event-stream" })
      const saying = setInterval(() => response.write(": still here\n\n"), 100)
      response.on("close", () => clearInterval(saying))
    }),
    LONGEST
  )
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  port = (server.address() as AddressInfo).port
})

afterEach(() => {
  server.closeAllConnections()
  server.close()
})

/** Asks for a path, and reads as `read` does. */
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
      if (bytes > MUCH.length) done()
    })
    read(socket)
  })

const connections = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))

it("ends the connection of whoever asks for much and reads nothing", async () => {
  void client("/much", (socket) => socket.pause())
  const from = Date.now()
  while ((await connections()) === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  while ((await connections()) > 0) {
    expect(Date.now() - from).toBeLessThan(20_000)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  expect(Date.now() - from).toBeGreaterThanOrEqual(LONGEST)
})

it("ends the connection of whoever reads a little now and then", async () => {
  const { bytes } = await client("/much", (socket) => {
    socket.pause()
    const reading = setInterval(() => socket.resume(), 100)
    socket.on("data", () => socket.pause())
    socket.on("close", () => clearInterval(reading))
  })
  expect(bytes).toBeLessThan(MUCH.length)
})

it("lets everybody who reads have all of it, and listen for as long as they like", async () => {
  const listening = client("/listen", () => {})
  const { bytes, socket } = await client("/much", () => {})
  expect(bytes).toBeGreaterThan(MUCH.length)
  socket.destroy()
  await new Promise((resolve) => setTimeout(resolve, 2 * LONGEST))
  expect(await connections()).toBe(1)
  server.closeAllConnections()
  expect((await listening).bytes).toBeGreaterThan(0)
})
