/** A scripted carrier: Twilio's interface over real HTTP, what it has accepted, and webhooks signed as Twilio signs them. */
import { randomBytes } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import twilio from "twilio"
import { type Answer, ask } from "./http.ts"

export const ACCOUNT = `AC${"0123456789abcdef".repeat(2)}`
export const TOKEN = "carrier-test-token"
export const OURS = "+15125550100"
export const PUBLIC_URL = "https://max.example.com"

interface Given {
  readonly sid: string
  readonly to: string
  readonly from: string
  readonly body: string
  readonly callback: string | null
  readonly at: number
}

/** What happens to a text: whether it is accepted, and what is answered. */
export interface Fate {
  readonly accept?: boolean
  readonly status?: number
  /** Twilio's code of an error. */
  readonly code?: number
  readonly headers?: Readonly<Record<string, string>>
  /** The connection breaks instead of an answer, in the middle of it, or there is never one. */
  readonly ends?: "broken" | "half" | "never"
  /** Milliseconds until the answer. */
  readonly after?: number
}

export const startCarrier = async (port = 0) => {
  const accepted: Array<Given> = []
  const sockets = new Set<Socket>()
  const carrier = {
    url: "",
    accepted,
    /** Requests to send a text, and to list what was sent. */
    asked: { send: 0, list: 0 },
    fate: (() => ({})) as (given: Given) => Fate,
    /** The status of the list; what isn't 200 has none. */
    listing: 200,
    reset: () => {
      accepted.length = 0
      carrier.asked = { send: 0, list: 0 }
      carrier.fate = () => ({})
      carrier.listing = 200
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    }
  }
  const server = createServer(async (request, response) => {
    const json = (status: number, body: unknown, headers = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers })
      response.end(JSON.stringify(body))
    }
    const address = new URL(request.url!, "http://carrier")
    const authorization = `Basic ${Buffer.from(`${ACCOUNT}:${TOKEN}`).toString("base64")}`
    if (request.headers.authorization !== authorization) return json(401, { code: 20003 })
    if (address.pathname !== `/2010-04-01/Accounts/${ACCOUNT}/Messages.json`) return json(404, { code: 20404 })
    if (request.method === "GET") {
      carrier.asked.list += 1
      const messages = accepted
        .filter(({ from, to }) => to === address.searchParams.get("To") && from === address.searchParams.get("From"))
        .map(({ at, body, sid }) => ({ sid, body, date_created: new Date(at).toUTCString() }))
        .toReversed()
      return json(carrier.listing, { messages })
    }
    let form = ""
    for await (const chunk of request) form += String(chunk)
    carrier.asked.send += 1
    const params = new URLSearchParams(form)
    const given: Given = {
      sid: `SM${randomBytes(16).toString("hex")}`,
      to: params.get("To")!,
      from: params.get("From")!,
      body: params.get("Body")!,
      callback: params.get("StatusCallback"),
      at: Date.now()
    }
    const { accept, after, code, ends, headers, status = 201 } = carrier.fate(given)
    if (accept ?? status < 300) accepted.push(given)
    if (after !== undefined) await new Promise((resolve) => setTimeout(resolve, after))
    if (ends === "broken") return response.destroy()
    if (ends === "never") return
    if (ends === "half") {
      response.writeHead(201, { "content-type": "application/json", "content-length": "200" })
      response.write(`{"sid":"${given.sid}","st`)
      return void setTimeout(() => response.destroy(), 20)
    }
    return json(
      status,
      status < 300 ? { sid: given.sid, status: "queued" } : { code: code ?? 20500, message: given.to },
      headers
    )
  })
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve))
  carrier.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return carrier
}

export type Carrier = Awaited<ReturnType<typeof startCarrier>>

export type Params = Readonly<Record<string, string | ReadonlyArray<string>>>

export const messageFrom = (from: string, body: string, more: Params = {}): Params => ({
  MessageSid: `SM${randomBytes(16).toString("hex")}`,
  AccountSid: ACCOUNT,
  From: from,
  To: OURS,
  Body: body,
  NumMedia: "0",
  ...more
})

/** A form as it goes over the wire. */
export const formOf = (params: Params): string =>
  new URLSearchParams(
    Object.entries(params).flatMap(([name, value]) =>
      (typeof value === "string" ? [value] : value).map((one) => [name, one] as [string, string])
    )
  ).toString()

export const MESSAGES = "/v1/sms/twilio"
const FORM = { "content-type": "application/x-www-form-urlencoded" }

/** Posts a webhook; the signature is Twilio's own helper's unless another one is given. */
export const post = (
  server: { readonly url: string },
  params: Params,
  {
    body = formOf(params),
    headers = {},
    path = MESSAGES,
    signature = twilio.getExpectedTwilioSignature(TOKEN, `${PUBLIC_URL}${path}`, params as Record<string, string>)
  }: {
    readonly body?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly path?: string
    readonly signature?: string
  } = {}
): Promise<Answer> =>
  ask(server.url, path, {
    body,
    headers: { ...FORM, host: new URL(PUBLIC_URL).host, "x-twilio-signature": signature, ...headers }
  })
