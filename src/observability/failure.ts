/** Names of failures. Only an error's tag or class leaves the process: its message may quote a row. */
import { Cause, Exit } from "effect"

const tagOf = (error: unknown): string | undefined =>
  typeof error === "object" && error !== null && "_tag" in error && typeof error._tag === "string"
    ? error._tag
    : undefined

/** Why a span failed: the error's tag, `interrupted` or `Defect`; undefined when it succeeded. */
export const failureOf = (exit: Exit.Exit<unknown, unknown>): string | undefined => {
  if (Exit.isSuccess(exit)) return undefined
  if (Cause.hasInterruptsOnly(exit.cause)) return "interrupted"
  return tagOf(Cause.squash(exit.cause)) ?? "Defect"
}

/** The name of a logged error: its tag, or its class. */
export const errorName = (cause: Cause.Cause<unknown>): string => {
  const error: unknown = Cause.squash(cause)
  return tagOf(error) ?? (error instanceof Error ? error.name : "Defect")
}
