/** Proposes a mapping of tables, for a person to edit. Pure. */
import { type Catalog, PEOPLE } from "../../domain/EntityType.ts"
import type { Facts, RelationFacts } from "./tableFacts.ts"
import type { MappingFile, TypeEntry } from "./mappingFile.ts"
import { keyAdvice, keyedView } from "./advice.ts"
import { hasContact, isFramework, isLink, isPlainLink, keyOf, peopleAmong, plainName } from "./heuristics.ts"
import { plural, words } from "./inflection.ts"
import { fitting, typeEntry, unused } from "./proposedType.ts"
import type { ProposeOptions, Target } from "./proposing.ts"
import { holdBack } from "./sensitive.ts"

export interface Proposal {
  readonly file: MappingFile
  /** What was left out, the reasons, and remedies. */
  readonly notes: ReadonlyArray<string>
}

/** Proposes a mapping of these relations. */
export const propose = (
  facts: Facts,
  chosen: ReadonlyArray<RelationFacts>,
  catalog: Catalog,
  options: ProposeOptions
): Proposal => {
  const notes: Array<string> = []
  const isMapped = (relation: RelationFacts) =>
    catalog.types.some(
      (type) =>
        type.mapping !== undefined && type.relation.schema === relation.schema && type.relation.table === relation.table
    )
  // One relation that may not be read would refuse the whole file. Those that are mapped stay: a file keeps what is in force.
  const readable = chosen.filter((relation) => {
    const isRefused = !options.named && relation.faults.length > 0 && !isFramework(relation) && !isMapped(relation)
    if (isRefused) notes.push(`${relation.name}: left out, because of ${relation.faults.join("; ")}`)
    return !isRefused
  })
  // A link table with a key of its own is a type; its references lead both ways.
  const links = new Map(
    readable.flatMap((relation) =>
      isPlainLink(relation) || (isLink(relation) && keyOf(relation) === undefined)
        ? [[relation.name, relation] as const]
        : []
    )
  )
  const own = readable
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
  const types = named.map((each) => typeEntry(each, { facts, prefix, targets, links, catalog, options, notes }))
  if (people !== undefined) {
    const found = hasContact(people)
      ? `members are found there by ${contactsOf(types).join(" and ")}`
      : "it has no phone number or e-mail address, so members are named by id (max member add id:ID --subject SUBJECT)"
    notes.push(
      `${people.name} is mapped as people: ${found}. If it isn't the table of members, give it another "type".`
    )
  }
  return { file: { version: 1, types }, notes }
}

/** The columns of people that find members: for each kind the one of its name, or else the first. */
const contactsOf = (types: ReadonlyArray<TypeEntry>): ReadonlyArray<string> => {
  const columns = Object.entries(types.find(({ type }) => type === PEOPLE)?.columns ?? {})
  return ["email", "phone"].flatMap((kind) => {
    const some = columns.flatMap(([name, entry]) => (entry.kind === kind ? [name] : []))
    return some.includes(kind) ? [kind] : some.slice(0, 1)
  })
}

/** The common prefix of all table names, such as the application's name. */
const commonPrefix = (tables: ReadonlyArray<string>): string => {
  const first = /^[a-z0-9]+_/.exec(tables[0] ?? "")?.[0]
  return first !== undefined && tables.length > 1 && tables.every((table) => table.startsWith(first)) ? first : ""
}
