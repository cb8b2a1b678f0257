/**
 * Imports files as entities, in one transaction. A file is streamed; each batch is one upsert and one lookup per
 * reference. Columns that the organization doesn't have are added to its own version of the type, in the same
 * transaction. Verified identifiers of members never change. A dry run is an import that is rolled back and adds no column.
 */
import { Context, Effect, Layer } from "effect"
import { appendAudit, OPERATOR } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { raiseDataVersion } from "../../database/dataVersion.ts"
import { orUnavailableInTheEnd } from "../../database/execute.ts"
import {
  type Catalog,
  columnBySlug,
  type ColumnKind,
  type EntityType,
  type Organization
} from "../../domain/EntityType.ts"
import type { NotAdmitted, OperatorError, Unavailable } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { CHANGED, EntityTypeCatalog, holdImports } from "../EntityTypeCatalog.ts"
import { lockEpochFor } from "../members/suspension.ts"
import type { BadRow } from "./BadRows.ts"
import type { Preview } from "./Diff.ts"
import { fault } from "./faults.ts"
import { bindFields } from "./bindFields.ts"
import { type FileOptions, type ImportFile, openImportFile } from "./readers/ImportFile.ts"
import { examplesOf } from "./examples.ts"
import { type LocalForms, localForms, type LocalOptions } from "./localForms.ts"
import { inferKinds, type InferredKind, newColumn } from "./inferKinds.ts"
import { type Plan, planImport, type PlanRequest } from "./planImport.ts"
import { withPendingColumns } from "./pendingColumns.ts"
import { makeVacuum } from "./vacuum.ts"
import { writeRows } from "./writeRows.ts"
import { OrganizationState, type State } from "../catalog/OrganizationState.ts"
import { hiddenFrom, showToAdmin } from "../policies/adminPolicy.ts"

