/** The errors of the embedded server and the conversion of other failures into them. */
import { Data, Effect, Schema } from "effect"

/** The embedded server can't be used. The message is one line: the cause and the remedy. */
export class EmbeddedServerError extends Schema.TaggedError<EmbeddedServerError>()("EmbeddedServerError", {
  message: Schema.String
}) {}

/** Another process is preparing, starting or stopping the same server: retry. */
export class NotYet extends Data.TaggedError("NotYet")<{ readonly message: string }> {}

/** The remedy for every failure of one folder or of this machine. */
export const elsewhere = "Set MAX_DATA_DIR to another folder, or DATABASE_URL to a Postgres server."

export const refusal = (message: string): EmbeddedServerError =>
  new EmbeddedServerError({ message: message.replace(/\s+/g, " ").trim() })

/** Runs file operations; a failure becomes `what: reason. remedy`. */
export const attempt = <A>(
  what: string,
  run: () => Promise<A>,
  remedy: string = elsewhere
): Effect.Effect<A, EmbeddedServerError> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => refusal(`${what}: ${reasonOf(cause)}. ${remedy}`)
  })

export const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
