/** Generates a first policy file from the answers to three questions. */
import { type Catalog, type EntityType, peopleOf, targetOf } from "../domain/EntityType.ts"
import { Power } from "./Policy.ts"
import type { PolicyDocument, RuleDocument } from "./policyDocument.ts"

/** The rows that a role sees: all, those related to its own person, or also those related to its company. */
export const REACHES = ["all", "own", "company"] as const
export type Reach = (typeof REACHES)[number]

export interface DraftRole {
  readonly role: string
  readonly reach: Reach
}

export interface Draft {
  /** The roles besides `admin`, which sees and changes everything and administers. */
  readonly roles: ReadonlyArray<DraftRole>
  /** Columns shown only on a person's own rows: TYPE.COLUMN, or COLUMN for every type. */
  readonly private: ReadonlyArray<string>
}

/**
 * Builds the file. A person's own rows are their own record and the rows that relate to it. A role changes the values of the
 * rows that the person owns, and adds such rows; relations, which decide who sees a row, and deletions are the admin's.
 */
export const draftPolicy = (draft: Draft, catalog: Catalog): PolicyDocument => ({
  version: 1,
  roles: {
    admin: { inherits: [], administers: Power.literals },
    ...Object.fromEntries(draft.roles.map(({ role }) => [role, { inherits: [] }]))
  },
  rules: [
    ...catalog.types.map((type) => rule("admin", type, "everything", "*")),
    ...draft.roles.flatMap(({ reach, role }) =>
      catalog.types.flatMap((type) => rulesFor(role, reach, type, draft, catalog))
    ),
    // Mapped types are read only.
    ...catalog.types
      .filter(({ mapping }) => mapping === undefined)
      .flatMap((type) => [
        ...(["create", "update", "delete"] as const).map((action) => changeRule("admin", action, type, "*")),
        ...draft.roles.flatMap((role) => ownChanges(role, type, catalog))
      ])
  ]
})

const rulesFor = (
  role: string,
  reach: Reach,
  type: EntityType,
  draft: Draft,
  catalog: Catalog
): ReadonlyArray<RuleDocument> => {
  const isPrivate = (slug: string) => draft.private.includes(slug) || draft.private.includes(`${type.slug}.${slug}`)
  const open = type.columns.map(({ slug }) => slug).filter((slug) => !isPrivate(slug))
  const hasPrivate = open.length < type.columns.length
  const own = ownRows(type, catalog, reach)
  if (reach === "all") {
    return [
      ...(open.length === 0 ? [] : [rule(role, type, "all", hasPrivate ? open : "*")]),
      ...(hasPrivate && own !== undefined ? [rule(role, type, "own", "*", own)] : [])
    ]
  }
  return own === undefined ? [] : [rule(role, type, "own", "*", own)]
}

const rule = (
  role: string,
  type: EntityType,
  what: string,
  columns: RuleDocument["columns"],
  where?: unknown
): RuleDocument => ({
  id: what === "everything" ? `${role}-${type.slug}` : `${role}-${what}-${type.slug}`,
  effect: "allow",
  role,
  action: "read",
  type: type.slug,
  columns,
  ...(where === undefined ? {} : { where })
})

const changeRule = (
  role: string,
  action: "create" | "update" | "delete",
  type: EntityType,
  columns: RuleDocument["columns"],
  where?: unknown
): RuleDocument => ({ ...rule(role, type, action, columns, where), action })

const ownChanges = ({ reach, role }: DraftRole, type: EntityType, catalog: Catalog): ReadonlyArray<RuleDocument> => {
  // The company's name decides what the role sees.
  if (reach === "company" && type.slug === "companies") return []
  const where = ownedRows(type, catalog)
  if (where === undefined) return []
  const values = type.columns.filter(({ storage }) => storage._tag === "Value").map(({ slug }) => slug)
  return [changeRule(role, "update", type, values, where), changeRule(role, "create", type, [...values, OWNER], where)]
}

const OWNER = "owner"

/** The condition for the rows that the principal owns, of rules about changes; undefined for a type without owners. */
export const ownedRows = (type: EntityType, catalog: Catalog): unknown => {
  const owner = type.columns.find(({ slug }) => slug === OWNER)
  return owner === undefined || targetOf(catalog, owner)?.key !== peopleOf(catalog)?.key
    ? undefined
    : { [OWNER]: "$me" }
}

/** The condition for the principal's own rows; undefined for a type without a relation to people. */
export const ownRows = (type: EntityType, catalog: Catalog, reach: Reach): unknown => {
  const people = peopleOf(catalog)
  const conditions = [
    ...(type.key === people?.key ? [{ id: "$me" }] : []),
    ...type.columns.flatMap((column) =>
      targetOf(catalog, column)?.key === people?.key ? [{ [column.slug]: "$me" }] : []
    ),
    ...(reach === "company" ? companyConditions(type) : [])
  ]
  return conditions.length === 0 ? undefined : conditions.length === 1 ? conditions[0] : { any: conditions }
}

/** Conditions for the rows of the principal's company, which the membership names in its attribute `company`. */
export const companyConditions = (type: EntityType): ReadonlyArray<unknown> => [
  ...(type.slug === "companies" ? [{ name: "$attr.company" }] : []),
  ...(type.columns.some(({ slug }) => slug === "company") ? [{ company: { name: "$attr.company" } }] : [])
]
