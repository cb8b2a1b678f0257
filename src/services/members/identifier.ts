/** Identifiers of people: e-mail addresses and phone numbers in normal form, and ids for operators. */
import type { Organization } from "../../domain/EntityType.ts"
import { emailKey, phoneKey } from "../../domain/keys.ts"

/** A normalized identifier. */
export interface Identifier {
  readonly kind: "email" | "phone"
  readonly key: string
}

/** Parses an e-mail address or phone number as a person writes it; undefined if it is neither. */
export const readIdentifier = (text: string, organization: Organization): Identifier | undefined => {
  const email = emailKey(text)
  if (email !== undefined) return { kind: "email", key: email }
  const phone = phoneKey(text, organization.country)
  return phone === undefined ? undefined : { kind: "phone", key: phone }
}

const BY_ID = /^id:(.{1,200})$/s

/** The external id or key of a person, as operators write it for people without phone number and e-mail address: `id:7`. */
export const readPersonId = (text: string): string | undefined => BY_ID.exec(text)?.[1]
