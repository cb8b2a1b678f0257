/** The cookie of a browser's session. */
import { HttpServerResponse } from "effect/http"
import type { HttpSettings } from "./settings.ts"

/** Sets the cookie on a response, for so many seconds; 0 removes it. */
export const sessionCookie =
  ({ cookie, secure }: HttpSettings["Service"]) =>
  (value: string, seconds: number, response = HttpServerResponse.empty()): HttpServerResponse.HttpServerResponse =>
    HttpServerResponse.setCookieUnsafe(response, cookie, value, {
      httpOnly: true,
      maxAge: seconds * 1000,
      path: "/",
      sameSite: "strict",
      secure
    })
