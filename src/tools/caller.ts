/** The tools as a function for code that isn't Effect's: bound to one caller, and it never throws. */
import { Effect } from "effect"
import { Unavailable } from "../domain/errors.ts"
import type { CurrentPrincipal } from "../domain/Principal.ts"
import { callTool, type ToolOutcome } from "./call.ts"
import type { MaxToolkit } from "./Toolkit.ts"
import type { Tool } from "effect/ai"

export type ToolCaller = (name: string, input: unknown) => Promise<ToolOutcome>

const UNAVAILABLE: ToolOutcome = { text: Unavailable.error.message, failed: true, unavailable: true }

/** The tools for the current principal. Make one per request: it answers for this principal and nobody else. */
export const toolCaller: Effect.Effect<
  ToolCaller,
  never,
  CurrentPrincipal | Tool.HandlersFor<typeof MaxToolkit.tools>
> = Effect.map(Effect.context<CurrentPrincipal | Tool.HandlersFor<typeof MaxToolkit.tools>>(), (context) => {
  const run = Effect.runPromiseWith(context)
  return (name, input) => run(Effect.catchCause(callTool(name, input), () => Effect.succeed(UNAVAILABLE)))
})
