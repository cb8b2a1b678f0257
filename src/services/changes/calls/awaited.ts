/** The receipt of a confirmed change with calls: they are sent by another fiber or process, whose result is awaited for a moment. */
import { Effect, Schedule } from "effect"
import type { Database } from "../../../database/Database.ts"
import { orUnavailable } from "../../../database/execute.ts"
import type { Receipt } from "../../../domain/Change.ts"
import type { Unavailable } from "../../../domain/errors.ts"
import type { Principal } from "../../../domain/Principal.ts"
import { documentOf } from "../document.ts"
import { readChange } from "../records.ts"
import { calledActions, isPending, outcomesOf } from "./outboxRows.ts"
import { toldBy } from "./showCalls.ts"

/** Longer answers are shown with the change. */
const WAIT_MS = 3000

export const awaited = Effect.fnUntraced(function* (
  { organizationId }: Principal,
  changeId: string,
  receipt: Receipt,
  { changes: sql }: Database["Service"]
): Effect.fn.Return<Receipt, Unavailable> {
  const until = performance.now() + WAIT_MS
  const outcomes = yield* Effect.repeat(orUnavailable(outcomesOf(sql, organizationId, changeId)), {
    until: (rows) => !rows.some(isPending) || performance.now() > until,
    schedule: Schedule.spaced("50 millis")
  })
  const stored = yield* orUnavailable(readChange(sql, organizationId, changeId))
  const document = stored === undefined ? undefined : documentOf(stored)
  if (document === undefined) return receipt
  const { calls = [] } = document
  const actions = yield* orUnavailable(calledActions(sql, organizationId, calls))
  return toldBy(outcomes, calls, actions)(receipt)
})
