/** The statements that write rows and their references. */
import { PgTypes, type PgClient } from "@effect/sql-pg"
import { Effect, Result } from "effect"
import { identifier, qualified, SqlWriter } from "../../database/sql/SqlWriter.ts"
import { SQL_TYPE } from "../../database/sql/sqlType.ts"
import type { EntityType, Organization, Storage } from "../../domain/EntityType.ts"
import type { Batch } from "./BatchReader.ts"
import type { Fields } from "./bindFields.ts"

/** The type, the organization and the connection that rows are written to. */
export interface Destination {
  readonly sql: PgClient.PgClient
  readonly organization: Organization
  readonly type: EntityType
  readonly fields: Fields
}

export const texts = (values: ReadonlyArray<string | null>) =>
  Result.getOrThrow(PgTypes.array(values, PgTypes.OID.text))
const bigints = (values: ReadonlyArray<bigint | null>) => Result.getOrThrow(PgTypes.array(values, PgTypes.OID.int8))

/** The rows of a batch as a relation `u`, with one expression per physical column. */
const sourceOf = (
  { fields, organization }: Destination,
  batch: Batch,
  ones: ReadonlyArray<ReadonlyArray<bigint | null>>
) => {
  const writer = new SqlWriter()
  const physical = fields.values.flatMap((field) => field.physical)
  const references = singleReferences(fields)
  const keyed = fields.id !== undefined
  const organizationId = writer.bind(organization.id, "bigint")
  const arrays = [
    writer.bind(bigints(batch.ids), "bigint[]"),
    ...(keyed ? [writer.bind(texts(batch.externalIds), "text[]")] : []),
    ...batch.values.map((values) => writer.bind(texts(values), "text[]")),
    ...ones.map((ids) => writer.bind(bigints(ids), "bigint[]"))
  ]
  const timeZone = physical.some(({ kind }) => kind === "timestamp") ? writer.bind(organization.timeZone, "text") : ""
  const selected = physical.map(({ kind }, number) => {
    const value = `u.v${number}`
    if (kind === "timestamp") {
      return `CASE WHEN ${value} ~ '(Z|[+-][0-9]{2}:?[0-9]{2})$' THEN ${value}::timestamptz ELSE timezone(${timeZone}, ${value}::timestamp) END`
    }
    return SQL_TYPE[kind] === "text" ? value : `${value}::${SQL_TYPE[kind]}`
  })
  const key = keyed ? ", external_id" : ""
  return {
    organizationId,
    key,
    /** Physical columns, quoted. */
    columns: [...physical, ...references.map(({ storage }) => storage)].map(({ column }) => identifier(column)),
    selected: [...selected, ...references.map((_, number) => `u.r${number}`)],
    from: `unnest(${arrays.join(", ")}) AS u(id${key}${physical.map((_, number) => `, v${number}`).join("")}${references.map((_, number) => `, r${number}`).join("")})`,
    parameters: writer.parameters
  }
}

/** The references that are stored in a column of the table. */
export const singleReferences = (fields: Fields) =>
  fields.references.flatMap(({ column, pending, storage }) =>
    storage._tag === "One" && !pending ? [{ column, storage }] : []
  )

/** A cell that an upsert leaves as it is: the row's id in the file, and the position of the column. */
export interface KeptCell {
  readonly externalId: string
  readonly position: number
}

/** Inserts rows, or updates existing ones whose values differ; returns the rows that it wrote. */
export const upsert = Effect.fnUntraced(function* (
  destination: Destination,
  batch: Batch,
  ones: ReadonlyArray<ReadonlyArray<bigint | null>>,
  kept: ReadonlyArray<KeptCell> = []
) {
  const { sql, type } = destination
  const source = sourceOf(destination, batch, ones)
  const { columns, from, key, organizationId, selected } = source
  const parameters = [...source.parameters]
  const bind = (value: unknown) => `$${parameters.push(value)}`
  const keptFrom =
    kept.length === 0
      ? ""
      : `unnest(${bind(texts(kept.map(({ externalId }) => externalId)))}::text[], ` +
        `${bind(bigints(kept.map(({ position }) => BigInt(position))))}::bigint[]) AS k(external_id, position)`
  const written = columns.map((column, position) =>
    kept.some((cell) => cell.position === position)
      ? `CASE WHEN EXISTS (SELECT 1 FROM ${keptFrom} WHERE k.external_id = t.external_id AND k.position = ${position}) ` +
        `THEN t.${column} ELSE excluded.${column} END`
      : `excluded.${column}`
  )
  return yield* sql.unsafe<{ id: bigint; external_id?: string }>(
    `/* max import */ INSERT INTO ${qualified(type.relation)} AS t (organization_id, id${key}, ${columns.join(", ")}) ` +
      `SELECT ${organizationId}, u.id${key === "" ? "" : ", u.external_id"}, ${selected.join(", ")} FROM ${from}` +
      (key === ""
        ? ""
        : ` ON CONFLICT (organization_id, external_id) DO UPDATE SET ${columns.map((column, position) => `${column} = ${written[position]!}`).join(", ")} ` +
          `WHERE (${columns.map((column) => `t.${column}`).join(", ")}) IS DISTINCT FROM (${written.join(", ")})`) +
      ` RETURNING t.id${key === "" ? "" : ", t.external_id"}`,
    parameters
  )
})

