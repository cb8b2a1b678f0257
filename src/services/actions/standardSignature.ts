/** Signatures of Standard Webhooks (https://www.standardwebhooks.com): an HMAC-SHA256 of the request's id, time and body. */
import { createHmac } from "node:crypto"

/** A secret can be base64 after this. */
const PREFIX = "whsec_"

export const standardKey = (secret: string): string | Buffer =>
  secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), "base64") : secret

/** The headers of a request with the id that is sent at a time, in milliseconds. */
export const signatureHeaders = (
  secret: string,
  id: string,
  now: number,
  body: string | Buffer
): Readonly<Record<string, string>> => {
  const time = String(Math.floor(now / 1000))
  const signature = createHmac("sha256", standardKey(secret)).update(`${id}.${time}.`).update(body).digest("base64")
  return { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": `v1,${signature}` }
}
