/** What a person would probably say of tables that they know: a first mapping, to be edited. Pure. */
import { type Catalog, PEOPLE, typeBySlug } from "../../domain/EntityType.ts"
import { isReservedSlug } from "../../domain/names.ts"
import { printable } from "../../domain/text.ts"
import type { ColumnFacts, Facts, RelationFacts } from "./facts.ts"
import type { ColumnEntry, MappedKind, MappingFile, TypeEntry } from "./file.ts"
import { nameOf, plural, pluralNameOf, singular, words } from "./words.ts"

export interface Proposal {
  readonly file: MappingFile
  /** What was left out, and why; what to do about it. */
  readonly notes: ReadonlyArray<string>
}

const FRAMEWORK =
  /^(schema_migrations|ar_internal_metadata|_prisma_migrations|flyway_schema_history|alembic_version|knex_migrations(_lock)?|spatial_ref_sys|goose_db_version|django_.*|auth_(permission|group.*|user_(groups|user_permissions))|databasechangelog(lock)?|__efmigrationshistory|typeorm_metadata|migrations)$/i
const SECRET =
  /(^|_)(password|passwd|pwd|secret|salt|otp|token|api_key|private_key|credential)s?(_|$)|encrypted|digest$/
const PHONE = /(^|_)(phone|mobile|cell|cellphone|tel|telephone|msisdn|whatsapp|fax)(_?\d)?(_|$)|phone$/
const EMAIL = /(^|_)(e_?mail)(_address)?(_|$)/
const TENANT = new Set(["tenant_id", "organization_id", "organisation_id", "org_id", "tenant", "workspace_id"])
const DELETED_AT = new Set(["deleted_at", "deleted_on", "discarded_at", "removed_at", "date_deleted"])
/** What somebody who works there is to a record. */
const PERSON =
  /(^|_)(owner|author|assignee|manager|creator|reporter|reviewer|approver|supervisor|agent|user|employee|staff|rep|salesperson|handler)$|_by$/
const VIEW = /^(v|vw|view)_|_(v|vw|view|keyed)$/g
const DELETED = new Set(["is_deleted", "deleted", "is_removed", "soft_deleted"])
const DAY = /(^|_)(birth|born|hire|birthday|dob)(_?date|_on)?$|^date_of_|_on$/
const FIRST = ["first_name", "firstname", "given_name", "forename", "fname", "first"]
const LAST = ["last_name", "lastname", "surname", "family_name", "lname", "last"]
/** Tables that hold the people who work there, the likeliest first. */
const STAFF = [
  "employees",
  "staff",
  "staff_members",
  "team_members",
  "workers",
  "people",
  "users",
  "members",
  "agents",
  "app_users",
  "auth_users"
]

export interface ProposeOptions {
  readonly exclusive: boolean
  readonly timeZone: string
}

