/**
 * What a trusted host says of somebody whom it has identified itself. It is made by calling code: no text, no JSON and
 * no copy of one is taken for it, so that nothing that was sent from outside can vouch for its sender.
 */
import type { AttributeValue } from "./attributes.ts"
import { InvalidInput } from "./errors.ts"

/** Which of the organization's People somebody is; an identifier has to lead to exactly one. */
export type Subject =
  | { readonly entityId: string }
  | { readonly externalId: string }
  | { readonly email: string }
  | { readonly phone: string }

export interface Vouching {
  /** By slug. */
  readonly organization: string
  /** Without one nothing is anybody's own: what rules say of `$me` holds for no row. */
  readonly subject?: Subject | undefined
  /** What counts instead of any membership's roles; one that the policy doesn't have grants nothing. */
  readonly roles: ReadonlyArray<string>
  readonly attributes?: Readonly<Record<string, AttributeValue>> | undefined
}

export class Vouched {
  readonly #vouched = true
  readonly organization: string
  readonly subject: Subject | undefined
  readonly roles: ReadonlyArray<string>
  readonly attributes: Readonly<Record<string, AttributeValue>>

  /** Throws InvalidInput. What is given is copied: changing it later changes nothing. */
  constructor(given: Vouching) {
    const fault = faultOf(given)
    if (fault !== undefined) throw new InvalidInput({ message: fault })
    this.organization = given.organization
    this.subject = given.subject === undefined ? undefined : Object.freeze({ ...given.subject })
    this.roles = Object.freeze([...new Set(given.roles)])
    this.attributes = Object.freeze({ ...given.attributes })
    Object.freeze(this)
  }

  /** Whether this was made by the constructor, in this process. */
  static is(value: unknown): value is Vouched {
    return typeof value === "object" && value !== null && #vouched in value && value.#vouched
  }
}

const KEYS = ["organization", "subject", "roles", "attributes"]
const SUBJECTS = ["entityId", "externalId", "email", "phone"]
const MAX_ROLES = 100
const MAX_ATTRIBUTES = 100
const MAX_LENGTH = 200

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isText = (value: unknown): value is string =>
  typeof value === "string" && value.trim() !== "" && value.length <= MAX_LENGTH && !value.includes("\u0000")

const isAttribute = (value: unknown): value is AttributeValue =>
  typeof value === "boolean" ||
  (typeof value === "number" && Number.isFinite(value)) ||
  (typeof value === "string" && value.length <= MAX_LENGTH && !value.includes("\u0000"))

/** Hosts in JavaScript have no types that keep them from a slip, and a slip here is a hole. */
const faultOf = (given: unknown): string | undefined => {
  if (!isRecord(given)) return "A principal is { organization, subject, roles, attributes }."
  const unknown = Object.keys(given).find((key) => !KEYS.includes(key))
  if (unknown !== undefined) return "A principal has no other keys than organization, subject, roles and attributes."
  const { attributes, organization, roles, subject } = given
  if (!isText(organization)) return "organization is the slug of one."
  if (!Array.isArray(roles) || roles.length > MAX_ROLES || !roles.every(isText))
    return `roles is a list of at most ${MAX_ROLES} names.`
  if (subject !== undefined) {
    const [entry, second] = isRecord(subject) ? Object.entries(subject) : []
    if (entry === undefined || second !== undefined || !SUBJECTS.includes(entry[0]) || !isText(entry[1]))
      return `subject is one of ${SUBJECTS.map((key) => `{ ${key} }`).join(", ")}, or left out.`
  }
  if (
    attributes !== undefined &&
    (!isRecord(attributes) ||
      Object.keys(attributes).length > MAX_ATTRIBUTES ||
      !Object.values(attributes).every(isAttribute))
  )
    return `attributes are at most ${MAX_ATTRIBUTES} texts, numbers, or true and false, by name.`
  return undefined
}
