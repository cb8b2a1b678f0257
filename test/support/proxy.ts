/** A TCP proxy in front of a Postgres server, to break connections the way networks do. */
import { Effect } from "effect"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

/** The address behind a server URL, which may be a Unix socket. */
const open = (serverUrl: string): Socket => {
  const { hostname, port, searchParams } = new URL(serverUrl)
  const host = searchParams.get("host") ?? decodeURIComponent(hostname)
  const number = Number(searchParams.get("port") ?? (port || 5432))
  return host.startsWith("/") ? connect(`${host}/.s.PGSQL.${number}`) : connect(number, host)
}

/** Starts a proxy that closes with the scope. */
export const startProxy = (serverUrl: string) =>
  Effect.acquireRelease(
    Effect.callback<{
      /** The server's URL through the proxy, for a database. */
      readonly urlOf: (databaseUrl: string) => string
      /** Drops every byte of the connections that exist, in both directions, without closing them. */
      readonly swallow: () => void
      readonly close: () => void
    }>((resume) => {
      const links = new Set<{ readonly ends: ReadonlyArray<Socket>; swallowed: boolean }>()
      const proxy = createServer((client) => {
        const server = open(serverUrl)
        const link = { ends: [client, server], swallowed: false }
        links.add(link)
        for (const [from, to] of [
          [client, server],
          [server, client]
        ] as const) {
          from.on("data", (chunk) => link.swallowed || to.write(chunk))
          from.on("error", () => link.swallowed || to.destroy())
          from.on("close", () => link.swallowed || to.destroy())
        }
      })
      proxy.listen(0, "127.0.0.1", () => {
        const { port } = proxy.address() as AddressInfo
        resume(
          Effect.succeed({
            urlOf: (databaseUrl: string) => {
              const url = new URL(databaseUrl)
              url.searchParams.delete("host")
              url.searchParams.delete("port")
              url.host = `127.0.0.1:${port}`
              return url.href
            },
            swallow: () => {
              for (const link of links) link.swallowed = true
            },
            close: () => {
              for (const { ends } of links) for (const end of ends) end.destroy()
              proxy.close()
            }
          })
        )
      })
    }),
    ({ close }) => Effect.sync(close)
  )
