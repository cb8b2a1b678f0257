/** What the endpoints for administrators share. */
import { Effect } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { OperatorError } from "../../domain/errors.ts"
import { CurrentPrincipal, type Principal } from "../../domain/Principal.ts"
import type { PersonReference } from "../../wire/admin/people.ts"
import type { ProblemName } from "../../wire/problems.ts"
import { problem, problemOf, type PublicError } from "./problems.ts"

type Response = HttpServerResponse.HttpServerResponse

/** Runs an endpoint with the calling administrator; an `OperatorError` becomes the given problem. */
export const respond = <R>(
  use: (administrator: Principal) => Effect.Effect<Response, PublicError | OperatorError, R>,
  onOperatorError: ProblemName = "NotPossible"
) =>
  Effect.flatMap(CurrentPrincipal, use).pipe(
    Effect.catch((error) =>
      Effect.succeed(
        error._tag === "OperatorError"
          ? problem(onOperatorError, [error.message, ...(error.details ?? [])].join(" "))
          : problemOf(error)
      )
    )
  )

export const ambiguousPerson = problem("InvalidInput", "Send exactly one of id and identifier.")

/** The person that a body refers to; undefined unless it has exactly one of id and identifier. */
export const personOf = ({
  id,
  identifier
}: {
  readonly id?: string
  readonly identifier?: string
}): PersonReference | undefined =>
  id !== undefined && identifier === undefined
    ? { id }
    : identifier !== undefined && id === undefined
      ? { identifier }
      : undefined
