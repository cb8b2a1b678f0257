/** A type as a dry run sees it: with pending columns, which it would create and which have no physical column. */
import { type Catalog, type Column, type EntityType, Storage, typeBySlug } from "../../domain/EntityType.ts"
import { labelFrom } from "../../domain/names.ts"
import type { NewColumn } from "../catalog/physicalColumns.ts"

export const withPendingColumns = (
  type: EntityType,
  columns: ReadonlyArray<NewColumn>,
  catalog: Catalog
): EntityType => ({
  ...type,
  columns: [
    ...type.columns,
    ...columns.map(({ kind, name, slug, target }): Column => ({
      key: slug,
      slug,
      name: labelFrom(name),
      kind,
      storage:
        target === undefined
          ? Storage.Value({ column: slug, indexed: kind === "phone" || kind === "email" })
          : Storage.One({ column: slug, target: typeBySlug(catalog, target)?.key ?? "" })
    }))
  ]
})
