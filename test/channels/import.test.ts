/** Files of every format by the built command line, whose spreadsheet reader is a separate file. */
import { Effect, Exit, Scope } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runMax } from "../support/cli.ts"
import { migratedDatabase } from "../support/database.ts"
import { sheetXml, workbook } from "../support/xlsx.ts"

const scope = Scope.makeUnsafe()
const folder = mkdtempSync(join(tmpdir(), "max-import-command-"))
let env: Record<string, string> = {}

beforeAll(async () => {
  env = { DATABASE_URL: await Effect.runPromise(migratedDatabase.pipe(Scope.provide(scope))) }
  const init = ["init", "--country", "US", "--time-zone", "UTC"]
  expect(await runMax(init, env)).toMatchObject({ code: 2, stderr: expect.stringContaining("--org SLUG") })
  expect(await runMax(init, { ...env, MAX_ORG: "atlas" })).toMatchObject({
    code: 0
  })
})

afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  rmSync(folder, { recursive: true, force: true })
})

describe("max import", () => {
  it("imports a CSV file and a spreadsheet by one command", async () => {
    const [csv, xlsx] = [join(folder, "north.csv"), join(folder, "south.xlsx")]
    writeFileSync(csv, "id,name\nn1,Noah North\n")
    const staff = sheetXml([
      ["id", "name"],
      ["s1", "Sue South"]
    ])
    writeFileSync(xlsx, workbook({ Staff: staff }))
    const imported = await runMax(["import", csv, xlsx, "--type", "people", "--json"], env)
    expect(imported).toMatchObject({ code: 0 })
    expect(JSON.parse(imported.stdout)).toMatchObject({
      inserted: 2,
      files: [{ format: "CSV, commas, UTF-8" }, { format: `XLSX, sheet "Staff"` }]
    })
  })
})
