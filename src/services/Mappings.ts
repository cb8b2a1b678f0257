/**
 * Existing tables and views as entity types: proposed from the live catalog, checked against it, published in one
 * transaction, and watched for drift. Nothing is ever written to them.
 */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { Database } from "../database/Database.ts"
import { type AuditEvent, OPERATOR } from "../database/audit.ts"
import { holdEpoch, raiseEpoch } from "../database/epoch.ts"
import { rolesOf } from "../database/migrate.ts"
import { orUnavailable, orUnavailableInTheEnd } from "../database/read.ts"
import { physicalColumns } from "../database/sql/rows.ts"
import { identifier, qualified } from "../database/sql/SqlWriter.ts"
import {
  type Catalog,
  type Column,
  connected,
  type EntityType,
  type Organization,
  type Relation,
  type Storage,
  typeBySlug
} from "../domain/EntityType.ts"
import { type NotAdmitted, OperatorError, type Unavailable } from "../domain/errors.ts"
import { encodeId, nextId } from "../domain/ids.ts"
import { closest, printable, quoted } from "../domain/text.ts"
import { holdImports, insertVersion } from "./EntityTypeCatalog.ts"
import { extendAdmin, hiddenFrom } from "./mapping/adminPolicy.ts"
import { moveAnchors } from "./mapping/anchors.ts"
import { type Checked, checkEntry, type History, isFaults } from "./mapping/check.ts"
import { type Facts, readFacts, type RelationFacts } from "./mapping/facts.ts"
import { decodeEntry, type MappingFile, type TypeEntry } from "./mapping/file.ts"
import { type Proposal, propose } from "./mapping/propose.ts"
import { OrganizationState } from "./OrganizationState.ts"
import { insertPolicy } from "./Policies.ts"

export interface Mapped {
  readonly slug: string
  readonly pluralName: string
  readonly table: string
  readonly version: number
  readonly columns: ReadonlyArray<string>
  /** What other roles than the starter admin don't see of it. */
  readonly hidden: ReadonlyArray<{ readonly role: string; readonly columns: ReadonlyArray<string> }>
}

export interface Applied {
  readonly types: ReadonlyArray<Mapped>
  /** Whether the starter admin role was given what is new. */
  readonly admin: boolean
  readonly advice: ReadonlyArray<string>
}

type Fault = OperatorError | NotAdmitted | Unavailable

export class Mappings extends Context.Service<
  Mappings,
  {
    /** How these tables and views could be read; without names all of them. */
    readonly propose: (
      organization: Organization,
      tables: ReadonlyArray<string>,
      exclusive: boolean
    ) => Effect.Effect<Proposal, Fault>
    /** Checks a mapping and puts it in force: all of it, or nothing and what stands in the way. */
    readonly apply: (organization: Organization, file: MappingFile) => Effect.Effect<Applied, Fault>
    /** What has changed since the organization's tables were mapped, a line each. */
    readonly diff: (organization: Organization) => Effect.Effect<ReadonlyArray<string>, Fault>
    /** Mapped relations of any organization that have changed since, as schema.table; one cheap statement. */
    readonly drifted: Effect.Effect<ReadonlyArray<string>, Unavailable>
    /** Sets the key by which mapped tables call the organization. */
    readonly setKey: (organization: Organization, key: string) => Effect.Effect<void, Fault>
  }