/** Compares a batch with the existing rows: for each that differs, the positions of the columns with their old and new texts. */
export const compare = Effect.fnUntraced(function* (
  destination: Destination,
  batch: Batch,
  ones: ReadonlyArray<ReadonlyArray<bigint | null>>
) {
  const { sql, type } = destination
  const { columns, from, organizationId, parameters, selected } = sourceOf(destination, batch, ones)
  const cells = columns.map(
    (column, number) => `(${number}, t.${column} IS DISTINCT FROM n.n${number}, t.${column}::text, n.n${number}::text)`
  )
  return yield* sql.unsafe<{
    external_id: string
    positions: ReadonlyArray<number>
    was: ReadonlyArray<string | null>
    now: ReadonlyArray<string | null>
  }>(
    `/* max import compare */ SELECT n.external_id, d.positions, d.was, d.now ` +
      `FROM (SELECT u.external_id, ${selected.map((value, number) => `${value} AS n${number}`).join(", ")} FROM ${from}) n ` +
      `JOIN ${qualified(type.relation)} t ON t.organization_id = ${organizationId} AND t.external_id = n.external_id ` +
      `CROSS JOIN LATERAL (SELECT array_agg(c.position) AS positions, array_agg(c.was) AS was, array_agg(c.now) AS now ` +
      `FROM (VALUES ${cells.join(", ")}) AS c(position, differs, was, now) WHERE c.differs) d WHERE d.positions IS NOT NULL`,
    parameters
  )
})

/** The entity ids of written rows, by their ids in the file. */
export const entityIds = Effect.fnUntraced(function* (
  { organization, sql, type }: Destination,
  externalIds: ReadonlyArray<string | null>
) {
  const rows = yield* sql.unsafe<{ id: bigint; external_id: string }>(
    `SELECT t.id, t.external_id FROM ${qualified(type.relation)} t WHERE t.organization_id = $1::bigint AND t.external_id = ANY($2::text[])`,
    [organization.id, texts(externalIds)]
  )
  const byExternalId = new Map(rows.map(({ external_id, id }) => [external_id, id]))
  return externalIds.map((externalId) => byExternalId.get(externalId!)!)
})

/** Replaces the links of entities by those of the file; returns the entities that it changed. */
export const writeLinks = Effect.fnUntraced(function* (
  { organization, sql }: Destination,
  storage: Extract<Storage, { readonly _tag: "Many" }>,
  ids: ReadonlyArray<bigint>,
  targets: ReadonlyArray<ReadonlyArray<bigint> | undefined>
) {
  const [links, from, to] = [qualified(storage.link), identifier(storage.from), identifier(storage.to)]
  const rows = ids.flatMap((id, row) => (targets[row] === undefined ? [] : [{ id, targets: targets[row] }]))
  const pairs = rows.flatMap((row) => [...new Set(row.targets)].map((target) => [row.id, target] as const))
  return yield* sql.unsafe<{ id: bigint }>(
    `/* max import links */ WITH wanted AS (SELECT w.a, w.b FROM unnest($3::bigint[], $4::bigint[]) AS w(a, b)), ` +
      `removed AS (DELETE FROM ${links} l WHERE l.organization_id = $1::bigint AND l.${from} = ANY($2::bigint[]) ` +
      `AND NOT EXISTS (SELECT 1 FROM wanted w WHERE w.a = l.${from} AND w.b = l.${to}) RETURNING l.${from} AS id), ` +
      `added AS (INSERT INTO ${links} AS l (organization_id, ${from}, ${to}) SELECT $1::bigint, w.a, w.b FROM wanted w ` +
      `ON CONFLICT DO NOTHING RETURNING l.${from} AS id) SELECT id FROM removed UNION SELECT id FROM added`,
    [
      organization.id,
      bigints(rows.map((row) => row.id)),
      bigints(pairs.map(([id]) => id)),
      bigints(pairs.map(([, target]) => target))
    ]
  )
})

/** Sets a reference of entities to that of the file; returns the entities that it changed. */
export const writeReference = Effect.fnUntraced(function* (
  { organization, sql, type }: Destination,
  storage: Extract<Storage, { readonly _tag: "One" }>,
  ids: ReadonlyArray<bigint>,
  targets: ReadonlyArray<bigint | null>
) {
  const column = identifier(storage.column)
  return yield* sql.unsafe<{ id: bigint }>(
    `/* max import */ UPDATE ${qualified(type.relation)} t SET ${column} = u.target FROM unnest($2::bigint[], $3::bigint[]) AS u(id, target) ` +
      `WHERE t.organization_id = $1::bigint AND t.id = u.id AND t.${column} IS DISTINCT FROM u.target RETURNING t.id`,
    [organization.id, bigints(ids), bigints(targets)]
  )
})
