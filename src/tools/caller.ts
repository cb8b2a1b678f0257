/** The tools as a promise-returning function for code outside Effect: bound to one caller, and it never rejects. */
import { Effect } from "effect"
import { Unavailable } from "../domain/errors.ts"
import type { CurrentPrincipal } from "../domain/Principal.ts"
import { callTool, type ToolOutcome } from "./call.ts"
import type { MaxToolkit } from "./Toolkit.ts"
import type { Tool } from "effect/ai"

export type ToolCaller = (name: string, input: unknown) => Promise<ToolOutcome>

const UNAVAILABLE: ToolOutcome = { text: Unavailable.error.message, failed: true, unavailable: true }

/** The tools for the current principal. Create one per request: it is bound to this principal. */
export const toolCaller: Effect.Effect<
  ToolCaller,
  never,
  CurrentPrincipal | Tool.HandlersFor<typeof MaxToolkit.tools>
> = Effect.map(Effect.context<CurrentPrincipal | Tool.HandlersFor<typeof MaxToolkit.tools>>(), (context) => {
  const run = Effect.runPromiseWith(context)
  return (name, input) => run(Effect.catchCause(callTool(name, input), () => Effect.succeed(UNAVAILABLE)))
})