>()("max/services/Mappings") {
  static readonly layer = Layer.effect(
    Mappings,
    Effect.gen(function* () {
      const { app, owner, search } = yield* Database
      const states = yield* OrganizationState

      const stateOf = (organization: Organization) =>
        Effect.map(states.read(organization.id, { by: "nobody" }), ({ state }) => state)

      const factsOf = Effect.gen(function* () {
        const [row] = yield* owner<{ database: string }>`SELECT current_database()::text AS database`
        const roles = rolesOf(row!.database)
        return { facts: yield* readFacts(owner, roles.read), readingRole: roles.read }
      })

      const apply = Effect.fn("Mappings.apply")(function* (organization: Organization, file: MappingFile) {
        return yield* orUnavailableInTheEnd(
          owner.withTransaction(
            Effect.gen(function* () {
              yield* holdImports(owner, organization.id)
              const { catalog, policy } = yield* stateOf(organization)
              const { facts, readingRole } = yield* factsOf
              const checked = yield* checkAll(owner, file.types, catalog, facts)
              for (const one of checked) yield* publish(owner, organization, catalog, one)
              yield* grant(owner, readingRole, checked)
              const now = connected([
                ...catalog.types.filter((type) => !checked.some((one) => one.type.key === type.key)),
                ...checked.map(({ type }) => type)
              ])
              const types = checked.map(({ type }) => now.find(({ key }) => key === type.key)!)
              const moved = yield* moveAnchors(owner, catalog, { ...catalog, types: now })
              const extended = extendAdmin(yield* documentOf(owner, organization), policy, types)
              if ((yield* holdEpoch(owner, organization.id)) !== catalog.epoch) {
                return yield* new OperatorError({
                  message: "Something else changed this organization at the same time. Apply it again."
                })
              }
              if (extended !== undefined)
                yield* insertPolicy(owner, organization.id, extended.document, extended.policy, OPERATOR)
              const [first, ...others] = types.map((type, index): AuditEvent => ({
                actor: OPERATOR,
                action: "catalog.published",
                subject: type.slug,
                details: {
                  version: type.version,
                  table: checked[index]!.relation.name,
                  columns: type.columns.map(({ slug }) => slug)
                }
              }))
              yield* raiseEpoch(owner, organization.id, [first!, ...others, ...moved])
              const inForce = extended?.policy ?? policy
              const applied: Applied = {
                admin: extended !== undefined,
                advice: checked.flatMap(({ advice }) => advice),
                types: types.map((type, index) => ({
                  slug: type.slug,
                  pluralName: type.pluralName,
                  table: checked[index]!.relation.name,
                  version: type.version,
                  columns: type.columns.map(({ slug }) => slug),
                  hidden: hiddenFrom(inForce, type)
                }))
              }
              return applied
            })
          )
        )
      })

      return Mappings.of({
        apply,

        propose: Effect.fn("Mappings.propose")(function* (organization, tables, exclusive) {
          const { catalog } = yield* stateOf(organization)
          const { facts } = yield* orUnavailable(factsOf)
          const chosen =
            tables.length === 0 ? facts.relations : yield* Effect.forEach(tables, (name) => find(facts, name))
          const { file, notes } = propose(facts, chosen, catalog, { exclusive, timeZone: organization.timeZone })
          const documents = yield* orUnavailable(documentsOf(owner, organization))
          return {
            notes,
            file: { ...file, types: file.types.map((entry) => keepEdits(entry, documents)) }
          }
        }),

        diff: Effect.fn("Mappings.diff")(function* (organization) {
          const { catalog } = yield* stateOf(organization)
          const { facts } = yield* orUnavailable(factsOf)
          const documents = yield* orUnavailable(documentsOf(owner, organization))
          const entries = documents.map(({ entry }) => entry)
          const history = yield* orUnavailable(historyOf(owner, entries, catalog))
          return documents.flatMap((document) => changesOf(document, { facts, entries, catalog, history }))
        }),

        drifted: Effect.map(
          orUnavailable(search<{ name: string }>`
            /* max drift */ SELECT DISTINCT v.relation_schema || '.' || v.relation_table AS name
            FROM builder.version_refs r JOIN builder.entity_type_versions v
              ON v.organization_id = r.source_organization_id AND v.type_key = r.type_key AND v.version = r.version
            WHERE v.mapping IS NOT NULL AND v.mapping->>'shape' IS DISTINCT FROM
              max.relation_shape(to_regclass(format('%I.%I', v.relation_schema, v.relation_table))) ORDER BY 1`),
          (rows) => rows.map(({ name }) => name)
        ),

        setKey: Effect.fn("Mappings.setKey")(function* (organization, key) {
          if (key.trim() === "" || key.length > 200 || printable(key) !== key) {
            return yield* new OperatorError({
              message: "A key is the organization's id in your tables: 1 to 200 characters."
            })
          }
          yield* orUnavailable(
            app.withTransaction(
              Effect.gen(function* () {
                yield* app`UPDATE max.organizations SET external_key = ${key} WHERE organization_id = ${organization.id}`
                yield* raiseEpoch(app, organization.id, [
                  { actor: OPERATOR, action: "organization.key", subject: organization.slug }
                ])
              })
            )
          )
        })
      })
    })
  )
}

