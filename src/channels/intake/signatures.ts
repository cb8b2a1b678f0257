/**
 * Signatures of webhooks that hand in messages: Zendesk's (https://developer.zendesk.com/documentation/webhooks/verifying), and the
 * HMAC of Standard Webhooks (https://www.standardwebhooks.com). Both sign the time, so that a request is only accepted for a while.
 */
import { createHmac, timingSafeEqual } from "node:crypto"
import { standardKey } from "../../services/actions/standardSignature.ts"

export interface SignedRequest {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

/** Seconds that the signed time may differ from now. */
const SIGNED_SECONDS = 300

const isRecent = (time: number, now: number): boolean => Math.abs(now - time) <= SIGNED_SECONDS * 1000

const isHmac = (given: string, key: string | Buffer, signed: string): boolean => {
  const expected = Buffer.from(createHmac("sha256", key).update(signed, "utf8").digest("base64"))
  const bytes = Buffer.from(given)
  return bytes.length === expected.length && timingSafeEqual(bytes, expected)
}

/** The exact form of the time, so that none of its characters can be moved into the body or out of it. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/

/** Whether Zendesk signed the request: the base64 HMAC-SHA256 of the time and the body. */
export const isFromZendesk = (secret: string, { body, headers }: SignedRequest, now: number): boolean => {
  const time = headers["x-zendesk-webhook-signature-timestamp"] ?? ""
  return (
    TIME.test(time) &&
    isRecent(Date.parse(time), now) &&
    isHmac(headers["x-zendesk-webhook-signature"] ?? "", secret, time + body)
  )
}

/** Signatures of one request, while a secret is replaced. */
const MAX_SIGNATURES = 5

/** Whether one of the request's signatures is the HMAC of its id, time and body. */
export const isStandardSigned = (secret: string, { body, headers }: SignedRequest, now: number): boolean => {
  const id = headers["webhook-id"] ?? ""
  const time = headers["webhook-timestamp"] ?? ""
  if (!/^[^.]{1,200}$/.test(id) || !/^\d{1,12}$/.test(time) || !isRecent(Number(time) * 1000, now)) return false
  const key = standardKey(secret)
  return (headers["webhook-signature"] ?? "")
    .split(" ", MAX_SIGNATURES)
    .some((signature) => signature.startsWith("v1,") && isHmac(signature.slice(3), key, `${id}.${time}.${body}`))
}
