/** What a fragment of SQL needs besides its predicate: the catalog, the statement that it becomes part of, and the form of its hops. */
import type { Catalog, Column } from "../../domain/EntityType.ts"
import type { RowContext, ValueContext } from "./rows.ts"
import type { SqlWriter } from "./SqlWriter.ts"

/**
 * The SQL of a hop to related rows. `subplan`: EXISTS, for statements that an equality narrows. `probe`: EXISTS that looks
 * up each of a few rows by id; without it Postgres collects all related rows first when a value looks common. `array`:
 * collects the related ids once, so that indexes can be combined over many rows. `set`: IN, which hashes the related ids
 * once, for statements that read all rows.
 */
export type Hops = "subplan" | "probe" | "array" | "set"

export interface FragmentContext extends RowContext, ValueContext {
  readonly hops: Hops
  /** The links of a row that isn't written yet, as a FROM item without an alias; not with the hops `array`. */
  readonly links?: (relation: Column, alias: string) => string | undefined
}

/** The context of a statement over one organization's rows; the organization's id is its first parameter. */
export const fragmentContext = (catalog: Catalog, writer: SqlWriter, hops: Hops): FragmentContext => {
  let timeZone: string | undefined
  return {
    catalog,
    writer,
    organization: writer.bind(catalog.organization.id, "bigint"),
    hops,
    timeZone: () => (timeZone ??= writer.bind(catalog.organization.timeZone, "text"))
  }
}
