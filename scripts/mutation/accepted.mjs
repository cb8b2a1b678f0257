// Surviving mutants, with the reasons why they can't leak data. The first matching entry applies: `is` is the mutated code,
// `original` a part of it.
const engine = "PermissionEngine.ts"
const scope = "ToolScope.ts"
const where = "readWhere.ts"
const policyReader = "readPolicy.ts"
const ruleReader = "readRules.ts"
const roleReader = "readRoles.ts"
const problems = "PolicyProblems.ts"
const query = "lookup/resolve.ts"
const filter = "resolveFilter.ts"
const visible = "visible.ts"
const sql = "sql/predicate.ts"
const comparisons = "sql/comparisons.ts"
const predicates = "domain/Predicate.ts"
const prepared = "sql/prepared.ts"
const cells = "sql/cells.ts"
const credentials = "access/Credentials.ts"
const admission = "access/Admission.ts"
const authenticate = "http/authenticate.ts"
const visibility = "policies/visibility.ts"
const signature = "sms/twilioSignature.ts"
const webhooks = "sms/webhooks.ts"
const sessions = "conversations/Sessions.ts"
const twilio = "sms/twilio.ts"
const assignments = "sql/assignments.ts"
const write = "sql/write.ts"
const traces = "http/traces.ts"
const settings = "http/settings.ts"
const queue = "database/LookupQueue.ts"
const chat = "http/chat.ts"
const turns = "http/Turns.ts"
const batch = "database/batch.ts"

const allowsAreLists = "publication expands the * of an allow, so only denials contain it"
const replanned = "a view that expires earlier is planned again"
const never = "a comparison with undefined is false, so the check is redundant"
const informational = "rule ids of a plan are informational"
const named = "the plan's name in traces is informational"
const measured = "the planning time is informational"
const wording = "the wording of an error message"
const refusedAnyway = "the problem is already reported, so nothing is published"
const withTarget = "a value has no target, and a relation without one is refused earlier"
const noTarget = "a column without a target matches no type"
const noType = "an unknown type has no plan, which is checked separately"
const counted = "changes only the cache's size limit"
const injective = "the text changes but stays injective"
const later = "a column that isn't a relation is refused on the next line"
const dearer = "recomputes a cached value: the same answer, later"
const measuredAnyway = "measures a plan that can't reach the bound: the same answer, later"
const uncached = "a literal instead of a parameter: the same rows, from a statement of its own"
const sooner = "a shortcut for a single request; the groups are the same"
const only = "only values have a source, so the check is redundant"

