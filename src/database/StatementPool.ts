/**
 * Connections for compiled statements: named prepared statements below the driver's client, without its per-statement work
 * (building the text, finding a transaction, tracing).
 */
import { type PgClient, PgPool } from "@effect/sql-pg"
import { Effect, type Scope } from "effect"
import type { SqlError } from "effect/sql"

export interface StatementPool {
  readonly config: PgClient.PgClientConfig
  /** The rows of a statement, by the names of its columns. */
  readonly unsafe: <Row extends object>(
    text: string,
    parameters?: ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>
}

export const makeStatementPool = (
  config: PgClient.PgPoolConfig
): Effect.Effect<StatementPool, SqlError.SqlError, Scope.Scope> =>
  Effect.map(PgPool.make(config), (pool) => ({
    config,
    unsafe: <Row extends object>(text: string, parameters?: ReadonlyArray<unknown>) =>
      pool.use((connection) =>
        Effect.map(connection.query(text, parameters), ({ rows }) => rows as unknown as ReadonlyArray<Row>)
      )
  }))
