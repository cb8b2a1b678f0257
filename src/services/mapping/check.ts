/** A mapping held against the database as it is: the type that it comes to, or what stands in the way and what mends it. Pure. */
import {
  type Catalog,
  type Column,
  DISPLAY_NAME,
  type EntityType,
  type Mapping,
  PEOPLE,
  type Source,
  type SourceType,
  STATUS,
  Storage,
  typeBySlug
} from "../../domain/EntityType.ts"
import { encodeId, nextId } from "../../domain/ids.ts"
import { isReservedSlug, isSlug, labelFrom } from "../../domain/names.ts"
import { closest, printable, quoted } from "../../domain/text.ts"
import { parseId } from "../../domain/values.ts"
import type { ColumnFacts, Facts, RelationFacts } from "./facts.ts"
import type { ColumnEntry, MappedKind, TypeEntry } from "./file.ts"
import { keyAdvice, written } from "./propose.ts"
import { nameOf, pluralNameOf } from "./words.ts"

/** What the organization's history says of a type: names that it has had mean the same for ever. */
export interface History {
  readonly typeKey: string
  readonly version: number
  readonly position: number | null
  /** Slugs that columns have had, with their keys and what they were read from. */
  readonly columns: ReadonlyMap<string, { readonly key: string; readonly from: string | undefined }>
  /** Rows of the organization in a table of Max's. */
  readonly rows: boolean
}

export interface Checked {
  readonly entry: TypeEntry
  readonly relation: RelationFacts
  readonly type: EntityType
  readonly position: number | null
  /** What isn't wrong, and could be better. */
  readonly advice: ReadonlyArray<string>
}

export interface CheckContext {
  readonly facts: Facts
  readonly entries: ReadonlyArray<TypeEntry>
  readonly catalog: Catalog
  readonly history: ReadonlyMap<string, History>
}

/** The kinds that what the database has can be read as. */
const FITS: Readonly<Record<SourceType, ReadonlyArray<MappedKind>>> = {
  text: ["text", "phone", "email"],
  other: ["text"],
  integer: ["integer", "number", "text"],
  numeric: ["number", "text"],
  float: ["number"],
  money: ["number"],
  boolean: ["boolean", "text"],
  date: ["date"],
  timestamp: ["timestamp", "date"],
  timestamptz: ["timestamp"],
  list: ["list"]
}

const MAX_TYPE_COLUMNS = 200
/** From so many rows on a search without an index is slow. */
const ADVISE_FROM = 10_000

