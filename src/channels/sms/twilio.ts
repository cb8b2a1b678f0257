/** Twilio: its webhooks, and its interface for sending (https://www.twilio.com/docs/messaging/api/message-resource). */
import { Effect, Redacted, Schema } from "effect"
import type { DeliveryReport } from "../../domain/Sms.ts"
import { byWord } from "../../domain/text.ts"
import type { Sent } from "../../services/texting/SmsOutbox.ts"
import { type Account, E164, type SmsProvider } from "./Provider.ts"
import { isSigned } from "./twilioSignature.ts"

/** Seconds until something that went wrong is tried again for the first time. */
const FIRST_PAUSE = 2
const MAX_PAUSE = 900
/** Twilio lists what it has accepted a moment later. */
const UNKNOWN_PAUSE = 5
/** Twilio's clock and ours needn't agree. */
const SKEW_MS = 60_000

const MESSAGE_ID = /^[A-Za-z0-9]{2,64}$/
/** What it takes for a body at most is 1,600 characters; more is no text message. */
const MAX_BODY = 20_000

const Accepted = Schema.Struct({ sid: Schema.String })
const Listed = Schema.Struct({
  messages: Schema.Array(
    Schema.Struct({ sid: Schema.String, body: Schema.String, date_created: Schema.NullOr(Schema.String) })
  )
})
const Refused = Schema.Struct({ code: Schema.Number })
const decodeAccepted = Schema.decodeUnknownOption(Schema.fromJsonString(Accepted))
const decodeListed = Schema.decodeUnknownOption(Schema.fromJsonString(Listed))
const decodeRefused = Schema.decodeUnknownOption(Schema.fromJsonString(Refused))

const STATES = byWord<DeliveryReport["state"]>({
  accepted: "accepted",
  scheduled: "accepted",
  queued: "accepted",
  sending: "accepted",
  sent: "sent",
  delivered: "delivered",
  read: "delivered",
  undelivered: "undelivered",
  failed: "undelivered",
  canceled: "undelivered"
})

/** A code of Twilio's, and nothing else that it might say. */
const codeOf = (text: string | null | undefined): string | undefined =>
  text !== null && text !== undefined && /^\d{1,6}$/.test(text) ? text : undefined

/** Nothing that Postgres can't keep. */
const storable = (text: string): string => text.replaceAll("\u0000", "").slice(0, MAX_BODY)

export interface TwilioOptions {
  /** Where Twilio's interface is. */
  readonly url: string
  /** Milliseconds that it has for an answer. */
  readonly timeout: number
}

export const makeTwilio = ({ timeout, url }: TwilioOptions): SmsProvider => {
  const messagesOf = (account: string) => `${url}/2010-04-01/Accounts/${encodeURIComponent(account)}/Messages.json`

  /** A whole answer, or why there is none; by hand, because a client's spans would carry numbers. */
  const request = (address: string, { account, secret }: Account, body?: URLSearchParams) =>
    Effect.tryPromise({
      try: async (signal) => {
        const response = await fetch(address, {
          method: body === undefined ? "GET" : "POST",
          redirect: "error",
          signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
          headers: {
            accept: "application/json",
            authorization: `Basic ${Buffer.from(`${account}:${Redacted.value(secret)}`).toString("base64")}`
          },
          ...(body === undefined ? {} : { body })
        })
        return { status: response.status, after: response.headers.get("retry-after"), text: await response.text() }
      },
      catch: (error) => (neverArrived(error) ? ("unreached" as const) : ("lost" as const))
    })

  return {
    name: "twilio",

    verify: ({ params, signature, url: address }, { account, secret }) =>
      isSigned(Redacted.value(secret), signature, address, params) && params.get("AccountSid") === account,

    parse: (params) => {
      const [id, from, to] = ["MessageSid", "From", "To"].map((name) => params.get(name) ?? "")
      if (!MESSAGE_ID.test(id!) || !E164.test(from!) || !E164.test(to!) || from === to) return undefined
      const media = Number(params.get("NumMedia") ?? 0)
      return {
        provider: "twilio",
        id: id!,
        from: from!,
        to: to!,
        // An account may have words of its own for stopping: it says which of them a message is.
        body: storable(params.get("OptOutType") ?? params.get("Body") ?? ""),
        media: Number.isInteger(media) && media > 0 ? Math.min(media, 100) : 0,
        receivedAt: new Date()
      }
    },

    status: (params) => {
      const state = STATES[params.get("MessageStatus") ?? ""]
      const providerId = params.get("MessageSid") ?? ""
      if (state === undefined || !MESSAGE_ID.test(providerId)) return undefined
      const error = codeOf(params.get("ErrorCode"))
      return { providerId, state, ...(error === undefined ? {} : { error }) }
    },

    send: ({ body, from, reportTo, to }, account) =>
      request(
        messagesOf(account.account),
        account,
        new URLSearchParams({
          To: to,
          From: from,
          Body: body,
          ...(reportTo === undefined ? {} : { StatusCallback: reportTo })
        })
      ).pipe(
        Effect.map(outcomeOf),
        Effect.catch((why) =>
          Effect.succeed<Sent>(
            why === "unreached"
              ? { _tag: "Later", error: why, seconds: FIRST_PAUSE }
              : { _tag: "Unknown", error: why, seconds: UNKNOWN_PAUSE }
          )
        )
      ),

    find: ({ body, from, to }, since, account) =>
      request(
        `${messagesOf(account.account)}?${new URLSearchParams({ To: to, From: from, PageSize: "100" })}`,
        account
      ).pipe(
        Effect.map(({ status, text }) => {
          const listed = status === 200 ? decodeListed(text) : undefined
          if (listed?._tag !== "Some") return undefined
          return (
            listed.value.messages
              // A trial account says so before each text.
              .filter((one) => one.body === body || one.body.endsWith(` ${body}`))
              .filter((one) => !(Date.parse(one.date_created ?? "") < since.getTime() - SKEW_MS))
              .map(({ sid }) => sid)
          )
        }),
        Effect.catch(() => Effect.undefined)
      )
  }
}

/** Whether a failed request certainly never reached anybody. */
const neverArrived = (error: unknown): boolean => {
  const cause = error instanceof Error ? (error.cause as { readonly code?: unknown } | undefined) : undefined
  return ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "UND_ERR_CONNECT_TIMEOUT"].includes(
    String(cause?.code)
  )
}

interface Answered {
  readonly status: number
  readonly after: string | null
  readonly text: string
}

const outcomeOf = ({ after, status, text }: Answered): Sent => {
  if (status === 200 || status === 201) {
    const accepted = decodeAccepted(text)
    return accepted._tag === "Some" && MESSAGE_ID.test(accepted.value.sid)
      ? { _tag: "Accepted", providerId: accepted.value.sid }
      : { _tag: "Unknown", error: "half an answer", seconds: UNKNOWN_PAUSE }
  }
  const refused = decodeRefused(text)
  const error = refused._tag === "Some" ? String(Math.trunc(refused.value.code)) : `HTTP ${status}`
  if (status === 429) {
    const seconds = after !== null && /^\d{1,4}$/.test(after) ? Number(after) : FIRST_PAUSE
    return { _tag: "Later", error, seconds: Math.min(Math.max(seconds, 1), MAX_PAUSE) }
  }
  // A secret that was changed, or an account without money, is put right by somebody.
  if (status === 401 || status === 402 || status === 403) return { _tag: "Later", error, seconds: 60 }
  return status >= 400 && status < 500 ? { _tag: "Refused", error } : { _tag: "Unknown", error, seconds: UNKNOWN_PAUSE }
}
