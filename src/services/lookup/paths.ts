/**
 * A filter's column → where it leads: a column, a column of what a reference leads to (`company.city`), or rows of another
 * type that lead here (`invoices`, `invoices@owner`, `invoices.due`). All names are resolved among the caller's visible ones.
 */
import { Result } from "effect"
import { type Column, columnByKey, DISPLAY_NAME, ID_COLUMN, idColumn } from "../../domain/EntityType.ts"
import type { UnknownName } from "../../domain/errors.ts"
import { ALWAYS, NEVER } from "../../domain/Predicate.ts"
import { MAX_DOTS } from "../../domain/Query.ts"
import { quoted } from "../../domain/text.ts"
import type { Condition } from "../../database/sql/Parameter.ts"
import { type Fault, invalid } from "./resolveFilter.ts"
import { unknownName } from "./unknownName.ts"
import { maskOf, targetIn, type Visible, visibleColumns, type VisibleType, visibleTypes } from "./visible.ts"

/** A hop from a row to related rows: through a column of its type, or back through a column of another type. */
interface Step {
  readonly back: boolean
  /** The type that has the relation. */
  readonly of: VisibleType
  readonly relation: Column
  readonly to: VisibleType
}

export interface Path {
  readonly steps: ReadonlyArray<Step>
  /** The type at its end. */
  readonly at: VisibleType
  /** The column at its end; undefined when it ends at the rows that lead here. */
  readonly column: Column | undefined
  readonly written: string
}

/** A visible column of another type that leads to rows of this one. */
interface Referrer {
  readonly type: VisibleType
  readonly relation: Column
}

/** The visible references to a type, in the catalog's order. */
const referrersOf = (to: VisibleType, visible: Visible): ReadonlyArray<Referrer> =>
  visibleTypes(visible).flatMap((type) => {
    const one = { type, plan: visible.planOf(type)! }
    return visibleColumns(one, visible)
      .filter(({ storage }) => storage._tag !== "Value" && storage.target === to.type.key)
      .map((relation) => ({ type: one, relation }))
  })

/** The shortest name of each reference to a type: `invoices`, or `invoices@owner` where several columns lead here. */
export const referrerNames = (to: VisibleType, visible: Visible): ReadonlyArray<readonly [string, Referrer]> => {
  const all = referrersOf(to, visible)
  const columns = new Set(visibleColumns(to, visible).map(({ slug }) => slug))
  return all.map((one) => {
    const { slug } = one.type.type
    const alone = all.filter(({ type }) => type.type === one.type.type).length === 1 && !columns.has(slug)
    return [alone ? slug : `${slug}@${one.relation.slug}`, one]
  })
}

export const resolvePath = (written: string, from: VisibleType, visible: Visible): Result.Result<Path, Fault> =>
  Result.gen(function* () {
    const names = written.split(".")
    if (names.length > MAX_DOTS + 1) return yield* invalid(`A path has at most ${MAX_DOTS} dots: company.owner.name.`)
    const steps: Array<Step> = []
    let at = from
    for (const [index, name] of names.entries()) {
      const last = index === names.length - 1
      const column =
        name === ID_COLUMN.slug ? idColumn(at.type) : visibleColumns(at, visible).find(({ slug }) => slug === name)
      const target = column && targetIn(visible, column)
      if (column !== undefined && last) return { steps, at, column, written }
      if (column === undefined) {
        const { relation, type } = yield* referrerNamed(name, at, visible)
        steps.push({ back: true, of: type, relation, to: type })
      } else if (target !== undefined) steps.push({ back: false, of: at, relation: column, to: target })
      else return yield* Result.fail(missing(`${name}.${names[index + 1]}`, at, visible))
      at = steps.at(-1)!.to
    }
    return { steps, at, column: undefined, written }
  })

const referrerNamed = (name: string, at: VisibleType, visible: Visible): Result.Result<Referrer, Fault> => {
  const [slug, by] = name.split("@")
  const found = referrersOf(at, visible).filter(
    ({ relation, type }) => type.type.slug === slug && (by === undefined || relation.slug === by)
  )
  if (found.length === 0 || name.split("@").length > 2) return Result.fail(missing(name, at, visible))
  if (found.length === 1) return Result.succeed(found[0]!)
  const choices = found.map(({ relation }) => `${slug}@${relation.slug}`)
  return invalid(`Several columns of ${slug} lead here: write ${choices.join(" or ")}.`)
}

const missing = (name: string, at: VisibleType, visible: Visible): UnknownName =>
  unknownName(
    name,
    `There is no column ${quoted(name)} in ${at.type.slug}.`,
    visibleColumns(at, visible).map(({ slug }) => slug)
  )

/** Some shown row at the path's end satisfies the condition. */
export const reaches = ({ steps }: Path, condition: Condition): Condition =>
  steps.reduceRight<Condition>((inner, { back, of, relation, to }) => {
    if (inner._tag === "Never") return NEVER
    const mask = maskOf(of.plan, relation)
    return back
      ? { _tag: "Referrer", type: of.type.key, relation: relation.key, where: conjunction(to.plan.where, mask, inner) }
      : conjunction(mask, { _tag: "Some", relation: relation.key, where: conjunction(to.plan.where, inner) })
  }, condition)

/** The conjunction in this order: not in the canonical one, which depends on values. */
export const conjunction = (...parts: ReadonlyArray<Condition>): Condition => {
  const of = parts.filter((part) => part._tag !== "Always")
  return of.length === 1 ? of[0]! : of.length === 0 ? ALWAYS : { _tag: "All", of }
}

/** Whether a filter on the path can miss rows because something on its way is hidden. */
export const isPartialPath = ({ at, column, steps }: Path, visible: Visible): boolean => {
  const hides = ({ plan }: VisibleType, of: Column | undefined) =>
    of !== undefined && maskOf(plan, of)._tag !== "Always"
  const target = column === undefined ? at : targetIn(visible, column)
  return (
    steps.some(({ of, relation, to }) => to.plan.limited || hides(of, relation)) ||
    hides(at, column) ||
    (target !== undefined && (target.plan.limited || hides(target, columnByKey(target.type, DISPLAY_NAME))))
  )
}
