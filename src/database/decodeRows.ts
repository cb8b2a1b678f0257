/** Rows by their schema, for statements that return documents or closed choices. */
import { Effect, Schema } from "effect"

/** Decodes a statement's rows; a row of another shape is a defect, which the request's edge answers as unavailable. */
export const decodeRows = <A>(row: Schema.Codec<A, unknown>) => {
  const decode = Schema.decodeUnknownSync(Schema.Array(row))
  return <E, R>(rows: Effect.Effect<ReadonlyArray<unknown>, E, R>): Effect.Effect<ReadonlyArray<A>, E, R> =>
    Effect.map(rows, (found) => decode(found))
}