const find = (facts: Facts, name: string): Effect.Effect<RelationFacts, OperatorError> => {
  const exact = facts.relations.find((relation) => relation.name === name)
  const plain = facts.relations.filter(({ table }) => table === name)
  const found = exact ?? (plain.length === 1 ? plain[0] : undefined)
  if (found !== undefined) return Effect.succeed(found)
  const near = closest(
    name,
    facts.relations.flatMap((relation) => [relation.name, relation.table])
  )
  return Effect.fail(
    new OperatorError({
      message:
        plain.length > 1
          ? `There are several tables ${quoted(name)}. Write one of: ${plain.map((relation) => relation.name).join(", ")}`
          : `There is no table or view ${quoted(name)}.${near === undefined ? "" : ` Did you mean ${near}?`}`
    })
  )
}

/** Every entry as a type, or everything that is wrong with any of them. */
const checkAll = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  entries: ReadonlyArray<TypeEntry>,
  catalog: Catalog,
  facts: Facts
) {
  if (entries.length === 0) return yield* new OperatorError({ message: "The file maps nothing." })
  const history = yield* historyOf(owner, entries, catalog)
  const checked: Array<Checked> = []
  const faults: Array<string> = []
  for (const entry of entries) {
    const one = checkEntry(entry, { facts, entries, catalog, history })
    if (isFaults(one)) faults.push(...one)
    else checked.push(one)
  }
  return faults.length === 0
    ? checked
    : yield* new OperatorError({
        message: `Nothing is mapped: ${faults.length} problem${faults.length === 1 ? "" : "s"}.`,
        details: faults.slice(0, 50)
      })
})

/** What the types of these entries have been so far; one that there isn't gets the key that it will have. */
const historyOf = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  entries: ReadonlyArray<TypeEntry>,
  catalog: Catalog
) {
  const organizationId = catalog.organization.id
  const rows = yield* owner<{
    slug: string
    type_key: string
    version: number
    position: number | null
    columns: ReadonlyArray<{ readonly slug: string; readonly key: string; readonly storage: Storage }>
  }>`
    SELECT t.slug, t.type_key, coalesce(max(v.version), 0)::int AS version,
      min(v.position) FILTER (WHERE v.organization_id = 0) AS position,
      (SELECT coalesce(json_agg(json_build_object('slug', c.slug, 'key', c.column_key, 'storage', c.storage) ORDER BY c.version), '[]')
        FROM builder.columns c WHERE c.type_key = t.type_key AND c.organization_id IN (0, ${organizationId})) AS columns
    FROM builder.entity_types t LEFT JOIN builder.entity_type_versions v ON v.type_key = t.type_key AND v.organization_id IN (0, ${organizationId})
    WHERE t.organization_id IN (0, ${organizationId}) GROUP BY t.slug, t.type_key`
  const history = new Map<string, History>()
  for (const entry of entries) {
    const row = rows.find(({ slug }) => slug === entry.type)
    const current = typeBySlug(catalog, entry.type)
    history.set(entry.type, {
      typeKey: row?.type_key ?? `t_${encodeId(nextId())}`,
      version: row?.version ?? 0,
      position: row?.position ?? null,
      columns: new Map((row?.columns ?? []).map(({ key, slug, storage }) => [slug, { key, from: readFrom(storage) }])),
      rows: current !== undefined && current.mapping === undefined && (yield* hasRows(owner, current, organizationId))
    })
  }
  return history
})