export const checkEntry = (entry: TypeEntry, context: CheckContext): Checked | ReadonlyArray<string> => {
  const faults: Array<string> = []
  const { catalog, facts, history } = context
  const at = printable(entry.type)
  const fault = (text: string) => void faults.push(`${at}: ${text}`)
  const relation = facts.relations.find(({ name }) => name === entry.table)
  if (!isSlug(entry.type) || isReservedSlug(entry.type)) {
    return [
      `${at}: a type's name is lower-case letters, digits and _, beginning with a letter, such as purchase_orders.`
    ]
  }
  if (relation === undefined) {
    const near = closest(
      entry.table,
      facts.relations.map(({ name }) => name)
    )
    return [
      `${at}: there is no table or view ${quoted(entry.table)}.${near === undefined ? "" : ` Did you mean ${near}?`}`
    ]
  }
  const column = (name: string, what: string): ColumnFacts | undefined => {
    const found = relation.columns.find((one) => one.name === name)
    if (found !== undefined) return found
    const near = closest(
      name,
      relation.columns.map((one) => one.name)
    )
    fault(
      `${what}: ${relation.name} has no column ${quoted(name)}.${near === undefined ? "" : ` Did you mean ${near}?`}`
    )
    return undefined
  }
  const former = typeBySlug(catalog, entry.type)
  const past = history.get(entry.type)!
  if (!facts.folds) fault(`the database's encoding isn't UTF-8, and text can't be searched in any other.`)
  if (past.rows === true) {
    fault(
      `${former?.pluralName ?? entry.type} of Max's own are there already. Give the table another type: "type": "${singularHint(entry.type)}"`
    )
  }
  if (relation.rowSecurity) {
    fault(
      `row security is on, and hides rows without a word. CREATE POLICY max_read ON ${written(relation)} FOR SELECT TO max_read USING (true), with the role that max map names below.`
    )
  }
  for (const name of relation.untrusted) {
    fault(
      `${name} runs whatever its owner makes of it, with Max's rights. ALTER ${name.startsWith("the view") ? "VIEW" : "FUNCTION"} … OWNER TO the database's owner.`
    )
  }

  const id = column(entry.id, "id")
  const unique =
    relation.kind === "view" ? false : relation.unique.some((set) => set.length === 1 && set[0] === entry.id)
  if (id !== undefined && id.idType === undefined) {
    fault(`${quoted(entry.id)} is ${id.typeName}; an id is an integer, a uuid or text.`)
  }
  if (id !== undefined && !id.deterministic) fault(collation(id, relation))
  if (id !== undefined && relation.kind !== "view" && (!unique || (!id.notNull && relation.kind === "table"))) {
    fault(`nothing proves that ${quoted(entry.id)} names one row. ${keyAdvice(relation)}`)
  }

  const organization = organizationOf(entry, relation, catalog, fault, column)
  const where = Object.entries(entry.where ?? {}).flatMap(([name, is]) => {
    const found = column(name, "where")
    if (found !== undefined && typeof is === "boolean" && found.type !== "boolean") {
      fault(`where: ${quoted(name)} is ${found.typeName}, not true or false.`)
    }
    return found === undefined ? [] : [{ column: name, is }]
  })

  const system = catalog.types.find((type) => type.system && type.slug === entry.type)
  const columns: Array<Column> = []
  const entries = Object.entries(entry.columns)
  if (!entries.some(([slug]) => slug === DISPLAY_NAME))
    fault(`every row is called something. Say which column: "name": { "from": "…" }`)
  if (entries.length > MAX_TYPE_COLUMNS)
    fault(`it has ${entries.length} columns; a type has at most ${MAX_TYPE_COLUMNS}.`)
  const ordered = [...entries].sort(([a], [b]) => rank(a) - rank(b))
  for (const [slug, one] of ordered) {
    const what = printable(slug)
    if (!isSlug(slug) || isReservedSlug(slug)) {
      fault(
        `a column can't be called ${quoted(slug)}: ${isReservedSlug(slug) ? "that word means something else in policies and filters" : "its name is lower-case letters, digits and _, beginning with a letter"}.`
      )
      continue
    }
    const read =
      one.to === undefined
        ? valueOf(slug, one, relation, fault, column)
        : relationOf(slug, one, entry, relation, context, fault, column)
    if (read === undefined) continue
    const meant = system?.columns.find((known) => known.slug === slug)
    if (meant !== undefined && meant.kind !== read.kind) {
      fault(
        `${what}: ${system!.pluralName} have a column of that name, which is a ${meant.kind}. Give this one another.`
      )
      continue
    }
    const from = JSON.stringify(one.from)
    const known = past.columns.get(slug)
    const inForce = former?.columns.some((current) => current.slug === slug) === true
    if (known !== undefined && !inForce && meant === undefined && known.from !== from) {
      fault(`${what}: there was another column of that name once. Give this one another.`)
      continue
    }
    const wanted =
      meant?.key ??
      known?.key ??
      (slug === DISPLAY_NAME || slug === STATUS ? slug : contactKey(read.kind, entry, entries))
    const key =
      wanted === undefined || columns.some((other) => other.key === wanted) ? `c_${encodeId(nextId())}` : wanted
    columns.push({ key, slug, name: labelFrom(one.label ?? slug) || slug, ...read })
  }
  if (faults.length > 0 || id?.idType === undefined) return faults

  const mapping: Mapping = {
    id: { column: entry.id, type: id.idType },
    ...(organization === undefined ? {} : { organization }),
    where,
    unique
  }
  return {
    entry,
    relation,
    position: past.position,
    type: {
      key: past.typeKey,
      slug: entry.type,
      name: labelFrom(entry.name ?? nameOf(entry.type)),
      pluralName: labelFrom(entry.pluralName ?? pluralNameOf(entry.type)),
      system: system !== undefined,
      version: past.version + 1,
      relation: { schema: relation.schema, table: relation.table },
      columns,
      mapping
    },
    advice: relation.rows >= ADVISE_FROM ? indexAdvice(relation, columns, mapping) : []
  }
}

/** The name and the status first: results show them so. */
const rank = (slug: string): number => (slug === DISPLAY_NAME ? 0 : slug === STATUS ? 1 : 2)

/** People are known by one phone and one e-mail address, whatever those columns are called. */
const contactKey = (
  kind: Column["kind"],
  { type }: TypeEntry,
  entries: ReadonlyArray<readonly [string, ColumnEntry]>
): string | undefined =>
  type === PEOPLE && (kind === "phone" || kind === "email") && !entries.some(([slug]) => slug === kind)
    ? kind
    : undefined

