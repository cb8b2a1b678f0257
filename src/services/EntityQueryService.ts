/**
 * The only path to the data: admit → plan → resolve → prepare → execute → page. The statement itself checks the epoch of
 * the plan; when the plan is stale, the service plans again from fresh state, at most twice.
 */
import { Context, Effect, Layer, Result, type Tracer } from "effect"
import type { Statement } from "../database/sql/ResolvedQuery.ts"
import type { Basis } from "../domain/Basis.ts"
import { type Column, readableColumns } from "../domain/EntityType.ts"
import { InvalidInput, type LookupError, NotAdmitted, type Unavailable } from "../domain/errors.ts"
import { FIGURE_CALLS, FurtherCalls } from "../domain/FurtherCalls.ts"
import type { ListedType, Page } from "../domain/Page.ts"
import { CurrentPrincipal, type Principal } from "../domain/Principal.ts"
import { EXPORT_PAGE, FIGURES_OFF, type FindQuery, MAX_EXPORTED } from "../domain/Query.ts"
import { unavailable } from "../observability/failures.ts"
import * as Telemetry from "../observability/Telemetry.ts"
import { pseudonym } from "../domain/pseudonym.ts"
import { type Admitted, IdentityResolver } from "./members/IdentityResolver.ts"
import { OrganizationState } from "./catalog/OrganizationState.ts"
import { type FindResult, OrgEntityStore } from "./OrgEntityStore.ts"
import { Refusals } from "./audit/Refusals.ts"
import type { Fault } from "./lookup/resolveFilter.ts"
import {
  type ColumnList,
  type ColumnsQuery,
  listedColumns,
  listedTypes,
  overviewOf,
  type TypeOverview
} from "./lookup/listed.ts"
import { described } from "./lookup/described.ts"
import { columnsFault, queryFault, typesFault } from "./lookup/queryFault.ts"
import { asksForGroups, resolveGroups } from "./lookup/resolveGroups.ts"
import { resolve, resolvePages, resolveType } from "./lookup/resolve.ts"
import { makeViews, type View } from "./lookup/views.ts"
import { type Visible, visibleColumns } from "./lookup/visible.ts"

/** The pages of an export, all read under the epoch of the first. */
export interface Pages {
  readonly columns: ReadonlyArray<Column>
  readonly first: Page
  /** The page after a cursor; undefined when policy, memberships or catalog have changed since the first. */
  readonly next: (cursorEntityId: string) => Effect.Effect<Page | undefined, Unavailable>
}

/** Each change of policy, memberships or catalog during a lookup costs an attempt. */
const MAX_ATTEMPTS = 3

export class EntityQueryService extends Context.Service<
  EntityQueryService,
  {
    /** The types that the caller may see, system types first; with words (`a|b`), those with a name that contains one. */
    readonly listEntityTypes: (input: {
      readonly organizationId: bigint
      readonly nameContains?: string | undefined
    }) => Effect.Effect<{ readonly entityTypes: ReadonlyArray<ListedType> }, LookupError, CurrentPrincipal>
    /** The columns of a type that the caller may see, by slug and label; and, unless names are asked for, what leads here. */
    readonly listColumnsForType: (
      input: ColumnsQuery & { readonly organizationId: bigint }
    ) => Effect.Effect<ColumnList, LookupError, CurrentPrincipal>
    /** The types that the caller may see, in the catalog's order, each with its visible columns. */
    readonly overview: (input: {
      readonly organizationId: bigint
    }) => Effect.Effect<ReadonlyArray<TypeOverview>, LookupError, CurrentPrincipal>
    /** What an answer to the caller is made from now. Earlier answers are shown only under an equal basis. */
    readonly basis: (input: {
      readonly organizationId: bigint
    }) => Effect.Effect<Basis, NotAdmitted | Unavailable, CurrentPrincipal>
    /** One page of the matching entities that the caller may see. */
    readonly findEntities: (
      input: FindQuery & { readonly organizationId: bigint }
    ) => Effect.Effect<Page, LookupError, CurrentPrincipal>
    /** All matching entities that the caller may see, in pages of 500 rows and at most 20 columns. */
    readonly pages: (
      input: FindQuery & { readonly organizationId: bigint }
    ) => Effect.Effect<Pages, LookupError, CurrentPrincipal>
    /** The groups that a query asks for, as many as an export has. */
    readonly groups: (
      input: Omit<FindQuery, "limit" | "cursorEntityId"> & { readonly organizationId: bigint }
    ) => Effect.Effect<Page, LookupError, CurrentPrincipal>
    /** The statement that `findEntities` would run for the caller; only operators may see it. */
    readonly explain: (
      input: FindQuery & { readonly organizationId: bigint }
    ) => Effect.Effect<Statement, LookupError, CurrentPrincipal>
  }
