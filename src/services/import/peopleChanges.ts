/**
 * Cells that people have changed here and that still are as the last change left them. A file comes from elsewhere and wins,
 * but an import says how many of these cells it overwrites, or leaves them.
 */
import { Effect } from "effect"
import { identifier, qualified } from "../../database/sql/SqlWriter.ts"
import type { Column } from "../../domain/EntityType.ts"
import type { Fields } from "./bindFields.ts"
import type { Difference } from "./Diff.ts"
import { type Destination, type KeptCell, singleReferences, texts } from "./statements.ts"

/** Keys of columns by the row's id in the file. */
type ChangedCells = Map<string, Set<string>>

/** What an import has met of these cells so far. */
export interface Meeting {
  /** The cells that people have changed here; undefined if they have changed no row of the type. */
  readonly changed: ChangedCells | undefined
  /** Cells of those that the import overwrites or leaves: their rows and columns. */
  readonly met: Set<string>
  /** Whether it leaves them. */
  readonly keepChanges: boolean
}

/** Whether people have changed any row of the type. */
export const anyChanges = ({ organization, sql, type }: Pick<Destination, "organization" | "sql" | "type">) =>
  Effect.map(
    sql.unsafe("SELECT 1 FROM max.change_steps WHERE organization_id = $1::bigint AND type_key = $2::text LIMIT 1", [
      organization.id,
      type.key
    ]),
    (rows) => rows.length > 0
  )

/** The stored text of a cell as documents of changes have it; undefined for links, which have a table of their own. */
const storedText = ({ kind, storage }: Column): string | undefined =>
  storage._tag === "Many"
    ? undefined
    : kind === "timestamp"
      ? `to_char(t.${identifier(storage.column)} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
      : `t.${identifier(storage.column)}::text`

/** Adds the changed cells of rows, in the columns that the file has. */
export const addChangedCells = Effect.fnUntraced(function* (
  { fields, organization, sql, type }: Destination,
  externalIds: ReadonlyArray<string | null>,
  cells: ChangedCells
) {
  const columns = columnsOf(fields)
  const rows = yield* sql.unsafe<{
    external_id: string
    columns: ReadonlyArray<string>
    /** NULL after the values have been erased. */
    after: Readonly<Record<string, string | null>> | null
    now: ReadonlyArray<string | null>
  }>(
    `/* max import changed */ SELECT t.external_id, s.columns, c.document::jsonb -> 'steps' -> (s.step - 1) -> 'after' AS after, ` +
      `ARRAY[${columns.map((column) => storedText(column) ?? "NULL").join(", ")}]::text[] AS now ` +
      `FROM ${qualified(type.relation)} t ` +
      `JOIN max.change_steps s ON s.organization_id = t.organization_id AND s.type_key = $2::text AND s.entity_id = t.id::text ` +
      `JOIN max.changes c ON c.organization_id = s.organization_id AND c.change_id = s.change_id ` +
      `WHERE t.organization_id = $1::bigint AND t.external_id = ANY($3::text[]) ORDER BY s.applied_at`,
    [organization.id, type.key, texts(externalIds)]
  )
  for (const { after, columns: changed, external_id, now } of rows) {
    const standing = cells.get(external_id) ?? new Set()
    cells.set(external_id, standing)
    for (const [index, column] of columns.entries()) {
      if (!changed.includes(column.key)) continue
      // Of several changes the last counts: what it left may have been overwritten by a later import.
      const differs = after !== null && storedText(column) !== undefined && (after[column.key] ?? null) !== now[index]
      if (differs) standing.delete(column.key)
      else standing.add(column.key)
    }
  }
})

const columnsOf = (fields: Fields): ReadonlyArray<Column> => [
  ...fields.values.filter(({ physical }) => physical.length > 0).map(({ column }) => column),
  ...fields.references.filter(({ pending }) => !pending).map(({ column }) => column)
]

/** Keys of the columns that an upsert writes, by position: a value's search key has the position after it. */
const keysByPosition = (fields: Fields): ReadonlyArray<string> => [
  ...fields.values.flatMap(({ column, physical }) => physical.map(() => column.key)),
  ...singleReferences(fields).map(({ column }) => column.key)
]

/** Notes the changed cells that a batch would overwrite; returns those that it leaves. */
export const meet = (run: Meeting, fields: Fields, differences: ReadonlyArray<Difference>): ReadonlyArray<KeptCell> => {
  const keys = keysByPosition(fields)
  return differences.flatMap(({ external_id, positions }) =>
    positions.flatMap((position) =>
      meetCell(run, keys[position]!, external_id) && run.keepChanges
        ? keys.flatMap((key, at) => (key === keys[position] ? [{ externalId: external_id, position: at }] : []))
        : []
    )
  )
}

/** Notes a cell if people have changed it here. */
export const meetCell = ({ changed, met }: Meeting, key: string, externalId: string | null | undefined): boolean => {
  if (changed?.get(externalId ?? "")?.has(key) !== true) return false
  met.add(JSON.stringify([externalId, key]))
  return true
}

/** Whether a cell is left because people have changed it here; noted as such. */
export const isKept = (run: Meeting, { key }: Column, externalId: string | null | undefined): boolean =>
  run.keepChanges && meetCell(run, key, externalId)

export const withoutKept = (
  differences: ReadonlyArray<Difference>,
  kept: ReadonlyArray<KeptCell>
): ReadonlyArray<Difference> => {
  const left = new Set(kept.map(({ externalId, position }) => `${position} ${externalId}`))
  return differences.flatMap((difference) => {
    const stay = difference.positions.map((position) => !left.has(`${position} ${difference.external_id}`))
    const of = <A>(all: ReadonlyArray<A>) => all.filter((_, index) => stay[index] === true)
    const [positions, was, now] = [of(difference.positions), of(difference.was), of(difference.now)]
    return positions.length === 0 ? [] : [{ ...difference, positions, was, now }]
  })
}