const singularHint = (slug: string): string => `${slug}_table`

const collation = (column: ColumnFacts, relation: RelationFacts): string =>
  `${quoted(column.name)} has a collation under which different texts are equal. Map a view: SELECT ${printable(column.name)} COLLATE "C", … FROM ${written(relation)}`

type Fault = (text: string) => void
type FindColumn = (name: string, what: string) => ColumnFacts | undefined

const organizationOf = (
  entry: TypeEntry,
  relation: RelationFacts,
  { organization }: Catalog,
  fault: Fault,
  column: FindColumn
): Mapping["organization"] => {
  if (entry.exclusive === true) {
    if (entry.organization !== undefined) fault(`it is exclusive and has an organization column: only one can be.`)
    return undefined
  }
  if (entry.organization === undefined) {
    fault(
      `say how rows belong to the organization: "organization": "COLUMN", or "exclusive": true when all of ${relation.name} is this organization's alone (max map --exclusive).`
    )
    return undefined
  }
  const found = column(entry.organization, "organization")
  if (found === undefined) return undefined
  if (found.idType === undefined || !found.deterministic) {
    fault(`${quoted(entry.organization)} is ${found.typeName}; an organization's key is an integer, a uuid or text.`)
    return undefined
  }
  if (parseId(organization.externalKey ?? "", found.idType) === undefined) {
    fault(
      organization.externalKey === undefined
        ? `the organization has no key to be found by in ${quoted(entry.organization)}. Give it one: max org key KEY`
        : `the organization's key ${quoted(organization.externalKey)} can't be a ${found.typeName}. Give it another: max org key KEY`
    )
  }
  return { column: entry.organization, type: found.idType }
}

type Read = Pick<Column, "kind" | "storage" | "values">

const valueOf = (
  slug: string,
  entry: ColumnEntry,
  relation: RelationFacts,
  fault: Fault,
  column: FindColumn
): Read | undefined => {
  const names = typeof entry.from === "string" ? [entry.from] : entry.from
  const found = names.flatMap((name) => column(name, slug) ?? [])
  if (found.length < names.length) return undefined
  const [first] = found
  if (first === undefined) return void fault(`${slug}: "from" names no column.`)
  for (const one of found) {
    if (one.type === undefined || (one.type === "list" && found.length > 1)) {
      return void fault(
        `${slug}: ${quoted(one.name)} is ${one.typeName}, which isn't read. A view can cast it: SELECT …, ${printable(one.name)}::text FROM ${written(relation)}`
      )
    }
    if (!one.deterministic) return void fault(`${slug}: ${collation(one, relation)}`)
  }
  const type = found.length > 1 ? "text" : first.type!
  const kind = entry.kind ?? FITS[type][0]!
  if (!FITS[type].includes(kind) || (found.length > 1 && kind !== "text")) {
    return void fault(
      `${slug}: ${quoted(first.name)} is ${first.typeName} and can be: ${found.length > 1 ? "text" : FITS[type].join(", ")}.`
    )
  }
  if ((slug === DISPLAY_NAME || slug === STATUS) && kind !== "text")
    return void fault(`${slug}: this is shown as text: "kind": "text".`)
  if (entry.currency !== undefined) {
    if (kind !== "number") return void fault(`${slug}: only numbers have a currency.`)
    if (column(entry.currency, `${slug}, currency`) === undefined) return undefined
  }
  if (entry.timeZone !== undefined && !isTimeZone(entry.timeZone))
    return void fault(`${slug}: ${quoted(entry.timeZone)} isn't a time zone such as UTC or Europe/Berlin.`)
  if (type === "timestamp" && kind === "timestamp" && entry.timeZone === undefined) {
    return void fault(`${slug}: ${quoted(first.name)} has times without a zone. Say which is meant: "timeZone": "UTC"`)
  }
  const source: Source = {
    columns: names,
    type,
    ...(entry.timeZone === undefined ? {} : { timeZone: entry.timeZone }),
    ...(entry.currency === undefined ? {} : { currency: entry.currency })
  }
  return {
    kind,
    // Its beginning is searched too, with an index or without: people are asked for by it.
    storage: Storage.Value({ column: names[0]!, source, ...(slug === DISPLAY_NAME ? { indexed: true } : {}) }),
    ...(entry.values === undefined || (kind !== "text" && kind !== "list") ? {} : { values: entry.values })
  }
}

