/** Maps entity ids to external ids, without a plan; only `max eval` uses it, and it returns ids only. */
import { Context, Effect, Layer } from "effect"
import { Database } from "../../database/Database.ts"
import { runWithin } from "../../database/execute.ts"
import { qualified } from "../../database/sql/SqlWriter.ts"
import { type Organization, typeBySlug } from "../../domain/EntityType.ts"
import type { NotAdmitted, Unavailable } from "../../domain/errors.ts"
import { encodeId } from "../../domain/ids.ts"
import { entityId } from "../../domain/values.ts"
import { OrganizationState } from "../catalog/OrganizationState.ts"

export class ExternalIds extends Context.Service<
  ExternalIds,
  {
    /** External ids by entity id; entities without one are absent. */
    readonly of: (
      organization: Organization,
      typeSlug: string,
      ids: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, string>, NotAdmitted | Unavailable>
  }
>()("max/services/ExternalIds") {
  static readonly layer = Layer.effect(
    ExternalIds,
    Effect.gen(function* () {
      const { search } = yield* Database
      const states = yield* OrganizationState
      return ExternalIds.of({
        of: Effect.fn("ExternalIds.of")(function* (organization, typeSlug, ids) {
          const { state } = yield* states.read(organization.id, { by: "none" })
          const type = typeBySlug(state.catalog, typeSlug)
          if (type === undefined || ids.length === 0) return new Map()
          // The id of a mapped row is its key.
          if (type.mapping !== undefined) return new Map(ids.map((id) => [id, id]))
          const rows = yield* runWithin<{ id: bigint; external_id: string }>(search, organization.id, {
            text: `/* max external ids */ SELECT p.id, p.external_id FROM ${qualified(type.relation)} p
             WHERE p.organization_id = $1::bigint AND p.id = ANY($2::text[]::bigint[]) AND p.external_id IS NOT NULL`,
            parameters: [organization.id, ids.map(entityId)]
          })
          return new Map(rows.map((row) => [encodeId(row.id), row.external_id]))
        })
      })
    })
  )
}
