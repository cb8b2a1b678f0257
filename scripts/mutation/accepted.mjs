// Mutants that survive and why they don't leak. The first entry that fits a survivor speaks for it.
const engine = "PermissionEngine.ts"
const scope = "ToolScope.ts"
const where = "readWhere.ts"
const policyReader = "readPolicy.ts"
const ruleReader = "readRules.ts"
const problems = "PolicyProblems.ts"
const query = "lookup/resolve.ts"
const filter = "resolveFilter.ts"
const visible = "visible.ts"
const sql = "sql/predicate.ts"
const predicates = "domain/Predicate.ts"
const prepared = "sql/prepared.ts"
const cells = "sql/cells.ts"

const allowsAreLists =
  "the * of an allow is expanded when it is published: only denials keep it, and an allow would show nothing by it"
const replanned = "a view that ends sooner is planned once more"
const never = "undefined is not later than anything: the comparison says the same"
const told = "which rules made a plan is told to operators and decides nothing"
const named = "what a plan is called in traces: told to operators, and decides nothing"
const measured = "how long planning took, which is told and decides nothing"
const wording = "the words of a refusal"
const refusedAnyway = "the mistake is reported by then, and with one nothing is published"
const withTarget = "a value has no target, and a relation without one is refused before"
const noTarget = "what has no target leads to none of the types there are"
const noType = "of a type that isn't there nobody has a plan, which is asked beside"
const counted = "how much is kept before it is let go, more or less"
const injective = "the text is another one, and still no two predicates have the same"
const later = "what is no relation has no column to be compared with: it is refused a line later"
const cast = "times, lists and many references are written without this cast"
const dearer = "found out again instead of being known already: the same answer, later"
const sooner = "one who is alone is seen to be alone sooner; the groups are the same"
const only = "only a value has a source, so that asking for one says the same"

