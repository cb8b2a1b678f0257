/** The endpoints for an organization's identity providers, for administrators with the power `members`, or with all. */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Wire from "../../wire/admin/providers.ts"
import { InvalidInput, NotAllowed, NotPossible, Unavailable } from "../../wire/problems.ts"
import { Admitted, Need } from "./admitted.ts"

const error = [NotAllowed, NotPossible, Unavailable] as const

export const providers = HttpApiGroup.make("providers")
  .add(
    HttpApiEndpoint.get("providers", "/v1/admin/providers", { success: Wire.Providers, error }).annotate(
      OpenApi.Summary,
      "The identity providers whose tokens admit members"
    ),
    HttpApiEndpoint.post("tryToken", "/v1/admin/providers/try", {
      payload: Wire.TryToken,
      success: Wire.TriedToken,
      error
    }).annotate(
      OpenApi.Summary,
      "Whom a provider's token would admit with which roles, or why it wouldn't; nothing is stored"
    ),
    HttpApiEndpoint.post("tryNewProvider", "/v1/admin/providers/trial", {
      payload: Wire.AddProvider,
      success: Wire.TriedToken,
      error: [InvalidInput, ...error]
    }).annotate(
      OpenApi.Summary,
      "What a token would do at a provider that isn't trusted yet; nothing is stored, and it needs every power"
    ),
    HttpApiEndpoint.post("addProvider", "/v1/admin/providers", {
      payload: Wire.AddProvider,
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, ...error]
    }).annotate(OpenApi.Summary, "Trust a provider that has signed the token; needs every power"),
    HttpApiEndpoint.post("setProviderSecret", "/v1/admin/providers/secret", {
      payload: Wire.SetProviderSecret,
      success: HttpApiSchema.NoContent,
      error: [InvalidInput, ...error]
    }).annotate(
      OpenApi.Summary,
      "Replace the secret of a provider's client, if the provider takes the new one; needs every power"
    ),
    HttpApiEndpoint.post("removeProvider", "/v1/admin/providers/remove", {
      payload: Wire.RemoveProvider,
      success: HttpApiSchema.NoContent,
      error
    }).annotate(OpenApi.Summary, "Stop trusting a provider, immediately; needs every power")
  )
  .middleware(Admitted)
  .annotate(Need, { scope: "admin", calls: 1 })
  .annotate(OpenApi.Description, "The identity providers of the organization, for administrators.")
