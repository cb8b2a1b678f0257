/**
 * Random changes under random policies. Conditions are drawn at random and sorted by what the oracle says of them, so that
 * enough cases are allowed, and enough are refused only because no single rule holds on both sides.
 */
import * as fc from "fast-check"
import { encodeId } from "../../src/domain/ids.ts"
import { caller, generousPolicy, ROLES, where as condition } from "./generators.ts"
import { type Asker, type Json, type JsonObject, type RuleJson, where } from "./oracle.ts"
import { type Cell, cellMaker, FIRST_ID, type Organization, random, SHAPES, TYPE_NAMES } from "./world.ts"
import { afterwards, type Assigned, ledTo, type WriteCase } from "./writeOracle.ts"

type Draft = Omit<RuleJson, "id">
type PickOne = <A>(from: ReadonlyArray<A>) => A

/** An id that no row has. */
export const NEW_ID = FIRST_ID + 5000n

const READ: ReadonlyArray<Draft> = TYPE_NAMES.flatMap((type) =>
  ["guest", "agent"].map((role): Draft => ({ effect: "allow", role, action: "read", type, columns: "*" }))
)

/** The change that a seed stands for. */
export const writeCase = (seed: number, organization: Organization): WriteCase => {
  const next = random(seed)
  const { cell, pick, reference } = cellMaker(next)
  const sampled = <A>(arbitrary: fc.Arbitrary<A>, numRuns = 1) =>
    fc.sample(arbitrary, { numRuns, seed: Math.floor(next() * 2 ** 31) })
  const type = pick(TYPE_NAMES)
  const action = next() < 0.9 ? "update" : pick(["create", "delete"] as const)
  const rows = [...organization.entities[type].keys()]
  const id = action === "create" ? NEW_ID : next() < 0.03 ? NEW_ID : pick(rows)
  const existing = organization.entities[type].get(id)
  const isAssignable = (column: string) =>
    SHAPES[type][column]!.target === undefined ||
    existing === undefined ||
    ledTo(type, id, column, organization).every((target) =>
      organization.entities[SHAPES[type][column]!.target!].has(target)
    )
  const assignable = Object.keys(SHAPES[type]).filter(isAssignable)
  const chosen = new Set(Array.from({ length: 1 + Math.floor(next() * 3) }, () => pick(assignable)))
  if (action === "create") chosen.add("name")
  const assigned: Assigned = Object.fromEntries(
    action === "delete"
      ? []
      : [...chosen].map((column) => {
          const shape = SHAPES[type][column]!
          if (shape.kind !== "many") return [column, cell(column, shape)]
          return [column, Array.from({ length: Math.floor(next() * 4) }, () => reference(shape.target!))]
        })
  )
  const who = pick(sampled(caller, 2))
  const change = { action, assigned, id, type } as const
  const aim = existing === undefined && action !== "create" ? 1 : next()
  const askers: ReadonlyArray<Asker> = [who, ...(who.actor === undefined ? [] : [{ ...who.actor, me: undefined }])]
  const pool = [
    ...sampled(condition(type, 2), 8),
    ...aimedConditions(change, organization, pick),
    {} satisfies JsonObject
  ]
  const rules = askers.flatMap((asker, index) =>
    aim > 0.94
      ? pool.slice(0, 3).map((where) => drafted(roleOf(asker, pick), change, pick, { where }))
      : rulesFor(asker, change, organization, pool, { pick, next, refuse: index === 0 && aim > 0.42 })
  )
  const noise = Array.from({ length: Math.floor(next() * 3) }, () => ({
    ...drafted(pick(["guest", "member", "agent"]), change, pick, { where: pick(pool) }),
    ...(next() < 0.25 ? { effect: "deny" as const } : {}),
    ...(action === "delete" ? {} : { columns: next() < 0.3 ? ("*" as const) : [pick(Object.keys(SHAPES[type]))] })
  })).map(({ becomes, ...rule }): Draft =>
    rule.effect === "deny" || becomes === undefined ? rule : { ...rule, becomes }
  )
  const read = next() < 0.87 ? READ : sampled(generousPolicy)[0]!.rules
  const columns = [...chosen]
  const narrow = next() < 0.5 ? columns : columns.slice(1)
  return {
    ...change,
    caller: who,
    ...(next() < 0.12 ? { scope: next() < 0.5 || action === "delete" ? ("*" as const) : narrow } : {}),
    policy: {
      version: 1,
      roles: ROLES,
      rules: [...read, ...rules, ...noise].map((rule, number): RuleJson => ({ ...rule, id: `r${number}` }))
    }
  }
}