const readFrom = (storage: Storage): string | undefined => {
  if (storage._tag !== "Value") return JSON.stringify(storage._tag === "One" ? storage.column : storage.from)
  const columns = storage.source?.columns
  return columns === undefined ? undefined : JSON.stringify(columns.length === 1 ? columns[0] : columns)
}

/** Whether the organization has rows of this type that nobody was made a member with: those move. */
const hasRows = (owner: PgClient.PgClient, type: EntityType, organizationId: bigint) =>
  Effect.gen(function* () {
    const rows = yield* owner.unsafe<{ id: bigint }>(
      `SELECT p.id FROM ${qualified(type.relation)} p WHERE p.organization_id = $1::bigint LIMIT 1000`,
      [organizationId]
    )
    const anchors = yield* owner<{ anchor_id: string }>`
      SELECT anchor_id FROM max.memberships WHERE organization_id = ${organizationId}`
    const known = new Set(anchors.map(({ anchor_id }) => anchor_id))
    return rows.length === 1000 || rows.some(({ id }) => !known.has(encodeId(id)))
  })

const publish = Effect.fnUntraced(function* (
  owner: PgClient.PgClient,
  organization: Organization,
  catalog: Catalog,
  { entry, position, relation, type }: Checked
) {
  if (!catalog.types.some(({ key }) => key === type.key)) {
    yield* owner`INSERT INTO builder.entity_types (organization_id, type_key, slug) VALUES (${organization.id}, ${type.key}, ${type.slug})`
  }
  const seen = relation.columns.map(({ name }) => name)
  yield* insertVersion(owner, organization.id, type, position, { entry, seen })
})

/** Lets the reading role read the mapped columns and nothing else of these tables. */
const grant = Effect.fnUntraced(function* (owner: PgClient.PgClient, role: string, checked: ReadonlyArray<Checked>) {
  const [known] = yield* owner`SELECT 1 FROM pg_roles WHERE rolname = ${role}`
  if (known === undefined) return
  const to = identifier(role)
  const select = (relation: Relation, columns: ReadonlyArray<string>) =>
    `GRANT SELECT (${columns.map(identifier).join(", ")}) ON ${qualified(relation)} TO ${to}`
  const statements = checked.flatMap(({ type }) => [
    select(type.relation, physicalColumns(type)),
    ...type.columns.flatMap(({ storage }) =>
      storage._tag === "Many" ? [select(storage.link, [storage.from, storage.to])] : []
    )
  ])
  const schemas = new Set(
    checked.flatMap(({ type }) => [
      type.relation.schema,
      ...type.columns.flatMap(({ storage }) => (storage._tag === "Many" ? [storage.link.schema] : []))
    ])
  )
  const all = [
    ...[...schemas].map((schema) => `GRANT USAGE ON SCHEMA ${identifier(schema)} TO ${to}`),
    ...new Set(statements)
  ]
  const grants: Effect.Effect<void, SqlError.SqlError> = Effect.forEach(
    all,
    (statement) => owner.unsafe(statement).unprepared,
    { discard: true }
  )
  yield* owner
    .withTransaction(grants)
    .pipe(
      Effect.catchTag("SqlError", (error): Effect.Effect<void, SqlError.SqlError> =>
        error.reason._tag === "AuthorizationError" ? Effect.void : Effect.fail(error)
      )
    )
  // Whoever may not grant may have had it done by somebody else: what counts is what the role can read now.
  const readable = yield* owner<{ name: string }>`
    SELECT x.name FROM unnest(${checked.map(({ type }) => qualified(type.relation))}::text[], ${checked.map(({ type }) => type.mapping!.id.column)}::text[]) AS x(name, id)
    WHERE NOT has_column_privilege(${role}, x.name, x.id, 'SELECT')
      OR NOT has_schema_privilege(${role}, (SELECT c.relnamespace FROM pg_class c WHERE c.oid = to_regclass(x.name)), 'USAGE')`
  if (readable.length > 0) {
    return yield* new OperatorError({
      message: `Nothing is mapped: this database user may not let Max read ${readable.map(({ name }) => name).join(", ")}. Its owner runs:`,
      details: all.map((statement) => `${statement};`)
    })
  }
})

