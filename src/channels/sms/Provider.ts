/** The port to a provider that carries texts. */
import type { Effect, Redacted } from "effect"
import type { DeliveryReport, InboundMessage } from "../../domain/Sms.ts"
import type { Sent } from "../../services/texting/SmsOutbox.ts"

/** A phone number in E.164, as providers write it. */
export const E164 = /^\+[1-9]\d{6,14}$/

/** A webhook request with its decoded form. */
interface SignedRequest {
  /** The configured public URL with path and query, never the host that the request names. */
  readonly url: string
  readonly signature: string | undefined
  readonly params: URLSearchParams
}

/** The provider account of a number. */
export interface Account {
  readonly account: string
  readonly secret: Redacted.Redacted<string>
}

/** A text with its sender and recipient, in E.164. */
export interface Addressed {
  readonly from: string
  readonly to: string
  readonly body: string
  /** The URL for delivery reports. */
  readonly reportTo?: string | undefined
}

export interface SmsProvider {
  readonly name: string
  /** Whether the provider signed the request for this account. */
  readonly verify: (request: SignedRequest, account: Account) => boolean
  /** The message of a verified request; undefined if it cannot be answered. */
  readonly parse: (params: URLSearchParams) => InboundMessage | undefined
  /** The delivery report of a verified request. */
  readonly status: (params: URLSearchParams) => DeliveryReport | undefined
  readonly send: (text: Addressed, account: Account) => Effect.Effect<Sent>
  /** The provider's ids of identical texts since a time, newest first; undefined if the provider cannot tell. */
  readonly find: (text: Addressed, since: Date, account: Account) => Effect.Effect<ReadonlyArray<string> | undefined>
}
