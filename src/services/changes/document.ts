/**
 * The canonical document of a change and its digest. Canonical JSON: keys sorted, no white space, no fractions. Texts stay
 * exactly as they are stored, because a normalized text would no longer equal the cell that it is compared with.
 */
import { Schema } from "effect"
import { createHash } from "node:crypto"
import { ChangeDocument } from "../../domain/Change.ts"

export interface Sealed {
  readonly document: ChangeDocument
  readonly text: string
  /** SHA-256 of the text, in hex. */
  readonly digest: string
}

export const seal = (document: ChangeDocument): Sealed => {
  const text = canonicalJson(document)
  return { document, text, digest: sha256(text) }
}

/** Whether a text is a well-formed digest; anything else is no digest of any change. */
export const isDigest = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

const decode = Schema.decodeSync(Schema.fromJsonString(ChangeDocument))

/** Reads a stored document. Throws when it isn't the one that the digest was made of. */
export const open = (text: string, digest: string): ChangeDocument => {
  if (sha256(text) !== digest) throw new Error("The document of a change doesn't have its digest")
  return decode(text)
}

interface Digested {
  readonly document: string | null
  readonly digest: string
}

const opened = new WeakMap<Digested, ChangeDocument>()

/** The document of a stored change, read once for every use of what was stored; undefined once its values are erased. */
export const documentOf = (stored: Digested): ChangeDocument | undefined => {
  if (stored.document === null) return undefined
  const known = opened.get(stored)
  if (known !== undefined) return known
  const document = open(stored.document, stored.digest)
  opened.set(stored, document)
  return document
}

export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  if (typeof value !== "object" || value === null) {
    if (typeof value === "number" && !Number.isSafeInteger(value)) throw new Error("A document has whole numbers only")
    return JSON.stringify(value)
  }
  const parts = value as Readonly<Record<string, unknown>>
  let text = ""
  for (const key of Object.keys(parts).toSorted())
    if (parts[key] !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(parts[key])}`
  return `{${text}}`
}
