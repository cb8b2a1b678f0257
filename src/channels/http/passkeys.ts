/** The endpoints of passkeys, and the site that they are bound to. */
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { isIP } from "node:net"
import { NotAllowed, UnknownName } from "../../domain/errors.ts"
import { Env } from "../../env.ts"
import {
  Passkeys as PasskeyService,
  type Passkey,
  type PersonSession,
  type Site
} from "../../services/access/Passkeys.ts"
import type { Passkey as Stored, PasskeyOptions, Passkeys as StoredPasskeys } from "../../wire/session.ts"
import { Api } from "./Api.ts"
import { CurrentCaller } from "./authenticate.ts"
import { json } from "./json.ts"
import { orProblem } from "./problems.ts"

/** The site of a request: the public URL or, without one, the loopback address that was called. */
export const siteOf = (publicUrl: string | undefined, { headers }: HttpServerRequest.HttpServerRequest): Site => {
  const { hostname, origin } = new URL(publicUrl ?? `http://${headers["host"] ?? "localhost"}`)
  return { id: hostname, origin }
}

/** Browsers bind passkeys to a name, never to an IP address, and need https anywhere but on localhost. */
export const hasPasskeys = ({ id, origin }: Site): boolean =>
  id === "localhost" || (origin.startsWith("https:") && isIP(id.replace(/^\[|\]$/g, "")) === 0)

const storedOf = ({ createdAt, usedAt, ...passkey }: Passkey): Stored => ({
  ...passkey,
  createdAt: createdAt.toISOString(),
  usedAt: usedAt?.toISOString() ?? null
})

export const asOptions = (options: object): PasskeyOptions => ({ options: { ...options } })

const NO_SITE = NotAllowed.of("Passkeys need an https address with a name. Ask an operator to set MAX_PUBLIC_URL.")
const NO_SESSION = NotAllowed.of("Only a person who is signed in with a browser has passkeys.")

export const Passkeys = HttpApiBuilder.group(
  Api,
  "passkeys",
  Effect.fnUntraced(function* (handlers) {
    const passkeys = yield* PasskeyService
    const { publicUrl } = yield* Env
    const session = Effect.gen(function* () {
      const { by, credentialId, principal } = yield* CurrentCaller
      if (by !== "session" || credentialId === undefined) return yield* NO_SESSION
      return { principal, credentialId } satisfies PersonSession
    })
    const adding = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      const site = siteOf(publicUrl, request)
      return hasPasskeys(site) ? ([yield* session, site] as const) : yield* NO_SITE
    })
    return handlers.handleAll({
      list: () =>
        orProblem(
          Effect.map(
            Effect.flatMap(session, ({ principal }) => passkeys.list(principal)),
            (all) => json<StoredPasskeys>({ passkeys: all.map(storedOf) })
          )
        ),
      begin: ({ request }) =>
        orProblem(
          Effect.gen(function* () {
            const [by, site] = yield* adding(request)
            return json<PasskeyOptions>(asOptions(yield* passkeys.beginAdding(by, site)))
          })
        ),
      add: ({ payload, request }) =>
        orProblem(
          Effect.gen(function* () {
            const [by, site] = yield* adding(request)
            return json<Stored>(storedOf(yield* passkeys.finishAdding(by, site, payload)))
          })
        ),
      remove: ({ params: { id } }) =>
        orProblem(
          Effect.gen(function* () {
            const { principal } = yield* session
            if (!(yield* passkeys.remove(principal, id)))
              return yield* new UnknownName({ message: "You have no passkey with this id." })
            return HttpServerResponse.empty()
          })
        )
    })
  })
)
