/**
 * The oracle of questions: folds the shown table in JavaScript. A hidden cell is an empty cell, a hidden target no target.
 * A question is generated as a structure, and its text is written from it, so that no grammar is shared with the product.
 */
import * as fc from "fast-check"
import { encodeId } from "../../src/domain/ids.ts"
import { valueFor } from "./generators.ts"
import { localIn, related, visibleRelated, type Views } from "./oracle.ts"
import { ASKABLE, decimal, folded, instant, matches, rank } from "./queryOracle.ts"
import { type Entity, keyOf, type Kind, type Organization, TYPE_NAMES, type TypeName, READABLE } from "./world.ts"

export type Hop =
  | { readonly back: false; readonly column: string; readonly to: TypeName }
  | { readonly back: true; readonly column: string; readonly to: TypeName }

export type Meaning =
  | { readonly is: "any" }
  | { readonly is: "value"; readonly value: string }
  | { readonly is: "range"; readonly from?: string; readonly to?: string }

/** A condition on a type: over hops, on the column at their end, or on the rows there when it is undefined. */
export interface Asked {
  readonly hops: ReadonlyArray<Hop>
  readonly end: TypeName
  readonly column: string | undefined
  readonly op: "eq" | "ne" | "ilike" | "gte" | "lt"
  readonly meanings: ReadonlyArray<Meaning>
}

export interface Question {
  readonly type: TypeName
  readonly asked: ReadonlyArray<Asked>
  readonly limit: number
}

const pathText = ({ column, hops }: Pick<Asked, "column" | "hops">): string =>
  [
    ...hops.map((hop) => (hop.back ? `${hop.to}@${hop.column}` : hop.column)),
    ...(column === undefined ? [] : [column])
  ].join(".")

const meaningText = (one: Meaning): string =>
  one.is === "any" ? "*" : one.is === "value" ? one.value : `${one.from ?? ""}..${one.to ?? ""}`

export const filterOf = (asked: Asked) => ({
  columnId: pathText(asked),
  op: asked.op,
  value: asked.meanings.map(meaningText).join("|")
})

const ORDERED: ReadonlySet<Kind> = new Set<Kind>(["text", "integer", "number", "date", "timestamp"])

const hopsFrom = (type: TypeName): ReadonlyArray<Hop> => [
  ...Object.entries(READABLE[type]).flatMap(([column, { target }]): ReadonlyArray<Hop> =>
    target === undefined ? [] : [{ back: false, column, to: target }]
  ),
  ...TYPE_NAMES.flatMap((to) =>
    Object.entries(READABLE[to]).flatMap(([column, { target }]): ReadonlyArray<Hop> =>
      target === type ? [{ back: true, column, to }] : []
    )
  )
]

const meaningFor = (kind: Kind, one: boolean): fc.Arbitrary<Meaning> => {
  const value = valueFor(kind, "eq").filter((text) => one || !text.endsWith("\\"))
  const ends = valueFor(kind, "gte").filter((text) => !text.endsWith("\\") && text !== "%")
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant<Meaning>({ is: "any" }) },
    { weight: 4, arbitrary: value.map((text): Meaning => ({ is: "value", value: text })) },
    ...(ORDERED.has(kind)
      ? [
          {
            weight: 4,
            arbitrary: fc.tuple(fc.integer({ min: 0, max: 2 }), ends, ends).map(([open, from, to]): Meaning => ({
              is: "range",
              ...(open === 1 ? {} : { from }),
              ...(open === 2 ? {} : { to })
            }))
          }
        ]
      : [])
  )
}

