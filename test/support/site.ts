/** A foreign site on its own origin that embeds the chat. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface Site {
  readonly url: string
  readonly close: () => Promise<void>
}

/** Serves a page with this body, and tokens to requests with the site's cookie. */
export const openSite = async (body: () => string, token: () => string): Promise<Site> => {
  const server = createServer((request, response) => {
    if (request.url === "/max-token") {
      const hasSession = request.headers.cookie?.includes("site=ada") === true
      response.writeHead(hasSession ? 200 : 401, { "content-type": "application/json" })
      return response.end(JSON.stringify(hasSession ? { token: token() } : {}))
    }
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", "set-cookie": "site=ada; Path=/; HttpOnly" })
    return response.end(`<!doctype html><html lang="en"><head><title>A site</title><meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <style>body{font:16px/1.5 Georgia,serif;margin:2rem;background:#fff;color:#222}
      p{color:#7a1f1f}button{text-transform:uppercase;background:yellow}.answer{display:none}</style></head>
      <body><main><h1>Harbor intranet</h1>
      <p>The canteen is closed on Friday. Order samples before noon.</p>${body()}</main></body></html>`)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    }
  }
}
