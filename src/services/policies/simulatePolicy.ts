/** Simulates another policy for a person and a type: the rows and cells gained and lost, with counts and examples. */
import { Effect } from "effect"
import type { EntityType } from "../../domain/EntityType.ts"
import type { Unavailable } from "../../domain/errors.ts"
import type { Judgement } from "../../database/sql/judge.ts"
import { printable } from "../../domain/text.ts"
import { all, type Bound } from "../../domain/Predicate.ts"
import { DENIAL_REASONS } from "../../permissions/describe.ts"
import type { Policy } from "../../permissions/Policy.ts"
import { type RowEvaluator, plannedAccess } from "./rowEvaluator.ts"
import { simulateChanges, type SimulatedChanges } from "./simulateChanges.ts"
import type { ReviewSubject } from "./reviewSubject.ts"

/** A count, and the names of the first rows. */
export interface Difference {
  readonly count: number
  readonly examples: ReadonlyArray<string>
}

export interface Simulation {
  readonly who: string
  readonly type: string
  readonly total: number
  readonly before: number
  readonly after: number
  /** The reason why the other policy denies the whole type. */
  readonly denied?: string
  readonly rows: { readonly gained: Difference; readonly lost: Difference }
  /** Changed cells, by column, on rows visible under both policies. */
  readonly cells: ReadonlyArray<{ readonly column: string; readonly gained: Difference; readonly lost: Difference }>
  /** The columns visible on at least one gained row. */
  readonly gainedColumns: ReadonlyArray<string>
  readonly changes?: SimulatedChanges
}

const MAX_EXAMPLES = 5

export const simulatePolicy = (
  evaluator: RowEvaluator,
  subject: ReviewSubject,
  from: Policy,
  to: Policy,
  type: EntityType,
  now: number
): Effect.Effect<Simulation, Unavailable> =>
  Effect.gen(function* () {
    const { principal, state } = subject
    const [before, after] = [from, to].map((policy) => plannedAccess(policy, state.catalog, principal, type, now)) as [
      ReturnType<typeof plannedAccess>,
      ReturnType<typeof plannedAccess>
    ]
    const both = all(before.rows, after.rows)
    const changed = type.columns.filter(({ key }) => !same(before.cell(key), after.cell(key)))
    const judgements: ReadonlyArray<Judgement> = [
      { of: before.rows },
      { of: after.rows },
      { of: after.rows, without: before.rows },
      { of: before.rows, without: after.rows },
      ...changed.flatMap(({ key }) => [
        { of: all(both, after.cell(key)), without: before.cell(key) },
        { of: all(both, before.cell(key)), without: after.cell(key) }
      ]),
      ...type.columns.map(({ key }) => ({ of: after.cell(key), without: before.rows }))
    ]
    const { counts, total } = yield* evaluator.counts(type, state.catalog, judgements)
    const difference = Effect.fnUntraced(function* (index: number) {
      const count = counts[index]!
      if (count === 0) return { count, examples: [] } satisfies Difference
      const rows = yield* evaluator.rows(type, state.catalog, [], { where: judgements[index]!, limit: MAX_EXAMPLES })
      return {
        count,
        examples: rows.map(({ externalId, id, name }) => (name === "" ? printable(externalId ?? id) : name))
      }
    })
    const cells = yield* Effect.forEach(
      changed,
      Effect.fnUntraced(function* ({ slug }, index) {
        return {
          column: slug,
          gained: yield* difference(4 + 2 * index),
          lost: yield* difference(5 + 2 * index)
        }
      })
    )
    const changes = yield* simulateChanges(evaluator, subject, from, to, type, now)
    return {
      who: subject.name,
      type: type.slug,
      total,
      before: counts[0]!,
      after: counts[1]!,
      ...(after.plan._tag === "Denied" ? { denied: DENIAL_REASONS[after.plan.reason] } : {}),
      rows: { gained: yield* difference(2), lost: yield* difference(3) },
      cells: cells.filter(({ gained, lost }) => gained.count + lost.count > 0),
      gainedColumns: type.columns
        .filter((_, index) => counts[4 + 2 * changed.length + index]! > 0)
        .map(({ slug }) => slug),
      ...(changes === undefined ? {} : { changes })
    }
  })

const same = (a: Bound, b: Bound): boolean => JSON.stringify(a) === JSON.stringify(b)
