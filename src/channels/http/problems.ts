/** Errors as problems (RFC 9457): one table of all there are, and what every public error comes to. */
import { HttpServerResponse, ProblemDetails } from "effect/http"
import type {
  InvalidInput as InvalidInputError,
  NotAdmitted as NotAdmittedError,
  NotAuthenticated as NotAuthenticatedError,
  NotInScope as NotInScopeError,
  TooManyCalls as TooManyCallsError,
  Unavailable as UnavailableError,
  UnknownName as UnknownNameError
} from "../../domain/errors.ts"
import { type ProblemName, PROBLEMS } from "../../wire/problems.ts"

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
