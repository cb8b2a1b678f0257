/** Public errors, each with its HTTP status. */
import { Schema } from "effect"

const fields = { message: Schema.String }

/** The caller has no active membership. The message discloses nothing about memberships. */
export class NotAdmitted extends Schema.TaggedError<NotAdmitted>()("NotAdmitted", fields, { httpApiStatus: 403 }) {
  static readonly error = new NotAdmitted({ message: "You don't have access here. Ask an administrator to add you." })
}

/** The credential is missing, invalid, expired or revoked. The message doesn't disclose which. */
export class NotAuthenticated extends Schema.TaggedError<NotAuthenticated>()("NotAuthenticated", fields, {
  httpApiStatus: 401
}) {
  static readonly error = new NotAuthenticated({
    message: "Send a valid token: Authorization: Bearer max_… (to create one: max token create)."
  })
}

/** The credential is valid, but its scopes exclude this request. */
export class NotInScope extends Schema.TaggedError<NotInScope>()("NotInScope", fields, { httpApiStatus: 403 }) {}

/** The call rate limit is exceeded; `retryAfter` is in whole seconds. */
export class TooManyCalls extends Schema.TaggedError<TooManyCalls>()(
  "TooManyCalls",
  { message: Schema.String, retryAfter: Schema.Int },
  { httpApiStatus: 429 }
) {}

/** A type, column or relation that doesn't exist or is hidden from the caller: the error is byte-identical for both. */
export class UnknownName extends Schema.TaggedError<UnknownName>()("UnknownName", fields, { httpApiStatus: 404 }) {}

/** What is wrong with one field of an action: its slug, or the place in a group, such as `items/0/quantity`. */
export const FieldProblem = Schema.Struct({ field: Schema.String, message: Schema.String })
export type FieldProblem = typeof FieldProblem.Type

/** Malformed or out-of-range input; `problems` names the fields of an action that it is about. */
export class InvalidInput extends Schema.TaggedError<InvalidInput>()(
  "InvalidInput",
  { message: Schema.String, problems: Schema.optionalKey(Schema.Array(FieldProblem)) },
  { httpApiStatus: 400 }
) {
  static of(message: string, problems: ReadonlyArray<FieldProblem> = []): InvalidInput {
    return new InvalidInput(problems.length === 0 ? { message } : { message, problems })
  }
}

/** The database can't answer. One message for every cause, so that a failure never looks like an empty result. */
export class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", fields, { httpApiStatus: 503 }) {
  static readonly error = new Unavailable({
    message: "I can't look things up right now. Please try again in a minute."
  })

  /** Names the trace, if one is recorded, and otherwise only this failure. Set where a call of the library ends. */
  declare readonly reference?: string

  /**
   * With its cause: a SQLSTATE, a system code or a word, as in the log (docs/operate.md), and never the server's message. Both
   * are left out of JSON, so that no answer reveals them.
   */
  static because(cause: unknown, reference?: string, message = Unavailable.error.message): Unavailable {
    const error = new Unavailable({ message })
    if (cause !== undefined) Object.defineProperty(error, "cause", { value: cause })
    if (reference !== undefined) Object.defineProperty(error, "reference", { value: reference })
    return error
  }
}

/** The policy doesn't permit this change to the caller, who sees the row. */
export class NotAllowed extends Schema.TaggedError<NotAllowed>()("NotAllowed", fields, { httpApiStatus: 403 }) {
  static of<E>(this: new (fields: { readonly message: string }) => E, message: string): E {
    return new this({ message })
  }
}

/** A value fits several entities; the caller chooses one. `field` is the field of an action that it is about. */
export class Unclear extends Schema.TaggedError<Unclear>()(
  "Unclear",
  {
    message: Schema.String,
    choices: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String })),
    field: Schema.optionalKey(Schema.String)
  },
  { httpApiStatus: 400 }
) {}

/** Names the field that an error is about, unless it names one. */
export const atField =
  (field: string) =>
  <E>(error: E): E | InvalidInput | Unclear => {
    if (error instanceof Unclear) return new Unclear({ message: error.message, choices: error.choices, field })
    if (!(error instanceof InvalidInput) || error.problems !== undefined) return error
    const { message } = error
    const about = `${field}: `
    return InvalidInput.of(message, [
      { field, message: message.startsWith(about) ? message.slice(about.length) : message }
    ])
  }

/** What the change was proposed on is no longer so; the message says what differs, as the caller may see it. */
export class Stale extends Schema.TaggedError<Stale>()("Stale", fields, { httpApiStatus: 409 }) {
  static of<E>(this: new (fields: { readonly message: string }) => E, message: string): E {
    return new this({ message })
  }
}

/** The time to decide on the change is over. */
export class Expired extends Schema.TaggedError<Expired>()("Expired", fields, { httpApiStatus: 409 }) {
  static readonly error = new Expired({ message: "This change has expired: nothing was changed. Propose it again." })
}

/** The change was decided otherwise before. */
export class Decided extends Schema.TaggedError<Decided>()(
  "Decided",
  { message: Schema.String, state: Schema.String },
  { httpApiStatus: 409 }
) {}

/** A change needs something else first, such as a second confirmation or another row's lock to end. */
export class NotYet extends Schema.TaggedError<NotYet>()("NotYet", fields, { httpApiStatus: 409 }) {
  static of<E>(this: new (fields: { readonly message: string }) => E, message: string): E {
    return new this({ message })
  }
}

/**
 * An operator's command or an administrator's page failed: the reason and a remedy, with further lines in `details`. A
 * `command` that helps is a sentence of its own, which only commands print.
 */
export class OperatorError extends Schema.TaggedError<OperatorError>()("OperatorError", {
  message: Schema.String,
  details: Schema.optionalKey(Schema.Array(Schema.String)),
  command: Schema.optionalKey(Schema.String)
}) {
  static withCommand(message: string, command: string): OperatorError {
    return new OperatorError({ message, command })
  }

  static of(message: string, details?: ReadonlyArray<string>): OperatorError {
    return new OperatorError(details === undefined ? { message } : { message, details })
  }
}

/** The configuration or the database's state needs a manual change first. */
export class ConfigurationError extends Schema.TaggedError<ConfigurationError>()("ConfigurationError", {
  message: Schema.String,
  details: Schema.optionalKey(Schema.Array(Schema.String))
}) {
  static of<E>(this: new (fields: { readonly message: string }) => E, message: string): E {
    return new this({ message })
  }
}

/** `TooManyCalls`: groups and figures cost several calls, which are counted when they are asked for. */
export type LookupError = NotAdmitted | UnknownName | InvalidInput | TooManyCalls | Unavailable

/** How a proposal of a change can fail. */
export type ProposalError = LookupError | NotInScope | NotAllowed | Unclear | Stale

/** How a decision on a change can fail. */
export type DecisionError =
  | NotAdmitted
  | NotInScope
  | UnknownName
  | InvalidInput
  | NotAllowed
  | Stale
  | Expired
  | Decided
  | NotYet
  | Unavailable
