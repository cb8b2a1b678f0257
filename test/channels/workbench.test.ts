/** WorkBench, a sales company's public CRM data, imported and looked up by commands alone. */
import { Effect, Exit, Scope } from "effect"
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { runMax } from "../support/cli.ts"
import { freshDatabase, migratedDatabase } from "../support/database.ts"
import { fixture } from "../support/fixtures.ts"

const root = join(import.meta.dirname, "..", "..")
const data = fixture("workbench")

describe("examples/workbench", () => {
  it("answers 275 of 275 lookups", async () => {
    const scope = Scope.makeUnsafe()
    const url = await Effect.runPromise(freshDatabase.pipe(Scope.provide(scope)))
    try {
      const { stdout } = await promisify(execFile)(join(root, "examples", "workbench", "run"), [], {
        env: { ...process.env, DATABASE_URL: url, MAX_LOOKUP_TIMEOUT: "10000" }
      })
      expect(stdout).toContain("275 passed, 0 failed")
    } finally {
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  })

  it("answers the same 275 lookups from the original CSV files, mapped by two commands", async () => {
    const scope = Scope.makeUnsafe()
    const folder = mkdtempSync(join(tmpdir(), "max-workbench-"))
    try {
      const url = await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope)))
      const max = async (...args: ReadonlyArray<string>) => {
        const { code, stderr, stdout } = await runMax(args, { DATABASE_URL: url, MAX_LOOKUP_TIMEOUT: "10000" })
        expect(code, `max ${args.join(" ")}\n${stderr}`).toBe(0)
        return stdout
      }
      const members = join(folder, "members.csv")
      const staff = readFileSync(join(data, "email_addresses.csv"), "utf8").trim().split("\n")
      writeFileSync(
        members,
        ["identifier,role", ...staff.map((email) => `${email.trim()},member`), "admin@atlas.com,admin"].join("\n")
      )
      const cases = ["by-phone", "anchor", "scoped"].map((name) => join(data, `${name}.cases.jsonl`))
      const map = (...pairs: ReadonlyArray<string>) => pairs.flatMap((pair) => ["--map", pair])

      await max("init", "--org", "atlas", "--country", "US", "--time-zone", "America/New_York")
      await max("import", join(data, "seed_people_workbench_staff.jsonl"), "--type", "people", "--ignore", "company")
      const customers = [
        "import",
        join(data, "customer_relationship_manager_data.csv"),
        "--type",
        "people",
        ...map("customer_id=id", "customer_name=name", "customer_email=email", "customer_phone=phone"),
        ...map("assigned_to_email=owner:people.email"),
        "--id-prefix",
        "wb:cust:",
        "--create"
      ]
      expect(await max(...customers, "--dry-run")).toContain("200 new, 0 changed, 0 unchanged")
      expect(await max(...customers)).toContain("200 new, 0 changed, 0 unchanged")
      expect(await max(...customers)).toContain("0 new, 0 changed, 200 unchanged")
      const calendar = await max(
        "import",
        join(data, "calendar_events.csv"),
        "--type",
        "meetings",
        ...map("event_id=id", "event_name=name", "participant_email=attendees:people.email", "event_start=start"),
        "--id-prefix",
        "wb:meet:",
        "--create"
      )
      expect(calendar).toContain("300 new")
      await max("policy", "publish", join(root, "examples", "workbench", "policy.json"))
      await max("member", "add", "admin@atlas.com", "--role", "admin", "--create", "--name", "Atlas Admin")
      await max("member", "sync", members)
      expect(await max("eval", "--as", "admin@atlas.com", ...cases)).toContain("275 passed, 0 failed")
    } finally {
      await Effect.runPromise(Scope.close(scope, Exit.void))
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
