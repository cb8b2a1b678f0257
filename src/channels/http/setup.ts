/** The endpoint of the first run. */
import { Effect } from "effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { FailedAuthThrottle } from "../../services/access/FailedAuthThrottle.ts"
import { Setup as SetupService } from "../../services/onboarding/Setup.ts"
import { Api } from "./Api.ts"
import { isOwnChange, ownOriginRequired } from "./authenticate.ts"
import { orProblem } from "./problems.ts"
import { sessionCookie } from "./sessionCookie.ts"
import { HttpSettings } from "./settings.ts"

export const Setup = HttpApiBuilder.group(
  Api,
  "setup",
  Effect.fnUntraced(function* (handlers) {
    const setup = yield* SetupService
    const settings = yield* HttpSettings
    const throttle = yield* FailedAuthThrottle
    const withCookie = sessionCookie(settings)
    return handlers.handleAll({
      finish: ({ payload, request }) =>
        isOwnChange(request, settings)
          ? throttle.attempt(setup.finish(payload, settings.sessionSeconds)).pipe(
              Effect.map(({ secret }) => withCookie(secret, settings.sessionSeconds)),
              orProblem
            )
          : Effect.succeed(ownOriginRequired)
    })
  })
)
