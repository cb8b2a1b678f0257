/** Guesses from the names and types of a schema, after the conventions of common frameworks. Pure. */
import { type Catalog, PEOPLE, typeBySlug } from "../../domain/EntityType.ts"
import { isPhoneName } from "../../domain/names.ts"
import type { ColumnFacts, RelationFacts } from "./tableFacts.ts"
import type { MappedKind } from "./mappingFile.ts"
import { plural, singular, words } from "./inflection.ts"

const FRAMEWORK =
  /^(schema_migrations|ar_internal_metadata|_prisma_migrations|flyway_schema_history|alembic_version|knex_migrations(_lock)?|schema_versions?|spatial_ref_sys|goose_db_version|django_.*|auth_(permission|group.*|user_(groups|user_permissions))|databasechangelog(lock)?|__efmigrationshistory|typeorm_metadata|migrations)$/i
const EMAIL =
  /(^|_)e_?mail(_(address|addr|id|lower|canonical|normalized|primary|secondary|work|home|private|personal|business|office|billing))?(_?\d)?$/
/** Addresses and numbers that aren't the person's, or aren't yet: they identify no member. */
const UNCONFIRMED = /(^|_)(unconfirmed|unverified|pending|requested|new|change|old|previous|former)(_|$)/
const TENANT = new Set(["tenant_id", "organization_id", "organisation_id", "org_id", "tenant", "workspace_id"])
const DELETED_AT = new Set(["deleted_at", "deleted_on", "discarded_at", "removed_at", "date_deleted"])
/** The roles that employees have for a record. */
const PERSON =
  /(^|_)(owner|author|assignee|manager|creator|reporter|reviewer|approver|supervisor|agent|user|employee|staff|rep|salesperson|handler)$|_by$/
const VIEW = /^(v|vw|view)_|_(v|vw|view|keyed)$/g
const DELETED = new Set(["is_deleted", "deleted", "is_removed", "soft_deleted"])
const DAY = /(^|_)(birth|born|hire|birthday|dob)(_?date|_on)?$|^date_of_|_on$/
const FIRST = ["first_name", "firstname", "given_name", "forename", "fname", "first"]
const LAST = ["last_name", "lastname", "surname", "family_name", "lname", "last"]
/** Tables of employees, the likeliest first. */
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
  "personnel",
  "representatives",
  "editors",
  "operators",
  "app_users",
  "auth_users"
]

export const isFramework = ({ table }: RelationFacts): boolean => FRAMEWORK.test(table)
export const isPersonal = (base: string): boolean => PERSON.test(base)
export const isTenant = ({ idType, name }: ColumnFacts): boolean => TENANT.has(words(name)) && idType !== undefined
/** The name of a table or view, without the affixes that mark views. */
export const plainName = ({ kind, table }: RelationFacts): string =>
  kind === "view" ? words(table).replace(VIEW, "") : words(table)

/** The table of employees, unless people are mapped already. */
export const peopleAmong = (
  relations: ReadonlyArray<RelationFacts>,
  prefix: string,
  catalog: Catalog
): RelationFacts | undefined => {
  if (typeBySlug(catalog, PEOPLE)?.mapping !== undefined) return undefined
  const staffAmong = (some: ReadonlyArray<RelationFacts>, fits = (plain: string, slug: string) => plain === slug) =>
    STAFF.map((slug) => some.find(({ table }) => fits(plural(words(table).slice(prefix.length)), slug))).find(
      (staff) => staff !== undefined
    )
  // Without phone number and e-mail address, members are named by id. A table without names holds facts about people.
  const isNamed = (relation: RelationFacts) => displayName(relation, "", new Set())[0] !== ""
  const reachable = relations.filter(hasContact)
  // A module's prefix, such as hr_employee; a member of a team or a user of a group is a link.
  const isPrefixed = (plain: string, slug: string) =>
    /^(employees|staff|workers|users)$/.test(slug) && plain.endsWith(`_${slug}`)
  return staffAmong(reachable) ?? staffAmong(reachable, isPrefixed) ?? staffAmong(relations.filter(isNamed))
}

