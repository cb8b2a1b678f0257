/** Every problem (RFC 9457) that the server answers with: type, status and title, and the schemas that endpoints declare. */
import { Schema } from "effect"
import * as HttpApiError from "effect/http-api/HttpApiError"
import { FieldProblem } from "../domain/errors.ts"

const of = <const Name extends string, const Status extends number>(name: Name, status: Status, title: string) =>
  ({ type: `urn:max:problem:${name}`, status, title }) as const

/** Every problem type that the server answers with. */
export const PROBLEMS = {
  InvalidInput: of("invalid-input", 400, "Invalid input."),
  NotAuthenticated: of("not-authenticated", 401, "The request isn't authenticated."),
  NotAdmitted: of("not-admitted", 403, "This person has no access."),
  NotInScope: of("not-in-scope", 403, "The credential lacks the required scope."),
  NotSigned: of("not-signed", 403, "The request's signature is invalid."),
  OriginNotAllowed: of("origin-not-allowed", 403, "Pages of this origin may not send requests."),
  NotAllowed: of("not-allowed", 403, "The policy doesn't permit this change."),
  Unclear: of("unclear", 400, "Several entities fit."),
  UnknownName: of("unknown-name", 404, "Nothing that the caller sees has this name or id."),
  NotFound: of("not-found", 404, "Not found."),
  MethodNotAllowed: of("method-not-allowed", 405, "This path doesn't support this method."),
  NotPossible: of("not-possible", 409, "The current state doesn't allow this."),
  Stale: of("stale", 409, "The data has changed since."),
  Expired: of("expired", 409, "The change has expired."),
  Decided: of("decided", 409, "The change has been decided."),
  NotYet: of("not-yet", 409, "Not yet: try again in a moment."),
  RequestTimeout: of("request-timeout", 408, "The request took too long to arrive."),
  ContentTooLarge: of("content-too-large", 413, "The body is too large."),
  UnsupportedMediaType: of("unsupported-media-type", 415, "This path doesn't accept this content type."),
  Misdirected: of("misdirected-request", 421, "This server doesn't answer for this host."),
  TooManyCalls: of("too-many-calls", 429, "Too many calls this minute."),
  BudgetSpent: of("budget-spent", 429, "The budget for answers is spent."),
  HeadersTooLarge: of("headers-too-large", 431, "The headers are too large."),
  Internal: of("internal", 500, "Internal error."),
  NoAnswer: of("no-answer", 503, "No answer is available right now."),
  Unavailable: of("unavailable", 503, "Lookups are unavailable right now.")
} as const

export type ProblemName = keyof typeof PROBLEMS
/** The last part of a problem's type, such as "not-found". */
export type ProblemSlug = (typeof PROBLEMS)[ProblemName]["type"] extends `urn:max:problem:${infer Slug}` ? Slug : never

export class InvalidInput extends HttpApiError.Problem<InvalidInput>()("InvalidInput", PROBLEMS.InvalidInput, {
  /** The fields of an action that it is about; a place in a group is written items/0/quantity. */
  problems: Schema.optionalKey(Schema.Array(FieldProblem))
}) {}
export class NotAuthenticated extends HttpApiError.Problem<NotAuthenticated>()(
  "NotAuthenticated",
  PROBLEMS.NotAuthenticated
) {}
export class NotAdmitted extends HttpApiError.Problem<NotAdmitted>()("NotAdmitted", PROBLEMS.NotAdmitted) {}
export class NotInScope extends HttpApiError.Problem<NotInScope>()("NotInScope", PROBLEMS.NotInScope) {}
export class UnknownName extends HttpApiError.Problem<UnknownName>()("UnknownName", PROBLEMS.UnknownName) {}
export class NotFound extends HttpApiError.Problem<NotFound>()("NotFound", PROBLEMS.NotFound) {}
export class NotAllowed extends HttpApiError.Problem<NotAllowed>()("NotAllowed", PROBLEMS.NotAllowed) {}
export class Unclear extends HttpApiError.Problem<Unclear>()("Unclear", PROBLEMS.Unclear, {
  choices: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String })),
  /** The field of an action that it is about. */
  field: Schema.optionalKey(Schema.String)
}) {}
export class Stale extends HttpApiError.Problem<Stale>()("Stale", PROBLEMS.Stale) {}
export class Expired extends HttpApiError.Problem<Expired>()("Expired", PROBLEMS.Expired) {}
export class Decided extends HttpApiError.Problem<Decided>()("Decided", PROBLEMS.Decided, {
  /** What became of it. */
  state: Schema.String
}) {}
export class NotYet extends HttpApiError.Problem<NotYet>()("NotYet", PROBLEMS.NotYet) {}
export class NotPossible extends HttpApiError.Problem<NotPossible>()("NotPossible", PROBLEMS.NotPossible) {}
export class BudgetSpent extends HttpApiError.Problem<BudgetSpent>()("BudgetSpent", PROBLEMS.BudgetSpent) {}
export class NoAnswer extends HttpApiError.Problem<NoAnswer>()("NoAnswer", PROBLEMS.NoAnswer, {
  /** Identifies the trace: max trace show. */
  reference: Schema.optionalKey(Schema.String)
}) {}
export class TooManyCalls extends HttpApiError.Problem<TooManyCalls>()("TooManyCalls", PROBLEMS.TooManyCalls, {
  /** Seconds. */
  retryAfter: Schema.Int
}) {}
export class Unavailable extends HttpApiError.Problem<Unavailable>()("Unavailable", PROBLEMS.Unavailable, {
  /** That of the log line: max trace show. */
  reference: Schema.optionalKey(Schema.String)
}) {}
