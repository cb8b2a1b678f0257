/** The statements that solve a mapping's problems, for a person to run. Pure. */
import { type Column, DISPLAY_NAME, type Mapping, type Source } from "../../domain/EntityType.ts"
import { printable, quoted } from "../../domain/text.ts"
import type { ColumnFacts, RelationFacts } from "./tableFacts.ts"
import { words } from "./inflection.ts"

export const quotedName = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll(`"`, `""`)}"`
export const sqlName = ({ schema, table }: { readonly schema: string; readonly table: string }): string =>
  `${quotedName(schema)}.${quotedName(table)}`

/** The statement that adds a key to a relation. */
export const keyAdvice = (relation: RelationFacts): string => {
  // A single key of another type, such as a date or a number with decimals, or under another collation, is cast to text.
  const key =
    relation.primaryKey.length > 0
      ? relation.primaryKey
      : (relation.unique.find(({ length }) => length > 1) ?? relation.unique.find((set) => !isUsable(set, relation)))
  if (relation.kind === "view") return `A view needs a column that identifies each row, such as id.`
  if (key === undefined) {
    const id = quotedName(
      (relation.columns.find(({ name }) => words(name) === "id") ?? relation.columns[0])?.name ?? "id"
    )
    const index = `If ${id} is unique: CREATE UNIQUE INDEX CONCURRENTLY ON ${sqlName(relation)} (${id});`
    return relation.kind === "table" ? `${index} ALTER TABLE ${sqlName(relation)} ALTER ${id} SET NOT NULL;` : index
  }
  const parts = key.map((column) => `${quotedName(column)}::text`).join(" || '-' || ")
  const nondeterministic = relation.columns.some(({ deterministic, name }) => key.includes(name) && !deterministic)
  const id = nondeterministic ? `(${parts}) COLLATE "C"` : parts
  // A view can't have two columns of one name.
  const rest = relation.columns.some(({ name }) => name === "id")
    ? relation.columns.map(({ name }) => (name === "id" ? "id AS own_id" : quotedName(name))).join(", ")
    : "*"
  return `Map a view: CREATE VIEW ${sqlName(keyedView(relation))} AS SELECT ${id} AS id, ${rest} FROM ${sqlName(relation)};`
}

/** The view that the advice about a relation's key creates. */
export const keyedView = ({ schema, table }: { readonly schema: string; readonly table: string }) => ({
  schema,
  table: `${table}_keyed`
})

const isUsable = (columns: ReadonlyArray<string>, relation: RelationFacts): boolean =>
  columns.every((name) => {
    const column = relation.columns.find((each) => each.name === name)
    return column?.idType !== undefined && column.deterministic
  })

export const collation = (column: ColumnFacts, relation: RelationFacts): string =>
  `${quoted(column.name)} has a collation under which different texts are equal. Map a view: SELECT ${printable(column.name)} COLLATE "C", … FROM ${sqlName(relation)}`

/** The number of rows from which a search without an index is slow. */
const ADVISE_FROM = 10_000

const KEYED: Readonly<Record<string, string>> = { text: "fold_text", email: "fold_email", phone: "fold_phone" }

/** The missing indexes on names, phone numbers and e-mail addresses of a large table, and an ANALYZE for their statistics. */
export const indexAdvice = (
  relation: RelationFacts,
  columns: ReadonlyArray<Column>,
  { organization }: Mapping
): ReadonlyArray<string> => {
  if (relation.kind === "view" || relation.rows < ADVISE_FROM) return []
  const missing = columns.flatMap((column) => {
    const { kind, slug, storage } = column
    const fold = KEYED[kind]
    if (fold === undefined || storage._tag !== "Value" || storage.source === undefined) return []
    if (kind === "text" && (slug !== DISPLAY_NAME || storage.source.type !== "text")) return []
    const expression = `max.${fold}(${indexed(storage.source)})`
    const lead = organization === undefined ? "" : `${quotedName(organization.column)}, `
    const have = (method: string) =>
      relation.indexes.some(
        (definition) =>
          definition.includes(`USING ${method}`) &&
          definition.includes(`max.${fold}`) &&
          storage.source!.columns.every((name) => definition.includes(name))
      )
    return [
      ...(have("btree")
        ? []
        : [`CREATE INDEX CONCURRENTLY ON ${sqlName(relation)} (${lead}(${expression} COLLATE "C"));`]),
      ...(kind !== "text" || have("gin")
        ? []
        : [
            `CREATE INDEX CONCURRENTLY ON ${sqlName(relation)} USING gin ((${expression} COLLATE "C") max.gin_trgm_ops);`
          ])
    ]
  })
  // Until then Postgres has no statistics of the expression and doesn't choose the index.
  return missing.length === 0 ? [] : [...missing, `ANALYZE ${sqlName(relation)};`]
}

const indexed = ({ columns }: Source): string => {
  const [first, ...others] = columns.map((name) => quotedName(name))
  return others.length === 0
    ? `${first}::text`
    : `NULLIF(${others.reduce((text, next) => `btrim(${text} || ' ' || coalesce(${next}::text, ''))`, `coalesce(${first}::text, '')`)}, '')`
}
