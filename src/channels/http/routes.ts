/**
 * The handler of each path. A new group of endpoints goes into `Api` and `Handlers`; a route outside the declared API
 * (a page, another protocol) goes into `Undeclared` and `ROUTES`.
 */
import { ByteSize, Context, Effect, Layer, type Schema, SchemaAST } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerResponse } from "effect/http"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { powersOf } from "../../permissions/Policy.ts"
import { Credentials } from "../../services/access/Credentials.ts"
import { ProviderSignIn } from "../../services/access/ProviderSignIn.ts"
import { MailedLinks } from "../../services/access/MailedLinks.ts"
import { NotAuthenticated } from "../../domain/errors.ts"
import { Env } from "../../env.ts"
import { Passkeys as PasskeyService } from "../../services/access/Passkeys.ts"
import { OrganizationState } from "../../services/catalog/OrganizationState.ts"
import { FailedAuthThrottle } from "../../services/access/FailedAuthThrottle.ts"
import { Administering } from "./admin.ts"
import { Admitted, BodyLimit, Need } from "./admitted.ts"
import type { Health } from "../../wire/health.ts"
import type { PasskeyOptions, Session as SessionInfo, SignInWays } from "../../wire/session.ts"
import { Api } from "./Api.ts"
import { UPLOAD_PATHS } from "./ImportApi.ts"
import { Importing } from "./imports.ts"
import { Connecting } from "./connections.ts"
import { PolicyEditing } from "./policies.ts"
import { Providing } from "./providers.ts"
import { POLICY_PATHS } from "./PolicyApi.ts"
import { Intake } from "./intake.ts"
import { json } from "./json.ts"
import { ASSET_ROUTES, Assets } from "./assets.ts"
import { authentication, CurrentCaller, isOwnChange, ownOriginRequired } from "./authenticate.ts"
import { Changes } from "./changes.ts"
import { Chat, Conversations } from "./chat.ts"
import type { Route } from "./edge.ts"
import { Entities } from "./entities.ts"
import { Exporting } from "./exports.ts"
import { Mcp, MCP_ROUTES } from "./mcp.ts"
import { metrics, METRICS_ROUTE } from "./metrics.ts"
import { INTAKE_ROUTES, IntakeWebhooks } from "../intake/webhooks.ts"
import { Sms, SMS_ROUTES } from "../sms/webhooks.ts"
import { OpenStreams } from "./OpenStreams.ts"
import { docs, openApi } from "./pages.ts"
import { orProblem } from "./problems.ts"
import { asOptions, hasPasskeys, Passkeys, siteOf } from "./passkeys.ts"
import { ready } from "./ready.ts"
import { PROVIDER_ROUTES, SignInAtProvider } from "./providerSignIn.ts"
import { HttpSettings } from "./settings.ts"
import { sessionCookie } from "./sessionCookie.ts"
import { Setup } from "./setup.ts"
import { Tools } from "./tools.ts"
import { Traces } from "./traces.ts"
import { Turns } from "./Turns.ts"

const Session = HttpApiBuilder.group(
  Api,
  "session",
  Effect.fnUntraced(function* (handlers) {
    const credentials = yield* Credentials
    const settings = yield* HttpSettings
    const states = yield* OrganizationState
    const throttle = yield* FailedAuthThrottle
    const links = yield* MailedLinks
    const providers = yield* ProviderSignIn
    const passkeys = yield* PasskeyService
    const { publicUrl } = yield* Env
    const withCookie = sessionCookie(settings)
    return handlers.handleAll({
      whoAmI: Effect.fnUntraced(function* () {
        const { by, principal, scopes } = yield* CurrentCaller
        const { state } = yield* states.read(principal.organizationId, { by: "none" })
        const policyRoles = Object.keys(state.policy.roles)
        return json<SessionInfo>({
          organization: state.catalog.organization.slug,
          roles: principal.roles.filter((role) => policyRoles.includes(role)),
          scopes,
          powers: scopes.includes("admin") ? powersOf(state.policy, principal.roles) : [],
          by
        })
      }, orProblem),
      signIn: ({ payload, request }) =>
        isOwnChange(request, settings)
          ? throttle.attempt(credentials.redeemLink(payload.code, settings.sessionSeconds)).pipe(
              Effect.map(({ secret }) => withCookie(secret, settings.sessionSeconds)),
              orProblem
            )
          : Effect.succeed(ownOriginRequired),
      ways: ({ request }) =>
        orProblem(
          Effect.map(providers.offered, (offered) =>
            json<SignInWays>({
              mail: links.isOffered,
              passkeys: hasPasskeys(siteOf(publicUrl, request)),
              providers: offered
            })
          )
        ),
      beginPasskey: ({ request }) =>
        orProblem(
          Effect.map(passkeys.beginSignIn(siteOf(publicUrl, request)), (options) =>
            json<PasskeyOptions>(asOptions(options))
          )
        ),
      finishPasskey: ({ payload, request }) =>
        isOwnChange(request, settings)
          ? throttle
              .attempt(passkeys.finishSignIn(siteOf(publicUrl, request), payload.response, settings.sessionSeconds))
              .pipe(
                Effect.map(({ secret }) => withCookie(secret, settings.sessionSeconds)),
                orProblem
              )
          : Effect.succeed(ownOriginRequired),
      mailLink: ({ payload, request }) =>
        isOwnChange(request, settings)
          ? // Each request counts like a failed credential, because it may be a guess.
            throttle.attempt(Effect.andThen(links.request(payload.email), Effect.fail(NotAuthenticated.error))).pipe(
              Effect.catchTag("NotAuthenticated", () => Effect.succeed(HttpServerResponse.empty())),
              orProblem
            )
          : Effect.succeed(ownOriginRequired),
      signOut: Effect.fnUntraced(function* () {
        const { by, credentialId, principal } = yield* CurrentCaller
        if (by === "session" && credentialId !== undefined) {
          yield* credentials.revokeSession(principal.organizationId, credentialId)
        }
        return withCookie("", 0)
      }, orProblem)
    })
  })
)

