/** What a request costs beyond the one call that its admission counts. */
import { Context, Effect } from "effect"
import type { TooManyCalls, Unavailable } from "./errors.ts"
import type { Principal } from "./Principal.ts"

/** Groups or figures read every matching row: they cost this many calls of the minute's allowance. */
export const FIGURE_CALLS = 5

/** Counts further calls of a principal against the limits of the current request; nothing where calls aren't counted. */
export const FurtherCalls = Context.Reference<
  (principal: Principal, calls: number) => Effect.Effect<void, TooManyCalls | Unavailable>
>("max/domain/FurtherCalls", { defaultValue: () => () => Effect.void })
