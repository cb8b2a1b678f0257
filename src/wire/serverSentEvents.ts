/** Responses that stream server-sent events. */
import { Schema } from "effect"
import * as Sse from "effect/encoding/Sse"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"

/** A stream whose events each carry a JSON document of this schema as `data`. */
export const streamOf = <S extends Schema.Codec<unknown, unknown>>(data: S) =>
  HttpApiSchema.StreamSse({
    events: Schema.Struct({ ...Sse.EventEncoded.fields, data: Schema.fromJsonString(data) })
  })