export const accepted = [
  {
    file: "bindPredicate.ts",
    original: "[...new Set(",
    mutator: "MethodExpression",
    replacement: "[...new Set(",
    reason: "the order in a list is for equal plans to have equal texts"
  },
  { file: engine, original: `rule.columns === "*"`, reason: allowsAreLists },
  {
    file: engine,
    original: `rule.columns !== "*"`,
    reason: `"*".includes of a key is false: a deny of rows has no cells`
  },
  { file: engine, original: `"*"`, replacement: `""`, reason: allowsAreLists },
  {
    file: engine,
    original: `"\\n"`,
    reason: "rules are told apart by their place"
  },
  { file: engine, original: "grants.length === 0", reason: "any of no grant is never, which hides the column as well" },
  { file: engine, original: "(rule) => rule.id", reason: told },
  { file: engine, original: "notBefore !== undefined && ", reason: replanned },
  { file: engine, original: "notBefore !== undefined", replacement: "true", reason: never },
  { file: engine, original: "notAfter !== undefined", replacement: "true", reason: never },
  { file: engine, original: "notBefore > now", reason: replanned },
  { file: engine, original: "notAfter > now", reason: replanned },
  {
    file: engine,
    mutator: "ArrayDeclaration",
    original: "[]",
    reason: "a role that no rule is of: a role that isn't in the policy still gives nothing"
  },
  {
    file: "permissionPlan.ts",
    original: "a.limited || b.limited",
    reason: "tells less and shows no more"
  },
  {
    file: "bindPredicate.ts",
    original: "column === undefined",
    replacement: "false",
    reason: "without a column there is no value and no target, which is asked next"
  },
  {
    file: "bindPredicate.ts",
    original: "column === undefined || target",
    mutator: "LogicalOperator",
    reason: "without a column there is no target, and without a target the whole plan is refused"
  },
  {
    file: "bindPredicate.ts",
    original: "target === undefined",
    reason: "the whole plan is refused then: a type that isn't there has no columns"
  },
  {
    file: "bindPredicate.ts",
    original: "binding.me === undefined",
    replacement: "false",
    reason: "what is undefined is no value of any column"
  },
  {
    file: "bindPredicate.ts",
    original: "value === undefined",
    replacement: "false",
    reason: "what is undefined is no value of any column"
  },
  { file: "permissionPlan.ts", original: "[...a.ruleIds, ...b.ruleIds]", reason: told },
  {
    file: scope,
    original: `"Granted"`,
    reason: "a scope's plan is only ever intersected, and what isn't denied is the other plan with less"
  },
  {
    file: scope,
    mutator: "ArrayDeclaration",
    original: "[]",
    reason: "what isn't read is a problem already, and with a problem there is no scope; rule ids are only told"
  },
  { file: scope, original: `slug === ""`, reason: wording },
  { file: scope, original: `""`, reason: wording },
  { file: scope, mutator: "ConditionalExpression", original: `slug === ""`, reason: wording },
  { file: scope, original: "slugs.slice(0, 20)", reason: wording },
  { file: "compilable.ts", original: "sum + leafCount(bound)", reason: dearer },
  { file: "compilable.ts", original: "leaves <= NEVER_TOO_MANY", reason: dearer },
  { file: "compilable.ts", original: `bound._tag === "Always"`, reason: "TRUE has four characters more than nothing" },
  { file: "compilable.ts", original: `"Always"`, reason: "TRUE has four characters more than nothing" },
  {
    file: "compilable.ts",
    original: "> MAX_PLAN_SQL",
    replacement: ">= MAX_PLAN_SQL",
    reason: "one character less than may be: it shows nothing then"
  },
  {
    file: "compilable.ts",
    original: `"subplan"`,
    reason: "measures the shorter of the two shapes; the statement has a bound of its own"
  },
  { file: "compilable.ts", original: `"$1::bigint"`, reason: "measures a few characters less" },
  { file: "compilable.ts", original: `() => "$2::text"`, reason: "measures a few characters more" },
  { file: "compilable.ts", original: `"$2::text"`, reason: "measures a few characters less" },
  { file: "rows.ts", original: `storage._tag === "One"`, reason: only },
  { file: "rows.ts", original: `"One"`, reason: only },
  { file: "rows.ts", original: `storage._tag === "Value"`, replacement: "true", reason: only },
  {
    file: "repeatedKey.ts",
    original: "[]",
    reason: "a key stands in an object, whose keys are on top: what is below is never asked"
  },
  {
    file: "repeatedKey.ts",
    original: "open.at(-1)?.",
    reason: "where a key stands an object is open: without one it isn't JSON, which is asked first"
  },
  { file: "views.ts", original: "last !== undefined && last.state === state", replacement: "false", reason: dearer },
  { file: where, original: `{ _tag: "Never" }`, reason: refusedAnyway },
  { file: where, original: `"Never"`, reason: refusedAnyway },
  { file: where, original: "[]", reason: refusedAnyway },
  { file: where, original: "id === undefined", reason: refusedAnyway },
  { file: where, original: "right === undefined", reason: refusedAnyway },
  { file: where, original: `type.columns[0]?.slug`, reason: wording },
  { file: where, original: `"name"`, reason: wording },
  { file: where, original: `"$me"`, replacement: "``", reason: wording },
  { file: where, original: `column.kind === "reference"`, reason: wording },
  { file: where, original: `"reference"`, reason: wording },
  { file: where, original: "keys.every(isCompareOp)", reason: "both ways it is refused: it isn't all comparisons" },
  { file: where, original: "peopleOf(catalog)?.key", reason: "people are there from the first migration" },
  {
    file: ruleReader,
    original: "/(Z|[+-]",
    reason: "how a time is written was asked before: other offsets are refused"
  },
  { file: policyReader, original: `"policy"`, reason: wording },
  { file: policyReader, original: "(error as Error).message", reason: wording },
  { file: policyReader, original: "fix === undefined", replacement: "false", reason: wording },
  { file: problems, original: "fix === undefined", replacement: "false", reason: wording },
  { file: policyReader, mutator: "ArrayDeclaration", original: "[]", reason: refusedAnyway },
  { file: ruleReader, mutator: "ArrayDeclaration", original: "[]", reason: refusedAnyway },
  { file: ruleReader, mutator: "StringLiteral", original: ".columns`", reason: wording },
  { file: ruleReader, mutator: "StringLiteral", original: ".action`", reason: wording },
  { file: ruleReader, original: `"action"`, reason: wording },
  { file: ruleReader, original: "problems.count > before", reason: refusedAnyway },
  { file: ruleReader, original: "notBefore === undefined", replacement: "false", reason: "undefined is no time" },
  { file: ruleReader, original: `typeof text === "string"`, replacement: "true", reason: "what is no text is no time" },
  {
    file: ruleReader,
    original: `typeof slug === "string"`,
    replacement: "true",
    reason: "what is no text is no column"
  },
  { file: ruleReader, original: "point.slice(11)", reason: "the date has no offset that would be taken for one" },
  { file: problems, original: "known.slice(0, 20)", reason: wording },
  { file: "compilable.ts", original: `"p"`, reason: "measures a few characters less" },
  { file: "batchGroups.ts", original: "requests.length === 1", replacement: "false", reason: sooner },
  { file: "batchGroups.ts", original: "identical.length === 1", replacement: "false", reason: sooner },
  { file: "batchGroups.ts", original: "shared.size === 0", replacement: "false", reason: sooner },
  {
    file: prepared,
    original: "shape === undefined",
    replacement: "false",
    reason: "no statement is cached without a shape"
  },
  {
    file: "find.ts",
    original: `"subplan"`,
    replacement: `""`,
    reason: "neither of the other shapes, which is what it says"
  },
  { file: sql, original: `storage._tag === "Value"`, replacement: "true", reason: "only a value has a key" },
  { file: cells, original: `"CASE"`, replacement: `""`, reason: "brackets around a value" },
  { file: cells, original: `storage._tag === "Value" || target === undefined`, reason: withTarget },
  { file: cells, original: `storage._tag === "Value"`, replacement: "true", reason: only },
  { file: cells, original: `storage._tag === "Value"`, replacement: "false", reason: withTarget },
  { file: cells, original: `"Value"`, reason: withTarget },
  { file: cells, original: "target === undefined", replacement: "false", reason: withTarget },
  {
    file: cells,
    original: "nameColumn === undefined",
    replacement: "false",
    reason: "a type without the column has no plan of its cells, which is never"
  },
  { file: visible, original: `column.storage._tag === "Value"`, replacement: "false", reason: noTarget },
  { file: visible, original: `"Value"`, replacement: `""`, reason: noTarget },
  { file: visible, original: "type === undefined", replacement: "false", reason: noType },
  { file: query, original: "type !== undefined", replacement: "true", reason: noType },
  { file: query, original: "entries.size >= MAX_NAMES", replacement: ">", reason: "one set of names more is kept" },
  {
    file: query,
    original: `filter.op === "eq"`,
    replacement: "true",
    reason: "that all ask for equality is asked beside"
  },
  { file: visible, original: `column.storage._tag === "Value"`, replacement: "true", reason: only },
  { file: filter, original: `column.storage._tag === "Value"`, replacement: "true", reason: only },
  { file: prepared, original: "pattern === undefined", replacement: "true", reason: dearer },
  { file: prepared, mutator: "BooleanLiteral", original: "false", reason: "only of a time does the offset matter" },
  { file: prepared, original: `kind === "text"`, reason: dearer },
  { file: prepared, original: `storage._tag === "Value"`, reason: dearer },
  { file: prepared, original: "cursor === undefined", reason: "the mark stands on the other of the two: they differ" },
  { file: prepared, original: "statement.text.length + shape.length", reason: counted },
  { file: prepared, original: "cached > MAX_CACHED", replacement: ">=", reason: counted },
  { file: prepared, original: "generation += 1", reason: "another number, which is all that is asked" },
  { file: predicates, original: "direct !== undefined", reason: injective },
  { file: predicates, original: "cached !== undefined", reason: dearer },
  { file: predicates, original: `bound._tag === "Co`, reason: injective },
  { file: predicates, mutator: "BlockStatement", original: `typeof bound.value === "object"`, reason: injective },
  { file: predicates, mutator: "BlockStatement", original: "bound.value.text", reason: injective },
  { file: predicates, mutator: "StringLiteral", replacement: `""`, reason: injective },
  { file: predicates, original: "only !== undefined", reason: "of one part the long way comes to the same" },
  { file: predicates, original: "parts.length === 1", reason: "of one part the long way comes to the same" },
  { file: predicates, original: "a < b", replacement: "<=", reason: "no two of them are the same" },
  { file: sql, original: `"A parameter holds a pattern"`, reason: wording },
  { file: sql, original: `"Not a `, reason: wording },
  {
    file: sql,
    original: "text instanceof Parameter",
    replacement: "false",
    reason: "a parameter always has a pattern"
  },
  { file: sql, original: `storage._tag === "Value"`, replacement: "false", reason: later },
  { file: sql, original: `"Value"`, reason: later },
  { file: sql, original: `storage._tag !== "Many"`, replacement: "false", reason: later },
  { file: sql, original: `storage._tag === "Value"`, replacement: "true", reason: only },
  { file: sql, original: `typeof text === "string"`, replacement: "true", reason: "a truth isn't written in digits" },
  { file: sql, original: `"timestamptz"`, reason: cast },
  { file: sql, mutator: "StringLiteral", original: `"text"`, reason: cast },
  { file: sql, mutator: "StringLiteral", original: `"bigint"`, reason: cast },
  { file: sql, original: `typeof value === "string"`, reason: "what has no plus is written in one way" },
  { file: sql, original: `"+"`, reason: "what has no plus is written in one way" },
  {
    file: where,
    original: `typeof value === "string" || typeof value === "number"`,
    replacement: "true",
    reason: "what is none of them is no value of any column either"
  },
  {
    file: sql,
    original: `"subplan"`,
    replacement: `""`,
    reason: "what is neither array nor probe is written as a subplan"
  },
  { file: "views.ts", original: "process.hrtime.bigint() - began", reason: measured },
  { file: "views.ts", original: "cached !== undefined || planned === undefined", reason: named },
  { file: "views.ts", original: "cached !== undefined", reason: named },
  { file: "views.ts", original: `typeof value === "bigint"`, reason: named },
  { file: "views.ts", original: `"bigint"`, reason: named },
  { file: "views.ts", original: "value instanceof Map", reason: named },
  { file: "views.ts", original: "[...value]", reason: named },
  { file: "views.ts", original: "(_: string, value: unknown)", reason: named },
  { file: "views.ts", original: `"hex"`, reason: named }
]
