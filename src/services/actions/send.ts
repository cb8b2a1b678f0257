/**
 * Sends the request of a declared action, and judges what came of it: done, refused, not done yet, or unsure. Only an answer of
 * the service says that something was done or wasn't; whatever is lost after the connection stood is unsure.
 */
import { Clock, Effect, Result } from "effect"
import type { CallValues, DeclaredAction, HttpRequest } from "../../domain/DeclaredAction.ts"
import { printable } from "../../domain/text.ts"
import { type Exchange, exchanged } from "../network/exchanged.ts"
import { hostProblem } from "../network/hosts.ts"
import type { ActionSettings } from "./Actions.ts"
import { textsAt } from "./pointer.ts"
import { signatureHeaders } from "./standardSignature.ts"
import { addressOf, bodyOf, fillText } from "./template.ts"

export type Sent =
  | {
      readonly _tag: "Done"
      readonly status?: number
      readonly result: Readonly<Record<string, string>>
    }
  /** The service has it and won't do it. */
  | { readonly _tag: "Refused"; readonly status?: number; readonly error: string; readonly problem: string }
  /** Not done; it can be sent again. */
  | { readonly _tag: "Later"; readonly status?: number; readonly error: string; readonly seconds?: number }
  /** It may have been done. */
  | { readonly _tag: "Unsure"; readonly status?: number; readonly error: string; readonly seconds?: number }

export const MAX_PROBLEM = 500
export const MAX_RESULT = 200
/** A service can ask for a pause of an hour at most. */
const MAX_PAUSE = 3600

/** What wasn't asked. */
type NotAsked = Extract<Sent, { readonly _tag: "Refused" | "Later" }>

/** A request that is signed, as those of Standard Webhooks are, with one of its secrets. */
interface SignedRequest extends HttpRequest {
  readonly signedWith?: string
}

/** Sends one request. `key`: the idempotency key of the deed, the same for each attempt. */
export const send = Effect.fn("Actions.send")(function* (
  action: Pick<DeclaredAction, "slug" | "fields">,
  executor: SignedRequest,
  values: CallValues,
  key: string,
  settings: ActionSettings
): Effect.fn.Return<Sent> {
  yield* Effect.annotateCurrentSpan("max.action", action.slug)
  const exchange = yield* exchangeOf(action, executor, values, key, settings)
  const sent = exchange._tag === "Refused" || exchange._tag === "Later" ? exchange : judge(executor, exchange)
  yield* Effect.annotateCurrentSpan({
    "max.action.outcome": sent._tag,
    ...("error" in sent ? { "max.action.error": sent.error } : {})
  })
  return sent
})

/** Makes the one request of an action; what can't be asked says why. */
export const exchangeOf = Effect.fnUntraced(function* (
  { fields }: Pick<DeclaredAction, "fields">,
  executor: SignedRequest,
  values: CallValues,
  key: string,
  { hosts, secretOf }: ActionSettings
): Effect.fn.Return<Exchange | NotAsked> {
  const address = addressOf(executor.url, values)
  if (Result.isFailure(address))
    return { _tag: "Refused", error: "address", problem: `It can't be sent: ${address.failure}.` }
  const url = address.success
  // The list may be another one than when the action was published.
  if (hostProblem(url, hosts) !== undefined) return { _tag: "Later", error: "host" }
  const secrets: Record<string, string> = {}
  for (const [name, reference] of Object.entries(executor.secrets)) {
    const secret = yield* Effect.result(secretOf(reference))
    if (secret._tag === "Failure" || /[^\u0020-\u007e]/.test(secret.success)) return { _tag: "Later", error: "secret" }
    secrets[name] = secret.success
  }
  const body =
    executor.body === undefined ? undefined : Buffer.from(JSON.stringify(bodyOf(executor.body, values, fields)))
  const headers: Record<string, string> = {
    accept: "application/json",
    "accept-encoding": "identity",
    "user-agent": "max",
    ...Object.fromEntries(
      Object.entries(executor.headers).map(([name, value]) => [name.toLowerCase(), fillText(value, secrets)])
    ),
    ...(body === undefined ? {} : { "content-type": "application/json", "content-length": String(body.length) }),
    ...(executor.key === undefined ? {} : { [executor.key.toLowerCase()]: key }),
    ...(executor.signedWith === undefined
      ? {}
      : signatureHeaders(secrets[executor.signedWith] ?? "", key, yield* Clock.currentTimeMillis, body ?? ""))
  }
  return yield* exchanged(url, { method: executor.method, headers, body, seconds: executor.seconds, hosts })
})

const judge = ({ problem, result }: HttpRequest, exchange: Exchange): Sent => {
  if (exchange._tag === "NotReached") return { _tag: "Later", error: exchange.error }
  if (exchange._tag === "Lost") return { _tag: "Unsure", error: exchange.error }
  const { headers, status } = exchange
  const pause = pauseOf(headers["retry-after"])
  const seconds = pause === undefined ? {} : { seconds: pause }
  const document = documentOf(exchange)
  if (status >= 200 && status < 300) {
    // An answer that isn't what was declared can be a page of something in between, such as a sign-in.
    if (document === undefined && result !== undefined && status !== 204)
      return { _tag: "Unsure", status, error: "not-json" }
    return { _tag: "Done", status, result: resultOf(document, result ?? {}) }
  }
  const error = `http-${status}`
  if (status === 408 || status === 425 || status === 429) return { _tag: "Later", status, error, ...seconds }
  // 302 and 303 are also what forms answer that have done what was asked.
  if (status >= 500 || status === 302 || status === 303 || status < 200)
    return { _tag: "Unsure", status, error, ...seconds }
  return { _tag: "Refused", status, error, problem: problemOf(document, problem, status) }
}

export const documentOf = ({ body, headers }: Extract<Exchange, { _tag: "Answered" }>): unknown => {
  if (body === undefined || !/^application\/([a-z0-9.+-]*\+)?json\b/i.test(String(headers["content-type"] ?? "")))
    return undefined
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

/** A text on one line, cut. */
export const cutTo = (text: string, most: number): string => {
  const clean = [...printable(text)]
  return clean.length > most ? `${clean.slice(0, most - 1).join("")}…` : clean.join("")
}

export const resultOf = (
  document: unknown,
  pointers: Readonly<Record<string, string>>
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(pointers).flatMap(([name, pointer]) => {
      const texts = textsAt(document, pointer)
      return texts.length === 0 ? [] : [[name, cutTo(texts.slice(0, 20).join(", "), MAX_RESULT)]]
    })
  )

export const problemOf = (document: unknown, pointers: ReadonlyArray<string>, status: number): string => {
  const texts = [
    ...new Set(pointers.flatMap((pointer) => textsAt(document, pointer)).map((text) => text.trim()))
  ].filter((text) => text !== "")
  if (texts.length > 0) return cutTo(texts.slice(0, 5).join(" "), MAX_PROBLEM)
  return status < 400 ? "The service has moved, and a redirect isn't followed." : `The service refused it (${status}).`
}

/** The seconds of a Retry-After header: a number, or a date. */
const pauseOf = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  const seconds = /^\d{1,9}$/.test(text.trim()) ? Number(text) : Math.ceil((Date.parse(text) - Date.now()) / 1000)
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(1, seconds), MAX_PAUSE)
}
