/** The three tools as endpoints: each call reads JSON, runs the tool and answers with JSON or text. */
import { Effect, Result, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type { LookupError } from "../../domain/errors.ts"
import { CurrentPrincipal } from "../../domain/Principal.ts"
import { EntityQueryService } from "../../services/EntityQueryService.ts"
import { renderColumns, renderPage, renderTypes } from "../../tools/render.ts"
import { MaxToolkit } from "../../tools/Toolkit.ts"
import { describeIssue } from "../../tools/describeIssue.ts"
import { Api, PARSING } from "./Api.ts"
import { textOf } from "./body.ts"
import { exactPaths, type RawHandler } from "./exactPaths.ts"
import { problem, problemOf } from "./problems.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Parses JSON; invalid JSON becomes undefined, which every tool's schema rejects. */
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

const tool = <Input, Output>(
  parameters: Schema.Decoder<Input>,
  call: (input: Input, organizationId: bigint) => Effect.Effect<Output, LookupError, CurrentPrincipal>,
  render: (output: Output) => string
): RawHandler => {
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
          onSuccess: (output) => result(request, output, render)
        })
      )
    })
}

const toolHandlers = Effect.map(EntityQueryService, (queries) => {
  const { findEntities, listColumnsForType, listEntityTypes } = MaxToolkit.tools
  return {
    listEntityTypes: tool(
      listEntityTypes.parametersSchema,
      (input, organizationId) => queries.listEntityTypes({ ...input, organizationId }),
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

/** The tools behind the router. */
export const Tools = HttpApiBuilder.group(
  Api,
  "tools",
  Effect.fnUntraced(function* (handlers) {
    const { findEntities, listColumnsForType, listEntityTypes } = yield* toolHandlers
    return handlers
      .handleRaw("listEntityTypes", ({ request }) => Effect.orDie(listEntityTypes(request)))
      .handleRaw("listColumnsForType", ({ request }) => Effect.orDie(listColumnsForType(request)))
      .handleRaw("findEntities", ({ request }) => Effect.orDie(findEntities(request)))
  })
)

/** The tools at their exact paths, before the router. */
export const exactToolPaths = Effect.flatMap(toolHandlers, (handlers) => exactPaths(Api.groups.tools, handlers))
