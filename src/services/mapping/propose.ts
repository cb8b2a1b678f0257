/** Proposes a mapping of tables, for a person to edit. Pure. */
import { type Catalog, PEOPLE } from "../../domain/EntityType.ts"
import { isReservedSlug } from "../../domain/names.ts"
import { printable } from "../../domain/text.ts"
import type { ColumnFacts, Facts, RelationFacts, Samples } from "./tableFacts.ts"
import type { ColumnEntry, MappingFile, TypeEntry } from "./mappingFile.ts"
import { keyAdvice, keyedView, quotedName } from "./advice.ts"
import {
  displayName,
  hasContact,
  isFoundBy,
  isCurrencyOf,
  isFramework,
  isLink,
  isPlainLink,
  isMoney,
  isPersonal,
  isTenant,
  keyOf,
  kindOf,
  linkEnds,
  peopleAmong,
  plainName,
  softDelete,
  withoutId
} from "./heuristics.ts"
import { nameOf, plural, pluralNameOf, singular, words } from "./inflection.ts"
import { holdBack } from "./sensitive.ts"

export interface Proposal {
  readonly file: MappingFile
  /** What was left out, the reasons, and remedies. */
  readonly notes: ReadonlyArray<string>
}

export interface ProposeOptions {
  readonly exclusive: boolean
  readonly timeZone: string
  readonly samples: Samples
  /** schema.table.column of the columns that a mapping in force shows already, which aren't held back. */
  readonly shown: ReadonlySet<string>
}

/** Proposes a mapping of these relations. */
export const propose = (
  facts: Facts,
  chosen: ReadonlyArray<RelationFacts>,
  catalog: Catalog,
  options: ProposeOptions
): Proposal => {
  const notes: Array<string> = []
  // A link table with a key of its own is a type; its references lead both ways.
  const links = new Map(
    chosen.flatMap((relation) =>
      isPlainLink(relation) || (isLink(relation) && keyOf(relation) === undefined)
        ? [[relation.name, relation] as const]
        : []
    )
  )
  const own = chosen
    .filter((relation) => !isPlainLink(relation) && !isFramework(relation))
    .map((relation) => holdBack(relation, options, notes))
  const isRead = (view: { readonly schema: string; readonly table: string }) =>
    own.some(({ schema, table }) => schema === view.schema && table === view.table)
  const keyed = own.flatMap((relation) => {
    const id = keyOf(relation)
    if (id !== undefined) return [{ relation, id }]
    const [key, second] = relation.primaryKey
    const isHeldBack = second === undefined && key !== undefined && !relation.columns.some(({ name }) => name === key)
    notes.push(
      isHeldBack
        ? `${relation.name}: left out, because its key is held back and every result would show it.`
        : isRead(keyedView(relation))
          ? `${relation.name}: read by its view ${keyedView(relation).table}.`
          : `${relation.name}: it has no key of a single column. ${keyAdvice(relation)}`
    )
    return []
  })
  const prefix = commonPrefix(keyed.map(({ relation }) => words(relation.table)))
  const slugs = new Set<string>()
  const people = peopleAmong(
    keyed.map(({ relation }) => relation),
    prefix,
    catalog
  )
  const nounOf = (relation: RelationFacts): string => {
    const plain = plural(plainName(relation).slice(prefix.length)) || plural(words(relation.table))
    return relation === people ? PEOPLE : /^[a-z]/.test(plain) ? plain : `t_${plain}`
  }
  const schemas = new Map<string, Set<string>>()
  for (const { relation } of keyed)
    schemas.set(nounOf(relation), (schemas.get(nounOf(relation)) ?? new Set()).add(relation.schema))
  const named = keyed.map(({ id, relation }) => {
    const noun = nounOf(relation)
    // Tables of one name in several schemas are told apart by their schemas.
    const slug = noun !== PEOPLE && schemas.get(noun)!.size > 1 ? `${words(relation.schema)}_${noun}` : noun
    return { relation, id, slug: unused(fitting(/^[a-z]/.test(slug) ? slug : `t_${slug}`), slugs) }
  })
  const targets = new Map([
    ...catalog.types.flatMap((type): ReadonlyArray<readonly [string, Target]> =>
      type.mapping === undefined
        ? []
        : [[`${type.relation.schema}.${type.relation.table}`, { slug: type.slug, id: type.mapping.id.column }]]
    ),
    ...named.map(({ id, relation, slug }) => [relation.name, { slug, id }] as const)
  ])
  if (people !== undefined) {
    const found = hasContact(people)
      ? "members are found there by phone and e-mail"
      : "it has no phone number or e-mail address, so members are named by id (max member add id:ID --subject SUBJECT)"
    notes.push(
      `${people.name} is mapped as people: ${found}. If it isn't the table of members, give it another "type".`
    )
  }
  const types = named.map((each) => typeEntry(each, { facts, targets, links, catalog, options, notes }))
  return { file: { version: 1, types }, notes }
}

