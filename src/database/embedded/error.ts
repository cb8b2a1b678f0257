/** The one error of the embedded server, and how other failures become it. */
import { Data, Effect, Schema } from "effect"

/** The embedded server can't be used: one line saying what is wrong and the way out. */
export class EmbeddedServerError extends Schema.TaggedError<EmbeddedServerError>()("EmbeddedServerError", {
  message: Schema.String
}) {}

/** Another process is at work on the same server: worth asking again in a moment. */
export class NotYet extends Data.TaggedError("NotYet")<{ readonly message: string }> {}

/** The way out of everything that is about one folder or this machine. */
export const elsewhere = "Set MAX_DATA_DIR to another folder, or DATABASE_URL to a Postgres server."

export const refusal = (message: string): EmbeddedServerError =>
  new EmbeddedServerError({ message: message.replace(/\s+/g, " ").trim() })

/** Runs file operations; a failure becomes `what: reason. way out`. */
export const attempt = <A>(
  what: string,
  run: () => Promise<A>,
  wayOut: string = elsewhere
): Effect.Effect<A, EmbeddedServerError> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => refusal(`${what}: ${reasonOf(cause)}. ${wayOut}`)
  })

export const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
