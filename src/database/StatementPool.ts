/**
 * A lane for compiled statements: by name, on a connection of a pool, and without what a client does for every statement
 * that somebody writes (putting its text together, looking for a transaction around it, tracing it).
 */
import { type PgClient, PgPool } from "@effect/sql-pg"
import { Effect, type Scope } from "effect"
import type { SqlError } from "effect/sql"

export interface Lane {
  readonly config: PgClient.PgClientConfig
  /** The rows of a statement, by the names of its columns. */
  readonly unsafe: <Row extends object>(
    text: string,
    parameters?: ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>
}

export const makeLane = (config: PgClient.PgPoolConfig): Effect.Effect<Lane, SqlError.SqlError, Scope.Scope> =>
  Effect.map(PgPool.make(config), (pool) => ({
    config,
    unsafe: <Row extends object>(text: string, parameters?: ReadonlyArray<unknown>) =>
      pool.use((connection) =>
        Effect.map(connection.query(text, parameters), ({ rows }) => rows as unknown as ReadonlyArray<Row>)
      )
  }))
