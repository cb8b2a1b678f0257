/**
 * What browsers are told of requests from the pages of other origins: exactly those that are configured may send them,
 * with a token that the page gives and never with a cookie.
 */
import { HttpServerResponse } from "effect/http"

/** Seconds for which a browser needn't ask again. */
const REMEMBERED = "600"

const allowing = (origin: string) => ({ "access-control-allow-origin": origin, vary: "origin" })

/** What a browser is answered that asks before it sends. */
export const preflight = (origin: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.empty({
    status: 204,
    headers: {
      ...allowing(origin),
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-allow-headers": "authorization, content-type, last-event-id",
      "access-control-max-age": REMEMBERED
    }
  })

/** The response as a page of another origin may read it. */
export const readable = (
  response: HttpServerResponse.HttpServerResponse,
  origin: string
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeaders(response, { ...allowing(origin), "access-control-expose-headers": "retry-after" })
