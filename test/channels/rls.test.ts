/** Row-level security on the command line: from an empty database to a lookup, with it on. */
import { Effect, Exit, Scope } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runMax } from "../support/cli.ts"
import { freshDatabase } from "../support/database.ts"

const scope = Scope.makeUnsafe()
const folder = mkdtempSync(join(tmpdir(), "max-rls-"))
let env: Record<string, string> = {}
const max = (...args: ReadonlyArray<string>) => runMax(args, env)

beforeAll(async () => {
  const url = await Effect.runPromise(freshDatabase.pipe(Scope.provide(scope)))
  env = { DATABASE_URL: url, MAX_LOOKUP_TIMEOUT: "10000" }
})

afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

describe("max migrate --rls", () => {
  it("switches row-level security without changing any result", async () => {
    expect((await max("migrate", "--print", "--rls", "on")).stdout).toContain("FORCE ROW LEVEL SECURITY")
    expect(await max("migrate", "--rls", "perhaps")).toMatchObject({ code: 2, stdout: "" })
    expect((await max("migrate", "--rls", "on")).stderr).toContain("Row-level security is on")
    const people = join(folder, "people.csv")
    writeFileSync(people, "id,name,email\n1,Ada Lovelace,ada@example.com\n2,Bob Stone,bob@example.com\n")
    for (const command of [
      ["init", "--org", "atlas", "--country", "US", "--time-zone", "America/New_York"],
      ["import", people, "--type", "people"],
      ["member", "add", "ada@example.com", "--role", "admin"]
    ]) {
      expect((await max(...command)).code, command.join(" ")).toBe(0)
    }
    const asked = () => max("find", "people", "--as", "ada@example.com", "--json")
    const on = await asked()
    expect(JSON.parse(on.stdout)).toMatchObject({ total: 2 })
    expect((await max("member", "list")).stdout).toContain("Ada Lovelace")
    expect((await max("migrate", "--rls", "on")).stderr).toContain("unchanged")
    expect((await max("migrate", "--rls", "off")).stderr).toContain("Row-level security is off")
    expect((await asked()).stdout).toBe(on.stdout)
    expect((await max("audit", "list")).stdout).toContain("row_security.off")
  })
})