type Change = Pick<WriteCase, "action" | "assigned" | "id" | "type">

const drafted = (
  role: string,
  { action, assigned, type }: Change,
  pick: PickOne,
  conditions: Pick<RuleJson, "where" | "becomes">
): Draft => {
  const listed = [...new Set([...Object.keys(assigned), pick(Object.keys(SHAPES[type]))])]
  return {
    effect: "allow",
    role,
    action,
    type,
    columns: action === "delete" ? "*" : pick<"*" | ReadonlyArray<string>>(["*", listed]),
    ...conditions
  }
}

/** A role of the asker; a role that doesn't exist when it has none. */
const roleOf = ({ roles }: Asker, pick: PickOne): string => {
  const held = roles.filter((role) => Object.hasOwn(ROLES, role))
  if (held.length === 0) return "guest"
  const role = pick(held)
  return pick([role, ...ROLES[role]!.inherits])
}

/** Rules of one asker that allow the change; or, to refuse it, rules of which none holds both before and after. */
const rulesFor = (
  asker: Asker,
  change: Change,
  organization: Organization,
  pool: ReadonlyArray<JsonObject>,
  { next, pick, refuse }: { readonly next: () => number; readonly pick: PickOne; readonly refuse: boolean }
): ReadonlyArray<Draft> => {
  const { action, id, type } = change
  const later = afterwards(change, organization, false)
  const before = organization.entities[type].get(id)
  const judged = pool.map((json) => ({
    json,
    was: before === undefined || where(json, type, before, { organization, asker }) === true,
    is:
      later.entity === undefined ||
      where(json, type, later.entity, { organization: later.organization, asker }) === true
  }))
  const some = (wanted: (one: (typeof judged)[number]) => boolean): JsonObject =>
    pick([...judged.filter(wanted), { json: {} }]).json
  const rule = (conditions: Pick<RuleJson, "where" | "becomes">) =>
    drafted(roleOf(asker, pick), change, pick, conditions)
  if (action !== "update") return [rule({ where: some(({ is, was }) => (action === "create" ? is : was) !== refuse) })]
  if (!refuse) {
    return next() < 0.5
      ? [rule({ where: some(({ is, was }) => is && was) })]
      : [rule({ where: some(({ was }) => was), becomes: some(({ is }) => is) })]
  }
  const never: JsonObject = { any: [] }
  const stays = judged.filter(({ is, was }) => was && !is)
  const without = judged.filter(({ is }) => !is)
  const refused =
    stays.length > 0 && next() < 0.5
      ? rule({ where: pick(stays).json })
      : rule({ where: some(({ was }) => was), becomes: without.length > 0 ? pick(without).json : never })
  const elsewhere = judged.filter(({ was }) => !was)
  const trap = rule({ where: elsewhere.length > 0 ? pick(elsewhere).json : never, becomes: some(({ is }) => is) })
  return next() < 0.6 ? [refused, trap] : [refused]
}

/** Conditions that compare with what the row has or gets. */
const aimedConditions = (change: Change, organization: Organization, pick: PickOne): ReadonlyArray<JsonObject> => {
  const { assigned, id, type } = change
  const { entity } = afterwards(change, organization, true)
  const rows = [organization.entities[type].get(id)?.cells, entity?.cells].filter((cells) => cells !== undefined)
  const columns = [...Object.keys(assigned), pick(Object.keys(SHAPES[type])), pick(Object.keys(SHAPES[type]))]
  return columns.flatMap((column) =>
    rows.flatMap((cells) => {
      const equal = literalOf(SHAPES[type][column]!.kind, cells[column] ?? null)
      return equal === undefined ? [] : [{ [column]: equal }, { not: { [column]: equal } }]
    })
  )
}

const literalOf = (kind: string, cell: Cell): Json | undefined => {
  switch (kind) {
    case "many":
      return undefined
    case "phone":
    case "email":
      return null
    case "list":
      return cell === null || (cell as ReadonlyArray<string>).length === 0
        ? null
        : { eq: (cell as ReadonlyArray<string>)[0]! }
    case "one":
      return cell === null ? null : encodeId(cell as bigint)
    default:
      return typeof cell === "string" && cell.startsWith("$") ? `$${cell}` : (cell as Json)
  }
}
