/** Errors as problems (RFC 9457): one table of all there are, and what every public error comes to. */
import { HttpServerResponse, ProblemDetails } from "effect/http"
import * as HttpApiError from "effect/http-api/HttpApiError"
import { Schema } from "effect"
import type {
  InvalidInput as InvalidInputError,
  NotAdmitted as NotAdmittedError,
  NotAuthenticated as NotAuthenticatedError,
  NotInScope as NotInScopeError,
  TooManyCalls as TooManyCallsError,
  Unavailable as UnavailableError,
  UnknownName as UnknownNameError
} from "../../domain/errors.ts"

const of = <const Name extends string, const Status extends number>(name: Name, status: Status, title: string) =>
  ({ type: `urn:max:problem:${name}`, status, title }) as const

/** Every problem that a request can come to. */
export const PROBLEMS = {
  InvalidInput: of("invalid-input", 400, "The input isn't what it has to be."),
  NotAuthenticated: of("not-authenticated", 401, "Who is calling isn't known."),
  NotAdmitted: of("not-admitted", 403, "This person has no access."),
  NotInScope: of("not-in-scope", 403, "The token isn't for this."),
  NotSigned: of("not-signed", 403, "The request isn't signed by whoever may send it."),
  OriginNotAllowed: of("origin-not-allowed", 403, "Pages of this origin may not send requests."),
  UnknownName: of("unknown-name", 404, "There is no type or column of this name."),
  NotFound: of("not-found", 404, "There is nothing at this path."),
  MethodNotAllowed: of("method-not-allowed", 405, "This path doesn't take this method."),
  NotPossible: of("not-possible", 409, "This can't be done as things are."),
  RequestTimeout: of("request-timeout", 408, "The request took too long to arrive."),
  ContentTooLarge: of("content-too-large", 413, "The body is too large."),
  UnsupportedMediaType: of("unsupported-media-type", 415, "The body is of another kind than this path takes."),
  Misdirected: of("misdirected-request", 421, "This server doesn't answer for this host."),
  TooManyCalls: of("too-many-calls", 429, "Too many calls in this minute."),
  BudgetSpent: of("budget-spent", 429, "What answers may cost is used up."),
  HeadersTooLarge: of("headers-too-large", 431, "The headers are too large."),
  Internal: of("internal", 500, "Something went wrong inside Max."),
  NoAnswer: of("no-answer", 503, "There is no answer to this now."),
  Unavailable: of("unavailable", 503, "Nothing can be looked up right now.")
} as const

export type ProblemName = keyof typeof PROBLEMS

export class InvalidInput extends HttpApiError.Problem<InvalidInput>()("InvalidInput", PROBLEMS.InvalidInput) {}
export class NotAuthenticated extends HttpApiError.Problem<NotAuthenticated>()(
  "NotAuthenticated",
  PROBLEMS.NotAuthenticated
) {}
export class NotAdmitted extends HttpApiError.Problem<NotAdmitted>()("NotAdmitted", PROBLEMS.NotAdmitted) {}
export class NotInScope extends HttpApiError.Problem<NotInScope>()("NotInScope", PROBLEMS.NotInScope) {}
export class UnknownName extends HttpApiError.Problem<UnknownName>()("UnknownName", PROBLEMS.UnknownName) {}
export class NotFound extends HttpApiError.Problem<NotFound>()("NotFound", PROBLEMS.NotFound) {}
export class NotPossible extends HttpApiError.Problem<NotPossible>()("NotPossible", PROBLEMS.NotPossible) {}
export class BudgetSpent extends HttpApiError.Problem<BudgetSpent>()("BudgetSpent", PROBLEMS.BudgetSpent) {}
export class NoAnswer extends HttpApiError.Problem<NoAnswer>()("NoAnswer", PROBLEMS.NoAnswer, {
  /** Opens the trace: max trace show. */
  reference: Schema.optionalKey(Schema.String)
}) {}
export class TooManyCalls extends HttpApiError.Problem<TooManyCalls>()("TooManyCalls", PROBLEMS.TooManyCalls, {
  /** Seconds. */
  retryAfter: Schema.Int
}) {}
export class Unavailable extends HttpApiError.Problem<Unavailable>()("Unavailable", PROBLEMS.Unavailable) {}

/** The response of a problem. */
export const problem = (
  name: ProblemName,
  detail: string,
  more: { readonly headers?: Readonly<Record<string, string>>; readonly [extension: string]: unknown } = {}
): HttpServerResponse.HttpServerResponse => {
  const { headers, ...extensions } = more
  const response = ProblemDetails.toResponse({ ...PROBLEMS[name], detail, ...extensions })
  return headers === undefined ? response : HttpServerResponse.setHeaders(response, headers)
}

export type PublicError =
  | InvalidInputError
  | NotAdmittedError
  | NotAuthenticatedError
  | NotInScopeError
  | TooManyCallsError
  | UnavailableError
  | UnknownNameError

/** What a public error is answered with. */
export const problemOf = (error: PublicError): HttpServerResponse.HttpServerResponse => {
  switch (error._tag) {
    case "TooManyCalls":
      return problem("TooManyCalls", error.message, {
        retryAfter: error.retryAfter,
        headers: { "retry-after": String(error.retryAfter) }
      })
    case "NotAuthenticated":
      return problem("NotAuthenticated", error.message, { headers: { "www-authenticate": 'Bearer realm="max"' } })
    case "Unavailable":
      return problem("Unavailable", error.message, { headers: { "retry-after": "5" } })
    default:
      return problem(error._tag, error.message)
  }
}