/** Proposes how to read these relations. */
export const propose = (
  facts: Facts,
  chosen: ReadonlyArray<RelationFacts>,
  catalog: Catalog,
  options: ProposeOptions
): Proposal => {
  const notes: Array<string> = []
  const links = new Map(chosen.flatMap((relation) => (isLink(relation) ? [[relation.name, relation] as const] : [])))
  const own = chosen.filter((relation) => !links.has(relation.name) && !FRAMEWORK.test(relation.table))
  const keyed = own.flatMap((relation) => {
    const id = keyOf(relation)
    if (id !== undefined) return [{ relation, id }]
    notes.push(`${relation.name}: no single column is its key. ${keyAdvice(relation)}`)
    return []
  })
  const prefix = commonPrefix(keyed.map(({ relation }) => words(relation.table)))
  const slugs = new Set<string>()
  const people = peopleAmong(
    keyed.map(({ relation }) => relation),
    prefix,
    catalog
  )
  const named = keyed.map(({ id, relation }) => {
    const all = relation.kind === "view" ? words(relation.table).replace(VIEW, "") : words(relation.table)
    const plain = plural(all.slice(prefix.length)) || plural(words(relation.table))
    const base = relation === people ? PEOPLE : fitting(/^[a-z]/.test(plain) ? plain : `t_${plain}`)
    return { relation, id, slug: unused(base, slugs) }
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
    notes.push(
      `${people.name} is taken for the people who ask: members are found there by phone and e-mail. If they aren't, give it another "type".`
    )
  }
  const types = named.map((one) => typeEntry(one, { facts, targets, links, catalog, options, notes }))
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

/** What the names of all tables begin with, such as the name of the application. */
const commonPrefix = (tables: ReadonlyArray<string>): string => {
  const first = /^[a-z0-9]+_/.exec(tables[0] ?? "")?.[0]
  return first !== undefined && tables.length > 1 && tables.every((table) => table.startsWith(first)) ? first : ""
}

/** The table of those who work there, where none is mapped as such yet. */
const peopleAmong = (
  relations: ReadonlyArray<RelationFacts>,
  prefix: string,
  catalog: Catalog
): RelationFacts | undefined => {
  if (typeBySlug(catalog, PEOPLE)?.mapping !== undefined) return undefined
  const withContact = relations.filter(({ columns }) =>
    columns.some(({ name }) => EMAIL.test(words(name)) || PHONE.test(words(name)))
  )
  for (const slug of STAFF) {
    const found = withContact.find(({ table }) => plural(words(table).slice(prefix.length)) === slug)
    if (found !== undefined) return found
  }
  return undefined
}

/** A single column that is a key, or that a view calls one. */
const keyOf = (relation: RelationFacts): string | undefined => {
  const usable = (name: string | undefined) => {
    const column = relation.columns.find((one) => one.name === name)
    return column?.idType !== undefined && column.deterministic ? column : undefined
  }
  if (relation.kind === "view") {
    const one = words(singular(relation.table))
    const wanted = ["id", `${one}_id`, "uuid", "key"]
    return wanted
      .map((name) => relation.columns.find((column) => words(column.name) === name))
      .find((column) => usable(column?.name) !== undefined)?.name
  }
  if (relation.primaryKey.length === 1) return usable(relation.primaryKey[0])?.name
  return relation.unique
    .flatMap((columns) => (columns.length === 1 ? (usable(columns[0]) ?? []) : []))
    .find((column) => column.notNull || relation.kind === "materialized view")?.name
}

const quotedName = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll(`"`, `""`)}"`
export const written = ({ schema, table }: { readonly schema: string; readonly table: string }): string =>
  `${quotedName(schema)}.${quotedName(table)}`

/** The statement that gives a relation a key. */
export const keyAdvice = (relation: RelationFacts): string => {
  const composite =
    relation.primaryKey.length > 1 ? relation.primaryKey : relation.unique.find(({ length }) => length > 1)
  if (relation.kind === "view") return `Its view needs a column that names each row, such as id.`
  if (composite === undefined) {
    const id = quotedName(
      (relation.columns.find(({ name }) => words(name) === "id") ?? relation.columns[0])?.name ?? "id"
    )
    const index = `Where ${id} is one: CREATE UNIQUE INDEX CONCURRENTLY ON ${written(relation)} (${id});`
    return relation.kind === "table" ? `${index} ALTER TABLE ${written(relation)} ALTER ${id} SET NOT NULL;` : index
  }
  const view = { schema: relation.schema, table: `${relation.table}_keyed` }
  const parts = composite.map((column) => `${quotedName(column)}::text`).join(" || '-' || ")
  return `Map a view: CREATE VIEW ${written(view)} AS SELECT ${parts} AS id, * FROM ${written(relation)};`
}

/** Whether a table does nothing but link two others: its key is two references, and nothing else of it is interesting. */
const isLink = (relation: RelationFacts): boolean => {
  const ends = linkEnds(relation)
  const keyed = [relation.primaryKey, ...relation.unique].some(
    (columns) => columns.length === 2 && columns.every((column) => ends.some((end) => end.column === column))
  )
  const rest = relation.columns.filter(({ name }) => !ends.some((end) => end.column === name))
  return (
    ends.length === 2 &&
    keyed &&
    rest.every(({ name, type }) => type === "timestamp" || type === "timestamptz" || /position|order/.test(name))
  )
}

const linkEnds = (relation: RelationFacts) =>
  relation.foreignKeys.flatMap(({ columns, target, targetColumns }) =>
    columns.length === 1 ? [{ column: columns[0]!, target, targetColumn: targetColumns[0]! }] : []
  )

const typeEntry = (
  { id, relation, slug }: { readonly relation: RelationFacts; readonly id: string; readonly slug: string },
  context: Context
): TypeEntry => {
  const { options } = context
  // People are called what the table calls them.
  const called = slug === PEOPLE ? plural(words(relation.table)) : slug
  const tenant = options.exclusive
    ? undefined
    : relation.columns.find(({ idType, name }) => TENANT.has(words(name)) && idType !== undefined)
  const where = softDelete(relation)
  const used = new Set([id, ...(tenant === undefined ? [] : [tenant.name]), ...Object.keys(where)])
  const system = context.catalog.types.find((type) => type.system && type.slug === slug)
  const columns: Array<[string, ColumnEntry]> = []
  const taken = new Set<string>(["name"])
  const nameColumns = displayName(relation, id, used)
  columns.push(["name", { from: nameColumns.length === 1 ? nameColumns[0]! : nameColumns, kind: "text" }])
  for (const column of nameColumns) used.add(column)
  /** A system type's own columns keep their meaning: another column of that name gets another one. */
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
    if (SECRET.test(base) && column.type !== "boolean" && column.type !== "integer") {
      context.notes.push(`${relation.name}.${printable(column.name)}: left out, it looks like a secret.`)
      continue
    }
    const described = column.comment === null ? {} : { description: describe(column.comment) }
    const reference = referenceOf(relation, column, context)
    if (reference !== undefined) {
      const entry = { from: column.name, to: reference, ...described }
      columns.push([slugFor(withoutId(base), entry), entry])
      continue
    }
    const entry = valueEntry(column, relation, context, described)
    if (entry === undefined) {
      context.notes.push(
        `${relation.name}.${printable(column.name)}: left out, ${column.typeName} isn't read. A view can cast it: SELECT …, ${quotedName(column.name)}::text`
      )
      continue
    }
    columns.push([slugFor(base, entry), entry])
  }
  for (const link of context.links.values()) {
    for (const entry of linkEntries(link, relation, id, context)) {
      columns.push([unused(fitting(plural(withoutId(words(entry.via!)))), taken), entry])
    }
  }
  return {
    table: relation.name,
    type: slug,
    name: nameOf(called),
    pluralName: pluralNameOf(called),
    ...(relation.comment === null ? {} : { description: describe(relation.comment) }),
    ...(options.exclusive ? { exclusive: true } : tenant === undefined ? {} : { organization: tenant.name }),
    id,
    ...(Object.keys(where).length === 0 ? {} : { where }),
    columns: Object.fromEntries(columns.slice(0, MAX_COLUMNS))
  }
}

