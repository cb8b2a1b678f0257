/** Errors as problem responses (RFC 9457). The problem types are in wire/problems.ts. */
import { HttpServerResponse, ProblemDetails } from "effect/http"
import { Effect } from "effect"
import type {
  DecisionError,
  InvalidInput as InvalidInputError,
  NotAdmitted as NotAdmittedError,
  NotAuthenticated as NotAuthenticatedError,
  NotInScope as NotInScopeError,
  ProposalError,
  TooManyCalls as TooManyCallsError,
  Unavailable as UnavailableError,
  UnknownName as UnknownNameError
} from "../../domain/errors.ts"
import { type ProblemName, PROBLEMS } from "../../wire/problems.ts"

/** The cause of a response that a turn's failure decides, which the turn has logged with its own reference. */
export const FAILED_TURN = "turn"

/** Headers that every response of a problem carries. */
const HEADERS: Partial<Record<ProblemName, Readonly<Record<string, string>>>> = {
  NotAuthenticated: { "www-authenticate": 'Bearer realm="max"' },
  Unavailable: { "retry-after": "5" }
}

/** The response of a problem. */
export const problem = (
  name: ProblemName,
  detail: string,
  more: { readonly headers?: Readonly<Record<string, string>>; readonly [extension: string]: unknown } = {}
): HttpServerResponse.HttpServerResponse => {
  const { headers = HEADERS[name], ...extensions } = more
  const response = ProblemDetails.toResponse({ ...PROBLEMS[name], detail, ...extensions })
  return headers === undefined ? response : HttpServerResponse.setHeaders(response, headers)
}

export const methodNotAllowed = (methods: ReadonlyArray<string>) =>
  problem("MethodNotAllowed", `Use ${methods.join(" or ")}.`, { headers: { allow: methods.join(", ") } })

export type PublicError =
  | InvalidInputError
  | NotAdmittedError
  | NotAuthenticatedError
  | NotInScopeError
  | TooManyCallsError
  | UnavailableError
  | UnknownNameError
  | ProposalError
  | DecisionError

/** The response of a public error. */
export const problemOf = (error: PublicError): HttpServerResponse.HttpServerResponse => {
  switch (error._tag) {
    case "TooManyCalls": {
      const { message, retryAfter } = error
      return problem("TooManyCalls", message, { retryAfter, headers: { "retry-after": String(retryAfter) } })
    }
    case "Unclear": {
      const { choices, field } = error
      return problem("Unclear", error.message, { choices, ...(field === undefined ? {} : { field }) })
    }
    case "InvalidInput": {
      const { problems } = error
      return problem("InvalidInput", error.message, problems === undefined ? {} : { problems })
    }
    case "Decided":
      return problem("Decided", error.message, { state: error.state })
    default:
      return problem(error._tag, error.message)
  }
}

/** Answers a public error with its problem. */
export const orProblem = <R>(effect: Effect.Effect<HttpServerResponse.HttpServerResponse, PublicError, R>) =>
  Effect.catch(effect, (error) => Effect.succeed(problemOf(error)))
