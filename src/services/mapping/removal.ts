/** Takes a mapped type out of an organization. Its table, its rules and its name's meaning stay. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { OPERATOR } from "../../database/audit.ts"
import { holdEpoch, raiseEpoch } from "../../database/epoch.ts"
import { identifier, qualified } from "../../database/sql/SqlWriter.ts"
import { type EntityType, PEOPLE, typeBySlug } from "../../domain/EntityType.ts"
import { OperatorError } from "../../domain/errors.ts"
import { closest, quoted } from "../../domain/text.ts"
import { CHANGED } from "../EntityTypeCatalog.ts"
import type { State } from "../catalog/OrganizationState.ts"
import { changeRoleOf, mappedTypes, readBy } from "./grants.ts"
import { settleWrites } from "./writeGrants.ts"

/** What hangs on a mapped type. */
export interface Removal {
  readonly type: string
  readonly table: string
  /** The rules that then grant or hide nothing, by id. */
  readonly rules: ReadonlyArray<string>
  /** The columns of other types that lead to it, as type.column: they go with it. */
  readonly references: ReadonlyArray<string>
  /** The members whose rows are in its table. */
  readonly members: number
}

const mappedType = ({ catalog }: State, slug: string): Effect.Effect<EntityType, OperatorError> => {
  const type = typeBySlug(catalog, slug)
  if (type?.mapping !== undefined) return Effect.succeed(type)
  const slugs = catalog.types.filter(({ mapping }) => mapping !== undefined).map((mapped) => mapped.slug)
  const near = closest(slug, slugs)
  return Effect.fail(
    OperatorError.of(
      `No table is mapped as ${quoted(slug)}.${near === undefined ? "" : ` Did you mean ${near}?`} Mapped: ${slugs.slice(0, 20).join(", ") || "none"}`
    )
  )
}

export const removalOf = Effect.fnUntraced(function* (owner: PgClient.PgClient, state: State, slug: string) {
  const { catalog, policy } = state
  const type = yield* mappedType(state, slug)
  const references = catalog.types.flatMap((other) =>
    other.key === type.key
      ? []
      : other.columns
          .filter(({ storage }) => storage._tag !== "Value" && storage.target === type.key)
          .map((column) => ({ column, name: `${other.slug}.${column.slug}` }))
  )
  const follows = (condition: unknown) => {
    const text = JSON.stringify(condition ?? null)
    return references.some(({ column }) => text.includes(JSON.stringify(column.key)))
  }
  const [row] = yield* owner<{ members: number }>`
    SELECT count(*)::int AS members FROM max.memberships WHERE organization_id = ${catalog.organization.id}`
  const removal: Removal = {
    type: slug,
    table: `${type.relation.schema}.${type.relation.table}`,
    rules: policy.rules
      .filter((rule) => rule.type === type.key || follows(rule.where) || follows(rule.becomes))
      .map(({ id }) => id),
    references: references.map(({ name }) => name),
    members: slug === PEOPLE ? row!.members : 0
  }
  return removal
})

/** Inside a transaction that has called `holdImports`. */
export const removeType = Effect.fnUntraced(function* (owner: PgClient.PgClient, state: State, slug: string) {
  const { catalog } = state
  const { id } = catalog.organization
  const removal = yield* removalOf(owner, state, slug)
  if (removal.members > 0) {
    return yield* OperatorError.of(
      `${removal.members} member${removal.members === 1 ? " has a row" : "s have rows"} in ${removal.table}. Map another table as people first: they move there.`
    )
  }
  const type = yield* mappedType(state, slug)
  // A type that Max managed before is managed again; a removed version is never the latest one.
  yield* owner`DELETE FROM builder.version_refs WHERE organization_id = ${id} AND type_key = ${type.key}`
  yield* owner`
    INSERT INTO builder.version_refs (organization_id, type_key, source_organization_id, version)
    SELECT organization_id, type_key, organization_id, version FROM builder.entity_type_versions
    WHERE organization_id = ${id} AND type_key = ${type.key} AND mapping IS NULL ORDER BY version DESC LIMIT 1`
  yield* owner`
    UPDATE builder.entity_type_versions SET stage = 'removed'
    WHERE organization_id = ${id} AND type_key = ${type.key} AND mapping IS NOT NULL`
  yield* revoke(owner, type)
  yield* settleWrites(owner)
  if ((yield* holdEpoch(owner, id)) !== catalog.epoch) return yield* OperatorError.of(CHANGED)
  yield* raiseEpoch(owner, id, [
    { actor: OPERATOR, action: "catalog.removed", subject: slug, details: { table: removal.table } }
  ])
  return removal
})

/** Takes the reading role's rights on relations that no mapping reads any more, as far as this user may. */
const revoke = Effect.fnUntraced(function* (owner: PgClient.PgClient, type: EntityType) {
  const [server] = yield* owner<{ role: string }>`SELECT pg_get_userbyid(max.reading_role())::text AS role`
  const changeRole = yield* changeRoleOf(owner)
  const read = new Set((yield* mappedTypes(owner)).flatMap(readBy).map(({ relation }) => qualified(relation)))
  for (const { relation } of readBy(type)) {
    const name = qualified(relation)
    if (read.has(name)) continue
    yield* owner
      .unsafe(
        `REVOKE SELECT ON ${name} FROM ${[server!.role, ...(changeRole === undefined ? [] : [changeRole])].map(identifier).join(", ")}`
      )
      .unprepared.pipe(owner.withTransaction, Effect.ignore)
  }
})
