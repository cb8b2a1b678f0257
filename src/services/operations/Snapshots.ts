/** All managed rows of an organization and their differences, without a plan; only `max eval` uses it. */
import { Context, Effect, Layer } from "effect"
import { Database } from "../../database/Database.ts"
import { runWithin } from "../../database/execute.ts"
import { identifier, qualified } from "../../database/sql/SqlWriter.ts"
import type { Column, Organization } from "../../domain/EntityType.ts"
import type { NotAdmitted, Unavailable } from "../../domain/errors.ts"
import { OrganizationState } from "../catalog/OrganizationState.ts"

/** A cell's text, or the ids that it leads to. */
type Cell = string | null | ReadonlyArray<string>

interface Row {
  readonly type: string
  /** The external id; the own id if there is none. */
  readonly name: string
  readonly cells: Readonly<Record<string, Cell>>
}

/** Rows by type and id. */
export type Snapshot = ReadonlyMap<string, Row>

/** A difference between two snapshots, as an action that would make it. */
export interface Difference {
  readonly action: string
  readonly id?: string
  readonly values: Readonly<Record<string, string | ReadonlyArray<string>>>
}

export class Snapshots extends Context.Service<
  Snapshots,
  {
    /** Every managed row. References are external ids, and times are in the organization's time zone. */
    readonly of: (organization: Organization) => Effect.Effect<Snapshot, NotAdmitted | Unavailable>
  }
>()("max/services/Snapshots") {
  static readonly layer = Layer.effect(
    Snapshots,
    Effect.gen(function* () {
      const { search } = yield* Database
      const states = yield* OrganizationState
      return Snapshots.of({
        of: Effect.fn("Snapshots.of")(function* (organization) {
          const { state } = yield* states.read(organization.id, { by: "none" })
          const types = state.catalog.types.filter(({ mapping }) => mapping === undefined)
          const read = <A extends object>(text: string, ...more: ReadonlyArray<string>) =>
            runWithin<A>(search, organization.id, {
              text: `/* max snapshot */ ${text}`,
              parameters: [organization.id, ...more]
            })
          const tables = yield* Effect.forEach(types, (type) =>
            read<{ id: string; name: string; cells: ReadonlyArray<string | null> }>(
              `SELECT p.id::text AS id, coalesce(p.external_id, p.id::text) AS name, ` +
                `ARRAY[${["$2::text", ...type.columns.flatMap(expression)].join(", ")}]::text[] AS cells ` +
                `FROM ${qualified(type.relation)} p WHERE p.organization_id = $1::bigint`,
              organization.timeZone
            )
          )
          const names = new Map(tables.flat().map(({ id, name }) => [id, name]))
          const rows = new Map<string, Row>()
          for (const [index, type] of types.entries()) {
            const links = yield* Effect.forEach(type.columns, (column) =>
              column.storage._tag === "Many"
                ? Effect.map(
                    read<{ id: string; targets: ReadonlyArray<string> }>(
                      `SELECT l.${identifier(column.storage.from)}::text AS id, array_agg(l.${identifier(column.storage.to)}::text) AS targets ` +
                        `FROM ${qualified(column.storage.link)} l WHERE l.organization_id = $1::bigint GROUP BY 1`
                    ),
                    (found) => new Map(found.map(({ id, targets }) => [id, targets]))
                  )
                : Effect.succeed(undefined)
            )
            for (const { cells, id, name } of tables[index]!) {
              let at = 0
              const own = type.columns.map(({ slug, storage }, column): [string, Cell] => {
                if (storage._tag === "Many")
                  return [slug, (links[column]?.get(id) ?? []).map((target) => names.get(target) ?? target).sort()]
                const text = cells[++at] ?? null
                return [slug, storage._tag === "One" && text !== null ? (names.get(text) ?? text) : text]
              })
              rows.set(`${type.slug}/${id}`, { type: type.slug, name, cells: Object.fromEntries(own) })
            }
          }
          return rows
        })
      })
    })
  )
}

/** The expression of a column's text; none for links, which have a table of their own. */
const expression = ({ kind, storage }: Column): ReadonlyArray<string> => {
  if (storage._tag === "Many") return []
  const column = `p.${identifier(storage.column)}`
  return [kind === "timestamp" ? `to_char(timezone($2::text, ${column}), 'YYYY-MM-DD HH24:MI:SS')` : `${column}::text`]
}

const present = (cell: Cell | undefined): cell is string | ReadonlyArray<string> =>
  cell !== undefined && cell !== null && cell.length > 0

/** The differences between two snapshots, in no particular order. */
export const differences = (before: Snapshot, after: Snapshot): ReadonlyArray<Difference> => [
  ...[...after].flatMap(([key, row]): ReadonlyArray<Difference> => {
    const old = before.get(key)
    const changed = Object.entries(row.cells).filter(
      ([slug, cell]) => JSON.stringify(cell) !== JSON.stringify(old?.cells[slug] ?? null)
    )
    if (old === undefined) {
      const values = Object.fromEntries(changed.filter(([, cell]) => present(cell))) as Difference["values"]
      return [{ action: `${row.type}.create`, values }]
    }
    const values = Object.fromEntries(changed.map(([slug, cell]) => [slug, cell ?? ""]))
    return changed.length === 0 ? [] : [{ action: `${row.type}.update`, id: row.name, values }]
  }),
  ...[...before].flatMap(([key, row]): ReadonlyArray<Difference> =>
    after.has(key) ? [] : [{ action: `${row.type}.delete`, id: row.name, values: {} }]
  )
]
