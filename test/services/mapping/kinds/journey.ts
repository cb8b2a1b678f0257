/** What every database of another program goes through: proposed, applied, looked up, restored, made again, renamed, dropped, unmapped. */
import type { PgClient } from "@effect/sql-pg"
import { Array as Arr, Effect, Layer, Redacted, Schedule } from "effect"
import { Reactivity } from "effect/reactivity"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect } from "vitest"
import { connectOwner, Database } from "../../../../src/database/Database.ts"
import { sourceOf } from "../../../../src/database/DatabaseSource.ts"
import type { Organization } from "../../../../src/domain/EntityType.ts"
import { ConfiguredDatabase, Services } from "../../../../src/layers.ts"
import { OrganizationState } from "../../../../src/services/catalog/OrganizationState.ts"
import { readMappingFile, type TypeEntry } from "../../../../src/services/mapping/mappingFile.ts"
import { Mappings } from "../../../../src/services/mapping/Mappings.ts"
import { Memberships } from "../../../../src/services/members/Memberships.ts"
import { backup, restore } from "../../../../src/services/operations/Backup.ts"
import { makeOrganization } from "../../../support/atlas.ts"
import { envFor, freshDatabase, passwordOf } from "../../../support/database.ts"
import { asExistingPerson, asMember, ids, policyFor } from "../../../support/mappedTables.ts"
import { until } from "../../../support/until.ts"
import type { Kind } from "./Kind.ts"

type Seeker = Effect.Success<ReturnType<typeof asExistingPerson>>

/** Runs with the kind's search path. */
const inside = <A, E, R>(owner: PgClient.PgClient, { schemas }: Kind, effect: Effect.Effect<A, E, R>) =>
  owner.withTransaction(
    Effect.andThen(owner.unsafe(`SET LOCAL search_path = ${schemas.join(", ")}, public, pg_catalog`).unprepared, effect)
  )

const run = (owner: PgClient.PgClient, kind: Kind, statements: string) =>
  inside(
    owner,
    kind,
    Effect.forEach(
      statements.split(/;[ \t]*\n/).filter((text) => text.trim() !== ""),
      (statement) => owner.unsafe(statement).unprepared,
      { discard: true }
    )
  )

/** Statements with more tables need more locks than a server with Postgres's defaults always has. */
const DROPPED_AT_ONCE = 200

const dropSchemas = Effect.fnUntraced(function* (owner: PgClient.PgClient, { schemas }: Kind) {
  const tables = yield* owner<{ name: string }>`
    SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY(${schemas}::text[]) AND c.relkind IN ('r', 'p') AND NOT c.relispartition`
  for (const some of Arr.chunksOf(tables, DROPPED_AT_ONCE))
    yield* owner.unsafe(`DROP TABLE ${some.map(({ name }) => name).join(", ")} CASCADE`).unprepared
  for (const schema of schemas) yield* owner.unsafe(`DROP SCHEMA ${schema} CASCADE`).unprepared
})

export const create = (owner: PgClient.PgClient, kind: Kind) =>
  Effect.andThen(
    run(owner, kind, `${kind.schemas.map((schema) => `CREATE SCHEMA ${schema};\n`).join("")}${kind.sql}`),
    owner`ANALYZE`.unprepared
  )

const handWritten = (kind: Kind, sql: string) =>
  Effect.flatMap(Database, ({ owner }) =>
    Effect.map(inside(owner, kind, owner.unsafe(sql).values), (rows) => rows.map(([id]) => String(id)).sort())
  )

const plainIn =
  ({ schemas }: Kind) =>
  (name: string) =>
    schemas.length === 1 ? name.replace(`${schemas[0]!}.`, "") : name

/** table.column of what a proposal holds back of a kind. */
export const heldBackOf = (kind: Kind, notes: ReadonlyArray<string>) =>
  notes
    .flatMap((note) => /^(.+?): held back,/.exec(note)?.[1] ?? [])
    .filter((name) => kind.schemas.includes(name.slice(0, name.indexOf("."))))
    .map(plainIn(kind))
    .sort()

