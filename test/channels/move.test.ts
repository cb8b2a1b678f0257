/** `max move --org`: an organization moves to another server of Postgres while it is in use. */
import { Effect, Exit, Scope } from "effect"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Database } from "../../src/database/Database.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import { encodeId } from "../../src/domain/ids.ts"
import { Memberships } from "../../src/services/members/Memberships.ts"
import { SmsOutbox } from "../../src/services/texting/SmsOutbox.ts"
import { makeOrganization } from "../support/atlas.ts"
import { hold, rowsIn, startCell, startRouter } from "../support/cells.ts"
import { runMax, spawnMax } from "../support/cli.ts"
import { freshDatabase, migratedDatabase } from "../support/database.ts"
import { ask, callTool, JSON_TYPE, startServer, type TestServer } from "../support/http.ts"
import { importFile } from "../support/imports.ts"
import { LONG, series } from "../support/long.ts"
import { memberWithToken } from "../support/members.ts"
import { until } from "../support/until.ts"

const ROWS = series({ short: 20_000, long: 100_000 })
const folder = mkdtempSync(join(tmpdir(), "max-move-"))
const map = join(folder, "cells.map")

let first: Awaited<ReturnType<typeof startCell>>
let second: Awaited<ReturnType<typeof startCell>>
let here: TestServer
let there: TestServer
let router: Awaited<ReturnType<typeof startRouter>>
let atlas: Organization
let harbor: Organization
const tokens: Record<string, string> = {}

beforeAll(async () => {
  ;[first, second] = await Promise.all([startCell("-c log_statement=ddl"), startCell("-c log_statement=ddl")])
  writeFileSync(map, "# organization cell\n")
  here = await startServer(first.url)
  there = await startServer(second.url)
  router = await startRouter(map, { first: here.url, second: there.url })
  atlas = await here.run(makeOrganization("atlas"))
  harbor = await here.run(makeOrganization("harbor"))
  for (const organization of [atlas, harbor]) {
    await here.run(
      importFile(organization, [
        "id,name,email,phone",
        `ada,Ada of ${organization.slug},ada@${organization.slug}.example,+14155550100`
      ])
    )
    const admin = await here.run(
      memberWithToken(organization, `admin@${organization.slug}.example`, ["admin"], ["tools", "chat", "admin"])
    )
    tokens[organization.slug] = admin.token
  }
  // A type of its own, so that a table has to be made at the target.
  await here.run(importFile(atlas, ["id,name,colour", "1,Bolt,red", "2,Nut,blue"], { type: "parts", create: true }))
  await here.run(memberWithToken(atlas, "eve@atlas.example", ["member"]))
  await here.run(
    Effect.flatMap(
      Database,
      ({ owner }) => owner`
      INSERT INTO data.people (organization_id, id, name, name_k, email, email_k)
      SELECT ${atlas.id}::bigint, g, 'Person ' || g, 'person ' || g, g || '@example.com', g || '@example.com'
      FROM generate_series(1, ${ROWS}::int) g`
    )
  )
})

afterAll(async () => {
  await router?.close()
  await Promise.all([here?.stop(), there?.stop()])
  await Promise.all([first?.end(), second?.end()])
  rmSync(folder, { recursive: true, force: true })
})

const withPassword = (url: string) => url.replace("//owner@", "//owner:s3cret-of-the-source@")

const move = (...args: ReadonlyArray<string>) =>
  runMax(["move", "--org", "atlas", ...args], { DATABASE_URL: withPassword(first.url), THERE: second.url })

