/** Rejecting and withdrawing a change. */
import { Effect } from "effect"
import type { Database } from "../../database/Database.ts"
import { Decided, type DecisionError } from "../../domain/errors.ts"
import type { Principal } from "../../domain/Principal.ts"
import { requireChange } from "./decisions.ts"
import { noChange } from "./propose.ts"
import type { Stored, Via } from "./records.ts"
import { decide, settled } from "./settle.ts"

/** Rejects a change: its proposer while it is open, an approver while it waits. */
export const reject = (principal: Principal, changeId: string, via: Via, database: Database["Service"]) =>
  end(principal, changeId, via, database, "rejected", (stored, own) =>
    own ? stored.state === "open" : stored.state === "waiting"
  )

/** Withdraws a change; only its proposer can. */
export const withdraw = (principal: Principal, changeId: string, via: Via, database: Database["Service"]) =>
  end(principal, changeId, via, database, "withdrawn", (_, own) => own)

const end = Effect.fnUntraced(function* (
  principal: Principal,
  changeId: string,
  via: Via,
  database: Database["Service"],
  state: "rejected" | "withdrawn",
  may: (stored: Stored, own: boolean) => boolean
): Effect.fn.Return<void, DecisionError> {
  const stored = yield* requireChange(principal, changeId, database)
  if (stored.state === state) return
  const receipt = yield* settled(stored)
  if (receipt !== undefined)
    return yield* new Decided({ message: "This change was applied. Undo it instead.", state: "applied" })
  if (!may(stored, stored.proposer_id === principal.anchorEntityId)) return yield* noChange
  const ended = yield* decide(
    database,
    stored,
    principal,
    via,
    `state = '${state}', decided_at = clock_timestamp(), decided_by = $4::text, decided_channel = $5::text`,
    "c.state IN ('open', 'waiting')",
    [{ phase: state, outcome: "ok" }],
    state === "rejected" ? "change.rejected" : undefined
  )
  if (ended) return
  yield* settled(yield* requireChange(principal, changeId, database))
})
