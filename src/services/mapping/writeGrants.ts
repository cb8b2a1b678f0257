/**
 * The rights of the role that applies changes in tables of other programs, held against the mappings in force in both directions:
 * it may write the columns that a mapping lets be changed, and nothing else.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { identifier, qualified } from "../../database/sql/SqlWriter.ts"
import type { EntityType } from "../../domain/EntityType.ts"
import { OperatorError } from "../../domain/errors.ts"
import { changeRoleOf, grantLacking, mappedTypes, runGrants } from "./grants.ts"

/** A right on a relation or a sequence: of some columns, or, without them, of all of it. */
interface Right {
  readonly schema: string
  readonly table: string
  /** What a statement says before its name. */
  readonly kind: "" | "SEQUENCE "
  readonly privilege: string
  readonly columns: ReadonlyArray<string>
}

interface WriteGrants {
  /** Statements for what the mappings let be written. */
  readonly all: ReadonlyArray<string>
  /** Those that the role lacks. */
  readonly missing: ReadonlyArray<string>
  /** Rights that no mapping asks for, as they are said, such as `UPDATE (email) on public.customer`. */
  readonly excess: ReadonlyArray<string>
  /** Statements that take them away; a right of PUBLIC can't be taken from one role. */
  readonly revokes: ReadonlyArray<string>
}

const NONE: WriteGrants = { all: [], missing: [], excess: [], revokes: [] }

/** The right to take the next value of a sequence, which a default needs. */
const USAGE = "USAGE"

/** The rights that the mappings of these types ask for. */
const rightsOf = (types: ReadonlyArray<EntityType>): ReadonlyArray<Right> => {
  const rights = new Map<string, Omit<Right, "columns"> & { readonly columns: Set<string> }>()
  for (const { columns, mapping, relation } of types) {
    const add = (privilege: string, names: ReadonlyArray<string>) => {
      const key = `${qualified(relation)} ${privilege}`
      const right = rights.get(key) ?? { ...relation, kind: "", privilege, columns: new Set<string>() }
      for (const name of names) right.columns.add(name)
      rights.set(key, right)
    }
    const written = columns.flatMap(({ key, storage }) =>
      mapping?.write?.columns.includes(key) === true && storage._tag !== "Many" ? [storage.column] : []
    )
    const removal = mapping?.write?.removal
    const set = [...new Set([...written, ...(removal ?? []).map(({ column }) => column)])]
    if (set.length > 0) add("UPDATE", set)
    if (mapping?.write?.delete === true && removal === undefined) add("DELETE", [])
    if (mapping?.write?.create === undefined) continue
    const fixed = [mapping.organization, ...mapping.where].flatMap((one) => (one === undefined ? [] : [one.column]))
    add("INSERT", [...written, ...fixed])
    for (const sequence of mapping.write.create.sequences)
      rights.set(`${qualified(sequence)} ${USAGE}`, {
        ...sequence,
        kind: "SEQUENCE ",
        privilege: USAGE,
        columns: new Set()
      })
  }
  return [...rights.values()].map((right) => ({ ...right, columns: [...right.columns].sort() }))
}

/**
 * What a role may write outside of Max's own schemas, by itself, as a member or as PUBLIC. A right on the relation stands for one on
 * each of its columns.
 */
const heldBy = (owner: PgClient.PgClient, role: string) => owner<Right>`
  WITH tables AS (
    SELECT c.oid, n.nspname::text AS schema, c.relname::text AS "table" FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('max', 'builder', 'data', 'information_schema') AND n.nspname !~ '^pg_')
  SELECT t.schema, t."table", '' AS kind, x.privilege, '{}'::text[] AS columns FROM tables t, unnest('{DELETE,TRUNCATE,TRIGGER}'::text[]) x(privilege)
  WHERE has_table_privilege(${role}::text::name, t.oid, x.privilege)
  UNION ALL
  SELECT t.schema, t."table", '', x.privilege, array_agg(a.attname::text ORDER BY a.attname) FROM tables t
    CROSS JOIN unnest('{INSERT,UPDATE,REFERENCES}'::text[]) x(privilege)
    JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE has_any_column_privilege(${role}::text::name, t.oid, x.privilege) AND has_column_privilege(${role}::text::name, t.oid, a.attnum, x.privilege)
  GROUP BY 1, 2, 4
  UNION ALL
  SELECT n.nspname, q.relname, 'SEQUENCE ', x.privilege, '{}'::text[] FROM pg_class q JOIN pg_namespace n ON n.oid = q.relnamespace, unnest('{USAGE,UPDATE}'::text[]) x(privilege)
  WHERE q.relkind = 'S' AND n.nspname NOT IN ('max', 'builder', 'data', 'information_schema') AND n.nspname !~ '^pg_'
    AND has_sequence_privilege(${role}::text::name, q.oid, x.privilege)`

