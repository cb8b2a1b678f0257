/** What must hold before an organization moves. Each reason names the command or the setting that mends it. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { inspect } from "../../../database/migrate.ts"
import { SCHEMA_VERSION } from "../../../database/migrations/index.ts"
import { hidesRows } from "../../../database/rowSecurity.ts"
import { identifier } from "../../../database/sql/SqlWriter.ts"
import { printable } from "../../../domain/text.ts"
import { texts } from "../../import/statements.ts"
import { columnsOf, nameOf, readShapes } from "../backup/TableShape.ts"
import { isOwnTable } from "../../catalog/physicalColumns.ts"
import { type Moving, nameFor, readMove, settingsFor, type Side } from "./Moving.ts"

interface Facts {
  readonly user: string
  readonly wal: string
  readonly superuser: boolean
  readonly replicates: boolean
  readonly subscribes: boolean
  readonly creates: boolean
  readonly slots: number
  readonly senders: number
  readonly workers: number
  readonly made: boolean
}

const FACTS = `SELECT current_user::text AS user, current_setting('wal_level') AS wal, r.rolsuper AS superuser, r.rolreplication AS replicates,
    r.rolsuper OR EXISTS (SELECT FROM pg_roles s WHERE s.rolname = 'pg_create_subscription' AND pg_has_role(s.oid, 'USAGE')) AS subscribes,
    has_database_privilege(current_database(), 'CREATE') AS creates,
    current_setting('max_replication_slots')::int - (SELECT count(*)::int FROM pg_replication_slots) AS slots,
    current_setting('max_wal_senders')::int - (SELECT count(*)::int FROM pg_stat_replication) AS senders,
    current_setting('max_logical_replication_workers')::int AS workers,
    EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1) AS made
  FROM pg_roles r WHERE r.rolname = current_user`

const factsOf = ({ owner }: Side, id: bigint) =>
  Effect.map(owner.unsafe<Facts>(FACTS, [nameFor(id)]).unprepared, ([facts]) => facts!)

/** Slots and connections at the source: of the subscription, and of two tables that are copied at once. */
const NEEDED = 3

/** Whether a database can be read at all by this version; otherwise the other checks would fail. */
export const checkVersions = Effect.fnUntraced(function* (sides: Pick<Moving, "source" | "target">) {
  const reasons: Array<string> = []
  for (const [name, { owner, place }] of [
    ["source", sides.source],
    ["target", sides.target]
  ] as const) {
    const { inRecovery, schemaVersion, serverVersion } = yield* inspect(owner)
    const at = `The ${name}, ${printable(place)},`
    if (serverVersion < 15) reasons.push(`${at} is Postgres ${serverVersion}: publications have row filters from 15.`)
    else if (inRecovery) reasons.push(`${at} is a standby: name its primary.`)
    else if (schemaVersion !== SCHEMA_VERSION)
      reasons.push(
        schemaVersion > SCHEMA_VERSION
          ? `${at} has schema version ${schemaVersion}, of a newer Max: update this Max.`
          : `${at} has schema version ${schemaVersion}, and this Max ${SCHEMA_VERSION}: run max migrate with ${settingsFor(place)}.`
      )
  }
  return reasons
})

export const checkServers = Effect.fnUntraced(function* (moving: Moving, hasPassword: boolean) {
  const { id, source, target } = moving
  const [here, there] = [yield* factsOf(source, id), yield* factsOf(target, id)]
  const [{ serverVersion }] = [yield* inspect(target.owner)]
  const reasons: Array<string> = []
  const refuse = (when: boolean, reason: string) => when && reasons.push(reason)
  refuse(
    here.wal !== "logical",
    `wal_level of the source is ${here.wal}: ALTER SYSTEM SET wal_level = 'logical'; and restart its Postgres.`
  )
  refuse(
    !here.superuser && !here.replicates,
    `The source's user may not replicate: ALTER ROLE ${identifier(here.user)} REPLICATION; (as an administrator)`
  )
  refuse(
    !here.creates,
    `The source's user may not publish: GRANT CREATE ON DATABASE … TO ${identifier(here.user)}; (as an administrator)`
  )
  refuse(
    !here.made && here.slots < NEEDED,
    `The source has ${here.slots} replication slots left, and a move needs ${NEEDED}: ALTER SYSTEM SET max_replication_slots = 20; and restart its Postgres.`
  )
  refuse(
    !here.made && here.senders < NEEDED,
    `The source has ${here.senders} replication connections left, and a move needs ${NEEDED}: ALTER SYSTEM SET max_wal_senders = 20; and restart its Postgres.`
  )
  refuse(
    !there.subscribes,
    serverVersion < 16
      ? `The target is Postgres ${serverVersion}, where only a superuser subscribes: ALTER ROLE ${identifier(there.user)} SUPERUSER; (for the move; NOSUPERUSER after it)`
      : `The target's user may not subscribe: GRANT pg_create_subscription TO ${identifier(there.user)}; (as an administrator)`
  )
  refuse(
    there.subscribes && !there.superuser && !hasPassword,
    "A subscription of a user who isn't a superuser needs a password: name the source with one, --from env:NAME."
  )
  refuse(
    there.workers < 3,
    `The target has ${there.workers} workers for replication: ALTER SYSTEM SET max_logical_replication_workers = 4; and restart its Postgres.`
  )
  for (const [name, { owner, place }] of [
    ["source", source],
    ["target", target]
  ] as const)
    refuse(
      yield* hidesRows(owner),
      `Row-level security hides rows from the ${name}'s user: max migrate --rls off (with ${settingsFor(place)}), and on again after the move.`
    )
  return reasons
})