const qualifiedIn = ({ schemas }: Kind, name: string) => (schemas.length === 1 ? `${schemas[0]!}.${name}` : name)

/** An error that names the lookup. */
const named = <A, E, R>(label: string, effect: Effect.Effect<A, E, R>) =>
  Effect.catch(effect, (cause) => Effect.die(new Error(label, { cause })))

/** Every lookup as both members, against SQL that was written by hand. */
const answers = Effect.fnUntraced(function* (kind: Kind, when: string, admin: Seeker, second: Seeker) {
  for (const { filters, sql, type, ...more } of kind.lookups) {
    const label = `${kind.name}, ${when}: ${type} ${filters.join(" & ")}`
    const all = yield* handWritten(kind, sql)
    expect(ids(yield* named(label, admin.findAll(type, filters))).sort(), label).toEqual(all)
    const seen = kind.sees[type]
    if (seen === undefined || ("second" in more && more.second === undefined)) {
      expect(yield* Effect.flip(second.find(type, filters)), label).toMatchObject({ _tag: "UnknownName" })
      continue
    }
    const expected = more.second ?? `(${sql}) INTERSECT (${seen.sql})`
    expect(ids(yield* named(label, second.findAll(type, filters))).sort(), `${label}, second`).toEqual(
      yield* handWritten(kind, expected)
    )
  }
})

const policyOf = (kind: Kind, types: ReadonlyArray<string>) => ({
  version: 1,
  roles: { boss: {}, clerk: {} },
  rules: [
    ...types.map((type) => ({ id: `boss-${type}`, effect: "allow", role: "boss", action: "read", type, columns: "*" })),
    ...Object.entries(kind.sees).map(([type, { columns, where }]) => ({
      id: `clerk-${type}`,
      effect: "allow",
      role: "clerk",
      action: "read",
      type,
      columns,
      ...(where === undefined ? {} : { where })
    }))
  ]
})

const person = (identifier: string) => (/^id:|^\+|^\(|@/.test(identifier) ? identifier : `id:${identifier}`)

/** Proposes the kind's tables, and applies the proposal with the edits that the kind names. */
const mapKind = Effect.fnUntraced(function* (kind: Kind, organization: Organization, tables: ReadonlyArray<string>) {
  const mappings = yield* Mappings
  const { file, notes } = yield* mappings.propose(organization, tables, kind.key === undefined)
  const types = file.types.map((entry): TypeEntry => ({ ...entry, ...kind.edits?.[entry.table] }))
  const applied = yield* mappings.apply(organization, yield* readMappingFile(JSON.stringify({ ...file, types })))
  return { file, notes, applied }
})

/** Both members of a mapped kind, under its policy. */
const members = Effect.fnUntraced(function* (kind: Kind, organization: Organization, types: ReadonlyArray<string>) {
  yield* Effect.orDie(Effect.mapError(policyFor(organization, policyOf(kind, types)), (error) => JSON.stringify(error)))
  const admin = yield* asExistingPerson(organization, person(kind.admin), "boss")
  const second = yield* asExistingPerson(organization, person(kind.second), "clerk")
  return { admin, second }
})

const eventually = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Effect.context<R>(), (context) =>
    Effect.promise(() => until(() => Effect.runPromise(Effect.provideContext(Effect.isSuccess(effect), context))))
  )

/** The server checks the same by itself, and one waits for the other for two seconds. */
const recheck = (organization: Organization) =>
  Effect.flatMap(Mappings, (mappings) =>
    Effect.retry(mappings.recheck(organization), { times: 20, schedule: Schedule.spaced("500 millis") })
  )

