/** Finds the person that a host's assertion names, and returns its id in the database's own form. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { orUnavailable, runWithin } from "../../database/execute.ts"
import { compileExternal, compileNames } from "../../database/sql/identify.ts"
import { type Organization, peopleOf } from "../../domain/EntityType.ts"
import type { NotAdmitted, Unavailable } from "../../domain/errors.ts"
import { emailKey, phoneKey } from "../../domain/keys.ts"
import { parseId, showId } from "../../domain/values.ts"
import type { Subject } from "../../domain/Vouched.ts"
import type { OrganizationState } from "../catalog/OrganizationState.ts"
import type { Identifier } from "./identifier.ts"

/** The entity id of a subject, empty without a subject; undefined if no person or several people match. */
export const makeSubjectResolver = (
  search: PgClient.PgClient,
  states: OrganizationState["Service"],
  identify: (
    organization: Organization,
    identifier: Identifier
  ) => Effect.Effect<ReadonlyArray<string>, NotAdmitted | Unavailable>
) => {
  /** Verified bindings come first: the identifier of a suspended member must not resolve to another person's row. */
  const byIdentifier = Effect.fnUntraced(function* (organization: Organization, identifier: Identifier | undefined) {
    if (identifier === undefined) return undefined
    const { key, kind } = identifier
    const [bound] = yield* orUnavailable(search<{ anchor_id: string }>`/* max bound */
      SELECT anchor_id FROM max.identifiers WHERE organization_id = ${organization.id} AND kind = ${kind} AND key = ${key}`)
    if (bound !== undefined) return bound.anchor_id
    const [first, second] = yield* identify(organization, identifier)
    return second === undefined ? first : undefined
  })

  const byId = Effect.fnUntraced(function* (
    organization: Organization,
    wanted: { readonly id: string; readonly external: boolean }
  ) {
    const { state } = yield* states.read(organization.id, { by: "none" })
    const people = peopleOf(state.catalog)
    if (people === undefined) return undefined
    const ids = people.mapping?.id.type
    const external = wanted.external && people.mapping === undefined
    const id = external ? wanted.id : parseId(wanted.id, ids)
    if (id === undefined) return undefined
    const statement = external ? compileExternal(people, id, state.catalog) : compileNames(people, [id], state.catalog)
    const [first, second] = yield* runWithin<{ id: string }>(search, organization.id, statement)
    return first === undefined || second !== undefined ? undefined : showId(first.id, ids)
  })

  return (
    organization: Organization,
    subject: Subject | undefined
  ): Effect.Effect<string | undefined, NotAdmitted | Unavailable> => {
    if (subject === undefined) return Effect.succeed("")
    if ("entityId" in subject) return byId(organization, { id: subject.entityId, external: false })
    if ("externalId" in subject) return byId(organization, { id: subject.externalId, external: true })
    const [kind, key] =
      "email" in subject
        ? (["email", emailKey(subject.email)] as const)
        : (["phone", phoneKey(subject.phone, organization.country)] as const)
    return byIdentifier(organization, key === undefined ? undefined : { kind, key })
  }
}