interface Target {
  readonly slug: string
  readonly id: string
}

interface Context {
  readonly facts: Facts
  readonly targets: ReadonlyMap<string, Target>
  readonly links: ReadonlyMap<string, RelationFacts>
  readonly catalog: Catalog
  readonly options: ProposeOptions
  readonly notes: Array<string>
}

const fitting = (slug: string): string => (isReservedSlug(slug) ? `${slug}_` : slug).slice(0, 60)

const unused = (slug: string, taken: Set<string>): string => {
  let free = slug
  for (let n = 2; taken.has(free); n++) free = `${slug}_${n}`
  taken.add(free)
  return free
}

/** The common prefix of all table names, such as the application's name. */
const commonPrefix = (tables: ReadonlyArray<string>): string => {
  const first = /^[a-z0-9]+_/.exec(tables[0] ?? "")?.[0]
  return first !== undefined && tables.length > 1 && tables.every((table) => table.startsWith(first)) ? first : ""
}

const typeEntry = (
  { id, relation, slug }: { readonly relation: RelationFacts; readonly id: string; readonly slug: string },
  context: Context
): TypeEntry => {
  const { options } = context
  // People are named after their table.
  const noun = slug === PEOPLE ? plural(words(relation.table)) : slug
  const tenant = options.exclusive ? undefined : relation.columns.find(isTenant)
  const where = softDelete(relation)
  const used = new Set([id, ...(tenant === undefined ? [] : [tenant.name]), ...Object.keys(where)])
  const system = context.catalog.types.find((type) => type.system && type.slug === slug)
  const columns: Array<[string, ColumnEntry]> = []
  const taken = new Set<string>(["name"])
  const nameColumns = displayName(relation, id, used)
  columns.push(["name", { from: nameColumns.length === 1 ? nameColumns[0]! : nameColumns, kind: "text" }])
  // A number, code or address that names a row is also a column: people ask for it by its own name.
  for (const name of nameColumns) {
    const column = relation.columns.find((each) => each.name === name)
    if (column === undefined || !isFoundBy(column)) used.add(name)
  }
  /** Columns of a system type keep their meaning: a column of another kind gets another name. */
  const slugFor = (wanted: string, entry: ColumnEntry) => {
    const meant = system?.columns.find((column) => column.slug === wanted)
    const differs = meant !== undefined && (entry.to !== undefined || entry.kind !== meant.kind)
    return unused(
      fitting(
        /^[a-z]/.test(wanted)
          ? differs
            ? `${wanted}_${entry.to === undefined ? "text" : "link"}`
            : wanted
          : `c_${wanted}`
      ),
      taken
    )
  }
  for (const column of relation.columns) {
    if (used.has(column.name)) continue
    const base = words(column.name) || "column"
    const described = column.comment === null ? {} : { description: describe(column.comment) }
    const reference = referenceOf(relation, column, context)
    if (reference !== undefined) {
      const entry = { from: column.name, to: reference, ...described }
      columns.push([slugFor(referenceName(base, reference), entry), entry])
      continue
    }
    const entry = valueEntry(column, relation, context, described)
    if (entry === undefined) {
      context.notes.push(
        `${relation.name}.${printable(column.name)}: left out, ${column.typeName} isn't supported. A view can cast it: SELECT …, ${quotedName(column.name)}::text`
      )
      continue
    }
    columns.push([slugFor(base, entry), entry])
  }
  const shared = sharedKey(relation, id, context)
  if (shared !== undefined) columns.push([slugFor(shared.slug, shared.entry), shared.entry])
  for (const link of context.links.values()) {
    for (const entry of linkEntries(link, relation, id, context)) {
      columns.push([unused(fitting(plural(withoutId(words(entry.via!)))), taken), entry])
    }
  }
  if (columns.length > MAX_COLUMNS)
    context.notes.push(
      `${relation.name}: ${columns.length - MAX_COLUMNS} of its columns are left out, as a type has at most ${MAX_COLUMNS}: ${columns
        .slice(MAX_COLUMNS)
        .map(([name]) => name)
        .join(", ")}.`
    )
  return {
    table: relation.name,
    type: slug,
    name: nameOf(noun),
    pluralName: pluralNameOf(noun),
    ...(relation.comment === null ? {} : { description: describe(relation.comment) }),
    ...(options.exclusive ? { exclusive: true } : tenant === undefined ? {} : { organization: tenant.name }),
    id,
    ...(Object.keys(where).length === 0 ? {} : { where }),
    columns: Object.fromEntries(columns.slice(0, MAX_COLUMNS))
  }
}

const MAX_COLUMNS = 190

const describe = (comment: string): string => [...printable(comment).replace(/\s+/g, " ").trim()].slice(0, 200).join("")

