/** Runs a change through the planner and the statements, as a proposal and as an application that is rolled back. */
import { Effect, Schema } from "effect"
import { Database } from "../../src/database/Database.ts"
import { runWithin } from "../../src/database/execute.ts"
import { enterOrganization } from "../../src/database/rowSecurity.ts"
import type { Statement } from "../../src/database/sql/ResolvedQuery.ts"
import {
  type Assignment,
  changedColumns,
  type LockedRow,
  type ProposedRow,
  type RowChange,
  type VerifiedRow,
  type WrittenRow
} from "../../src/database/sql/RowChange.ts"
import {
  compileDelete,
  compileInsert,
  compileLock,
  compilePropose,
  compileUpdate,
  compileVerify
} from "../../src/database/sql/write.ts"
import { type Catalog, columnBySlug, targetOf, typeBySlug } from "../../src/domain/EntityType.ts"
import { encodeId } from "../../src/domain/ids.ts"
import { NEVER } from "../../src/domain/Predicate.ts"
import type { Principal } from "../../src/domain/Principal.ts"
import { decide } from "../../src/permissions/decide.ts"
import { plan } from "../../src/permissions/PermissionEngine.ts"
import { Policy, problemText } from "../../src/permissions/Policy.ts"
import { readPolicy } from "../../src/permissions/readPolicy.ts"
import { planWrite } from "../../src/permissions/WritePlan.ts"
import { NOW } from "./generators.ts"
import { type Cell, keyOf, type Organization, SHAPES } from "./world.ts"
import type { WriteCase } from "./writeOracle.ts"

export interface Loaded {
  readonly organization: Organization
  readonly catalog: Catalog
}

const storedPolicy = (file: WriteCase["policy"], catalog: Catalog): Policy => {
  const reading = readPolicy(JSON.stringify(file), catalog)
  if ("problems" in reading) throw new Error(reading.problems.map(problemText).join("\n"))
  // In the form that the database returns.
  return Schema.decodeUnknownSync(Policy)(JSON.parse(JSON.stringify(Schema.encodeSync(Policy)(reading.policy))))
}

const principalOf = ({ action, caller: who, scope, type }: WriteCase, catalog: Catalog): Principal => ({
  organizationId: catalog.organization.id,
  anchorEntityId: encodeId(who.me),
  roles: who.roles,
  attributes: who.attributes as Principal["attributes"],
  ...(who.actor === undefined ? {} : { actor: { id: "agent", ...who.actor } as NonNullable<Principal["actor"]> }),
  ...(scope === undefined
    ? {}
    : {
        scope: [
          ...catalog.types.map(({ key }) => ({ type: key, action: "read", columns: "*" as const })),
          {
            type: typeBySlug(catalog, type)!.key,
            action,
            columns:
              scope === "*" ? scope : scope.map((column) => columnBySlug(typeBySlug(catalog, type)!, column)!.key)
          }
        ]
      }),
  epoch: catalog.epoch
})

/** A Postgres array of texts. */
const arrayText = (parts: ReadonlyArray<string>): string =>
  `{${parts.map((part) => (/^[a-z0-9%]+$/i.test(part) && !/^null$/i.test(part) ? part : `"${part.replace(/["\\]/g, "\\$&")}"`)).join(",")}}`

const textOf = (cell: Cell): string | null =>
  cell === null ? null : Array.isArray(cell) ? arrayText(cell) : String(cell)

/** The stored text of a cell. */
export const storedText = (kind: string, cell: Cell | ReadonlyArray<bigint>): string | null =>
  kind === "many"
    ? `{${[...new Set((cell ?? []) as ReadonlyArray<bigint>)].sort((a, b) => (a < b ? -1 : 1)).join(",")}}`
    : kind === "timestamp" && typeof cell === "string"
      ? cell.replace("Z", "000Z")
      : textOf(cell as Cell)

/** Whether the person may read nothing of the type. */
export const isDenied = (one: WriteCase, { catalog }: Loaded): boolean =>
  plan(
    storedPolicy(one.policy, catalog),
    catalog,
    principalOf(one, catalog),
    typeBySlug(catalog, one.type)!,
    "read",
    NOW
  )._tag === "Denied"

