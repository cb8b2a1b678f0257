/** Asks Anthropic whether it takes a key for a model, with a call that costs nothing. */
import Anthropic, { APIError } from "@anthropic-ai/sdk"
import { Effect, Redacted } from "effect"
import { OperatorError } from "../../domain/errors.ts"
import { quoted } from "../../domain/text.ts"

const TIMEOUT_MS = 15_000

export const tryAnthropicKey = (url: string | undefined, key: Redacted.Redacted<string>, model: string) =>
  Effect.tryPromise({
    try: (signal) =>
      new Anthropic({
        apiKey: Redacted.value(key),
        authToken: null,
        baseURL: url ?? "https://api.anthropic.com",
        maxRetries: 1,
        timeout: TIMEOUT_MS,
        logLevel: "off",
        openTelemetry: false
      }).messages.countTokens({ model, messages: [{ role: "user", content: "Hello" }] }, { signal }),
    catch: (error) => OperatorError.of(whyNot(error, model))
  }).pipe(Effect.asVoid)

/** The provider's own words may quote the key, so they aren't repeated. */
const whyNot = (error: unknown, model: string): string => {
  const status = error instanceof APIError ? error.status : undefined
  if (status === 401 || status === 403) return "Anthropic refused this key. Nothing was changed."
  if (status === 404) return `Anthropic has no model ${quoted(model)} for this key. Nothing was changed.`
  if (status === 400 || status === 422) return `Anthropic refused the model ${quoted(model)}. Nothing was changed.`
  return "Anthropic didn't answer, so the key could not be tried. Nothing was changed: try again in a minute."
}
