/** Writes rows as an import would. Labels determine the ids, which are equal in every organization. */
import { Effect } from "effect"
import { Database } from "../../src/database/Database.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import { encodeId } from "../../src/domain/ids.ts"
import { emailKey, foldText, phoneKey } from "../../src/domain/keys.ts"
import type { AttributeValue } from "../../src/domain/Principal.ts"

export interface Row {
  readonly id: string
  readonly name: string
  readonly status?: string
  readonly owner?: string
  readonly company?: string
  readonly phone?: string
  readonly email?: string
  readonly start?: string
  readonly attendees?: ReadonlyArray<string>
}

const numberOf = (label: string): bigint =>
  [...label].reduce((sum, letter) => (sum * 131n + BigInt(letter.charCodeAt(0))) % (1n << 61n), 0n)
const idOf = (label: string | undefined) => (label === undefined ? null : numberOf(label).toString())

/** The database's id of the row with a label. */
export const idNumber = (label: string): string => numberOf(label).toString()

/** The entity id of the row with a label. */
export const idFor = (label: string): string => encodeId(numberOf(label))

export const addRows = Effect.fnUntraced(function* (
  organization: Organization,
  type: "people" | "companies" | "meetings",
  rows: ReadonlyArray<Row>
) {
  const { owner } = yield* Database
  const records = rows.map((row) => ({
    organization_id: organization.id.toString(),
    id: idOf(row.id),
    name: row.name,
    name_k: foldText(row.name),
    status: row.status ?? null,
    status_k: row.status === undefined ? null : foldText(row.status),
    owner_id: idOf(row.owner),
    company_id: idOf(row.company),
    start_at: row.start ?? null,
    phone: row.phone ?? null,
    phone_k: row.phone === undefined ? null : (phoneKey(row.phone, organization.country) ?? null),
    email: row.email ?? null,
    email_k: row.email === undefined ? null : (emailKey(row.email) ?? null)
  }))
  yield* owner.unsafe(
    `INSERT INTO data.${type} SELECT * FROM json_populate_recordset(NULL::data.${type}, $1::text::json)`,
    [JSON.stringify(records)]
  )
  for (const row of rows) {
    for (const person of row.attendees ?? []) {
      yield* owner.unsafe("INSERT INTO data.meeting_attendees VALUES ($1::bigint, $2::bigint, $3::bigint)", [
        organization.id,
        idOf(row.id),
        idOf(person)
      ])
    }
  }
})

/** Two companies and two meetings of the people labeled lena, otto and vera. */
export const addCompaniesAndMeetings = Effect.fnUntraced(function* (organization: Organization) {
  yield* addRows(organization, "companies", [
    { id: "at", name: "Atlas" },
    { id: "zz", name: "Zenith", owner: "otto" }
  ])
  yield* addRows(organization, "meetings", [
    { id: "m1", name: "Standup", owner: "otto", attendees: ["lena", "otto"] },
    { id: "m2", name: "Review", attendees: ["vera"] }
  ])
})

/** Adds a membership and a verified e-mail address for the person with the label, independent of its row. */
export const addMember = Effect.fnUntraced(function* (
  organization: Organization,
  email: string,
  label: string,
  roles: ReadonlyArray<string>,
  attributes: Readonly<Record<string, AttributeValue>> = {}
) {
  const { owner } = yield* Database
  const anchor = idFor(label)
  yield* owner`
    INSERT INTO max.memberships (organization_id, anchor_id, roles, attributes)
    VALUES (${organization.id}, ${anchor}, ${roles}::text[], ${owner.json(attributes)})
    ON CONFLICT (organization_id, anchor_id) DO UPDATE SET roles = excluded.roles, attributes = excluded.attributes`
  yield* owner`
    INSERT INTO max.identifiers (organization_id, kind, key, anchor_id) VALUES (${organization.id}, 'email', ${email}, ${anchor})
    ON CONFLICT DO NOTHING`
  yield* owner`UPDATE max.organizations SET epoch = epoch + 1 WHERE organization_id = ${organization.id}`
})
