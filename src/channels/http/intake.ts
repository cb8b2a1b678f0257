/** Tickets and e-mails over HTTP. */
import { Effect } from "effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type { TakenIn } from "../../wire/intake.ts"
import { takingIn } from "../intake/takeIn.ts"
import { Api } from "./Api.ts"
import { CurrentCaller } from "./authenticate.ts"
import { currentOrganization, failure } from "./chat.ts"
import { json } from "./json.ts"
import { orProblem } from "./problems.ts"

export const Intake = HttpApiBuilder.group(
  Api,
  "intake",
  Effect.fnUntraced(function* (handlers) {
    const current = yield* currentOrganization
    const takeIn = yield* takingIn
    return handlers.handleAll({
      take: ({ payload }) =>
        orProblem(
          Effect.gen(function* () {
            const { organization } = yield* current
            const { credentialId } = yield* CurrentCaller
            const outcome = yield* takeIn(organization, { ...payload, credentialId })
            return "_tag" in outcome ? failure(outcome) : json<TakenIn>(outcome)
          })
        )
    })
  })
)
