/** Writes a validated member within a transaction, and returns the audit events of what changed. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { type AuditEvent, OPERATOR } from "../../database/audit.ts"
import { qualified } from "../../database/sql/SqlWriter.ts"
import type { EntityType, Organization } from "../../domain/EntityType.ts"
import { OperatorError } from "../../domain/errors.ts"
import { foldText } from "../../domain/keys.ts"
import type { AttributeValue } from "../../domain/Principal.ts"
import { masked } from "../../domain/text.ts"
import { entityId } from "../../domain/values.ts"
import type { Identifier } from "./identifier.ts"
import { type Prepared, sameRoles } from "./memberList.ts"

type Attributes = Readonly<Record<string, AttributeValue>>

/** A verified identifier: an e-mail address, a phone number or a subject at an identity provider. */
export interface Verified {
  readonly kind: Identifier["kind"] | "subject"
  readonly key: string
}

export const sameAttributes = (a: Attributes, b: Attributes): boolean => {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && a[name] === b[name])
}

/** The identifier is masked: recognizable to a reader who knows it, but not disclosed by the log. */
const verifiedEvent = (actor: string, anchorId: string, { key, kind }: Verified): AuditEvent => ({
  actor,
  action: "identifier.verified",
  subject: anchorId,
  details: { kind, identifier: masked(key) }
})

/** Binds an identifier to a membership; fails if it is bound to another one. */
export const makeBind = (app: PgClient.PgClient) =>
  Effect.fnUntraced(function* (organization: Organization, anchorId: string, { key, kind }: Verified, actor: string) {
    const [bound] = yield* app<{ anchor_id: string }>`
    SELECT anchor_id FROM max.identifiers
    WHERE organization_id = ${organization.id} AND kind = ${kind} AND key = ${key} FOR UPDATE`
    if (bound !== undefined && bound.anchor_id !== anchorId) {
      return yield* OperatorError.withCommand(
        "This is the verified identifier of another member.",
        "max member list shows whose."
      )
    }
    yield* app`
    INSERT INTO max.identifiers (organization_id, kind, key, anchor_id)
    VALUES (${organization.id}, ${kind}, ${key}, ${anchorId})
    ON CONFLICT (organization_id, kind, key) DO UPDATE SET verified_at = now()`
    return bound === undefined ? [verifiedEvent(actor, anchorId, { kind, key })] : []
  })

export const makeWrite = (app: PgClient.PgClient) => {
  const bind = makeBind(app)

  const createPerson = (
    organization: Organization,
    { relation }: EntityType,
    { anchorId }: Prepared,
    { identifier, name, text }: NonNullable<Prepared["create"]>
  ) =>
    app.unsafe(
      `INSERT INTO ${qualified(relation)} (organization_id, id, name, name_k, ${identifier.kind}, ${identifier.kind}_k)
       VALUES ($1::bigint, $2::text::bigint, $3::text, $4::text, $5::text, $6::text)`,
      [organization.id, entityId(anchorId), name, foldText(name), text, identifier.key]
    )

  return Effect.fnUntraced(function* (
    organization: Organization,
    people: EntityType,
    member: Prepared,
    actor: string = OPERATOR
  ) {
    const { anchorId, identifier, roles } = member
    if (member.create !== undefined) yield* createPerson(organization, people, member, member.create)
    const [before] = yield* app<{ roles: ReadonlyArray<string>; suspended: boolean; attributes: Attributes }>`
      SELECT roles, attributes, suspended_at IS NOT NULL AS suspended FROM max.memberships
      WHERE organization_id = ${organization.id} AND anchor_id = ${anchorId} FOR UPDATE`
    const attributes = member.keepAttributes === true ? (before?.attributes ?? {}) : member.attributes
    yield* app`
      INSERT INTO max.memberships (organization_id, anchor_id, roles, attributes)
      VALUES (${organization.id}, ${anchorId}, ${roles}::text[], ${app.json(attributes)})
      ON CONFLICT (organization_id, anchor_id)
      DO UPDATE SET roles = excluded.roles, suspended_at = NULL, invited_at = NULL, attributes = excluded.attributes`
    const events: Array<AuditEvent> = []
    const isUnchanged =
      before !== undefined &&
      !before.suspended &&
      sameRoles(before.roles, roles) &&
      sameAttributes(before.attributes, attributes)
    if (!isUnchanged) {
      events.push({
        actor,
        action: before === undefined ? "membership.added" : "membership.changed",
        subject: anchorId,
        details: { roles, attributes, ...(before === undefined ? {} : { before }) }
      })
    }
    if (identifier !== undefined) events.push(...(yield* bind(organization, anchorId, identifier, actor)))
    if (member.subject !== undefined) {
      events.push(...(yield* bind(organization, anchorId, { kind: "subject", key: member.subject }, actor)))
    }
    return events
  })
}
