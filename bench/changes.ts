/**
 * What a change of one cell costs: a confirmation against the same statements by hand, a proposal against a lookup, and lookups
 * over HTTP by a process with changes against one without.
 */
import { Effect } from "effect"
import { appendAudit } from "../src/database/audit.ts"
import { Database } from "../src/database/Database.ts"
import { CurrentPrincipal, type Principal } from "../src/domain/Principal.ts"
import { decodeId } from "../src/domain/ids.ts"
import { Changes } from "../src/services/changes/Changes.ts"
import { type ContestantName, start } from "./contestants.ts"
import { onDatabase, type Where } from "./database.ts"
import type { Measured } from "./figures.ts"
import { assignment, tokenOf } from "./http.ts"
import { load } from "./load.ts"
import { median, race, raceTable } from "./race.ts"
import { asking } from "./store.ts"
import { openWorld, type WorldOrganization } from "./world/load.ts"
import { byPhone } from "./world/questions.ts"

const ROUNDS = 400
/** Proposals of one person: as many as the default limit allows in a minute, because each one counts those before it. */
const PROPOSALS = 10
/** People that proposals are about and by; they come round again after ten proposals each. */
const PEOPLE = 1000
/** Operations before a race, until its code is compiled and its tables have statistics. */
const FIRST = 3000
const IN_FLIGHT = 8
const BLOCKS = 20
const SECONDS = 0.5
const WARM_UP = { requests: 5000, seconds: 6 }

export const changes = (rows: number, where: Where, quiet: boolean) =>
  onDatabase(where, Effect.scoped(scenarios(rows, quiet)))

const scenarios = Effect.fnUntraced(function* (rows: number, quiet: boolean) {
  const { huge } = (yield* openWorld(rows)).organizations
  const say = (text: string) => {
    if (!quiet) console.log(text)
  }
  return [
    ...(yield* proposing(huge, say)),
    ...(yield* confirming(huge, say)),
    ...(yield* beside(rows, huge, say))
  ] satisfies ReadonlyArray<Measured>
})

type Say = (text: string) => void

/** Proposes a new e-mail address for the person of a round. */
const changing = Effect.fnUntraced(function* (of: WorldOrganization) {
  const service = yield* Changes
  const { find, principal } = yield* asking(of, "everything")
  const as = (anchorEntityId: string) =>
    Effect.provideService(CurrentPrincipal, { ...principal, anchorEntityId } satisfies Principal)
  const via = { channel: "bench" }
  const own = principal.anchorEntityId
  const idOf = (round: number) => Effect.map(find(byPhone(of, round)), ({ entities: [one] }) => one!.entityId)
  let values = 0
  return {
    own,
    find,
    idOf,
    propose: (entityId: string, proposer = own) =>
      as(proposer)(
        service.propose({
          steps: [
            {
              actionId: "people.update",
              entityIds: [entityId],
              values: [{ columnId: "email", value: `bench-${process.pid}-${++values}@example.com` }]
            }
          ],
          via
        })
      ),
    confirm: (changeId: string, digest: string) => as(own)(service.confirm({ changeId, digest, via }))
  }
})

const proposing = Effect.fnUntraced(function* (of: WorldOrganization, say: Say) {
  const { find, idOf, propose } = yield* changing(of)
  const ids = yield* Effect.forEach(
    Array.from({ length: PEOPLE }, (_, index) => index),
    idOf
  )
  let proposals = 0
  const next = (round: number) =>
    propose(ids[round % ids.length]!, ids[Math.floor(proposals++ / PROPOSALS) % ids.length])
  for (let round = 0; round < FIRST; round++) {
    yield* next(round)
    yield* find(byPhone(of, round))
  }
  // As autovacuum does within a minute: plans that were made while the tables were empty read all changes of the organization.
  const { owner } = yield* Database
  yield* owner.unsafe("ANALYZE max.changes").unprepared
  const raced = yield* race(
    [
      { name: "findEntities by phone", run: (round) => find(byPhone(of, round)) },
      { name: "propose", run: next }
    ],
    { rounds: ROUNDS, seconds: 60 }
  )
  say(raceTable("a proposal of one cell", raced))
  return [{ scenario: "a proposal of one cell against a lookup", ratio: raced[1]!.ms / raced[0]!.ms, target: 3 }]
})

/**
 * The statements that a careful program would write: claim, lock and compare, write, record, in one transaction. It leaves behind
 * what a confirmation does: the receipt, the step, two events and a record of the audit log.
 */
