/** Resolved query → prepare → execute → page. It accepts planned queries only. */
import { Context, Effect, Layer, type Tracer } from "effect"
import { Database } from "../database/Database.ts"
import { makeExecute, runFigures, TOO_LONG } from "../database/execute.ts"
import { MAX_RELATED } from "../database/sql/cells.ts"
import { compileGroups } from "../database/sql/groups.ts"
import { Neighbours } from "../database/Neighbours.ts"
import { prepare } from "../database/sql/prepared.ts"
import type { ResolvedGroups } from "../database/sql/ResolvedGroups.ts"
import type { ResolvedQuery, Statement } from "../database/sql/ResolvedQuery.ts"
import type { Catalog, Column } from "../domain/EntityType.ts"
import type { Unavailable } from "../domain/errors.ts"
import type { Entity, Page, ReferenceCell } from "../domain/Page.ts"
import { MAX_TOTAL } from "../domain/Query.ts"
import { unavailable } from "../observability/failures.ts"
import * as Telemetry from "../observability/Telemetry.ts"
import { printable } from "../domain/text.ts"
import { showId } from "../domain/values.ts"
import { type GroupRow, groupsPage } from "./lookup/groupsPage.ts"
import { makeReplicaReads } from "./lookup/replicaReads.ts"
import { makeSearchPermits } from "./lookup/searchPermits.ts"

/** A page; or `Stale`, when policy, membership or catalog have changed since the query was planned. */
export type FindResult = { readonly _tag: "Page"; readonly page: Page } | Stale

interface TooLong {
  readonly _tag: "TooLong"
}

interface Stale {
  readonly _tag: "Stale"
  /** "drift": a mapped relation isn't what was mapped, according to the catalog of the plan. */
  readonly cause: "stale plan" | "drift"
}

type Row = {
  readonly fresh: boolean | null
  readonly total: number
  readonly organization_id?: bigint | null
  readonly id?: bigint | string | null
  readonly name?: string | null
  readonly status?: string | null
} & { readonly [cell: `c${number}`]: unknown }

export class OrgEntityStore extends Context.Service<
  OrgEntityStore,
  {
    /** The statement of a planned query; `Unavailable` when it can't be compiled. */
    readonly statement: (query: ResolvedQuery, catalog: Catalog) => Effect.Effect<Statement, Unavailable>
    /** `parent`: the parent span, if not the current one. */
    readonly find: (
      query: ResolvedQuery,
      catalog: Catalog,
      parent?: Tracer.Span
    ) => Effect.Effect<FindResult, Unavailable>
    /** The rows of a statement that names them by id, on the connections of lookups. */
    readonly rows: <Row extends object>(
      statement: Statement,
      catalog: Catalog
    ) => Effect.Effect<ReadonlyArray<Row>, Unavailable>
    /** Groups and figures; `TooLong` when there are too many rows to add up at once. Undefined where they are turned off. */
    readonly figures:
      | ((
          query: ResolvedGroups,
          catalog: Catalog,
          parent?: Tracer.Span
        ) => Effect.Effect<FindResult | TooLong, Unavailable>)
      | undefined
    readonly figuresStatement: (query: ResolvedGroups, catalog: Catalog) => Effect.Effect<Statement, Unavailable>
  }
>()("max/services/OrgEntityStore") {
  static readonly layer = Layer.effect(
    OrgEntityStore,
    Effect.gen(function* () {
      const database = yield* Database
      const neighbours = new Neighbours()
      const withPermit = makeSearchPermits(database.searchConnections, neighbours)
      const execute = makeExecute(database, neighbours)
      const replicas = makeReplicaReads(database, neighbours, yield* Effect.scope)
      if (replicas !== undefined) yield* replicas.start

      /** Row-level security needs a transaction, which the shared connections of lookups can't have. */
      const run = <Row extends object>(
        statement: Statement,
        pool: ResolvedQuery["pool"],
        { organization, rowSecurity }: Catalog,
        span?: Tracer.Span
      ) => {
        const how = rowSecurity === true ? "transaction" : pool
        neighbours.arrive(organization.id)
        // A search that waits for a lock has no permit.
        const search = (how: "search" | "transaction") =>
          database.locks.run(
            "search",
            statement.relations,
            withPermit(organization.id, execute<Row>(how, organization.id, statement, span))
          )
        if (how !== "lookup") return search(how)
        const looked = execute<Row>("lookup", organization.id, statement, span)
        // A name that many rows have, under a plan that shows few of them.
        return Effect.catchTag(database.locks.run("lookup", statement.relations, looked), "LookupTimedOut", () =>
          search("search")
        )
      }

      // One at a time: a statement may read all rows of its organization.
      const withFigurePermit = makeSearchPermits(1, neighbours)
      const addUp = (statement: Statement, { organization, rowSecurity }: Catalog) =>
        withFigurePermit(
          organization.id,
          database.locks.run(
            "search",
            statement.relations,
            runFigures<GroupRow>(database.figures!, organization.id, statement, rowSecurity === true)
          )
        )

      return OrgEntityStore.of({
        statement: (query, catalog) =>
          Effect.suspend(() => {
            const statement = orRefuse(prepare, query, catalog)
            return typeof statement === "string" ? unavailable(statement) : Effect.succeed(statement)
          }),
        rows: (statement, catalog) => run(statement, "lookup", catalog),
        figuresStatement: (query, catalog) =>
          Effect.suspend(() => {
            const statement = orRefuse(compileGroups, query, catalog)
            return typeof statement === "string" ? unavailable(statement) : Effect.succeed(statement)
          }),
        figures:
          database.figures === undefined
            ? undefined
            : (query, catalog, parent) =>
                Telemetry.span("OrgEntityStore.figures", { parent }, () => {
                  const statement = orRefuse(compileGroups, query, catalog)
                  if (typeof statement === "string") return unavailable(statement)
                  return Effect.flatMap(
                    addUp(statement, catalog),
                    (rows): Effect.Effect<FindResult | TooLong, Unavailable> =>
                      rows === TOO_LONG
                        ? Effect.succeed(TOO_MANY)
                        : rows[0]?.fresh !== true
                          ? Effect.succeed(rows.length === 0 ? DRIFTED : STALE)
                          : Effect.succeed({ _tag: "Page", page: groupsPage(rows, query) })
                  )
                }),
        find: (query, catalog, parent) =>
          Telemetry.span("OrgEntityStore.find", { parent }, (span) => {
            const statement = orRefuse(prepare, query, catalog)
            if (typeof statement === "string") return unavailable(statement)
            const page = (rows: ReadonlyArray<Row>) => {
              if (span !== undefined) Telemetry.setAttributes(span, { "max.rows": rows.length })
              return pageOf(rows, query, catalog)
            }
            const onPrimary = Effect.flatMap(run<Row>(statement, query.pool, catalog, span), page)
            if (replicas === undefined || !mayUseReplica(statement, catalog)) return onPrimary
            return Effect.flatMap(
              replicas.read<Row>(
                {
                  pool: query.pool,
                  organizationId: catalog.organization.id,
                  epoch: catalog.epoch,
                  statement: prepare(query, catalog, "standby")
                },
                span
              ),
              (rows) => (rows === undefined ? onPrimary : page(rows))
            )
          })
      })
    })
  )
}