const HealthHandlers = HttpApiBuilder.group(
  Api,
  "health",
  Effect.fnUntraced(function* (handlers) {
    const isReady = yield* ready
    const ok = json<Health>({ status: "ok" })
    return handlers.handleAll({
      live: () => Effect.succeed(ok),
      ready: () => orProblem(Effect.as(isReady, ok))
    })
  })
)

const Authentication = Layer.effect(
  Admitted,
  Effect.map(authentication, (authenticated) =>
    // An endpoint's annotation overrides its group's.
    Admitted.of((use, { endpoint, group }) => {
      const annotations = Context.merge(group.annotations, endpoint.annotations)
      const limit = Context.get(annotations, BodyLimit)
      const limited =
        limit === undefined ? use : Effect.provideService(use, HttpIncomingMessage.MaxBodySize, ByteSize.bytes(limit))
      return authenticated(limited, Context.get(annotations, Need))
    })
  )
)

const Handlers = Layer.mergeAll(
  Tools,
  Entities,
  Exporting,
  Chat,
  Conversations,
  Intake,
  Changes,
  Traces,
  Administering,
  Importing,
  PolicyEditing,
  Connecting,
  Providing,
  Session,
  Passkeys,
  Setup,
  HealthHandlers
).pipe(Layer.provide(Turns.layer), Layer.provide(OpenStreams.layer), Layer.provide(Authentication))

const Undeclared = Layer.mergeAll(
  Assets,
  Layer.unwrap(Effect.map(metrics, (answer) => HttpRouter.add("GET", METRICS_ROUTE.path, answer))),
  Layer.unwrap(Effect.map(docs, (answer) => HttpRouter.add("GET", "/docs", answer))),
  Layer.unwrap(Effect.map(openApi, (answer) => HttpRouter.add("GET", "/openapi.json", answer)))
)

export const Routes = Layer.mergeAll(
  HttpApiBuilder.layer(Api).pipe(Layer.provide(Handlers)),
  Undeclared,
  SignInAtProvider,
  Mcp,
  Sms,
  IntakeWebhooks
)

const keysOf = (query: Schema.Top | undefined): ReadonlyArray<string> =>
  query !== undefined && SchemaAST.isObjects(query.ast)
    ? query.ast.propertySignatures.map(({ name }) => String(name))
    : []

const declared: Array<Route> = []
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint: { method, path, query }, group }) =>
    // Probes may add arbitrary query keys to the health paths.
    void declared.push({
      method,
      path,
      ...(group.identifier === "health" ? {} : { query: keysOf(query) }),
      ...(UPLOAD_PATHS.includes(path) ? { takes: "file" } : {}),
      ...(POLICY_PATHS.includes(path) ? { takes: "policy" } : {})
    })
})

/** Every route of the server. */
export const ROUTES: ReadonlyArray<Route> = [
  ...declared,
  ...MCP_ROUTES,
  ...ASSET_ROUTES,
  METRICS_ROUTE,
  ...SMS_ROUTES,
  ...INTAKE_ROUTES,
  ...PROVIDER_ROUTES,
  { method: "GET", path: "/docs" },
  { method: "GET", path: "/openapi.json" }
]
