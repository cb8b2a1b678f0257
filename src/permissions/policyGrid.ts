/**
 * A policy file as a grid of roles, columns and actions, and edits of its cells. A cell says on which rows a role may do
 * something with a column. Only the rules that `draftPolicy` writes are in the grid: they allow, always, on every row or on
 * the person's own or company's rows. An edit changes no other rule.
 */
import { type Catalog, type EntityType, typeBySlug } from "../domain/EntityType.ts"
import { companyConditions, ownedRows, ownRows } from "./draftPolicy.ts"
import { type EditResult, freeId, union, without } from "./editPolicy.ts"
import type { Policy } from "./Policy.ts"
import type { PolicyDocument, RuleDocument } from "./policyDocument.ts"
import { PolicyProblems } from "./PolicyProblems.ts"

export const GRID_ACTIONS = ["read", "update", "create", "delete"] as const
export type GridAction = (typeof GRID_ACTIONS)[number]

/** The rows that a cell opens, fewest first: each has all rows of the one before. */
const GRID_REACHES = ["none", "own", "company", "all"] as const
export type GridReach = (typeof GRID_REACHES)[number]

/** The grid shows this many roles; those after them are in the file. */
export const MAX_GRID_ROLES = 50

/** The column of `delete`, which is about whole rows. */
const WHOLE_ROW = "*"

interface GridCell {
  /** By the role's own rules in the grid. */
  readonly reach: GridReach
  /** By the rules in the grid of the roles that it inherits. */
  readonly inherited: GridReach
  /** The positions in the file of the other rules about this cell, of the role and of those that it inherits. */
  readonly others: ReadonlyArray<number>
}

export interface GridTable {
  readonly action: GridAction
  /** What a cell can be set to, fewest rows first, with the condition that the file has for it. */
  readonly reaches: ReadonlyArray<{ readonly reach: GridReach; readonly where?: unknown }>
  readonly roles: ReadonlyArray<{ readonly role: string; readonly cells: ReadonlyArray<GridCell> }>
}

export interface GridEdit {
  readonly role: string
  readonly type: string
  readonly action: GridAction
  /** Column slugs; every column of the type when omitted. Of `delete`, nothing else. */
  readonly columns?: ReadonlyArray<string>
  readonly reach: GridReach
}

/** The columns of a table of the grid. */
export const gridColumns = (type: EntityType, action: GridAction): ReadonlyArray<string> =>
  action === "delete" ? [WHOLE_ROW] : type.columns.map(({ slug }) => slug)

/** The table of each action that rows of the type can have. `policy` is what `readPolicy` made of the document. */
export const policyGrid = (
  document: PolicyDocument,
  policy: Policy,
  catalog: Catalog,
  type: EntityType
): ReadonlyArray<GridTable> =>
  actionsOf(type).map((action) => {
    const reaches = reachesOf(type, action, catalog)
    const byRole = new Map<string, Array<Read>>()
    document.rules.forEach((rule, index) => {
      if (!isAbout(rule, type, action)) return
      const read = { rule, index, reach: reachOf(rule, reaches) }
      const before = byRole.get(rule.role)
      if (before === undefined) byRole.set(rule.role, [read])
      else before.push(read)
    })
    return {
      action,
      reaches,
      roles: Object.keys(policy.roles)
        .slice(0, MAX_GRID_ROLES)
        .map((role) => {
          const rules = policy.roles[role]!.flatMap((each) => byRole.get(each) ?? [])
          return { role, cells: gridColumns(type, action).map((column) => cellOf(role, column, rules)) }
        })
    }
  })

interface Read {
  readonly rule: RuleDocument
  readonly index: number
  readonly reach: GridReach | undefined
}

const cellOf = (role: string, column: string, rules: ReadonlyArray<Read>): GridCell => {
  const about = rules.filter(({ rule }) => covers(rule, column))
  const widest = (isOwn: boolean) =>
    GRID_REACHES.findLast((reach) =>
      about.some((each) => each.reach === reach && (each.rule.role === role) === isOwn)
    ) ?? "none"
  return {
    reach: widest(true),
    inherited: widest(false),
    others: about.flatMap(({ index, reach }) => (reach === undefined ? [index] : []))
  }
}