const valueEntry = (
  column: ColumnFacts,
  relation: RelationFacts,
  context: Context,
  described: { readonly description?: string }
): ColumnEntry | undefined => {
  const base = words(column.name)
  const kind = column.deterministic ? kindOf(column, base) : undefined
  if (kind === undefined) return undefined
  const currency =
    kind === "number" && isMoney(base)
      ? relation.columns.find(
          ({ name, type }) => (type === "text" || type === "other") && isCurrencyOf(words(name), base)
        )
      : undefined
  return {
    from: column.name,
    kind,
    ...(column.values === undefined || (kind !== "text" && kind !== "list") ? {} : { values: column.values }),
    ...(currency === undefined ? {} : { currency: currency.name }),
    ...(kind === "timestamp" && column.type === "timestamp" ? { timeZone: zoneOf(column, base, context) } : {}),
    ...described
  }
}

/** Frameworks store UTC; the columns that they add and a declared precision show them. Others store local time. */
const zoneOf = (column: ColumnFacts, base: string, { options }: Context): string =>
  column.precision !== null || /^(created|updated|inserted|modified|deleted|last_update)(_at|_on)?$/.test(base)
    ? "UTC"
    : options.timeZone

/** The table that a column leads to: by its foreign key, or else by its name. */
const referenceOf = (
  relation: RelationFacts,
  column: ColumnFacts,
  { facts, notes, targets }: Context
): string | undefined => {
  for (const key of relation.foreignKeys) {
    const at = key.columns.indexOf(column.name)
    if (at < 0) continue
    const target = targets.get(key.target)
    if (target?.id === key.targetColumns[at]) return key.target
    if (key.columns.length === 1) {
      notes.push(
        target === undefined
          ? `${relation.name}.${printable(column.name)} leads to ${key.target}, which isn't mapped: map it too to follow the reference.`
          : `${relation.name}.${printable(column.name)} leads to a column of ${key.target} other than its key.`
      )
    }
  }
  const base = spaced(words(column.name))
  const declared = relation.foreignKeys.some(({ columns }) => columns.includes(column.name))
  if (!/_(id|by)$/.test(base) || column.idType === undefined || declared) return undefined
  const fits = (other: RelationFacts) => {
    const target = targets.get(other.name)
    return target !== undefined && other.columns.find(({ name }) => name === target.id)?.idType === column.idType
  }
  const wanted = plural(withoutId(base))
  const byName =
    facts.relations.find(
      (other) => other.schema === relation.schema && plural(words(other.table)) === wanted && fits(other)
    ) ??
    (isPersonal(withoutId(base))
      ? facts.relations.find((other) => targets.get(other.name)?.slug === PEOPLE && fits(other))
      : undefined)
  if (byName !== undefined) {
    notes.push(`${relation.name}.${printable(column.name)}: taken as a reference to ${byName.name} by its name.`)
  }
  return byName?.name
}

const tableOf = (name: string): string => words(name.slice(name.indexOf(".") + 1))

/** A reference's name: its column's without "id", also where names have no word boundaries and the target's name shows it. */
const referenceName = (base: string, target: string): string => {
  const stem = withoutId(spaced(base))
  const table = singular(tableOf(target)).replaceAll("_", "")
  return stem !== base && (table.endsWith(stem) || stem.endsWith(table) || isPersonal(stem)) ? stem : withoutId(base)
}

/** A name without word boundaries, such as channelid, as its words. */
const spaced = (base: string): string => base.replace(/^([a-z]{3,})id$/, "$1_id")

/** The reference of a table whose key is the key of another table: a row there has at most one row here. */
const sharedKey = (relation: RelationFacts, id: string, { targets }: Context) => {
  const keys = relation.foreignKeys.filter(
    ({ columns, target, targetColumns }) =>
      columns.length === 1 && columns[0] === id && targets.get(target)?.id === targetColumns[0]
  )
  const [key] = keys
  if (key === undefined || key.target === relation.name) return undefined
  const named = referenceName(words(id), key.target)
  return { slug: named === words(id) ? singular(tableOf(key.target)) : named, entry: { from: id, to: key.target } }
}

/** The relations that a link table adds to one of the tables that it links. */
const linkEntries = (
  link: RelationFacts,
  relation: RelationFacts,
  id: string,
  { targets }: Context
): ReadonlyArray<ColumnEntry> => {
  const [first, second] = linkEnds(link)
  if (first === undefined || second === undefined) return []
  return (
    [
      [first, second],
      [second, first]
    ] as const
  ).flatMap(([here, there]) =>
    here.target === relation.name &&
    here.targetColumn === id &&
    targets.get(there.target)?.id === there.targetColumn &&
    there.target !== relation.name
      ? [{ from: here.column, through: link.name, via: there.column, to: there.target }]
      : []
  )
}
