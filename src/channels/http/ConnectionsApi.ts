/** The endpoints for an organization's model and phone line, for administrators with the power `secrets`. */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Wire from "../../wire/admin/connections.ts"
import { InvalidInput, NotAllowed, NotPossible, Unavailable } from "../../wire/problems.ts"
import { Admitted, Need } from "./admitted.ts"

const error = [InvalidInput, NotAllowed, NotPossible, Unavailable] as const

export const connections = HttpApiGroup.make("connections")
  .add(
    HttpApiEndpoint.get("model", "/v1/admin/model", { success: Wire.ModelConnection, error }).annotate(
      OpenApi.Summary,
      "The model that answers, and what is known of the organization's key; never the key"
    ),
    HttpApiEndpoint.post("setModel", "/v1/admin/model", {
      payload: Wire.SetModel,
      success: HttpApiSchema.NoContent,
      error
    }).annotate(OpenApi.Summary, "Set the organization's own model, and a day's budget within the operator's"),
    HttpApiEndpoint.post("setModelKey", "/v1/admin/model/key", {
      payload: Wire.SetModelKey,
      success: HttpApiSchema.NoContent,
      error
    }).annotate(OpenApi.Summary, "Set the key: it is tried with the provider, and sealed if it is taken"),
    HttpApiEndpoint.delete("removeModelKey", "/v1/admin/model/key", {
      success: HttpApiSchema.NoContent,
      error
    }).annotate(OpenApi.Summary, "Remove the key; basic mode answers from the next question on"),
    HttpApiEndpoint.get("line", "/v1/admin/line", { success: Wire.PhoneLine, error }).annotate(
      OpenApi.Summary,
      "The numbers for text messages, and whom the line answers"
    ),
    HttpApiEndpoint.post("setLine", "/v1/admin/line", {
      payload: Wire.SetLine,
      success: HttpApiSchema.NoContent,
      error
    }).annotate(OpenApi.Summary, "Set the contact, the role of an open line, and what it may change"),
    HttpApiEndpoint.post("addNumber", "/v1/admin/line/numbers", {
      payload: Wire.AddNumber,
      success: HttpApiSchema.NoContent,
      error
    }).annotate(OpenApi.Summary, "Answer a number: its account is tried with the provider first"),
    HttpApiEndpoint.post("removeNumber", "/v1/admin/line/numbers/remove", {
      payload: Wire.RemoveNumber,
      success: HttpApiSchema.NoContent,
      error
    }).annotate(OpenApi.Summary, "Stop answering a number, immediately")
  )
  .middleware(Admitted)
  .annotate(Need, { scope: "admin", calls: 1 })
  .annotate(OpenApi.Description, "The model and the phone line, for administrators with the power `secrets`.")
