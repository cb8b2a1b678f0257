/** Liveness and readiness of the server. */
import { Schema } from "effect"

export const Healthy = Schema.Struct({ status: Schema.Literal("ok") })
