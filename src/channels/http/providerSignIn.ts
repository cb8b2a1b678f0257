/** Leaving for an identity provider to sign in, and coming back. Both are navigations, so every failure leads to a page. */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { FailedAuthThrottle } from "../../services/access/FailedAuthThrottle.ts"
import { CALLBACK_PATH } from "../../services/access/openIdClient.ts"
import { ProviderSignIn } from "../../services/access/ProviderSignIn.ts"
import { Env } from "../../env.ts"
import type { Route } from "./edge.ts"
import { sessionCookie } from "./sessionCookie.ts"
import { HttpSettings } from "./settings.ts"

const WITH = "/v1/session/with/:provider"
/** Seconds until a person must be back. */
const PENDING_SECONDS = 600

export const PROVIDER_ROUTES: ReadonlyArray<Route> = [
  { method: "GET", path: WITH },
  // Providers add parameters of their own.
  { method: "GET", path: CALLBACK_PATH }
]

/** The page that says what happened: refused by the provider or forged, no access, or unavailable. */
const failedPage = (reason: string) => HttpServerResponse.redirect(`/sign-in?failed=${reason}`, { status: 303 })
const REASONS: Readonly<Record<string, string>> = {
  NotAuthenticated: "refused",
  NotAdmitted: "no-access",
  TooManyCalls: "too-many"
}
const failed = ({ _tag }: { readonly _tag: string }) => Effect.succeed(failedPage(REASONS[_tag] ?? "unavailable"))

export const SignInAtProvider = Layer.unwrap(
  Effect.gen(function* () {
    const settings = yield* HttpSettings
    const { publicUrl } = yield* Env
    const signIn = yield* ProviderSignIn
    const throttle = yield* FailedAuthThrottle
    const withSession = sessionCookie(settings)
    const pendingCookie = settings.secure ? "__Host-max-pending" : "max_pending"
    const keep = (response: HttpServerResponse.HttpServerResponse, value: string, seconds: number) =>
      HttpServerResponse.setCookieUnsafe(response, pendingCookie, value, {
        httpOnly: true,
        maxAge: seconds * 1000,
        path: "/",
        // The provider leads back from another site.
        sameSite: "lax",
        secure: settings.secure
      })
    /** The own origin; without a public URL that of the loopback address that was called. */
    const originOf = ({ headers }: HttpServerRequest.HttpServerRequest) => publicUrl ?? `http://${headers["host"]}`

    const begin = HttpRouter.add("GET", WITH, (request) =>
      Effect.gen(function* () {
        const id = request.url.split(/[?#]/, 1)[0]!.split("/").at(-1)!
        const { pending, url } = yield* signIn.begin(id, originOf(request) + CALLBACK_PATH)
        return keep(HttpServerResponse.redirect(url, { status: 303 }), pending, PENDING_SECONDS)
      }).pipe(Effect.catch(failed))
    )

    const finish = HttpRouter.add("GET", CALLBACK_PATH, (request) =>
      Effect.gen(function* () {
        const pending = request.cookies[pendingCookie]
        if (pending === undefined || pending.length > 2000) return failedPage("refused")
        const address = new URL(request.url, originOf(request))
        const { secret } = yield* throttle.attempt(signIn.finish(address, pending, settings.sessionSeconds))
        return withSession(secret, settings.sessionSeconds, HttpServerResponse.redirect("/", { status: 303 }))
      }).pipe(
        Effect.catch(failed),
        // Used once, whatever came of it.
        Effect.map((response) => keep(response, "", 0))
      )
    )
    return Layer.mergeAll(begin, finish)
  })
)
