/** Previews a policy: what each role would see of each type, as an example person. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { type Catalog, type Organization, peopleOf } from "../../domain/EntityType.ts"
import { decodeId, encodeId } from "../../domain/ids.ts"
import { NEVER } from "../../domain/Predicate.ts"
import type { Policy } from "../../permissions/Policy.ts"
import { firstMembers } from "./assignments.ts"
import { plannedAccess, type RowEvaluator } from "./rowEvaluator.ts"

/** A role's access to one type, as the example person who represents the role. */
export interface Preview {
  readonly role: string
  /** The example person's name. */
  readonly as: string
  /** Whether the example person has the role. */
  readonly isMember: boolean
  readonly type: string
  readonly total: number
  readonly visible: number
  readonly columns: ReadonlyArray<{ readonly column: string; readonly rows: number }>
  readonly examples: ReadonlyArray<{ readonly name: string; readonly columns: ReadonlyArray<string> }>
}

const MAX_EXAMPLE_ROWS = 2

export const previewRoles = Effect.fnUntraced(function* (
  search: PgClient.PgClient,
  evaluator: RowEvaluator,
  organization: Organization,
  policy: Policy,
  catalog: Catalog
) {
  const examples = yield* examplePeople(search, evaluator, organization, catalog, Object.keys(policy.roles))
  return yield* Effect.forEach(
    examples.flatMap((example) => catalog.types.map((type) => ({ ...example, type }))),
    Effect.fnUntraced(function* ({ anchorId, attributes, isMember, name, role, type }) {
      const principal = {
        organizationId: organization.id,
        anchorEntityId: anchorId,
        roles: [role],
        attributes,
        epoch: catalog.epoch
      }
      const access = plannedAccess(policy, catalog, principal, type, Date.now())
      const judgements = [access.rows, ...type.columns.map(({ key }) => access.cell(key))].map((of) => ({ of }))
      const { counts, total } = yield* evaluator.counts(type, catalog, judgements)
      const rows = yield* evaluator.rows(type, catalog, judgements, {
        where: { of: access.rows },
        limit: MAX_EXAMPLE_ROWS
      })
      return {
        role,
        as: name,
        isMember,
        type: type.slug,
        total,
        visible: counts[0]!,
        columns: type.columns.map(({ slug }, index) => ({ column: slug, rows: counts[index + 1]! })),
        examples: rows.map((row) => ({
          name: row.name,
          columns: type.columns.filter((_, index) => row.truths[index + 1]).map(({ slug }) => slug)
        }))
      } satisfies Preview
    })
  )
})

/** For each role, its first member, or the first person of the organization if it has none. */
const examplePeople = Effect.fnUntraced(function* (
  search: PgClient.PgClient,
  evaluator: RowEvaluator,
  organization: Organization,
  catalog: Catalog,
  roles: ReadonlyArray<string>
) {
  const people = peopleOf(catalog)
  const members = yield* firstMembers(search, organization.id)
  const fallback = people === undefined ? [] : yield* evaluator.rows(people, catalog, [], { limit: 1 })
  return yield* Effect.forEach(
    roles,
    Effect.fnUntraced(function* (role) {
      const member = members.find((candidate) => candidate.roles.includes(role))
      const anchorId = member?.anchor_id ?? fallback[0]?.id ?? encodeId(0n)
      const [row] =
        people === undefined
          ? []
          : yield* evaluator.rows(people, catalog, [{ of: NEVER }], {
              ids: [(decodeId(anchorId) ?? 0n).toString()],
              limit: 1
            })
      return {
        role,
        anchorId,
        attributes: member?.attributes ?? {},
        isMember: member !== undefined,
        name: row?.name ?? "no person"
      }
    })
  )
})
