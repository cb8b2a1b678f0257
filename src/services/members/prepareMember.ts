/** Validation of a new or changed member, before anything is written. */
import { Effect } from "effect"
import { type Organization, peopleOf } from "../../domain/EntityType.ts"
import { OperatorError } from "../../domain/errors.ts"
import { encodeId, nextId } from "../../domain/ids.ts"
import type { AttributeValue } from "../../domain/Principal.ts"
import { closest, printable, quoted } from "../../domain/text.ts"
import type { State } from "../catalog/OrganizationState.ts"
import { type Identifier, readIdentifier, readPersonId } from "./identifier.ts"
import type { IdentityResolver } from "./IdentityResolver.ts"
import type { Prepared } from "./memberList.ts"

export interface NewMember {
  /** An e-mail address or phone number, which an operator's entry verifies; or `id:` with the external id or key of a person. */
  readonly identifier: string
  readonly roles: ReadonlyArray<string>
  /** The person's subject at an identity provider, in the form of `subjectKey`. */
  readonly subject?: string | undefined
  readonly attributes?: Readonly<Record<string, AttributeValue>> | undefined
  /** Creates the person if none has this identifier, with this name if given. */
  readonly create?: { readonly name?: string | undefined } | undefined
}

export const parseIdentifier = (text: string, organization: Organization): Effect.Effect<Identifier, OperatorError> => {
  const identifier = readIdentifier(text, organization)
  return identifier === undefined
    ? Effect.fail(OperatorError.of(`${quoted(text)} is neither an e-mail address nor a phone number.`))
    : Effect.succeed(identifier)
}

/** Fails for a role that the policy doesn't define. */
export const checkRoles = Effect.fnUntraced(function* (who: string, roles: ReadonlyArray<string>, state: State) {
  const defined = Object.keys(state.policy.roles)
  if (roles.length === 0) return yield* OperatorError.of(`${who} has no role.`)
  const unknown = roles.find((role) => !defined.includes(role))
  if (unknown === undefined) return
  const near = closest(unknown, defined)
  return yield* OperatorError.of(
    `There is no role ${quoted(unknown)}. ${near === undefined ? `The policy has: ${defined.join(", ")}.` : `Did you mean ${near}?`}`
  )
})

/** Validates a member: its identifier, its roles, and that exactly one person has the identifier or may be created. */
export const makePrepare = (identities: IdentityResolver["Service"]) =>
  Effect.fnUntraced(function* (organization: Organization, state: State, member: NewMember) {
    yield* checkRoles(quoted(member.identifier), member.roles, state)
    const id = readPersonId(member.identifier)
    if (id !== undefined) {
      const anchorId = yield* identities.byId(organization, id)
      return anchorId === undefined
        ? yield* OperatorError.of(`No person has the id ${quoted(id)}.`)
        : preparedFor(member, anchorId)
    }
    const identifier = yield* parseIdentifier(member.identifier, organization)
    const [anchorId, second] = yield* identities.identify(organization, identifier)
    if (second !== undefined) {
      return yield* OperatorError.of(
        `${quoted(member.identifier)} belongs to several people. Only an identifier of one person can admit it.`
      )
    }
    const { mapping, pluralName, relation } = peopleOf(state.catalog)!
    if (anchorId === undefined && mapping !== undefined) {
      return yield* OperatorError.of(
        `No person has ${quoted(member.identifier)}. ${pluralName} are read from ${printable(relation.table)}, which Max doesn't write to: add the person there.`
      )
    }
    if (anchorId === undefined && member.create === undefined) {
      return yield* OperatorError.of(
        `No person has ${quoted(member.identifier)}. Import the person first, or create one: max member add … --create`
      )
    }
    const prepared: Prepared = { ...preparedFor(member, anchorId ?? encodeId(nextId())), identifier }
    if (anchorId !== undefined) return prepared
    const name = member.create?.name ?? nameFrom(member.identifier)
    return { ...prepared, create: { name, text: member.identifier.trim(), identifier } }
  })

const preparedFor = ({ attributes, roles, subject }: NewMember, anchorId: string): Prepared => ({
  anchorId,
  roles: [...new Set(roles)],
  ...(subject === undefined ? {} : { subject }),
  attributes: attributes ?? {}
})

const nameFrom = (identifier: string): string =>
  identifier.includes("@")
    ? identifier
        .split("@")[0]!
        .split(/[._-]+/)
        .filter((part) => part !== "")
        .map((part) => part[0]!.toUpperCase() + part.slice(1))
        .join(" ") || identifier
    : identifier