describe("max move --org", () => {
  it("moves an organization under load: nothing acknowledged is lost, no row differs, and another one notices nothing", async () => {
    const seen: Record<string, Array<{ status: number; text: string }>> = { atlas: [], harbor: [] }
    const turns: Array<string> = []
    let suspended = false
    let switches = 0
    const load = { stop: false }
    const looking = ["atlas", "harbor", "atlas", "harbor"].map(async (slug) => {
      while (!load.stop) {
        const { status, text } = await callTool(router, tokens[slug]!, "findEntities", {
          entityTypeId: "people",
          filters: [{ columnId: "email", op: "eq", value: `ada@${slug}.example` }]
        })
        seen[slug]!.push({ status, text })
      }
    })
    const talking = (async () => {
      for (let number = 0; !load.stop; number++) {
        const text = `how many people are called zz${number}y`
        const { status, text: answer } = await ask(router.url, "/v1/chat", {
          body: JSON.stringify({ text }),
          headers: { ...JSON_TYPE, authorization: `Bearer ${tokens["atlas"]}` }
        })
        if (status === 200 && answer.includes("event: done")) turns.push(text)
        else await delay(20)
      }
    })()
    const switching = (async () => {
      while (!load.stop) {
        const members = await here.run(
          Effect.result(
            Effect.flatMap(Memberships, (members) =>
              suspended ? members.resume(atlas, "eve@atlas.example") : members.suspend(atlas, "eve@atlas.example")
            )
          )
        )
        if (members._tag === "Failure") return
        suspended = !suspended
        switches++
        await delay(5)
      }
    })()
    await until(() => seen["atlas"]!.length > 20 && turns.length > 2 && switches > 5)

    const moved = await move("--to", "env:THERE", "--map", map, "--cell", "second", "--json")
    expect([moved.code, moved.stderr]).toEqual([0, expect.any(String)])
    const settled = seen["atlas"]!.length
    await until(() => seen["atlas"]!.length > settled + 20 && turns.length > 3)
    load.stop = true
    await Promise.all([...looking, talking, switching])

    const { figures } = JSON.parse(moved.stdout)
    expect(figures.rows).toBeGreaterThan(ROWS)
    // The short form runs beside other tests.
    expect(figures.window.whole).toBeLessThan(LONG ? 3000 : 60_000)
    const unavailable = seen["atlas"]!.filter(({ status }) => status === 503).length
    console.log(
      JSON.stringify({
        figures,
        unavailable,
        answered: seen["atlas"]!.length,
        other: seen["harbor"]!.length,
        turns: turns.length,
        switches
      })
    )
    expect(seen["harbor"]!.filter(({ status, text }) => status !== 200 || !text.includes("Ada of harbor"))).toEqual([])
    expect(
      seen["atlas"]!.filter(({ status, text }) => status !== 503 && !(status === 200 && text.includes("Ada of atlas")))
    ).toEqual([])
    expect(seen["atlas"]!.at(-1)?.status).toBe(200)
    const kept = new Set(
      (
        await rowsIn<{ asked: string }>(second.url, "SELECT asked FROM max.turns WHERE organization_id = $1::bigint", [
          atlas.id
        ])
      ).map(({ asked }) => asked)
    )
    expect(turns.filter((text) => !kept.has(text))).toEqual([])
    expect(
      await rowsIn(
        second.url,
        "SELECT suspended_at IS NOT NULL AS suspended FROM max.memberships m WHERE anchor_id = (SELECT anchor_id FROM max.identifiers WHERE organization_id = $1::bigint AND key = 'eve@atlas.example')",
        [atlas.id]
      )
    ).toEqual([{ suspended }])
    const verified = await runMax(["audit", "verify", "--org", "atlas"], { DATABASE_URL: second.url })
    expect(verified.code).toBe(0)
    expect(await sumsOf(second.url, atlas)).toEqual(expect.objectContaining({ "data.people": expect.any(Number) }))
    for (const text of [moved.stdout, moved.stderr, first.log(), second.log()])
      expect(text.includes("s3cret-of-the-source")).toBe(false)
    expect(await traces(atlas)).toEqual({ ...NOTHING, triggers: true })
  })

  it("leaves an organization that is unavailable and unchangeable where it was, and says where it went", async () => {
    expect((await lookUp(here, "atlas")).status).toBe(503)
    await expect(
      rowsIn(first.url, "UPDATE data.people SET name = name WHERE organization_id = $1::bigint", [atlas.id])
    ).rejects.toMatchObject({ reason: { cause: { code: "MX002" } } })
    // Statements over all organizations leave it out.
    await here.run(Effect.flatMap(SmsOutbox, (outbox) => outbox.prune(30)))
    const find = ["find", "people", "--as", "ada@atlas.example", "--org", "atlas"]
    const source = { DATABASE_URL: first.url }
    expect((await runMax(find, source)).stderr).toContain("atlas moved to ")
    expect(await doctorSays(first.url)).toContain("its rows are still here")
    expect(await move("--clean")).toMatchObject({ code: 0 })
    expect(await traces(atlas)).toEqual(NOTHING)
    expect(await sumsOf(first.url, atlas)).toEqual({ "max.moves": 1, "max.organizations": 1 })
    expect((await lookUp(here, "atlas")).status).toBe(503)
    expect((await runMax(find, source)).stderr).toContain("atlas moved to ")
    expect((await lookUp(here, "harbor")).status).toBe(200)
  })

  it("moves an organization back to where it came from", async () => {
    const back = await runMax(["move", "--org", "atlas", "--to", "env:THERE", "--map", map, "--cell", "first"], {
      DATABASE_URL: second.url,
      THERE: first.url
    })
    expect(back).toMatchObject({ code: 0 })
    expect((await lookUp(router, "atlas")).text).toContain("Ada of atlas")
    expect((await lookUp(there, "atlas")).status).toBe(503)
  })
})

