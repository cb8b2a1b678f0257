/** Runs the tests of a policy file: evaluates each person's access under that policy in the database. */
import { Effect } from "effect"
import { type Organization, slugOf, typeByKey } from "../../domain/EntityType.ts"
import type { NotAdmitted, OperatorError, Unavailable } from "../../domain/errors.ts"
import { printable, quoted } from "../../domain/text.ts"
import type { Policy, PolicyTest, ReadTest } from "../../permissions/Policy.ts"
import { DENIAL_REASONS, listed } from "../../permissions/describe.ts"
import { type RowEvaluator, plannedAccess } from "./rowEvaluator.ts"
import type { ReviewSubject, SubjectRequest } from "./reviewSubject.ts"
import { runChangeTest } from "./runChangeTest.ts"
import { label, type TestOutcome, titleOf } from "./testOutcome.ts"

/** The most unexpected rows that a failure names. */
const MAX_NAMED = 5

export const makeTestRunner =
  (
    evaluator: RowEvaluator,
    subject: (
      organization: Organization,
      wanted: SubjectRequest
    ) => Effect.Effect<ReviewSubject, OperatorError | NotAdmitted | Unavailable>
  ) =>
  (organization: Organization, policy: Policy, tests: ReadonlyArray<PolicyTest>) =>
    Effect.forEach(tests, (test) =>
      (test.action === "read"
        ? runTest(evaluator, policy, test, subject(organization, test))
        : runChangeTest(evaluator, policy, test, subject(organization, test))
      ).pipe(
        Effect.catchTag("OperatorError", (error) =>
          Effect.succeed({
            path: test.path,
            title: titleOf(test, test.type),
            failures: [error.message.replace(/\.$/, "")]
          })
        )
      )
    )

const runTest = Effect.fnUntraced(function* (
  evaluator: RowEvaluator,
  policy: Policy,
  test: ReadTest,
  subject: Effect.Effect<ReviewSubject, OperatorError | NotAdmitted | Unavailable>
) {
  const { principal, state } = yield* subject
  const { catalog } = state
  const type = typeByKey(catalog, test.type)!
  const access = plannedAccess(policy, catalog, principal, type, Date.now())
  const failures: Array<string> = []
  const columnNames = (keys: ReadonlyArray<string>) => listed(keys.map((key) => slugOf(type, key) ?? key))

  const isDenied = access.plan._tag === "Denied"
  if (test.denied !== undefined && test.denied !== isDenied)
    failures.push(
      isDenied
        ? `expected access to ${type.slug}; found the whole type denied (${DENIAL_REASONS[access.plan.reason]})`
        : `expected ${type.slug} to be denied; found that ${listed(access.plan.ruleIds)} allows it`
    )

  const [shows, hides] = [test.shows ?? [], test.hides ?? []]
  const named = [...(test.expect ?? []), ...(test.includes ?? [])]
  const rows = yield* evaluator.rows(
    type,
    catalog,
    [access.rows, ...[...shows, ...hides].map(access.cell)].map((of) => ({ of })),
    { externalIds: [...named, ...(test.excludes ?? [])], limit: 3000 }
  )
  const byId = new Map(rows.map((row) => [row.externalId, row]))
  const sees = (id: string) => byId.get(id)?.truths[0] === true

  const nameOf = (id: string) => {
    const row = byId.get(id)
    return row === undefined ? `${quoted(id)} (no such row)` : label(row)
  }
  const unexpected =
    test.expect === undefined
      ? []
      : yield* evaluator.rows(type, catalog, [], {
          where: { of: access.rows },
          notExternalIds: test.expect,
          limit: MAX_NAMED + 1
        })
  const missing = [...new Set(named)].filter((id) => !sees(id))
  if (missing.length > 0) failures.push(`expected to see ${listed(missing.map(nameOf))}; found it hidden`)
  if (unexpected.length > 0) {
    const first = unexpected.slice(0, MAX_NAMED).map(label)
    failures.push(
      `expected ${test.expect!.length === 0 ? "no row" : `only ${listed(test.expect!.slice(0, MAX_NAMED).map(printable))}${test.expect!.length > MAX_NAMED ? ", …" : ""}`}; ` +
        `found ${listed(first)}${unexpected.length > MAX_NAMED ? " and more" : ""}`
    )
  }
  const leaked = (test.excludes ?? []).filter(sees)
  if (leaked.length > 0) failures.push(`expected ${listed(leaked.map(nameOf))} to be hidden; found it visible`)

  for (const [index, column] of [...shows, ...hides].entries()) {
    const wanted = index < shows.length
    const wrong = named.filter((id) => sees(id) && (byId.get(id)!.truths[index + 1] === true) !== wanted)
    if (wrong.length > 0) {
      failures.push(
        `expected ${columnNames([column])} to be ${wanted ? "shown" : "hidden"}; found it ${wanted ? "hidden" : "shown"} on ${listed(wrong.map(nameOf))}`
      )
    }
    const visibleSomewhere = access.cell(column)._tag !== "Never"
    if (named.length === 0 && visibleSomewhere !== wanted) {
      failures.push(
        wanted
          ? `expected ${columnNames([column])} to be shown on at least one row; found it hidden on every row`
          : `expected ${columnNames([column])} to be hidden on every row; found it shown`
      )
    }
  }
  return {
    path: test.path,
    title: titleOf(test, type.slug),
    failures
  }
})

/** The failures, one line each. */
export const failureLines = (outcomes: ReadonlyArray<TestOutcome>): ReadonlyArray<string> =>
  outcomes.flatMap(({ failures, path, title }) => failures.map((failure) => `${path}: ${title}: ${failure}.`))
