/** The statements that solve a mapping's problems, for a person to run. Pure. */
import { type Column, DISPLAY_NAME, type Mapping, type Source } from "../../domain/EntityType.ts"
import { printable, quoted } from "../../domain/text.ts"
import type { ColumnFacts, RelationFacts } from "./tableFacts.ts"
import { words } from "./inflection.ts"

/** What Postgres doesn't read as the name of a column without quotes. */
const RESERVED = new Set(
  (
    "all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both case cast char " +
    "character check coalesce collate collation column concurrently constraint create cross current_catalog current_date " +
    "current_role current_schema current_time current_timestamp current_user dec decimal default deferrable desc distinct do " +
    "else end except exists extract false fetch float for foreign freeze from full grant greatest group grouping having ilike " +
    "in initially inner inout int integer intersect interval into is isnull join lateral leading least left like limit " +
    "localtime localtimestamp national natural nchar none normalize not notnull null nullif numeric offset on only or order " +
    "out outer overlaps overlay placing position precision primary real references returning right row select session_user " +
    "setof similar smallint some substring symmetric system_user table tablesample then time timestamp to trailing treat trim " +
    "true union unique user using values varchar variadic verbose when where window with"
  ).split(" ")
)

export const quotedName = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED.has(name) ? name : `"${name.replaceAll(`"`, `""`)}"`
export const sqlName = ({ schema, table }: { readonly schema: string; readonly table: string }): string =>
  `${quotedName(schema)}.${quotedName(table)}`

/** The statement that adds a key to a relation. */
export const keyAdvice = (relation: RelationFacts): string => {
  // A single key of another type, such as a date or a number with decimals, or under another collation, is cast to text.
  const key =
    relation.primaryKey.length > 0
      ? relation.primaryKey
      : (relation.unique.find((set) => set.length === 1 && isUsable(set, relation)) ??
        relation.unique.find(({ length }) => length > 1) ??
        relation.unique.find((set) => !isUsable(set, relation)))
  if (relation.kind === "view") return `A view needs a column that identifies each row, such as id.`
  if (key === undefined) {
    const id = quotedName(
      (relation.columns.find(({ name }) => words(name) === "id") ?? relation.columns[0])?.name ?? "id"
    )
    const index = `If ${id} is unique: CREATE UNIQUE INDEX CONCURRENTLY ON ${sqlName(relation)} (${id});`
    return relation.kind === "table" ? `${index} ALTER TABLE ${sqlName(relation)} ALTER ${id} SET NOT NULL;` : index
  }
  const [only] = key
  if (relation.kind === "table" && key.length === 1 && isUsable(key, relation))
    return `Its unique ${quotedName(only!)} may be empty: ALTER TABLE ${sqlName(relation)} ALTER ${quotedName(only!)} SET NOT NULL;`
  const text = key.map((column) => `${quotedName(column)}::text`).join(" || '-' || ")
  // What is held back isn't shown as an id either.
  const isHeldBack = key.some((column) => !relation.columns.some(({ name }) => name === column))
  const parts = isHeldBack ? `encode(sha256(convert_to(${text}, 'UTF8')), 'hex')` : text
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

/** The most columns of an index. */
const MAX_INDEXED = 32

/** The missing indexes on the texts, phone numbers and e-mail addresses of a large table, and an ANALYZE for their statistics. */
export const indexAdvice = (
  relation: RelationFacts,
  columns: ReadonlyArray<Column>,
  { organization }: Mapping
): ReadonlyArray<string> => {
  if (relation.kind === "view" || relation.rows < ADVISE_FROM) return []
  const lead = organization === undefined ? "" : `${quotedName(organization.column)}, `
  const missing: Array<string> = []
  const parts: Array<string> = []
  for (const { kind, slug, storage, values } of columns) {
    const fold = KEYED[kind]
    if (fold === undefined || storage._tag !== "Value" || storage.source === undefined) continue
    if (kind === "text" && (values !== undefined || storage.source.type !== "text")) continue
    const { source } = storage
    const expression = `(max.${fold}(${indexed(source)}) COLLATE "C")`
    const has = (method: string) => relation.indexes.some((index) => covers(index, method, fold, source.columns))
    const isName = slug === DISPLAY_NAME
    if ((kind !== "text" || isName) && !has("btree"))
      missing.push(`CREATE INDEX CONCURRENTLY ON ${sqlName(relation)} (${lead}${expression});`)
    // Trigrams serve equality as well as parts of a text.
    if (kind === "text" && !has("gin") && (isName || !has("btree"))) parts.push(`${expression} max.gin_trgm_ops`)
  }
  for (let from = 0; from < parts.length; from += MAX_INDEXED)
    missing.push(
      `CREATE INDEX CONCURRENTLY ON ${sqlName(relation)} USING gin (${parts.slice(from, from + MAX_INDEXED).join(", ")});`
    )
  // Until then Postgres has no statistics of the expression and doesn't choose the index.
  return missing.length === 0 ? [] : [...missing, `ANALYZE ${sqlName(relation)};`]
}

const NAMES = /"(?:[^"]|"")+"|[\p{L}_][\p{L}\p{N}_$]*/gu

/** Whether the definition of an index has the search key of these columns. */
const covers = (index: string, method: string, fold: string, columns: ReadonlyArray<string>): boolean => {
  if (!index.includes(` USING ${method} `) || !index.includes(`max.${fold}(`)) return false
  const names = new Set(index.match(NAMES))
  return columns.every((name) => names.has(name) || names.has(`"${name.replaceAll(`"`, `""`)}"`))
}

const indexed = ({ columns }: Source): string => {
  const [first, ...others] = columns.map((name) => quotedName(name))
  return others.length === 0
    ? `${first}::text`
    : `NULLIF(${others.reduce((text, next) => `btrim(${text} || ' ' || coalesce(${next}::text, ''))`, `coalesce(${first}::text, '')`)}, '')`
}
