/** The references of a proposed type: by foreign keys, by names, by shared keys and through link tables. */
import { PEOPLE } from "../../domain/EntityType.ts"
import { printable } from "../../domain/text.ts"
import { isPersonal, linkEnds, withoutId } from "./heuristics.ts"
import { plural, singular, words } from "./inflection.ts"
import type { ColumnEntry } from "./mappingFile.ts"
import type { Context } from "./proposing.ts"
import type { ColumnFacts, RelationFacts } from "./tableFacts.ts"

/** The table that a column leads to: by its foreign key, or else by its name. */
export const referenceOf = (
  relation: RelationFacts,
  column: ColumnFacts,
  { facts, notes, prefix, targets }: Context
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
  const named = facts.relations.filter(
    ({ schema, table }) => schema === relation.schema && [wanted, `${prefix}${wanted}`].includes(plural(words(table)))
  )
  // A text that isn't called an id, such as changed_by, is as likely a login or an address as a key.
  const isPerson = isPersonal(withoutId(base)) && (column.idType !== "text" || base.endsWith("_id"))
  const byName =
    named.find(fits) ??
    (isPerson && named.length === 0
      ? facts.relations.find((other) => targets.get(other.name)?.slug === PEOPLE && fits(other))
      : undefined)
  if (byName !== undefined) {
    notes.push(`${relation.name}.${printable(column.name)}: taken as a reference to ${byName.name} by its name.`)
  }
  return byName?.name
}

const tableOf = (name: string): string => words(name.slice(name.indexOf(".") + 1))

/** A reference's name: its column's without "id", also where names have no word boundaries and the target's name shows it. */
export const referenceName = (base: string, target: string): string => {
  const stem = withoutId(spaced(base))
  const table = singular(tableOf(target)).replaceAll("_", "")
  return stem !== base && (table.endsWith(stem) || stem.endsWith(table) || isPersonal(stem)) ? stem : withoutId(base)
}

/** A name without word boundaries, such as channelid, as its words. */
const spaced = (base: string): string => base.replace(/^([a-z]{3,})id$/, "$1_id")

/** The reference of a table whose key is the key of another table: a row there has at most one row here. */
export const sharedKey = (relation: RelationFacts, id: string, { targets }: Context) => {
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
export const linkEntries = (
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
