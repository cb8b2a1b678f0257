/** A load generator over plain sockets with a fixed number of requests in flight; its own cost is negligible. */
import { Effect } from "effect"
import { connect } from "node:net"
import type { Asked } from "./contestants/answering.ts"

export interface Loaded {
  /** Answered requests per second. */
  readonly rate: number
  /** The latency of each, in milliseconds. */
  readonly times: ReadonlyArray<number>
}

export interface Load {
  readonly port: number
  readonly token: string | ((round: number) => string)
  readonly inFlight: number
  readonly seconds: number
  /** Milliseconds between the requests of each in flight; by default the next one follows the answer. */
  readonly everyMs?: number
  /** Stops earlier after this many answers. */
  readonly requests?: number
  readonly asked: (round: number) => Asked
  /** A text that every answer must contain. */
  readonly answered?: string
  /** Whether answers may have any status. */
  readonly refused?: boolean
  readonly onSend?: () => void
  readonly onAnswer?: () => void
}

const LENGTH = /content-length: (\d+)/i

/** Sends requests for the given seconds; unless `refused`, any status but 200 fails the run. */
export const load = ({
  answered = "",
  asked,
  everyMs,
  inFlight,
  onAnswer,
  onSend,
  port,
  refused,
  requests = Infinity,
  seconds,
  token
}: Load) =>
  Effect.callback<Loaded>((resume) => {
    const times: Array<number> = []
    const begun = performance.now()
    let open = inFlight
    let round = 0
    const over = () => times.length >= requests || performance.now() - begun >= 1000 * seconds
    for (let index = 0; index < inFlight; index++) {
      const socket = connect(port, "127.0.0.1")
      let sent = 0
      let text = ""
      const send = () => {
        const bearer = typeof token === "string" ? token : token(round)
        const body = JSON.stringify(asked(round++))
        sent = performance.now()
        onSend?.()
        socket.write(
          `POST /v1/tools/findEntities HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${bearer}\r\n` +
            `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
        )
      }
      socket.on("data", (chunk: Buffer) => {
        text += chunk.toString("latin1")
        const end = text.indexOf("\r\n\r\n")
        if (end < 0) return
        const length = Number(LENGTH.exec(text)?.[1] ?? Number.NaN)
        if (text.length < end + 4 + length) return
        if (refused !== true && (!text.startsWith("HTTP/1.1 200") || !text.includes(answered))) {
          socket.destroy()
          return resume(Effect.die(new Error(text)))
        }
        text = ""
        times.push(performance.now() - sent)
        onAnswer?.()
        if (!over())
          return void (everyMs === undefined ? send() : setTimeout(send, everyMs - (performance.now() - sent)))
        socket.destroy()
        if (--open === 0) resume(Effect.succeed({ rate: (1000 * times.length) / (performance.now() - begun), times }))
      })
      socket.on("error", (error) => resume(Effect.die(error)))
      socket.on("connect", send)
    }
  })
