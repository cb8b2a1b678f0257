/** Text messages, independent of the carrier. Numbers are in E.164. */

/** An inbound message, as its provider reports it. */
export interface InboundMessage {
  readonly provider: string
  /** Unique per provider. */
  readonly id: string
  readonly from: string
  readonly to: string
  readonly body: string
  /** The number of attachments, which are ignored. */
  readonly media: number
  readonly receivedAt: Date
}

/** An outbound text and the number of segments that the carrier bills. */
export interface ShapedText {
  readonly body: string
  readonly segments: number
}

/** Delivery states. A text only moves forward in this list; `delivered` and `undelivered` are final. */
export const DELIVERY = ["queued", "trying", "dead", "accepted", "sent", "delivered", "undelivered"] as const
export type Delivery = (typeof DELIVERY)[number]

/** A carrier's delivery report. */
export interface DeliveryReport {
  readonly providerId: string
  readonly state: Extract<Delivery, "accepted" | "sent" | "delivered" | "undelivered">
  /** The provider's error code, never its message, which may quote phone numbers. */
  readonly error?: string
}

/** The webhook for messages, at which the provider posts them. */
export const TWILIO_PATH = "/v1/sms/twilio"