const said = ({ columns, kind, privilege, schema, table }: Right): string =>
  `${privilege}${columns.length === 0 ? "" : ` (${columns.join(", ")})`} on ${kind.toLowerCase()}${schema}.${table}`

const granting = (right: Right, role: string): string => {
  const columns = right.columns.length === 0 ? "" : ` (${right.columns.map(identifier).join(", ")})`
  return `GRANT ${right.privilege}${columns} ON ${right.kind}${qualified(right)} TO ${identifier(role)}`
}

/** Compares the rights with the mappings of every organization. */
export const compareWrites = Effect.fnUntraced(function* (owner: PgClient.PgClient) {
  const role = yield* changeRoleOf(owner)
  if (role === undefined) return NONE
  const wanted = rightsOf(yield* mappedTypes(owner))
  const held = yield* heldBy(owner, role)
  // A sequence can be gone: its default is then, too.
  const existing = new Set(
    (yield* owner<{ name: string }>`SELECT x.name FROM unnest(${wanted.map(qualified)}::text[]) x(name)
      WHERE to_regclass(x.name) IS NOT NULL`).map(({ name }) => name)
  )
  const beyond = (some: ReadonlyArray<Right>, others: ReadonlyArray<Right>) =>
    some.flatMap((right): ReadonlyArray<Right> => {
      const other = others.find((one) => qualified(one) === qualified(right) && one.privilege === right.privilege)
      if (other === undefined) return [right]
      const columns = right.columns.filter((name) => !other.columns.includes(name))
      return columns.length === 0 ? [] : [{ ...right, columns }]
    })
  const excess = beyond(held, wanted)
  const relations = new Map(excess.map((right) => [qualified(right), right]))
  const again = wanted.filter((right) => relations.has(qualified(right)))
  return {
    all: wanted.map((right) => granting(right, role)),
    missing: beyond(wanted, held)
      .filter((right) => right.kind === "" || existing.has(qualified(right)))
      .map((right) => granting(right, role)),
    excess: excess.map(said),
    revokes: [
      // Revoked from the relation, a right is gone from its columns as well.
      ...[...relations].map(
        ([name, { kind }]) =>
          `REVOKE ${kind === "" ? "INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER" : "USAGE, UPDATE"} ON ${kind}${name} FROM ${identifier(role)}`
      ),
      ...again.map((right) => granting(right, role))
    ]
  } satisfies WriteGrants
})

/** Grants what the mappings let be written and revokes the rest, as far as this user may. Returns what is as it was. */
export const settleWrites = Effect.fnUntraced(function* (owner: PgClient.PgClient) {
  const before = yield* compareWrites(owner)
  if (before.missing.length + before.revokes.length === 0) return before
  yield* runGrants(owner, before.missing)
  yield* Effect.ignore(runGrants(owner, before.revokes))
  return yield* compareWrites(owner)
})

/** The same for new mappings; fails with the statements for the relations' owners when this user may not grant. */
export const grantWrites = Effect.fnUntraced(function* (owner: PgClient.PgClient) {
  const settled = yield* settleWrites(owner)
  if (settled.missing.length === 0) return settled
  return yield* new OperatorError({
    message: "Nothing is mapped: this database user may not grant Max to change rows. The tables' owner runs:",
    details: settled.missing.map((statement) => `${statement};`)
  })
})

/** Grants for the types of every organization: after a migration or a restore. Returns the names that stay unreadable. */
export const grantAll = (owner: PgClient.PgClient) =>
  Effect.gen(function* () {
    const types = yield* mappedTypes(owner)
    if (types.length === 0) return []
    const { names } = yield* grantLacking(owner, types)
    yield* settleWrites(owner)
    return names
  }).pipe(owner.withTransaction)
