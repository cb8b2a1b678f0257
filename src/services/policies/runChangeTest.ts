/** Runs a policy test about a change: proposes it as the person under that policy, and changes nothing. */
import { Effect } from "effect"
import { compilable, compilableWrite } from "../../database/sql/compilable.ts"
import { type Assignment, changedColumns, type ProposedRow, type RowChange } from "../../database/sql/RowChange.ts"
import {
  isWritable,
  type Catalog,
  type Column,
  columnByKey,
  type EntityType,
  targetOf,
  typeByKey
} from "../../domain/EntityType.ts"
import { type NotAdmitted, OperatorError, type Unavailable } from "../../domain/errors.ts"
import { nextId } from "../../domain/ids.ts"
import { NEVER } from "../../domain/Predicate.ts"
import { quoted } from "../../domain/text.ts"
import { entityId, parseId } from "../../domain/values.ts"
import { decide } from "../../permissions/decide.ts"
import { listed } from "../../permissions/describe.ts"
import { plan } from "../../permissions/PermissionEngine.ts"
import type { ChangeTest, Policy } from "../../permissions/Policy.ts"
import { planWrite } from "../../permissions/WritePlan.ts"
import { cellWriter } from "../cells/cellWriter.ts"
import type { ReviewSubject } from "./reviewSubject.ts"
import type { RowEvaluator } from "./rowEvaluator.ts"
import { label, titleOf } from "./testOutcome.ts"

export const runChangeTest = Effect.fnUntraced(function* (
  evaluator: RowEvaluator,
  policy: Policy,
  test: ChangeTest,
  wanted: Effect.Effect<ReviewSubject, OperatorError | NotAdmitted | Unavailable>
) {
  const subject = yield* wanted
  const { catalog } = subject.state
  const type = typeByKey(catalog, test.type)!
  const named = [...new Set([...test.allows, ...test.refuses])]
  const rows = yield* evaluator.rows(type, catalog, [], { externalIds: named, limit: named.length })
  const idOf = new Map(rows.map((row) => [row.externalId!, boundId(row.id, type)]))
  const ids = test.action === "create" ? [nextId().toString()] : [...idOf.values()]
  const change = yield* changeOf(evaluator, policy, test, type, ids, subject)
  const proposed = change === undefined || ids.length === 0 ? [] : yield* evaluator.propose(change, catalog)
  const reasonOf = (id: string | undefined): string | undefined =>
    change === undefined
      ? `no rule in force lets them ${test.action} ${type.slug}`
      : whyRefused(
          change,
          proposed.find((row) => row.id === id)
        )
  const nameOf = (id: string) => {
    const row = rows.find(({ externalId }) => externalId === id)
    return row === undefined ? `${quoted(id)} (no such row)` : label(row)
  }
  const failures: Array<string> = []
  const check = (name: string, reason: string | undefined, allowed: boolean) => {
    if (allowed && reason !== undefined) failures.push(`expected ${name} to be allowed; found it refused: ${reason}`)
    if (!allowed && reason === undefined) failures.push(`expected ${name} to be refused; found it allowed`)
  }
  for (const id of test.allows) check(nameOf(id), reasonOf(idOf.get(id)), true)
  for (const id of test.refuses) check(nameOf(id), reasonOf(idOf.get(id)), false)
  if (test.creates !== undefined) check("the new row", reasonOf(ids[0]), test.creates)
  return { path: test.path, title: titleOf(test, type.slug), failures }
})

const boundId = (id: string, type: EntityType): string => parseId(id, type.mapping?.id.type) ?? entityId(id)

/** The change as the person would propose it; undefined when a plan denies all of it. */
const changeOf = Effect.fnUntraced(function* (
  evaluator: RowEvaluator,
  policy: Policy,
  test: ChangeTest,
  type: EntityType,
  ids: ReadonlyArray<string>,
  { principal, state: { catalog } }: ReviewSubject
) {
  const now = Date.now()
  const readOf = (of: EntityType) => compilable(plan(policy, catalog, principal, of, "read", now), of, catalog)
  const read = readOf(type)
  const write = compilableWrite(planWrite(policy, catalog, principal, type, test.action, now), type, catalog)
  const assignments = yield* Effect.forEach(
    Object.entries(test.values),
    Effect.fnUntraced(function* ([key, value]) {
      const column = columnByKey(type, key)!
      const target = targetOf(catalog, column)
      if (target === undefined) return { column, texts: yield* textsOf(column, value, catalog) } satisfies Assignment
      const seen = readOf(target)
      return {
        column,
        texts: yield* idsOf(evaluator, column, target, value, catalog, principal.anchorEntityId),
        target: { type: target, where: seen._tag === "Granted" ? seen.where : NEVER }
      } satisfies Assignment
    })
  )
  const settable = type.mapping?.write?.columns
  if (settable !== undefined && !assignments.every(({ column }) => settable.includes(column.key))) return undefined
  if (read._tag === "Denied" || write._tag === "Denied" || !isWritable(type, test.action)) return undefined
  return { type, ids, assignments, read, write } satisfies RowChange
})

const textsOf = (column: Column, value: ChangeTest["values"][string], { organization }: Catalog) => {
  if (column.storage._tag !== "Value") throw new Error("A relation to a type that doesn't exist")
  const written = cellWriter(column, column.storage, organization).write(value ?? undefined)
  return typeof written === "string"
    ? Effect.fail(OperatorError.of(`${column.slug}: ${written}.`))
    : Effect.succeed(written)
}

/** The ids of the rows that a relation is set to, by external id. */
const idsOf = Effect.fnUntraced(function* (
  evaluator: RowEvaluator,
  column: Column,
  target: EntityType,
  value: ChangeTest["values"][string],
  catalog: Catalog,
  me: string
) {
  const wanted = value === null ? [] : [value].flat()
  const rows = yield* evaluator.rows(target, catalog, [], { externalIds: wanted, limit: wanted.length })
  const ids = yield* Effect.forEach(wanted, (externalId) => {
    const id = externalId === "$me" ? me : rows.find((row) => row.externalId === externalId)?.id
    return id === undefined
      ? Effect.fail(OperatorError.of(`${column.slug}: there is no row ${quoted(externalId)} of ${target.slug}.`))
      : Effect.succeed(boundId(id, target))
  })
  return column.storage._tag === "One" && ids.length === 0 ? [null] : ids
})

/** Why a proposal would be refused on a row; undefined when it would be accepted. */
const whyRefused = (change: RowChange, row: ProposedRow | undefined): string | undefined => {
  if (row === undefined) return "the row is hidden"
  const columns = changedColumns(change)
  const slugs = (some: ReadonlyArray<Column>) => listed(some.map(({ slug }) => slug))
  const hidden = columns.filter((_, index) => row.visible[index] !== true)
  if (hidden.length > 0) return `${slugs(hidden)} of the row is hidden`
  const leading = change.assignments.filter((_, index) => row.targets[index] !== true).map(({ column }) => column)
  if (leading.length > 0) return `what ${slugs(leading)} is set to is hidden`
  const refusals = decide(
    change.write,
    columns.map(({ key }) => key),
    { before: row.bits_before, after: row.bits_after }
  )
  const of = (because: "row" | "value") =>
    columns.filter(({ key }) => refusals.some((refusal) => refusal.because === because && refusal.column === key))
  if (refusals.some(({ because }) => because === "row"))
    return of("row").length === 0
      ? "no rule allows it on this row"
      : `no rule allows ${slugs(of("row"))} to change on this row`
  return refusals.length === 0 ? undefined : `no rule allows this value of ${slugs(of("value"))}`
}