/** The cause instead, when the query can't be compiled (a plan too large): it must not become an answer. */
const orRefuse = <Query>(
  compile: (query: Query, catalog: Catalog) => Statement,
  query: Query,
  catalog: Catalog
): Statement | "not compilable" => {
  try {
    return compile(query, catalog)
  } catch {
    return "not compilable"
  }
}

/** No data version covers rows of mapped relations, which others write; row-level security needs a transaction. */
const mayUseReplica = ({ mapped }: Statement, { rowSecurity }: Catalog): boolean =>
  mapped !== true && rowSecurity !== true

const TOO_MANY: TooLong = { _tag: "TooLong" }
const STALE: Stale = { _tag: "Stale", cause: "stale plan" }
const DRIFTED: Stale = { _tag: "Stale", cause: "drift" }

const pageOf = (
  rows: ReadonlyArray<Row>,
  query: ResolvedQuery,
  catalog: Catalog
): Effect.Effect<FindResult, Unavailable> => {
  if (rows[0]?.fresh !== true) return Effect.succeed(rows.length === 0 ? DRIFTED : STALE)
  // Every table is read by organization; a row of another organization is a bug, and must not reach the caller.
  if (rows.some((row) => isForeign(row, catalog))) {
    return Effect.andThen(
      Effect.logError("A row of another organization came back: the lookup was refused"),
      unavailable("foreign row")
    )
  }
  return Effect.succeed({ _tag: "Page", page: toPage(rows, query) })
}

const isForeign = ({ id, organization_id }: Row, catalog: Catalog): boolean =>
  id !== null && id !== undefined && organization_id !== catalog.organization.id

type Writable<A> = { -readonly [K in keyof A]: A[K] }

// Assigns optional fields one by one: on this hot path, spreads cost several times as much.
const toPage = (rows: ReadonlyArray<Row>, query: ResolvedQuery): Page => {
  const total = rows[0]!.total
  const entities: Array<Entity> = []
  for (const row of rows) {
    if (row.id === null || row.id === undefined) continue
    if (entities.length < query.limit) entities.push(toEntity(row, query))
  }
  const page = { total: Math.min(total, MAX_TOTAL) } as Writable<Page>
  if (total > MAX_TOTAL) page.totalIsLowerBound = true
  if (query.limited === true) page.limited = true
  page.entities = entities
  if (query.limit > 0 && rows.length > query.limit) page.nextCursorEntityId = entities.at(-1)!.entityId
  return page
}

const toEntity = (row: Row, query: ResolvedQuery): Entity => {
  const entity: Writable<Entity> = { entityId: showId(row.id!, query.type.mapping?.id.type) }
  if (typeof row.name === "string") entity.displayName = printable(row.name)
  if (typeof row.status === "string") entity.status = printable(row.status)
  if (query.select.length === 0) return entity
  const columns: Record<string, unknown> = {}
  for (let index = 0; index < query.select.length; index++) {
    const { column } = query.select[index]!
    const value = cellValue(column, row[`c${index}`])
    if (value !== undefined) columns[column.slug] = value
  }
  entity.columns = columns
  return entity
}

const cellValue = (column: Column, value: unknown): unknown => {
  if (value === null || value === undefined) return undefined
  switch (column.kind) {
    case "integer": {
      const number = Number(value)
      return Number.isSafeInteger(number) ? number : String(value)
    }
    case "timestamp":
      return String(value).replace(/:00$/, "")
    case "reference":
      return references(value, column)[0]
    case "references": {
      const all = references(value, column)
      return all.length > MAX_RELATED ? [...all.slice(0, MAX_RELATED), { more: true }] : all
    }
    case "list":
      return (value as ReadonlyArray<string>).map(printable)
    default:
      return typeof value === "string" ? printable(value) : value
  }
}

const references = (value: unknown, { ids }: Column): ReadonlyArray<ReferenceCell> => {
  const parts = value as ReadonlyArray<string | null>
  const cells: Array<ReferenceCell> = []
  for (let index = 0; index < parts.length; index += 2) {
    const name = parts[index + 1]
    cells.push({ id: showId(parts[index]!, ids), ...(typeof name === "string" ? { name: printable(name) } : {}) })
  }
  return cells
}