>()("max/services/EntityQueryService") {
  static readonly layer = Layer.effect(
    EntityQueryService,
    Effect.gen(function* () {
      const identities = yield* IdentityResolver
      const refusals = yield* Refusals
      const states = yield* OrganizationState
      const store = yield* OrgEntityStore
      const visibleTo = makeViews()

      const forCaller = <A, E, R>(
        organizationId: bigint,
        use: (principal: Principal) => Effect.Effect<A, E, R>
      ): Effect.Effect<A, E | NotAdmitted, R | CurrentPrincipal> =>
        CurrentPrincipal.use((principal): Effect.Effect<A, E | NotAdmitted, R> =>
          principal.organizationId === organizationId ? use(principal) : Effect.fail(NotAdmitted.error)
        )

      const caller = (organizationId: bigint) => forCaller(organizationId, Effect.succeed)

      /** The caller's view of the cached state if it is of the caller's epoch, otherwise of fresh state. */
      const viewOf = Effect.fnUntraced(function* (principal: Principal) {
        const state = states.cached(principal.organizationId)
        return visibleTo(
          state?.catalog.epoch === principal.epoch ? { principal, state } : yield* identities.readmit(principal)
        )
      })

      /** Records a refused name in the audit log; the caller's error doesn't tell a hidden name from an unknown one. */
      const recordRefusal = ({ principal, state }: Admitted, entityTypeId: string, columnIds: ReadonlyArray<string>) =>
        refusals.record({
          organizationId: principal.organizationId,
          actor: principal.anchorEntityId,
          action: "read.refused",
          subject: refusedName(entityTypeId, columnIds, visibleTo({ principal, state }))
        })

      /** The same for groups and figures. Too many rows to add up have a total with a lower bound, and no figures. */
      const figures = Effect.fnUntraced(function* (
        query: FindQuery,
        visible: View,
        { state }: Admitted,
        span: Tracer.Span | undefined,
        most: number | undefined
      ): Effect.fn.Return<Attempt, Unavailable> {
        const resolved = resolveGroups(query, visible, most)
        if (Result.isFailure(resolved)) return { _tag: "Fault", fault: resolved.failure }
        if (store.figures === undefined) return { _tag: "Fault", fault: InvalidInput.of(FIGURES_OFF) }
        const found = yield* store.figures(resolved.success, state.catalog, span)
        if (found._tag !== "TooLong") return found
        const filters = query.filters.filter((filter) => !resolved.success.onGroups.includes(filter))
        const counted = resolve({ entityTypeId: query.entityTypeId, filters, limit: 0 }, visible)
        if (Result.isFailure(counted)) return { _tag: "Fault", fault: counted.failure }
        const page = yield* store.find(counted.success, state.catalog, span)
        return page._tag === "Page" ? { _tag: "Page", page: { ...page.page, tooMany: true } } : page
      })

      /** plan → resolve, then prepare → execute → page in the store. */
      const attempt = (
        query: FindQuery,
        admitted: Admitted,
        span: Tracer.Span | undefined,
        most?: number
      ): Effect.Effect<Attempt, Unavailable> => {
        const visible = visibleTo(admitted)
        if (asksForGroups(query)) return figures(query, visible, admitted, span, most)
        const plannedBefore = visible.planning()
        const resolved = resolve(query, visible)
        if (Result.isFailure(resolved)) return Effect.succeed({ _tag: "Fault", fault: resolved.failure })
        const result = store.find(resolved.success, admitted.state.catalog, span)
        return span === undefined ? result : described(result, resolved.success, visible, plannedBefore, span)
      }

      /** Attempts a query on the cached state; a fault or a stale plan needs fresh state. */
      const lookUp = (
        input: FindQuery,
        principal: Principal,
        span: Tracer.Span | undefined
      ): Effect.Effect<Page, LookupError> => {
        if (span !== undefined) Telemetry.setAttributes(span, { "max.organization.id": principal.organizationId })
        const state = states.cached(principal.organizationId)
        if (state?.catalog.epoch !== principal.epoch) return lookUpFresh(input, principal, span, MAX_ATTEMPTS)
        return Effect.flatMap(attempt(input, { principal, state }, span), (result) =>
          result._tag === "Page" ? Effect.succeed(result.page) : lookUpFresh(input, principal, span, MAX_ATTEMPTS - 1)
        )
      }

      /**
       * Attempts a query on fresh state, so that a fault describes the policy and catalog in force. A change during the
       * attempt causes another, up to `attempts`.
       */
      const lookUpFresh = Effect.fnUntraced(function* (
        input: FindQuery,
        principal: Principal,
        span: Tracer.Span | undefined,
        attempts: number,
        most?: number
      ): Effect.fn.Return<Page, LookupError> {
        const admitted = yield* Telemetry.childOf(span, identities.readmit(principal))
        const result = yield* attempt(input, admitted, span, most)
        switch (result._tag) {
          case "Page":
            return result.page
          case "Fault":
            if (result.fault._tag === "UnknownName") {
              recordRefusal(admitted, input.entityTypeId, columnsOf(input))
              span?.attribute("max.denied", true)
              span?.attribute("max.caller", pseudonym(principal))
            }
            return yield* result.fault
          case "Stale":
            if (result.cause === "drift") states.suspect(principal.organizationId)
            return yield* attempts === 1
              ? unavailable(result.cause)
              : lookUpFresh(input, principal, span, attempts - 1, most)
        }
      })

      /** Counts what groups and figures cost beyond one call, once for each request. */
      const charged = <A>(
        input: FindQuery,
        principal: Principal,
        answer: Effect.Effect<A, LookupError>
      ): Effect.Effect<A, LookupError> =>
        asksForGroups(input)
          ? Effect.flatMap(FurtherCalls, (count) => Effect.andThen(count(principal, FIGURE_CALLS - 1), answer))
          : answer

      return EntityQueryService.of({
        listEntityTypes: Effect.fn("EntityQueryService.listEntityTypes")(function* (input) {
          yield* valid(typesFault(input))
          const admitted = yield* identities.readmit(yield* caller(input.organizationId))
          return { entityTypes: yield* listedTypes(input.nameContains?.split("|"), visibleTo(admitted)) }
        }),

        overview: Effect.fn("EntityQueryService.overview")(function* (input) {
          return overviewOf(yield* viewOf(yield* caller(input.organizationId)))
        }),

        basis: ({ organizationId }) =>
          Effect.map(Effect.flatMap(caller(organizationId), viewOf), (view) => view.basis()),

        listColumnsForType: Effect.fn("EntityQueryService.listColumnsForType")(function* (input) {
          yield* valid(columnsFault(input))
          const admitted = yield* identities.readmit(yield* caller(input.organizationId))
          const visible = visibleTo(admitted)
          const resolved = resolveType(input.entityTypeId, visible)
          if (Result.isFailure(resolved)) {
            recordRefusal(admitted, input.entityTypeId, [])
            yield* Effect.annotateCurrentSpan({ "max.denied": true, "max.caller": pseudonym(admitted.principal) })
          }
          return yield* listedColumns(input.filter, yield* Effect.fromResult(resolved), visible)
        }),

        findEntities: (input) => {
          const fault = queryFault(input)
          return fault === undefined
            ? Telemetry.span("EntityQueryService.find", {}, (span) =>
                forCaller(input.organizationId, (principal) =>
                  charged(input, principal, lookUp(input, principal, span))
                )
              )
            : Effect.fail(InvalidInput.of(fault))
        },

        pages: Effect.fn("EntityQueryService.pages")(function* (input) {
          yield* valid(queryFault(input))
          const principal = yield* caller(input.organizationId)
          for (let attempt = 1; ; attempt++) {
            const admitted = yield* identities.readmit(principal)
            const resolved = resolvePages(input, visibleTo(admitted), EXPORT_PAGE)
            if (Result.isFailure(resolved)) {
              if (resolved.failure._tag === "UnknownName") recordRefusal(admitted, input.entityTypeId, columnsOf(input))
              return yield* resolved.failure
            }
            const { columns, page } = resolved.success
            const read = (cursor?: string) =>
              Effect.flatMap(Effect.orDie(Effect.fromResult(page(cursor))), (query) =>
                store.find(query, admitted.state.catalog)
              )
            const first = yield* read()
            if (first._tag === "Page") {
              const next = (cursor: string) =>
                Effect.map(read(cursor), (found) => (found._tag === "Page" ? found.page : undefined))
              return { columns, first: first.page, next }
            }
            if (first.cause === "drift") states.suspect(input.organizationId)
            if (attempt === MAX_ATTEMPTS) return yield* unavailable(first.cause)
          }
        }),

        groups: Effect.fn("EntityQueryService.groups")(function* (input) {
          yield* valid(queryFault(input))
          const principal = yield* caller(input.organizationId)
          const span = yield* Effect.orElseSucceed(Effect.currentSpan, () => undefined)
          return yield* charged(input, principal, lookUpFresh(input, principal, span, MAX_ATTEMPTS, MAX_EXPORTED))
        }),

        explain: Effect.fn("EntityQueryService.explain")(function* (input) {
          yield* valid(queryFault(input))
          const admitted = yield* identities.readmit(yield* caller(input.organizationId))
          if (asksForGroups(input)) {
            const groups = yield* Effect.fromResult(resolveGroups(input, visibleTo(admitted)))
            return yield* store.figuresStatement(groups, admitted.state.catalog)
          }
          const resolved = yield* Effect.fromResult(resolve(input, visibleTo(admitted)))
          return yield* store.statement(resolved, admitted.state.catalog)
        })
      })
    })
  )
}

/** The columns that a query names. */
const columnsOf = ({ filters, selectColumns = [] }: FindQuery): ReadonlyArray<string> => [
  ...filters.map(({ columnId }) => columnId),
  ...selectColumns
]

const valid = (fault: string | undefined) => (fault === undefined ? Effect.void : Effect.fail(InvalidInput.of(fault)))

type Attempt = FindResult | { readonly _tag: "Fault"; readonly fault: Fault }

/** The refused name, as catalog slugs: a hidden type, a hidden column, or `unknown`. */
const refusedName = (entityTypeId: string, columnIds: ReadonlyArray<string>, visible: Visible): string => {
  const type = visible.state.catalog.types.find((candidate) => candidate.slug === entityTypeId)
  const plan = type && visible.planOf(type)
  if (type === undefined || plan === undefined) return type?.slug ?? "unknown"
  const shown = visibleColumns({ type, plan }, visible)
  const hidden = readableColumns(type).find((column) => columnIds.includes(column.slug) && !shown.includes(column))
  return hidden === undefined ? "unknown" : `${type.slug}.${hidden.slug}`
}
