/**
 * The three tools, called directly. They are declared in Api.ts like everything else, but a call of one doesn't go through
 * the router and what the declared interface does for every endpoint, which costs more than a lookup does.
 */
import { Context, Effect, Result, Schema } from "effect"
import { type HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type { LookupError } from "../../domain/errors.ts"
import { CurrentPrincipal } from "../../domain/Principal.ts"
import { EntityQueryService } from "../../services/EntityQueryService.ts"
import { renderColumns, renderPage, renderTypes } from "../../tools/render.ts"
import { MaxToolkit } from "../../tools/Toolkit.ts"
import { describeIssue } from "../../tools/describeIssue.ts"
import { Need } from "./admitted.ts"
import { Api, PARSING } from "./Api.ts"
import { admitting } from "./authenticate.ts"
import { textOf } from "./body.ts"
import { problem, problemOf } from "./problems.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse
type Answer = (request: Request) => Effect.Effect<Response, HttpServerError.HttpServerError, CurrentPrincipal>

/** What isn't JSON is undefined, which no tool takes. */
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const wantsText = (request: Request): boolean => /^\s*text\/plain\b/.test(request.headers["accept"] ?? "")

/** A tool's result as JSON, or as the text that a model reads. */
const result = <A>(request: Request, value: A, render: (value: A) => string): Response =>
  wantsText(request)
    ? HttpServerResponse.text(render(value))
    : HttpServerResponse.text(JSON.stringify(value), { contentType: "application/json" })

const tool = <Input, Found>(
  parameters: Schema.Decoder<Input>,
  call: (input: Input, organizationId: bigint) => Effect.Effect<Found, LookupError, CurrentPrincipal>,
  render: (found: Found) => string
): Answer => {
  const decode = Schema.decodeUnknownResult(parameters, PARSING)
  return (request) =>
    Effect.flatMap(textOf(request), (text) => {
      const input = decode(parsed(text))
      if (Result.isFailure(input)) {
        return Effect.succeed(problem("InvalidInput", describeIssue(input.failure.issue)))
      }
      return CurrentPrincipal.use(({ organizationId }) =>
        Effect.match(call(input.success, organizationId), {
          onFailure: problemOf,
          onSuccess: (found) => result(request, found, render)
        })
      )
    })
}

const answers = Effect.map(EntityQueryService, (queries) => {
  const { findEntities, listColumnsForType, listEntityTypes } = MaxToolkit.tools
  return {
    listEntityTypes: tool(
      listEntityTypes.parametersSchema,
      (_, organizationId) => queries.listEntityTypes({ organizationId }),
      renderTypes
    ),
    listColumnsForType: tool(
      listColumnsForType.parametersSchema,
      (input, organizationId) => queries.listColumnsForType({ ...input, organizationId }),
      renderColumns
    ),
    findEntities: tool(
      findEntities.parametersSchema,
      ({ cursorEntityId, entityTypeId, filters, limit, selectColumns }, organizationId) =>
        queries.findEntities({ organizationId, entityTypeId, filters, limit, cursorEntityId, selectColumns }),
      renderPage
    )
  }
})

/** The tools where the router finds them: under another spelling of a path, such as one with a query. */
export const Tools = HttpApiBuilder.group(
  Api,
  "tools",
  Effect.fnUntraced(function* (handlers) {
    const { findEntities, listColumnsForType, listEntityTypes } = yield* answers
    return handlers
      .handleRaw("listEntityTypes", ({ request }) => Effect.orDie(listEntityTypes(request)))
      .handleRaw("listColumnsForType", ({ request }) => Effect.orDie(listColumnsForType(request)))
      .handleRaw("findEntities", ({ request }) => Effect.orDie(findEntities(request)))
  })
)

/** Calls of the tools are answered here, and everything else by `others`. */
export const toolsBefore = Effect.gen(function* () {
  const admitted = yield* admitting
  const answer = yield* answers
  const { annotations, endpoints } = Api.groups.tools
  const need = Context.get(annotations, Need)
  const direct = new Map(
    Object.values(endpoints).map(({ identifier, path }) => [
      path as string,
      Effect.interruptible(
        admitted(
          ({ principal }, request) => Effect.provideService(answer[identifier](request), CurrentPrincipal, principal),
          need
        )
      )
    ])
  )
  return <E, R>(others: Effect.Effect<Response, E, R>) =>
    HttpServerRequest.HttpServerRequest.use(
      (
        request
      ): Effect.Effect<Response, E | HttpServerError.HttpServerError, R | HttpServerRequest.HttpServerRequest> =>
        (request.method === "POST" ? direct.get(request.url) : undefined) ?? others
    )
})
