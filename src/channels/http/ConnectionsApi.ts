/** The endpoints for an organization's model and phone line, for administrators with the power `secrets`. */
import type { Schema } from "effect"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Wire from "../../wire/admin/connections.ts"
import { InvalidInput, NotAllowed, NotPossible, Unavailable } from "../../wire/problems.ts"
import { Admitted, Need } from "./admitted.ts"

const error = [InvalidInput, NotAllowed, NotPossible, Unavailable] as const
const done = { success: HttpApiSchema.NoContent, error } as const

/** An endpoint that changes something and answers nothing. */
const act = <const Name extends string, const At extends string, Payload extends Schema.Top>(
  name: Name,
  path: At,
  payload: Payload,
  summary: string
) => HttpApiEndpoint.post(name, `/v1/admin/${path}`, { payload, ...done }).annotate(OpenApi.Summary, summary)

const shown = <const Name extends string, Success extends Schema.Top>(name: Name, success: Success, summary: string) =>
  HttpApiEndpoint.get(name, `/v1/admin/${name}`, { success, error }).annotate(OpenApi.Summary, summary)

export const connections = HttpApiGroup.make("connections")
  .add(
    shown("model", Wire.ModelConnection, "The model that answers, and what is known of its key; never the key"),
    act("setModel", "model", Wire.SetModel, "Set the organization's model, and a budget within the operator's"),
    act("setModelKey", "model/key", Wire.SetModelKey, "Set the key: it is tried, and sealed if the provider takes it"),
    HttpApiEndpoint.delete("removeModelKey", "/v1/admin/model/key", done).annotate(
      OpenApi.Summary,
      "Remove the key; basic mode answers from the next question on"
    ),
    shown("line", Wire.PhoneLine, "The numbers for text messages, and whom the line answers"),
    act("setLine", "line", Wire.SetLine, "Set the contact, the role of an open line, and what it may change"),
    act("addNumber", "line/numbers", Wire.AddNumber, "Answer a number: its account is tried with the provider first"),
    act("removeNumber", "line/numbers/remove", Wire.RemoveNumber, "Stop answering a number, immediately"),
    HttpApiEndpoint.get("lineTests", "/v1/admin/line/tests", { success: Wire.LineTests, error }).annotate(
      OpenApi.Summary,
      "Your own number, masked, and how far your test texts came"
    ),
    act("testLine", "line/tests", Wire.TestLine, "Send one text from a number to your own; one a minute")
  )
  .middleware(Admitted)
  .annotate(Need, { scope: "admin", calls: 1 })
  .annotate(OpenApi.Description, "The model and the phone line, for administrators with the power `secrets`.")