/** In another database, with the same tables and Max's backup of this one. */
const restored = Effect.fnUntraced(function* (kind: Kind, slug: string, admin: Seeker, second: Seeker) {
  const { owner } = yield* Database
  const folder = mkdtempSync(join(tmpdir(), "max-kind-"))
  yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true, force: true })))
  const path = join(folder, "all.backup")
  yield* backup(owner, path, { force: false })
  const url = yield* freshDatabase
  const { owner: target } = yield* connectOwner(sourceOf({ url: Redacted.make(url) })).pipe(
    Effect.provide(Reactivity.layer)
  )
  yield* create(target, kind)
  yield* restore({ owner: target, password: passwordOf(url) }, path)
  const elsewhere = Services.pipe(Layer.provideMerge(ConfiguredDatabase.pipe(Layer.provideMerge(envFor(url)))))
  yield* Effect.gen(function* () {
    // What every process does at its start.
    yield* (yield* Mappings).recheckAll
    const organization = yield* (yield* OrganizationState).organization(slug)
    const again = (who: string, { anchorId }: Seeker) => asMember(organization, who, anchorId)
    yield* answers(kind, "restored", yield* again(kind.admin, admin), yield* again(kind.second, second))
  }).pipe(Effect.provide(elsewhere, { local: true }))
}, Effect.scoped)

/** `others` are in the same database, and are mapped together with it. */
export const journey = Effect.fnUntraced(function* (kind: Kind, others: ReadonlyArray<Kind> = []) {
  const mappings = yield* Mappings
  const { owner } = yield* Database
  for (const each of [...others, kind]) yield* create(owner, each)
  const organization = yield* makeOrganization(kind.name)
  if (kind.key !== undefined) yield* mappings.setKey(organization, kind.key)
  const { applied, file, notes } = yield* mapKind(kind, organization, [])
  const plain = plainIn(kind)
  const tables = yield* owner<{ name: string }>`
    SELECT n.nspname || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY(${kind.schemas}::text[]) AND c.relkind IN ('r', 'p', 'v', 'm') AND NOT c.relispartition`
  const mapped = new Set(file.types.map(({ table }) => table))
  const without = tables.flatMap(({ name }) => (mapped.has(name) ? [] : [plain(name)]))
  expect(without.sort()).toEqual([...kind.without].sort())
  expect(heldBackOf(kind, notes)).toEqual([...kind.credentials, ...(kind.heldBack ?? [])].sort())

  const types = applied.types.map(({ slug }) => slug)
  const { admin, second } = yield* members(kind, organization, types)
  yield* answers(kind, "mapped", admin, second)
  yield* restored(kind, organization.slug, admin, second)

  // Made again, as a restore of pg_dump does it: other tables, without grants.
  yield* dropSchemas(owner, kind)
  yield* create(owner, kind)
  for (const type of types) yield* eventually(admin.find(type))
  yield* answers(kind, "made again", admin, second)

  const { rename } = kind
  const table = qualifiedIn(kind, rename.table)
  yield* run(owner, kind, `ALTER TABLE ${table} RENAME "${rename.column}" TO elsewhere;\n`)
  yield* recheck(organization)
  expect((yield* admin.columns(rename.type)).includes(rename.slug)).toBe(false)
  for (const type of types) yield* admin.find(type)
  expect((yield* mappings.diff(organization)).join("\n")).toContain(rename.column)
  yield* run(owner, kind, `ALTER TABLE ${table} RENAME elsewhere TO "${rename.column}";\n`)
  yield* recheck(organization)
  yield* answers(kind, "renamed and back", admin, second)

  const { drop } = kind
  yield* run(owner, kind, `DROP TABLE ${qualifiedIn(kind, drop.table)} CASCADE;\n`)
  yield* recheck(organization)
  expect(yield* Effect.flip(admin.find(drop.type))).toMatchObject({ _tag: "Unavailable" })
  for (const type of types.filter((each) => each !== drop.type)) yield* admin.find(type)
  expect((yield* mappings.diff(organization)).join("\n")).toContain(`max map remove ${drop.type}`)

  const removed = types.filter((each) => each !== "people").slice(0, 40)
  for (const type of removed) yield* mappings.remove(organization, type)
  expect([...(yield* admin.types)].sort()).toEqual(types.filter((each) => !removed.includes(each)).sort())
  expect(yield* (yield* Memberships).list(organization)).toHaveLength(2)
})
