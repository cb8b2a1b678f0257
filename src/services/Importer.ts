/**
 * Files into entities: all of a file in one transaction, or none of it. The file is read as a stream, each batch is
 * one upsert and one look-up per reference; columns that the organization doesn't have become columns of its own
 * version of the type, in the same transaction. Identifiers of members are another thing and never touched.
 */
import { Context, Effect, Layer } from "effect"
import { Database } from "../database/Database.ts"
import { orUnavailableInTheEnd } from "../database/read.ts"
import { qualified } from "../database/sql/SqlWriter.ts"
import {
  type Catalog,
  columnBySlug,
  type ColumnKind,
  type EntityType,
  type Organization,
  type Relation
} from "../domain/EntityType.ts"
import type { NotAdmitted, OperatorError, Unavailable } from "../domain/errors.ts"
import { CHANGED, EntityTypeCatalog, holdImports } from "./EntityTypeCatalog.ts"
import { fault } from "./import/faults.ts"
import { bindFields } from "./import/fields.ts"
import { openImportFile } from "./import/file.ts"
import { inferKinds } from "./import/inferKinds.ts"
import { newColumn, planImport, type PlanRequest } from "./import/plan.ts"
import { writeRows } from "./import/rows.ts"
import { OrganizationState } from "./OrganizationState.ts"

export interface ImportRequest extends PlanRequest {
  /** Path of a CSV or JSONL file. */
  readonly file: string
}

export interface Imported {
  /** The type's slug and names, as they are now. */
  readonly type: {
    readonly slug: string
    readonly name: string
    readonly pluralName: string
    readonly created: boolean
  }
  readonly rows: number
  readonly inserted: number
  readonly updated: number
  readonly unchanged: number
  /** What became of each header. */
  readonly mapped: ReadonlyArray<{ readonly header: string; readonly to: string }>
  readonly createdColumns: ReadonlyArray<{ readonly slug: string; readonly name: string; readonly kind: ColumnKind }>
  /** What no role may see until the policy shows it, as `people.product`. */
  readonly hiddenColumns: ReadonlyArray<string>
  readonly warnings: ReadonlyArray<string>
}

type Fault = OperatorError | NotAdmitted | Unavailable

export class Importer extends Context.Service<
  Importer,
  {
    /** Imports a file: everything in it, or nothing and the lines that stand in the way. */
    readonly import: (organization: Organization, request: ImportRequest) => Effect.Effect<Imported, Fault>
  }
>()("max/services/Importer") {
  static readonly layer = Layer.effect(
    Importer,
    Effect.gen(function* () {
      const { app, owner } = yield* Database
      const catalogs = yield* EntityTypeCatalog
      const states = yield* OrganizationState

      const catalogOf = (organization: Organization) =>
        Effect.map(states.read(organization.id, { by: "nobody" }), ({ state }) => state.catalog)

      /** Statistics are for speed alone: a failure here doesn't undo what was imported. */
      const analyze = (relations: ReadonlyArray<Relation>) =>
        Effect.forEach(relations, (relation) => owner.unsafe(`ANALYZE ${qualified(relation)}`).unprepared, {
          discard: true
        }).pipe(Effect.timeout("1 minute"), Effect.ignore)

      return Importer.of({
        import: Effect.fn("Importer.import")(function* (organization, request) {
          const file = yield* openImportFile(request.file)
          const first = yield* planImport(file, request, yield* catalogOf(organization))
          const changes = first.type === undefined || first.created.length > 0
          const kinds = yield* inferKinds(
            file,
            first.created.filter((column) => column.target === undefined),
            organization.country
          )
          const sql = changes ? owner : app

          const done = yield* orUnavailableInTheEnd(
            sql.withTransaction(
              Effect.gen(function* () {
                yield* holdImports(sql, organization.id)
                // No other import changes the catalog from here on; what changed before is planned for again.
                const catalog = yield* catalogOf(organization)
                const plan = yield* planImport(file, request, catalog)
                const created = plan.created.map((column) => newColumn(column, kinds.get(column.index)))
                const changed = plan.type === undefined || created.length > 0
                // Types and columns are never taken away, so this can't be; made on another connection, it wouldn't be undone.
                if (changed && !changes) return yield* fault(CHANGED)
                const published = changed
                  ? yield* catalogs.publish(catalog, { slug: request.type, columns: created })
                  : undefined
                const type = published?.type ?? plan.type!
                const fields = yield* bindFields(plan, type, withType(catalog, type))
                const { counts, warnings } = yield* writeRows(sql, organization, type, fields, file)
                if (published !== undefined) yield* catalogs.putInForce(catalog, published)
                return { changed, counts, warnings, fields, plan, type, created }
              })
            )
          )

          const { changed, counts, created, fields, plan, type, warnings } = done
          if (changed || counts.inserted + counts.updated >= ANALYZE_FROM) {
            yield* analyze([
              type.relation,
              ...fields.references.flatMap(({ storage }) => (storage._tag === "Many" ? [storage.link] : []))
            ])
          }
          return {
            type: { slug: type.slug, name: type.name, pluralName: type.pluralName, created: plan.type === undefined },
            ...counts,
            mapped: plan.mapped.map(({ header, slug, via }) => ({
              header,
              to: via === undefined ? slug : `${slug}:${via.type}.${via.column}`
            })),
            createdColumns: created.map(({ kind, slug }) => ({ slug, name: columnBySlug(type, slug)!.name, kind })),
            hiddenColumns: (plan.type === undefined ? type.columns : created).map(({ slug }) => `${type.slug}.${slug}`),
            warnings
          }
        })
      })
    })
  )
}

const ANALYZE_FROM = 1000

const withType = (catalog: Catalog, type: EntityType): Catalog => ({
  ...catalog,
  types: [...catalog.types.filter((known) => known.key !== type.key), type]
})
