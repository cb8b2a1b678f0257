/** What a policy file may hold. Reading, linting and planning are linear in the file within these limits; docs/permissions.md names them. */
export const POLICY = {
  characters: 1_000_000,
  /** Of objects and lists, anywhere in the file. */
  nesting: 128,
  roles: 1000,
  /** Roles in a row, each inheriting the next. */
  inheritance: 32,
  /** Inherited roles of all roles together. */
  inherited: 100_000,
  rules: 10_000,
  /** Rules of one plan: one type and action, one combination of roles. */
  planRules: 1000,
  /** Rules of one plan of a change. */
  changeRules: 500,
  /** Entries of `confirm`. */
  confirm: 200,
  /** Rules of the plans of all roles together. */
  plannedRules: 200_000,
  /** Nested conditions. */
  conditions: 32,
  /** Relations in a row: Postgres takes seconds to plan a chain of twenty. */
  hops: 8,
  tests: 200,
  /** Steps of the linter when it compares rules with each other; beyond that it reports fewer warnings. */
  lintSteps: 5_000_000
}

/** What a tool scope may hold, and the problems that one reading reports. */
export const TOOL_SCOPE = { parts: 1000, characters: 200, problems: 20 }
