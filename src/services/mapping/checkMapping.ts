/** Checks an entry of a mapping against the database: the resulting type, or its problems and their remedies. Pure. */
import { qualified } from "../../database/sql/SqlWriter.ts"
import {
  type Catalog,
  type Column,
  DISPLAY_NAME,
  type EntityType,
  type Mapping,
  nameOfRelation,
  PEOPLE,
  STATUS,
  typeBySlug
} from "../../domain/EntityType.ts"
import { encodeId, nextId } from "../../domain/ids.ts"
import { labelFrom, slugProblem } from "../../domain/names.ts"
import { closest, printable, quoted } from "../../domain/text.ts"
import { parseId } from "../../domain/values.ts"
import { MAX_TYPE_COLUMNS } from "../EntityTypeCatalog.ts"
import { type ColumnFacts, foreignAdvice, type RelationFacts } from "./tableFacts.ts"
import type { ColumnEntry, TypeEntry } from "./mappingFile.ts"
import { collation, indexAdvice, keyAdvice } from "./advice.ts"
import { type CheckContext, type Fault, type FindColumn, relationOf, valueOf } from "./checkColumn.ts"
import { writeOf } from "./checkWrite.ts"
import { nameOf, pluralNameOf } from "./inflection.ts"

export interface Checked {
  readonly entry: TypeEntry
  readonly relation: RelationFacts
  readonly type: EntityType
  readonly position: number | null
  /** Statements that would make lookups faster. */
  readonly advice: ReadonlyArray<string>
}

export const checkEntry = (entry: TypeEntry, context: CheckContext): Checked | ReadonlyArray<string> => {
  const faults: Array<string> = []
  const { catalog, facts, history } = context
  const at = printable(entry.type)
  const fault = (text: string) => void faults.push(`${at}: ${text}`)
  const relation = facts.relations.find(({ name }) => name === entry.table)
  if (slugProblem(entry.type) !== undefined) {
    return [
      `${at}: a type's name is lower-case letters, digits and _, beginning with a letter, such as purchase_orders.`
    ]
  }
  if (relation === undefined && facts.foreign.includes(entry.table)) return [`${at}: ${foreignAdvice(entry.table)}`]
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
    const existing = relation.columns.find((each) => each.name === name)
    if (existing !== undefined) return existing
    const near = closest(
      name,
      relation.columns.map((each) => each.name)
    )
    fault(
      `${what}: ${relation.name} has no column ${quoted(name)}.${near === undefined ? "" : ` Did you mean ${near}?`}`
    )
    return undefined
  }
  const current = typeBySlug(catalog, entry.type)
  const past = history.get(entry.type)!
  if (!facts.folds) fault(`the database's encoding isn't UTF-8; text in another one can't be searched.`)
  if (past.rows === true) {
    fault(
      `Max already has ${current?.pluralName ?? entry.type} of this organization. Give the table another type: "type": "${singularHint(entry.type)}"`
    )
  }
  for (const each of relation.faults) fault(each)

  const id = column(entry.id, "id")
  const unique =
    relation.kind === "view" ? false : relation.unique.some((set) => set.length === 1 && set[0] === entry.id)
  if (id !== undefined && id.idType === undefined) {
    fault(`${quoted(entry.id)} is ${id.typeName}; an id is an integer, a uuid or text.`)
  }
  if (id !== undefined && !id.deterministic) fault(collation(id, relation))
  if (id !== undefined && relation.kind !== "view" && (!unique || (!id.notNull && relation.kind === "table"))) {
    fault(`no unique index proves that ${quoted(entry.id)} identifies one row. ${keyAdvice(relation)}`)
  }

  const organization = organizationOf(entry, relation, catalog, fault, column)
  const where = Object.entries(entry.where ?? {}).flatMap(([name, is]) => {
    const physical = column(name, "where")
    if (physical !== undefined && typeof is === "boolean" && physical.type !== "boolean") {
      fault(`where: ${quoted(name)} is ${physical.typeName}, not true or false.`)
    }
    return physical === undefined ? [] : [{ column: name, is }]
  })

  const system = catalog.types.find((type) => type.system && type.slug === entry.type)
  const columns: Array<Column> = []
  const entries = Object.entries(entry.columns)
  if (!entries.some(([slug]) => slug === DISPLAY_NAME)) fault(`every row needs a name. Add: "name": { "from": "…" }`)
  if (entries.length > MAX_TYPE_COLUMNS)
    fault(`it has ${entries.length} columns; a type has at most ${MAX_TYPE_COLUMNS}.`)
  const ordered = [...entries].sort(([a], [b]) => rank(a) - rank(b))
  for (const [slug, columnEntry] of ordered) {
    const what = printable(slug)
    const problem = slugProblem(slug)
    if (problem !== undefined) {
      fault(`a column can't be called ${quoted(slug)}: ${problem}.`)
      continue
    }
    const read =
      columnEntry.to === undefined
        ? valueOf(slug, columnEntry, relation, fault, column)
        : relationOf(slug, columnEntry, entry, relation, context, fault, column)
    if (read === undefined) continue
    const systemColumn = system?.columns.find((each) => each.slug === slug)
    if (systemColumn !== undefined && systemColumn.kind !== read.kind) {
      fault(
        `${what}: ${system!.pluralName} have a column of that name, which is a ${systemColumn.kind}. Rename this one.`
      )
      continue
    }
    const from = JSON.stringify(columnEntry.from)
    const former = past.columns.get(slug)
    const inForce = current?.columns.some((each) => each.slug === slug) === true
    if (former !== undefined && !inForce && systemColumn === undefined && former.from !== from) {
      fault(`${what}: another column had that name before. Rename this one.`)
      continue
    }
    const wanted =
      systemColumn?.key ??
      former?.key ??
      (slug === DISPLAY_NAME || slug === STATUS ? slug : contactKey(read.kind, entry, entries))
    const key =
      wanted === undefined || columns.some((other) => other.key === wanted) ? `c_${encodeId(nextId())}` : wanted
    columns.push({ key, slug, name: labelFrom(columnEntry.label ?? slug) || slug, ...read })
  }
  const write = entry.write === undefined ? undefined : writeOf(entry, entry.write, relation, columns, facts, fault)
  if (faults.length > 0 || id?.idType === undefined) return faults

  const mapping: Mapping = {
    id: { column: entry.id, type: id.idType },
    ...(organization === undefined ? {} : { organization }),
    where,
    unique,
    ...(write === undefined ? {} : { write }),
    reads: Object.fromEntries(
      [
        relation.name,
        ...columns.flatMap(({ storage }) => (storage._tag === "Many" ? nameOfRelation(storage.link) : [])),
        ...(write?.carried ?? []).map((carried) => nameOfRelation(carried.relation))
      ]
        .flatMap((name) => facts.relations.find((each) => each.name === name) ?? [])
        .map((each) => [qualified(each), each.identity])
    )
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
    advice: indexAdvice(relation, columns, mapping)
  }
}