const lookUp = (server: { readonly url: string }, slug: string) =>
  callTool(server, tokens[slug]!, "findEntities", {
    entityTypeId: "people",
    filters: [{ columnId: "email", op: "eq", value: `ada@${slug}.example` }]
  })

const doctorSays = async (url: string) => (await runMax(["doctor"], { DATABASE_URL: url })).stdout

/** The number of rows of each table that has any of an organization. */
const sumsOf = async (url: string, { id }: Organization): Promise<Readonly<Record<string, number>>> => {
  const tables = await rowsIn<{ name: string }>(
    url,
    `SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'organization_id' WHERE n.nspname IN ('max', 'builder', 'data') AND c.relkind = 'r'`
  )
  const counted = await rowsIn<{ name: string; rows: number }>(
    url,
    tables
      .map(({ name }) => `SELECT '${name}' AS name, count(*)::int AS rows FROM ${name} WHERE organization_id = ${id}`)
      .join(" UNION ALL ")
  )
  return Object.fromEntries(counted.filter(({ rows }) => rows > 0).map(({ name, rows }) => [name, rows]))
}

/** What a move leaves on both servers: subscriptions, publications, slots and triggers. */
const traces = async ({ id }: Organization) => {
  const name = `max_move_${encodeId(id)}`
  const statement = `SELECT EXISTS (SELECT FROM pg_subscription WHERE subname = $1) AS subscription,
    EXISTS (SELECT FROM pg_publication WHERE pubname = $1) AS publication,
    EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1 OR slot_name LIKE 'pg\\_%\\_sync\\_%') AS slots,
    EXISTS (SELECT FROM pg_trigger WHERE tgname IN ($1, $1 || '_rows')) AS triggers`
  const found = await Promise.all([first, second].map(({ url }) => rowsIn<typeof NOTHING>(url, statement, [name])))
  const names = ["subscription", "publication", "slots", "triggers"] as const
  return Object.fromEntries(names.map((key) => [key, found.flat().some((row) => row[key])]))
}

const NOTHING = { subscription: false, publication: false, slots: false, triggers: false }

