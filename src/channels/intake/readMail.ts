/** An e-mail as a message: its author's words, its sender and its id. Attachments aren't read. */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import PostalMime from "postal-mime"
import { OperatorError } from "../../domain/errors.ts"
import { htmlText } from "./htmlText.ts"
import type { Message } from "./takeIn.ts"

/** Bytes of an e-mail with its attachments. */
export const MAX_MAIL = 10_000_000
/** Header bytes, and levels of nested parts. */
const LIMITS = { maxHeadersSize: 200_000, maxNestingDepth: 20 }
/** Lines that can separate parts: each part costs the parser time. */
const MAX_SEPARATORS = 400
/** Characters of HTML. */
const MAX_HTML = 1_000_000
/** Characters of a sender and of an id. */
const MAX_FROM = 320
const MAX_ID = 200

const refuse = (why: string) => OperatorError.of(`The e-mail ${why}.`)

const separators = (bytes: Buffer): number => {
  let count = 0
  for (let at = bytes.indexOf("\n--"); at >= 0 && count <= MAX_SEPARATORS; at = bytes.indexOf("\n--", at + 3))
    count += 1
  return count
}

/** Reads an e-mail (RFC 5322). Fails where it is too large, damaged, or has no text. */
export const readMail = Effect.fnUntraced(function* (bytes: Buffer): Effect.fn.Return<Message, OperatorError> {
  if (bytes.length > MAX_MAIL) return yield* refuse(`is larger than ${MAX_MAIL / 1_000_000} MB`)
  if (separators(bytes) > MAX_SEPARATORS) return yield* refuse("has too many parts")
  const mail = yield* Effect.tryPromise({
    try: () => PostalMime.parse(bytes, LIMITS),
    catch: () => refuse("can't be read")
  })
  const html = mail.html ?? ""
  const plain = mail.text?.trim() ?? ""
  if (plain === "" && html.length > MAX_HTML) return yield* refuse("has too much HTML")
  const text = plain === "" ? htmlText(html) : plain
  if (text === "") return yield* refuse("has no text")
  const id = mail.messageId ?? ""
  return {
    source: "mail",
    // Postgres stores no NUL character.
    sourceId:
      id !== "" && id.length <= MAX_ID && !id.includes("\u0000")
        ? id
        : `sha256:${createHash("sha256").update(bytes).digest("hex")}`,
    from: (mail.from?.address ?? "").replaceAll("\u0000", "").slice(0, MAX_FROM),
    text
  }
})
