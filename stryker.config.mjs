// Mutation testing of what decides who sees what; scripts/mutation.mjs runs it. Stryker's own runner for vitest runs no test
// by name on vitest 5, and takes seconds for each mutant: hence a runner of our own, and the tests as a bundle.
export default {
  testRunner: "max",
  plugins: ["./scripts/mutation/runner.mjs"],
  buildCommand: "node scripts/mutation/bundle.mjs",
  // Not those that write, explain or compare policies: whatever they get wrong, what is published is read by these.
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
    "src/permissions/repeatedKey.ts",
    "src/database/batchGroups.ts",
    "src/database/sql/predicate.ts",
    "src/database/sql/rows.ts",
    "src/database/sql/find.ts",
    "src/database/sql/cells.ts",
    "src/database/sql/prepared.ts",
    "src/database/sql/orExpansion.ts",
    "src/database/sql/SqlWriter.ts",
    "src/database/sql/compilable.ts",
    "src/domain/Predicate.ts",
    "src/services/lookup/resolve.ts",
    "src/services/lookup/resolveFilter.ts",
    "src/services/lookup/visible.ts",
    "src/services/lookup/views.ts"
  ],
  ignorePatterns: ["dist", "dist.*", "docs", "bench", "*.bundle.cjs", "reports"],
  coverageAnalysis: "perTest",
  // Evaluated programs pile up in a process.
  maxTestRunnerReuse: 150,
  reporters: ["json", "progress-append-only", "survivors"],
  jsonReporter: { fileName: "node_modules/.cache/stryker/report.json" },
  tempDirName: "node_modules/.cache/stryker/sandbox",
  // Stryker rewrites tsconfig.json through an interface that TypeScript 7 doesn't have; nothing here needs it to.
  tsconfigFile: "none",
  disableTypeChecks: false,
  allowEmpty: true,
  concurrency: 2,
  timeoutMS: 60_000,
  dryRunTimeoutMinutes: 15
}
