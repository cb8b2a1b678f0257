/**
 * Closes connections whose clients send requests but don't read the responses. Once the kernel's socket buffer is full,
 * responses queue in this process, and node:http has no timeout for that.
 */
import type { Server } from "node:http"
import type { Socket } from "node:net"

/** Milliseconds between two checks. */
const CHECK_INTERVAL = 1000

/** Resets connections whose written bytes have been waiting longer than `timeout` milliseconds. */
export const closeUnread = (server: Server, timeout: number): Server => {
  const sockets = new Map<Socket, number>()
  server.on("connection", (socket: Socket) => {
    sockets.set(socket, 0)
    socket.once("close", () => sockets.delete(socket))
  })
  const timer = setInterval(
    () => {
      const now = performance.now()
      for (const [socket, since] of sockets) {
        if (socket.writableLength === 0) {
          if (since > 0) sockets.set(socket, 0)
        } else if (since === 0) sockets.set(socket, now)
        // A reset also discards what the kernel has buffered.
        else if (now - since > timeout) socket.resetAndDestroy()
      }
    },
    Math.min(CHECK_INTERVAL, timeout)
  ).unref()
  return server.once("close", () => clearInterval(timer))
}