/** The name and the status come first, as in results. */
const rank = (slug: string): number => (slug === DISPLAY_NAME ? 0 : slug === STATUS ? 1 : 2)

/** People are identified by one phone column and one e-mail column, whatever their names. */
const contactKey = (
  kind: Column["kind"],
  { type }: TypeEntry,
  entries: ReadonlyArray<readonly [string, ColumnEntry]>
): string | undefined =>
  type === PEOPLE && (kind === "phone" || kind === "email") && !entries.some(([slug]) => slug === kind)
    ? kind
    : undefined

const singularHint = (slug: string): string => `${slug}_table`

const organizationOf = (
  entry: TypeEntry,
  relation: RelationFacts,
  { organization }: Catalog,
  fault: Fault,
  column: FindColumn
): Mapping["organization"] => {
  if (entry.exclusive === true) {
    if (entry.organization !== undefined)
      fault(`it is exclusive and has an organization column; give only one of them.`)
    return undefined
  }
  if (entry.organization === undefined) {
    fault(
      `say how rows belong to the organization: "organization": "COLUMN", or "exclusive": true when all rows of ${relation.name} are this organization's (max map --exclusive).`
    )
    return undefined
  }
  const key = column(entry.organization, "organization")
  if (key === undefined) return undefined
  if (key.idType === undefined || !key.deterministic) {
    fault(`${quoted(entry.organization)} is ${key.typeName}; an organization's key is an integer, a uuid or text.`)
    return undefined
  }
  if (parseId(organization.externalKey ?? "", key.idType) === undefined) {
    fault(
      organization.externalKey === undefined
        ? `the organization has no key for ${quoted(entry.organization)}. Set one: max org key KEY`
        : `the organization's key ${quoted(organization.externalKey)} can't be a ${key.typeName}. Set another: max org key KEY`
    )
  }
  return { column: entry.organization, type: key.idType }
}

export const isFaults = (checked: Checked | ReadonlyArray<string>): checked is ReadonlyArray<string> =>
  Array.isArray(checked)