/** Whether a column holds an e-mail address or phone number. */
const isContact = ({ name, type }: ColumnFacts): boolean => type === "text" && addressKind(words(name)) !== "text"

/** The kind of a text that is named like an e-mail address or phone number. */
const addressKind = (base: string): "email" | "phone" | "text" =>
  UNCONFIRMED.test(base) ? "text" : EMAIL.test(base) ? "email" : isPhoneName(base) ? "phone" : "text"

export const hasContact = ({ columns }: RelationFacts): boolean => columns.some(isContact)

/** The single column of a table's key, or the column of a view that is named like one. */
export const keyOf = (relation: RelationFacts): string | undefined => {
  const usable = (name: string | undefined) => {
    const column = relation.columns.find((each) => each.name === name)
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

/** Whether a table links two others: its key is two references. */
export const isLink = (relation: RelationFacts): boolean => {
  const ends = linkEnds(relation)
  return (
    ends.length === 2 &&
    [relation.primaryKey, ...relation.unique].some(
      (columns) => columns.length === 2 && columns.every((column) => ends.some((end) => end.column === column))
    )
  )
}

/** Whether a link table has nothing of its own but times and positions, so that it is no type. */
export const isPlainLink = (relation: RelationFacts): boolean =>
  isLink(relation) &&
  relation.columns
    .filter(({ name }) => !linkEnds(relation).some((end) => end.column === name))
    .every(({ name, type }) => type === "timestamp" || type === "timestamptz" || /position|order/.test(name))

export const linkEnds = (relation: RelationFacts) =>
  relation.foreignKeys.flatMap(({ columns, target, targetColumns }) =>
    columns.length === 1 ? [{ column: columns[0]!, target, targetColumn: targetColumns[0]! }] : []
  )

export const softDelete = (relation: RelationFacts): Record<string, null | boolean> => {
  for (const column of relation.columns) {
    const name = words(column.name)
    if (DELETED_AT.has(name) && !column.notNull && column.type !== undefined) return { [column.name]: null }
    if (DELETED.has(name) && column.type === "boolean") return { [column.name]: false }
  }
  return {}
}

export const withoutId = (base: string): string => base.replace(/_(id|uuid|fk|key)$/, "") || base

/** The columns that make up a row's display name. */
export const displayName = (relation: RelationFacts, id: string, used: ReadonlySet<string>): ReadonlyArray<string> => {
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
  const chosen =
    by(["name", "full_name", "fullname", "display_name", "displayname"]) ??
    (first !== undefined && last !== undefined ? [first, last] : undefined) ??
    by([`${one}_name`, `${tail}_name`, "company_name"]) ??
    readable.find(
      ({ name, notNull }) =>
        notNull && words(name).endsWith("_name") && !/(user|file|host|domain|first|last)_name$/.test(words(name))
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
  return chosen === undefined ? [id] : typeof chosen === "string" ? [chosen] : chosen
}

const CODE = /(^|_)(number|no|nr|reference|ref|code|sku|username|login)$/

/** Whether a column that names a row is also one that people ask for by its own name. */
export const isFoundBy = (column: ColumnFacts): boolean => isContact(column) || CODE.test(words(column.name))

const MONEY =
  /(^|_)(amount|total|subtotal|price|cost|fee|tax|balance|budget|revenue|value|salary|paid|due|charge|discount|freight|rate)(_|$)/
export const isMoney = (base: string): boolean => MONEY.test(base)
export const isCurrencyOf = (name: string, amount: string): boolean =>
  /^(currency|currency_code|currency_iso|iso_currency)$/.test(name) || name === `${amount}_currency`

export const kindOf = ({ type }: ColumnFacts, base: string): MappedKind | undefined => {
  switch (type) {
    case "text":
      return addressKind(base)
    case "other":
    case "inet":
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
