/** A small organization for tests, with rows written directly into the managed tables as an import writes them. */
import { Effect } from "effect"
import { Database } from "../../src/database/Database.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import { encodeId, nextId } from "../../src/domain/ids.ts"
import { emailKey, foldText, phoneKey } from "../../src/domain/keys.ts"
import { CurrentPrincipal } from "../../src/domain/Principal.ts"
import type { FindQuery } from "../../src/domain/Query.ts"
import { EntityQueryService } from "../../src/services/EntityQueryService.ts"
import { IdentityResolver } from "../../src/services/members/IdentityResolver.ts"
import { Memberships } from "../../src/services/members/Memberships.ts"
import { Organizations } from "../../src/services/organizations/Organizations.ts"

export interface PersonRow {
  readonly name: string
  readonly status?: string
  readonly phone?: string
  readonly email?: string
  readonly owner?: string
}

export const makeOrganization = (slug: string, timeZone = "America/New_York") =>
  Effect.flatMap(Organizations, (organizations) => organizations.create({ slug, country: "US", timeZone }))

/** A time zone in which it is noon, so that no test about "today" runs across midnight. `Etc/GMT-5` is five hours ahead. */
export const zoneAtNoon = (now = new Date()): string => {
  const ahead = 12 - now.getUTCHours()
  return ahead === 0 ? "Etc/GMT" : `Etc/GMT${ahead > 0 ? "-" : "+"}${Math.abs(ahead)}`
}

/** Writes people and returns their entity ids in order. */
export const addPeople = Effect.fnUntraced(function* (organization: Organization, rows: ReadonlyArray<PersonRow>) {
  const { owner: sql } = yield* Database
  const ids = rows.map(() => nextId())
  yield* sql.unsafe(
    `INSERT INTO data.people (organization_id, id, name, name_k, status, status_k, phone, phone_k, email, email_k, owner_id)
     SELECT $1::bigint, x.id, x.name, x.name_k, x.status, x.status_k, x.phone, x.phone_k, x.email, x.email_k, x.owner_id
     FROM json_to_recordset($2::json) AS x(id bigint, name text, name_k text, status text, status_k text, phone text, phone_k text,
       email text, email_k text, owner_id bigint)`,
    [
      organization.id,
      JSON.stringify(
        rows.map((row, index) => ({
          id: ids[index]!.toString(),
          name: row.name,
          name_k: foldText(row.name),
          status: row.status ?? null,
          status_k: row.status === undefined ? null : foldText(row.status),
          phone: row.phone ?? null,
          phone_k: row.phone === undefined ? null : (phoneKey(row.phone, "US") ?? null),
          email: row.email ?? null,
          email_k: row.email === undefined ? null : (emailKey(row.email) ?? null),
          owner_id: row.owner ?? null
        }))
      )
    ]
  )
  return ids.map(encodeId)
})

/** Adds a new person as a member, and looks things up as that person. */
export const asMember = Effect.fnUntraced(function* (
  organization: Organization,
  email: string,
  ...roles: ReadonlyArray<string>
) {
  const members = yield* Memberships
  const identities = yield* IdentityResolver
  const queries = yield* EntityQueryService
  yield* members.add(organization, { identifier: email, roles, create: {} })
  const { principal } = yield* identities.admit(organization, { kind: "email", key: email })
  const as = Effect.provideService(CurrentPrincipal, principal)
  return {
    principal,
    types: as(queries.listEntityTypes({ organizationId: organization.id })),
    columns: (entityTypeId: string) =>
      as(queries.listColumnsForType({ organizationId: organization.id, entityTypeId })),
    find: (query: Partial<FindQuery> = {}) =>
      as(queries.findEntities({ organizationId: organization.id, entityTypeId: "people", filters: [], ...query }))
  }
})
