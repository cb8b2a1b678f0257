/** Twilio: its webhooks and its Messages API (https://www.twilio.com/docs/messaging/api/message-resource). */
import { Effect, Redacted, Schema } from "effect"
import { OperatorError } from "../../domain/errors.ts"
import type { DeliveryReport } from "../../domain/Sms.ts"
import { byWord } from "../../domain/text.ts"
import type { Sent } from "../../services/texting/SmsOutbox.ts"
import { withoutCode } from "./codes.ts"
import { type Account, E164, type SmsProvider } from "./Provider.ts"
import { isSigned } from "./twilioSignature.ts"

/** Seconds before the first retry. */
const FIRST_PAUSE = 2
const MAX_PAUSE = 900
/** Seconds: an accepted message appears in Twilio's list with a delay. */
const UNKNOWN_PAUSE = 5
/** Allowed difference between Twilio's clock and ours. */
const SKEW_MS = 60_000

const MESSAGE_ID = /^[A-Za-z0-9]{2,64}$/
/** Twilio's own limit for a body is 1,600 characters. */
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

/** An error code of Twilio's; any other text is dropped, because it could contain a number. */
const codeOf = (text: string | null | undefined): string | undefined =>
  text !== null && text !== undefined && /^\d{1,6}$/.test(text) ? text : undefined

/** Removes NUL, which Postgres cannot store, and limits the length. */
const storable = (text: string): string => text.replaceAll("\u0000", "").slice(0, MAX_BODY)

export interface TwilioOptions {
  /** The base URL of Twilio's API. */
  readonly url: string
  /** Milliseconds per request. */
  readonly timeout: number
}

interface TwilioResponse {
  readonly status: number
  readonly after: string | null
  readonly text: string
}

/**
 * A request that ends after so many milliseconds. Plain fetch, because the spans of an HTTP client would record phone numbers. A
 * timer of its own: Node 20 collects an `AbortSignal.timeout` inside an `AbortSignal.any` as garbage, and it then never fires.
 */
const request = (address: string, of: Account, timeout: number, body?: URLSearchParams) =>
  Effect.tryPromise({
    try: async (signal): Promise<TwilioResponse> => {
      const ending = new AbortController()
      const end = () => ending.abort()
      const timer = setTimeout(end, timeout)
      signal.addEventListener("abort", end)
      try {
        const response = await fetch(address, {
          method: body === undefined ? "GET" : "POST",
          redirect: "error",
          signal: ending.signal,
          headers: { accept: "application/json", authorization: authorizationOf(of) },
          ...(body === undefined ? {} : { body })
        })
        return { status: response.status, after: response.headers.get("retry-after"), text: await response.text() }
      } finally {
        clearTimeout(timer)
      }
    },
    catch: (error) => (neverArrived(error) ? ("unreached" as const) : ("lost" as const))
  })

/** Asks Twilio whether an account has this token, with a request that sends nothing. */
export const tryTwilioAccount = (url: string, account: string, token: Redacted.Redacted<string>) =>
  request(`${url}/2010-04-01/Accounts/${encodeURIComponent(account)}.json`, { account, secret: token }, TRY_MS).pipe(
    Effect.match({ onFailure: () => 0, onSuccess: ({ status }) => status }),
    Effect.flatMap((status) =>
      status === 200
        ? Effect.void
        : Effect.fail(
            OperatorError.of(
              status === 401 || status === 403 || status === 404
                ? "Twilio refused this account or its token. Nothing was changed."
                : "Twilio didn't answer, so the token could not be tried. Nothing was changed: try again in a minute."
            )
          )
    )
  )

const TRY_MS = 15_000

const authorizationOf = ({ account, secret }: Account): string =>
  `Basic ${Buffer.from(`${account}:${Redacted.value(secret)}`).toString("base64")}`

export const makeTwilio = ({ timeout, url }: TwilioOptions): SmsProvider => {
  const messagesOf = (account: string) => `${url}/2010-04-01/Accounts/${encodeURIComponent(account)}/Messages.json`

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
        // An account can define its own opt-out keywords; OptOutType maps them to the standard ones.
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
        timeout,
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
        account,
        timeout
      ).pipe(
        Effect.map(({ status, text }) => {
          const listed = status === 200 ? decodeListed(text) : undefined
          if (listed?._tag !== "Some") return undefined
          return (
            listed.value.messages
              // A trial account puts a prefix before each text.
              .map((one) => ({ ...one, body: withoutCode(one.body) }))
              .filter((one) => one.body === body || one.body.endsWith(` ${body}`))
              .filter((one) => !(Date.parse(one.date_created ?? "") < since.getTime() - SKEW_MS))
              .map(({ sid }) => sid)
          )
        }),
        Effect.catch(() => Effect.undefined)
      )
  }
}

/** Whether the request certainly never reached Twilio. */
const neverArrived = (error: unknown): boolean => {
  const cause = error instanceof Error ? (error.cause as { readonly code?: unknown } | undefined) : undefined
  return ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "UND_ERR_CONNECT_TIMEOUT"].includes(
    String(cause?.code)
  )
}

const outcomeOf = ({ after, status, text }: TwilioResponse): Sent => {
  if (status === 200 || status === 201) {
    const accepted = decodeAccepted(text)
    return accepted._tag === "Some" && MESSAGE_ID.test(accepted.value.sid)
      ? { _tag: "Accepted", providerId: accepted.value.sid }
      : { _tag: "Unknown", error: "truncated response", seconds: UNKNOWN_PAUSE }
  }
  const refused = decodeRefused(text)
  const error = refused._tag === "Some" ? String(Math.trunc(refused.value.code)) : `HTTP ${status}`
  if (status === 429) {
    const seconds = after !== null && /^\d{1,4}$/.test(after) ? Number(after) : FIRST_PAUSE
    return { _tag: "Later", error, seconds: Math.min(Math.max(seconds, 1), MAX_PAUSE) }
  }
  // A rotated token or an account without funds: an operator must fix it, so keep retrying.
  if (status === 401 || status === 402 || status === 403) return { _tag: "Later", error, seconds: 60 }
  return status >= 400 && status < 500 ? { _tag: "Refused", error } : { _tag: "Unknown", error, seconds: UNKNOWN_PAUSE }
}