export interface ImportRequest extends PlanRequest, FileOptions, LocalOptions {
  /** Paths of CSV, JSONL or XLSX files. */
  readonly files: ReadonlyArray<string>
  /** A prefix for the ids of the files' rows. */
  readonly idPrefix?: string | undefined
  /** Leaves bad rows out and reports them, instead of importing nothing. */
  readonly skipBad?: boolean | undefined
  /** Leaves cells that people have changed here since, instead of overwriting them. */
  readonly keepChanges?: boolean | undefined
  /** Reports what would happen, and changes nothing. */
  readonly dryRun?: boolean | undefined
  /** Who imports on a page; their access must not change meanwhile. Without one, an operator. */
  readonly administrator?: Principal | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

export interface Progress {
  readonly file: string
  readonly doing: "reading" | "writing"
  /** Rows of this file so far. */
  readonly rows: number
  /** The share of the file, from 0 to 1. */
  readonly share: number
}

export interface Imported {
  /** The type's slug and current names. */
  readonly type: {
    readonly slug: string
    readonly name: string
    readonly pluralName: string
    readonly created: boolean
  }
  readonly dryRun: boolean
  readonly rows: number
  readonly inserted: number
  readonly updated: number
  readonly unchanged: number
  /** Cells that people have changed here since, and that the file has otherwise; overwritten, or left with `keepChanges`. */
  readonly changedHere: { readonly cells: number; readonly kept: boolean }
  /** Bad rows that were left out, with their problems. */
  readonly leftOut: number
  readonly badRows: ReadonlyArray<BadRow>
  /** The format of each file, and the column of each header. */
  readonly files: ReadonlyArray<{
    readonly name: string
    readonly format: string
    readonly mapped: ReadonlyArray<{
      readonly header: string
      readonly to: string
      /** In a dry run, the first text that is read as another: a number, a date or a word of the file's locale. */
      readonly example?: { readonly text: string; readonly read: string }
    }>
  }>
  readonly createdColumns: ReadonlyArray<{ readonly slug: string; readonly name: string; readonly kind: ColumnKind }>
  /** New columns, as `people.product`: the roles that see them, and those that don't until the policy shows them. */
  readonly visibility: {
    readonly columns: ReadonlyArray<string>
    readonly shownTo: ReadonlyArray<string>
    readonly hiddenFrom: ReadonlyArray<string>
  }
  /** What a dry run would change. */
  readonly preview?: Preview
  readonly warnings: ReadonlyArray<string>
}

type Fault = OperatorError | NotAdmitted | Unavailable

/** Carries the outcome of a dry run out of the transaction that it rolls back. */
class RolledBack<A> {
  readonly _tag = "RolledBack"
  readonly outcome: A
  constructor(outcome: A) {
    this.outcome = outcome
  }
}

export class Importer extends Context.Service<
  Importer,
  {
    /** Imports files atomically; the error lists the lines that prevent it. */
    readonly import: (organization: Organization, request: ImportRequest) => Effect.Effect<Imported, Fault>
  }
>()("max/services/Importer") {
  static readonly layer = Layer.effect(
    Importer,
    Effect.gen(function* () {
      const { app, owner } = yield* Database
      const catalogs = yield* EntityTypeCatalog
      const states = yield* OrganizationState

      const stateOf = (organization: Organization) =>
        Effect.map(states.read(organization.id, { by: "none" }), ({ state }) => state)

      const vacuum = makeVacuum(owner)

      /** Creates types and columns; a dry run creates no columns of an existing type, which would block lookups. */
      const prepare = Effect.fnUntraced(function* (
        state: State,
        plan: Plan,
        slug: string,
        kinds: Kinds,
        dryRun: boolean
      ) {
        const { catalog } = state
        const columns = plan.created.map((column) => newColumn(column, kinds.get(column.slug)))
        if (plan.type !== undefined && (columns.length === 0 || dryRun)) {
          return { type: withPendingColumns(plan.type, columns, catalog), columns, published: undefined }
        }
        const published = yield* catalogs.publish(catalog, { slug, columns })
        return { type: published.type, columns, published }
      })

      const writeFiles = Effect.fnUntraced(function* (
        organization: Organization,
        request: ImportRequest,
        files: ReadonlyArray<ImportFile>,
        kinds: Kinds,
        forms: LocalForms,
        defining: boolean
      ) {
        const sql = defining ? owner : app
        const dryRun = request.dryRun === true
        yield* holdImports(sql, organization.id)
        // No other import changes the catalog from here on: the plan is made again from its current state.
        const state = yield* stateOf(organization)
        const { catalog } = state
        const { administrator } = request
        const actor = administrator?.anchorEntityId ?? OPERATOR
        if (administrator !== undefined && administrator.epoch !== catalog.epoch) return yield* fault(CHANGED)
        const plan = yield* planImport(files, request, catalog)
        // Only a transaction of the owner can create tables and columns; the first plan chose the connection.
        if ((plan.type === undefined || plan.created.length > 0) && !defining) return yield* fault(CHANGED)
        const { columns, published, type } = yield* prepare(state, plan, request.type, kinds, dryRun)
        const binding = {
          type,
          catalog: withType(catalog, type),
          idPrefix: request.idPrefix ?? "",
          forms,
          pending: new Set(published === undefined ? columns.map(({ slug }) => slug) : [])
        }
        const bound = yield* Effect.forEach(plan.files, ({ file, mapped }) =>
          Effect.map(bindFields(mapped, binding), (fields) => ({ file, fields }))
        )
        const written = yield* writeRows({
          sql,
          organization,
          type,
          files: bound,
          skipBad: request.skipBad === true,
          keepChanges: request.keepChanges === true,
          compare: dryRun,
          onBatch: counting(request, "writing")
        })
        const created = plan.type === undefined ? type.columns : columns.map(({ slug }) => columnBySlug(type, slug)!)
        if (published !== undefined && !dryRun) yield* catalogs.putInForce(catalog, published, actor)
        const types = [...state.catalog.types.filter(({ key }) => key !== type.key), type]
        const shown =
          created.length === 0
            ? undefined
            : yield* showToAdmin(owner, organization.id, state.policy, [type], types, actor)
        const outcome = { ...written, plan, type, bound, columns, created, policy: shown ?? state.policy }
        if (dryRun) return yield* Effect.fail(new RolledBack(outcome))
        if (administrator !== undefined && published === undefined)
          yield* lockEpochFor(sql, organization, administrator)
        yield* raiseDataVersion(sql, organization.id)
        const event = { actor, action: "data.imported", subject: type.slug, details: written.counts }
        yield* appendAudit(sql, organization.id, "changes", [event])
        return outcome
      })

      const importFiles = Effect.fnUntraced(function* (organization: Organization, request: ImportRequest) {
        const files = yield* Effect.forEach(request.files, (path) => openImportFile(path, request))
        if (files.length === 0) return yield* fault("There is no file to import")
        const { catalog } = yield* stateOf(organization)
        const first = yield* planImport(files, request, catalog)
        const forms = yield* localForms(request)
        const kinds = yield* inferKinds(first, organization.country, forms, counting(request, "reading"))
        const defining = first.type === undefined || first.created.length > 0
        if (defining && request.dryRun !== true) {
          const columns = first.created.map((column) => newColumn(column, kinds.get(column.slug)))
          yield* orUnavailableInTheEnd(catalogs.makeRoom(catalog, { slug: request.type, columns }))
        }
        const done = yield* orUnavailableInTheEnd(
          (defining ? owner : app)
            .withTransaction(writeFiles(organization, request, files, kinds, forms, defining))
            .pipe(Effect.catchTag("RolledBack", ({ outcome }) => Effect.succeed(outcome)))
        )
        const { bad, bound, columns, counts, created, met, plan, policy, preview, type, warnings } = done
        if (request.dryRun !== true && (defining || counts.inserted + counts.updated >= VACUUM_FROM)) {
          const links = bound.flatMap(({ fields }) =>
            fields.references.flatMap(({ storage }) => (storage._tag === "Many" ? [storage.link] : []))
          )
          yield* vacuum([type.relation, ...links])
        }
        const createdSlugs = new Set(created.map(({ slug }) => slug))
        const hidden = new Set(
          hiddenFrom(policy, type).flatMap(({ columns: slugs, role }) =>
            slugs.some((slug) => createdSlugs.has(slug)) ? [role] : []
          )
        )
        const roles = created.length === 0 ? [] : Object.keys(policy.roles)
        return {
          type: { slug: type.slug, name: type.name, pluralName: type.pluralName, created: plan.type === undefined },
          dryRun: request.dryRun === true,
          ...counts,
          changedHere: { cells: met, kept: request.keepChanges === true },
          badRows: bad.rows,
          files: yield* Effect.forEach(plan.files, ({ file, mapped }) =>
            Effect.map(
              request.dryRun === true ? examplesOf(file, mapped, type, forms) : Effect.succeed(new Map()),
              (examples) => ({
                name: file.name,
                format: file.format,
                mapped: mapped.map(({ header, slug, via }) => ({
                  header,
                  to: via === undefined ? slug : `${slug}:${via.type}.${via.column}`,
                  ...(examples.has(slug) ? { example: examples.get(slug)! } : {})
                }))
              })
            )
          ),
          createdColumns: columns.map(({ kind, slug }) => ({ slug, name: columnBySlug(type, slug)!.name, kind })),
          visibility: {
            columns: created.map(({ slug }) => `${type.slug}.${slug}`),
            shownTo: roles.filter((role) => !hidden.has(role)),
            hiddenFrom: roles.filter((role) => hidden.has(role))
          },
          ...(preview === undefined ? {} : { preview }),
          warnings: [
            ...files.flatMap((file) => file.warnings),
            ...warnings,
            ...(bad.hint === undefined ? [] : [bad.hint])
          ]
        } satisfies Imported
      })

      return Importer.of({
        import: Effect.fn("Importer.import")((organization, request) =>
          Effect.scoped(importFiles(organization, request))
        )
      })
    })
  )
}

/** Changed rows from which an import vacuums. */
const VACUUM_FROM = 1000

type Kinds = ReadonlyMap<string, InferredKind>

const withType = (catalog: Catalog, type: EntityType): Catalog => ({
  ...catalog,
  types: [...catalog.types.filter(({ key }) => key !== type.key), type]
})

const counting = ({ onProgress }: ImportRequest, doing: Progress["doing"]) => {
  const rows = new Map<ImportFile, number>()
  return (file: ImportFile, more: number) => {
    rows.set(file, (rows.get(file) ?? 0) + more)
    onProgress?.({ file: file.name, doing, rows: rows.get(file)!, share: file.share() })
  }
}