const MAX_COLUMNS = 190

const describe = (comment: string): string => [...printable(comment).replace(/\s+/g, " ").trim()].slice(0, 200).join("")

const softDelete = (relation: RelationFacts): Record<string, null | boolean> => {
  for (const column of relation.columns) {
    const name = words(column.name)
    if (DELETED_AT.has(name) && !column.notNull && column.type !== undefined) return { [column.name]: null }
    if (DELETED.has(name) && column.type === "boolean") return { [column.name]: false }
  }
  return {}
}

const withoutId = (base: string): string => base.replace(/_(id|uuid|fk|key)$/, "") || base

/** The columns that a row is called by. */
const displayName = (relation: RelationFacts, id: string, used: ReadonlySet<string>): ReadonlyArray<string> => {
  const readable = relation.columns.filter(
    ({ deterministic, name, type }) => (type === "text" || type === "other") && deterministic && !used.has(name)
  )
  const by = (wanted: ReadonlyArray<string>) =>
    wanted
      .map((name) => readable.find((column) => words(column.name) === name)?.name)
      .find((name) => name !== undefined)
  const one = singular(words(relation.table))
  const tail = one.slice(one.lastIndexOf("_") + 1)
  const [first, last] = [by(FIRST), by(LAST)]
  const found =
    by(["name", "full_name", "fullname", "display_name"]) ??
    (first !== undefined && last !== undefined ? [first, last] : undefined) ??
    by([`${one}_name`, `${tail}_name`, "company_name"]) ??
    readable.find(
      ({ name, notNull }) =>
        notNull && /_name$/.test(words(name)) && !/(user|file|host|domain|first|last)_name$/.test(words(name))
    )?.name ??
    by([
      "title",
      `${one}_title`,
      "subject",
      "label",
      "headline",
      "summary",
      `${one}_number`,
      `${tail}_number`,
      "number",
      "reference",
      "ref",
      "code",
      `${one}_code`,
      "sku",
      "slug",
      "username",
      "login",
      "description",
      `${tail}_description`,
      `${one}_description`,
      one,
      tail
    ]) ??
    last ??
    first ??
    readable.find(({ name }) => EMAIL.test(words(name)))?.name
  return found === undefined ? [id] : typeof found === "string" ? [found] : found
}

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
    kind === "number" && MONEY.test(base)
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

