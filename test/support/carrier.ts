/** A scripted carrier: Twilio's Messages API over real HTTP, the texts that it accepted, and signed webhooks. */
import { randomBytes } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import twilio from "twilio"
import { type Answer, ask } from "./http.ts"

export const ACCOUNT = `AC${"0123456789abcdef".repeat(2)}`
export const TOKEN = "carrier-test-token"
export const OURS = "+15125550100"
export const PUBLIC_URL = "https://max.example.com"

interface SentText {
  readonly sid: string
  readonly to: string
  readonly from: string
  readonly body: string
  readonly callback: string | null
  readonly at: number
}

/** The carrier's treatment of a text: whether it accepts it, and how it responds. */
export interface Fate {
  readonly accept?: boolean
  readonly status?: number
  /** Twilio's error code. */
  readonly code?: number
  readonly headers?: Readonly<Record<string, string>>
  /** The connection breaks before the response, in the middle of it, or never responds. */
  readonly ends?: "broken" | "half" | "never"
  /** Milliseconds before the response. */
  readonly after?: number
}

export const startCarrier = async (port = 0) => {
  const accepted: Array<SentText> = []
  const sockets = new Set<Socket>()
  const carrier = {
    url: "",
    accepted,
    /** The number of requests to send a text and to list texts. */
    asked: { send: 0, list: 0 },
    fate: (() => ({})) as (text: SentText) => Fate,
    /** The HTTP status of a request to list texts. */
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
    if (address.pathname === `/2010-04-01/Accounts/${ACCOUNT}.json`)
      return json(200, { sid: ACCOUNT, status: "active" })
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
    const text: SentText = {
      sid: `SM${randomBytes(16).toString("hex")}`,
      to: params.get("To")!,
      from: params.get("From")!,
      body: params.get("Body")!,
      callback: params.get("StatusCallback"),
      at: Date.now()
    }
    const { accept, after, code, ends, headers, status = 201 } = carrier.fate(text)
    if (accept ?? status < 300) accepted.push(text)
    if (after !== undefined) await new Promise((resolve) => setTimeout(resolve, after))
    if (ends === "broken") return response.destroy()
    if (ends === "never") return
    if (ends === "half") {
      response.writeHead(201, { "content-type": "application/json", "content-length": "200" })
      response.write(`{"sid":"${text.sid}","st`)
      return void setTimeout(() => response.destroy(), 20)
    }
    return json(
      status,
      status < 300 ? { sid: text.sid, status: "queued" } : { code: code ?? 20500, message: text.to },
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

/** Encodes parameters as a form. */
export const formOf = (params: Params): string =>
  new URLSearchParams(
    Object.entries(params).flatMap(([name, value]) =>
      (typeof value === "string" ? [value] : value).map((one) => [name, one] as [string, string])
    )
  ).toString()

export const MESSAGES = "/v1/sms/twilio"
const FORM = { "content-type": "application/x-www-form-urlencoded" }

/** Posts a webhook, signed by Twilio's own helper unless a signature is passed. */
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
