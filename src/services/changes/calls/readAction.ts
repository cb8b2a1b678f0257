/** Runs an action that only reads: for a member whom the policy lets, counted as a call, and in the audit log without its values. */
import { Effect } from "effect"
import { appendAudit } from "../../../database/audit.ts"
import type { Database } from "../../../database/Database.ts"
import { orUnavailable } from "../../../database/execute.ts"
import { type DeclaredAction, READ } from "../../../domain/DeclaredAction.ts"
import { type NotYet, type ProposalError, UnknownName } from "../../../domain/errors.ts"
import { quoted } from "../../../domain/text.ts"
import type { ReadRows, SourceRow } from "../../actions/readRows.ts"
import type { EntityQueryService } from "../../EntityQueryService.ts"
import { type Caller, requireKnown } from "../callers.ts"
import type { StepInput } from "../resolve.ts"
import { resolveCall } from "./Call.ts"

/** What an action read in another system. */
export interface ReadResult {
  readonly action: DeclaredAction
  readonly rows: ReadonlyArray<SourceRow>
}

export const readAction = Effect.fnUntraced(function* (
  step: StepInput,
  caller: Caller,
  queries: EntityQueryService["Service"],
  read: ReadRows,
  { changes: sql }: Database["Service"]
): Effect.fn.Return<ReadResult, ProposalError | NotYet> {
  yield* requireKnown([step.actionId], caller)
  const action = caller.actions.find(({ category, slug }) => slug === step.actionId && category === READ)
  if (action === undefined)
    return yield* new UnknownName({ message: `There is no action ${quoted(step.actionId)} that reads.` })
  const { values } = yield* resolveCall(action, step, caller, queries, read)
  const { anchorEntityId, organizationId } = caller.principal
  const { slug, version } = action
  // Before it is read: an audit log that can't be written to stops the read.
  yield* orUnavailable(
    appendAudit(sql, organizationId, "changes", [
      { actor: anchorEntityId, action: "action.read", subject: slug, details: { version } }
    ]).pipe(sql.withTransaction)
  )
  return { action, rows: yield* read(action, values) }
})