const MONEY =
  /(^|_)(amount|total|subtotal|price|cost|fee|tax|balance|budget|revenue|value|salary|paid|due|charge|discount|freight|rate)(_|$)/
const isCurrencyOf = (name: string, amount: string): boolean =>
  /^(currency|currency_code|currency_iso|iso_currency)$/.test(name) || name === `${amount}_currency`

/** Frameworks keep UTC: they show by the columns that they add, or by asking for a precision. Others write the local time. */
const zoneOf = (column: ColumnFacts, base: string, { options }: Context): string =>
  column.precision !== null || /^(created|updated|inserted|modified|deleted|last_update)(_at|_on)?$/.test(base)
    ? "UTC"
    : options.timeZone

const kindOf = ({ type }: ColumnFacts, base: string): MappedKind | undefined => {
  switch (type) {
    case "text":
      return base === "status" ? "text" : EMAIL.test(base) ? "email" : PHONE.test(base) ? "phone" : "text"
    case "other":
      return "text"
    case "integer":
      return base === "status" ? "text" : "integer"
    case "numeric":
    case "float":
    case "money":
      return "number"
    case "boolean":
      return base === "status" ? "text" : "boolean"
    case "date":
      return "date"
    case "timestamp":
      return DAY.test(base) ? "date" : "timestamp"
    case "timestamptz":
      return "timestamp"
    case "list":
      return "list"
    case undefined:
      return undefined
  }
}

/** The table that a column leads to: by its foreign key, or by its name where the schema declares none. */
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
          ? `${relation.name}.${printable(column.name)} leads to ${key.target}, which isn't mapped: name it too to see where it leads.`
          : `${relation.name}.${printable(column.name)} leads to ${key.target} by another column than its key.`
      )
    }
  }
  const base = words(column.name)
  const declared = relation.foreignKeys.some(({ columns }) => columns.includes(column.name))
  if (!/_(id|by)$/.test(base) || column.idType === undefined || declared) return undefined
  const fits = (other: RelationFacts) => {
    const target = targets.get(other.name)
    return target !== undefined && other.columns.find(({ name }) => name === target.id)?.idType === column.idType
  }
  const wanted = plural(withoutId(base))
  const named =
    facts.relations.find(
      (other) => other.schema === relation.schema && plural(words(other.table)) === wanted && fits(other)
    ) ??
    (PERSON.test(withoutId(base))
      ? facts.relations.find((other) => targets.get(other.name)?.slug === PEOPLE && fits(other))
      : undefined)
  if (named !== undefined) {
    notes.push(`${relation.name}.${printable(column.name)}: taken as a reference to ${named.name} by its name.`)
  }
  return named?.name
}

/** The relations that a link table makes for one of the tables that it links. */
const linkEntries = (
  link: RelationFacts,
  relation: RelationFacts,
  id: string,
  { targets }: Context
): ReadonlyArray<ColumnEntry> => {
  const [one, two] = linkEnds(link)
  if (one === undefined || two === undefined) return []
  return (
    [
      [one, two],
      [two, one]
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
