/** A TCP proxy in front of a Postgres server, to break connections the way networks do. */
import { Effect } from "effect"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"

/** The address behind a server URL, which may be a Unix socket. */
const open = (serverUrl: string): Socket => {
  const { hostname, port, searchParams } = new URL(serverUrl)
  const host = searchParams.get("host") ?? decodeURIComponent(hostname)
  const number = Number(searchParams.get("port") ?? (port || 5432))
  return host.startsWith("/") ? connect(`${host}/.s.PGSQL.${number}`) : connect(number, host)
}

/** How a slow network delivers: each part so many milliseconds later, and no more bytes per second. */
interface Slowness {
  readonly delay?: number
  readonly bytesPerSecond?: number
}

/** A function that delivers parts in their order, as slowly as the network is when they are sent. */
const makeDelivery = (slowness: () => Slowness, write: (chunk: Buffer) => void) => {
  let free = 0
  let last = Promise.resolve()
  let waiting = 0
  return (chunk: Buffer) => {
    const { bytesPerSecond = Infinity, delay = 0 } = slowness()
    free = Math.max(free, performance.now()) + (1000 * chunk.length) / bytesPerSecond
    const at = free + delay
    if (waiting === 0 && at <= performance.now()) return write(chunk)
    waiting += 1
    last = last
      .then(() => sleep(at - performance.now()))
      .then(() => {
        waiting -= 1
        write(chunk)
      })
  }
}

/** Starts a proxy that closes with the scope. */
export const startProxy = (serverUrl: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const links = new Set<{ readonly client: Socket; readonly server: Socket; swallowed: boolean }>()
      let slowness: Slowness = {}
      const proxy = createServer((client) => {
        const server = open(serverUrl)
        const link = { client, server, swallowed: false }
        links.add(link)
        for (const [from, to] of [
          [client, server],
          [server, client]
        ] as const) {
          const deliver = makeDelivery(
            () => slowness,
            (chunk) => void (link.swallowed || to.destroyed || to.write(chunk))
          )
          from.on("data", deliver)
          from.on("error", () => link.swallowed || to.destroy())
          from.on("close", () => {
            links.delete(link)
            if (!link.swallowed) to.destroy()
          })
        }
      })
      const listen = (port: number) => new Promise<void>((resolve) => proxy.listen(port, "127.0.0.1", resolve))
      await listen(0)
      const { port } = proxy.address() as AddressInfo
      const end = () => {
        for (const { client, server } of links) {
          client.resetAndDestroy()
          server.destroy()
        }
      }
      return {
        /** The server's URL through the proxy, for a database. */
        urlOf: (databaseUrl: string) => {
          const url = new URL(databaseUrl)
          url.searchParams.delete("host")
          url.searchParams.delete("port")
          url.host = `127.0.0.1:${port}`
          return url.href
        },
        /** Drops every byte of the connections that exist, in both directions, without closing them. */
        swallow: () => {
          for (const link of links) link.swallowed = true
        },
        /** Delivers slowly in both directions, from now on. */
        slow: (how: Slowness) => {
          slowness = how
        },
        /** Resets the connections that exist. */
        reset: end,
        /** Resets them and refuses new ones, until `accept`. */
        refuse: () => {
          proxy.close()
          end()
        },
        accept: () => listen(port),
        close: () => {
          proxy.close()
          end()
        }
      }
    }),
    ({ close }) => Effect.sync(close)
  )
