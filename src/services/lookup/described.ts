/** What a lookup's span says of it: its shape, its plan and its counts; no values. */
import { Effect, type Tracer } from "effect"
import type { ResolvedQuery } from "../../database/sql/ResolvedQuery.ts"
import type { Unavailable } from "../../domain/errors.ts"
import * as Telemetry from "../../observability/Telemetry.ts"
import type { FindResult } from "../OrgEntityStore.ts"
import type { View } from "./views.ts"

/** Adds an attempt's plan and result to its span. */
export const described = (
  result: Effect.Effect<FindResult, Unavailable>,
  { label, limited, type }: ResolvedQuery,
  visible: View,
  plannedBefore: bigint,
  span: Tracer.Span
): Effect.Effect<FindResult, Unavailable> => {
  const planning = visible.planning() - plannedBefore
  Telemetry.setAttributes(span, {
    "max.type": type.slug,
    "max.shape": label,
    "max.plan.cached": planning === 0n,
    "max.plan.hash": visible.planHash(type)
  })
  const counted = Effect.map(result, (one) => {
    if (one._tag === "Page")
      Telemetry.setAttributes(span, {
        "max.total": one.page.total,
        "max.entities": one.page.entities.length,
        "max.limited": limited === true
      })
    return one
  })
  return planning === 0n
    ? counted
    : Effect.andThen(Telemetry.completed("PermissionEngine.plan", span, planning), counted)
}
