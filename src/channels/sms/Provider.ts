/** The port to whoever carries texts. */
import type { Effect, Redacted } from "effect"
import type { DeliveryReport, InboundMessage } from "../../domain/Sms.ts"
import type { Sent } from "../../services/texting/SmsOutbox.ts"

/** A number as providers write it. */
export const E164 = /^\+[1-9]\d{6,14}$/

/** A request as it was sent to us, form decoded. */
interface SignedRequest {
  /** The whole address under which we are known, with the query: never what the request says of itself. */
  readonly url: string
  readonly signature: string | undefined
  readonly params: URLSearchParams
}

/** The account that a number is in. */
export interface Account {
  readonly account: string
  readonly secret: Redacted.Redacted<string>
}

/** A text and the numbers that it goes between, in E.164. */
export interface Addressed {
  readonly from: string
  readonly to: string
  readonly body: string
  /** Where the provider reports how far it has come. */
  readonly reportTo?: string | undefined
}

export interface SmsProvider {
  readonly name: string
  /** Whether the provider itself sent the request, from this account. */
  readonly verify: (request: SignedRequest, account: Account) => boolean
  /** The message in a verified request; undefined when it isn't one that could be answered. */
  readonly parse: (params: URLSearchParams) => InboundMessage | undefined
  /** What a verified request says of a text. */
  readonly status: (params: URLSearchParams) => DeliveryReport | undefined
  readonly send: (text: Addressed, account: Account) => Effect.Effect<Sent>
  /** Ids of texts just like this one that the provider has since a moment, the newest first; undefined when it can't say. */
  readonly find: (text: Addressed, since: Date, account: Account) => Effect.Effect<ReadonlyArray<string> | undefined>
}
