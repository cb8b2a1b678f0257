/** The proposed type of one relation: its columns with their kinds, and the names that nothing else has. */
import { PEOPLE } from "../../domain/EntityType.ts"
import { isReservedSlug } from "../../domain/names.ts"
import { printable } from "../../domain/text.ts"
import { quotedName } from "./advice.ts"
import { displayName, isCurrencyOf, isFoundBy, isMoney, isTenant, kindOf, softDelete, withoutId } from "./heuristics.ts"
import { nameOf, plural, pluralNameOf, words } from "./inflection.ts"
import type { ColumnEntry, TypeEntry } from "./mappingFile.ts"
import type { Context } from "./proposing.ts"
import { linkEntries, referenceName, referenceOf, sharedKey } from "./references.ts"
import type { ColumnFacts, RelationFacts } from "./tableFacts.ts"

export const fitting = (slug: string): string => (isReservedSlug(slug) ? `${slug}_` : slug).slice(0, 60)

export const unused = (slug: string, taken: Set<string>): string => {
  let free = slug
  for (let n = 2; taken.has(free); n++) free = `${slug}_${n}`
  taken.add(free)
  return free
}

export const typeEntry = (
  { id, relation, slug }: { readonly relation: RelationFacts; readonly id: string; readonly slug: string },
  context: Context
): TypeEntry => {
  const { options } = context
  // People are named after their table.
  const table = words(relation.table)
  const noun = slug === PEOPLE ? plural(table.slice(context.prefix.length) || table) : slug
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
  if (slug === PEOPLE) for (const kind of ["email", "phone"] as const) preferWork(columns, kind)
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

const WORK = /(^|_)(work|company|corporate|business|office|official|primary|pref+er+ed|main)(_|$)/

/** Members are found by the first column of a kind, unless one has the kind's name: rather by an address at work than by a private one. */
const preferWork = (columns: Array<[string, ColumnEntry]>, kind: "email" | "phone") => {
  const [first, ...others] = columns.flatMap(([, entry], at) => (entry.kind === kind ? [at] : []))
  if (first === undefined || columns.some(([name]) => name === kind)) return
  const work = [first, ...others].find((at) => WORK.test(columns[at]![0])) ?? first
  columns.splice(first, 0, ...columns.splice(work, 1))
}

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