const documentOf = (sql: PgClient.PgClient, organization: Organization) =>
  Effect.map(
    sql<{ document: string }>`
      SELECT p.document FROM max.organizations o JOIN max.policies p ON p.organization_id = o.organization_id AND p.version = o.policy_version
      WHERE o.organization_id = ${organization.id}`,
    ([row]) => row?.document ?? `{"rules":[]}`
  )

interface Document {
  readonly entry: TypeEntry
  /** The physical columns that there were. */
  readonly seen: ReadonlyArray<string>
}

/** What the organization's mapped types were made from. */
const documentsOf = (sql: PgClient.PgClient, organization: Organization) =>
  Effect.map(
    sql<{ document: { readonly entry: unknown; readonly seen: ReadonlyArray<string> } }>`
      SELECT v.document FROM builder.version_refs r JOIN builder.entity_type_versions v
        ON v.organization_id = r.source_organization_id AND v.type_key = r.type_key AND v.version = r.version
      WHERE r.organization_id = ${organization.id} AND v.document IS NOT NULL ORDER BY v.type_key`,
    (rows) => rows.map(({ document }): Document => ({ entry: decodeEntry(document.entry), seen: document.seen }))
  )

/** A table that is mapped is proposed as it was edited, with the columns that are new to it. */
const keepEdits = (proposed: TypeEntry, documents: ReadonlyArray<Document>): TypeEntry => {
  const known = documents.find(({ entry }) => entry.table === proposed.table)
  if (known === undefined) return proposed
  const { entry, seen } = known
  const fresh = Object.entries(proposed.columns).filter(
    ([slug, column]) =>
      entry.columns[slug] === undefined &&
      typeof column.from === "string" &&
      !seen.includes(column.from) &&
      column.through === undefined
  )
  return { ...entry, columns: { ...entry.columns, ...Object.fromEntries(fresh) } }
}

/** What the database has for a column, and what it is read as. */
const readAs = ({ ids, kind, storage }: Column): string =>
  [kind, ids, storage._tag === "Value" ? storage.source?.type : storage.target].join(" ")

const changesOf = ({ entry, seen }: Document, context: Parameters<typeof checkEntry>[1]): ReadonlyArray<string> => {
  const checked = checkEntry(entry, context)
  const relation = context.facts.relations.find(({ name }) => name === entry.table)
  const current = typeBySlug(context.catalog, entry.type)
  const columns = relation?.columns.map(({ name }) => name) ?? []
  const fresh = columns
    .filter((name) => !seen.includes(name))
    .map((name) => `${entry.type}: ${entry.table} has a new column ${quoted(name)}.`)
  if (isFaults(checked)) return [...checked, ...(relation === undefined ? [] : fresh)]
  const others = context.catalog.types.filter(({ key }) => key !== checked.type.key)
  const now = connected([...others, checked.type]).find(({ key }) => key === checked.type.key)!
  const different = now.columns.flatMap((column) => {
    const former = current?.columns.find(({ slug }) => slug === column.slug)
    return former !== undefined && readAs(former) !== readAs(column)
      ? [`${entry.type}: ${column.slug} isn't of the type that it was.`]
      : []
  })
  const labels = Object.entries(entry.columns).flatMap(([slug, column]) => {
    const values =
      column.values === undefined ? undefined : relation?.columns.find(({ name }) => name === column.from)?.values
    const added = values?.filter((value) => !column.values!.includes(value)) ?? []
    return added.length === 0
      ? []
      : [`${entry.type}: ${slug} can also be ${added.slice(0, 10).map(quoted).join(", ")} now.`]
  })
  return [
    ...(current?.mapping?.broken === true
      ? [
          `${entry.type}: the view ${entry.table} isn't what was mapped. Nothing is read from it until it is mapped again.`
        ]
      : []),
    ...different,
    ...labels,
    ...fresh
  ]
}
