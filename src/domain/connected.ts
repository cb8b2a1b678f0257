/** The types of an organization among each other: what relations lead to, and what derived columns are computed from. */
import { misfit } from "./derived.ts"
import { type Catalog, type Column, type EntityType, targetKey, typeByKey } from "./EntityType.ts"

/**
 * Links an organization's types: sets the id type of each relation's target. Omits a managed relation whose stored ids no
 * longer fit, because its target has since been mapped with another id type, and relations to a type that was removed.
 */
export const connected = (types: ReadonlyArray<EntityType>): ReadonlyArray<EntityType> => {
  const byKey = new Map(types.map((type) => [type.key, type]))
  return types.map((type) => linked(type, (key) => byKey.get(key)))
}

/** One type as it is among others, of which it replaces the one with its key. */
export const connectedAmong = (type: EntityType, others: ReadonlyArray<EntityType>): EntityType =>
  linked(type, (key) => (key === type.key ? type : others.find((other) => other.key === key)))

const linked = (type: EntityType, typeOf: (key: string) => EntityType | undefined): EntityType => {
  const columns = type.columns.flatMap((column): ReadonlyArray<Column> => {
    const key = targetKey(column)
    if (key === undefined) return [column]
    const target = typeOf(key)
    if (target === undefined) return []
    const ids = target.mapping?.id.type
    if (ids === undefined) return type.mapping === undefined ? [column] : []
    return type.mapping === undefined && ids !== "bigint" ? [] : [{ ...column, ids }]
  })
  const { derived } = type
  return {
    ...type,
    columns,
    ...(derived === undefined ? {} : { derived: derived.map((one) => computed(one, columns)) })
  }
}

/** A derived column with its sources; without them while one is missing or of a kind that the form doesn't take. */
const computed = ({ derived, ...column }: Column, columns: ReadonlyArray<Column>): Column => {
  if (derived === undefined) throw new Error("The column isn't derived")
  const { as, of } = derived
  const sources = of.flatMap((key) => columns.find((each) => each.key === key) ?? [])
  const complete = sources.length === of.length && misfit(as, sources) === undefined
  return { ...column, derived: { as, of, ...(complete ? { sources } : {}) } }
}

/** Whether a lookup of this type can only read managed tables. */
export const isManagedThroughout = (catalog: Catalog, type: EntityType): boolean => {
  const reached = new Set([type.key])
  for (const key of reached) {
    const next = typeByKey(catalog, key)
    if (next?.mapping !== undefined) return false
    for (const column of next?.columns ?? []) {
      const target = targetKey(column)
      if (target !== undefined) reached.add(target)
    }
  }
  return true
}
