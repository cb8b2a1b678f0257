/** Max in an Effect service: its layer beside the service's own, with the principal provided per request. */
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { CurrentPrincipal, EntityQueryService, Max, OrganizationState } from "max-agent"
import { createServer } from "node:http"

/** The result of your authentication; in this example a trusted proxy sets the header and is the only client of this port. */
const signedIn = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => headers["x-signed-in-email"] ?? "")

const people = Effect.gen(function* () {
  const states = yield* OrganizationState
  const queries = yield* EntityQueryService
  const organization = yield* states.organization("harbor")
  const principal = yield* Max.admit(organization, { email: yield* signedIn })
  const page = yield* queries
    .findEntities({ organizationId: organization.id, entityTypeId: "people", filters: [], limit: 0 })
    .pipe(Effect.provideService(CurrentPrincipal, principal))
  return yield* HttpServerResponse.json(page)
}).pipe(
  Effect.catchTags({
    NotAdmitted: ({ message }) => HttpServerResponse.json({ message }, { status: 403 }),
    InvalidInput: ({ message }) => HttpServerResponse.json({ message }, { status: 401 })
  }),
  Effect.catch(() => HttpServerResponse.json({ message: "Not now." }, { status: 503 }))
)

const Routes = HttpRouter.use((router) => router.add("GET", "/people", people))

const Live = HttpRouter.serve(Routes).pipe(
  Layer.provide(Max.layer({ databaseUrl: process.env["DATABASE_URL"] })),
  Layer.provide(
    NodeHttpServer.layer(createServer, {
      host: "127.0.0.1",
      port: Number(process.env["PORT"] ?? 3000),
      gracefulShutdownTimeout: "2 seconds"
    })
  )
)

NodeRuntime.runMain(Layer.launch(Live))
