/**
 * The benchmarks' world: people, companies and meetings of 200 organizations, the largest of which has half of all rows.
 * It is generated inside the database, in the migrated schema, and read through Max's own catalog. The same number of rows
 * always gives the same world, except for the organizations' ids.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { Database } from "../../src/database/Database.ts"
import { refreshStatistics } from "../../src/database/statistics.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import { foldText } from "../../src/domain/keys.ts"
import { IdentityResolver } from "../../src/services/members/IdentityResolver.ts"
import { Memberships } from "../../src/services/members/Memberships.ts"
import { Organizations } from "../../src/services/organizations/Organizations.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { COMPANY_FORMS, COMPANY_KINDS, COMPANY_NAMES, FIRST_NAMES, LAST_NAMES, MEETING_NAMES } from "./names.ts"
import { ROLES, WORLD_POLICY } from "./policy.ts"

/** The size of an organization: half of all rows, about a hundredth, and the smallest. */
export type Size = "huge" | "middle" | "small"
export type Role = keyof typeof ROLES

export interface World {
  readonly rows: number
  readonly organizations: Readonly<Record<Size, WorldOrganization>>
}

export interface WorldOrganization {
  readonly organization: Organization
  /** The number of its people, and of the people before them. */
  readonly people: number
  readonly first: number
}

/** Incremented when the same number of rows gives a different world. */
const EDITION = 3
const ORGANIZATIONS = 200
const PLACES: Readonly<Record<Size, number>> = { huge: 0, middle: 8, small: ORGANIZATIONS - 1 }
const slugOf = (place: number): string => `world-${String(place).padStart(3, "0")}`

/** People per organization: half of all in the first, the rest falling as one over the place. */
const sizesOf = (rows: number): ReadonlyArray<number> => {
  const weights = Array.from({ length: ORGANIZATIONS - 1 }, (_, index) => 1 / (index + 1))
  const sum = weights.reduce((a, b) => a + b)
  const half = Math.floor(rows / 2)
  const rest = weights.map((weight) => Math.max(10, Math.floor(((rows - half) * weight) / sum)))
  return [rows - rest.reduce((a, b) => a + b), ...rest]
}

const firstsOf = (sizes: ReadonlyArray<number>): ReadonlyArray<number> =>
  sizes.map((_, place) => sizes.slice(0, place).reduce((a, b) => a + b, 0))

/** A person's phone and e-mail, from its number among all people; below, the same in SQL. */
export const phoneOf = (number: number): string => `+1${2_000_000_000 + ((number * 3571) % 7_999_999_999)}`
export const emailOf = (number: number): string => `p${number}@example.com`
const PHONE = `(2000000000 + ((o.first + n) * 3571) % 7999999999)::text`
const EMAIL = `'p' || (o.first + n) || '@example.com'`

/** Ids start at a fixed moment of 2024. */
const FIRST_ID = (BigInt(Date.UTC(2024, 0, 1) - Date.UTC(2020, 0, 1)) << 22n).toString()

/** A person's number is the organization's offset plus \`n\`; \`u(k)\` is its uniform hash in [0, 1). */
const u = (k: number) => `((hashint8extended(o.first + n, ${k}) & 1048575) / 1048576.0)`
const pick = (list: string, share: string) => `(${list})[1 + floor(${share} * cardinality(${list}))::int]`
const common = (k: number) => `${u(k)} ^ 2`

const ROWS = `unnest($1::bigint[], $2::int[], $3::bigint[]) WITH ORDINALITY o (organization_id, people, first, place)`

