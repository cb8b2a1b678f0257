/** Statements over rows of types, run as the reading role. */
import { Effect } from "effect"
import type { Statement } from "../../database/sql/ResolvedQuery.ts"
import { Unavailable } from "../../domain/errors.ts"

/** Runs a statement that names its rows by id, as lookups run. */
export type Reader = <Row extends object>(statement: Statement) => Effect.Effect<ReadonlyArray<Row>, Unavailable>

/** A plan that can't be compiled must not become an answer. */
export const compiled = <A>(compile: () => A): Effect.Effect<A, Unavailable> =>
  Effect.try({ try: compile, catch: () => Unavailable.error })
