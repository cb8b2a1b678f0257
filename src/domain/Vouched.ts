/**
 * A principal asserted by a trusted host that has authenticated the person itself. Only this constructor creates one:
 * parsed JSON or a copy is rejected, so that no external input can pass as an assertion.
 */
import type { AttributeValue } from "./attributes.ts"
import { InvalidInput } from "./errors.ts"
import { isJsonObject } from "./json.ts"

/** The person's People entity; an identifier must match exactly one. */
export type Subject =
  | { readonly entityId: string }
  | { readonly externalId: string }
  | { readonly email: string }
  | { readonly phone: string }

export interface Vouching {
  /** The organization's slug. */
  readonly organization: string
  /** Without a subject, `$me` matches no row. */
  readonly subject?: Subject | undefined
  /** Replace the roles of a membership; a role unknown to the policy grants nothing. */
  readonly roles: ReadonlyArray<string>
  readonly attributes?: Readonly<Record<string, AttributeValue>> | undefined
  /** Whether the person confirms and approves changes through this host; false by default. */
  readonly confirms?: boolean | undefined
}

export class Vouched {
  readonly #vouched = true
  readonly organization: string
  readonly subject: Subject | undefined
  readonly roles: ReadonlyArray<string>
  readonly attributes: Readonly<Record<string, AttributeValue>>
  readonly confirms: boolean

  /** Copies its input, so that later mutation has no effect. Throws InvalidInput. */
  constructor(input: Vouching) {
    const fault = faultOf(input)
    if (fault !== undefined) throw InvalidInput.of(fault)
    this.organization = input.organization
    this.subject = input.subject === undefined ? undefined : Object.freeze({ ...input.subject })
    this.roles = Object.freeze([...new Set(input.roles)])
    this.attributes = Object.freeze({ ...input.attributes })
    this.confirms = input.confirms === true
    Object.freeze(this)
  }

  /** Whether the constructor of this process created the value. */
  static is(value: unknown): value is Vouched {
    return typeof value === "object" && value !== null && #vouched in value && value.#vouched
  }
}

const KEYS = ["organization", "subject", "roles", "attributes", "confirms"]
const SUBJECTS = ["entityId", "externalId", "email", "phone"]
const MAX_ROLES = 100
const MAX_ATTRIBUTES = 100
const MAX_LENGTH = 200

const isText = (value: unknown): value is string =>
  typeof value === "string" && value.trim() !== "" && value.length <= MAX_LENGTH && !value.includes("\u0000")

const isAttribute = (value: unknown): value is AttributeValue =>
  typeof value === "boolean" ||
  (typeof value === "number" && Number.isFinite(value)) ||
  (typeof value === "string" && value.length <= MAX_LENGTH && !value.includes("\u0000"))

/** Validates at run time, because a host in plain JavaScript has no type checks. */
const faultOf = (input: unknown): string | undefined => {
  if (!isJsonObject(input))
    return "The principal must be an object: { organization, subject, roles, attributes, confirms }."
  const unknown = Object.keys(input).find((key) => !KEYS.includes(key))
  if (unknown !== undefined)
    return "The principal must have no properties besides `organization`, `subject`, `roles`, `attributes` and `confirms`."
  const { attributes, confirms, organization, roles, subject } = input
  if (!isText(organization)) return "`organization` must be the slug of an organization."
  if (!Array.isArray(roles) || roles.length > MAX_ROLES || !roles.every(isText))
    return `\`roles\` must be a list of at most ${MAX_ROLES} names.`
  if (subject !== undefined) {
    const [entry, second] = isJsonObject(subject) ? Object.entries(subject) : []
    if (entry === undefined || second !== undefined || !SUBJECTS.includes(entry[0]) || !isText(entry[1]))
      return `\`subject\` must be one of ${SUBJECTS.map((key) => `{ ${key} }`).join(", ")}, or omitted.`
  }
  if (
    attributes !== undefined &&
    (!isJsonObject(attributes) ||
      Object.keys(attributes).length > MAX_ATTRIBUTES ||
      !Object.values(attributes).every(isAttribute))
  )
    return `\`attributes\` must be an object of at most ${MAX_ATTRIBUTES} strings, numbers or booleans.`
  if (confirms !== undefined && typeof confirms !== "boolean") return "`confirms` must be true or false, or omitted."
  return undefined
}