/** One insert per table; parameters from $4 are the lists of names, plain and folded. */
const INSERTS: ReadonlyArray<string> = [
  `INSERT INTO data.companies (organization_id, id, external_id, name, name_k, status, status_k, owner_id, email, email_k)
   SELECT o.organization_id, ${FIRST_ID} + (o.first + n) * 8 + 1, 'c' || lpad(n::text, 8, '0'),
     ${pick("$4::text[]", u(1))} || ' ' || ${pick("$6::text[]", u(2))} || ' ' || ${pick("$8::text[]", u(3))},
     ${pick("$5::text[]", u(1))} || ' ' || ${pick("$7::text[]", u(2))} || ' ' || ${pick("$9::text[]", u(3))},
     s.status, lower(s.status), ${FIRST_ID} + (o.first + 1 + floor(${common(4)} * (3 + o.people / 2000))) * 8,
     'c' || n || '@example.org', 'c' || n || '@example.org'
   FROM ${ROWS}, generate_series(1, 1 + o.people / 20) n,
     LATERAL (SELECT CASE WHEN n % 50 = 1 THEN 'Partner' WHEN ${u(5)} < 0.6 THEN 'Customer' ELSE 'Prospect' END AS status) s
   ORDER BY o.place, n`,
  `INSERT INTO data.people (organization_id, id, external_id, name, name_k, status, status_k, owner_id, company_id, phone, phone_k, email, email_k)
   SELECT o.organization_id, ${FIRST_ID} + (o.first + n) * 8, 'p' || lpad(n::text, 8, '0'),
     ${pick("$4::text[]", common(1))} || ' ' || ${pick("$6::text[]", common(2))}, ${pick("$5::text[]", common(1))} || ' ' || ${pick("$7::text[]", common(2))},
     s.status, lower(s.status),
     CASE WHEN ${u(3)} < 0.85 THEN ${FIRST_ID} + (o.first + 1 + floor(${common(4)} * (3 + o.people / 2000))) * 8 END,
     CASE WHEN ${u(5)} < 0.7 THEN ${FIRST_ID} + (o.first + 1 + floor(${common(6)} * (1 + o.people / 20))) * 8 + 1 END,
     CASE WHEN n % 5 <> 4 THEN '+1 ' || ${PHONE} END, CASE WHEN n % 5 <> 4 THEN '+1' || ${PHONE} END,
     ${EMAIL}, ${EMAIL}
   FROM ${ROWS}, generate_series(1, o.people) n,
     LATERAL (SELECT CASE WHEN n % greatest(o.people / 10, 1) = 5 THEN 'Board' WHEN ${u(7)} < 0.55 THEN 'Customer' WHEN ${u(7)} < 0.85 THEN 'Lead'
       WHEN ${u(7)} < 0.99 THEN 'Lost' ELSE 'Prospect' END AS status) s
   ORDER BY o.place, n`,
  `INSERT INTO data.meetings (organization_id, id, external_id, name, name_k, status, status_k, owner_id, company_id, start_at, end_at)
   SELECT o.organization_id, ${FIRST_ID} + (o.first + n) * 8 + 2, 'm' || lpad(n::text, 8, '0'),
     ${pick("$4::text[]", u(1))} || ' with ' || ${pick("$6::text[]", common(2))}, ${pick("$5::text[]", u(1))} || ' with ' || ${pick("$7::text[]", common(2))},
     s.status, lower(s.status), ${FIRST_ID} + (o.first + 1 + floor(${common(3)} * (3 + o.people / 2000))) * 8,
     ${FIRST_ID} + (o.first + 1 + floor(${common(6)} * (1 + o.people / 20))) * 8 + 1, s.at, s.at + interval '1 hour'
   FROM ${ROWS}, generate_series(1, o.people / 10) n,
     LATERAL (SELECT CASE WHEN ${u(7)} < 0.7 THEN 'Held' ELSE 'Planned' END AS status,
       timestamptz '2023-01-02 08:00+00' + floor(${u(8)} * 4 * 365 * 24) * interval '1 hour' AS at) s
   ORDER BY o.place, n`,
  `INSERT INTO data.meeting_attendees (organization_id, meeting_id, person_id)
   SELECT DISTINCT o.organization_id, ${FIRST_ID} + (o.first + n) * 8 + 2, ${FIRST_ID} + (o.first + 1 + floor(((hashint8extended(o.first + n, 20 + k) & 1048575) / 1048576.0) * o.people)) * 8
   FROM ${ROWS}, generate_series(1, o.people / 10) n, generate_series(1, 1 + (n % 4)) k
   ORDER BY 1, 2, 3`
]

/** The lists that each insert picks from. */
const LISTS: ReadonlyArray<ReadonlyArray<ReadonlyArray<string>>> = [
  [COMPANY_NAMES, COMPANY_KINDS, COMPANY_FORMS],
  [FIRST_NAMES, LAST_NAMES],
  [MEETING_NAMES, LAST_NAMES],
  []
]
const TABLES = ["companies", "people", "meetings", "meeting_attendees"]

/** Opens the world of a database, or generates it in an empty one. */
export const openWorld = Effect.fnUntraced(function* (rows: number) {
  const { owner } = yield* Database
  const mark = `max benchmark world ${EDITION}, ${rows} rows`
  const [existing] = yield* owner<{ mark: string | null; organizations: number }>`
    SELECT obj_description('data'::regnamespace) AS mark, (SELECT count(*)::int FROM max.organizations) AS organizations`
  if (existing!.mark !== mark) {
    if (existing!.organizations > 0)
      return yield* Effect.die(
        new Error(`This database has organizations that aren't this benchmark's: ${existing!.mark}`)
      )
    yield* load(owner, rows)
    yield* owner.unsafe(`COMMENT ON SCHEMA data IS '${mark}'`).unprepared
  }
  const organizations = yield* Organizations
  const all = yield* organizations.list
  const sizes = sizesOf(rows)
  const at = (size: Size): WorldOrganization => ({
    organization: all.find(({ slug }) => slug === slugOf(PLACES[size]))!,
    people: sizes[PLACES[size]]!,
    first: firstsOf(sizes)[PLACES[size]]!
  })
  return { rows, organizations: { huge: at("huge"), middle: at("middle"), small: at("small") } } satisfies World
})

