/** The bodies that routes take: their content types and sizes, and the refusals of others. */
import { problem } from "./problems.ts"
import { MAX_BODY_BYTES, MAX_POLICY_BYTES, MAX_UPLOAD_BYTES } from "./limits.ts"

export const CLOSING = { headers: { connection: "close" } }

const bodyOf = (
  name: string,
  type: RegExp,
  maximum = MAX_BODY_BYTES,
  limit = `The body must have at most ${maximum / 1024} KiB.`
) => ({
  maximum,
  tooLarge: problem("ContentTooLarge", limit, CLOSING),
  type,
  unsupported: problem("UnsupportedMediaType", `Send Content-Type: ${name}, without a Content-Encoding.`)
})

const UPLOAD_LIMIT = `A file that is uploaded has at most ${MAX_UPLOAD_BYTES / 1024 / 1024} MiB. The command max import reads larger ones.`

const JSON_TYPE = /^application\/json\s*(;|$)/i

/** What a route takes. */
export const BODIES = {
  json: bodyOf("application/json", JSON_TYPE),
  policy: bodyOf("application/json", JSON_TYPE, MAX_POLICY_BYTES),
  form: bodyOf("application/x-www-form-urlencoded", /^application\/x-www-form-urlencoded\s*(;|$)/i),
  file: bodyOf("multipart/form-data", /^multipart\/form-data\s*(;|$)/i, MAX_UPLOAD_BYTES, UPLOAD_LIMIT)
}