/** Sets cells. Rules that open more rows for them lose these columns; one rule of the wanted reach has them afterwards. */
export const editGrid = (document: PolicyDocument, catalog: Catalog, edit: GridEdit): EditResult => {
  const { action, reach, role } = edit
  const problems = new PolicyProblems()
  const type = typeBySlug(catalog, edit.type)
  if (!Object.hasOwn(document.roles, role)) problems.unknownName("role", "role", role, Object.keys(document.roles))
  if (type === undefined) {
    const slugs = catalog.types.map(({ slug }) => slug)
    problems.unknownName("type", "type", edit.type, slugs)
    return { problems: problems.list }
  }
  if (!actionsOf(type).includes(action)) problems.report("action", `Rows of ${type.slug} can't be changed this way.`)
  const reaches = reachesOf(type, action, catalog)
  const wanted = reaches.find((known) => known.reach === reach)
  if (wanted === undefined) problems.report("reach", `Rows of ${type.slug} name no person who could own them.`)
  const known = gridColumns(type, action)
  for (const column of edit.columns ?? [])
    if (!known.includes(column)) problems.unknownName("columns", `column of ${type.slug}`, column, known)
  if (problems.count > 0 || wanted === undefined) return { problems: problems.list }

  const columns = action === "delete" || edit.columns === undefined ? undefined : edit.columns
  const set = columns ?? known
  const isHere = (rule: RuleDocument) => rule.role === role && isAbout(rule, type, action)
  const rank = GRID_REACHES.indexOf(reach)
  const rules = document.rules.flatMap((rule) => {
    const opens = isHere(rule) ? reachOf(rule, reaches) : undefined
    const isWider = opens !== undefined && GRID_REACHES.indexOf(opens) > rank
    if (!isWider || !set.some((column) => covers(rule, column))) return [rule]
    const left = columns === undefined ? [] : without(rule.columns, columns, type)
    return left.length === 0 ? [] : [{ ...rule, columns: left }]
  })
  const same = rules.filter((rule) => isHere(rule) && reachOf(rule, reaches) === reach)
  const missing = set.filter((column) => !same.some((rule) => covers(rule, column)))
  if (reach === "none" || missing.length === 0) return { document: { ...document, rules } }
  const [extended] = same
  return {
    document: {
      ...document,
      rules:
        extended === undefined
          ? [...rules, newRule(edit, type, columns ?? "*", wanted.where, rules)]
          : rules.map((rule) => (rule === extended ? { ...rule, columns: union(rule.columns, missing, type) } : rule))
    }
  }
}

const newRule = (
  { action, reach, role }: GridEdit,
  type: EntityType,
  columns: RuleDocument["columns"],
  where: unknown,
  among: ReadonlyArray<RuleDocument>
): RuleDocument => ({
  id: freeId([role, ...(action === "read" ? [] : [action]), reach, type.slug].join("-"), among),
  effect: "allow",
  role,
  action,
  type: type.slug,
  columns,
  ...(where === undefined ? {} : { where })
})

/** A mapped type allows the changes that its mapping does. */
const actionsOf = ({ mapping }: EntityType): ReadonlyArray<GridAction> =>
  mapping === undefined
    ? GRID_ACTIONS
    : [
        "read",
        ...(mapping.write === undefined ? [] : ["update" as const]),
        ...(mapping.write?.create === undefined ? [] : ["create" as const]),
        ...(mapping.write?.delete === true ? ["delete" as const] : [])
      ]

const reachesOf = (type: EntityType, action: GridAction, catalog: Catalog): GridTable["reaches"] => {
  const own = action === "read" ? ownRows(type, catalog, "own") : ownedRows(type, catalog)
  return [
    { reach: "none" },
    ...(own === undefined ? [] : [{ reach: "own" as const, where: own }]),
    ...(action !== "read" || companyConditions(type).length === 0
      ? []
      : [{ reach: "company" as const, where: ownRows(type, catalog, "company") }]),
    { reach: "all" }
  ]
}

const isAbout = (rule: RuleDocument, type: EntityType, action: GridAction): boolean =>
  rule.type === type.slug && rule.action === action

const covers = ({ columns }: RuleDocument, column: string): boolean => columns === "*" || columns.includes(column)

/** What the rule opens; undefined for a rule that the grid can't say. */
const reachOf = (rule: RuleDocument, reaches: GridTable["reaches"]): GridReach | undefined => {
  const { becomes, effect, notAfter, notBefore, where } = rule
  if (effect !== "allow" || becomes !== undefined || notBefore !== undefined || notAfter !== undefined) return undefined
  if (isEveryRow(where)) return "all"
  const parts = alternatives(where)
  return reaches.find((known) => known.where !== undefined && alternatives(known.where) === parts)?.reach
}

const isEveryRow = (where: unknown): boolean =>
  where === undefined || (typeof where === "object" && where !== null && Object.keys(where).length === 0)

/** A condition as one text, whatever the order of its alternatives. */
const alternatives = (where: unknown): string => {
  const keys = Object.keys(where as object)
  const any = keys.length === 1 && keys[0] === "any" ? (where as { readonly any: ReadonlyArray<unknown> }).any : [where]
  return [...new Set(any.map((part) => JSON.stringify(part)))].sort().join("\n")
}