/** Opens the world of one organization that has all rows, or generates it in an empty database. */
export const openAlone = Effect.fnUntraced(function* (people: number) {
  const { owner } = yield* Database
  const organizations = yield* Organizations
  const mark = `max benchmark world ${EDITION}, one organization of ${people} people`
  const [existing] = yield* owner<{ mark: string | null }>`SELECT obj_description('data'::regnamespace) AS mark`
  if (existing!.mark !== mark) {
    if ((yield* organizations.list).length > 0)
      return yield* Effect.die(new Error(`This database isn't this benchmark's: ${existing!.mark}`))
    const created = yield* organizations.create({ slug: slugOf(0), country: "US", timeZone: "Europe/Berlin" })
    yield* fill(owner, [[created.id], [people], [0]])
    yield* admitRoles(created, 0)
    yield* owner.unsafe(`COMMENT ON SCHEMA data IS '${mark}'`).unprepared
  }
  const [organization] = yield* organizations.list
  return { organization: organization!, people, first: 0 } satisfies WorldOrganization
})

/** Publishes the policy, and admits the person of each role. */
const admitRoles = Effect.fnUntraced(function* (organization: Organization, first: number) {
  const members = yield* Memberships
  const policies = yield* Policies
  yield* policies.publish(organization, JSON.stringify(WORLD_POLICY), "bench")
  for (const [role, number] of Object.entries(ROLES))
    yield* members.add(organization, { identifier: emailOf(first + number), roles: [role] })
})

const load = Effect.fnUntraced(function* (owner: PgClient.PgClient, rows: number) {
  const organizations = yield* Organizations
  const created: Array<Organization> = []
  for (let place = 0; place < ORGANIZATIONS; place++) {
    created.push(yield* organizations.create({ slug: slugOf(place), country: "US", timeZone: "Europe/Berlin" }))
  }
  const sizes = sizesOf(rows)
  const firsts = firstsOf(sizes)
  const bySize = [created.map(({ id }) => id), sizes, firsts]
  yield* fill(owner, bySize)
  for (const place of Object.values(PLACES)) yield* admitRoles(created[place]!, firsts[place]!)
})

/** Drops the indexes, fills the tables and recreates the indexes: several times as fast. */
const fill = (owner: PgClient.PgClient, bySize: ReadonlyArray<ReadonlyArray<unknown>>) =>
  owner
    .withTransaction(
      Effect.gen(function* () {
        yield* owner.unsafe("SET LOCAL synchronous_commit = off").unprepared
        yield* owner.unsafe("SET LOCAL maintenance_work_mem = '768MB'").unprepared
        yield* owner.unsafe("SET LOCAL work_mem = '128MB'").unprepared
        const indexes = yield* owner.unsafe<{ name: string; definition: string }>(
          `SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS definition FROM pg_index i
         WHERE i.indrelid = ANY($1::text[]::regclass[]) AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)`,
          [TABLES.map((table) => `data.${table}`)]
        )
        for (const { name } of indexes) yield* owner.unsafe(`DROP INDEX ${name}`).unprepared
        for (const [index, insert] of INSERTS.entries()) {
          const lists = LISTS[index]!.flatMap((list) => [list, list.map(foldText)])
          yield* owner.unsafe(insert, [...bySize, ...lists])
        }
        for (const { definition } of indexes) yield* owner.unsafe(definition).unprepared
      })
    )
    .pipe(
      Effect.andThen(
        owner.unsafe(`VACUUM max.organizations, ${TABLES.map((table) => `data.${table}`).join(", ")}`).unprepared
      ),
      Effect.andThen(
        refreshStatistics(owner, [
          { schema: "max", table: "organizations" },
          ...TABLES.map((table) => ({ schema: "data", table }))
        ])
      )
    )

/** The principal of the person with a role. */
export const admit = Effect.fnUntraced(function* ({ first, organization }: WorldOrganization, role: Role) {
  const identities = yield* IdentityResolver
  const { principal } = yield* identities.admit(organization, { kind: "email", key: emailOf(first + ROLES[role]) })
  return principal
})
