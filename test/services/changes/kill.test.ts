/** Processes that are killed at random moments of proposing, opening, confirming and applying. */
import { layer } from "@effect/vitest"
import { Effect, Redacted, Schedule } from "effect"
import { buildSync } from "esbuild"
import { type ChildProcess, spawn } from "node:child_process"
import { copyFileSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as delay } from "node:timers/promises"
import { afterAll, beforeAll, expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { Env } from "../../../src/env.ts"
import { addPeople } from "../../support/atlas.ts"
import { as, changing, person } from "../../support/changes.ts"
import { TestServices } from "../../support/database.ts"
import { series } from "../../support/long.ts"

const repository = join(import.meta.dirname, "..", "..", "..")
const folder = mkdtempSync(join(tmpdir(), "max-change-worker-"))
const running = new Set<ChildProcess>()
afterAll(() => {
  for (const child of running) child.kill("SIGKILL")
  rmSync(folder, { recursive: true, force: true })
})

/** How many processes are killed. */
const KILLS = series({ short: 9, long: 201 })
const WORKERS = 3

beforeAll(() => {
  symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"))
  // The program reads its version from its own package.
  copyFileSync(join(repository, "package.json"), join(folder, "package.json"))
  buildSync({
    entryPoints: [join(repository, "test", "support", "changeWorker.ts")],
    outfile: join(folder, "worker.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "warning"
  })
})

/** Runs a worker until a random moment after its first change; resolves to the changes that it reported as applied. */
const killed = async (args: ReadonlyArray<string>, within: number): Promise<ReadonlyArray<string>> => {
  const child = spawn(process.execPath, [join(folder, "worker.mjs"), ...args], { stdio: ["ignore", "pipe", "inherit"] })
  running.add(child)
  const lines: Array<string> = []
  const ended = new Promise((resolve) => child.once("close", resolve))
  await new Promise<void>((resolve) => {
    createInterface(child.stdout).on("line", (line) => {
      lines.push(line)
      resolve()
    })
    void ended.then(() => resolve())
  })
  await delay(Math.random() * within)
  child.kill("SIGKILL")
  await ended
  running.delete(child)
  return lines
}

/** A trigger records every write of a status in its transaction. Claims and writes take a while, so that a kill may fall into them. */
const journal = (organization: Organization, seconds: number) => [
  "CREATE TABLE IF NOT EXISTS public.journal (value text)",
  `CREATE OR REPLACE FUNCTION public.journal() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
   BEGIN PERFORM pg_sleep(0.01); INSERT INTO public.journal VALUES (NEW.status); RETURN NEW; END $$`,
  `CREATE TRIGGER ${organization.slug} BEFORE UPDATE ON data.people FOR EACH ROW WHEN (NEW.organization_id = ${organization.id}) EXECUTE FUNCTION public.journal()`,
  `CREATE OR REPLACE FUNCTION public.slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(${seconds}); RETURN NEW; END $$`,
  `CREATE TRIGGER ${organization.slug} AFTER UPDATE ON max.changes FOR EACH ROW
   WHEN (NEW.organization_id = ${organization.id} AND NEW.state = 'applied' AND OLD.state = 'open') EXECUTE FUNCTION public.slow()`
]

interface Faults {
  /** Applied without a write, or acknowledged and not applied. */
  readonly lost: number
  readonly doubled: number
  /** Written without being applied. */
  readonly unclaimed: number
}

/** Kills workers, round by round until `enough`, and compares what is recorded with what was written. */
const tortured = Effect.fnUntraced(function* (
  slug: string,
  variant: string,
  enough: (kills: number, faults: Faults) => boolean
) {
  const { organization } = yield* changing(slug)
  const { owner } = yield* Database
  const env = yield* Env
  for (const statement of journal(organization, variant === "planted" ? 0.3 : 0.03)) yield* owner.unsafe(statement)
  const members = yield* Effect.forEach(Array.from({ length: WORKERS }), (_, at) =>
    person(organization, `w${at}@${slug}.example`, "admin")
  )
  const rows = yield* addPeople(
    organization,
    members.map((_, at) => ({ name: `Row ${at}` }))
  )
  const url = Redacted.value(env.databaseUrl!)
  const own = (yield* owner<{ pid: number }>`SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'max changes'`).map(({ pid }) => pid)
  const reported: Array<string> = []
  const faults = Effect.map(
    owner<Faults>`SELECT
        count(*) FILTER (WHERE c.state = 'applied' AND w.writes = 0 OR c.state <> 'applied' AND c.change_id = ANY(${reported}::text[]))::int AS lost,
        count(*) FILTER (WHERE w.writes > 1)::int AS doubled,
        count(*) FILTER (WHERE c.state <> 'applied' AND w.writes > 0)::int AS unclaimed
      FROM max.changes c, LATERAL (SELECT count(*) AS writes FROM public.journal j
        WHERE j.value = c.document::jsonb->'steps'->0->'after'->>'status') w WHERE c.organization_id = ${organization.id}`,
    ([row]) => row!
  )
  for (let kills = 0, found: Faults | undefined; found === undefined || !enough(kills, found); found = yield* faults) {
    const round = members.map(({ anchorId }, at) =>
      // Later and later: on a busy machine a change takes longer.
      killed([url, slug, anchorId, rows[at]!, `${at}.${kills}`, variant], variant === "" ? 120 : 120 + 15 * kills)
    )
    reported.push(...(yield* Effect.promise(() => Promise.all(round))).flat())
    kills += WORKERS
    // The server notices that a process has gone when its statement has ended.
    yield* Effect.repeat(
      owner<{ left: number }>`SELECT count(*)::int AS left FROM pg_stat_activity a WHERE datname = current_database()
        AND application_name = 'max changes' AND pid <> ALL (${own}::int[])`,
      { until: ([row]) => row!.left === 0, schedule: Schedule.spaced("20 millis") }
    )
  }
  return { faults, members, organization, reported }
})

layer(TestServices, { excludeTestServices: true })("a killed process", (it) => {
  it.effect("loses no applied change, doubles none, and leaves none that can't be confirmed", () =>
    Effect.gen(function* () {
      const { faults, members, organization, reported } = yield* tortured("killed", "", (kills) => kills >= KILLS)
      expect(reported.length).toBeGreaterThanOrEqual(KILLS)
      expect(yield* faults).toEqual({ lost: 0, doubled: 0, unclaimed: 0 })
      // What is open can be decided on, unless its time is over: the newest of each person is about the row as it is.
      const { owner } = yield* Database
      const open = yield* owner<{ change_id: string; proposer_id: string; digest: string }>`
          SELECT change_id, proposer_id, encode(digest, 'hex') AS digest FROM max.changes WHERE organization_id = ${organization.id} AND state = 'open'`
      for (const { change_id, digest, proposer_id } of open) {
        const who = yield* as(members.find(({ anchorId }) => anchorId === proposer_id)!.principal)
        const outcome = yield* Effect.result(who.confirm({ changeId: change_id, digest }))
        expect(outcome._tag === "Success" || ["Stale", "Expired"].includes(outcome.failure._tag)).toBe(true)
      }
      expect(yield* faults).toEqual({ lost: 0, doubled: 0, unclaimed: 0 })
      const stuck =
        yield* owner`SELECT change_id FROM max.changes WHERE organization_id = ${organization.id} AND state IN ('open', 'waiting') AND expires_at > clock_timestamp()`
      expect(stuck).toEqual([])
    })
  )

  it.effect("shows a claim that commits before the row is written: with it, changes are lost", () =>
    Effect.gen(function* () {
      const { faults } = yield* tortured("planted", "planted", (kills, { lost }) => lost > 0 || kills >= 150)
      expect((yield* faults).lost).toBeGreaterThan(0)
    })
  )
})