export const accepted = [
  { file: "changes/writeUnits.ts", original: `({ units: [{ op }] }) => op === "delete"`, reason: wording },
  { file: "changes/writeUnits.ts", is: `op === "delete"`, replacement: "false", reason: wording },
  {
    file: "changes/writeUnits.ts",
    is: `"delete"`,
    reason: "the wording of an error message; rows that are gone are looked for and not found"
  },
  {
    file: "changes/writeUnits.ts",
    is: `plan.action === "delete"`,
    replacement: "false",
    reason: "rows that are gone are looked for and not found"
  },
  {
    file: "changes/writeUnits.ts",
    is: "id !== null",
    replacement: "true",
    reason: "a new row is assigned no empty reference"
  },
  { file: "changes/writeUnits.ts", is: "[]", reason: "of the rows that are found, nothing but their number counts" },
  { file: "changes/writeUnits.ts", is: "row?.after", reason: "as many rows are written as units, each under its id" },
  {
    file: "changes/writeUnits.ts",
    is: "row === undefined",
    replacement: "false",
    reason: "verify looks for the row once more"
  },
  {
    file: "changes/writeUnits.ts",
    original: "written.length !== units.length",
    reason: "a writable table has one row of an id, which is compared next: this is a second check"
  },
  { file: "changes/writeUnits.ts", is: `"The row"`, reason: "the wording of an error message" },
  {
    file: "changes/writeUnits.ts",
    is: "others.length > 0",
    replacement: "false",
    reason: "verify compares the cells once more, as they are in the end"
  },
  { file: "changes/writeUnits.ts", is: "row?.writable", reason: "the statement returns one row" },
  {
    file: "changes/writeUnits.ts",
    original: "row?.after !== undefined && column",
    reason: "verify compares the cells once more, as they are in the end"
  },
  {
    file: "changes/writeUnits.ts",
    is: "type.mapping !== undefined",
    replacement: "true",
    reason: "a statement that adds a row returns that row alone, also by its id"
  },
  {
    file: "changes/writeUnits.ts",
    original: "assignments.filter(({ column }) => column.storage._tag",
    replacement: "assignments",
    reason: "of a restored row, the statement assigns relations to many only"
  },
  {
    file: "changes/writeUnits.ts",
    is: `column.storage._tag === "Many"`,
    replacement: "true",
    reason: "of a restored row, the statement assigns relations to many only"
  },
  {
    file: "changes/writeUnits.ts",
    is: "row?.organization_id !== writer.catalog.organization.id",
    replacement: "false",
    reason: "the statement finds rows of the organization only: this is a second check"
  },
  {
    file: "changes/writeUnits.ts",
    is: "ids.length === 0",
    replacement: "false",
    reason: "of no ids, no rows are found, as many as were looked for"
  },
  {
    file: "changes/writeUnits.ts",
    is: "carriedOf(type).length === 0",
    replacement: "false",
    reason: "counts the rows of no table"
  },
  {
    file: "changes/writeUnits.ts",
    is: "row.organization_id !== writer.catalog.organization.id",
    replacement: "false",
    reason: "the statement finds rows of the organization only: this is a second check"
  },
  {
    file: "changes/writeUnits.ts",
    is: `"row"`,
    reason: "every reason but the value has the same words"
  },
  {
    file: "changes/apply.ts",
    is: "document.undoes === undefined",
    replacement: "false",
    reason: "JSON leaves an undefined value out"
  },
  {
    file: "changes/writeUnits.ts",
    original: "mapped.length",
    reason: "managed tables have no deferred constraints, and no mapped relation is checked again"
  },
  {
    file: "changes/apply.ts",
    original: "deletedPeople(document.steps",
    reason: "the role is entered in a statement of its own, before anything is written"
  },
  {
    file: "changes/apply.ts",
    is: "deletesPeople",
    replacement: "true",
    reason: "no one is refused, and the role that was entered is entered again"
  },
  {
    file: "changes/apply.ts",
    is: "changeRole !== undefined",
    replacement: "true",
    reason: "NULL as the role sets the one that the connection has"
  },
  {
    file: "changes/apply.ts",
    is: "[]",
    replacement: "Stryker was here",
    reason: "an action of that name isn't among those of a newer version"
  },
  {
    file: "sql/groups.ts",
    original: "text.length > MAX_STATEMENT_LENGTH",
    replacement: ">=",
    reason: "refuses a statement of exactly the bound"
  },
  { file: "sql/groups.ts", is: `"number"`, reason: "only the text of a time depends on the kind" },
  { file: "sql/shownRows.ts", is: `""`, mutator: "StringLiteral", reason: injective },
  { file: "permissions/confirmation.ts", is: "[]", reason: "no change concerns a confirm entry without an action" },
  {
    file: "bindPredicate.ts",
    original: "[...new Set(",
    mutator: "MethodExpression",
    replacement: "[...new Set(",
    reason: "sorting only makes equal plans produce equal texts"
  },
  { file: engine, original: `rule.columns === "*"`, reason: allowsAreLists },
  {
    file: engine,
    original: `rule.columns !== "*"`,
    reason: `"*".includes of a key is false: a deny of rows has no cells`
  },
  { file: engine, original: `"*"`, replacement: `""`, reason: allowsAreLists },
  { file: engine, original: "grants.length === 0", reason: "an empty any is Never, which also hides the column" },
  { file: engine, original: "(rule) => rule.id", reason: informational },
  { file: engine, original: "notBefore !== undefined && ", reason: replanned },
  { file: engine, original: "notBefore !== undefined", replacement: "true", reason: never },
  { file: engine, original: "notAfter !== undefined", replacement: "true", reason: never },
  { file: engine, original: "notBefore > now", reason: replanned },
  { file: engine, original: "notAfter > now", reason: replanned },
  {
    file: engine,
    mutator: "ArrayDeclaration",
    original: "[]",
    reason: "an unknown role still grants nothing"
  },
  {
    file: "bindPredicate.ts",
    original: "column === undefined",
    replacement: "false",
    reason: "without a column there is no value or target, which is checked next"
  },
  {
    file: "bindPredicate.ts",
    original: "binding.me === undefined",
    replacement: "false",
    reason: "undefined is not a value of any column"
  },
  {
    file: "bindPredicate.ts",
    original: "value === undefined",
    replacement: "false",
    reason: "undefined is not a value of any column"
  },
  { file: "permissionPlan.ts", original: "[...a.ruleIds, ...b.ruleIds]", reason: informational },
  {
    file: scope,
    original: `"Granted"`,
    reason: "a scope's plan is only intersected, so any tag but Denied narrows the other plan"
  },
  {
    file: scope,
    mutator: "ArrayDeclaration",
    original: "[]",
    reason: "an unreadable part is already a problem, which voids the scope; rule ids are informational"
  },
  { file: scope, original: `slug === ""`, reason: wording },
  { file: scope, original: `""`, reason: wording },
  { file: scope, original: "slugs.slice(0, 20)", reason: wording },
  {
    file: scope,
    mutator: "EqualityOperator",
    replacement: ">= TOOL_SCOPE",
    reason: "the limit is one lower, which only refuses more"
  },
  { file: "compilable.ts", original: "sum + leafCount(bound)", reason: measuredAnyway },
  { file: "compilable.ts", original: "leaves <= UNMEASURED_LEAVES", reason: measuredAnyway },
  {
    file: "compilable.ts",
    original: `bound._tag === "Always"`,
    reason: "TRUE adds four characters to the measured length"
  },
  { file: "compilable.ts", original: `"Always"`, reason: "TRUE adds four characters to the measured length" },
  {
    file: "compilable.ts",
    original: "> MAX_PLAN_SQL",
    replacement: ">= MAX_PLAN_SQL",
    reason: "the limit is one character lower, which only denies more"
  },
  {
    file: "compilable.ts",
    original: `"subplan"`,
    reason: "measures the shorter of the two shapes; the statement has its own limit"
  },
  { file: "compilable.ts", original: `"$1::bigint"`, reason: "measures slightly fewer characters" },
  { file: "compilable.ts", original: `() => "$2::text"`, reason: "measures slightly more characters" },
  { file: "compilable.ts", original: `"$2::text"`, reason: "measures slightly fewer characters" },
  { file: "rows.ts", original: `storage._tag === "One"`, reason: only },
  { file: "rows.ts", original: `"One"`, reason: only },
  { file: "rows.ts", original: `storage._tag === "Value"`, replacement: "true", reason: only },
  {
    file: "repeatedKey.ts",
    original: "[]",
    reason: "keys occur only in objects, whose set is on top of the stack"
  },
  {
    file: "repeatedKey.ts",
    original: "open.at(-1)?.",
    reason: "a key implies an open object; other texts aren't JSON, which is checked first"
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
  { file: where, original: "peopleOf(catalog)?.key", reason: "people exist since the first migration" },
  {
    file: ruleReader,
    original: "/(Z|[+-]",
    reason: "the format was checked before: other offsets are refused"
  },
  { file: policyReader, original: "(error as Error).message", reason: wording },
  { file: policyReader, original: "fix === undefined", replacement: "false", reason: wording },
  { file: problems, original: "fix === undefined", replacement: "false", reason: wording },
  { file: policyReader, mutator: "ArrayDeclaration", original: "[]", reason: refusedAnyway },
  { file: ruleReader, mutator: "ArrayDeclaration", original: "[]", reason: refusedAnyway },
  { file: ruleReader, mutator: "StringLiteral", original: ".columns`", reason: wording },
  { file: ruleReader, mutator: "StringLiteral", original: ".action`", reason: wording },
  { file: ruleReader, original: `"action"`, reason: wording },
  { file: ruleReader, original: "problems.count > before", reason: refusedAnyway },
  { file: ruleReader, original: "notBefore === undefined", replacement: "false", reason: "undefined is not a time" },
  { file: ruleReader, original: `typeof text === "string"`, replacement: "true", reason: "only strings are times" },
  {
    file: ruleReader,
    original: `typeof slug === "string"`,
    replacement: "true",
    reason: "only strings are columns"
  },
  { file: ruleReader, original: "point.slice(11)", reason: "the date part contains no offset" },
  { file: problems, original: "known.slice(0, 20)", reason: wording },
  { file: "compilable.ts", original: `"p"`, reason: "measures slightly fewer characters" },
  { file: "LookupQueue.ts", original: "shared.size === 0", replacement: "false", reason: sooner },
  {
    file: comparisons,
    original: `storage._tag === "Value"`,
    replacement: "true",
    reason: "only values have a search key"
  },
  { file: cells, original: `storage._tag === "Value" || target === undefined`, reason: withTarget },
  { file: cells, original: `storage._tag === "Value"`, replacement: "true", reason: only },
  { file: cells, original: `storage._tag === "Value"`, replacement: "false", reason: withTarget },
  { file: cells, original: `"Value"`, reason: withTarget },
  { file: cells, original: "target === undefined", replacement: "false", reason: withTarget },
  {
    file: cells,
    original: "nameColumn === undefined",
    replacement: "false",
    reason: "without the column, its mask is Never"
  },
  { file: visible, original: `column.storage._tag === "Value"`, replacement: "false", reason: noTarget },
  { file: visible, original: `"Value"`, replacement: `""`, reason: noTarget },
  { file: visible, original: "type === undefined", replacement: "false", reason: noType },
  { file: query, original: "type !== undefined", replacement: "true", reason: noType },
  {
    file: query,
    original: "columns.slice(0, query.filters.length)",
    replacement: "columns",
    reason: "the `limited` flag also counts the selected columns"
  },
  { file: query, original: "entries.size >= MAX_NAMES", replacement: ">", reason: "caches one more set of names" },
  { file: visible, original: `column.storage._tag === "Value"`, replacement: "true", reason: only },
  { file: filter, original: `column.storage._tag === "Value"`, replacement: "true", reason: only },
  {
    file: prepared,
    mutator: "BooleanLiteral",
    original: "false",
    reason: "an offset matters for times only; a statement of literals is in a cache of its own"
  },
  { file: prepared, original: `kind === "text"`, reason: uncached },
  { file: prepared, original: `storage._tag === "Value"`, reason: uncached },
  {
    file: prepared,
    original: "cursor === undefined",
    reason: "the other variant gets the marker, so the two still differ"
  },
  { file: prepared, original: "statement.text.length + shape.length", reason: counted },
  { file: prepared, original: "cached > MAX_CACHED", replacement: ">=", reason: counted },
  { file: prepared, original: "generation += 1", reason: "any other number serves" },
  { file: predicates, original: "direct !== undefined", reason: injective },
  { file: predicates, original: "cached !== undefined", reason: dearer },
  { file: predicates, original: `bound._tag === "Co`, reason: injective },
  { file: predicates, mutator: "BlockStatement", original: "bound.value.text", reason: injective },
  { file: predicates, mutator: "StringLiteral", replacement: `""`, reason: injective },
  { file: predicates, original: "only !== undefined", reason: "with one part, the general case gives the same result" },
  { file: predicates, original: "a < b", replacement: "<=", reason: "no two values are equal" },
  { file: comparisons, original: `"A parameter holds a pattern"`, reason: wording },
  { file: sql, original: `"Not a `, reason: wording },
  {
    file: comparisons,
    original: "text instanceof Parameter",
    replacement: "false",
    reason: "a parameter always has a pattern"
  },
  { file: sql, original: `storage._tag === "Value"`, replacement: "false", reason: later },
  { file: sql, original: `"Value"`, reason: later },
  { file: sql, original: `storage._tag !== "Many"`, replacement: "false", reason: later },
  {
    file: comparisons,
    original: `typeof text === "string"`,
    replacement: "true",
    reason: "a boolean doesn't consist of digits"
  },
  { file: comparisons, original: `typeof value === "string"`, reason: "values without a plus have one form" },
  { file: comparisons, original: `"+"`, reason: "values without a plus have one form" },
  {
    file: where,
    original: `typeof value === "string" || typeof value === "number"`,
    replacement: "true",
    reason: "other types are not values of any column"
  },
  {
    file: sql,
    original: `"subplan"`,
    replacement: `""`,
    reason: "any shape but array and probe compiles as a subplan"
  },
  { file: "views.ts", original: "process.hrtime.bigint() - started", reason: measured },
  { file: "views.ts", original: "cached !== undefined", reason: named },
  { file: "views.ts", original: `typeof value === "bigint"`, reason: named },
  { file: "views.ts", original: `"bigint"`, reason: named },
  { file: "views.ts", original: "a < b", reason: "any fixed order of the attributes serves; no two names are equal" },
  {
    file: prepared,
    mutator: "ArrayDeclaration",
    original: "[]",
    reason: "a statement without parameters takes no values, and a cached one always has its conditions"
  },
  {
    file: "repeatedKey.ts",
    mutator: "Regex",
    replacement: `\\\\[^])*"?`,
    reason: "a text that ends with a backslash isn't JSON, which is checked first"
  },
  {
    file: "repeatedKey.ts",
    mutator: "Regex",
    replacement: `*"(?:`,
    reason:
      "a text with an unclosed string isn't JSON, which is checked first; test/agents/linear.test.ts bounds the time"
  },
  {
    file: problems,
    original: "this.list.length >= MAX_PROBLEMS",
    reason: "computes a suggestion that isn't listed"
  },
  {
    file: roleReader,
    mutator: "ArrayDeclaration",
    original: "[]",
    reason: "the problem is already reported, or the name is no role's"
  },
  { file: roleReader, mutator: "StringLiteral", original: "roles", reason: wording },
  { file: roleReader, original: `"A role inherits itself."`, reason: wording },
  {
    file: roleReader,
    mutator: "EqualityOperator",
    replacement: ">= POLICY",
    reason: "the limit is one lower, which only refuses more"
  },
  {
    file: roleReader,
    original: "closures.get(b)!.size",
    reason: "the order of the parents doesn't change their union"
  },
  { file: roleReader, original: "!closure.has(parent)", replacement: "true", reason: "adds the same roles again" },
  {
    file: roleReader,
    original: "waiting.get(role)! > 0",
    reason: "a role that doesn't inherit itself is not reported"
  },
  {
    file: roleReader,
    original: "problems.count === before",
    replacement: "false",
    reason: "without an order there is a cycle, whose roles are reported"
  },
  { file: roleReader, mutator: "ArrayDeclaration", original: "[role]", reason: "visits the role once more" },
  { file: authenticate, is: `"max/channels/http/CurrentCaller"`, reason: "the name of a service" },
  { file: authenticate, is: `"traces"`, reason: "decides about the sampling of a trace only" },
  {
    file: authenticate,
    is: "authorization.length <= MAX_CREDENTIAL_LENGTH",
    reason: "a longer credential is verified like any other"
  },
  {
    file: authenticate,
    is: `request.headers["cookie"] === undefined`,
    replacement: "false",
    reason: "without cookies there is no secret, which is checked next"
  },
  {
    file: authenticate,
    is: "secret.length > MAX_CREDENTIAL_LENGTH",
    reason: "a longer credential is verified like any other"
  },
  {
    file: visibility,
    is: "true",
    replacement: "false",
    reason: "an operator's explanation only loses external ids and the values of attributes"
  },
  { file: visibility, is: "!parts.has(type)", replacement: "true", reason: dearer },
  { file: visibility, mutator: "ArrayDeclaration", is: "[]", reason: "an entry without a key is no type" },
  {
    file: visibility,
    is: "visibility.of(type) !== undefined",
    replacement: "true",
    reason: "the type is visible, which is checked before"
  },
  {
    file: visibility,
    is: "target !== undefined",
    replacement: "true",
    reason: "a relation without a target is not visible, which is checked next"
  },
  {
    file: visibility,
    mutator: "OptionalChaining",
    reason: "the type is visible, which is checked before; a relation to a hidden type is hidden"
  },
  {
    file: visibility,
    is: "target === undefined",
    replacement: "false",
    reason: "the relation of a plan has a target"
  },
  {
    file: visibility,
    mutator: "StringLiteral",
    is: `"Never"`,
    reason: "a published policy has no Never: it stands for a refused condition"
  },
  {
    file: authenticate,
    is: `method === "HEAD"`,
    replacement: "false",
    reason: "a HEAD request then needs what a change needs"
  },
  { file: authenticate, is: `"HEAD"`, reason: "a HEAD request then needs what a change needs" },
  { file: authenticate, is: `""`, reason: "no content type and one that isn't JSON are the same" },
  { file: authenticate, is: "!Telemetry.isRecording(fiber)", reason: "decides about spans only" },
  { file: authenticate, original: "max.organization.id", reason: "decides about spans only" },
  {
    file: visibility,
    is: "visibility.isOperator",
    replacement: "false",
    reason: "an operator sees every target, so nothing is limited"
  },
  { file: authenticate, original: "A request that changes something", reason: wording },
  {
    file: credentials,
    is: "organizationId === undefined",
    replacement: "false",
    reason: "without an organization no credential is found"
  },
  {
    file: credentials,
    original: "anchor_id: Schema.String",
    replacement: "{}",
    reason: "a schema without fields passes the statement's own rows through"
  },
  { file: credentials, original: "max/services/", reason: "the name of a service" },
  { file: credentials, original: "Credentials.", reason: "the name of a span" },
  { file: admission, original: "max/services/", reason: "the name of a service" },
  { file: admission, is: `"base64"`, reason: "another text of the hash, with about 100 bits that tell secrets apart" },
  { file: admission, is: "cache.size >= MAX_CACHED", replacement: "false", reason: counted },
  { file: admission, is: "cache.size >= MAX_CACHED", replacement: "cache.size > MAX_CACHED", reason: counted },
  { file: admission, is: "epoch === undefined", reason: "the organization of an admitted caller exists" },
  { file: admission, is: "cached.validUntil > performance.now()", reason: "the last moment of a credential" },
  {
    file: admission,
    original: "claimedRoles === undefined",
    replacement: "false",
    reason: "roles of undefined are none"
  },
  { file: sessions, original: "max/services/", reason: "the name of a service" },
  { file: sessions, original: `"Sessions.`, reason: "the name of a span" },
  { file: sessions, is: "id === undefined", replacement: "false", reason: "no session has the id undefined" },
  { file: twilio, original: "text !== ", reason: "neither null nor undefined, as a text, is a number" },
  { file: twilio, is: "body === undefined", reason: "a body of undefined is none" },
  { file: twilio, is: `""`, replacement: "Stryker", reason: "neither text is an id, a number, a state or a date" },
  { file: twilio, is: "media > 0", replacement: "media >= 0", reason: "no attachments are 0 in either branch" },
  { file: twilio, is: "after !== null", reason: "null, as a text, is no number" },
  { file: signature, is: "[]", reason: "a request's URL begins with the public URL, which matches" },
  { file: signature, is: "[url]", reason: "a request's URL begins with the public URL, which matches" },
  { file: signature, is: "scheme === undefined", reason: "a request's URL begins with the public URL, which matches" },
  { file: signature, mutator: "Regex", reason: "only compares fewer forms of a URL, each with the signature" },
  { file: signature, is: `""`, replacement: "Stryker", reason: "neither text is a signature" },
  { file: signature, is: `"utf8"`, reason: "UTF-8 is the default" },
  { file: webhooks, is: `"POST"`, reason: "decides about the Allow header of another method only" },
  { file: webhooks, original: "text/xml", reason: "the type of an empty reply" },
  { file: webhooks, original: "Check the number's", reason: wording },
  { file: webhooks, is: `""`, reason: "neither text is a phone number" },
  {
    file: webhooks,
    is: "lines.publicUrl === undefined",
    reason: "the signature of a URL without a host isn't Twilio's"
  },
  {
    file: webhooks,
    original: "=> Effect.",
    reason: "the failure is answered with a 500 instead, and Twilio repeats the request"
  },
  { file: assignments, is: `"value"`, reason: "any side but the key reads the value" },
  { file: assignments, is: `"date"`, reason: "the session's date style gives the same text" },
  { file: assignments, original: `storage._tag === "One"`, reason: "a relation has no key column" },
  { file: assignments, is: `"One"`, reason: "a relation has no key column" },
  { file: assignments, is: "text === null", reason: "NULL is NULL in every time zone" },
  { file: assignments, original: `relation.storage._tag !== "Many"`, reason: "only relations to many have links" },
  { file: assignments, original: `storage._tag === "Value"`, reason: withTarget },
  { file: assignments, is: `"Value"`, reason: withTarget },
  { file: assignments, is: "target === undefined", reason: withTarget },
  {
    file: write,
    original: "type.mapping === undefined",
    replacement: "false",
    reason: "no managed column is an enumeration of the host's, so both forms write the same values"
  },
  { file: write, is: "column === undefined", reason: "a plan has no mask of a column that its type doesn't have" },
  {
    file: write,
    is: `"create"`,
    replacement: `""`,
    reason: "only rows of managed types are restored, and all of those can be written"
  },
  { file: assignments, is: `kind === "timestamp"`, replacement: "true", reason: "only times come from a timestamp" },
  {
    file: assignments,
    is: "storage.source?.type",
    reason: "only columns of mapped relations get here, and those have a source"
  },
  {
    file: assignments,
    original: "type.mapping?.write",
    reason: "only types that are deleted by their mapping get here"
  },
  { file: assignments, is: "[]", reason: "only mapped types get here, and a mapping has conditions" },
  {
    file: assignments,
    is: "id !== undefined",
    reason: "without an id there is no other one either, and none is the row's"
  },
  { file: traces, is: "{ failure }", reason: "shows less of a trace" },
  { file: traces, original: "nanoseconds", reason: "shows another duration" },
  { file: traces, original: "problemOf(error)", reason: "the failure is answered with a 500 instead" },
  { file: traces, original: "No trace with this reference", reason: wording },
  { file: traces, is: "() => Stream.empty", reason: "the stream fails instead of ending" },
  { file: traces, original: "left", reason: "the stream then ends after five minutes, or with the access" },
  { file: traces, original: "no", replacement: "", reason: "asks a proxy not to buffer" },
  { file: queue, is: `"first"`, reason: "read only after its lookups have run, which sets it" },
  { file: queue, is: "lookups.outstanding === 0", reason: "keeps the entry of an organization without lookups" },
  { file: queue, is: "first === undefined", reason: "only lookups whose callers don't wait: an empty batch" },
  { file: queue, is: "this.size === 0", reason: sooner },
  { file: queue, is: "first.isAlone === true", reason: "a retried lookup finds no other that fits it" },
  { file: queue, is: "true", reason: "a retried lookup finds no other that fits it" },
  { file: queue, original: "own.waiting.length > 0", reason: "takes nothing from an empty queue" },
  { file: queue, is: "isSame(request)", reason: "changes only the size of a batch" },
  { file: queue, is: "waiting === 1", reason: sooner },
  { file: queue, original: "busyUntil.get", replacement: ">=", reason: "sets an equal time" },
  { file: queue, is: "outstanding > FEW", reason: "the time until which it is busy says the same for a second" },
  { file: queue, is: "until === undefined", reason: never },
  { file: queue, original: "until > this.now()", reason: "the last millisecond of ten seconds" },
  { file: queue, is: "cursor.next === 0", reason: "splice removes the first one, too" },
  { file: queue, is: "waiting.length === 0", reason: "keeps an organization without lookups among the turns" },
  { file: settings, original: "origin !== own?.origin", reason: "isOwnOrigin excludes it on the next use" },
  { file: settings, is: "host !== undefined", replacement: "true", reason: "undefined isn't a name of loopback" },
  { file: settings, original: "max/channels/http/HttpSettings", reason: "the name of a service" },
  { file: chat, is: "first !== undefined", reason: "every turn has an event" },
  { file: chat, original: "none", reason: "the organization alone is read, of no caller" },
  { file: chat, is: "reference === undefined", replacement: "false", reason: "JSON leaves an undefined value out" },
  { file: chat, is: "turn.references ?? []", reason: "an answer is shown with its references" },
  { file: chat, is: "[]", reason: "an answer is shown with its references" },
  { file: turns, original: "max/channels/", reason: "the name of a service" },
  { file: turns, original: "keepAlive()", reason: "a comment every 15 seconds; Listener.test.ts tests what it sends" },
  {
    file: turns,
    is: "turn.following === undefined",
    replacement: "true",
    reason: "a follower without listeners ends by itself"
  },
  {
    file: turns,
    is: "turn.listeners.size === 0",
    replacement: "false",
    reason: "the last listener that leaves ends a follower"
  },
  {
    file: turns,
    is: "false",
    replacement: "true",
    reason: "under vitest, “is stopped where it is followed” fails with it; not in the bundle of the tests"
  },
  { file: turns, original: "events.at(-1)?.event", reason: "a turn with a claim ends with an event" },
  { file: turns, original: "last?._tag", replacement: "last._tag", reason: "a turn with a claim ends with an event" },
  { file: turns, is: `last?._tag === "error"`, reason: "what isn't stored ends with an error" },
  { file: turns, original: `last?._tag === "done"`, reason: "releasing what is stored changes nothing" },
  { file: turns, is: `"done"`, reason: "releasing what is stored changes nothing" },
  { file: turns, is: "last === stopped", reason: "releasing a name that was removed changes nothing" },
  { file: turns, original: "claim === undefined", reason: "releasing what isn't held changes nothing" },
  { file: turns, original: "holder: undefined", replacement: "{}", reason: "without a holder the whole text is read" },
  {
    file: turns,
    original: "turn.following !== undefined",
    replacement: "false",
    reason: "the claim of a turn that is answered fails, and it is followed"
  },
  { file: turns, is: "id !== undefined", replacement: "true", reason: "no turn is looked up by the key undefined" },
  { file: turns, is: "() => turn.finish()", reason: "a turn's last event ends it as well" },
  {
    file: turns,
    is: "true",
    replacement: "false",
    reason: "of a process that has renewed nothing: which error a turn that lost its name ends with"
  },
  { file: turns, is: "held.length === 0", reason: "renewing no claims changes nothing" },
  { file: turns, is: "row.followed", replacement: "true", reason: "the events are written for no reader" },
  { file: turns, original: `"chat"`, reason: "the channel in the record of a change" },
  {
    file: turns,
    is: "existing !== undefined",
    replacement: "false",
    reason: "a turn of this process is found in the database as well"
  },
  { file: turns, is: "row.live", reason: "following reads the events as well" },
  { file: turns, is: `""`, reason: "a list of names isn't by name" },
  {
    file: turns,
    is: "turn !== undefined",
    replacement: "false",
    reason: "the renewal of its claim stops a turn whose name was removed"
  },
  {
    file: turns,
    original: "turn.onInterrupt = stopped",
    reason: "the renewal of its claim stops a turn whose name was removed"
  },
  { file: batch, is: "false", replacement: "true", reason: "whether statements have spans of their own" },
  { file: batch, original: "db.client.connection.wait_time_ms", reason: "an attribute of a span" },
  { file: batch, is: "now - since", reason: "an attribute of a span" },
  {
    file: batch,
    original: "this.scheduled",
    reason: "when a lookup is sent; sending from an empty queue sends nothing"
  },
  {
    file: batch,
    is: "this.queue.size === 0",
    reason: "when a lookup is sent; sending from an empty queue sends nothing"
  },
  {
    file: batch,
    is: "true",
    replacement: "false",
    reason: "a second start in one turn of the loop finds an empty queue"
  },
  { file: batch, is: "this.queue.size === 1", reason: "when lookups are sent, not what they get" },
  {
    file: batch,
    original: "this.first.runs.size + this.second.runs.size",
    reason: "when lookups are sent, not what they get"
  },
  {
    file: batch,
    original: "runs.size < CONCURRENT",
    reason: "how many gather into one statement; the queue bounds what runs"
  },
  {
    file: batch,
    original: "[this.first, this.second].filter",
    reason: "how many gather into one statement; the queue bounds what runs"
  },
  { file: batch, is: "since < oldest", replacement: "since <= oldest", reason: "a difference at one instant" },
  { file: batch, original: "exit.cause.reasons.some", reason: "a statement fails for one reason" }
]