describe("max move --org that is refused", () => {
  const refused = async (env: Record<string, string>, ...args: ReadonlyArray<string>) => {
    const { code, stderr, stdout } = await runMax(["move", "--to", "env:THERE", ...args], env)
    expect([[1, 2].includes(code ?? 0), stdout]).toEqual([true, ""])
    return stderr
  }
  const scope = Scope.makeUnsafe()
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

  it("names an embedded target by its folder, and the setting that leads commands there", async () => {
    const data = join(folder, "embedded")
    const { code, stderr } = await runMax(["move", "--org", "harbor", "--to", data], {
      DATABASE_URL: first.url,
      MAX_STATE_DIR: join(folder, "state")
    })
    expect([code, stderr]).toEqual([1, expect.stringContaining(`The target, the embedded Postgres in ${data},`)])
    expect(stderr).toContain(`run max migrate with MAX_DATA_DIR=${data}, without DATABASE_URL.`)
    expect(stderr).not.toMatch(/:\d{4,5}\/|with DATABASE_URL set/)
  })

  it("names each condition that doesn't hold, with what mends it, and changes nothing", async () => {
    const fresh = await Effect.runPromise(freshDatabase.pipe(Scope.provide(scope)))
    const between = { DATABASE_URL: first.url, THERE: second.url }
    expect(await refused({ ...between, THERE: fresh }, "--org", "harbor")).toContain("run max migrate")
    expect(await refused({ ...between, THERE: first.url }, "--org", "harbor")).toContain("this very database")
    expect(await refused(between, "--org", "unknown")).toContain("no organization with the slug")
    expect(await refused(between, "--org", "harbor", "--cell", "b")).toContain("--map FILE --cell NAME")
    expect(await refused(between, "--org", "harbor", "--map", "/no/such/map", "--cell", "b")).toContain("--map")
    expect(await refused(between, "--undo")).toContain("--org SLUG")

    // The suite's own server doesn't keep what logical replication needs.
    const small = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
    const init = ["init", "--org", "harbor", "--country", "US", "--time-zone", "UTC"]
    expect(await runMax(init, { DATABASE_URL: small })).toMatchObject({ code: 0 })
    const [level] = await rowsIn<{ wal_level: string }>(small, "SHOW wal_level")
    expect(level!.wal_level).not.toBe("logical")
    expect(await refused({ DATABASE_URL: small, THERE: second.url }, "--org", "harbor")).toContain(
      "ALTER SYSTEM SET wal_level = 'logical'"
    )

    // A target of a user with few rights, a slug that is taken, row-level security, and a mapped type.
    await there.run(makeOrganization("mapped"))
    const mapped = await here.run(makeOrganization("mapped"))
    for (const statement of [
      `INSERT INTO builder.entity_type_versions (organization_id, type_key, version, name, plural_name, relation_schema, relation_table, mapping)
       VALUES (${mapped.id}, 'x', 1, 'X', 'Xs', 'public', 'tickets', '{}')`,
      `INSERT INTO builder.version_refs (organization_id, type_key, source_organization_id, version) VALUES (${mapped.id}, 'x', ${mapped.id}, 1)`
    ])
      await rowsIn(first.url, statement)
    for (const statement of [
      "CREATE ROLE plain LOGIN",
      "GRANT USAGE ON SCHEMA max, builder, data TO plain",
      "GRANT SELECT ON ALL TABLES IN SCHEMA max, builder, data TO plain",
      "ALTER TABLE data.people ENABLE ROW LEVEL SECURITY"
    ])
      await rowsIn(second.url, statement)
    const plain = second.url.replace("//owner@", "//plain@")
    const reasons = await refused({ ...between, THERE: plain }, "--org", "mapped")
    await rowsIn(second.url, "ALTER TABLE data.people DISABLE ROW LEVEL SECURITY")
    for (const words of [
      "GRANT pg_create_subscription TO",
      "another organization with the slug mapped",
      "max migrate --rls off",
      "public.tickets"
    ])
      expect(reasons).toContain(words)

    const release = await hold(first.url, `SELECT pg_advisory_xact_lock(7236912, hashint8(${harbor.id}))`)
    expect(await refused(between, "--org", "harbor")).toContain("An import into harbor is running")
    await release()

    const printed = await runMax(["move", "--org", "harbor", "--to", "env:THERE", "--print"], between)
    expect([printed.code, printed.stdout]).toEqual([
      0,
      expect.stringContaining("WITH (publish = 'insert, update, delete')")
    ])
    expect(await rowsIn(first.url, "SELECT 1 FROM max.moves WHERE organization_id = $1::bigint", [harbor.id])).toEqual(
      []
    )
    expect(await traces(harbor)).toEqual(NOTHING)
  })
})