const relationOf = (
  slug: string,
  entry: ColumnEntry,
  own: TypeEntry,
  relation: RelationFacts,
  { catalog, entries, facts, history }: CheckContext,
  fault: Fault,
  column: FindColumn
): Read | undefined => {
  const target = entries.find(({ table }) => table === entry.to)
  const known = catalog.types.find(
    (type) => type.mapping !== undefined && `${type.relation.schema}.${type.relation.table}` === entry.to
  )
  const targetFacts = facts.relations.find(({ name }) => name === entry.to)
  const targetId = target?.id ?? known?.mapping?.id.column
  const ids = targetFacts?.columns.find(({ name }) => name === targetId)?.idType
  if (targetFacts === undefined || (target === undefined && known === undefined) || ids === undefined) {
    return void fault(`${slug}: ${quoted(entry.to!)} isn't mapped. Put it into the file, or leave the column out.`)
  }
  const key = target === undefined ? known!.key : history.get(target.type)!.typeKey
  if (typeof entry.from !== "string") return void fault(`${slug}: a reference is one column.`)
  if (entry.through === undefined) {
    const found = column(entry.from, slug)
    if (found === undefined) return undefined
    if (found.idType !== ids)
      return void fault(`${slug}: ${quoted(entry.from)} is ${found.typeName}, and the ids of ${entry.to} aren't.`)
    return { kind: "reference", storage: Storage.One({ column: entry.from, target: key }) }
  }
  const link = facts.relations.find(({ name }) => name === entry.through)
  const ends = [entry.from, entry.via ?? ""].map((name) => link?.columns.find((one) => one.name === name))
  const ownId = relation.columns.find(({ name }) => name === own.id)?.idType
  if (link === undefined || ends[0] === undefined || ends[1] === undefined) {
    return void fault(
      `${slug}: "through" is a link table, "from" its column that leads here and "via" the one that leads to ${printable(entry.to!)}.`
    )
  }
  if (link.kind === "view" && link.untrusted.length > 0)
    return void fault(`${slug}: ${link.untrusted[0]!} isn't trusted.`)
  if (ends[0].idType !== ownId || ends[1].idType !== ids)
    return void fault(`${slug}: the columns of ${link.name} aren't ids of both sides.`)
  return {
    kind: "references",
    storage: Storage.Many({
      link: { schema: link.schema, table: link.table },
      from: entry.from,
      to: entry.via!,
      target: key,
      mapped: true
    })
  }
}

const isTimeZone = (name: string): boolean => {
  try {
    return (
      /^[A-Za-z_]+(\/[A-Za-z0-9_+-]+)*$/.test(name) && new Intl.DateTimeFormat("en", { timeZone: name }) !== undefined
    )
  } catch {
    return false
  }
}

const KEYED: Readonly<Record<string, string>> = { text: "fold_text", email: "fold_email", phone: "fold_phone" }

/** The indexes by which names, phones and e-mail addresses of a large table are found in time. */
const indexAdvice = (
  relation: RelationFacts,
  columns: ReadonlyArray<Column>,
  { organization }: Mapping
): ReadonlyArray<string> => {
  if (relation.kind === "view") return []
  return columns.flatMap((column) => {
    const { kind, slug, storage } = column
    const fold = KEYED[kind]
    if (fold === undefined || storage._tag !== "Value" || storage.source === undefined) return []
    if (kind === "text" && (slug !== DISPLAY_NAME || storage.source.type !== "text")) return []
    const expression = `max.${fold}(${indexed(storage.source)})`
    const lead = organization === undefined ? "" : `${quote(organization.column)}, `
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
        : [`CREATE INDEX CONCURRENTLY ON ${written(relation)} (${lead}(${expression} COLLATE "C"));`]),
      ...(kind !== "text" || have("gin")
        ? []
        : [
            `CREATE INDEX CONCURRENTLY ON ${written(relation)} USING gin ((${expression} COLLATE "C") max.gin_trgm_ops);`
          ])
    ]
  })
}

const quote = (name: string): string => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll(`"`, `""`)}"`)

const indexed = ({ columns }: Source): string => {
  const [first, ...others] = columns.map((name) => quote(name))
  return others.length === 0
    ? `${first}::text`
    : `NULLIF(${others.reduce((text, next) => `btrim(${text} || ' ' || coalesce(${next}::text, ''))`, `coalesce(${first}::text, '')`)}, '')`
}

export const isFaults = (checked: Checked | ReadonlyArray<string>): checked is ReadonlyArray<string> =>
  Array.isArray(checked)
