/** Which of the People a host means: found in the data, so that an id is always written as the database writes it. */
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

interface Identifier {
  readonly kind: "email" | "phone"
  readonly key: string
}

/** The entity id of a subject, empty for none; undefined when it leads to nobody or to several. */
export const makeSubjects = (
  search: PgClient.PgClient,
  states: OrganizationState["Service"],
  identify: (
    organization: Organization,
    identifier: Identifier
  ) => Effect.Effect<ReadonlyArray<string>, NotAdmitted | Unavailable>
) => {
  /** Whom an identifier is verified for is asked first: a suspended person isn't found as somebody else. */
  const byIdentifier = Effect.fnUntraced(function* (organization: Organization, identifier: Identifier | undefined) {
    if (identifier === undefined) return undefined
    const { key, kind } = identifier
    const [bound] = yield* orUnavailable(search<{ anchor_id: string }>`/* max bound */
      SELECT anchor_id FROM max.identifiers WHERE organization_id = ${organization.id} AND kind = ${kind} AND key = ${key}`)
    if (bound !== undefined) return bound.anchor_id
    const [one, second] = yield* identify(organization, identifier)
    return second === undefined ? one : undefined
  })

  const byId = Effect.fnUntraced(function* (
    organization: Organization,
    wanted: { readonly id: string; readonly external: boolean }
  ) {
    const { state } = yield* states.read(organization.id, { by: "nobody" })
    const people = peopleOf(state.catalog)
    if (people === undefined) return undefined
    const ids = people.mapping?.id.type
    const external = wanted.external && people.mapping === undefined
    const id = external ? wanted.id : parseId(wanted.id, ids)
    if (id === undefined) return undefined
    const statement = external ? compileExternal(people, id, state.catalog) : compileNames(people, [id], state.catalog)
    const [one, second] = yield* runWithin<{ id: string }>(search, organization.id, statement)
    return one === undefined || second !== undefined ? undefined : showId(one.id, ids)
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
