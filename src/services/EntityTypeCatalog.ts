/**
 * The catalog of entity types: the versions in force for an organization, and new ones. A system type that an
 * organization extends, and every type that it adds, gets a managed table of that organization; labels never become
 * physical names. The methods run inside the caller's transaction on `Database.owner`, so that a version, its table and
 * its rows commit together.
 */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schedule } from "effect"
import type { SqlError } from "effect/sql"
import { Database } from "../database/Database.ts"
import { OPERATOR } from "../database/audit.ts"
import { holdEpoch, raiseEpoch } from "../database/epoch.ts"
import { enterOrganization } from "../database/rowSecurity.ts"
import { type Catalog, type EntityType, typeBySlug } from "../domain/EntityType.ts"
import { OperatorError } from "../domain/errors.ts"
import { slugProblem } from "../domain/names.ts"
import { quoted } from "../domain/text.ts"
import { addColumns, type Base, createType, ownTable } from "./catalog/managedTables.ts"
import { define, isOwnTable, makeSpareColumns, type NewColumn } from "./catalog/physicalColumns.ts"
import { insertVersion } from "./catalog/storedTypes.ts"

export interface NewVersion {
  /** The type's slug; an unknown one creates a type of the organization's own. */
  readonly slug: string
  readonly columns: ReadonlyArray<NewColumn>
}

export const CHANGED = "Something else changed this organization at the same time. Import again."

/**
 * Takes the lock that serializes imports and new versions of an organization until the transaction ends, so that no row
 * is written to a table that is being replaced. Memberships and policies don't take it: a suspension never waits for an import.
 */
export const holdImports = (
  sql: PgClient.PgClient,
  organizationId: bigint
): Effect.Effect<void, OperatorError | SqlError.SqlError> =>
  sql`SELECT pg_advisory_xact_lock(7236912, hashint8(${organizationId}::bigint))`.pipe(
    Effect.andThen(enterOrganization(sql, organizationId)),
    Effect.andThen(sql`SELECT 1 FROM max.moves WHERE organization_id = ${organizationId}`),
    Effect.andThen((moves) =>
      moves.length === 0
        ? Effect.void
        : Effect.fail(
            OperatorError.of("This organization is being moved to another database: import when it has arrived.")
          )
    ),
    Effect.catchTag("SqlError", (error) =>
      Effect.fail(
        error.reason._tag === "LockTimeoutError"
          ? OperatorError.of("Another import into this organization is running. Import again when it has ended.")
          : error
      )
    )
  )

type Fault = OperatorError | SqlError.SqlError

/** A version that isn't in force yet. */
export interface Published {
  readonly type: EntityType
  /** Definitions of the search indexes; building them after the rows are written costs half as much. */
  readonly searchIndexes: ReadonlyArray<string>
}

export class EntityTypeCatalog extends Context.Service<
  EntityTypeCatalog,
  {
    /**
     * Adds the physical columns of a coming version to a table in use, in a separate transaction: it blocks lookups for a
     * moment, while `publish` would block them until all rows are written.
     */
    readonly makeRoom: (catalog: Catalog, version: NewVersion) => Effect.Effect<void, Fault>
    /** Creates a type, or the organization's own version of one, with new columns, and pins it; the caller has called `holdImports`. */
    readonly publish: (catalog: Catalog, version: NewVersion) => Effect.Effect<Published, Fault>
    /** Puts a published version in force as the last step of its transaction; refused when the organization has changed since `catalog`. */
    readonly putInForce: (catalog: Catalog, published: Published, actor?: string) => Effect.Effect<void, Fault>
  }
>()("max/services/EntityTypeCatalog") {
  static readonly layer = Layer.effect(
    EntityTypeCatalog,
    Effect.gen(function* () {
      const { owner } = yield* Database
      return EntityTypeCatalog.of({
        makeRoom: Effect.fn("EntityTypeCatalog.makeRoom")(function* (catalog, { columns, slug }) {
          const type = typeBySlug(catalog, slug)
          if (type === undefined || !isOwnTable(type.relation) || columns.length === 0) return
          const add = Effect.gen(function* () {
            yield* holdImports(owner, catalog.organization.id)
            // Lookups queue behind this lock request: for a second at most.
            yield* owner`SET LOCAL lock_timeout = '1s'`
            yield* makeSpareColumns(owner, catalog.organization.id, type, columns)
          }).pipe(owner.withTransaction)
          const busy = (error: Fault) => error._tag === "SqlError" && error.reason._tag === "LockTimeoutError"
          yield* Effect.retry(add, { while: busy, times: 4, schedule: Schedule.spaced("1 second") }).pipe(
            Effect.catchIf(busy, () =>
              Effect.fail(
                OperatorError.of(
                  `${type.pluralName} are being read by a long statement, and adding a column must wait for it. Import again later.`
                )
              )
            )
          )
        }),

        publish: Effect.fn("EntityTypeCatalog.publish")(function* (catalog, { columns, slug }) {
          const former = typeBySlug(catalog, slug)
          const base =
            former === undefined ? yield* createType(owner, catalog, slug) : yield* ownTable(owner, catalog, former)
          yield* checkColumns(base, columns)
          const added = yield* addColumns(owner, catalog, base, columns)
          const type: EntityType = { ...base.type, columns: [...base.type.columns, ...added.columns] }
          yield* insertVersion(owner, catalog.organization.id, type, base.position)
          return { type, searchIndexes: [...base.searchIndexes, ...added.searchIndexes] }
        }),

        putInForce: Effect.fn("EntityTypeCatalog.putInForce")(function* (
          catalog,
          { searchIndexes, type },
          actor = OPERATOR
        ) {
          yield* define(owner, searchIndexes)
          // Locked last: publishing a policy or suspending a member waits for a commit, not for an import.
          if ((yield* holdEpoch(owner, catalog.organization.id)) !== catalog.epoch)
            return yield* OperatorError.of(CHANGED)
          yield* raiseEpoch(owner, catalog.organization.id, [
            {
              actor,
              action: "catalog.published",
              subject: type.slug,
              details: { version: type.version, columns: type.columns.map((column) => column.slug) }
            }
          ])
        })
      })
    })
  )
}

/** With more columns, a row with all values stored out of line would exceed a page. */
export const MAX_TYPE_COLUMNS = 200

const checkColumns = Effect.fnUntraced(function* ({ type, usedSlugs }: Base, columns: ReadonlyArray<NewColumn>) {
  const taken = new Set([...type.columns, ...(type.derived ?? [])].map((column) => column.slug))
  if (taken.size + columns.length > MAX_TYPE_COLUMNS) {
    return yield* OperatorError.of(
      `${type.pluralName} would have ${taken.size + columns.length} columns. A type has at most ${MAX_TYPE_COLUMNS}.`
    )
  }
  for (const { slug } of columns) {
    const fault =
      slugProblem(slug) ??
      (taken.has(slug)
        ? `${type.pluralName} have that already`
        : usedSlugs.has(slug)
          ? `${type.pluralName} had another column of that name before`
          : undefined)
    if (fault !== undefined) return yield* OperatorError.of(`A column can't be called ${quoted(slug)}: ${fault}.`)
    taken.add(slug)
  }
})
