// Bundles the tests and the product for mutation testing. Each test file loads on demand with fresh modules for every
// mutant; packages stay external and load once. Runs in Stryker's sandbox.
import { build } from "esbuild"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"

const here = dirname(fileURLToPath(import.meta.url))

/** Tests without a database run first. */
const OFFLINE = [
  "test/database/sql/rows.test.ts",
  "test/database/batchGroups.test.ts",
  "test/database/lookupQueue.test.ts",
  "test/database/sql/orExpansion.test.ts",
  "test/domain/predicate.test.ts",
  "test/database/sql/find.test.ts",
  "test/database/sql/mapped.test.ts",
  "test/permissions/policy.test.ts",
  "test/permissions/refused.test.ts",
  "test/permissions/attributes.test.ts",
  "test/permissions/scope.test.ts",
  "test/services/lookup/views.test.ts",
  "test/permissions/statement.test.ts",
  "test/services/lookup/resolve.test.ts",
  "test/database/sql/prepared.test.ts",
  "test/database/sql/fragments.test.ts",
  "test/permissions/plan.test.ts",
  "test/permissions/check.test.ts",
  "test/conformance/memory.test.ts"
]
const DATABASE = [
  "test/permissions/meaning.test.ts",
  "test/conformance/mapped.test.ts",
  "test/conformance/queries.test.ts",
  "test/conformance/differential.test.ts",
  "test/permissions/replays/columns.test.ts",
  "test/permissions/replays/denials.test.ts",
  "test/services/mapping/desk.test.ts",
  "test/permissions/access.test.ts"
]

// The first round runs offline; survivors run again with all tests.
const chosen = process.env.MUTATION_STAGE === "offline" ? OFFLINE : [...OFFLINE, ...DATABASE]
const files = chosen.map(
  (file) => `${JSON.stringify(file)}: () => { require(${JSON.stringify(resolve(file))}); return take() }`
)

await build({
  stdin: {
    contents: `import { take } from "vitest"\nmodule.exports = { ${files.join(",\n")} }`,
    resolveDir: process.cwd()
  },
  outfile: "mutation.bundle.cjs",
  bundle: true,
  format: "cjs",
  platform: "node",
  target: "node20.19",
  alias: { vitest: join(here, "vitest.mjs"), "@effect/vitest": join(here, "effect-vitest.mjs") },
  packages: "external",
  define: {
    "import.meta.dirname": JSON.stringify(join(process.cwd(), "test/database/sql")),
    "import.meta.url": JSON.stringify(`file://${process.cwd()}/test/permissions/x`)
  },
  logLevel: "warning"
})
