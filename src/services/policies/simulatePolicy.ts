/** Simulates another policy for a person and a type: the rows and cells gained and lost, with counts and examples. */
import { Effect } from "effect"
import { DISPLAY_NAME, type EntityType } from "../../domain/EntityType.ts"
import type { Unavailable } from "../../domain/errors.ts"
import type { Judgement } from "../../database/sql/judge.ts"
import { printable } from "../../domain/text.ts"
import { all, type Bound, NEVER } from "../../domain/Predicate.ts"
import { DENIAL_REASONS } from "../../permissions/describe.ts"
import type { Policy } from "../../permissions/Policy.ts"
import { type PlannedAccess, plannedAccess, type RowEvaluator } from "./rowEvaluator.ts"
import { simulateChanges, type SimulatedChanges } from "./simulateChanges.ts"
import type { ReviewSubject } from "./reviewSubject.ts"
import { onVisibleTargets, type Visibility } from "./visibility.ts"

/** A count, and the names of the first rows. */
export interface Difference {
  readonly count: number
  readonly examples: ReadonlyArray<string>
}

export interface Simulation {
  readonly who: string
  readonly type: string
  /** Rows of the type that the reader of the simulation sees; everything else is counted among them. */
  readonly total: number
  readonly before: number
  readonly after: number
  /** The first rows under the other policy. */
  readonly examples: ReadonlyArray<string>
  /** The number of rows on which each column is visible under the other policy. */
  readonly columns: ReadonlyArray<{ readonly column: string; readonly rows: number }>
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

/** Compares two policies for a person and a type, within the visibility of the simulation's reader. */
export const simulatePolicy = (
  evaluator: RowEvaluator,
  subject: ReviewSubject,
  from: Policy,
  to: Policy,
  type: EntityType,
  visibility: Visibility,
  now: number
): Effect.Effect<Simulation, Unavailable> =>
  Effect.gen(function* () {
    const { principal, state } = subject
    const { catalog } = state
    const part = visibility.of(type)
    const visible = part?.rows ?? NEVER
    const within = (access: PlannedAccess): PlannedAccess => {
      const seen = (bound: Bound) => onVisibleTargets(visibility, bound, type, catalog)
      return {
        plan: access.plan,
        rows: all(visible, seen(access.rows)),
        cell: (column) => all(visible, part?.cell(column) ?? NEVER, seen(access.cell(column)))
      }
    }
    const [before, after] = [from, to].map((policy) =>
      within(plannedAccess(policy, catalog, principal, type, now))
    ) as [PlannedAccess, PlannedAccess]
    const both = all(before.rows, after.rows)
    const columns = type.columns.filter(({ key }) => part?.cell(key)._tag !== "Never")
    const changed = columns.filter(({ key }) => !same(before.cell(key), after.cell(key)))
    const judgements: ReadonlyArray<Judgement> = [
      { of: visible },
      { of: before.rows },
      { of: after.rows },
      { of: after.rows, without: before.rows },
      { of: before.rows, without: after.rows },
      ...changed.flatMap(({ key }) => [
        { of: all(both, after.cell(key)), without: before.cell(key) },
        { of: all(both, before.cell(key)), without: after.cell(key) }
      ]),
      ...columns.map(({ key }) => ({ of: after.cell(key), without: before.rows })),
      ...columns.map(({ key }) => ({ of: after.cell(key) }))
    ]
    const { counts } = yield* evaluator.counts(type, catalog, judgements)
    const [total, seenBefore, seenAfter] = [counts[0]!, counts[1]!, counts[2]!]
    const difference = Effect.fnUntraced(function* (index: number) {
      const count = counts[index]!
      if (count === 0) return { count, examples: [] } satisfies Difference
      const { of, without } = judgements[index]!
      const named = all(of, part?.cell(DISPLAY_NAME) ?? NEVER)
      const rows = yield* evaluator.rows(type, catalog, [], {
        where: without === undefined ? { of: named } : { of: named, without },
        limit: MAX_EXAMPLES
      })
      return {
        count,
        examples: rows.map(({ externalId, id, name }) =>
          name === "" ? printable(visibility.isOperator ? (externalId ?? id) : id) : name
        )
      }
    })
    const cells = yield* Effect.forEach(
      changed,
      Effect.fnUntraced(function* ({ slug }, index) {
        return {
          column: slug,
          gained: yield* difference(5 + 2 * index),
          lost: yield* difference(6 + 2 * index)
        }
      })
    )
    const changes = yield* simulateChanges(evaluator, subject, from, to, type, visibility, now)
    const countsOf = columns.map((_, index) => 5 + 2 * changed.length + index)
    return {
      who: subject.name,
      type: type.slug,
      total,
      before: seenBefore,
      after: seenAfter,
      examples: (yield* difference(2)).examples,
      columns: columns.map(({ slug }, index) => ({ column: slug, rows: counts[countsOf[index]! + columns.length]! })),
      ...(after.plan._tag === "Denied" ? { denied: DENIAL_REASONS[after.plan.reason] } : {}),
      rows: { gained: yield* difference(3), lost: yield* difference(4) },
      cells: cells.filter(({ gained, lost }) => gained.count + lost.count > 0),
      gainedColumns: columns.filter((_, index) => counts[countsOf[index]!]! > 0).map(({ slug }) => slug),
      ...(changes === undefined ? {} : { changes })
    }
  })

const same = (a: Bound, b: Bound): boolean => JSON.stringify(a) === JSON.stringify(b)