/** The change for the compiler; undefined when a plan denies it as a whole. */
export const plannedChange = (one: WriteCase, { catalog, organization }: Loaded): RowChange | undefined => {
  const policy = storedPolicy(one.policy, catalog)
  const principal = principalOf(one, catalog)
  const type = typeBySlug(catalog, one.type)!
  const read = plan(policy, catalog, principal, type, "read", NOW)
  const write = planWrite(policy, catalog, principal, type, one.action, NOW)
  if (write._tag === "Denied" || read._tag === "Denied") return undefined
  const assignments = Object.entries(one.assigned).map(([slug, cell]): Assignment => {
    const column = columnBySlug(type, slug)!
    const { key, kind } = SHAPES[one.type][slug]!
    const target = targetOf(catalog, column)
    const seen = target && plan(policy, catalog, principal, target, "read", NOW)
    return {
      column,
      texts:
        kind === "many"
          ? (cell as ReadonlyArray<bigint>).map(String)
          : [
              textOf(cell as Cell),
              ...(key === undefined ? [] : [textOf(keyOf(kind, cell as Cell, organization.country))])
            ],
      ...(target === undefined
        ? {}
        : { target: { type: target, where: seen?._tag === "Granted" ? seen.where : NEVER } })
    }
  })
  return { type, ids: [one.id.toString()], assignments, read, write }
}

const keysOf = (change: RowChange) => changedColumns(change).map(({ key }) => key)

const isSeen = ({ targets, visible }: Pick<ProposedRow, "targets" | "visible">): boolean =>
  [...visible, ...targets].every(Boolean)

/** Whether a proposal would be refused because of the rules, or because the caller doesn't see enough. */
export const proposalOf = Effect.fnUntraced(function* (change: RowChange, { catalog }: Loaded) {
  const { search } = yield* Database
  const statement = compilePropose(change, catalog)
  const rows = yield* catalog.rowSecurity === true
    ? runWithin<ProposedRow>(search, catalog.organization.id, statement)
    : search.unsafe<ProposedRow>(statement.text, statement.parameters)
  const [row] = rows
  if (rows.length !== 1 || row!.fresh !== true) throw new Error("A proposal has one fresh row")
  if (row!.id === null) return { row: undefined, seen: false, refusals: [] }
  return {
    row: row!,
    seen: isSeen(row!),
    refusals: decide(change.write, keysOf(change), { before: row!.bits_before, after: row!.bits_after })
  }
})

/** Applies a change with what its proposal showed, hands the result to `look`, and rolls back. */
export const applied = Effect.fnUntraced(function* <A, E, R>(
  change: RowChange,
  shown: ProposedRow,
  { catalog }: Loaded,
  look: (run: <Row extends object>(statement: Statement) => Effect.Effect<ReadonlyArray<Row>>) => Effect.Effect<A, E, R>
) {
  const { app } = yield* Database
  const { assignments, ids, type, write } = change
  const run = <Row extends object>({ parameters, text }: Statement) =>
    Effect.orDie(app.unsafe<Row>(text, [...parameters]))
  let result: { readonly seen: boolean; readonly allowed: boolean; readonly looked: A } | undefined
  const transaction = Effect.gen(function* () {
    yield* enterOrganization(app, catalog.organization.id)
    const locked: ReadonlyArray<LockedRow> =
      write.action === "create"
        ? []
        : yield* run<LockedRow>(
            compileLock(
              change,
              [
                {
                  id: shown.id,
                  before: shown.before,
                  name: shown.name,
                  ...(shown.row === null ? {} : { row: shown.row })
                }
              ],
              catalog
            )
          )
    const seen = write.action === "create" || (locked[0] !== undefined && isSeen(locked[0]))
    for (const { same, same_name, same_row } of locked)
      if (seen && ![...same, same_name, same_row].every(Boolean)) throw new Error("An unchanged row is not as shown")
    const written = yield* run<WrittenRow>(
      write.action === "create"
        ? compileInsert(type, ids[0]!, assignments, catalog)
        : write.action === "update"
          ? compileUpdate(type, ids, assignments, catalog)
          : compileDelete(type, ids, catalog)
    )
    if (written.length !== 1) throw new Error(`${written.length} rows were written`)
    const verified =
      write.action === "delete"
        ? []
        : yield* run<VerifiedRow>(compileVerify(type, ids, changedColumns(change), write, catalog))
    const refusals = decide(write, keysOf(change), {
      before: locked[0]?.bits_before,
      after: verified[0]?.bits_after
    })
    const looked = yield* look(run)
    result = { seen: seen && isSeen(shown), allowed: refusals.length === 0, looked }
    return yield* Effect.fail(ROLLED_BACK)
  })
  const exit = yield* Effect.exit(app.withTransaction(transaction))
  return result ?? (yield* exit)
})

const ROLLED_BACK = "rolled back" as const
