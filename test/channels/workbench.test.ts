/** A sales company's real CRM, by commands alone: it is read where it lies, beside the checkout, and never copied here. */
import { Effect, Exit, Scope } from "effect"
import { execFile } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { runMax } from "../support/cli.ts"
import { freshDatabase, migratedDatabase } from "../support/database.ts"

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..")
const data = join(root, "..", "shared", "eval", "workbench")

describe("examples/workbench", () => {
  it("answers 275 of 275 lookups", async () => {
    if (!existsSync(data)) return console.log(`${data} isn't there: the 275 lookups were not run.`)
    const scope = Scope.makeUnsafe()
    const url = await Effect.runPromise(freshDatabase.pipe(Scope.provide(scope)))
    try {
      const { stdout } = await promisify(execFile)(join(root, "examples", "workbench", "run"), [data], {
        env: { ...process.env, DATABASE_URL: url, MAX_LOOKUP_TIMEOUT: "10000" }
      })
      expect(stdout).toContain("275 passed, 0 failed")
    } finally {
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }, 180_000)

  it("answers the same 275 from the company's own files, by two commands that say which header is what", async () => {
    if (!existsSync(data)) return console.log(`${data} isn't there: the 275 lookups were not run.`)
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
      expect(await max(...customers, "--dry-run")).toContain("200 new, 0 changed, 0 as they were")
      expect(await max(...customers)).toContain("200 new, 0 changed, 0 as they were")
      expect(await max(...customers)).toContain("0 new, 0 changed, 200 as they were")
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
  }, 180_000)
})