/** What a stage waits for before its process is killed; statements of the test hold the process there. */
interface Stage {
  readonly name: string
  /** Locks before the start. */
  readonly before?: Held
  /** Locks when the target follows; with them, the fence is held back until they are had. */
  readonly following?: Held
  /** Locks once the organization is closed at the source; `following` is released afterwards. */
  readonly closed?: Held
  /** Whether the process is where it is to be killed. */
  readonly reached: readonly [where: "source" | "target", statement: string] | "following"
  /** Whether the organization is in force at the target by then. */
  readonly inForce?: boolean
}
type Held = readonly [where: "source" | "target", statement: string]

const MOVE = "FROM max.moves WHERE organization_id = $1::bigint"
const SUBSCRIPTIONS: Held = ["target", "LOCK TABLE pg_subscription IN SHARE MODE"]
const APPLYING: Held = ["target", "LOCK TABLE max.audit_log IN SHARE MODE"]

const COPYING: Stage = {
  name: "while rows are copied",
  before: ["target", "LOCK TABLE data.people IN SHARE MODE"],
  reached: [
    "target",
    "SELECT EXISTS (SELECT FROM max.credentials WHERE organization_id = $1::bigint) AND EXISTS (SELECT FROM pg_subscription_rel WHERE srsubstate = 'r')"
  ]
}
const BEHIND_FENCE: Stage = {
  name: "behind the fence",
  following: APPLYING,
  reached: ["source", `SELECT closed ${MOVE}`]
}
const IN_FORCE: Stage = {
  name: "in force at the target, which the source doesn't know",
  following: APPLYING,
  closed: ["source", `SELECT 1 ${MOVE} FOR UPDATE`],
  reached: ["target", `SELECT NOT closed ${MOVE}`],
  inForce: true
}
const OTHERS: ReadonlyArray<Stage> = [
  {
    name: "recorded at the source only",
    before: ["target", "LOCK TABLE max.moves IN EXCLUSIVE MODE"],
    reached: ["source", `SELECT true ${MOVE}`]
  },
  {
    name: "before the publication",
    before: ["source", "LOCK TABLE data.meetings IN SHARE ROW EXCLUSIVE MODE"],
    reached: ["target", `SELECT true ${MOVE}`]
  },
  {
    name: "before the slot",
    before: ["source", "SELECT pg_current_xact_id()::text"],
    reached: ["source", "SELECT EXISTS (SELECT FROM pg_publication) AND $1::bigint > 0"]
  },
  {
    name: "before the subscription",
    before: SUBSCRIPTIONS,
    reached: [
      "source",
      "SELECT EXISTS (SELECT FROM pg_replication_slots WHERE confirmed_flush_lsn IS NOT NULL) AND $1::bigint > 0"
    ]
  },
  {
    name: "before the fence",
    before: ["source", "LOCK TABLE data.meetings IN ROW EXCLUSIVE MODE"],
    reached: "following"
  },
  {
    name: "when all rows agree",
    following: ["target", `SELECT 1 ${MOVE} FOR UPDATE`],
    reached: [
      "target",
      "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%UPDATE max.moves%') AND $1::bigint > 0"
    ]
  },
  {
    name: "before the subscription is dropped",
    following: SUBSCRIPTIONS,
    reached: ["source", `SELECT moved_at IS NOT NULL ${MOVE}`],
    inForce: true
  },
  {
    name: "before the publication is dropped",
    following: ["source", "LOCK TABLE pg_publication IN SHARE MODE"],
    reached: ["target", `SELECT NOT EXISTS (SELECT FROM pg_subscription) ${MOVE} AND NOT closed`],
    inForce: true
  }
]

