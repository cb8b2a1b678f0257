/** Tools that only read, with the annotations that say so: for `effect/ai`, and as MCP names them. */
import { Context, Schema } from "effect"
import { Tool } from "effect/ai"
import { InvalidInput, TooManyCalls, Unavailable, UnknownName } from "../domain/errors.ts"
import { CurrentPrincipal } from "../domain/Principal.ts"

const READONLY = Context.empty().pipe(
  Context.add(Tool.Readonly, true),
  Context.add(Tool.Destructive, false),
  Context.add(Tool.Idempotent, true),
  Context.add(Tool.OpenWorld, false)
)

/** The same annotations as MCP's tool hints. */
export const READONLY_HINTS = {
  readOnlyHint: Context.get(READONLY, Tool.Readonly),
  destructiveHint: Context.get(READONLY, Tool.Destructive),
  idempotentHint: Context.get(READONLY, Tool.Idempotent),
  openWorldHint: Context.get(READONLY, Tool.OpenWorld)
}

const failure = Schema.Union([UnknownName, InvalidInput, TooManyCalls, Unavailable])

/** A tool that reads for the current principal; its failures are results that a model can read. */
export const readonlyTool = <
  const Name extends string,
  Parameters extends Schema.Constraint,
  Success extends Schema.Constraint
>(
  name: Name,
  options: { readonly description: string; readonly parameters: Parameters; readonly success: Success }
) =>
  Tool.make(name, { ...options, failure, failureMode: "return", dependencies: [CurrentPrincipal] }).annotateMerge(
    READONLY
  )
