import { Effect, Exit, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runMax } from "../support/cli.ts"
import { freshDatabase } from "../support/database.ts"
import { fixture } from "../support/fixtures.ts"
import { connectTo } from "../support/newDatabase.ts"

const released = fixture("0001", "data.backup")
const scope = Scope.makeUnsafe()
/** Short, because socket paths are, and accessible to the user that an embedded server runs as under root. */
const home = mkdtempSync("/tmp/max-op-")
const own = { MAX_DATA_DIR: join(home, "own"), MAX_STATE_DIR: join(home, "state") }
let server: Record<string, string> = {}

beforeAll(async () => {
  chmodSync(home, 0o755)
  server = {
    DATABASE_URL: await Effect.runPromise(freshDatabase.pipe(Scope.provide(scope))),
    MAX_LOOKUP_TIMEOUT: "10000"
  }
})

afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(home, { recursive: true, force: true })
})

const ask = ["find", "people", "--select", "email,owner", "--org", "harbor", "--as", "ada@harbor.example", "--json"]

describe("the operator's commands", () => {
  it("move from the embedded Postgres to a server and back, with the same answers and unchanged sources", async () => {
    expect((await runMax(["restore", released], own)).code).toBe(0)
    const before = (await runMax(ask, own)).stdout
    expect(JSON.parse(before).total).toBe(4)
    expect((await runMax(["backup", join(home, "all.backup")], own)).code).toBe(0)
    for (const org of ["harbor", "fjord"]) {
      const records = await runMax(["audit", "list", "--action", "backup", "--org", org, "--json"], own)
      expect(JSON.parse(records.stdout), org).toMatchObject([{ actor: "operator", action: "backup.made" }])
    }
    const there = await runMax(["move", "--to", "env:THERE"], { ...own, THERE: server["DATABASE_URL"]! })
    expect([there.code, there.stdout]).toEqual([0, expect.stringMatching(/counts and checksums agree\.\n$/)])
    expect(there.stderr).not.toContain(server["DATABASE_URL"]!)
    expect((await runMax(ask, server)).stdout).toBe(before)
    const back = await runMax(["move", "--to", join(home, "back"), "--json"], {
      ...server,
      MAX_STATE_DIR: own.MAX_STATE_DIR
    })
    expect([back.code, JSON.parse(back.stdout)]).toEqual([0, expect.objectContaining({ organizations: 2 })])
    expect((await runMax(ask, { ...own, MAX_DATA_DIR: join(home, "back") })).stdout).toBe(before)
    expect((await runMax(ask, own)).stdout).toBe(before)
    expect((await runMax(["audit", "verify", "--org", "harbor"], server)).code).toBe(0)
  })

  it("migrate for as long as it takes, unlike a lookup, which ends after eight seconds", async () => {
    const url = await Effect.runPromise(freshDatabase.pipe(Scope.provide(scope)))
    await Effect.runPromise(
      Effect.gen(function* () {
        const owner = yield* connectTo(url)
        yield* owner`CREATE FUNCTION public.slow() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(8.5); END'`
        yield* owner`CREATE EVENT TRIGGER slow ON ddl_command_start WHEN TAG IN ('CREATE SCHEMA') EXECUTE FUNCTION public.slow()`
      }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
    )
    expect(await runMax(["migrate"], { DATABASE_URL: url })).toMatchObject({ code: 0 })
  })

  it("refuse unusable arguments, with the remedy", async () => {
    for (const [args, words] of [
      [["move", "--to", server["DATABASE_URL"]!], "nothing to move"],
      [["move", "--to", "mysql://x/y"], "--to: Expected postgres://"],
      [["move", "--to", "env:NO_SUCH_VARIABLE"], "env:NAME to name a variable that is set"],
      [["move", "--to", "postgres://a:s3cret@127.0.0.1:9/b"], "nothing listens at this address"],
      [["restore", released], "without max migrate"],
      [["restore", "/no/such/file"], "no such file"],
      [["backup", home], "it is a folder"],
      [["backup", "/proc/x"], "can't be written"],
      [["export", "people", "--org", "harbor", "--out", home], "it is a folder"],
      [["export", "unicorns", "--org", "harbor"], "There is no type"]
    ] as const) {
      const ran = await runMax(args, server)
      expect([ran.code, ran.stdout], args.join(" ")).toEqual([1, ""])
      expect(ran.stderr).toContain(words)
      expect(ran.stderr).not.toMatch(/s3cret|\n\s+at /)
    }
  })

  it("export rows to a file or to standard output, and record it", async () => {
    const out = join(home, "people.csv")
    expect((await runMax(["export", "people", "--org", "harbor", "--out", out], server)).code).toBe(0)
    const printed = await runMax(["export", "people", "--org", "harbor"], server)
    expect(printed.stdout).toBe(readFileSync(out, "utf8"))
    expect((await runMax(["export", "people", "--org", "harbor", "--out", out], server)).stderr).toContain("--force")
    const audit = await runMax(["audit", "list", "--org", "harbor", "--action", "data.exported", "--json"], server)
    expect(JSON.parse(audit.stdout).length).toBeGreaterThanOrEqual(2)
  })

  it("find writes what a member may see as CSV, like an export over HTTP", async () => {
    const out = join(home, "seen.csv")
    const find = ["find", "people", "--select", "email,owner", "--org", "harbor", "--as", "ada@harbor.example"]
    const printed = await runMax([...find, "--csv"], server)
    expect(printed.stdout).toMatch(/^id,email,owner,owner\.name\r\n/)
    expect(printed.stdout.trim().split("\r\n").length).toBe(1 + 4)
    const written = await runMax([...find, "--csv", "--out", out, "--json"], server)
    expect(JSON.parse(written.stdout)).toEqual({ file: out, type: "people", rows: 4 })
    expect(readFileSync(out, "utf8")).toBe(printed.stdout)
    for (const more of [
      ["--csv", "--limit", "3"],
      ["--out", out],
      ["--csv", "--json"]
    ])
      expect((await runMax([...find, ...more], server)).code, more.join(" ")).toBe(2)
  })

  it("doctor exits with 0, or with 1 if a check fails, and creates no database", async () => {
    const well = await runMax(["doctor", "--json"], server)
    expect([well.code, JSON.parse(well.stdout).ok]).toEqual([0, true])
    const none = join(home, "none")
    expect((await runMax(["doctor"], { ...own, MAX_DATA_DIR: none })).code).toBe(0)
    expect(existsSync(none)).toBe(false)
    const down = await runMax(["doctor"], { DATABASE_URL: "postgres://a:s3cret@127.0.0.1:9/b" })
    expect([down.code, down.stdout]).toEqual([
      1,
      expect.stringMatching(/^fail {2}connection .*nothing listens at this address\.\n +→ /)
    ])
  })
})
