/** Exports all rows and columns of a type for operators, without a policy check. The audit record commits first. */
import { Context, Effect, Layer, Stream } from "effect"
import { appendAudit, OPERATOR } from "../../database/audit.ts"
import { Database } from "../../database/Database.ts"
import { orUnavailable, orUnavailableInTheEnd } from "../../database/execute.ts"
import { enterOrganization } from "../../database/rowSecurity.ts"
import { identifier, qualified } from "../../database/sql/SqlWriter.ts"
import {
  type Catalog,
  type Column,
  type EntityType,
  type Organization,
  targetOf,
  typeBySlug
} from "../../domain/EntityType.ts"
import { type NotAdmitted, OperatorError, type Unavailable } from "../../domain/errors.ts"
import { encodeId } from "../../domain/ids.ts"
import { closest, printable, quoted, withoutFinal, withoutFinalZeros } from "../../domain/text.ts"
import { type ExportFormat, type Field, header, line, type Value } from "./export/cells.ts"
import { OrganizationState } from "../catalog/OrganizationState.ts"

export interface ExportRequest {
  /** The type's slug. */
  readonly type: string
  readonly format: ExportFormat
}

export class Exporter extends Context.Service<
  Exporter,
  {
    /** Streams every row of a type to `write` as chunks of text; returns the number of rows. */
    readonly export: <E, R>(
      organization: Organization,
      request: ExportRequest,
      write: (text: string) => Effect.Effect<void, E, R>
    ) => Effect.Effect<number, OperatorError | NotAdmitted | Unavailable | E, R>
  }
>()("max/services/Exporter") {
  static readonly layer = Layer.effect(
    Exporter,
    Effect.gen(function* () {
      const { app } = yield* Database
      const states = yield* OrganizationState
      return Exporter.of({
        export: Effect.fn("Exporter.export")(function* (organization, { format, type: slug }, write) {
          const { state } = yield* states.read(organization.id, { by: "none" })
          const type = yield* findType(state.catalog, slug)
          const { fields, statement, valuesOf } = compileExport(state.catalog, type, format)
          yield* orUnavailable(
            app.withTransaction(
              appendAudit(app, organization.id, "changes", [
                { actor: OPERATOR, action: "data.exported", subject: slug, details: { format, columns: fields.length } }
              ])
            )
          )
          let rows = 0
          yield* Effect.gen(function* () {
            yield* app.unsafe("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY").unprepared
            yield* enterOrganization(app, organization.id)
            yield* write(header(fields, format))
            yield* Stream.runForEachArray(app.unsafe<Row>(statement, [organization.id]).stream, (some) => {
              rows += some.length
              return write(some.map((row) => line(fields, valuesOf(row), format)).join(""))
            })
          }).pipe(app.withTransaction, orUnavailableInTheEnd)
          return rows
        })
      })
    })
  )
}

const findType = (catalog: Catalog, slug: string) => {
  const type = typeBySlug(catalog, slug)
  if (type === undefined) {
    const slugs = catalog.types.map((one) => one.slug)
    const near = closest(slug, slugs)
    return Effect.fail(
      OperatorError.of(
        `There is no type ${quoted(slug)}. ${near === undefined ? `Known: ${slugs.join(", ")}.` : `Did you mean ${near}?`}`
      )
    )
  }
  return type.mapping === undefined
    ? Effect.succeed(type)
    : Effect.fail(
        OperatorError.of(
          `${type.pluralName} are read from ${printable(`${type.relation.schema}.${type.relation.table}`)}, which Max doesn't manage: export them from there.`
        )
      )
}

interface Row {
  readonly id: bigint
  readonly external_id: string | null
  readonly [cell: `c${number}`]: unknown
}

/** A column of the export: its SQL expression and the conversion of its cells. */
interface ExportedField extends Field {
  readonly sql: string
  readonly read: (cell: unknown) => Value
  /** Repeats another column in readable form, such as the name of a reference; CSV only. */
  readonly forPeople?: boolean
}

/** An entity's id and external id. */
type Reference = readonly [id: string, externalId: string | null]

/** The key by which an import matches an entity: the external id, otherwise the entity id. */
const importKey = ([id, externalId]: Reference): string => externalId ?? encodeId(BigInt(id))

const asText = (cell: unknown): Value => cell as string | null
const asList = (cell: unknown): Value => cell as ReadonlyArray<string> | null
const asReference = (cell: unknown): Value => (cell === null ? null : importKey(cell as Reference))
const asReferences = (cell: unknown): Value =>
  cell === null ? null : (cell as ReadonlyArray<Reference>).map(importKey)
/** Without trailing zeros of the fraction. */
const asTime = (cell: unknown): Value =>
  cell === null ? null : `${withoutFinalZeros(withoutFinal(cell as string, "Z"))}Z`

/** One statement for all rows, and the conversion of each column. */
const compileExport = (catalog: Catalog, type: EntityType, format: ExportFormat) => {
  const fields = type.columns
    .flatMap((column) => exported(column, targetOf(catalog, column)))
    .filter(({ forPeople }) => format === "csv" || forPeople !== true)
  const cells = fields.map(({ sql }, index) => `, ${sql} AS c${index}`)
  return {
    fields: [{ header: "id", kind: "text" } satisfies Field, ...fields],
    statement:
      `/* max export */ SELECT p.id, p.external_id${cells.join("")} ` +
      `FROM ${qualified(type.relation)} p WHERE p.organization_id = $1::bigint ORDER BY p.id`,
    valuesOf: (row: Row): ReadonlyArray<Value> => [
      importKey([String(row.id), row.external_id]),
      ...fields.map(({ read }, index) => read(row[`c${index}`]))
    ]
  }
}

const exported = ({ kind, slug, storage }: Column, target: EntityType | undefined): ReadonlyArray<ExportedField> => {
  const field = (sql: string, read: ExportedField["read"]): ExportedField => ({ header: slug, kind, sql, read })
  // Entities of mapped types have their own key and no external id.
  const managed = target !== undefined && target.mapping === undefined ? qualified(target.relation) : undefined
  switch (storage._tag) {
    case "Value": {
      const value = `p.${identifier(storage.column)}`
      if (kind === "list") return [field(`to_json(${value})`, asList)]
      if (kind === "timestamp")
        return [field(`to_char(timezone('UTC', ${value}), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`, asTime)]
      return [field(`${value}::text`, asText)]
    }
    case "One": {
      const value = `p.${identifier(storage.column)}`
      if (managed === undefined) return [field(`${value}::text`, asText)]
      const from = `FROM ${managed} r WHERE r.organization_id = p.organization_id AND r.id = ${value}`
      return [
        field(`(SELECT json_build_array(r.id::text, r.external_id) ${from})`, asReference),
        // Slugs contain no dot, so this header can't collide with a column.
        { header: `${slug}.name`, kind: "text", sql: `(SELECT r.name ${from})`, read: asText, forPeople: true }
      ]
    }
    case "Many": {
      const to = `l.${identifier(storage.to)}`
      const joined =
        managed === undefined ? "" : ` LEFT JOIN ${managed} r ON r.organization_id = l.organization_id AND r.id = ${to}`
      return [
        field(
          `(SELECT json_agg(json_build_array(${to}::text, ${managed === undefined ? "NULL" : "r.external_id"}) ORDER BY ${to}) ` +
            `FROM ${qualified(storage.link)} l${joined} ` +
            `WHERE l.organization_id = p.organization_id AND l.${identifier(storage.from)} = p.id)`,
          asReferences
        )
      ]
    }
  }
}
