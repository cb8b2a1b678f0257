/**
 * Ends connections whose clients ask and don't read. What an answer has written waits in this process as soon as the kernel
 * takes no more of it; node:http waits with it, however long, because nothing of the request is missing.
 */
import type { Server } from "node:http"
import type { Socket } from "node:net"

/** Milliseconds between two looks. */
const LOOKED_AFTER = 1000

/** Ends a connection on which something has been waiting for its reader for longer than this, in milliseconds. */
export const endUnread = (server: Server, longest: number): Server => {
  const sockets = new Map<Socket, number>()
  server.on("connection", (socket: Socket) => {
    sockets.set(socket, 0)
    socket.once("close", () => sockets.delete(socket))
  })
  const looking = setInterval(
    () => {
      const now = performance.now()
      for (const [socket, since] of sockets) {
        if (socket.writableLength === 0) {
          if (since > 0) sockets.set(socket, 0)
        } else if (since === 0) sockets.set(socket, now)
        // What is unread isn't kept by the kernel either.
        else if (now - since > longest) socket.resetAndDestroy()
      }
    },
    Math.min(LOOKED_AFTER, longest)
  ).unref()
  return server.once("close", () => clearInterval(looking))
}
