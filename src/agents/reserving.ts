/** Reserves a turn's share of the day's budget, and settles it with the actual cost however the turn ends. */
import { Cause, Effect, Exit } from "effect"
import type { Organization } from "../domain/EntityType.ts"
import type { Unavailable } from "../domain/errors.ts"
import type { Principal } from "../domain/Principal.ts"
import { todayIn } from "../domain/values.ts"
import type { Outcome, Spending } from "../services/conversations/Spending.ts"
import type { Spent } from "./loop.ts"
import type { ModelStep } from "./ModelStep.ts"
import { DAY_IS_SPENT, type TurnFault } from "./TurnFault.ts"

/** The model that answers, and the day's limits. */
export interface Chosen {
  readonly model: ModelStep["Service"]
  readonly dayTurns: number
  readonly dayTokens: number
}

export const makeReserving = (spending: Spending["Service"], turnTokens: number) => {
  const tokensOf = (dayTokens: number) => Math.min(turnTokens, dayTokens)
  return {
    /** The most tokens that a turn may take. */
    tokensOf,
    /** Runs `use` with a reservation; fails with `TurnFault` if the day is spent. `deadline` is in milliseconds since the epoch. */
    withReservation: <A, E, R>(
      organization: Organization,
      principal: Principal,
      { dayTokens, dayTurns, model }: Chosen,
      spent: Spent,
      deadline: number,
      use: Effect.Effect<A, E, R>
    ): Effect.Effect<A, E | TurnFault | Unavailable, R> => {
      const owner = { organizationId: organization.id, anchorId: principal.anchorEntityId }
      const limits = { turns: dayTurns, tokens: dayTokens }
      return Effect.acquireUseRelease(
        spending.reserve(organization, model.provider === "basic" ? 0 : tokensOf(dayTokens), limits),
        (reservation): Effect.Effect<A, E | TurnFault, R> =>
          reservation === undefined ? Effect.fail(DAY_IS_SPENT) : use,
        (reservation, exit) =>
          // A turn that the day's budget doesn't allow reserved nothing: it is counted as failed.
          Effect.ignore(
            spending.settle(
              owner,
              reservation ?? { day: todayIn(organization.timeZone), tokens: 0 },
              { model: model.model, ...spent },
              outcomeOf(exit, spent, Date.now() > deadline - TIMER_EARLY)
            )
          )
      )
    }
  }
}

/** How a turn ended. The deadline interrupts it, as the person does who stops it. */
const outcomeOf = (exit: Exit.Exit<unknown, unknown>, { declined }: Spent, isLate: boolean): Outcome => {
  if (Exit.isSuccess(exit)) return declined ? "declined" : "answered"
  return Cause.hasInterruptsOnly(exit.cause) && !isLate ? "stopped" : "failed"
}

/** Milliseconds by which a timer may fire before the clock says so. */
const TIMER_EARLY = 5