const asked = (type: TypeName, hops: ReadonlyArray<Hop>): fc.Arbitrary<Asked> => {
  const end = hops.at(-1)?.to ?? type
  const last = hops.at(-1)
  const column = fc.constantFrom(...Object.keys(READABLE[end]))
  // Two dots at most; rows that lead here are asked about without a column, too.
  const choices = last?.back === true ? fc.oneof(fc.constant(undefined), column) : column
  return choices.chain((name) => {
    const kind = name === undefined ? "one" : READABLE[end][name]!.kind
    const ops = fc.constantFrom<Asked["op"]>(
      "eq",
      "eq",
      "ne",
      "ne",
      "ne",
      ...ASKABLE[kind],
      ...(kind === "text" ? (["gte", "lt"] as const) : [])
    )
    return ops.chain((op) => {
      const shape = { hops, end, column: name, op }
      if (op === "eq" || op === "ne") {
        return fc.oneof(
          { weight: 3, arbitrary: meaningFor(kind, true).map((one): Asked => ({ ...shape, meanings: [one] })) },
          {
            weight: 1,
            arbitrary: fc
              .array(meaningFor(kind, false), { minLength: 2, maxLength: 3 })
              .map((meanings): Asked => ({ ...shape, meanings }))
          }
        )
      }
      const value = valueFor(kind, op).map((text): Meaning => ({ is: "value", value: text }))
      return (
        op === "ilike" ? value : fc.oneof({ weight: 4, arbitrary: value }, fc.constant<Meaning>({ is: "any" }))
      ).map((one): Asked => ({ ...shape, meanings: [one] }))
    })
  })
}

const askedAbout = (type: TypeName): fc.Arbitrary<Asked> => {
  const one = fc.constantFrom(...hopsFrom(type))
  return fc.oneof(
    { weight: 3, arbitrary: asked(type, []) },
    { weight: 4, arbitrary: one.chain((hop) => asked(type, [hop])) },
    {
      weight: 2,
      arbitrary: one.chain((first) =>
        fc.constantFrom(...hopsFrom(first.to)).chain((second) => asked(type, [first, second]))
      )
    }
  )
}

export const question: fc.Arbitrary<Question> = fc.constantFrom(...TYPE_NAMES, "deals" as const).chain((type) =>
  fc.record({
    type: fc.constant(type),
    asked: fc.oneof(
      { weight: 4, arbitrary: fc.array(askedAbout(type), { minLength: 1, maxLength: 1 }) },
      { weight: 1, arbitrary: fc.array(askedAbout(type), { minLength: 2, maxLength: 2 }) }
    ),
    limit: fc.constantFrom(2, 25, 25)
  })
)

/** A column without an index needs at least three characters. */
export const isTooShort = ({ column, meanings, op }: Asked): boolean =>
  column === "note" && op === "ilike" && meanings.some((one) => one.is === "value" && [...folded(one.value)].length < 3)

const ids = (type: TypeName, column: string, entity: Entity, organization: Organization): ReadonlyArray<bigint> => {
  const { kind, target } = READABLE[type][column]!
  if (kind === "many") return related(column as "attendees", target!, entity.id, organization).map(({ id }) => id)
  const cell = entity.cells[column] ?? null
  return cell === null ? [] : [cell as bigint]
}

/** The shown rows that a hop leads to. */
const hopTo = (hop: Hop, type: TypeName, entity: Entity, views: Views, organization: Organization) => {
  const rows = [...organization.entities[hop.to].values()].filter(({ id }) => views[hop.to].has(id))
  if (!hop.back) {
    if (views[type].get(entity.id)?.has(hop.column) !== true) return []
    const targets = new Set(ids(type, hop.column, entity, organization))
    return rows.filter(({ id }) => targets.has(id))
  }
  return rows.filter(
    (row) =>
      views[hop.to].get(row.id)!.has(hop.column) && ids(hop.to, hop.column, row, organization).includes(entity.id)
  )
}

const reached = (
  { hops }: Pick<Asked, "hops">,
  type: TypeName,
  entity: Entity,
  views: Views,
  organization: Organization
): ReadonlyArray<Entity> => {
  let at = type
  let rows: ReadonlyArray<Entity> = [entity]
  for (const hop of hops) {
    const from = at
    rows = [...new Set(rows.flatMap((row) => hopTo(hop, from, row, views, organization)))]
    at = hop.to
  }
  return rows
}

/** Whether a cell shows a value. */
const hasValue = (type: TypeName, column: string, row: Entity, views: Views, organization: Organization): boolean => {
  if (views[type].get(row.id)?.has(column) !== true) return false
  const { kind } = READABLE[type][column]!
  if (kind === "one" || kind === "many") return visibleRelated(type, column, row, views, organization).length > 0
  const cell = row.cells[column] ?? null
  return cell !== null && (Array.isArray(cell) ? cell.length > 0 : typeof cell !== "string" || cell.trim() !== "")
}