let victims = 0

describe("max move --org that is killed", () => {
  const urlOf = (where: "source" | "target") => (where === "source" ? first.url : second.url)
  const env = () => ({ DATABASE_URL: first.url, THERE: second.url })

  const newVictim = async () => {
    const slug = `victim${++victims}`
    const organization = await here.run(makeOrganization(slug))
    await here.run(importFile(organization, ["id,name,email", `ada,Ada of ${slug},ada@${slug}.example`]))
    await here.run(importFile(organization, ["id,name,colour", "1,Bolt,red"], { type: "parts", create: true }))
    const { token } = await here.run(memberWithToken(organization, `admin@${slug}.example`, ["admin"]))
    tokens[slug] = token
    return organization
  }

  /** The server continues a killed process's statement until it notices the closed connection. */
  const quiet = () =>
    until(async () => {
      const active = await Promise.all(
        [first, second].map(({ url }) =>
          rowsIn(
            url,
            "SELECT 1 FROM pg_stat_activity WHERE application_name = 'max owner' AND state <> 'idle' AND pid <> pg_backend_pid()"
          )
        )
      )
      return active.flat().length === 0
    })

  const asks = async ([where, statement]: Held, { id }: Organization) => {
    const [row] = await rowsIn(urlOf(where), statement, [id])
    return Object.values(row ?? {})[0] === true
  }
  const holds = ([where, statement]: Held, { id }: Organization) =>
    hold(urlOf(where), statement.replaceAll("$1::bigint", String(id)))

  /** Starts the command and kills it where the stage says. */
  const kill = async (stage: Stage, victim: Organization) => {
    const back =
      stage.following === undefined
        ? undefined
        : await holds(["source", "LOCK TABLE data.meetings IN ROW EXCLUSIVE MODE"], victim)
    const before = stage.before === undefined ? undefined : await holds(stage.before, victim)
    const child = spawnMax(["move", "--org", victim.slug, "--to", "env:THERE"], env())
    let said = ""
    child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()))
    const ended = once(child, "exit")
    if (stage.following !== undefined || stage.reached === "following")
      await until(() => said.includes("The target follows"))
    const following = stage.following === undefined ? undefined : await holds(stage.following, victim)
    await back?.()
    let closed: (() => Promise<void>) | undefined
    if (stage.closed !== undefined) {
      await until(() => asks(["source", `SELECT closed ${MOVE}`], victim))
      closed = await holds(stage.closed, victim)
      await following?.()
    }
    const { reached } = stage
    if (reached !== "following") await until(() => asks(reached, victim))
    child.kill("SIGKILL")
    await ended
    return async () => {
      for (const release of [before, closed, stage.closed === undefined ? following : undefined]) await release?.()
      await quiet()
    }
  }

  /** Undoes the move if that is wanted, runs the command again, and looks at both sides. */
  const recover = async (victim: Organization, undo: boolean, inForce: boolean) => {
    const args = ["move", "--org", victim.slug, "--to", "env:THERE"]
    if (undo) {
      const undone = await runMax([...args, "--undo"], env())
      expect([undone.code, undone.stderr]).toEqual([inForce ? 1 : 0, expect.any(String)])
      if (!inForce) {
        expect(await traces(victim)).toEqual(NOTHING)
        expect(await sumsOf(second.url, victim)).toEqual({})
        expect((await lookUp(here, victim.slug)).text).toContain(`Ada of ${victim.slug}`)
      }
    }
    const again = await runMax(args, env())
    expect([again.code, again.stderr]).toEqual([0, expect.any(String)])
    expect((await lookUp(there, victim.slug)).text).toContain(`Ada of ${victim.slug}`)
    expect((await lookUp(here, victim.slug)).status).toBe(503)
    const { slots: _, ...left } = await traces(victim)
    expect(left).toEqual({ subscription: false, publication: false, triggers: true })
    expect((await runMax(["audit", "verify", "--org", victim.slug], { DATABASE_URL: second.url })).code).toBe(0)
    expect(await runMax(["move", "--org", victim.slug, "--clean"], env())).toMatchObject({ code: 0 })
    return traces(victim)
  }

  it("while rows are copied: the target answers no request with them, imports wait, and an undo leaves nothing", async () => {
    const victim = await newVictim()
    const release = await kill(COPYING, victim)
    expect((await lookUp(there, victim.slug)).status).toBe(503)
    expect((await lookUp(here, victim.slug)).status).toBe(200)
    const more = importFile(victim, ["id,name", "2,Eve"])
    expect(await here.run(Effect.flip(more))).toMatchObject({ message: expect.stringContaining("is being moved") })
    expect(await doctorSays(second.url)).toContain(`${victim.slug} is being copied here`)
    await release()
    expect(await recover(victim, true, false)).toEqual(NOTHING)
  })

  it("behind the fence: doctor says so, and the same command ends it", async () => {
    const victim = await newVictim()
    const release = await kill(BEHIND_FENCE, victim)
    expect((await lookUp(here, victim.slug)).status).toBe(503)
    expect((await lookUp(there, victim.slug)).status).toBe(503)
    expect(await doctorSays(first.url)).toContain("waits for the end of its move")
    await release()
    expect(await recover(victim, false, false)).toEqual(NOTHING)
  })

  it("once it is in force at the target: an undo is refused, and the same command ends it", async () => {
    const victim = await newVictim()
    const release = await kill(IN_FORCE, victim)
    await release()
    expect(await recover(victim, true, true)).toEqual(NOTHING)
  })

  it("anywhere else, in the long form: it ends whole or undone", async () => {
    expect(new Set(OTHERS.map(({ name }) => name)).size).toBe(8)
    const stages = [...OTHERS, COPYING, BEHIND_FENCE, IN_FORCE].slice(0, series({ short: 0, long: 11 }))
    for (const stage of stages)
      for (const undo of [false, true]) {
        const victim = await newVictim()
        console.log(`killed ${stage.name}, then ${undo ? "undone and moved" : "moved"}`)
        const release = await kill(stage, victim)
        await release()
        expect(await recover(victim, undo, stage.inForce === true)).toEqual(NOTHING)
      }
    for (let number = 0; number < series({ short: 0, long: 10 }); number++) {
      const victim = await newVictim()
      const child = spawnMax(["move", "--org", victim.slug, "--to", "env:THERE"], env())
      const ended = once(child, "exit")
      // Counted from its first step, which a busy machine delays.
      await Promise.race([ended, until(() => asks(["source", `SELECT true ${MOVE}`], victim))])
      await Promise.race([ended, delay(number * 300)])
      child.kill("SIGKILL")
      await ended
      await quiet()
      const [row] = await rowsIn(second.url, `SELECT NOT closed AS opened ${MOVE}`, [victim.id])
      const [source] = await rowsIn(first.url, `SELECT moved_at IS NOT NULL AS moved ${MOVE}`, [victim.id])
      console.log(`killed ${number * 300} ms after it began`, JSON.stringify([source, row]))
      if (source?.["moved"] === true && row === undefined) continue
      const undo = source !== undefined && number % 2 === 0
      expect(await recover(victim, undo, row?.["opened"] === true)).toEqual(NOTHING)
    }
  })
})