/** What the target has that the organization brings: its slug, its providers, its numbers, or other columns. */
export const checkTarget = Effect.fnUntraced(function* ({ id, slug, source, tables, target }: Moving) {
  const there = target.owner
  const reasons: Array<string> = []
  const move = yield* readMove(there, id)
  if (move !== undefined && !move.incoming && !move.cleaned)
    reasons.push(
      `The target has rows from before ${slug} moved away from it: max move --org ${slug} --clean (with ${settingsFor(target.place)})`
    )
  if (move?.incoming === true && move.place !== source.place)
    reasons.push(`The target is receiving ${slug} from ${printable(move.place)}: finish or undo that move.`)
  const [found] = yield* there<{ same: boolean; slug: boolean }>`
    SELECT EXISTS (SELECT FROM max.organizations WHERE organization_id = ${id}) AS same,
      EXISTS (SELECT FROM max.organizations WHERE organization_id <> ${id} AND slug = ${slug}) AS slug`
  if (found!.same && move === undefined)
    reasons.push(
      `The target has this organization already, as after a backup was restored there: move it into another database.`
    )
  if (found!.slug)
    reasons.push(`The target has another organization with the slug ${slug}: move it to another database.`)
  const providers = yield* source.owner<{ key: string }>`
    SELECT issuer || ' ' || audience AS key FROM max.identity_providers WHERE organization_id = ${id}`
  const numbers = yield* source.owner<{
    key: string
  }>`SELECT phone AS key FROM max.sms_numbers WHERE organization_id = ${id}`
  const taken = yield* there<{ mend: string }>`
    SELECT 'max idp remove' AS mend FROM max.identity_providers WHERE organization_id <> ${id}
      AND issuer || ' ' || audience = ANY(${texts(providers.map(({ key }) => key))}::text::text[])
    UNION ALL SELECT 'max sms remove-number' FROM max.sms_numbers WHERE organization_id <> ${id}
      AND phone = ANY(${texts(numbers.map(({ key }) => key))}::text::text[])`
  for (const { mend } of taken)
    reasons.push(
      `Another organization of the target has ${mend.includes("idp") ? "an identity provider" : "a text message number"} of ${slug}: ${mend} (on one side)`
    )
  const shapes = new Map((yield* readShapes(there)).map((shape) => [nameOf(shape), shape]))
  for (const shape of tables) {
    const other = shapes.get(nameOf(shape))
    if (other === undefined ? !isOwnTable(shape) : columnsOf(other) !== columnsOf(shape))
      reasons.push(`${printable(nameOf(shape))} has other columns at the target.`)
  }
  return reasons
})

/** The relations that the organization's mapped types read, which don't move. */
export const mappedRelations = (sql: PgClient.PgClient, id: bigint) =>
  Effect.map(
    sql<{ name: string }>`
      SELECT DISTINCT v.relation_schema || '.' || v.relation_table AS name FROM builder.version_refs r
      JOIN builder.entity_type_versions v ON v.organization_id = r.source_organization_id AND v.type_key = r.type_key AND v.version = r.version
      WHERE r.organization_id = ${id} AND v.mapping IS NOT NULL ORDER BY 1`,
    (rows) => rows.map(({ name }) => name)
  )
