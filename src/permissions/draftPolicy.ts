/** First policies: what three questions come to as a file. */
import { type Catalog, type EntityType, peopleOf, targetOf } from "../domain/EntityType.ts"
import type { PolicyDocument, RuleDocument } from "./policyDocument.ts"

/** Which rows a role sees: everything, what it has to do with itself, or also what its company has to do with. */
export const REACHES = ["all", "own", "company"] as const
export type Reach = (typeof REACHES)[number]

export interface DraftRole {
  readonly role: string
  readonly reach: Reach
}

export interface Draft {
  /** Besides `admin`, which sees everything and administers. */
  readonly roles: ReadonlyArray<DraftRole>
  /** Columns, as TYPE.COLUMN or COLUMN of any type, that are shown on one's own rows only. */
  readonly private: ReadonlyArray<string>
}

/** The file for a draft. Own rows are those whose relation to people has the person in it, and its own record. */
export const draftPolicy = (draft: Draft, catalog: Catalog): PolicyDocument => ({
  version: 1,
  roles: {
    admin: { inherits: [], administers: true },
    ...Object.fromEntries(draft.roles.map(({ role }) => [role, { inherits: [] }]))
  },
  rules: [
    ...catalog.types.map((type) => rule("admin", type, "everything", "*")),
    ...draft.roles.flatMap(({ reach, role }) =>
      catalog.types.flatMap((type) => rulesFor(role, reach, type, draft, catalog))
    )
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

/** The rows that have to do with the person who asks; nothing where no relation leads to people. */
const ownRows = (type: EntityType, catalog: Catalog, reach: Reach): unknown => {
  const people = peopleOf(catalog)
  const conditions = [
    ...(type.key === people?.key ? [{ id: "$me" }] : []),
    ...type.columns.flatMap((column) =>
      targetOf(catalog, column)?.key === people?.key ? [{ [column.slug]: "$me" }] : []
    ),
    ...(reach === "company" ? ofCompany(type) : [])
  ]
  return conditions.length === 0 ? undefined : conditions.length === 1 ? conditions[0] : { any: conditions }
}

/** What belongs to the person's company, as the membership names it in its attribute `company`. */
const ofCompany = (type: EntityType): ReadonlyArray<unknown> => [
  ...(type.slug === "companies" ? [{ name: "$attr.company" }] : []),
  ...(type.columns.some(({ slug }) => slug === "company") ? [{ company: { name: "$attr.company" } }] : [])
]
