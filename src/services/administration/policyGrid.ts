/** The grid of a policy file as the page shows it: the text after an edit, and its cells with names, words and lines. */
import { Effect } from "effect"
import type { Catalog, EntityType } from "../../domain/EntityType.ts"
import { typeBySlug } from "../../domain/EntityType.ts"
import { OperatorError } from "../../domain/errors.ts"
import { quoted } from "../../domain/text.ts"
import { describeCondition, describeRule } from "../../permissions/describe.ts"
import type { Policy, Problem } from "../../permissions/Policy.ts"
import { problemText } from "../../permissions/Policy.ts"
import { type PolicyDocument, printPolicy } from "../../permissions/policyDocument.ts"
import { editGrid, type GridTable, MAX_GRID_ROLES, policyGrid } from "../../permissions/policyGrid.ts"
import { problemLines } from "../../permissions/policyLines.ts"
import { PolicyProblems } from "../../permissions/PolicyProblems.ts"
import { readPolicy } from "../../permissions/readPolicy.ts"
import { makeWhereReader } from "../../permissions/readWhere.ts"
import type { Remark } from "../../wire/admin/policyEditor.ts"
import type { GridEdit, PolicyGrid } from "../../wire/admin/policyGrid.ts"

/** The problems of a file with their lines. */
export const withLines = (text: string, problems: ReadonlyArray<Problem>): ReadonlyArray<Remark> => {
  const lines = problemLines(text, problems)
  return problems.map((problem, index) => ({ ...problem, line: lines[index]! }))
}

/** A text is printed anew only if the edit changes it, so that the administrator's own layout stays. */
const afterEdit = (text: string, type: EntityType, catalog: Catalog, edit: GridEdit) => {
  const before = JSON.parse(text) as PolicyDocument
  const result = editGrid(before, catalog, { ...edit, type: type.slug })
  return "problems" in result
    ? result
    : { text: JSON.stringify(result.document) === JSON.stringify(before) ? text : printPolicy(result.document) }
}

export const gridOf = Effect.fnUntraced(function* (
  original: string,
  catalog: Catalog,
  slug: string | undefined,
  edit: GridEdit | undefined
): Effect.fn.Return<PolicyGrid, OperatorError> {
  const before = readPolicy(original, catalog)
  if ("problems" in before) return { problems: withLines(original, before.problems) }
  const type = slug === undefined ? catalog.types[0] : typeBySlug(catalog, slug)
  if (type === undefined) return yield* OperatorError.of(`There is no type ${quoted(slug ?? "")}.`)
  const changed = edit === undefined ? { text: original } : afterEdit(original, type, catalog, edit)
  if ("problems" in changed) return yield* OperatorError.of(changed.problems.map(problemText).join(" "))
  const { text } = changed
  const reading = text === original ? before : readPolicy(text, catalog)
  if ("problems" in reading) return { problems: withLines(text, reading.problems) }
  const document = JSON.parse(text) as PolicyDocument
  const roles = Object.keys(reading.policy.roles)
  return {
    document: text,
    types: catalog.types.map((each) => ({ id: each.slug, name: each.pluralName })),
    type: type.slug,
    columns: type.columns.map((column) => ({ column: column.slug, name: column.name })),
    tables: policyGrid(document, reading.policy, catalog, type).map((table) =>
      shown(table, text, reading.policy, type, catalog)
    ),
    omitted: roles.slice(MAX_GRID_ROLES)
  }
})

/** A table whose other rules are listed once, in the order of the file. */
const shown = (table: GridTable, text: string, policy: Policy, type: EntityType, catalog: Catalog) => {
  const others = [...new Set(table.roles.flatMap(({ cells }) => cells.flatMap((cell) => cell.others)))].sort(
    (a, b) => a - b
  )
  const lines = problemLines(
    text,
    others.map((index) => ({ path: `rules[${index}]`, message: "" }))
  )
  const places = new Map(others.map((index, place) => [index, place]))
  return {
    action: table.action,
    reaches: table.reaches.map(({ reach, where }) => ({
      reach,
      words:
        where === undefined
          ? ""
          : describeCondition(makeWhereReader(catalog, new PolicyProblems())(where, type, "where"), type, catalog)
    })),
    roles: table.roles.map(({ cells, role }) => ({
      role,
      cells: cells.map((cell) => ({ ...cell, others: cell.others.map((index) => places.get(index)!) }))
    })),
    others: others.map((index, place) => {
      const rule = policy.rules[index]!
      const { effect, id, role } = rule
      return { id, role, effect, words: describeRule(rule, catalog), line: lines[place]! }
    })
  }
}
