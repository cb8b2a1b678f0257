/** Runs a statement as the reading role, as lookups do. */
import { Effect } from "effect"
import type { Database } from "../../database/Database.ts"
import { orStale, orUnavailable, within } from "../../database/execute.ts"
import type { Statement } from "../../database/sql/ResolvedQuery.ts"
import type { Catalog } from "../../domain/EntityType.ts"
import { Unavailable } from "../../domain/errors.ts"

export type Reader = <Row extends object>(statement: Statement) => Effect.Effect<ReadonlyArray<Row>, Unavailable>

export const readerOf =
  (database: Database["Service"], catalog: Catalog): Reader =>
  <Row extends object>(statement: Statement) =>
    orUnavailable(
      orStale(
        statement,
        catalog.rowSecurity === true
          ? within<Row>(database.search, catalog.organization.id, statement)
          : database.search.unsafe<Row>(statement.text, statement.parameters)
      )
    )

/** A plan that can't be compiled must not become an answer. */
export const compiled = <A>(compile: () => A): Effect.Effect<A, Unavailable> =>
  Effect.try({ try: compile, catch: () => Unavailable.error })
