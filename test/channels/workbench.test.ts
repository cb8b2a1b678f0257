/** A sales company's real CRM, by commands alone: it is read where it lies, beside the checkout, and never copied here. */
import { Effect, Exit, Scope } from "effect"
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { freshDatabase } from "../support/database.ts"

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
})