const means = (
  one: Meaning,
  { column, end, op }: Asked,
  row: Entity,
  views: Views,
  organization: Organization
): boolean => {
  if (column === undefined) {
    if (one.is !== "value") return true
    const name = views[end].get(row.id)!.has("name") ? (row.cells["name"] as string | null) : null
    const key = name === null ? null : (keyOf("text", name, organization.country) as string)
    const holds = (test: (text: string) => boolean) => key !== null && test(key)
    const needle = /^[a-z]+$/.test(one.value) ? one.value : folded(one.value)
    if (op === "ilike")
      return holds((text) => ([...needle].length >= 3 ? text.includes(needle) : text.startsWith(needle)))
    return encodeId(row.id) === one.value || holds((text) => text === needle)
  }
  const compare = (how: "eq" | "ilike" | "gte" | "lt", value: string) =>
    matches({ columnId: column, op: how, value }, end, row, views, organization)
  const has = hasValue(end, column, row, views, organization)
  if (one.is === "any") return has
  const { kind } = READABLE[end][column]!
  const key = () => keyOf("text", row.cells[column] as string, organization.country) as string
  const shown = views[end].get(row.id)!.has(column) && (row.cells[column] ?? null) !== null
  if (one.is === "value") {
    if (kind === "text" && op === "gte") return shown && key() >= folded(one.value)
    if (kind === "text" && op === "lt") return has && key() < folded(one.value)
    return compare(op === "ne" ? "eq" : op, one.value)
  }
  if (kind === "text") {
    if (!shown || (one.from !== undefined && key() < folded(one.from))) return false
    return one.to === undefined || (has && key() <= folded(one.to))
  }
  if (one.from !== undefined && !compare("gte", one.from)) return false
  return one.to === undefined || (has && upTo(kind, row.cells[column] as string, one.to, organization))
}

const upTo = (kind: Kind, cell: string, to: string, organization: Organization): boolean => {
  if (kind === "date") return cell.slice(0, to.length) <= to
  if (kind !== "timestamp") return decimal(cell) <= decimal(to)
  return to.length <= 10
    ? localIn(Date.parse(cell), organization.timeZone).slice(0, to.length) <= to
    : Date.parse(cell) <= instant(to, organization)
}

const isMet = (one: Asked, type: TypeName, entity: Entity, views: Views, organization: Organization): boolean => {
  const some = reached(one, type, entity, views, organization).some((row) =>
    one.meanings.some((meaning) => means(meaning, one, row, views, organization))
  )
  return one.op === "ne" ? !some : some
}

/** The rows that a question finds, in order. */
export const found = (
  { asked: all, type }: Question,
  views: Views,
  organization: Organization
): ReadonlyArray<Entity> => {
  const rows = [...organization.entities[type].values()].filter(
    (entity) => views[type].has(entity.id) && all.every((one) => isMet(one, type, entity, views, organization))
  )
  const range = all.find(({ hops, op }) => hops.length === 0 && (op === "gte" || op === "lt"))
  const value = (entity: Entity) => {
    if (range === undefined) return 0
    const cell = entity.cells[range.column!] as string
    const { kind } = READABLE[type][range.column!]!
    return kind === "text" ? (keyOf("text", cell, organization.country) as string) : rank(kind, cell)
  }
  const ascending = (a: Entity, b: Entity) => {
    const [left, right] = [value(a), value(b)]
    return left < right ? -1 : left > right ? 1 : a.id < b.id ? -1 : 1
  }
  return rows.sort((a, b) => (range?.op === "lt" ? ascending(b, a) : ascending(a, b)))
}

/** Whether a name of the condition shows nothing to the caller: only then may it be unknown. */
export const namesNothing = (
  { column, end, hops }: Pick<Asked, "column" | "end" | "hops">,
  type: TypeName,
  views: Views
): boolean => {
  const shows = (of: TypeName, name: string) => {
    const { target } = READABLE[of][name]!
    return [...views[of].values()].some((cells) => cells.has(name)) && (target === undefined || views[target].size > 0)
  }
  let at = type
  for (const hop of hops) {
    if (!shows(hop.back ? hop.to : at, hop.column)) return true
    at = hop.to
  }
  return column !== undefined && !shows(end, column)
}
