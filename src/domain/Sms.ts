/** What text messages are to the rest of Max, whoever carries them. Numbers are in E.164. */

/** A message that came in, as its provider says it. */
export interface InboundMessage {
  readonly provider: string
  /** Unique with its provider. */
  readonly id: string
  readonly from: string
  readonly to: string
  readonly body: string
  /** Pictures and other attachments, which nobody reads. */
  readonly media: number
  readonly receivedAt: Date
}

/** A text as it is sent: what it says and how many messages the carrier counts it as. */
export interface ShapedText {
  readonly body: string
  readonly segments: number
}

/** How far a text has come. It only ever moves on along this list; the last two are each an end. */
export const DELIVERY = ["queued", "trying", "dead", "accepted", "sent", "delivered", "undelivered"] as const
export type Delivery = (typeof DELIVERY)[number]

/** What a carrier says of a text that it was given. */
export interface DeliveryReport {
  readonly providerId: string
  readonly state: Extract<Delivery, "accepted" | "sent" | "delivered" | "undelivered">
  /** The provider's code, never its words: those quote numbers. */
  readonly error?: string
}