const byHand = Effect.fnUntraced(function* (of: WorldOrganization, decider: string) {
  const { changes: sql } = yield* Database
  const organization = of.organization.id
  const receipt = JSON.stringify({
    state: "applied",
    message: "Done: 1 person changed.",
    rows: 1,
    at: "2026-01-01T00:00:00Z",
    by: decider,
    entities: [{ actionId: "people.update", entityTypeId: "people", entityId: decider }]
  })
  return (changeId: string, digest: string, entityId: string, value: string) =>
    Effect.gen(function* () {
      yield* sql`SELECT set_config('max.organization_id', ${organization.toString()}, true)`
      const [claimed] = yield* sql<{ before: string }>`UPDATE max.changes
        SET state = 'applied', decided_at = clock_timestamp(), decided_by = ${decider}, decided_channel = 'bench', receipt = ${receipt}::jsonb
        WHERE organization_id = ${organization} AND change_id = ${changeId} AND digest = decode(${digest}, 'hex')
          AND state = 'open' AND expires_at > clock_timestamp()
        RETURNING document::jsonb #>> '{steps,0,before,email}' AS before`
      const [locked] = yield* sql<{ same: boolean }>`SELECT p.email IS NOT DISTINCT FROM ${claimed!.before} AS same
        FROM data.people p WHERE p.organization_id = ${organization} AND p.id = ${entityId}::bigint FOR UPDATE NOWAIT`
      if (locked?.same !== true) return yield* Effect.die(new Error("The row has changed"))
      yield* sql`UPDATE data.people p SET email = ${value}, email_k = ${value}
        WHERE p.organization_id = ${organization} AND p.id = ${entityId}::bigint RETURNING p.email`
      yield* sql`INSERT INTO max.change_steps
        (organization_id, change_id, step, action_key, action_version, type_key, entity_id, columns, applied_at)
        VALUES (${organization}, ${changeId}, 1, 'people.update', 1, 'people', ${entityId}, '{email}', clock_timestamp())`
      yield* sql`INSERT INTO max.change_events (organization_id, change_id, sequence, phase, who, channel, outcome, ms)
        SELECT ${organization}, ${changeId}, l.last + e.n, e.phase, ${decider}, 'bench', 'ok', 1
        FROM (SELECT coalesce(max(sequence), 0) AS last FROM max.change_events
          WHERE organization_id = ${organization} AND change_id = ${changeId}) l, (VALUES (1, 'confirmed'), (2, 'applied')) e(n, phase)`
      yield* appendAudit(sql, organization, "changes", [
        {
          actor: decider,
          action: "change.applied",
          subject: changeId,
          details: { digest, proposer: decider, decider, actions: ["people.update"], columns: ["email"], rows: 1 }
        }
      ])
    }).pipe(sql.withTransaction)
})

const confirming = Effect.fnUntraced(function* (of: WorldOrganization, say: Say) {
  const { confirm, idOf, own, propose } = yield* changing(of)
  const hand = yield* byHand(of, own)
  // Proposed right before it is confirmed: a draft expires, and a person can come twice in a race.
  let open = { changeId: "", digest: "", id: "" }
  const prepare = Effect.fnUntraced(function* (round: number) {
    const id = yield* idOf(round)
    const { changeId, preview } = yield* propose(id)
    open = { changeId, digest: preview.digest!, id: decodeId(id)!.toString() }
  })
  const contestants = [
    {
      name: "the statements by hand",
      prepare,
      run: (round: number) => hand(open.changeId, open.digest, open.id, `hand-${process.pid}-${round}@example.com`)
    },
    { name: "confirm", prepare, run: () => confirm(open.changeId, open.digest) }
  ]
  yield* race(contestants, { rounds: FIRST / 2, seconds: 30 })
  const raced = yield* race(contestants, { rounds: ROUNDS, seconds: 120 })
  say(raceTable("a confirmation of one cell", raced))
  return [
    {
      scenario: "a confirmation of one cell against the same statements by hand",
      ratio: raced[1]!.ms / raced[0]!.ms,
      target: 1.5
    }
  ]
})

/** Lookups over HTTP, by two processes on one database. */
const beside = Effect.fnUntraced(function* (rows: number, of: WorldOrganization, say: Say) {
  const token = yield* tokenOf(of, "company")
  const given = yield* assignment(rows, "huge", "company")
  const names = ["whole", "reading"] as const satisfies ReadonlyArray<ContestantName>
  const running = yield* Effect.forEach(names, (name) =>
    Effect.flatMap(start(name, given), (started) =>
      typeof started === "string" ? Effect.die(new Error(started)) : Effect.succeed(started)
    )
  )
  const rates = new Map(names.map((name) => [name, [] as Array<number>]))
  for (let block = -1; block < BLOCKS; block++)
    for (const { name, port } of block % 2 === 0 ? running : running.toReversed()) {
      const { rate } = yield* load({
        port,
        token,
        inFlight: IN_FLIGHT,
        ...(block < 0 ? WARM_UP : { seconds: SECONDS }),
        asked: (round) => byPhone(of, round)
      })
      if (block >= 0) rates.get(name as (typeof names)[number])!.push(rate)
    }
  const ratio = median(rates.get("reading")!.map((rate, block) => rate / rates.get("whole")![block]!))
  say(
    `lookups over HTTP, changes on: ${median(rates.get("whole")!).toFixed(0)} per second, off: ${median(rates.get("reading")!).toFixed(0)}`
  )
  return [{ scenario: "the time of lookups over HTTP, changes on against off", ratio, target: 1.03 }]
})
