/**
 * The first schema. Every primary key, unique key and index of organization data leads with organization_id, and no
 * foreign key crosses organizations, so that the schema can be distributed by organization_id unchanged. Organization 0
 * is the workspace that owns the system types.
 */
import type { Migration } from "./Migration.ts"

const systemColumns = `
  organization_id bigint NOT NULL, id bigint NOT NULL, external_id text,
  name text NOT NULL, name_k text COLLATE "C" NOT NULL, status text, status_k text COLLATE "C",
  owner_id bigint, company_id bigint`

const contactColumns = `phone text, phone_k text COLLATE "C", email text, email_k text COLLATE "C"`

const managedTable = (
  table: string,
  columns: string,
  keys: ReadonlyArray<string>,
  references: ReadonlyArray<string>
) => [
  `CREATE TABLE data.${table} (${columns}, PRIMARY KEY (organization_id, id), UNIQUE (organization_id, external_id))`,
  ...["name_k", "status_k", ...keys].map((key) => `CREATE INDEX ON data.${table} (organization_id, ${key}, id)`),
  ...references.map((column) => `CREATE INDEX ON data.${table} (organization_id, ${column}, id)`),
  trigramIndex(table, ["name_k", ...keys.filter((key) => key !== "start_at")])
]

/** An extension's schema differs between databases, and operator classes need a schema-qualified name. */
const trigramIndex = (table: string, keys: ReadonlyArray<string>) => `DO $$ DECLARE s text; BEGIN
  SELECT n.nspname INTO s FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm';
  EXECUTE format('CREATE INDEX ON data.${table} USING gin (organization_id, ${keys.map((key) => `${key} %1$I.gin_trgm_ops`).join(", ")})', s);
END $$`

type SeedColumn = readonly [key: string, name: string, kind: string, storage: object]

const value = (column: string, keyColumn?: string) => ({
  _tag: "Value",
  column,
  ...(keyColumn === undefined ? {} : { keyColumn, indexed: true })
})
const one = (column: string, target: string) => ({ _tag: "One", column, target })

const systemType = (
  position: number,
  slug: string,
  name: string,
  pluralName: string,
  columns: ReadonlyArray<SeedColumn>
) => [
  `INSERT INTO builder.entity_types (organization_id, type_key, slug) VALUES (0, '${slug}', '${slug}')`,
  `INSERT INTO builder.entity_type_versions (organization_id, type_key, version, name, plural_name, relation_schema, relation_table, position)
   VALUES (0, '${slug}', 1, '${name}', '${pluralName}', 'data', '${slug}', ${position})`,
  ...columns.map(
    ([key, label, kind, storage], index) =>
      `INSERT INTO builder.columns (organization_id, type_key, version, column_key, slug, name, kind, storage, position)
     VALUES (0, '${slug}', 1, '${key}', '${key}', '${label}', '${kind}', '${JSON.stringify(storage)}', ${index})`
  )
]

const shared: ReadonlyArray<SeedColumn> = [
  ["name", "Name", "text", value("name", "name_k")],
  ["status", "Status", "text", value("status", "status_k")]
]
const owner: SeedColumn = ["owner", "Owner", "reference", one("owner_id", "people")]
const company: SeedColumn = ["company", "Company", "reference", one("company_id", "companies")]
const contact: ReadonlyArray<SeedColumn> = [
  ["phone", "Phone", "phone", value("phone", "phone_k")],
  ["email", "E-mail", "email", value("email", "email_k")]
]

export const foundation: Migration = {
  id: 1,
  name: "foundation",
  statements: () => [
    `CREATE TABLE max.organizations (
      organization_id bigint PRIMARY KEY, slug text NOT NULL UNIQUE, name text NOT NULL, country text NOT NULL,
      time_zone text NOT NULL, external_key text, epoch bigint NOT NULL DEFAULT 1, policy_version int,
      created_at timestamptz NOT NULL DEFAULT now())`,
    `CREATE TABLE max.memberships (
      organization_id bigint NOT NULL, anchor_id text NOT NULL, roles text[] NOT NULL, attributes jsonb NOT NULL DEFAULT '{}',
      suspended_at timestamptz, created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (organization_id, anchor_id))`,
    `CREATE TABLE max.identifiers (
      organization_id bigint NOT NULL, kind text NOT NULL CHECK (kind IN ('email', 'phone', 'subject')), key text NOT NULL,
      anchor_id text NOT NULL, verified_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (organization_id, kind, key),
      FOREIGN KEY (organization_id, anchor_id) REFERENCES max.memberships (organization_id, anchor_id))`,
    `CREATE INDEX ON max.identifiers (organization_id, anchor_id)`,
    `CREATE TABLE max.policies (
      organization_id bigint NOT NULL, version int NOT NULL, document text NOT NULL, rules jsonb NOT NULL, sha256 text NOT NULL,
      author text NOT NULL, published_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (organization_id, version))`,
    `CREATE TABLE builder.entity_types (
      organization_id bigint NOT NULL, type_key text NOT NULL, slug text NOT NULL, created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (organization_id, type_key), UNIQUE (organization_id, slug))`,
    `CREATE TABLE builder.entity_type_versions (
      organization_id bigint NOT NULL, type_key text NOT NULL, version int NOT NULL, stage text NOT NULL DEFAULT 'prod',
      name text NOT NULL, plural_name text NOT NULL, relation_schema text NOT NULL, relation_table text NOT NULL,
      position int, published_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (organization_id, type_key, version))`,
    `CREATE TABLE builder.columns (
      organization_id bigint NOT NULL, type_key text NOT NULL, version int NOT NULL, column_key text NOT NULL, slug text NOT NULL,
      name text NOT NULL, kind text NOT NULL, storage jsonb NOT NULL, position int NOT NULL,
      PRIMARY KEY (organization_id, type_key, version, column_key), UNIQUE (organization_id, type_key, version, slug))`,
    `CREATE TABLE builder.version_refs (
      organization_id bigint NOT NULL, type_key text NOT NULL, source_organization_id bigint NOT NULL, version int NOT NULL,
      PRIMARY KEY (organization_id, type_key))`,
    ...managedTable(
      "people",
      `${systemColumns}, ${contactColumns}`,
      ["phone_k", "email_k"],
      ["owner_id", "company_id"]
    ),
    ...managedTable(
      "companies",
      `${systemColumns.replace(", company_id bigint", "")}, ${contactColumns}`,
      ["phone_k", "email_k"],
      ["owner_id"]
    ),
    ...managedTable(
      "meetings",
      `${systemColumns}, start_at timestamptz, end_at timestamptz`,
      [],
      ["owner_id", "company_id", "start_at", "end_at"]
    ),
    `CREATE TABLE data.meeting_attendees (
      organization_id bigint NOT NULL, meeting_id bigint NOT NULL, person_id bigint NOT NULL,
      PRIMARY KEY (organization_id, meeting_id, person_id))`,
    `CREATE INDEX ON data.meeting_attendees (organization_id, person_id, meeting_id)`,
    ...systemType(0, "people", "Person", "People", [...shared, owner, company, ...contact]),
    ...systemType(1, "companies", "Company", "Companies", [...shared, owner, ...contact]),
    ...systemType(2, "meetings", "Meeting", "Meetings", [
      ...shared,
      ["start", "Start", "timestamp", value("start_at")],
      ["end", "End", "timestamp", value("end_at")],
      owner,
      company,
      [
        "attendees",
        "Attendees",
        "references",
        {
          _tag: "Many",
          link: { schema: "data", table: "meeting_attendees" },
          from: "meeting_id",
          to: "person_id",
          target: "people"
        }
      ]
    ])
  ]
}
