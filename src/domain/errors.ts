/** Public errors, each with its HTTP status and the exit code of the command line, stated once. */
import { Schema } from "effect"

/** The caller isn't admitted, or was until a moment ago. Says nothing about who would be. */
export class NotAdmitted extends Schema.TaggedError<NotAdmitted>()(
  "NotAdmitted",
  { message: Schema.String },
  { httpApiStatus: 403 }
) {
  static readonly error = new NotAdmitted({ message: "You don't have access here. Ask an administrator to add you." })
}

/** No proof of who is calling, or one that isn't good (any more): which of the two, and why, isn't said. */
export class NotAuthenticated extends Schema.TaggedError<NotAuthenticated>()(
  "NotAuthenticated",
  { message: Schema.String },
  { httpApiStatus: 401 }
) {
  static readonly error = new NotAuthenticated({
    message: "Send a token that is in force: Authorization: Bearer max_… (max token create makes one)."
  })
}

/** The proof is good, and not for this. */
export class NotInScope extends Schema.TaggedError<NotInScope>()(
  "NotInScope",
  { message: Schema.String },
  { httpApiStatus: 403 }
) {}

/** More calls than a minute holds; `retryAfter` is in whole seconds. */
export class TooManyCalls extends Schema.TaggedError<TooManyCalls>()(
  "TooManyCalls",
  { message: Schema.String, retryAfter: Schema.Int },
  { httpApiStatus: 429 }
) {}

/** A type, column or relation that doesn't exist or that the caller may not see: the two are the same error, byte for byte. */
export class UnknownName extends Schema.TaggedError<UnknownName>()(
  "UnknownName",
  { message: Schema.String },
  { httpApiStatus: 404 }
) {}

/** Input that can't be read as what it has to be. */
export class InvalidInput extends Schema.TaggedError<InvalidInput>()(
  "InvalidInput",
  { message: Schema.String },
  { httpApiStatus: 400 }
) {}

/** Nothing can be looked up right now. One constant, whatever the cause: a failure never becomes an answer. */
export class Unavailable extends Schema.TaggedError<Unavailable>()(
  "Unavailable",
  { message: Schema.String },
  { httpApiStatus: 503 }
) {
  static readonly error = new Unavailable({
    message: "I can't look things up right now. Please try again in a minute."
  })
}

/** An operator's command that can't be done, with the reason and the way out; `details` are further lines. */
export class OperatorError extends Schema.TaggedError<OperatorError>()("OperatorError", {
  message: Schema.String,
  details: Schema.optionalKey(Schema.Array(Schema.String))
}) {}

/** Configuration or database state that a person must change first. */
export class ConfigurationError extends Schema.TaggedError<ConfigurationError>()("ConfigurationError", {
  message: Schema.String
}) {}

export type LookupError = NotAdmitted | UnknownName | InvalidInput | Unavailable
