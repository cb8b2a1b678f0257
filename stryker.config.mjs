// Mutation testing of the code that decides access; scripts/mutation.mjs runs it. Stryker's vitest runner can't select tests
// by name on vitest 5 and takes seconds per mutant, hence our own runner and a bundle of the tests.
import { basename } from "node:path"
import { SERVED } from "./scripts/mutation/suites.mjs"

/** Results and sandboxes; of one work tree, because work trees may share node_modules. */
export const cacheFolder = `node_modules/.cache/stryker/${basename(import.meta.dirname)}`

export default {
  testRunner: "max",
  plugins: ["./scripts/mutation/runner.mjs"],
  buildCommand: "node scripts/mutation/bundle.mjs",
  // Excludes code that edits, explains or compares policies: its mistakes still pass through the code below.
  mutate: [
    "src/permissions/bindPredicate.ts",
    "src/permissions/permissionPlan.ts",
    "src/permissions/PermissionEngine.ts",
    "src/permissions/ToolScope.ts",
    "src/permissions/readWhere.ts",
    "src/permissions/readPolicy.ts",
    "src/permissions/PolicyProblems.ts",
    "src/permissions/readRoles.ts",
    "src/permissions/readRules.ts",
    "src/permissions/confirmation.ts",
    "src/permissions/WritePlan.ts",
    "src/permissions/decide.ts",
    "src/permissions/repeatedKey.ts",
    "src/database/batchGroups.ts",
    "src/database/LookupQueue.ts",
    "src/database/sql/predicate.ts",
    "src/database/sql/rows.ts",
    "src/database/sql/find.ts",
    "src/database/sql/write.ts",
    "src/database/sql/assignments.ts",
    "src/database/sql/cells.ts",
    "src/database/sql/prepared.ts",
    "src/database/sql/orExpansion.ts",
    "src/database/sql/SqlWriter.ts",
    "src/database/sql/compilable.ts",
    "src/channels/http/settings.ts",
    "src/domain/Predicate.ts",
    "src/services/lookup/resolve.ts",
    "src/services/lookup/resolveFilter.ts",
    "src/services/lookup/visible.ts",
    "src/services/lookup/views.ts",
    ...Object.keys(SERVED)
  ],
  ignorePatterns: ["dist", "dist.*", "docs", "bench", "*.bundle.cjs", "reports"],
  coverageAnalysis: "perTest",
  // Restarts the process, because evaluated programs accumulate in memory.
  maxTestRunnerReuse: 150,
  reporters: ["json", "progress-append-only", "survivors"],
  jsonReporter: { fileName: `${cacheFolder}/report.json` },
  tempDirName: `${cacheFolder}/sandbox`,
  // Stryker rewrites tsconfig.json through an interface that TypeScript 7 lacks, and nothing here needs the rewrite.
  tsconfigFile: "none",
  disableTypeChecks: false,
  allowEmpty: true,
  concurrency: Number(process.env.MUTATION_JOBS ?? 2),
  timeoutMS: 60_000,
  dryRunTimeoutMinutes: 15
}
