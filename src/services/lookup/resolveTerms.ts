/**
 * A filter that asks more than one comparison of a row's own column: `ne`, any of several values, any value at all, a
 * range, or a column that a path leads to. What is hidden counts as empty in each of them.
 */
import { Result } from "effect"
import { type Column, idColumn } from "../../domain/EntityType.ts"
import { ALWAYS, any } from "../../domain/Predicate.ts"
import { type Filter, MAX_ALTERNATIVES } from "../../domain/Query.ts"
import { readTerms, type Term } from "../../domain/valueList.ts"
import type { Condition, Parameter } from "../../database/sql/Parameter.ts"
import type { Values } from "../../database/sql/prepared.ts"
import { conjunction, type Path, reaches } from "./paths.ts"
import { compared, type Fault, invalid, isNamed, isOrdered, nameContains, unusable, within } from "./resolveFilter.ts"
import { isId, maskOf, targetIn, type Visible, type VisibleType } from "./visible.ts"

/** The condition with its masks. */
export const resolveTerms = (
  filter: Filter,
  path: Path,
  visible: Visible,
  values: Values
): Result.Result<Condition, Fault> =>
  Result.gen(function* () {
    const fault = unusable(filter.value, path.written)
    if (fault !== undefined) return yield* invalid(fault)
    const terms = termsOf(filter.value, path)
    if (terms.length > MAX_ALTERNATIVES) return yield* invalid(`A value has at most ${MAX_ALTERNATIVES} alternatives.`)
    const several = filter.op === "eq" || filter.op === "ne"
    if (!several && terms.length > 1)
      return yield* invalid(`a|b is for eq and ne; with ${filter.op}, \\| is the character.`)
    const conditions: Array<Condition> = []
    for (const term of terms) conditions.push(yield* conditionOf(term, filter, path, visible, values))
    const { at, column } = path
    const met = reaches(path, conjunction(column === undefined ? ALWAYS : maskOf(at.plan, column), anyOf(conditions)))
    return filter.op === "ne" ? { _tag: "NotTrue", of: met } : met
  })

/** Text ids may contain the characters of the grammar: the whole value is then an id, too. */
const termsOf = (value: string, path: Path): ReadonlyArray<Term> => {
  const terms = readTerms(value)
  const ids = idsOf(path)
  const plain = terms.length === 1 && terms[0]!._tag === "Value"
  return plain || (ids !== "text" && ids !== "bpchar") ? terms : [{ _tag: "Value", text: value }, ...terms]
}

/** The type of the ids that the path's end is compared with. */
const idsOf = ({ at, column }: Path) =>
  column === undefined ? at.type.mapping?.id.type : isId(column) ? idColumn(at.type).ids : column.ids

const conditionOf = (
  term: Term,
  { op, value }: Filter,
  { at, column, written }: Path,
  visible: Visible,
  values: Values
): Result.Result<Condition, Fault> => {
  if (term._tag === "Any") {
    if (op === "ilike") return invalid("* is for eq and ne; with ilike, \\* is the character.")
    return column !== undefined && (op === "gte" || op === "lt") && !isOrdered(column)
      ? compared(value, op, column, visible, values)
      : Result.succeed(column === undefined ? ALWAYS : hasValue(column, visible))
  }
  const equality = op === "eq" || op === "ne"
  if (term._tag === "Range" && equality && column !== undefined && isOrdered(column))
    return within(term, column, visible, values)
  const fault = unusable(term.text, written)
  if (fault !== undefined) return invalid(fault)
  if (column !== undefined) return compared(term.text, op === "ne" ? "eq" : op, column, visible, values)
  if (equality)
    return Result.succeed(any<Parameter>(...isNamed(term.text, at, values).map((part) => conjunction(...part))))
  return op === "ilike"
    ? Result.map(nameContains(term.text, at, values), (parts) => conjunction(...parts))
    : invalid(`${written} has no order: name one of its columns.`)
}

/** The cell shows a value; a reference does if the caller may see what it leads to. */
const hasValue = (column: Column, visible: Visible): Condition => {
  const target: VisibleType | undefined = targetIn(visible, column)
  return target === undefined
    ? isId(column)
      ? ALWAYS
      : { _tag: "HasValue", column: column.key }
    : { _tag: "Some", relation: column.key, where: target.plan.where }
}

/** Equalities with one column become one list, which an index finds together. */
const anyOf = (conditions: ReadonlyArray<Condition>): Condition => {
  const [first] = conditions
  if (first?._tag === "Compare" && conditions.length > 1) {
    const { column, side } = first
    const listed = conditions.flatMap((one) =>
      one._tag === "Compare" &&
      one.op === "eq" &&
      one.column === column &&
      one.side === side &&
      typeof one.value !== "object"
        ? [one.value]
        : []
    )
    if (listed.length === conditions.length) return { _tag: "In", column, side, values: listed, negated: false }
  }
  return any<Parameter>(...conditions)
}
