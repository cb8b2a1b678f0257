/** Writes in-memory organizations into the database, and creates `deals`: a custom type with every kind of column. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { type Entity, keyOf, type Organization, SHAPES, TABLES, type TypeName, TYPE_NAMES } from "./world.ts"

const LINKS = {
  attendees: { table: "meeting_attendees", from: "meeting_id" },
  watchers: { table: "t_deal_watchers", from: "deal_id" }
} as const

/** Creates the tables of `deals`; `registerDeals` adds the type to an organization. */
export const makeDealTables = (owner: PgClient.PgClient) =>
  Effect.forEach(
    [
      `CREATE TABLE IF NOT EXISTS data.t_deals (
      organization_id bigint NOT NULL, id bigint NOT NULL, external_id text, name text NOT NULL, name_k text COLLATE "C" NOT NULL,
      status text, status_k text COLLATE "C", note text, note_k text COLLATE "C", amount numeric, level bigint, secret boolean, due date,
      at timestamptz, tags text[], tags_k text[], person_id bigint, company_id bigint, PRIMARY KEY (organization_id, id))`,
      `CREATE TABLE IF NOT EXISTS data.t_deal_watchers (
      organization_id bigint NOT NULL, deal_id bigint NOT NULL, person_id bigint NOT NULL, PRIMARY KEY (organization_id, deal_id, person_id))`
    ],
    (statement) => owner.unsafe(statement),
    { discard: true }
  )

const KINDS = { one: "reference", many: "references" } as const

/** Keys differ from slugs, so that code that confuses them fails. */
export const registerDeals = Effect.fnUntraced(function* (owner: PgClient.PgClient, organizationId: bigint) {
  yield* owner`INSERT INTO builder.entity_types (organization_id, type_key, slug) VALUES (${organizationId}, 'custom-deals', 'deals')`
  yield* owner`
    INSERT INTO builder.entity_type_versions (organization_id, type_key, version, name, plural_name, relation_schema, relation_table)
    VALUES (${organizationId}, 'custom-deals', 1, 'Deal', 'Deals', 'data', 't_deals')`
  for (const [position, [slug, { key, kind, physical, target }]] of Object.entries(SHAPES.deals).entries()) {
    const storage =
      kind === "many"
        ? { _tag: "Many", link: { schema: "data", table: physical }, from: "deal_id", to: "person_id", target }
        : kind === "one"
          ? { _tag: "One", column: physical, target }
          : // `note` is a custom column without an index.
            {
              _tag: "Value",
              column: physical,
              ...(key === undefined ? {} : { keyColumn: key }),
              ...(slug === "note" ? {} : { indexed: true })
            }
    yield* owner`
      INSERT INTO builder.columns (organization_id, type_key, version, column_key, slug, name, kind, storage, position)
      VALUES (${organizationId}, 'custom-deals', 1, ${slug === "name" || slug === "status" ? slug : `key-${slug}`}, ${slug}, ${`The ${slug}`},
        ${kind === "one" || kind === "many" ? KINDS[kind] : kind}, ${owner.json(storage)}, ${position})`
  }
})

/** A row in the importer's form: each value with its search key beside it. */
export const physicalRow = (type: TypeName, entity: Entity, organization: Organization): Record<string, unknown> => {
  const row: Record<string, unknown> = { id: entity.id.toString() }
  for (const [name, { key, kind, physical }] of Object.entries(SHAPES[type])) {
    if (kind === "many") continue
    const cell = entity.cells[name] ?? null
    row[physical] = typeof cell === "bigint" ? cell.toString() : cell
    if (key !== undefined) row[key] = keyOf(kind, cell, organization.country)
  }
  return row
}

export const insertRows = (
  owner: PgClient.PgClient,
  table: string,
  organizationId: bigint,
  rows: ReadonlyArray<Record<string, unknown>>
) =>
  owner.unsafe(`INSERT INTO data.${table} SELECT * FROM json_populate_recordset(NULL::data.${table}, $1::text::json)`, [
    JSON.stringify(rows.map((row) => ({ ...row, organization_id: organizationId.toString() })))
  ])

const linkRows = (organization: Organization, relation: keyof typeof LINKS) => ({
  table: LINKS[relation].table,
  rows: organization.links[relation].map(([from, to]) => ({
    [LINKS[relation].from]: from.toString(),
    person_id: to.toString()
  }))
})

/** Writes all rows and links of an in-memory organization. */
export const loadOrganization = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  organization: Organization,
  organizationId: bigint
) {
  for (const type of TYPE_NAMES) {
    yield* insertRows(
      owner,
      TABLES[type],
      organizationId,
      [...organization.entities[type].values()].map((entity) => physicalRow(type, entity, organization))
    )
  }
  for (const relation of ["attendees", "watchers"] as const) {
    const { rows, table } = linkRows(organization, relation)
    yield* insertRows(owner, table, organizationId, rows)
  }
})

/** An organization's current and desired content. */
export interface Change {
  readonly organizationId: bigint
  readonly from: Organization
  readonly to: Organization
}

/** Writes the rows that differ, in one transaction and without raising the epoch. */
export const replaceOrganization = (owner: PgClient.PgClient, changes: ReadonlyArray<Change>) =>
  owner.withTransaction(
    Effect.gen(function* () {
      for (const { from, organizationId, to } of changes) {
        for (const type of TYPE_NAMES) {
          const [old, wanted] = [from.entities[type], to.entities[type]]
          const removed = [...old.values()].filter((entity) => wanted.get(entity.id) !== entity)
          const added = [...wanted.values()].filter((entity) => old.get(entity.id) !== entity)
          yield* owner.unsafe(
            `DELETE FROM data.${TABLES[type]} WHERE organization_id = $1::bigint AND id = ANY($2::text[]::bigint[])`,
            [organizationId, removed.map((entity) => entity.id.toString())]
          )
          yield* insertRows(
            owner,
            TABLES[type],
            organizationId,
            added.map((entity) => physicalRow(type, entity, to))
          )
        }
        for (const relation of ["attendees", "watchers"] as const) {
          if (from.links[relation] === to.links[relation]) continue
          const { rows, table } = linkRows(to, relation)
          yield* owner.unsafe(`DELETE FROM data.${table} WHERE organization_id = $1::bigint`, [organizationId])
          yield* insertRows(owner, table, organizationId, rows)
        }
      }
    })
  )
