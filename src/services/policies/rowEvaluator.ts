/** Evaluates predicates on rows in the database, for reviewing policies. Lookups never read from here. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { runWithin } from "../../database/execute.ts"
import { compilable } from "../../database/sql/compilable.ts"
import type { Statement } from "../../database/sql/ResolvedQuery.ts"
import type { ProposedRow, RowChange } from "../../database/sql/RowChange.ts"
import { compilePropose } from "../../database/sql/write.ts"
import { compileCounts, compileRows, type JudgedRows, type Judgement } from "../../database/sql/judge.ts"
import type { Catalog, EntityType } from "../../domain/EntityType.ts"
import { Unavailable } from "../../domain/errors.ts"
import { all, type Bound, NEVER } from "../../domain/Predicate.ts"
import type { Principal } from "../../domain/Principal.ts"
import { printable } from "../../domain/text.ts"
import { showId } from "../../domain/values.ts"
import { plan } from "../../permissions/PermissionEngine.ts"
import type { Plan } from "../../permissions/permissionPlan.ts"
import type { Policy } from "../../permissions/Policy.ts"

export interface EvaluatedRow {
  readonly id: string
  readonly externalId: string | undefined
  readonly name: string
  readonly truths: ReadonlyArray<boolean>
}

export interface RowEvaluator {
  readonly counts: (
    type: EntityType,
    catalog: Catalog,
    judgements: ReadonlyArray<Judgement>
  ) => Effect.Effect<{ readonly total: number; readonly counts: ReadonlyArray<number> }, Unavailable>
  readonly rows: (
    type: EntityType,
    catalog: Catalog,
    judgements: ReadonlyArray<Judgement>,
    which: JudgedRows
  ) => Effect.Effect<ReadonlyArray<EvaluatedRow>, Unavailable>
  /** What a proposal of the change would show; nothing is changed. */
  readonly propose: (change: RowChange, catalog: Catalog) => Effect.Effect<ReadonlyArray<ProposedRow>, Unavailable>
}

export const makeRowEvaluator = (search: PgClient.PgClient): RowEvaluator => {
  const run = <Row extends object>({ organization }: Catalog, compile: () => Statement) =>
    Effect.flatMap(Effect.try({ try: compile, catch: () => Unavailable.error }), (statement) =>
      runWithin<Row>(search, organization.id, statement)
    )
  return {
    counts: (type, catalog, judgements) =>
      Effect.map(
        run<{ total: number; counts: ReadonlyArray<number> }>(catalog, () => compileCounts(type, catalog, judgements)),
        ([row]) => row!
      ),
    rows: (type, catalog, judgements, which) =>
      Effect.map(
        run<{ id: string; external_id: string | null; name: string | null; truths: ReadonlyArray<boolean> }>(
          catalog,
          () => compileRows(type, catalog, judgements, which)
        ),
        (rows) =>
          rows.map((row) => ({
            id: showId(row.id, type.mapping?.id.type),
            externalId: row.external_id ?? undefined,
            name: printable(row.name ?? ""),
            truths: row.truths
          }))
      ),
    propose: (change, catalog) => run<ProposedRow>(catalog, () => compilePropose(change, catalog))
  }
}

/** A plan as predicates over rows and over one column's cells; a denied plan is `NEVER`. */
export interface PlannedAccess {
  readonly plan: Plan
  readonly rows: Bound
  readonly cell: (column: string) => Bound
}

/** Plans a principal's read access to a type under a policy, as a lookup does. */
export const plannedAccess = (
  policy: Policy,
  catalog: Catalog,
  principal: Principal,
  type: EntityType,
  now: number
): PlannedAccess => {
  const planOf = (of: EntityType) => compilable(plan(policy, catalog, principal, of, "read", now), of, catalog)
  const planned = planOf(type)
  const leadsToDeniedType = (column: string) => {
    const storage = type.columns.find(({ key }) => key === column)?.storage
    if (storage === undefined || storage._tag === "Value") return false
    const target = catalog.types.find(({ key }) => key === storage.target)
    return target === undefined || planOf(target)._tag === "Denied"
  }
  return {
    plan: planned,
    rows: planned._tag === "Granted" ? planned.where : NEVER,
    // A relation to a denied type is hidden.
    cell: (column) =>
      planned._tag === "Granted" && !leadsToDeniedType(column)
        ? all(planned.where, planned.cells.get(column) ?? NEVER)
        : NEVER
  }
}
