/** Runs the tests that a policy carries: what each person sees is asked of the database, under the policy that is tested. */
import { Effect } from "effect"
import { columnByKey, type Organization, typeByKey } from "../../domain/EntityType.ts"
import type { NotAdmitted, OperatorError, Unavailable } from "../../domain/errors.ts"
import { printable, quoted } from "../../domain/text.ts"
import type { Policy, PolicyTest } from "../../permissions/Policy.ts"
import { listed } from "../../permissions/describe.ts"
import { type RowEvaluator, type EvaluatedRow, plannedAccess } from "./rowEvaluator.ts"
import type { ReviewSubject, SubjectRequest } from "./reviewSubject.ts"

export interface TestOutcome {
  readonly path: string
  /** Who reads what, in words. */
  readonly title: string
  /** What was expected and what was found; nothing when the test passed. */
  readonly failures: ReadonlyArray<string>
}

/** Rows too many that a failure names. */
const MAX_NAMED = 5

export const makeTestRunner =
  (
    judge: RowEvaluator,
    subject: (
      organization: Organization,
      wanted: SubjectRequest
    ) => Effect.Effect<ReviewSubject, OperatorError | NotAdmitted | Unavailable>
  ) =>
  (organization: Organization, policy: Policy, tests: ReadonlyArray<PolicyTest>) =>
    Effect.forEach(tests, (test) =>
      runTest(judge, policy, test, subject(organization, test)).pipe(
        Effect.catchTag("OperatorError", (error) =>
          Effect.succeed({
            path: test.path,
            title: `${test.as} reads ${test.type}`,
            failures: [error.message.replace(/\.$/, "")]
          })
        )
      )
    )

const runTest = Effect.fnUntraced(function* (
  judge: RowEvaluator,
  policy: Policy,
  test: PolicyTest,
  whom: Effect.Effect<ReviewSubject, OperatorError | NotAdmitted | Unavailable>
) {
  const { principal, state } = yield* whom
  const { catalog } = state
  const type = typeByKey(catalog, test.type)!
  const sight = plannedAccess(policy, catalog, principal, type, Date.now())
  const failures: Array<string> = []
  const columnNames = (keys: ReadonlyArray<string>) => listed(keys.map((key) => columnByKey(type, key)?.slug ?? key))

  const isDenied = sight.plan._tag === "Denied"
  if (test.denied !== undefined && test.denied !== isDenied)
    failures.push(
      isDenied
        ? `expected some of ${type.slug} to be open; found the whole type denied (${DENIAL_REASONS[sight.plan.reason]})`
        : `expected ${type.slug} to be denied; found that ${listed(sight.plan.ruleIds)} opens it`
    )

  const [shows, hides] = [test.shows ?? [], test.hides ?? []]
  const named = [...(test.expect ?? []), ...(test.includes ?? [])]
  const rows = yield* judge.rows(
    type,
    catalog,
    [sight.rows, ...[...shows, ...hides].map(sight.cell)].map((of) => ({ of })),
    { externalIds: [...named, ...(test.excludes ?? [])], limit: 3000 }
  )
  const byId = new Map(rows.map((row) => [row.externalId, row]))
  const sees = (id: string) => byId.get(id)?.truths[0] === true

  const said = (id: string) => {
    const row = byId.get(id)
    return row === undefined ? `${quoted(id)} (there is no such row)` : label(row)
  }
  const tooMany =
    test.expect === undefined
      ? []
      : yield* judge.rows(type, catalog, [], {
          where: { of: sight.rows },
          notExternalIds: test.expect,
          limit: MAX_NAMED + 1
        })
  const missing = [...new Set(named)].filter((id) => !sees(id))
  if (missing.length > 0) failures.push(`expected to see ${listed(missing.map(said))}; found it hidden`)
  if (tooMany.length > 0) {
    const first = tooMany.slice(0, MAX_NAMED).map(label)
    failures.push(
      `expected ${test.expect!.length === 0 ? "no row at all" : `only ${listed(test.expect!.slice(0, MAX_NAMED).map(printable))}${test.expect!.length > MAX_NAMED ? ", …" : ""}`}; ` +
        `found ${listed(first)}${tooMany.length > MAX_NAMED ? " and more" : ""}, too`
    )
  }
  const leaked = (test.excludes ?? []).filter(sees)
  if (leaked.length > 0) failures.push(`expected not to see ${listed(leaked.map(said))}; found it visible`)

  for (const [index, column] of [...shows, ...hides].entries()) {
    const wanted = index < shows.length
    const wrong = named.filter((id) => sees(id) && (byId.get(id)!.truths[index + 1] === true) !== wanted)
    if (wrong.length > 0) {
      failures.push(
        `expected ${columnNames([column])} to be ${wanted ? "shown" : "hidden"}; found it ${wanted ? "hidden" : "shown"} on ${listed(wrong.map(said))}`
      )
    }
    const somewhere = sight.cell(column)._tag !== "Never"
    if (named.length === 0 && somewhere !== wanted) {
      failures.push(
        wanted
          ? `expected ${columnNames([column])} to be shown on some row; found it hidden on every one`
          : `expected ${columnNames([column])} to be hidden on every row; found that it can be seen`
      )
    }
  }
  return {
    path: test.path,
    title: `${test.as}${test.roles === undefined ? "" : ` as ${listed(test.roles) || "nobody in particular"}`} reads ${type.slug}`,
    failures
  }
})

const label = (row: EvaluatedRow): string => {
  const id = printable(row.externalId ?? row.id)
  return row.name === "" ? id : `${id} (${row.name})`
}

/** Why a type is denied as a whole, as an operator should hear it. */
export const DENIAL_REASONS = {
  "no-rule": "no rule in force allows it",
  "nothing-visible": "the rules that deny take away all that others allow",
  "out-of-scope": "the tool scope doesn't have it",
  "too-large": "its rules come to a plan that is too large, and such a plan shows nothing",
  "not-bindable": "its rules don't fit the catalog any more: publish the policy again"
} as const

/** The outcomes as lines, failures only. */
export const failureLines = (outcomes: ReadonlyArray<TestOutcome>): ReadonlyArray<string> =>
  outcomes.flatMap(({ failures, path, title }) => failures.map((failure) => `${path}: ${title}: ${failure}.`))
