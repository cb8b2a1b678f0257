// Mutation testing of what decides who sees what; scripts/mutation.mjs runs it. Stryker's own runner for vitest runs no test
// by name on vitest 5, and a process of vitest takes seconds: hence a command that runs the bundled tests.
export default {
  testRunner: "command",
  commandRunner: { command: "node mutation.bundle.mjs" },
  buildCommand: "node scripts/mutation/bundle.mjs",
  // Not those that write, explain or compare policies: whatever they get wrong, what is published is read by these.
  mutate: [
    "src/permissions/bind.ts",
    "src/permissions/Plan.ts",
    "src/permissions/PermissionEngine.ts",
    "src/permissions/ToolScope.ts",
    "src/permissions/where.ts",
    "src/permissions/readPolicy.ts",
    "src/permissions/repeatedKey.ts",
    "src/database/sql/predicate.ts",
    "src/database/sql/rows.ts",
    "src/database/sql/find.ts",
    "src/database/sql/SqlWriter.ts",
    "src/database/sql/compilable.ts",
    "src/domain/Predicate.ts",
    "src/services/resolveQuery.ts",
    "src/services/views.ts"
  ],
  ignorePatterns: ["dist", "dist.*", "docs", "bench", "*.bundle.mjs", "reports"],
  coverageAnalysis: "off",
  incremental: true,
  incrementalFile: "node_modules/.cache/stryker/incremental.json",
  reporters: ["json", "progress-append-only"],
  jsonReporter: { fileName: "node_modules/.cache/stryker/report.json" },
  tempDirName: "node_modules/.cache/stryker/sandbox",
  // Stryker rewrites tsconfig.json through an interface that TypeScript 7 doesn't have; nothing here needs it to.
  tsconfigFile: "none",
  disableTypeChecks: false,
  allowEmpty: true,
  concurrency: 2,
  timeoutMS: 150_000
}
