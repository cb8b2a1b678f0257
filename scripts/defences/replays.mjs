// Replays of published vulnerabilities: each names its test, its defence, and the patch that removes the defence.
import { administrators } from "./administrators.mjs"
import { moves } from "./moves.mjs"
import { providers } from "./providers.mjs"

const bind = "src/permissions/bindPredicate.ts"
const engine = "src/permissions/PermissionEngine.ts"
const find = "src/database/sql/find.ts"
const replicaReads = "src/services/lookup/replicaReads.ts"
const cells = "src/database/sql/cells.ts"
const database = "src/database/Database.ts"
const views = "src/services/lookup/views.ts"
const resolve = "src/services/lookup/resolve.ts"
const filters = "src/services/lookup/resolveFilter.ts"
const visible = "src/services/lookup/visible.ts"
const state = "src/services/catalog/OrganizationState.ts"
const identity = "src/services/members/IdentityResolver.ts"
const values = "src/domain/values.ts"
const rowSecurity = "src/database/rowSecurity.ts"
const sessions = "src/services/conversations/storeTurns.ts"
const names = "src/services/conversations/TurnNames.ts"
const namedTurns = "test/channels/http/namedTurns.test.ts"
const rows = "src/database/sql/rows.ts"
const sensitive = "test/services/mapping/sensitive.test.ts"
const held = "src/services/mapping/sensitive.ts"
const recheck = "test/services/mapping/recheck.test.ts"
const mappedRelations = "src/database/migrations/0017_mapped_relations.ts"

const denials = "test/permissions/replays/denials.test.ts"
const columns = "test/permissions/replays/columns.test.ts"
const states = "test/permissions/replays/states.test.ts"
const access = "test/permissions/access.test.ts"
const regressions = "test/services/lookup/store-regressions.test.ts"
const desk = "test/services/mapping/desk.test.ts"
const relations = "test/services/mapping/relations.test.ts"
const hostileOwner = "test/channels/http/hostileOwner.test.ts"
const scope = "test/permissions/scope.test.ts"
const rowSecurityTest = "test/database/rowSecurity.test.ts"
const basis = "test/channels/http/basis.test.ts"
const large = "test/permissions/large.test.ts"
const spreadsheets = "test/services/import/hostile-spreadsheets.test.ts"
const scan = "src/services/import/readers/scanXml.js"
const reader = "src/services/import/readers/spawnReader.ts"
const lookupQueue = "src/database/LookupQueue.ts"
const fairness = "test/database/fairness.test.ts"
const locks = "test/database/locks.test.ts"

const smsCodes = "src/services/texting/SmsCodes.ts"
const smsProcessor = "src/channels/sms/SmsProcessor.ts"
const confirmingByText = "test/channels/sms/confirming.test.ts"
const decide = "src/permissions/decide.ts"
const write = "src/database/sql/write.ts"
const writePlan = "test/permissions/writePlan.test.ts"
const writes = "test/conformance/writes.test.ts"
const apply = "src/services/changes/apply.ts"
const changeOutbox = "src/services/changes/calls/ChangeOutbox.ts"
const approverWebhook = "src/services/changes/calls/ApproverWebhook.ts"
const actionGuards = "test/services/actions/guards.test.ts"
const outboxTest = "test/services/actions/outbox.test.ts"
const setup = "src/services/onboarding/Setup.ts"
const providersTest = "test/channels/http/providers.test.ts"
const setupTest = "test/channels/http/setup.test.ts"
const writeUnits = "src/services/changes/writeUnits.ts"
const intakeTest = "test/channels/http/intake.test.ts"
const signatures = "src/channels/intake/signatures.ts"
const mappedChanges = "test/services/changes/mapped.test.ts"
const mappedRows = "test/services/changes/mappedRows.test.ts"
const mappingWrites = "test/services/mapping/write.test.ts"
const decisions = "src/services/changes/decisions.ts"
const changesTest = "test/services/changes/Changes.test.ts"
const approvalTest = "test/services/changes/approval.test.ts"
const refusalsTest = "test/services/changes/refusals.test.ts"
const filtersTest = "test/conformance/filters.test.ts"
const groups = "src/database/sql/groups.ts"
const shownRows = "src/database/sql/shownRows.ts"
const figuresTest = "test/conformance/figures.test.ts"
const shownFigures = "every group and figure is what the oracle adds up in the table that is shown to the caller"
const groupsTest = "test/services/lookup/groups.test.ts"
const shownTable = "every filter finds what the oracle finds in the table that is shown to the caller"
const exportTest = "test/channels/http/export.test.ts"
const officeTest = "test/channels/http/office.test.ts"
const administration = "src/services/administration/Administration.ts"
const invitationsTest = "test/channels/http/invitations.test.ts"
const invitationListsTest = "test/channels/http/invitationLists.test.ts"
const unclearTest = "test/services/administration/unclearQuestions.test.ts"
const policyEditorTest = "test/channels/http/policyEditor.test.ts"
const publishing = "src/services/changes/publishing.ts"
const publishingTest = "test/services/changes/publishing.test.ts"
const connectionsTest = "test/channels/http/connections.test.ts"
const importsTest = "test/channels/http/imports.test.ts"
const storing = "src/database/migrations/0047_proposals_in_one_row.ts"
const passkeysTest = "test/channels/http/passkeys.test.ts"
const mcpChanges = "test/channels/http/mcpChanges.test.ts"
const racesTest = "test/services/changes/races.test.ts"

/** The planner that looks for a rule before and for another one after the change. */
const DECOUPLED = [
  `covering.some((rule) => rule.effect === "allow" && holds(rule)) &&`,
  `covering.some((rule) => rule.effect === "allow" && isTrue(rule.before, bits.before)) &&
      covering.some((rule) => rule.effect === "allow" && isTrue(rule.after, bits.after)) &&`
]

export const replays = [
  {
    name: "An allowed origin on the same site used the session cookie (our own review)",
    test: ["test/web/embed.test.ts", "changes nothing and reads nothing with it"],
    defence: "authenticate.ts `isOwnPage`: the cookie counts for Max's own origin only",
    removed: "the comparison of origins",
    patches: [
      ["src/channels/http/authenticate.ts", "return origin === undefined || isOwnOrigin(origin, host)", "return true"],
      [
        "src/channels/http/authenticate.ts",
        `if (site !== undefined && site !== "same-origin" && site !== "none") return false`,
        ""
      ],
      [
        "src/channels/http/authenticate.ts",
        "origin !== undefined && isOwnPage(request, settings) && (requestedWith !== undefined || JSON_TYPE.test(type))",
        "origin !== undefined"
      ]
    ]
  },
  {
    name: "A change with the cookie by a request that needs no preflight (our own review)",
    test: ["test/channels/http/admin.test.ts", "requires the own origin and a header of the page"],
    defence: "authenticate.ts `isOwnChange`: X-Requested-With or a JSON body",
    removed: "the required header",
    patches: [["src/channels/http/authenticate.ts", " && (requestedWith !== undefined || JSON_TYPE.test(type))", ""]]
  },
  {
    name: "A request with two Host headers (our own review)",
    test: ["test/channels/http/tools.test.ts", "is refused with a 400 on every path, in either order"],
    defence: "edge.ts `repeatedHeader`: a header with one value may be sent once",
    removed: "the refusal",
    patches: [["src/channels/http/edge.ts", "if (seen.has(name) && SINGLE_HEADERS.has(name)) return name", ""]]
  },
  {
    name: "Cerbos #917, CASL #170: a policy without rules or with denials alone allowed everything",
    test: [denials, "Cerbos #917"],
    defence: "PermissionEngine.ts `planFor`: no allow, no access",
    removed: "the denial, and the empty disjunction being false",
    patches: [
      [engine, `if (allows.length === 0) return denied("no-rule", expiresAt)`, ""],
      [
        engine,
        "any(...granted.map((grant) => grant.where)),",
        "granted.length === 0 ? ALWAYS : any(...granted.map((grant) => grant.where)),"
      ],
      [
        engine,
        "if (grants.length === 0) return [column.key, NEVER]",
        "if (grants.length === 0 && granted.length > 0) return [column.key, NEVER]"
      ],
      [engine, "import { all, any,", "import { all, ALWAYS, any,"]
    ]
  },
  {
    name: "feathers-casl PR 149: denials were lost in list queries",
    test: [denials, "feathers-casl PR 149"],
    defence: "PermissionEngine.ts `planFor`: denials are part of the row predicate",
    removed: "denials of rows",
    patches: [[engine, `...refused.filter(({ rule }) => rule.columns === "*").map(({ unless }) => unless)`, ""]]
  },
  {
    name: "GHSA-hm46-7j72-rpv9: a forbid that couldn't be evaluated was skipped",
    test: [denials, "GHSA-hm46-7j72-rpv9"],
    defence: "bindPredicate.ts: unknown denies, in allows and denies",
    removed: "unknown in a deny",
    patches: [[bind, "const unknown = must ? NEVER : ALWAYS", "const unknown = must && positive ? NEVER : ALWAYS"]]
  },
  {
    name: "CVE-2022-21646: a wildcard in an exclusion was ignored",
    test: [denials, "CVE-2022-21646"],
    defence: "PermissionEngine.ts `planFor`: a deny with * hides rows",
    removed: "the case of *: a deny hides only listed columns",
    patches: [[engine, `...refused.filter(({ rule }) => rule.columns === "*").map(({ unless }) => unless)`, ""]]
  },
  {
    name: "WaveHouse #223: omitted columns meant all columns",
    test: [denials, "WaveHouse #223"],
    defence: "resolve.ts: a column is shown only if it is selected by a visible name",
    removed: "an empty selection becomes every column",
    patches: [
      [
        resolve,
        "const requested = query.selectColumns ?? []",
        `const requested = query.selectColumns?.length ? query.selectColumns : type.columns.filter(({ storage }) => storage._tag === "Value").map(({ slug }) => slug)`
      ],
      [
        resolve,
        "new Map(visibleColumns(visibleType, visible).map((column) => [column.slug, column]))",
        "new Map(type.columns.map((column) => [column.slug, column]))"
      ],
      [visible, "plan.cells.get(column.key) ?? NEVER", "plan.cells.get(column.key) ?? ALWAYS"]
    ]
  },
  {
    name: "CVE-2026-1774: prototype pollution through rules",
    test: [denials, "CVE-2026-1774"],
    defence: "bindPredicate.ts `operandValue`, PermissionEngine.ts: own properties only",
    removed: "Object.hasOwn",
    patches: [
      [
        bind,
        "Object.hasOwn(binding.attributes, operand.name) ? binding.attributes[operand.name] : undefined",
        "binding.attributes[operand.name]"
      ],
      [engine, "Object.hasOwn(policy.roles, role) ? policy.roles[role]! : []", "policy.roles[role] ?? []"]
    ]
  },
  {
    name: "5 <= NaN (our own review)",
    test: [denials, "five isn't at most NaN"],
    defence: "domain/values.ts `bindScalar`: numbers must be finite",
    removed: "the check",
    patches: [
      [values, `if (typeof value === "number" && !Number.isFinite(value)) return undefined`, ""],
      [values, "text !== undefined && DECIMAL.test(text) ? text : undefined", "text"]
    ]
  },
  {
    name: "Directus #23894: a search matched a hidden column",
    test: [columns, "Directus #23894"],
    defence: "resolve.ts: a filter is ANDed with its column's mask",
    removed: "the mask of a filter",
    patches: [
      [resolve, "filters.push(both(maskOf(plan, column), condition.success))", "filters.push(condition.success)"]
    ]
  },
  {
    name: "Directus #15437, ZenStack #1454: a filter reached through an unreadable relation",
    test: [columns, "Directus #15437"],
    defence: "resolveFilter.ts `someTarget`, `contains`: a filter on a relation is ANDed with the target's plan",
    removed: "the target's row predicate and the mask of its name",
    patches: [
      [filters, "all<Parameter>(plan.where, ...conditions)", "all<Parameter>(...conditions)"],
      [filters, "(part) => [part, maskOf(plan, name)]", "(part) => [part]"]
    ]
  },
  {
    name: "CVE-2024-34708: an alias exposed a hidden column",
    test: [columns, "CVE-2024-34708"],
    defence: "cells.ts `underMask`: every cell is selected under its mask",
    removed: "the mask of a cell",
    patches: [
      [
        cells,
        'return `CASE WHEN ${fragment(mask, type, alias, { ...context, hops: "probe" })} THEN ${value} END`',
        "return value"
      ]
    ]
  },
  {
    name: "frappe PR 40515, DAB #3554: an order by a hidden column",
    test: [columns, "frappe PR 40515"],
    defence: "resolve.ts: an order is a filter under its mask",
    removed: "the mask of a range",
    patches: [
      [
        resolve,
        "filters.push(both(maskOf(plan, column), condition.success))",
        `filters.push(query.filters[index]!.op === "eq" ? both(maskOf(plan, column), condition.success) : condition.success)`
      ]
    ]
  },
  {
    name: "ZenStack #814: a mask was lost when the row was shown as a relation",
    test: [columns, "ZenStack #814"],
    defence: "cells.ts `cell`: a related row's name has the mask of its type",
    removed: "the mask of the name",
    patches: [
      [
        cells,
        '`CASE WHEN ${fragment(target.name, target.type, other, inner)} THEN ${columnReference(nameColumn, other, "value", context)} END`',
        'columnReference(nameColumn, other, "value", context)'
      ]
    ]
  },
  {
    name: "Prisma: undefined in a filter meant no filter",
    test: [columns, "Prisma"],
    defence: "queryFault.ts, resolve.ts: an unreadable filter is an error",
    removed: "the check of their form; filters with undefined are dropped",
    patches: [
      ["src/services/lookup/queryFault.ts", "!Array.isArray(filters) || !filters.every(isFilter)", "false"],
      [
        resolve,
        "    const requested =",
        "    query = { ...query, filters: (query.filters ?? []).filter(({ columnId, op, value }) => columnId !== undefined && op !== undefined && value !== undefined) }\n    const requested ="
      ],
      [resolve, "if (query.filters.length > MAX_FILTERS)", "if ((query.filters ?? []).length > MAX_FILTERS)"]
    ]
  },
  {
    name: "CVE-2026-33729: two queries had one cache key",
    test: [access, "CVE-2026-33729"],
    defence: "views.ts `viewKey`: an injective serialization of the whole principal",
    removed: "attributes as a list of pairs (here: joined by commas)",
    patches: [[views, "    attributesOf(principal),", `    attributesOf(principal).join(","),`]]
  },
  {
    name: "CVE-2024-56323: context wasn't part of the cache key",
    test: [access, "CVE-2024-56323"],
    defence: "views.ts `viewKey`: the actor is part of the key",
    removed: "the actor's attributes",
    patches: [[views, ", attributesOf(principal.actor)]", "]"]]
  },
  {
    name: "CVE-2026-34972: checks of one batch collided",
    test: [states, "CVE-2026-34972"],
    defence: "views.ts `viewKey`: each call has the view of its own attributes",
    removed: "attributes",
    patches: [[views, "    attributesOf(principal),\n", ""]]
  },
  {
    name: "CVE-2023-2455: a plan was reused for another role",
    test: [states, "CVE-2023-2455"],
    defence: "views.ts `viewKey`: roles",
    removed: "roles",
    patches: [[views, "    principal.roles.toSorted(),\n", ""]]
  },
  {
    name: "CVE-2023-2455 again: concurrent callers in one process",
    test: [access, "CVE-2023-2455"],
    defence: "views.ts `viewKey`: the anchor",
    removed: "the anchor and the attributes",
    patches: [
      [
        views,
        "    principal.anchorEntityId,\n    principal.roles.toSorted(),\n    attributesOf(principal),\n",
        "    principal.roles.toSorted(),\n"
      ]
    ]
  },
  {
    name: "GHSA-56p6-qw3c-fq2g: a suspended session stayed valid",
    test: [access, "GHSA-56p6-qw3c-fq2g"],
    defence: "OrganizationState.ts: only active memberships are read",
    removed: "suspended_at IS NULL",
    patches: [[state, " AND s.suspended_at IS NULL", ""]]
  },
  {
    name: "The same, in a process with a cached plan",
    test: [access, "GHSA-56p6-qw3c-fq2g"],
    defence: "find.ts: the statement that reads checks the epoch",
    removed: "the guard",
    patches: [[find, "o.epoch = ${epoch} AND NOT pg_is_in_recovery() AS fresh", "${epoch} IS NOT NULL AS fresh"]]
  },
  {
    name: "The same, with a concurrent suspension",
    test: [access, "a suspension between planning and reading"],
    defence: "find.ts: the statement that reads checks the epoch",
    removed: "the guard",
    patches: [[find, "o.epoch = ${epoch} AND NOT pg_is_in_recovery() AS fresh", "${epoch} IS NOT NULL AS fresh"]]
  },
  {
    name: "A suspension under the load of 32 callers",
    test: [states, "thirty-two callers"],
    defence: "Memberships.ts `suspend`: the epoch rises in the same transaction",
    removed: "the new epoch",
    patches: [["src/database/epoch.ts", "SET epoch = ${nextId()}::bigint WHERE", "SET epoch = epoch WHERE"]]
  },
  {
    name: "A plan outlived a time-bound rule (our own review)",
    test: [access, "a rule begins and ends on time"],
    defence: "views.ts: a view expires at the next time bound of its rules",
    removed: "the expiry",
    patches: [
      [views, "last.state === state && last.expiresAt() > now", "last.state === state"],
      [views, "cached !== undefined && cached.expiresAt() > now ? cached", "cached !== undefined ? cached"]
    ]
  },
  {
    name: "A race between reading the policy and the epoch (our own review)",
    test: [states, "a barrier"],
    defence: "OrganizationState.ts `read`: one statement",
    removed: "the single statement: a second one reads the epoch",
    patches: [
      [
        state,
        "        if (row === undefined) return yield* NotAdmitted.error\n",
        '        if (row === undefined) return yield* NotAdmitted.error\n        const [now] = yield* orUnavailable(search.unsafe<{ epoch: bigint }>("/* max epoch */ SELECT epoch FROM max.organizations WHERE organization_id = $1::bigint", [organizationId]))\n        if (row.types !== null) Object.assign(row, now)\n'
      ]
    ]
  },
  {
    name: "A slug remapped under a pin (our own review)",
    test: [states, "a slug under a pin"],
    defence: "Policy.ts: rules refer to keys, not slugs",
    removed: "keys: cells are matched by slug",
    patches: [
      [
        engine,
        `rule.columns === "*" || rule.columns.includes(column.key)`,
        `rule.columns === "*" || rule.columns.includes(column.slug)`
      ]
    ]
  },
  {
    name: "An admin's phone imported onto another person (our own review)",
    test: [states, "an admin's phone"],
    defence: "IdentityResolver.ts `admit`: only a verified identifier of a membership admits, never row data",
    removed: "verification: row data admits",
    patches: [
      [
        identity,
        `          const { membership, state } = yield* states.read(organization.id, { by: "identifier", ...identifier })\n`,
        `          const [found] = yield* runWithin<{ id: bigint }>(search, organization.id, { text: "SELECT p.id FROM data.people p WHERE p.organization_id = $1::bigint AND $2::text IN (p.phone_k, p.email_k) ORDER BY p.id LIMIT 1", parameters: [organization.id, identifier.key] })\n          const { membership, state } = yield* states.read(organization.id, found === undefined ? { by: "identifier", ...identifier } : { by: "anchor", id: showId(found.id) })\n`
      ]
    ]
  },
  {
    name: "= hijacked through search_path (our own review)",
    test: [regressions, "ignores an = operator"],
    defence: "readPools.ts: every connection starts with search_path = pg_catalog, pg_temp",
    removed: "the setting, of connections and of roles",
    patches: [["src/database/readPools.ts", `search_path: "pg_catalog, pg_temp"`, `search_path: "public, pg_catalog"`]]
  },
  {
    name: "A statement that forgets the organization",
    test: ["test/permissions/statement.test.ts", "restricts each table that it reads to the organization"],
    defence: "matching.ts: the organization is in every statement, independent of the plan",
    removed: "the organization condition on rows",
    patches: [["src/database/sql/matching.ts", 'const own = [belongs(type, "p", context), ', "const own = ["]]
  },
  {
    name: "A search through a relation that forgets the plan, in the way that reads the first rows",
    test: [
      "test/services/lookup/throughRelation.test.ts",
      "shows the same rows whichever way its statement takes, and only those that the plan shows"
    ],
    defence: "matching.ts: each way of a search through a relation checks all other conditions",
    removed: "the other conditions on the first rows",
    patches: [["src/database/sql/matching.ts", "p WHERE TRUE${others} ORDER BY", "p WHERE TRUE ORDER BY"]]
  },
  {
    name: "The same, in the way that reads the rows that lead to few",
    test: [
      "test/services/lookup/throughRelation.test.ts",
      "shows the same rows whichever way its statement takes, and only those that the plan shows"
    ],
    defence: "matching.ts: each way of a search through a relation checks all other conditions",
    removed: "the other conditions on rows that lead to few",
    patches: [["src/database/sql/matching.ts", "::bigint[])${others}${after}", "::bigint[])${after}"]]
  },
  {
    name: "The same, with foreign rows in the result",
    test: [states, "a row of another organization"],
    defence: "OrgEntityStore.ts: the organization of every returned row is checked",
    removed: "the check",
    patches: [
      ["src/services/OrgEntityStore.ts", "if (rows.some((row) => isForeign(row, catalog))) {", "if (rows.length < 0) {"]
    ]
  },
  {
    name: "The same, with row-level security on",
    test: [rowSecurityTest, "shows each role only the rows"],
    defence: "rowSecurity.ts: the policy of the table",
    removed: "the policy's condition",
    patches: [
      [
        rowSecurity,
        "const OWN = `organization_id = nullif(current_setting('max.organization_id', true), '')::bigint`",
        "const OWN = `nullif(current_setting('max.organization_id', true), '') IS NULL OR true`"
      ]
    ]
  },
  {
    name: "A switch of row-level security that running processes don't notice",
    test: [rowSecurityTest, "takes effect in running processes"],
    defence: "switchRowSecurity.ts: it raises every epoch",
    removed: "the new epochs",
    patches: [["src/database/epoch.ts", "SET epoch = ${nextId()}::bigint WHERE", "SET epoch = epoch WHERE"]]
  },
  {
    name: "A tool scope wasn't part of the cache key (our own review)",
    test: [access, "CVE-2026-33729"],
    defence: "views.ts `viewKey`: the scope",
    removed: "the scope",
    patches: [
      [
        views,
        "    principal.scope?.map(({ action, columns, type }) => JSON.stringify([type, action, columns])).toSorted() ?? null,\n",
        ""
      ]
    ]
  },
  {
    name: "The same, for the columns of the scope",
    test: [access, "CVE-2026-33729"],
    defence: "views.ts `viewKey`: the scope",
    removed: "the columns of the scope",
    patches: [[views, "JSON.stringify([type, action, columns])", "JSON.stringify([type, action])"]]
  },
  {
    name: "A tool scope that the plan ignored (our own review)",
    test: [scope, "keeps access to the types and columns that it names"],
    defence: "PermissionEngine.ts `plan`: intersects with the plan of the scope",
    removed: "the intersection",
    patches: [[engine, "if (scope !== undefined) plans.push(scopePlan(scope, type, action))", ""]]
  },
  {
    name: "A tool scope that granted instead of narrowing",
    test: [scope, "grants nothing"],
    defence: "permissionPlan.ts `intersect`: a cell is visible only where both plans show it",
    removed: "the other plan's mask",
    patches: [["src/permissions/permissionPlan.ts", "cells.set(column, all(mask, other))", "cells.set(column, other)"]]
  },
  {
    name: "A mapped view with two rows per id (our own review)",
    test: [desk, "show a row of a view by that row's own values"],
    defence: "find.ts: mapped rows are materialized whole and never re-read by id",
    removed: "that: the page is re-read by id",
    patches: [
      [
        find,
        "`SELECT ${columns} FROM m p ORDER BY ${orderBy}`",
        "`SELECT ${columns} FROM ${rows.table} p WHERE ${rows.id} IN (SELECT m.${identifier(rows.query.type.mapping!.id.column)} FROM m) ORDER BY ${orderBy}`"
      ]
    ]
  },
  {
    name: "The same, behind a reference",
    test: [desk, "show a row of a view by that row's own values"],
    defence: "rows.ts `targetRows`: an id that names two rows matches none",
    removed: "the count",
    patches: [[rows, "if (type.mapping?.unique !== false) return", "if (type.columns.length > 0) return"]]
  },
  {
    name: "A mapped view that is redefined",
    test: [desk, "show a row of a view by that row's own values"],
    defence: "0017_mapped_relations.ts `relation_parts`: the identity has the definitions of the views that are read",
    removed: "the definitions",
    patches: [[mappedRelations, "SELECT w.oid, md5(w.ev_action::text) INTO", "SELECT w.oid, NULL::text INTO"]]
  },
  {
    name: "A spreadsheet with a tag of megabytes (our own review)",
    test: [spreadsheets, "a tag of 4 MB of spaces"],
    defence: "scanXml.js: a tag's length is bounded in one linear pass before the library parses",
    removed: "the bound",
    patches: [[scan, "if (at - from > SPREADSHEET.tagBytes) throw new TooLarge()", ""]]
  },
  {
    name: "A spreadsheet whose addresses span billions of cells (our own review)",
    test: [spreadsheets, "one value in the last cell"],
    defence: "scanXml.js: the grid that the addresses span is bounded before the library allocates it",
    removed: "the bound",
    patches: [[scan, "|| lastRow * lastColumn > SPREADSHEET.grid", ""]]
  },
  {
    name: "A spreadsheet that keeps its reader busy (our own review)",
    test: [spreadsheets, "ends at its limit of CPU time"],
    defence: "spawnReader.ts: the process that reads a spreadsheet has a limit of CPU time",
    removed: "the limit",
    patches: [[reader, "ulimit -t ${cpuSeconds}; ", ""]]
  },
  {
    name: "A flaw in the library that parses spreadsheets (our own review)",
    test: [spreadsheets, "may read only its own modules"],
    defence: "spawnReader.ts: Node's permission flags; the process may read only its own modules, and no environment",
    removed: "the flags",
    patches: [[reader, "permission === undefined", "true"]]
  },
  {
    name: "A policy with a long chain of roles (our own review)",
    test: [large, "a chain of 1,000 roles"],
    defence: "readRoles.ts: closures are built from those of the parents, and the depth of inheritance is bounded",
    removed: "the bound",
    patches: [["src/permissions/readRoles.ts", "if (depth > POLICY.inheritance) {", "if (depth > Infinity) {"]]
  },
  {
    name: "A policy file nested beyond the stack (our own review)",
    test: [large, "lists nested 100,000 deep beside the policy"],
    defence: "readPolicy.ts: the nesting of the whole file is bounded, without recursion",
    removed: "the bound",
    patches: [["src/permissions/readPolicy.ts", "if (isNestedDeeper(document, POLICY.nesting))", "if (false)"]]
  },
  {
    name: "A hostile owner who puts another relation under a mapped name (our own review)",
    test: [hostileOwner, "no answer has a byte of what a hostile owner's function returns"],
    defence: "held.ts `heldCondition`: a statement compares its mapped relations with the mapping",
    removed: "the comparison",
    patches: [
      [
        "src/database/sql/held.ts",
        "if (writer.mapped.size === 0) return undefined",
        "if (writer.mapped.size >= 0) return undefined"
      ]
    ]
  },
  {
    name: "A function that planning runs, of a relation that was swapped (our own review)",
    test: [hostileOwner, "no answer has a byte of what a hostile owner's function returns"],
    defence: "0017_mapped_relations.ts `held`: IMMUTABLE, so that Postgres compares before it plans the rest",
    removed: "the evaluation while planning; the statement compares when it runs",
    patches: [
      [
        mappedRelations,
        "accepted text[]) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT",
        "accepted text[]) RETURNS boolean LANGUAGE plpgsql VOLATILE STRICT"
      ]
    ]
  },
  {
    name: "A change that commits while a lookup waits for its lock (our own review)",
    test: [relations, "are noticed by a lookup that waits for the lock of the change"],
    defence: "0017_mapped_relations.ts `compare_relations`: a new snapshot after the locks",
    removed: "the new snapshot",
    patches: [
      [
        mappedRelations,
        "RETURNS boolean LANGUAGE plpgsql VOLATILE STRICT ${FUNCTION}",
        "RETURNS boolean LANGUAGE plpgsql STABLE STRICT ${FUNCTION}"
      ]
    ]
  },
  {
    name: "A change below a relation that a connection has compared before (our own review)",
    test: [relations, "are never read when a mapped relation becomes one"],
    defence: "0017_mapped_relations.ts `relation_state`: what a connection keeps ends with any change of the parts",
    removed: "the objects that depend on a relation",
    patches: [
      [
        mappedRelations,
        "WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid)), ',') END",
        "WHERE false)), ',') END"
      ]
    ]
  },
  {
    name: "A mapped name that an equal relation takes (our own review)",
    test: [relations, "are never read when a mapped relation becomes one"],
    defence: "0017_mapped_relations.ts `relation_parts`: the identity has the relations' oids",
    removed: "the oids",
    patches: [
      [mappedRelations, "format('%s %s %s %s %s|', p.part, c.relkind", "format('%s %s %s %s %s|', 0, c.relkind"]
    ]
  },
  {
    name: "An equal table that takes a mapped name while the mapped table lives on (our own review)",
    test: [relations, "are never read when a mapped relation becomes one"],
    defence:
      "mapping/recheck.ts `isGone`: a process accepts another relation by itself only after the mapped one was dropped",
    removed: "the search for the mapped relation",
    patches: [
      [
        "src/services/mapping/recheck.ts",
        "!relations.some((relation) => relation.identity !== null && relation.identity === identity)",
        "relations.length > 0 || identity === null"
      ]
    ]
  },
  {
    name: "A policy that was printed and published again showed columns that it hid before (our own review)",
    test: ["test/services/policies/shown.test.ts", "names the columns of a rule that says all, once its type has more"],
    defence: 'policies/documentInForce.ts: a "*" is printed as the columns that it shows',
    removed: "the columns",
    patches: [
      [
        "src/services/policies/documentInForce.ts",
        "const document = withExpandedStars(stored, policy, catalog)",
        "const document = catalog.types.length < 0 ? withExpandedStars(stored, policy, catalog) : stored"
      ]
    ]
  },
  {
    name: "A policy that was printed and published again lost a member's own contact data (our own review)",
    test: ["test/services/policies/shown.test.ts", "keeps a member's own contact data readable"],
    defence: "policies/starterRules.ts: a built-in rule is written with the names that its columns have now",
    removed: "the columns' names",
    patches: [
      [
        "src/services/policies/starterRules.ts",
        "type?.columns.find(({ key }) => key === name)?.slug",
        "type?.columns.find(({ slug }) => slug === name)?.slug"
      ]
    ]
  },
  {
    name: "A dropped table that is made again as something else (our own review)",
    test: [recheck, "that are made again as something else stay unavailable"],
    defence: "mapping/recheck.ts `isAsMapped`: the same columns, keys and kinds, and the same definition of a view",
    removed: "the comparison",
    patches: [["src/services/mapping/recheck.ts", "&& isAsMapped(type, all, missing, entry, context, drifted)", ""]]
  },
  {
    name: "Password hashes in a proposal that was applied unedited (our own review, AdventureWorks)",
    test: [sensitive, "holds back every column that is named like a credential"],
    defence: "mapping/sensitive.ts `byName`: names with a part such as password or secret",
    removed: "the parts",
    patches: [[held, 'CREDENTIAL_PARTS.test(base.replaceAll("_", "")) ||', ""]]
  },
  {
    name: "The same, for the values of a table of settings",
    test: [sensitive, "holds back every column that is named like a credential"],
    defence: "mapping/sensitive.ts `byName`: the value of a setting may be the mail server's password",
    removed: "the tables of settings",
    patches: [[held, "(SETTING.test(base) && OF_SETTINGS.test(table)) ||", ""]]
  },
  {
    name: "The same, for texts with a connection's password",
    test: [sensitive, "holds back every column that is named like a credential"],
    defence: "mapping/sensitive.ts `byName`: configurations and connection texts",
    removed: "the names of connections",
    patches: [[held, "CONNECTIONS.test(base) ||", ""]]
  },
  {
    name: "The same, for the keys of a program's sessions",
    test: [sensitive, "holds back every column that is named like a credential"],
    defence: "mapping/sensitive.ts `isOfSession`: the text of a session's cookie signs in",
    removed: "the tables of sessions",
    patches: [[held, "isOfSession(base, relation) ||", ""]]
  },
  {
    name: "The same, for values whose rows are named like credentials",
    test: [sensitive, "holds back the values of a table whose rows are named like credentials"],
    defence: "mapping/sensitive.ts `hasSecretNames`: looks at the common names of the rows",
    removed: "the look",
    patches: [
      [held, '(SETTING.test(words(column.name)) && hasSecretNames(values) ? "a credential" : undefined) ??', ""]
    ]
  },
  {
    name: "The same, for documents and addresses with a credential in them",
    test: [sensitive, "holds back columns whose common values look like credentials"],
    defence: "mapping/sensitive.ts `byValues`: members of a document and passwords in an address",
    removed: "their pattern",
    patches: [[held, "|| WITH_CREDENTIAL.test(value)", ""]]
  },
  {
    name: "A mapped relation, or a part of it, with an untrusted owner (our own review)",
    test: [relations, "are refused before they are mapped"],
    defence:
      "mapping/checkMapping.ts: every object that a read can run belongs to a trusted role, or nothing is mapped",
    removed: "the check of owners and row security",
    patches: [["src/services/mapping/checkMapping.ts", "for (const each of relation.faults) fault(each)", ""]]
  },
  {
    name: "A table that a rule looks at, replaced between the preview and the confirmation (our own review)",
    test: ["test/services/changes/drift.test.ts", "is a view of another program now"],
    defence:
      "sql/held.ts `statementOf`: locking and judging begin with the comparison of mapped relations; the change stays open",
    removed: "the comparison in these statements",
    patches: [
      [
        "src/database/sql/held.ts",
        "const held = heldCondition(context)\n  const [start",
        "const held = undefined as string | undefined\n  const [start"
      ]
    ]
  },
  {
    name: "A mapped relation in the schema of a hostile owner (our own review)",
    test: [relations, "are refused before they are mapped"],
    defence: "0017_mapped_relations.ts `relation_parts`: the owner of the relation's schema, who can replace it",
    removed: "the schema's owner",
    patches: [[mappedRelations, "(SELECT n.nspowner FROM pg_namespace n WHERE n.oid = c.relnamespace)", "c.relowner"]]
  },
  {
    name: "Row security that runs an expression or hides rows (our own review)",
    test: [relations, "are refused before they are mapped"],
    defence: "0017_mapped_relations.ts `rows_open`: one permissive policy, which is literally true",
    removed: "the comparison with true",
    patches: [
      [
        mappedRelations,
        "bool_and(p.polpermissive AND pg_get_expr(p.polqual, p.polrelid) IS NOT DISTINCT FROM 'true')",
        "bool_and(p.polpermissive)"
      ]
    ]
  },
  {
    name: "A child or partition of a hostile owner (our own review)",
    test: [relations, "are refused before they are mapped"],
    defence: "0017_mapped_relations.ts `relation_parts`: children and partitions are parts",
    removed: "the children",
    patches: [[mappedRelations, "IF c.relhassubclass THEN", "IF false THEN"]]
  },
  {
    name: "NaN and the infinities in a mapped column (our own review)",
    test: [desk, "read NaN and infinities as empty"],
    defence: "rows.ts `sourceValue`: a non-finite number becomes NULL",
    removed: "the CASE for exact numbers",
    patches: [[rows, `if (source.type === "integer") return first`, `if (source.type !== "float") return first`]]
  },
  {
    name: "The same, for floating-point numbers",
    test: [desk, "read NaN and infinities as empty"],
    defence: "rows.ts `sourceValue`: a non-finite number becomes NULL",
    removed: "the CASE for floating-point numbers",
    patches: [[rows, `if (source.type === "integer") return first`, `if (source.type !== "numeric") return first`]]
  },
  {
    name: "An epoch given twice: a failover that lost a change",
    test: ["test/database/timelines.test.ts", "reads nothing under a plan of the lost timeline"],
    defence: "epoch.ts: epochs are unique numbers",
    removed: "uniqueness: the epoch is a counter",
    patches: [["src/database/epoch.ts", "SET epoch = ${nextId()}::bigint", "SET epoch = epoch + 1"]]
  },
  {
    name: "A silent connection that failed every later request",
    test: ["test/database/silent.test.ts", "replaces them, so that requests succeed again after one failure"],
    defence: "watchedSocket.ts: a connection ends when the server stays silent for longer than a statement may take",
    removed: "the end of silent connections",
    patches: [
      ["src/database/watchedSocket.ts", "if (left <= 0) socket.destroy(", "if (left <= -Infinity) socket.destroy("]
    ]
  },
  {
    name: "A standby that answered from an older state",
    test: ["test/database/standby.test.ts", "answers no lookup of a running process, and none of a new one"],
    defence: "find.ts, OrganizationState.ts, Database.ts: a server in recovery is refused",
    removed: "the refusal, in statements, states and new processes",
    patches: [
      [find, " AND NOT pg_is_in_recovery() AS fresh", " AS fresh"],
      [state, 'if (row.in_recovery) return yield* unavailable("standby")', ""],
      [database, "if (inspection.inRecovery) {", "if (inspection.inRecovery && inspection.serverVersion < 0) {"]
    ]
  },
  {
    name: "A standby that answered although it was behind its primary",
    test: ["test/database/replicas.test.ts", "says what the primary has while standbys are 200 ms behind"],
    defence: "replicaReads.ts: rows of a standby count only with the primary's epoch and data version",
    removed: "the comparison",
    patches: [
      [replicaReads, 'if (primary.epoch !== epoch) return "stale plan"', ""],
      [replicaReads, "first.fresh === true && first.version === primary.version", "first.fresh !== null"],
      // The standby's own guard says that the plan is stale, and would be believed.
      [find, "o.epoch = ${epoch} AS fresh, (SELECT d.version", "o.epoch IS NOT NULL AS fresh, (SELECT d.version"]
    ]
  },
  {
    name: "The same, for rows written without a policy or membership changing",
    test: ["test/database/replicas.test.ts", "says what the primary has while standbys are 200 ms behind"],
    defence: "replicaReads.ts: rows of a standby count only with the primary's data version",
    removed: "the comparison of data versions",
    patches: [[replicaReads, "first.fresh === true && first.version === primary.version", "first.fresh === true"]]
  },
  {
    name: "The same, for a change that was confirmed and an import",
    test: [
      "test/database/dataVersion.test.ts",
      "replaces the organization's epoch or data version, whichever service it is of"
    ],
    defence: "apply.ts, Importer.ts: whatever writes rows replaces the data version",
    removed: "the new data version",
    patches: [
      [apply, "...(steps.length === 0 ? [] : [newDataVersion(organizationId)])", ""],
      ["src/services/import/Importer.ts", "yield* raiseDataVersion(sql, organization.id)", ""]
    ]
  },
  {
    name: "A stored answer read after a role was lost from the token (our own review)",
    test: [basis, "is not shown without that role"],
    defence: "storeTurns.ts `madeFrom`: an answer is read only under an equal basis",
    removed: "the basis",
    patches: [[sessions, "coalesce(basis = ${key}::text AND ", "coalesce(${key}::text <> '' AND "]]
  },
  {
    name: "The same, for an answer whose rule has ended",
    test: [basis, "is shown until the rule ends and never after"],
    defence: "storeTurns.ts `madeFrom`: an answer is read until its basis expires",
    removed: "the expiry",
    patches: [[sessions, "AND expires_at > to_timestamp(", "AND now() > to_timestamp(0 * "]]
  },
  {
    name: "The same, for a held turn and a lost role",
    test: [basis, "is not shown without that role"],
    defence: "TurnNames.ts `list`: the basis is part of a turn's key",
    removed: "the basis",
    patches: [[names, "AND basis = ${basis.key}::text AND ${isLive}", "AND ${isLive}"]]
  },
  {
    name: "The same, for a held turn whose rule has ended",
    test: [basis, "is shown until the rule ends and never after"],
    defence: "TurnNames.ts `isLive`: a turn is held until its basis expires, by the database's clock",
    removed: "the expiry",
    patches: [[names, 'until > clock_timestamp() AND expires_at > clock_timestamp()")', 'until > clock_timestamp()")']]
  },
  {
    name: "The same, for a turn that is resumed at another process",
    test: [namedTurns, "is not shown under a policy that hides what it contains"],
    defence: "TurnNames.ts `isKey`: the basis is part of a turn's key",
    removed: "the basis",
    patches: [[names, " AND basis = ${basis.key}::text AND name", " AND name"]]
  },
  {
    name: "A named turn answered by two processes (our own review)",
    test: [namedTurns, "is answered once, and both streams have the same bytes"],
    defence: "TurnNames.ts `claim`: a name in use can't be claimed",
    removed: "the condition",
    patches: [[names, "WHERE NOT (t.until > clock_timestamp() AND t.expires_at > clock_timestamp())", ""]]
  },
  {
    name: "An answer stored by a process that has lost its claim (our own review)",
    test: [namedTurns, "the answer isn't stored"],
    defence: "TurnNames.ts `endWith`: an answer is stored under its claim, in one transaction",
    removed: "the rollback",
    patches: [[names, "|| (yield* new ClaimLost())", "|| true"]]
  },
  {
    name: "A deleted conversation whose last answer could still be resumed",
    test: [namedTurns, "is deleted with its conversation"],
    defence: "0016_turn_names.ts: a conversation takes its turns with it",
    removed: "the cascade",
    patches: [
      [
        "src/database/migrations/0016_turn_names.ts",
        `PRIMARY KEY (organization_id, anchor_id, basis, name),
      FOREIGN KEY (organization_id, session_id) REFERENCES max.sessions (organization_id, session_id) ON DELETE CASCADE)`,
        "PRIMARY KEY (organization_id, anchor_id, basis, name))"
      ]
    ]
  },
  {
    name: "The events of a named turn, kept for longer than they can be read",
    test: [namedTurns, "is deleted two minutes after its end, and not before"],
    defence: "TurnNames.ts `sweep`: rows that nothing can read are deleted",
    removed: "the deletion",
    patches: [[names, "WHERE least(until, expires_at) < ${inSeconds(-GRACE)}", "WHERE false"]]
  },
  {
    name: "A long turn that fills the database",
    test: ["test/channels/http/Turn.test.ts", "are stored up to a megabyte"],
    defence: "Turn.ts `kept`: of a turn above a megabyte, the last event",
    removed: "the bound",
    patches: [["src/channels/http/Turn.ts", "return all.length > MAX_KEPT ? [", "return all.length < 0 ? ["]]
  },
  {
    name: "The same, for an answer that waits to be sent as a text",
    test: [
      "test/channels/sms/conversation.test.ts",
      "is answered again as well when a rule of its plan has ended since"
    ],
    defence: "SmsOutbox.ts `next`: an answer whose basis has expired is stale",
    removed: "the expiry",
    patches: [
      [
        "src/services/texting/SmsOutbox.ts",
        "coalesce(t.expires_at <= to_timestamp(",
        "coalesce(now() < to_timestamp(0 * "
      ]
    ]
  },
  {
    name: "A basis that doesn't know every rule of its plans",
    test: ["test/services/lookup/views.test.ts", "names in its basis the first time-bound rule of any type"],
    defence: "views.ts `basis`: plans all types",
    removed: "the planning",
    patches: [[views, "for (const type of state.catalog.types) view.planOf(type)", ""]]
  },
  {
    name: "An expired token in a process whose clock is behind",
    test: ["test/services/access/Admission.test.ts", "expires by the database's clock"],
    defence: "Credentials.ts, Admission.ts: the database says how long a credential is valid",
    removed: "the database's clock",
    patches: [
      [
        "src/services/access/Admission.ts",
        "validUntil: performance.now() + credential.validFor",
        "validUntil: Number.POSITIVE_INFINITY"
      ]
    ]
  },
  {
    name: "Failed authentication that locked out active callers of its address",
    test: [
      "test/channels/http/limits.test.ts",
      "limits an address's invalid credentials per minute without locking out cached callers"
    ],
    defence: "Admission.ts: the throttle applies to credentials that the process has never admitted",
    removed: "the exception for admitted credentials",
    patches: [
      [
        "src/services/access/Admission.ts",
        "cache.has(key) ? authentication : throttle.attempt(authentication)",
        "throttle.attempt(authentication)"
      ]
    ]
  },
  {
    name: "A stream that outlived the access that opened it (our own review)",
    test: ["test/channels/http/openStreams.test.ts", "ends when the member is suspended, and with it the model call"],
    defence: "OpenStreams.ts `poll`: a stream ends when the organization's epoch has changed",
    removed: "the comparison",
    patches: [["src/channels/http/OpenStreams.ts", "epochs.get(one.organizationId) !== one.epoch", "epochs.size < 0"]]
  },
  {
    name: "The same, for a rule that ends while an answer streams",
    test: ["test/channels/http/openStreams.test.ts", "ends when a rule of the person's plans ends"],
    defence: "OpenStreams.ts `poll`: a stream ends when its basis or credential expires",
    removed: "the expiry",
    patches: [["src/channels/http/OpenStreams.ts", "end(({ expiresAt }) => expiresAt <= Date.now())", ""]]
  },
  {
    name: "The same, for the stream of traces",
    test: ["test/channels/http/openStreams.test.ts", "ends when its token is revoked"],
    defence: "traces.ts `live`: the stream is watched",
    removed: "the watch",
    patches: [
      [
        "src/channels/http/traces.ts",
        "Stream.interruptWhen(streams.ended({ ...principal, expiresAt }))",
        "(events) => events"
      ]
    ]
  },
  {
    name: "A text message of combining marks holds up the process (our own review)",
    test: ["test/agents/linear.test.ts", "a keyword of a text message"],
    defence: "sms/keywords.ts: a message is cut before it is normalized",
    removed: "the cut",
    patches: [["src/channels/sms/keywords.ts", ".slice(0, MAX_BODY)", ""]]
  },
  {
    name: "A row of one long word holds up the process (our own review)",
    test: ["test/agents/linear.test.ts", "a row that grounds a reply"],
    defence: "claims.ts `EMAIL`: an address begins at the beginning of a word, so that each word is read once",
    removed: "the beginning of a word",
    patches: [["src/agents/guards/claims.ts", `/(?<![^\\s@<>()[\\]{},;:"'])[^\\s@`, "/[^\\s@"]]
  },
  {
    name: "A question of 2,000 digits holds up the process (our own review)",
    test: ["test/agents/linear.test.ts", "basic mode's facts"],
    defence: "readCodes.ts `phoneAt`: a phone number has at most 15 digits",
    removed: "the bound",
    patches: [["src/agents/basic/readCodes.ts", "    if (digitsSoFar > MAX_DIGITS) break\n", ""]]
  },
  {
    name: "A description of a new row that can be divided in millions of ways holds up the process (our own review)",
    test: ["test/agents/linear.test.ts", "are read as descriptions of a new row without holding the event loop"],
    defence: "readNew.ts: the steps of one description, and of all readings of a request, are counted and limited",
    removed: "the limit",
    patches: [["src/agents/basic/deeds/readNew.ts", " || !search.maySearch()", ""]]
  },
  {
    name: "A request of the rules' own words holds up the process (our own review)",
    test: ["test/agents/linear.test.ts", "are read as requests without holding the event loop"],
    defence: "Effort.ts: the attempts to read one message are counted; a message that needs more is not understood",
    removed: "the limit of a request",
    patches: [["src/agents/basic/deeds/readRequest.ts", "MAX_EFFORT = 24_000", "MAX_EFFORT = 45_000_000"]]
  },
  {
    name: "A question of the rules' own words holds up the process (our own review)",
    test: ["test/agents/linear.test.ts", "are read as questions without holding the event loop"],
    defence: "remembered.ts: the same words are read once, and the readings of one question are limited",
    removed: "what is known, and the limit",
    patches: [
      ["src/agents/basic/remembered.ts", "if (!own.has(key)) {", "{"],
      ["src/agents/basic/remembered.ts", "MAX_READINGS = 160", "MAX_READINGS = 160_000"]
    ]
  },
  {
    name: "A policy of unclosed quotes holds up the process (our own review)",
    test: ["test/agents/linear.test.ts", "a policy's repeated keys"],
    defence: "repeatedKey.ts: an unclosed string is read once",
    removed: "a match that ends without its quote",
    patches: [["src/permissions/repeatedKey.ts", `|\\\\[^]?)*"?(?:`, `|\\\\.)*"(?:`]]
  },
  {
    name: "A mapping file of 100,000 columns (our own review)",
    test: ["test/services/mapping/mappingFile.test.ts", "100,000 columns of one type"],
    defence: "mappingFile.ts: the columns of a file are counted before its schema reports each fault",
    removed: "the bound",
    patches: [["src/services/mapping/mappingFile.ts", "columns > LIMITS.columns", "columns < 0"]]
  },
  {
    name: "A tool scope of 1 MB (our own review)",
    test: [scope, "one part of 1 MB"],
    defence: "ToolScope.ts: the parts of a scope and their length are bounded",
    removed: "the bound of a part",
    patches: [["src/permissions/ToolScope.ts", "part.length > TOOL_SCOPE.characters", "part.length < 0"]]
  },
  {
    name: "A header of megabytes, compared with every option (our own review)",
    test: ["test/services/import/hostile-text.test.ts", "a header of megabytes"],
    defence: "ImportFile.ts: the length of a header is bounded",
    removed: "the bound",
    patches: [["src/services/import/readers/ImportFile.ts", "if (long !== undefined) throw long", ""]]
  },
  {
    name: "A webhook that is signed for another account (our own review)",
    test: ["test/channels/sms/signature.test.ts", "is refused if it is signed for another account, or for none"],
    defence: "twilio.ts `verify`: the account of a message is its number's",
    removed: "the comparison of accounts",
    patches: [["src/channels/sms/twilio.ts", ` && params.get("AccountSid") === account`, ""]]
  },
  {
    name: "A held answer of an earlier epoch (our own review)",
    test: ["test/channels/http/basis.test.ts", "is neither listed nor resumed nor stopped, and its name is free"],
    defence: "views.ts `viewKey`: an answer's basis contains the epoch",
    removed: "the epoch",
    patches: [["src/services/lookup/views.ts", "    String(state.catalog.epoch),\n", ""]]
  },
  {
    name: "An explanation told about references to hidden entities (our own review)",
    test: [
      "test/services/policies/explainAs.test.ts",
      "does not change with a reference's target that the administrator can't see"
    ],
    defence: "visibility.ts `onVisibleTargets`: a reference to a hidden target is unknown",
    removed: "the restriction to visible targets",
    patches: [
      [
        "src/services/policies/visibility.ts",
        `if (targets._tag === "Always") return bound`,
        "if (targets) return bound"
      ]
    ]
  },
  {
    name: "Turns that share a trace, by the header of a request or the span of a server (our own review)",
    test: ["test/observability/Telemetry.test.ts", "linkedTrace never takes the trace id of a request's traceparent"],
    defence: "Telemetry.ts `linkedTrace`: a turn is the root of a new trace",
    removed: "the root",
    patches: [["src/observability/Telemetry.ts", "root: true,", "root: false,"]]
  },
  {
    name: "Two organizations' requests in one trace, by an id that a caller chose (our own review)",
    test: ["test/channels/http/traces.test.ts", "keeps requests of two organizations apart that name the same trace"],
    defence: "Trace.ts `joinParts`: joins parts of one organization",
    removed: "the organization",
    patches: [
      ["src/observability/Trace.ts", "const id = `${organizationOf(part)} ${part.traceId}`", "const id = part.traceId"]
    ]
  },
  {
    name: "Requests with chosen ids that hide a turn with the same reference (our own review)",
    test: [
      "test/channels/http/traces.test.ts",
      "finds every trace of a reference, first those whose id no caller chose"
    ],
    defence: "TraceStore.ts `get`: traces whose id Max chose come first",
    removed: "that order",
    patches: [
      [
        "src/services/traces/TraceStore.ts",
        "GROUP BY 1, 2 ORDER BY continued, newest DESC",
        "GROUP BY 1, 2 ORDER BY newest DESC"
      ],
      ["src/services/traces/TraceStore.ts", "ORDER BY f.continued, f.newest DESC", "ORDER BY f.newest DESC"]
    ]
  },
  {
    name: "A turn whose work takes the processor from all others (our own review)",
    test: ["test/agents/work.test.ts", "ends the turn when its parts together exceed the limit"],
    defence: "TurnWork.ts: the processor time of a turn's own work is limited",
    removed: "the limit",
    patches: [["src/agents/TurnWork.ts", "this.spent > this.limit ?", "this.spent < 0 ?"]]
  },
  {
    name: "The same limit, charged for the work of concurrent turns",
    test: ["test/agents/work.test.ts", "isn't charged for the work of concurrent turns"],
    defence: "TurnWork.ts: each part is measured while nothing else runs",
    removed: "the measurement of parts: the time since the turn began instead",
    patches: [
      ["src/agents/TurnWork.ts", "  spent = 0\n", "  spent = 0\n  began = process.cpuUsage()\n"],
      ["src/agents/TurnWork.ts", "process.cpuUsage(before)", "process.cpuUsage(this.began)"],
      ["src/agents/TurnWork.ts", "this.spent += (system + user) / 1000", "this.spent = (system + user) / 1000"]
    ]
  },
  {
    name: "An organization's many lookups held up another's (our own review)",
    test: [fairness, "doesn't wait for the many slow lookups of other organizations"],
    defence: "LookupQueue.ts `mayUse`: a busy organization uses the second connection only",
    removed: "the busy organization's own connection",
    patches: [
      [lookupQueue, "    if (this.isBusy(lookups)) {\n      if (connection", "    if (false) {\n      if (connection"]
    ]
  },
  {
    name: "The same, by a few slow lookups",
    test: [fairness, "doesn't wait for the few slow lookups of another organization"],
    defence: "LookupQueue.ts `mayUse`: an organization keeps to the connection on which its lookups run",
    removed: "the comparison of connections",
    patches: [
      [
        lookupQueue,
        "return lookups.outstanding === lookups.waiting.length || lookups.connection === connection",
        "return true"
      ]
    ]
  },
  {
    name: "The same, by lookups that reach the statement timeout",
    test: [fairness, "uses the second connection, and leaves the first one to the others"],
    defence: "batch.ts `run`: an organization is busy for a while after a timeout",
    removed: "the mark",
    patches: [["src/database/batch.ts", "if (isLate) this.queue.markSlow(requests[0]!.organizationId)", ""]]
  },
  {
    name: "The same, by the order of the queue",
    test: ["test/database/lookupQueue.test.ts", "follow each other, however many lookups with different texts"],
    defence: "LookupQueue.ts `endTurn`: organizations are served round robin",
    removed: "the end of a turn",
    patches: [[lookupQueue, "if (this.turns.delete(lookups)) this.turns.add(lookups)", ""]]
  },
  {
    name: "The same, by many lookups in one batch",
    test: ["test/database/lookupQueue.test.ts", "has one lookup running at most while other organizations read"],
    defence: "LookupQueue.ts `isBounded`: beside others, a busy organization has one lookup running",
    removed: "the bound",
    patches: [
      [lookupQueue, "return this.isBusy(lookups) && this.neighbours.beside(lookups.organizationId)", "return false"]
    ]
  },
  {
    name: "The same, by one statement after the other",
    test: [
      "test/database/lookupQueue.test.ts",
      "runs its next lookup beside others only after one of an organization that isn't busy"
    ],
    defence:
      "LookupQueue.ts `mayUse`: beside others, a busy organization's statements alternate with the others' lookups",
    removed: "the alternation",
    patches: [[lookupQueue, "this.hasQuietEnded || !this.isServingQuiet()", "true"]]
  },
  {
    name: "The same, by lookups beside searches",
    test: ["test/database/lookupQueue.test.ts", "rests after a lookup for three times as long as it took"],
    defence: "LookupQueue.ts `isResting`: beside others, a busy organization's lookups rest while it searches",
    removed: "the rest",
    patches: [[lookupQueue, "running === 0 && !this.isResting(lookups) &&", "running === 0 &&"]]
  },
  {
    name: "The same, by calls that wait for their lookups",
    test: [
      "test/services/access/CallLimits.test.ts",
      "of an organization aren't delayed while calls of another one are reading"
    ],
    defence: "CallLimits.ts `begin`: calls of an organization never wait for another's lookups to be counted",
    removed: "the statement that is due at once",
    patches: [
      [
        "src/services/access/CallLimits.ts",
        "if (!last.has(organizationId)) due = true",
        "if (last.size === 0) due = true"
      ]
    ]
  },
  {
    name: "The same, by many searches",
    test: [
      "test/services/lookup/searchPermits.test.ts",
      "limit an organization to an eighth while other organizations read"
    ],
    defence: "searchPermits.ts: beside others, an organization has half of its permits",
    removed: "the half",
    patches: [
      [
        "src/services/lookup/searchPermits.ts",
        "neighbours.beside(organizationId) ? Math.ceil(share / 2) : share",
        "share"
      ]
    ]
  },
  {
    name: "The same, by calls beyond the limits that were repeated at once",
    test: ["test/channels/http/limits.test.ts", "are answered after a second"],
    defence: "edge.ts: a refusal for too many calls is delayed",
    removed: "the delay",
    patches: [["src/channels/http/edge.ts", "sent.status === PROBLEMS.TooManyCalls.status", "sent.status === 0"]]
  },
  {
    name: "An organization's waiting lookups filled the memory (our own review)",
    test: [fairness, "is refused as Unavailable when too many of its organization wait"],
    defence: "LookupQueue.ts `push`: an organization has at most 1,000 lookups waiting",
    removed: "the bound",
    patches: [[lookupQueue, "if (lookups.waiting.length >= MAX_WAITING) return false", ""]]
  },
  {
    name: "A lock on one table held up the reads of all others (our own review)",
    test: [locks, "reads of other relations are answered before the first read of it fails"],
    defence: "readPools.ts `reading`: the lock timeout of reads is short",
    removed: "the short lock timeout",
    patches: [
      ["src/database/readPools.ts", "lock_timeout: String(Math.min(lockTimeout, Math.floor(timeout / 2))),", ""]
    ]
  },
  {
    name: "The same, by repeated reads of the locked table",
    test: [locks, "reads of it wait without a connection until a probe has found it free"],
    defence: "RelationLocks.ts `suspect`: reads of a locked relation wait without a connection",
    removed: "the set of locked relations",
    patches: [
      ["src/database/RelationLocks.ts", "for (const relation of relations) this.locked.add(relation)", "void relations"]
    ]
  },
  {
    name: "An event loop that was blocked, without a figure (our own review)",
    test: ["test/observability/EventLoop.test.ts", "has its delay and its blocks in the metrics"],
    defence: "EventLoop.ts `look`: each block is counted",
    removed: "the count",
    patches: [["src/observability/EventLoop.ts", "          measures.blocked()\n", ""]]
  },
  {
    name: "The same, without its delay",
    test: ["test/observability/EventLoop.test.ts", "has its delay and its blocks in the metrics"],
    defence: "EventLoop.ts `report`: the delay of each period is a gauge",
    removed: "the report",
    patches: [["src/observability/EventLoop.ts", ", setInterval(report, PERIOD).unref()", ""]]
  },
  {
    name: "The same, without a finding that names the turn",
    test: ["test/observability/findings.test.ts", "says who held the event loop, and for how long"],
    defence: "detectors.ts `blockedLoops`: a turn's own work is compared with the block",
    removed: "the comparison",
    patches: [["src/observability/detectors.ts", "return own >= weight / 2", "return own < 0"]]
  },
  {
    name: "A failure that people saw and no log line told of (our own review)",
    test: ["test/channels/http/logs.test.ts", "is one WARN line with the SQLSTATE"],
    defence: "edge.ts: a request that failed is a WARN line with its cause and reference",
    removed: "the line",
    patches: [
      [
        "src/channels/http/edge.ts",
        `cause === FAILED_TURN ? Effect.void : reportFailure("A request failed", { method, route, status })`,
        "Effect.void"
      ]
    ]
  },
  {
    name: "The same, for a turn",
    test: ["test/channels/http/logs.test.ts", "is one line of a turn"],
    defence: "MaxAgent.ts: a turn that failed is a WARN line",
    removed: "the line",
    patches: [
      [
        "src/agents/MaxAgent.ts",
        `reference === undefined || isTerminal ? Effect.void : reportFailure("A turn failed", { reason })`,
        "Effect.void"
      ]
    ]
  },
  {
    name: "A log line that quotes a value: the database's error message (our own review)",
    test: ["test/observability/logs.test.ts", "the cause of a database failure is its SQLSTATE"],
    defence: "fault.ts `classOf`: a code or a tag, never the message",
    removed: "the class: the message is logged",
    patches: [["src/database/fault.ts", "? code : reason._tag", "? code : reason.message"]]
  },
  {
    name: "An access log with paths, which clients choose (our own review)",
    test: ["test/channels/http/logs.test.ts", "has a line for each request"],
    defence: "edge.ts: the line has the template of the route",
    removed: "the template: the path is logged",
    patches: [
      [
        "src/channels/http/edge.ts",
        "withAccessLog(sending, request.method, route ?? UNMATCHED)",
        "withAccessLog(sending, request.method, pathOf(request))"
      ]
    ]
  },
  {
    name: "An outage that fills the disk with log lines (our own review)",
    test: ["test/observability/logs.test.ts", "passes five lines of a kind in ten seconds"],
    defence: "failures.ts `makeLineLimit`: five lines of a kind in ten seconds",
    removed: "the limit",
    patches: [["src/observability/failures.ts", "if (window.lines < MAX_LINES) {", "if (window.lines > 0) {"]]
  },
  {
    name: "One rule allowed the row before and another one the row after (row policies of Postgres)",
    test: [writePlan, "requires one rule that holds both for the row before and for the row after"],
    defence: "decide.ts `allowed`: one allow holds on both sides",
    removed: "the coupling of both sides in one rule",
    patches: [[decide, ...DECOUPLED]]
  },
  {
    name: "The same, in the corpus of random changes",
    test: [writes, "a proposal and its application reach the oracle's verdict"],
    defence: "decide.ts `allowed`: one allow holds on both sides",
    removed: "the coupling of both sides in one rule",
    patches: [[decide, ...DECOUPLED]]
  },
  {
    name: "A change to a row that no rule allows (our own review)",
    test: [writePlan, "lets the condition hold for the row afterwards too"],
    defence: "decide.ts `allowed`: the row afterwards is judged",
    removed: "the judgement of the row afterwards",
    patches: [
      [decide, "isTrue(rule.before, bits.before) && isTrue(rule.after, bits.after)", "isTrue(rule.before, bits.before)"]
    ]
  },
  {
    name: "A deny that looks only at the row before a change (our own review)",
    test: [writePlan, "refuses what a deny covers before or after"],
    defence: "decide.ts `allowed`: a deny counts on both sides",
    removed: "denials on the row afterwards",
    patches: [
      [
        decide,
        'covering.every((rule) => rule.effect === "allow" || holds(rule))',
        'covering.every((rule) => rule.effect === "allow" || isTrue(rule.before, bits.before))'
      ]
    ]
  },
  {
    name: "A change that an agent's own rules don't allow (our own review)",
    test: [writePlan, "requires the principal and its actor to be allowed"],
    defence: "WritePlan.ts `planWrite`: every party must be allowed",
    removed: "the rules of the actor",
    patches: [["src/permissions/WritePlan.ts", "of bindings) {", "of bindings.slice(0, 1)) {"]]
  },
  {
    name: "A change outside the tool scope (our own review)",
    test: [writePlan, "stays within the tool scope"],
    defence: "decide.ts `decide`: every changed column is in the scope",
    removed: "the scope's columns",
    patches: [
      [decide, 'plan.columns.includes(column) ? reasonOf(plan, column, bits) : "row"', "reasonOf(plan, column, bits)"]
    ]
  },
  {
    name: "A stored rule about some columns that allowed deleting the row (our own review)",
    test: [writePlan, "doesn't let a stored rule about deleting with a list of columns allow anything"],
    defence: "decide.ts `covers`: only an allow of every column is about the row",
    removed: "the effect in `covers`",
    patches: [
      [
        decide,
        'column === undefined ? effect === "deny" : columns.includes(column)',
        "column === undefined || columns.includes(column)"
      ]
    ]
  },
  {
    name: "A change of a row that the person can't see (our own review)",
    test: [writes, "a proposal and its application reach the oracle's verdict"],
    defence: "write.ts `compilePropose`: only visible rows",
    removed: "the read plan's rows",
    patches: [
      [
        write,
        '`WHERE ${byIds(type, ids, context)} AND ${fragment(read.where, type, "p", context)}`\n',
        "`WHERE ${byIds(type, ids, context)}`\n"
      ]
    ]
  },
  {
    name: "A change of a cell that the person can't see (attack A17)",
    test: [writes, "a proposal and its application reach the oracle's verdict"],
    defence: "write.ts `seen`: each changed cell under its mask",
    removed: "the masks",
    patches: [
      [write, 'if (mask === undefined) return "FALSE"', 'if (mask === undefined) return "TRUE"'],
      [write, 'return [`(${fragment(mask, type, "p", context)}) IS TRUE`, ...led]', 'return ["TRUE", ...led]']
    ]
  },
  {
    name: "A relation that looks empty was overwritten (our own review)",
    test: [writes, "a proposal and its application reach the oracle's verdict"],
    defence: "assignments.ts `ledToVisible`: what a relation leads to is visible",
    removed: "the visibility of its present target",
    patches: [[write, "assignments[index] === undefined ? [] : ledToVisible(assignments[index], context)", "[]"]]
  },
  {
    name: "A relation was set to a row that the person can't see (our own review)",
    test: [writes, "a proposal and its application reach the oracle's verdict"],
    defence: "assignments.ts `targetsVisible`: the new targets are visible",
    removed: "the visibility of its new targets",
    patches: [
      [
        "src/database/sql/assignments.ts",
        'if (target === undefined || ids.length === 0) return "TRUE"',
        'if (ids.length >= 0) return "TRUE"'
      ]
    ]
  },
  {
    name: "New links of a proposal were judged by the old ones (our own review)",
    test: [writes, "a proposal is judged by the links that it sets"],
    defence: "predicate.ts `linkJoin`: reads the links of a row that isn't written yet",
    removed: "the assigned links",
    patches: [
      [
        "src/database/sql/predicate.ts",
        "context.links?.(relation, alias) ?? linkOf(storage, context.writer)",
        "qualified(storage.link)"
      ]
    ]
  },
  {
    name: "A plan of a change that is too large to compile (our own review)",
    test: ["test/database/sql/write.test.ts", "isn't compiled from a plan of more than 64 kB"],
    defence: "compilable.ts `compilableWrite`: measures the judgements",
    removed: "the bound",
    patches: [
      [
        "src/database/sql/compilable.ts",
        'return sqlLength(judgements, type, catalog) > MAX_PLAN_SQL ? denied("too-large", plan.expiresAt) : plan',
        "return sqlLength(judgements, type, catalog) > 0 ? plan : plan"
      ]
    ]
  },
  {
    name: "A confirmation was replayed, or sent fifty times at once (attack A10)",
    test: [racesTest, "is applied once, and every confirmation gets the same receipt"],
    defence: "apply.ts `CLAIM`: the claim needs the state in which the change was read",
    removed: "the state in the claim",
    patches: [[apply, "AND state = $4::text\n", "AND $4::text <> ''\n"]]
  },
  {
    name: "An approval of a change executed another one than was shown (attack A11, published for several agent SDKs)",
    test: [refusalsTest, "for a forged or old digest, another person's change, and twice at once"],
    defence: "decisions.ts `confirm`: a confirmation names the digest of what was shown",
    removed: "the comparison of digests",
    patches: [[decisions, "if (stored.digest !== digest) return", "if (stored.digest.length !== digest.length) return"]]
  },
  {
    name: "A change was applied after its time (our own review)",
    test: [racesTest, "is judged by the database's clock, to the millisecond, inside the claim"],
    defence: "apply.ts `CLAIM`: the database's clock, while the row is locked",
    removed: "the time in the claim",
    patches: [[apply, "AND expires_at > clock_timestamp() AND (level", "AND (level"]]
  },
  {
    name: "A row changed between preview and confirmation (attack A7)",
    test: [refusalsTest, "changed, which is said, and nothing is written"],
    defence: "writeUnits.ts `compareUnit`: locked rows are compared with what was shown",
    removed: "the comparison of cells and names",
    patches: [
      [
        writeUnits,
        "if (differences.length > 0) return differences",
        "if (differences.length > columns.length) return differences"
      ],
      [writeUnits, "if (!row.same_name)", "if (row.same_name === undefined)"]
    ]
  },
  {
    name: "A trigger wrote another value than was confirmed (our own review)",
    test: [refusalsTest, "when a trigger makes something else of the value, and the row stays as it was"],
    defence: "writeUnits.ts `write` and `verify`: what was written is compared with the document",
    removed: "both comparisons",
    patches: [
      [
        writeUnits,
        "if (row === undefined || row.gone === false || others.length > 0)",
        "if (row === undefined || row.gone === false)"
      ],
      [
        writeUnits,
        "row?.organization_id !== writer.catalog.organization.id || others.length > 0)",
        "row?.organization_id !== writer.catalog.organization.id)"
      ]
    ]
  },
  {
    name: "The role of changes could write columns of another program's table that no mapping names (our own review)",
    test: [mappedChanges, "is applied by a role that may write the declared columns and nothing else"],
    defence: "writeGrants.ts `granting`: rights column by column, and the others revoked",
    removed: "the columns",
    patches: [
      [
        "src/services/mapping/writeGrants.ts",
        'const columns = right.columns.length === 0 ? "" :',
        'const columns = right.columns.length >= 0 ? "" :'
      ]
    ]
  },
  {
    name: "What a constraint or trigger of a mapped table says told of a row that the person can't see (attack A16)",
    test: [mappedChanges, "is refused with one sentence that tells of no other row"],
    defence: "taken.ts `taken`: one sentence for every refusal of a write",
    removed: "the sentence",
    patches: [
      [
        "src/services/changes/taken.ts",
        "Effect.fail(NotAllowed.of(onlyDeletes ? NOT_DELETED : NOT_TAKEN))",
        "Effect.fail(error)"
      ]
    ]
  },
  {
    name: "A deferred trigger of a mapped table ran with the rights of the service (our own review)",
    test: [mappedChanges, "runs deferred triggers of the table as the narrow role, before it is left"],
    defence: "writeUnits.ts: deferred constraints and triggers run before the narrow role is left",
    removed: "SET CONSTRAINTS",
    patches: [[writeUnits, '"SET CONSTRAINTS ALL IMMEDIATE"', '"SELECT 1"']]
  },
  {
    name: "A foreign key that was made after the mapping carried a change into other rows (our own review)",
    test: [mappedChanges, "is refused while the table differs from its mapping, which is read all the same"],
    defence:
      "mappedWrite.ts `writableCondition`: the relation as it was mapped, before the proposal and around the writes",
    removed: "the condition",
    patches: [
      [writeUnits, "if (row?.writable !== true)", "if (row === undefined)"],
      ["src/services/changes/evaluate.ts", "rows[0].writable === false", "rows[0].writable === null"]
    ]
  },
  {
    name: "A hostile name on a card (attack A3)",
    test: ["test/channels/http/changes.test.ts", "shows hostile names as harmless text of at most 200 characters"],
    defence: "changes/show.ts `cut`: printable characters only, and at most 200",
    removed: "the removal of control and direction characters",
    patches: [
      [
        "src/services/changes/show.ts",
        "[...printable(text.slice(0, 4 * MAX_SHOWN))]",
        "[...text.slice(0, 4 * MAX_SHOWN)]"
      ]
    ]
  },
  {
    name: "A reply said that another person had agreed to a change (attack A4)",
    test: [
      "test/agents/provenance.test.ts",
      "are never said to be approved by another person, and show nothing that the model added"
    ],
    defence:
      "deeds.ts `CONSENTED`: a claim of consent is a claim of a deed; nothing of a model's is in a draft but what it fills in",
    removed: "the words of consent",
    patches: [
      ["src/agents/guards/deeds.ts", "(DONE_IF_ASKED.has(word) || CONSENTED.has(word))", "DONE_IF_ASKED.has(word)"]
    ]
  },
  {
    name: "A button that appeared under the finger (attack A21)",
    test: [
      "test/web/drafts.test.ts",
      "can't be pressed for 700 ms, nor anything else on the page but the refusal, and takes no focus"
    ],
    defence: "Drafts.ts `STILL`: nothing on the page can be pressed for 700 ms after a card has appeared",
    removed: "the time",
    patches: [["src/web/chat/state/Drafts.ts", "STILL = 700", "STILL = 0"]]
  },
  {
    name: "Max's own page in the frame of another site (attack A21)",
    test: ["test/web/embedChanges.test.ts", "gets no page at"],
    defence: "assets.ts: `frame-ancestors 'none'` stands in the policy of each page",
    removed: "the directive",
    patches: [["src/channels/http/assets.ts", `"frame-ancestors 'none'",`, ""]]
  },
  {
    name: "A value that the person did say was set in another row (attack A2)",
    test: ["test/agents/provenance.test.ts", "don't follow from words that name something else"],
    defence: "Provenance.ts `#saidAll`: a lookup names its rows only if the person said what it filters by",
    removed: "the comparison of filters with what the person said",
    patches: [
      [
        "src/agents/guards/Provenance.ts",
        "const isAskedFor = this.#saidAll(filters, typeNames)",
        "const isAskedFor = true"
      ]
    ]
  },
  {
    name: "Another site's form that decided about a change (attack A20)",
    test: [
      "test/channels/http/changes.test.ts",
      "a browser's session has both, and changes something only for Max's own page with a header that forms can't send"
    ],
    defence: "authenticate.ts `isOwnChange`: the own Origin, and X-Requested-With or a JSON body",
    removed: "the required header",
    patches: [["src/channels/http/authenticate.ts", " && (requestedWith !== undefined || JSON_TYPE.test(type))", ""]]
  },
  {
    name: "Another organization's change, shown to and decided by its approvers (attack A27)",
    test: [
      "test/channels/http/canary.test.ts",
      "changes, their cards, lists, histories and actions tell no other organization anything, nor the logs a value"
    ],
    defence: "records.ts: the organization in the statement that reads changes",
    removed: "the organization",
    patches: [
      [
        "src/services/changes/records.ts",
        "FROM max.changes c WHERE c.organization_id = $1::bigint AND",
        "FROM max.changes c WHERE $1::bigint IS NOT NULL AND"
      ]
    ]
  },
  {
    name: "An attribute of a span that no list allows (attack A30)",
    test: [
      "test/observability/Telemetry.test.ts",
      "takes the place and the clock of a span of Effect's, with attributes of the allowlist"
    ],
    defence: "attributes.ts `collect`: only attributes of the list leave the process",
    removed: "the list",
    patches: [["src/observability/attributes.ts", "one !== undefined && ATTRIBUTES.has(name)", "one !== undefined"]]
  },
  {
    name: "A related row that a rule looks at changed between preview and confirmation (attack A9)",
    test: [refusalsTest, "a related row that a rule looks at changed: the rule sees the row of now"],
    defence: "writeUnits.ts: the rules are evaluated in the transaction, on the locked rows before and after the write",
    removed: "the verdict",
    patches: [[writeUnits, "if (refusals.length > 0) {", "if (refusals.length > 0 && false) {"]]
  },
  {
    name: "A person moved a row out of what a rule covers (attack A14)",
    test: [writePlan, "lets the condition hold for the row afterwards too when `becomes` is left out"],
    defence: "WritePlan.ts `bindRule`: without `becomes`, `where` holds for the row afterwards, too",
    removed: "the condition afterwards",
    patches: [
      [
        "src/permissions/WritePlan.ts",
        "? bindPredicate(rule.becomes, type, binding, true, true)\n      : where",
        '? bindPredicate(rule.becomes, type, binding, true, true)\n      : allows\n        ? ({ _tag: "Always" } as typeof where)\n        : where'
      ]
    ]
  },
  {
    name: "Open changes that a restored backup brought back (attack A32)",
    test: ["test/services/changes/keeping.test.ts", "are gone after a restore, which expires open changes"],
    defence: "restore.ts `expireChanges`: what was open when the backup was made is expired",
    removed: "the end of open changes",
    patches: [
      [
        "src/services/operations/backup/restore.ts",
        "decided_at = now() WHERE state IN ('open', 'waiting')",
        "decided_at = now() WHERE state IN ('nothing')"
      ]
    ]
  },
  {
    name: "A deletion reached a table through another one that it cascades to (attack A31)",
    test: [mappedRows, "counts what it takes along, however far, and is stale when that has changed"],
    defence: "mappedWrite.ts `deleted`: foreign keys are followed as far as they cascade, before and after the write",
    removed: "the way beyond the first table",
    patches: [
      [
        "src/database/sql/mappedWrite.ts",
        "WITH RECURSIVE d(oid) AS (SELECT ${oid} UNION SELECT x.oid FROM d",
        "WITH RECURSIVE d(oid) AS (SELECT ${oid} UNION SELECT x.oid FROM (SELECT 0::oid AS oid) d"
      ]
    ]
  },
  {
    name: "A confirmed deletion took along more rows than its card said (attack A31)",
    test: [mappedRows, "counts what it takes along, however far, and is stale when that has changed"],
    defence: "writeUnits.ts `requireCarried`: the rows are counted again under the locks",
    removed: "the comparison",
    patches: [[writeUnits, "if (was !== is)", "if (was !== is && false)"]]
  },
  {
    name: "A deletion that a trigger took back counted as done (our own review)",
    test: [mappedRows, "deletes by setting a column leaves the row, which is read no more"],
    defence: "writeUnits.ts: a deletion that sets columns must leave a row that the mapping doesn't show",
    removed: "the comparison",
    patches: [[writeUnits, "row.gone === false || ", ""]]
  },
  {
    name: "A row that was added to a mapped table was deleted by an undo after another program had changed it (our own review)",
    test: [
      mappedRows,
      "that adds a row gets the id that the database gives, and is undone while the row is as it was added"
    ],
    defence: "undo.ts `conflictOfAdded`: the digest of the row as it was added, with what the database filled in",
    removed: "the comparison",
    patches: [["src/services/changes/undo.ts", "&& row === now)", "&& row !== '')"]]
  },
  {
    name: "A rule on a mapped table made other statements of a confirmed change (our own review)",
    test: [
      mappedRows,
      "that adds a row is refused by constraints with one sentence, and judged on what triggers made of it"
    ],
    defence: "mappedWrite.ts `writableCondition`: no rule rewrites what is written",
    removed: "the condition",
    patches: [
      ["src/database/sql/mappedWrite.ts", "AND NOT EXISTS (SELECT FROM pg_rewrite w WHERE w.ev_class = c.oid)", ""]
    ]
  },
  {
    name: "A mapping let a generated, joined, identifying or referenced column be written (our own review)",
    test: [
      mappingWrites,
      "is refused with the reason of each column, table, trigger and cascade that can't be written"
    ],
    defence: "checkWrite.ts `unwritable`: only cells with an exact way back that decide nothing about the row",
    removed: "the columns' faults",
    patches: [["src/services/mapping/checkWrite.ts", "if (why !== undefined) fault(", "if (why === null) fault("]]
  },
  {
    name: "A person approved a change of cells that the person can't see (attack A12)",
    test: [
      changesTest,
      "can't be approved by a person who doesn't see a cell that it changes, also without the preview"
    ],
    defence: "approverSees.ts `requireSeen`: the approver's plan must show every cell, inside the transaction",
    removed: "the check in the transaction",
    patches: [
      ["src/services/changes/approverSees.ts", "seen.some(({ visible }) => visible.includes(false))", "seen.length < 0"]
    ]
  },
  {
    name: "A recorded webhook that hands in a ticket, sent again later (our own review)",
    test: [intakeTest, "is refused with one answer where its signature, its time or its body isn't what was signed"],
    defence: "signatures.ts `isRecent`: the signed time is at most five minutes from now",
    removed: "the window",
    patches: [[signatures, "<= SIGNED_SECONDS * 1000", "<= Infinity"]]
  },
  {
    name: "A ticket whose sender contains a NUL character is a failure of the server (npm run attack -- naughty)",
    test: [
      intakeTest,
      "leaves out what it quotes, and is refused where nothing is left, too much, or what can't be stored"
    ],
    defence: "wire/scalars.ts `storable`: texts of requests contain no NUL character",
    removed: "the check",
    patches: [["src/wire/scalars.ts", "/^[^\\u0000\\ud800-\\udfff]*$/u", "/^[^]*$/u"]]
  },
  {
    name: "A ticket of a forged webhook (our own review)",
    test: [intakeTest, "is refused with one answer where its signature, its time or its body isn't what was signed"],
    defence: "signatures.ts `isHmac`: the HMAC of the time and the body, compared in constant time",
    removed: "the comparison",
    patches: [[signatures, "bytes.length === expected.length && timingSafeEqual(bytes, expected)", "bytes.length >= 0"]]
  },
  {
    name: "A webhook's signed bytes divided otherwise between its time and its body (our own review)",
    test: [intakeTest, "is refused with one answer where its signature, its time or its body isn't what was signed"],
    defence: "signatures.ts `TIME`: the exact form of the time",
    removed: "the form",
    patches: [
      [
        signatures,
        "TIME.test(time) &&\n    isRecent(Date.parse(time), now)",
        "isRecent(Date.parse(time.slice(0, 20)), now)"
      ]
    ]
  },
  {
    name: "An e-mail of a mailbox folder that is a link to another file of the machine (our own review)",
    test: [
      intakeTest,
      "is emptied: each e-mail is handed in once and moved to cur, and what can't be read is moved aside"
    ],
    defence: "mailbox.ts `read`: only files are read",
    removed: "the check",
    patches: [["src/channels/intake/mailbox.ts", "if (!facts.isFile())", "if (facts.size < 0)"]]
  },
  {
    name: "A list of changes named a person that its reader doesn't see (our own review)",
    test: [approvalTest, "is asked for in a list that names its proposer only to a reader who may see that person"],
    defence: "preview.ts `namesOfMembers`: names of people are read through the reader's plan",
    removed: "the plan's condition",
    patches: [
      [
        "src/services/changes/preview.ts",
        "compileSeen(people, ids, [], read, viewer.catalog)",
        'compileSeen(people, ids, [], { ...read, where: { _tag: "Always" } }, viewer.catalog)'
      ]
    ]
  },
  {
    name: "The proposer gave the second person's yes with another credential or agent (attack A13)",
    test: [approvalTest, "is never given by the proposer, with the approver's role, another token or an agent"],
    defence: "decisions.ts and the claim in apply.ts: the approver's person differs from the proposer's",
    removed: "the three comparisons",
    patches: [
      [
        decisions,
        "const own = stored.proposer_id === principal.anchorEntityId",
        'const own = stored.proposer_id === principal.anchorEntityId && stored.state === "open"'
      ],
      [decisions, "proposer_id !== anchorEntityId && ", 'proposer_id !== "" && anchorEntityId !== "" && '],
      [apply, "(level <> 'second' OR proposer_id <> $5::text)", "(level <> 'second' OR $5::text <> '')"]
    ]
  },
  {
    name: "A policy that its proposer approved with another credential (our own review)",
    test: [publishingTest, "is never approved by its proposer, whatever the credential"],
    defence: "decisions.ts and the claim in apply.ts: the approver's person differs from the proposer's",
    removed: "the three comparisons",
    patches: [
      [
        decisions,
        "const own = stored.proposer_id === principal.anchorEntityId",
        'const own = stored.proposer_id === principal.anchorEntityId && stored.state === "open"'
      ],
      [decisions, "proposer_id !== anchorEntityId && ", 'proposer_id !== "" && anchorEntityId !== "" && '],
      [apply, "(level <> 'second' OR proposer_id <> $5::text)", "(level <> 'second' OR $5::text <> '')"]
    ]
  },
  {
    name: "A policy that an agent, a narrowed token or a token without administration approved (our own review)",
    test: [publishingTest, "is proposed, shown and approved only in person, by members who may change the policy"],
    defence:
      "publishing.ts `governs`: neither an actor nor a scope, the power now, and a channel that admits administrators",
    removed: "all but the power",
    patches: [
      [publishing, "principal.actor === undefined && principal.scope === undefined && powersOf", "powersOf"],
      [
        publishing,
        "via.administers === true && mayChangePolicy(caller)",
        'via.channel !== "" && mayChangePolicy(caller)'
      ]
    ]
  },
  {
    name: "A token that confirms changes of rows approved a policy (our own review)",
    test: [
      "test/channels/http/policyProposals.test.ts",
      "A proposed policy is listed, read and approved with tokens for administration, and never with one that only confirms"
    ],
    defence: "http/changes.ts `via`: a credential administers by its scope",
    removed: "the scope",
    patches: [["src/channels/http/changes.ts", 'scopes.includes("admin")', "scopes.length > 0"]]
  },
  {
    name: "A proposed policy published over another one that its approver hadn't seen (our own review)",
    test: [publishingTest, "is stale once another version is in force, and is then shown without a digest"],
    defence: "publishing.ts: the version that the file was made from is in force, in the publishing transaction",
    removed: "the requirement",
    patches: [
      [
        publishing,
        "    yield* refusing(requireVersion(sql, organization.id, publication.replaces), () => Stale.of(REPLACED))\n",
        ""
      ],
      [publishing, "requireGovernable, requireVersion }", "requireGovernable }"]
    ]
  },
  {
    name: "A policy published for a proposer who may not change it any more (our own review)",
    test: [publishingTest, "ends when its proposer may not change the policy any more"],
    defence: "publishing.ts: the proposer's power of now, at the approval",
    removed: "the requirement",
    patches: [[publishing, "if (!mayChangePolicy(proposer))", "if (!mayChangePolicy(approver))"]]
  },
  {
    name: "A policy published directly where a second person approves publications (our own review)",
    test: [publishingTest, "is replaced by no other way, but for an operator who says so, which the audit log records"],
    defence: "Policies.ts `publish`: refused while the policy in force asks for an approval",
    removed: "the refusal",
    patches: [
      [
        "src/services/policies/Policies.ts",
        "if (publishing !== undefined && withoutApproval !== true)",
        "if (publishing !== undefined && withoutApproval === false)"
      ]
    ]
  },
  {
    name: "An approved policy after which no second person could approve another one (our own review)",
    test: [publishingTest, "never takes away the last active person who may change the policy, or the last approver"],
    defence: "publishing.ts: an active holder of the power and an active approver, in the publishing transaction",
    removed: "the requirement",
    patches: [
      [publishing, "    yield* refusing(requireGovernable(sql, organization, policy), notAllowed)\n", ""],
      [publishing, "insertPolicy, requireGovernable, requireVersion }", "insertPolicy, requireVersion }"]
    ]
  },
  {
    name: "The second person's yes applied what the proposer may no longer do (attack A8)",
    test: [approvalTest, "applies nothing after the proposer lost the permission, though the approver has it"],
    defence: "decisions.ts `partiesOf`: the proposer's plans of now, not only the approver's, decide",
    removed: "the proposer's plans",
    patches: [
      [
        decisions,
        "return { writers: [writer], approver: confirming }",
        "return { writers: writer === confirming ? [writer] : [confirming], approver: confirming }"
      ]
    ]
  },
  {
    name: "The second person's yes counted after the approver's role was taken away (our own review)",
    test: [approvalTest, "is refused to a person who no longer has the approver's role, or was suspended"],
    defence: "decisions.ts `partiesOf`: the approver's roles are read again before applying",
    removed: "the second check of the roles",
    patches: [[decisions, "    if (!mayApprove(stored, confirming.principal)) return yield* noChange\n", ""]]
  },
  {
    name: "A change that a narrow token proposed was widened by its confirmation (attack A6)",
    test: [changesTest, "of a caller whose agent or token narrows it needs both, also when the person confirms alone"],
    defence: "decisions.ts `partiesOf`: the proposing credential's scope and agent stay in force",
    removed: "the proposing credential",
    patches: [[decisions, "return { writers: [narrowed, confirming] }", "return { writers: [confirming] }"]]
  },
  {
    name: "A draft could be seen and confirmed before its turn was kept (our own review)",
    test: [changesTest, "leaves nothing to confirm when the transaction that keeps its turn is rolled back"],
    defence: "decisions.ts `requireChange`: a draft exists for its turn only",
    removed: "the state drafted",
    patches: [[decisions, 'stored.state === "drafted" || !(own || others)', "!(own || others)"]]
  },
  {
    name: "The row of a member was deleted (attack A15)",
    test: [refusalsTest, "with one clear error for each bad input, and nothing is written"],
    defence: "propose.ts `refuseMembers`: no membership may lead nowhere",
    removed: "the refusal",
    patches: [
      ["src/services/changes/propose.ts", "if (people.length === 0) return\n", "if (people.length >= 0) return\n"]
    ]
  },
  {
    name: "Limits were exceeded by proposals at the same time (attack A26)",
    test: [
      racesTest,
      "share exact limits per person: changes, deletions, rows and calls, each refused with the seconds to wait"
    ],
    defence: "0047_proposals_in_one_row.ts: one proposal of a person at a time is counted",
    removed: "the lock",
    patches: [[storing, "pg_advisory_xact_lock(hashtextextended", "abs(hashtextextended"]]
  },
  {
    name: "A change wrote with the rights of the whole service (our own review)",
    test: [changesTest, "writes rows as a role that has no right to memberships, credentials or policies"],
    defence: "apply.ts: rows are written as `max_change_<hash>`",
    removed: "the switch to the role",
    patches: [[apply, "role: deletesPeople ? undefined : changeRole,", "role: undefined,"]]
  },
  {
    name: "A token that only proposes confirmed its own change (attack A22)",
    test: [
      "test/channels/http/changes.test.ts",
      "a token with changes alone proposes and withdraws, and neither confirms nor rejects"
    ],
    defence: "ChangesApi.ts `deciding`: decisions need the scope confirm",
    removed: "the scope of decisions",
    patches: [["src/channels/http/ChangesApi.ts", 'deciding = { scope: "confirm"', 'deciding = { scope: "changes"']]
  },
  {
    name: "A token of an earlier version changed something (our own review)",
    test: ["test/channels/http/changes.test.ts", "a token without them only reads, and says which scope is missing"],
    defence: "ChangesApi.ts: everything about changes needs the scope changes",
    removed: "the scope of proposals",
    patches: [["src/channels/http/ChangesApi.ts", 'counted = { scope: "changes"', 'counted = { scope: "tools"']]
  },
  {
    name: "Emptiness was asked under the mask (shown table, our own review)",
    test: [filtersTest, shownTable],
    defence: "resolveTerms.ts: a hidden cell counts as empty",
    removed: "the mask is inside the negation",
    patches: [
      [
        "src/services/lookup/resolveTerms.ts",
        '? { _tag: "NotTrue", of: met } : met',
        '? conjunction(path.steps.length === 0 && column !== undefined ? maskOf(at.plan, column) : ALWAYS, { _tag: "NotTrue", of: met }) : met'
      ]
    ]
  },
  {
    name: "A reference to a hidden row counted as a reference (shown table, our own review)",
    test: [filtersTest, shownTable],
    defence: "resolveTerms.ts `hasValue`: the plan of the target",
    removed: "the plan",
    patches: [
      [
        "src/services/lookup/resolveTerms.ts",
        "relation: column.key, where: target.plan.where }",
        "relation: column.key, where: ALWAYS }"
      ]
    ]
  },
  {
    name: "A path went through a hidden row (shown table, our own review)",
    test: [filtersTest, shownTable],
    defence: "paths.ts `reaches`: the plan of each type on the way",
    removed: "the plan of a reference's target",
    patches: [["src/services/lookup/paths.ts", "where: conjunction(to.plan.where, inner) })", "where: inner })"]]
  },
  {
    name: "Rows that lead here through a hidden cell were found (shown table, our own review)",
    test: [filtersTest, shownTable],
    defence: "paths.ts `reaches`: the mask of the column that leads here",
    removed: "the mask",
    patches: [
      ["src/services/lookup/paths.ts", "conjunction(to.plan.where, mask, inner)", "conjunction(to.plan.where, inner)"]
    ]
  },
  {
    name: "A caller's negation counted unknown as satisfied, as a policy's does (shown table, our own review)",
    test: [filtersTest, shownTable],
    defence: "predicate.ts `NotTrue`: what isn't known isn't shown",
    removed: "the mode of a caller's negation",
    patches: [["src/database/sql/predicate.ts", "alias, notArray(context))\n", "alias, notArray(context), true)\n"]]
  },
  {
    name: "Another person's change was proposed again (our own review)",
    test: [
      "test/channels/http/changes.test.ts",
      "for a forged or old digest, another person's change, an unknown id, and twice at once"
    ],
    defence: "again.ts `repeatable`: only its proposer may propose a change again",
    removed: "the proposer",
    patches: [["src/services/changes/again.ts", " || stored.proposer_id !== who", ""]]
  },
  {
    name: "A reply gave one person another one's phone number (our own review)",
    test: ["test/agents/contradictions.test.ts", "is held if its sentence gives the entity another one's value"],
    defence: "ReplyGuard.ts `faultsOf`: `SeenEntities.contradicts`",
    removed: "the comparison with the entity's card",
    patches: [["src/agents/guards/ReplyGuard.ts", "if (seen.contradicts(sentence, claim))", "if (false)"]]
  },
  {
    name: "A row's text led a model to draft a change (attack A1)",
    test: ["test/agents/provenance.test.ts", "hold nothing that the person didn't ask for"],
    defence: "Provenance.ts `judge`: the subject is named by the person",
    removed: "the judgement of subjects",
    patches: [["src/agents/guards/Provenance.ts", "entityIds.some((id) => !this.#named.has(id))", "false"]]
  },
  {
    name: "A sentence that only told how something is became a draft (our own review)",
    test: ["test/agents/provenance.test.ts", "don't follow from a sentence that tells how something is"],
    defence: "changeVerbs.ts `onlyTells`: a message that asks for no change and tells how something is drafts nothing",
    removed: "sentences that tell",
    patches: [
      [
        "src/agents/guards/changeVerbs.ts",
        "words.some((word) => STATES.has(word)) || STATES_ANYWHERE.test(asked)",
        "words.length < 0"
      ]
    ]
  },
  {
    name: "A row that is named like common words counted as named (our own review)",
    test: ["test/agents/provenance.test.ts", "don't reach a row whose name is made of common words"],
    defence: "Provenance.ts `#isName`: a name has a word of its own, or stands between quotation marks",
    removed: "the words that alone name nothing",
    patches: [
      [
        "src/agents/guards/Provenance.ts",
        "if (own.some((word) => !isVerb(word))) return true",
        "if (own.length >= 0 || isVerb(name)) return true"
      ]
    ]
  },
  {
    name: "A repeat lowered the confirmation that a change needs (our own review)",
    test: ["test/services/changes/keeping.test.ts", "proposed again keep their level and their time"],
    defence: "0047_proposals_in_one_row.ts: a repeat that needs a higher level withdraws the lower one",
    removed: "the order of the comparison of levels",
    patches: [[storing, "c.level) < array_position(", "c.level) > array_position("]]
  },
  {
    name: "A row's text led a model to a value (our own review)",
    test: ["test/agents/provenance.test.ts", "hold nothing that the person didn't ask for"],
    defence: "Provenance.ts `#originOf`: the value is said, or pointed at",
    removed: "the comparison with what the person said",
    patches: [
      [
        "src/agents/guards/Provenance.ts",
        "if (parts.every((part) => this.#isSaid(part, kind))) return SAID",
        "return SAID"
      ]
    ]
  },
  {
    name: "A row's text led a model to a delete (our own review)",
    test: ["test/agents/provenance.test.ts", "are refused with a text that tells the model to ask"],
    defence: "Provenance.ts `judge`: the message asks for a removal",
    removed: "the verbs of removal",
    patches: [["src/agents/guards/Provenance.ts", '!asksFor("removal", this.#now)', "false"]]
  },
  {
    name: "A reply claimed a change that waits (attack A5)",
    test: ["test/agents/provenance.test.ts", "are never said to be done"],
    defence: "ReplyGuard.ts `faultsOf`: `claimsDeed`",
    removed: "the guard of deeds",
    patches: [["src/agents/guards/ReplyGuard.ts", "claimsDeed(sentence, grounding.deeds.of())", "false"]]
  },
  {
    name: "A reply gave a group the figure of another (our own review)",
    test: ["test/agents/figures.test.ts", "is held in 60 false sentences"],
    defence: "ReplyGuard.ts `faultsOf`: `Figures.problem`",
    removed: "the guard of figures",
    patches: [["src/agents/guards/ReplyGuard.ts", "if (problem !== undefined) add(at, end, problem, true)", ""]]
  },
  {
    name: "A token for lookups took the whole table away (our own review)",
    test: [exportTest, "needs the scope export, which sessions have and earlier tokens don't"],
    defence: "Api.ts: exports need the scope export",
    removed: "the scope of exports",
    patches: [["src/channels/http/Api.ts", '{ scope: "export", calls: 1 }', '{ scope: "tools", calls: 1 }']]
  },
  {
    name: "An export without end (our own review)",
    test: [exportTest, "has at most 10000 rows and says in its last line that there are more"],
    defence: "Exports.ts `following`: 10,000 rows, in pages that the reader asks for",
    removed: "the bound of rows",
    patches: [["src/services/exports/Exports.ts", `if (rows >= MAX_EXPORTED) return Effect.succeed("full")`, ""]]
  },
  {
    name: "Exports of a stolen session (our own review)",
    test: [exportTest, "happens 10 times an hour per person, counted across processes"],
    defence: "Exports.ts `count`: ten an hour, counted in the database",
    removed: "the count of exports",
    patches: [
      [
        "src/services/exports/Exports.ts",
        "yield* count(organizationId, anchorEntityId)\n            const columns",
        "const columns"
      ]
    ]
  },
  {
    name: "An export went on after its person was suspended (our own review)",
    test: [exportTest, "ends with a line that says so when what the person may see changes"],
    defence: "EntityQueryService.ts `pages`: every page is read under the epoch of the first",
    removed: "the plan of an export's first page",
    patches: [
      [
        "src/services/EntityQueryService.ts",
        'Effect.map(read(cursor), (found) => (found._tag === "Page" ? found.page : undefined))',
        'Effect.map(read(cursor), (found) => (found._tag === "Page" ? found.page : { total: 0, entities: [] }))'
      ]
    ]
  },
  {
    name: "An export went on after its sign-in had expired (our own review)",
    test: [exportTest, "reads nothing after its credential has expired"],
    defence: "Exports.ts `following`: no page is read after the credential's expiry",
    removed: "the expiry of exports",
    patches: [["src/services/exports/Exports.ts", `if (expiresAt <= Date.now()) return Effect.succeed("expired")`, ""]]
  },
  {
    name: "A file showed more than paging does (our own review)",
    test: ["test/conformance/exports.test.ts", "hold the rows and cells that paging shows, in the same order"],
    defence: "resolve.ts `resolvePages`: an export is a lookup, with the plan and masks of one",
    removed: "the masks of an export's cells",
    patches: [
      [
        resolve,
        "    const names = yield* resolveNames({ ...query, selectColumns }, visible, bounds)",
        "    const found = yield* resolveNames({ ...query, selectColumns }, visible, bounds)\n" +
          '    const names = { ...found, fixed: { ...found.fixed, select: found.fixed.select.map((one) => ({ ...one, mask: { _tag: "Always" as const } })) } }'
      ]
    ]
  },
  {
    name: "A sum held hidden cells (Cube PR 11026, masks on aggregates)",
    test: [figuresTest, shownFigures],
    defence: "shownRows.ts `shownValue`: each cell is under its mask, before any aggregate",
    removed: "the masks of figures",
    patches: [
      [
        shownRows,
        "[...condition(mask, type, alias, context), hasValue(column, reference)]",
        "[hasValue(column, reference)]"
      ]
    ]
  },
  {
    name: "A group named a row that the caller may not see (objectstack #3171)",
    test: [figuresTest, shownFigures],
    defence: "shownRows.ts `hopsOf`: a reference that isn't shown is in the empty group",
    removed: "the plan of a group's target",
    patches: [[shownRows, "where: target.where }]", 'where: { _tag: "Always" } as never }]']]
  },
  {
    name: "A figure went through a hidden row (shown table, our own review)",
    test: [figuresTest, shownFigures],
    defence: "shownRows.ts `Joins`: the plan of each type on a path",
    removed: "the plan of a path's targets",
    patches: [[shownRows, ", ...condition(where, to, next, this.context)]", "]"]]
  },
  {
    name: "A group by a hidden reference (Twenty #25911)",
    test: [figuresTest, shownFigures],
    defence: "shownRows.ts `storedKey`: a value or a reference is added up under its mask",
    removed: "the mask",
    patches: [[shownRows, "const value = shown === undefined ? reference", "const value = true ? reference"]]
  },
  {
    name: "A guessed cursor of groups showed the first page (our own review)",
    test: [groupsTest, "amounts in different currencies are never added together, in 200 random sets"],
    defence: "groups.ts `page`: a cursor without a group has no place to start from",
    removed: "the place of a cursor",
    patches: [[groups, "(SELECT min(c.place) FROM o c", "(SELECT coalesce(min(c.place), 0) FROM o c"]]
  },
  {
    name: "Amounts in different currencies were added together (our own review)",
    test: [groupsTest, "amounts in different currencies are never added together, in 200 random sets"],
    defence: "groups.ts `finished`: amounts are added up per currency",
    removed: "the currency of a sum",
    patches: [[groups, "const merged = !money.has(index)", "const merged = true"]]
  },
  {
    name: "One row made every figure by a period unavailable (our own review)",
    test: ["test/services/lookup/groupsInput.test.ts", "have a true answer or one clear error"],
    defence: "moments.ts `isOrdinary`: a zone and a period stay within the type",
    removed: "the bounds",
    patches: [["src/database/sql/moments.ts", "`${value} >= '4712-01-01 BC' AND ${value} < '294276-01-01'`", '"TRUE"']]
  },
  {
    name: "An export of groups ended at a page and didn't say so (our own review)",
    test: [
      "test/channels/http/export.test.ts",
      "has every group, more than a page shows, and says in its last line where there are more groups than it has"
    ],
    defence: "Exports.ts: all groups of a query, as many as an export has",
    removed: "the larger page",
    patches: [
      [
        "src/services/exports/Exports.ts",
        "queries.groups({ ...query, organizationId })",
        "queries.findEntities({ ...query, organizationId })"
      ]
    ]
  },
  {
    name: "A configuration file that every user could read had a password (our own review)",
    test: ["test/channels/config.test.ts", "has a secret only by reference, unless its owner alone can read it"],
    defence: "configFile.ts `isLiteralSecret`: a file that others can read refers to its secrets",
    removed: "the check of the file's mode",
    patches: [
      [
        "src/env/configFile.ts",
        "if (isShared && isLiteralSecret(name, text))",
        "if (false && isLiteralSecret(name, text))"
      ]
    ]
  },
  {
    name: "A mistake in a configuration file was quoted with the secret beside it (our own review)",
    test: ["test/channels/config.test.ts", "never repeats its text in a problem, whatever it contains"],
    defence: "configFile.ts: a file is read by its own tokens, and a problem has a line and what was expected",
    removed: "the reader's own words",
    patches: [
      ["src/env/configFile.ts", "expected ${error.message}.`] }", "expected ${error.message}, not ${text}.`] }"]
    ]
  },
  {
    name: "An authenticator's answer that was recorded and sent again (our own review)",
    test: [passkeysTest, "signs in once: of fifty at once at two processes"],
    defence: "Passkeys.ts `finishSignIn`: a challenge is spent in the transaction that uses the passkey",
    removed: "the refusal of a spent challenge",
    patches: [["src/services/access/Passkeys.ts", "if (spent === undefined) return false", "void spent"]]
  },
  {
    name: "A passkey made for another session's challenge (our own review)",
    test: [passkeysTest, "to a challenge of another session, person or purpose is refused"],
    defence: "passkeyChallenge.ts: the purpose, with the session's id, is part of what the key authenticates",
    removed: "the purpose",
    patches: [["src/services/access/passkeyChallenge.ts", ".update(head).update(purpose)", ".update(head)"]]
  },
  {
    name: "A copied passkey (our own review)",
    test: [passkeysTest, "whose counter goes back or stands still is removed"],
    defence: "Passkeys.ts `finishSignIn`: the counter is compared in the statement that stores it",
    removed: "the comparison",
    patches: [
      [
        "src/services/access/Passkeys.ts",
        "AND (counter < ${counter} OR (counter = 0 AND ${counter}::bigint = 0)) RETURNING",
        "RETURNING"
      ]
    ]
  },
  {
    name: "A stolen cookie that became a passkey (our own review)",
    test: [passkeysTest, "is added only within an hour after the sign-in"],
    defence: "Passkeys.ts `mayAdd`: the session began within the hour, and not with a provider's roles",
    removed: "the hour",
    patches: [["src/services/access/Passkeys.ts", "row?.fresh !== true", "row === undefined"]]
  },
  {
    name: "A suspended member who signed in with a passkey (our own review)",
    test: [passkeysTest, "is refused while its member is suspended"],
    defence: "Passkeys.ts `finishSignIn`: the member is admitted again before a session begins",
    removed: "the admission",
    patches: [
      [
        "src/services/access/Passkeys.ts",
        "yield* identities.readmit({ organizationId, anchorEntityId: row.anchor_id })",
        "void identities"
      ]
    ]
  },
  {
    name: "An MCP client that accepts every question (our own review)",
    test: [mcpChanges, "isn't asked about a change that needs two confirmations or a second person"],
    defence: "mcp/changing.ts: a client confirms only what needs one confirmation",
    removed: "the level",
    patches: [["src/channels/mcp/changing.ts", ` && level === "once"`, ""]]
  },
  {
    name: "An MCP client that makes up the person's answer (attack A24)",
    test: [mcpChanges, "isn't asked without the scope confirm"],
    defence: "mcp/changing.ts: a client confirms only with the scope confirm",
    removed: "the scope",
    patches: [["src/channels/mcp/changing.ts", "const mayAsk = confirms && ", "const mayAsk = "]]
  },
  {
    name: "An answer to one question that confirms another change (attack A25)",
    test: [mcpChanges, "confirms nothing with a state that was changed"],
    defence: "mcp/changing.ts: the state must be that of the same call",
    removed: "the comparison",
    patches: [["src/channels/mcp/changing.ts", "!answered.accepts || answered.state !== changeId", "!answered.accepts"]]
  },
  {
    name: "A tool that changes something beside the tools that only read (our own review)",
    test: [mcpChanges, "needs the scope changes"],
    defence: "http/mcp.ts: a server of its own for each path, and the scope changes",
    removed: "the own server",
    patches: [
      [
        "src/channels/http/mcp.ts",
        "Layer.fresh(\n    McpServer.layerHttpRequestScoped(",
        "Layer.suspend(() =>\n    McpServer.layerHttpRequestScoped("
      ]
    ]
  },
  {
    name: "An invitation that outlived the administrator's decision (our own review)",
    test: [invitationsTest, "ends when an administrator suspends the person or restores the access"],
    defence: "invitation.ts: a link activates only a membership that is still invited",
    removed: "the condition",
    patches: [["src/services/members/invitation.ts", "AND invited_at IS NOT NULL RETURNING 1", "RETURNING 1"]]
  },
  {
    name: "An invitation that was accepted twice (our own review)",
    test: [invitationsTest, "is accepted by one of fifty simultaneous attempts"],
    defence: "Credentials.ts `redeemLink`: the link is ended in the statement that finds it in force",
    removed: "the condition",
    patches: [
      [
        "src/services/access/Credentials.ts",
        "AND kind IN ('link', 'invitation') AND sha256 = ${sha256(secret)} AND ended_at IS NULL",
        "AND kind IN ('link', 'invitation') AND sha256 = ${sha256(secret)}"
      ],
      ["src/services/members/invitation.ts", "AND invited_at IS NOT NULL RETURNING 1", "RETURNING 1"]
    ]
  },
  {
    name: "An administrator who gave a role with more powers than their own (our own review)",
    test: [invitationsTest, "needs the power over members, and never gives a power that the administrator lacks"],
    defence: "powers.ts `mayGive`: a role with a power that the administrator lacks is refused",
    removed: "the comparison",
    patches: [["src/services/members/powers.ts", "find((power) => !own.includes(power))", "find(() => false)"]]
  },
  {
    name: "A line of a list that gave a role with more powers than its administrator's (our own review)",
    test: [invitationListsTest, "never gives or takes a power that its administrator lacks"],
    defence: "Invitations.ts: the roles of each line are among those that the administrator may give",
    removed: "the roles of lines in the comparison",
    patches: [
      [
        "src/services/access/Invitations.ts",
        "mayGive(state.policy, administrator, [...roles, ...invited.flatMap((person) => person.roles ?? [])])",
        "mayGive(state.policy, administrator, roles)"
      ]
    ]
  },
  {
    name: "An invited administrator who lost their roles to another invitation (our own review)",
    test: [invitationListsTest, "never gives or takes a power that its administrator lacks"],
    defence: "Invitations.ts: inviting a person again takes no role that the administrator may not take",
    removed: "the roles that the invited person has",
    patches: [
      [
        "src/services/access/Invitations.ts",
        "if (before !== undefined && administrator !== undefined) yield* mayGive(policy, administrator, before.roles)",
        ""
      ]
    ]
  },
  {
    name: "A file that was read for an administrator who may not invite (our own review)",
    test: [invitationListsTest, "needs the power over members, before the list is read"],
    defence: "Imports.ts: the power is required before the upload of a list is read",
    removed: "the requirement",
    patches: [
      ["src/channels/http/imports.ts", "yield* imports.mayInvite(administrator)", ""],
      [
        "src/services/administration/Imports.ts",
        'const { principal, state } = yield* current(administrator, "members")',
        "const { principal, state } = yield* identities.readmit(administrator)"
      ]
    ]
  },
  {
    name: "Questions kept for an organization that didn't want it (our own review)",
    test: [unclearTest, "is kept from when its organization wants it until it doesn't"],
    defence: "UnclearQuestions.ts: a question is kept by the row with which an organization opted in",
    removed: "the condition",
    patches: [
      [
        "src/services/administration/UnclearQuestions.ts",
        "(SELECT organization_id FROM max.question_settings WHERE organization_id = ${id} FOR SHARE)",
        "(SELECT ${id}::bigint AS organization_id)"
      ]
    ]
  },
  {
    name: "A name in a question that an administrator reads (our own review)",
    test: ["test/agents/withoutNames.test.ts", "has no word of any name of the sample data"],
    defence: "withoutNames.ts: only words that Max knows are kept of a question",
    removed: "the condition",
    patches: [["src/agents/withoutNames.ts", "(own.has(word) || isQuestionWord(word)) &&", ""]]
  },
  {
    name: "An administrator without the power over the policy who switched it on (our own review)",
    test: [unclearTest, "can be switched on by an administrator with the power over the policy"],
    defence: "UnclearQuestions.ts: the power is required of the current roles",
    removed: "the requirement",
    patches: [
      ["src/services/administration/UnclearQuestions.ts", 'yield* requirePower(state.policy, principal, "policy")', ""]
    ]
  },
  {
    name: "An administrator without the power over data who imported (our own review)",
    test: [importsTest, "needs the power over data, before the file is read"],
    defence: "Imports.ts: the power is required of the current roles, before the upload is read",
    removed: "the requirement",
    patches: [["src/services/administration/Imports.ts", "yield* requirePower(state.policy, principal, power)", ""]]
  },
  {
    name: "An import as an oracle of hidden rows (our own review)",
    test: [importsTest, "tells an administrator who doesn't see the whole type nothing about rows that exist"],
    defence: "Imports.ts: counts and examples only for administrators who see the whole type",
    removed: "the condition",
    patches: [
      [
        "src/services/administration/Imports.ts",
        "return reported(imported, isWhole)",
        "return reported(imported, isWhole || true)"
      ]
    ]
  },
  {
    name: "An administrator who was suspended while their import ran (our own review)",
    test: [importsTest, "is rolled back if the administrator's access changes meanwhile"],
    defence: "Importer.ts: the epoch that admitted the administrator is locked before the commit",
    removed: "the lock",
    patches: [
      [
        "src/services/import/Importer.ts",
        "administrator !== undefined && published === undefined",
        "administrator === undefined && published === undefined"
      ]
    ]
  },
  {
    name: "The last person with a power who lost it (our own review)",
    test: [invitationsTest, "keeps it: neither roles nor a suspension can take it"],
    defence: "holders.ts: the change is taken back if a power has no active holder afterwards",
    removed: "the comparison",
    patches: [["src/services/members/holders.ts", "find((power) => !after.has(power))", "find(() => false)"]]
  },
  {
    name: "An administrator without the power over the policy who read or published a policy file (our own review)",
    test: [policyEditorTest, "needs the power over the policy"],
    defence: "PolicyEditor.ts: the power is required of the current roles",
    removed: "the requirement",
    patches: [
      [
        "src/services/administration/PolicyEditor.ts",
        'yield* requirePower(asking.state.policy, asking.principal, "policy")',
        ""
      ]
    ]
  },
  {
    name: "A published policy that no active person could change any more (our own review)",
    test: [policyEditorTest, "can't take the power over the policy from the last active person who has it"],
    defence: "Policies.ts: an active holder of the power is required in the publishing transaction",
    removed: "the requirement",
    patches: [
      [
        "src/services/policies/Policies.ts",
        "if (administrator !== undefined) yield* requireGovernable(app, organization, policy)",
        ""
      ]
    ]
  },
  {
    name: "A policy published over another administrator's (our own review)",
    test: [policyEditorTest, "isn't published over a version that its author hasn't seen"],
    defence: "Policies.ts `requireVersion`: the version that the text was made from is in force",
    removed: "the requirement",
    patches: [
      [
        "src/services/policies/Policies.ts",
        "if (replacing !== undefined) yield* requireVersion(app, organization.id, replacing)",
        ""
      ]
    ]
  },
  {
    name: "A simulated policy as an oracle of hidden rows (our own review)",
    test: [policyEditorTest, "learns no hidden row by a simulation or a failing test"],
    defence: "simulatePolicy.ts: only rows that the administrator sees are counted and named",
    removed: "the restriction to visible rows",
    patches: [
      ["src/services/policies/simulatePolicy.ts", "rows: all(visible, seen(access.rows)),", "rows: seen(access.rows),"]
    ]
  },
  {
    name: "A policy's test as an oracle of hidden rows (our own review)",
    test: [policyEditorTest, "learns no hidden row by a simulation or a failing test"],
    defence: "PolicyEditor.ts: why a test fails is for administrators who see every row and column",
    removed: "the condition",
    patches: [["src/services/administration/PolicyEditor.ts", "failures: isWhole ? failures : []", "failures"]]
  },
  {
    name: "A former id of a member was another person's id in the new table of people, who got their conversations (our own review)",
    test: [
      "test/services/mapping/anchors.test.ts",
      "move with their own roles, credentials and conversations to the rows of another table, in which their ids are those of others"
    ],
    defence: "anchors.ts `rename`: members move at once, by names between, and nothing stays under a former id",
    removed: "the names that former ids get",
    patches: [["src/services/mapping/anchors.ts", 'const FORMER = "former "', 'const FORMER = ""']]
  },
  {
    name: "A change that a code from another line confirmed (attack A23)",
    test: [confirmingByText, "from another line is a wrong code"],
    defence: "SmsCodes.ts `check`: a code counts only on the line that it was sent from",
    removed: "the condition on the line",
    patches: [[smsCodes, "line = ${line} AND anchor_id", "anchor_id"]]
  },
  {
    name: "A change that a code from another number confirmed (attack A23)",
    test: [confirmingByText, "from another number is a wrong code"],
    defence:
      "SmsCodes.ts: a code is found by the number that it was sent to, hashed with it, and belongs to one person",
    removed: "the number from the search and from the hash, and the condition on the person",
    patches: [
      [
        smsCodes,
        "app`c.organization_id = ${organizationId} AND c.phone = ${phone}`",
        "app`c.organization_id = ${organizationId} AND (c.phone = ${phone} OR c.phone <> '') AND c.code_sha256 IS NOT NULL`"
      ],
      [smsCodes, "`${organizationId}:${phone}:${code}`", "`${organizationId}:${phone.length}:${code}`"],
      [
        smsCodes,
        "AND anchor_id = ${anchorId} AND code_sha256",
        "AND (anchor_id = ${anchorId} OR true) AND code_sha256"
      ],
      ["src/services/changes/decisions.ts", "own = stored?.proposer_id === who", "own = stored !== undefined"]
    ]
  },
  {
    name: "A code that was guessed (attack A23)",
    test: [
      confirmingByText,
      "that is guessed locks the number for an hour at the third try, for a right code as for a wrong one"
    ],
    defence: "SmsCodes.ts `check`: three wrong codes within an hour lock the number, in the statement that judges them",
    removed: "the number of tries",
    patches: [[smsCodes, "const MAX_TRIES = 3", "const MAX_TRIES = 30_000"]]
  },
  {
    name: "Codes that were guessed many times at once (attack A23)",
    test: [confirmingByText, "that is guessed many times at once is judged three times"],
    defence: "SmsCodes.ts `check`: the number's row is locked before a code is judged",
    removed: "the lock",
    patches: [[smsCodes, "WHERE ${ofNumber(key)} FOR UPDATE)", "WHERE ${ofNumber(key)})"]]
  },
  {
    name: "A forged sender's yes without a code (attack A23)",
    test: [confirmingByText, "is never confirmed by a carrier's word, a yes without its code, or another word with it"],
    defence: "SmsProcessor.ts: a typed yes confirms nothing by text, where a sender can be forged",
    removed: "the setting",
    patches: [[smsProcessor, "changes: { via: VIA, confirms: false }", "changes: { via: VIA, confirms: true }"]]
  },
  {
    name: "A carrier's word that was taken for a yes (attack A23)",
    test: [confirmingByText, "is never confirmed by a carrier's word, a yes without its code, or another word with it"],
    defence: "sms/codes.ts: only OK and NO decide; a carrier's word with a code gets the notice how to reply",
    removed: "the comparison with OK",
    patches: [
      [
        "src/channels/sms/codes.ts",
        'return keywordOf(word) === undefined ? undefined : { word: "other", code }',
        'return { word: "ok", code }'
      ]
    ]
  },
  {
    name: "A code of a number that has another person by now (attack A23)",
    test: [confirmingByText, "of a number that has another person by now is a wrong code"],
    defence: "SmsCodes.ts `check`: a code counts only for the person that it was sent to",
    removed: "the condition on the person",
    patches: [
      [
        smsCodes,
        "AND anchor_id = ${anchorId} AND code_sha256",
        "AND coalesce(anchor_id, ${anchorId}) <> '' AND code_sha256"
      ]
    ]
  },
  {
    name: "A dormant number that confirmed a change (attack A23)",
    test: [confirmingByText, "from a dormant number confirms nothing"],
    defence: "SmsAdmission.ts: a number that was silent for 180 days admits no person, whatever it sends",
    removed: "the refusal",
    patches: [
      [
        "src/services/texting/SmsAdmission.ts",
        "if (yield* isDormant(organization.id, phone, principal.anchorEntityId)) return",
        "if ((yield* isDormant(organization.id, phone, principal.anchorEntityId)) && false) return"
      ]
    ]
  },
  {
    name: "A person of an opened line who changed rows (our own review)",
    test: [
      confirmingByText,
      "from a person whom only the open channel admits confirms nothing, and the person has no actions"
    ],
    defence: "SmsProcessor.ts: only members have changes by text",
    removed: "the condition on the membership",
    patches: [[smsProcessor, 'changing && admitted.by === "membership"', "changing"]]
  },
  {
    name: "A deletion that one code confirmed (our own review)",
    test: [
      confirmingByText,
      "has a link instead of a code where it needs a second yes, another person or more than one text"
    ],
    defence: "changeText.ts and SmsCodes.ts: only a change at level once gets a code",
    removed: "both conditions",
    patches: [
      ["src/channels/sms/changeText.ts", 'level !== "once" || ', ""],
      ["src/channels/sms/changeText.ts", "|| destructive ", ""],
      [smsCodes, "AND x.level = 'once' ", ""]
    ]
  },
  {
    name: "A code in the log of texts (attack A30)",
    test: [confirmingByText, "is stored as a hash, and in no text, message, log or turn"],
    defence:
      "SmsDispatcher.ts: a code is made when its text is sent, and stands in no stored text; a message is stored without its code",
    removed: "the erasure of the message",
    patches: [[smsProcessor, "inbox.replaceBody(lease, message, REDACTED)", "Effect.void"]]
  },
  {
    name: "Changes by text that no operator switched on (our own review)",
    test: [confirmingByText, "is neither proposed nor confirmed until an operator switches it on"],
    defence: "SmsSettings.ts: an organization without the setting has no changes by text",
    removed: "the default",
    patches: [
      ["src/services/texting/SmsSettings.ts", "changes: row?.changes ?? false", "changes: row?.changes ?? true"]
    ]
  },
  {
    name: "Another organization's changes in an administrator's list (our own review)",
    test: [
      "test/web/changeLog.test.ts",
      "shows another organization's administrators nothing, whichever change they name"
    ],
    defence: "changeLog.ts: the organization is the first condition of the list",
    removed: "the condition",
    patches: [
      [
        "src/services/administration/changeLog.ts",
        "WHERE c.organization_id = ${catalog.organization.id}::bigint AND c.rows > 0",
        "WHERE c.rows > 0"
      ]
    ]
  },
  {
    name: "Approvers who were told by text without a switch (our own review)",
    test: [
      confirmingByText,
      "is told by text of a change that waits, once, with nothing but the link, after an operator switched it on"
    ],
    defence: "ApproverTexts.ts: only organizations with the setting have such texts",
    removed: "the condition",
    patches: [["src/services/texting/ApproverTexts.ts", "WHERE g.tell_approvers AND c.state", "WHERE c.state"]]
  },
  {
    name: "An approver who was told by text after STOP (our own review)",
    test: [confirmingByText, "who has sent STOP is told nothing"],
    defence: "ApproverTexts.ts: a sender who opted out gets no text",
    removed: "the condition",
    patches: [["src/services/texting/ApproverTexts.ts", "AND x.stopped_at IS NULL", ""]]
  },
  {
    name: "Another system's answer that moved a later call to another order (our own review)",
    test: [
      "test/services/actions/writePointers.test.ts",
      "does nothing further, and says what is missing, where an answer lacks the value or has another kind"
    ],
    defence: "later.ts `filled`: what is filled in is checked like a value that a person gives",
    removed: "the check",
    patches: [
      [
        "src/services/changes/calls/later.ts",
        "const read = readField(field, text, organization)",
        "const read: Result.Result<string, string> = organization ? Result.succeed(text) : Result.fail(field.slug)"
      ]
    ]
  },
  {
    name: "A step that the person had not asked for, all of whose values another system answers (our own review)",
    test: [
      "test/channels/intake/tickets.test.ts",
      "are refused a step whose values are all filled in, unless the author asked for that deed"
    ],
    defence: "Provenance.ts `judge`: then the message must name the deed",
    removed: "the condition",
    patches: [["src/agents/guards/Provenance.ts", "if (isFilledIn && !this", "if (!isFilledIn && isRemoval && !this"]]
  },
  {
    name: "An approver's webhook without its signature, after its secret was lost (our own review)",
    test: [
      "test/services/changes/webhook.test.ts",
      "needs its secret, long enough, at declaring and at each attempt: nothing is sent unsigned"
    ],
    defence: "send.ts `exchangeOf`: without its secret, nothing is sent",
    removed: "the end of the attempt",
    patches: [
      [
        "src/services/actions/send.ts",
        'return { _tag: "Later", error: "secret" }\n    secrets[name] = secret.success',
        "continue\n    secrets[name] = secret.success"
      ]
    ]
  },
  {
    name: "An approver's webhook that was declared for an address of the private network (SSRF, our own review)",
    test: [
      "test/services/changes/webhook.test.ts",
      "goes to a public host by https or one that the operator lists, at declaring and at each attempt"
    ],
    defence: "ApproverWebhook.ts `urlProblem`: the rules of an action's host",
    removed: "the comparison with them",
    patches: [
      [
        approverWebhook,
        ": hostProblem(new URL(url), hosts)",
        ": hostProblem(new URL(url), [...hosts, new URL(url).host])"
      ]
    ]
  },
  {
    name: "An approver's webhook whose body was changed on its way (our own review)",
    test: [
      "test/services/changes/webhook.test.ts",
      "tells once of a change that waits: its actions, rows and link, signed, and no value of a row"
    ],
    defence: "standardSignature.ts: the signature is over the id, the time and the body",
    removed: "the body",
    patches: [["src/services/actions/standardSignature.ts", ".update(body).digest", ".digest"]]
  },
  {
    name: "Approvers' other system that was told of a row's values (our own review)",
    test: [
      "test/services/changes/webhook.test.ts",
      "tells once of a change that waits: its actions, rows and link, signed, and no value of a row"
    ],
    defence: "ApproverWebhook.ts `bodyOf`: slugs, numbers and the link",
    removed: "the choice of what is told",
    patches: [[approverWebhook, "    rows: due.rows,", "    rows: due.rows,\n    steps,"]]
  },
  {
    name: "A webhook for approvers that was told of what waited before an operator declared it (our own review)",
    test: [
      "test/services/changes/webhook.test.ts",
      "is off until it is declared, tells of what waits from then on, and nothing after it is removed"
    ],
    defence: "ApproverWebhook.ts `CLAIM`: only changes that wait since then",
    removed: "the condition",
    patches: [[approverWebhook, "AND c.yes_at >= w.set_at AND", "AND"]]
  },
  {
    name: "A request that a dead process may have sent, sent again to a service without keys (our own review)",
    test: [outboxTest, "whose process died while it was sent is sent again only where the service honors a key"],
    defence: "ChangeOutbox.ts `sendClaimed`: what stood as tried is unknown, unless the service honors its key",
    removed: "the condition",
    patches: [[changeOutbox, "if (abandoned && !isRepeatable(executor))", "if (abandoned && step < 0)"]]
  },
  {
    name: "A deed that may have been done was called refused, because its repetition was (our own review)",
    test: [outboxTest, "that may have been done isn't called refused when a later attempt is"],
    defence: "ChangeOutbox.ts `settledBy`: after an attempt without a clear answer, a refusal leaves it unknown",
    removed: "the memory of earlier attempts",
    patches: [[changeOutbox, 'state: unsure ? "unknown" : "refused"', 'state: "refused"']]
  },
  {
    name: "An action reached an address of the private network, such as a cloud's metadata (SSRF, our own review)",
    test: ["test/services/actions/file.test.ts", "only addresses of the public internet are public"],
    defence:
      "hosts.ts `isPublicAddress`: of the addresses that a host has, each must be public; the connection uses these",
    removed: "the blocked networks of IPv4",
    patches: [["src/services/network/hosts.ts", 'return !blocked.check(address, "ipv4")', "return true"]]
  },
  {
    name: "A value of two dots moved a request to another path (attack A18)",
    test: [outboxTest, "puts values in their places only: no value changes the path, opens a template or ends a line"],
    defence: "template.ts `addressOf`: no segment that a value makes is a dot segment",
    removed: "the comparisons of the path",
    patches: [
      [
        "src/services/actions/template.ts",
        "return isAsWritten && !hasDots && !isEmpty ?",
        "return isAsWritten && !isEmpty ?"
      ]
    ]
  },
  {
    name: "A person used a declared action that a rule denies (our own review)",
    test: [outboxTest, "is open to no one whom no rule allows it, or whom a rule denies it"],
    defence:
      "invoke.ts `mayInvoke`: each party needs a rule that allows it, and none that denies it; again in the transaction",
    removed: "the rules that deny",
    patches: [["src/permissions/invoke.ts", ' && !rules.some(({ effect }) => effect === "deny")', ""]]
  },
  {
    name: "Another version of an action was sent than was shown (our own review)",
    test: [outboxTest, "isn't confirmed in another version than was shown, nor after it was retired"],
    defence: "apply.ts: each call's version must be in force for every writer, inside the transaction",
    removed: "the comparison of versions",
    patches: [[apply, "one.slug === action && one.version === version", "one.slug === action && version > 0"]]
  },
  {
    name: "A question that was typed before another person signed in (our own review)",
    test: [
      "test/web/kept.test.ts",
      "A question that was typed when a session ended returns once, and only to the same person of the same organization"
    ],
    defence:
      "Kept.ts `take`: the question returns only to the same person of the same organization; names are compared",
    removed: "the comparison of persons",
    patches: [["src/web/chat/state/Kept.ts", " && person === by?.person", ""]]
  },
  {
    name: "The author of a ticket had a change applied with one yes (attack A28)",
    test: [
      "test/channels/http/intake.test.ts",
      "drafts a change that only another member approves, though the policy asks for one yes"
    ],
    defence:
      "level.ts `leastOf`: what the channel of tickets and e-mails proposes needs another person, also when proposed again",
    removed: "the least confirmation of the channel",
    patches: [["src/services/changes/level.ts", '{ intake: "second" }', "{}"]]
  },
  {
    name: "A ticket that was sent twice drafted its change twice (our own review)",
    test: [
      "test/channels/http/intake.test.ts",
      "is answered once: sent again, it has the same conversation and the state of its changes"
    ],
    defence: "Sources.ts: the message's id is stored with its conversation in one transaction, under a unique index",
    removed: "the index",
    patches: [["src/database/migrations/0038_sources.ts", "CREATE UNIQUE INDEX", "CREATE INDEX"]]
  },
  {
    name: "Two people who set a server up at once (Metabase's class of attack, our own review)",
    test: [
      setupTest,
      "makes one organization, whichever links are used: of twenty at once at two processes exactly one succeeds"
    ],
    defence: "Setup.ts `make`: the transaction locks the table of organizations before it looks whether there is one",
    removed: "the lock",
    patches: [[setup, "yield* app`LOCK TABLE max.organizations IN SHARE ROW EXCLUSIVE MODE`", ""]]
  },
  {
    name: "A set-up link that was used made a second administrator (our own review)",
    test: [
      setupTest,
      "makes one organization, whichever links are used: of twenty at once at two processes exactly one succeeds"
    ],
    defence: "Setup.ts `make`: a server with an organization can't be set up, whatever the link",
    removed: "the condition",
    patches: [[setup, "if (!(yield* isEmpty) || ", "if ("]]
  },
  {
    name: "Another site's page that set a server up (our own review)",
    test: [setupTest, "counts for Max's own page only"],
    defence: "setup.ts: a set-up needs Max's own Origin, like a sign-in",
    removed: "the comparison of origins",
    patches: [["src/channels/http/setup.ts", "isOwnChange(request, settings)", "settings.cookie !== request.method"]]
  },
  {
    name: "A public name led an action to a private address (DNS rebinding, our own review)",
    test: [actionGuards, "that leads to a private address isn't connected to, unless the operator lists its host"],
    defence:
      "hosts.ts `guardedLookup`: what the name resolves to is checked at each connection, which uses the checked addresses",
    removed: "the check of the addresses",
    patches: [
      ["src/services/network/hosts.ts", "if (!isAllowed && addresses.some(", "if (isAllowed && addresses.some("]
    ]
  },
  {
    name: "A restored backup sent again what had been sent since it was made (our own review)",
    test: [
      actionGuards,
      "that waited when a backup was made is unknown in the restored database, and isn't sent from it"
    ],
    defence: "restore.ts `expireChanges`: calls that waited are unknown",
    removed: "the statement",
    patches: [
      [
        "src/services/operations/backup/restore.ts",
        "WHERE state IN ('queued', 'trying')\"",
        "WHERE state = 'restored'\""
      ]
    ]
  },
  {
    name: "The program of another organization ran what a person confirmed (our own review)",
    test: [
      "test/library/actions.test.ts",
      "is run by the program of its own organization only, and never by the server that sends requests"
    ],
    defence: "ChangeOutbox.ts `CLAIM`: a program leases functions of the organization that it declared them for",
    removed: "the comparison of organizations",
    patches: [[changeOutbox, "AND o.organization_id = $2::bigint AND o.action", "AND $2::bigint > 0 AND o.action"]]
  },
  {
    name: "A function that failed after it had done its work was run again (our own review)",
    test: [
      "test/library/actions.test.ts",
      "is unknown after a failure that doesn't say whether it was done, unless its key makes it run once"
    ],
    defence: "runCode.ts `judge`: only what the function says was not done counts as not done",
    removed: "the case",
    patches: [["src/services/actions/runCode.ts", '_tag: "Unsure", error: "failed"', '_tag: "Later", error: "failed"']]
  },
  {
    name: "A second person approved an action about a row that only the proposer sees (our own review)",
    test: [
      "test/services/actions/references.test.ts",
      "that the second person doesn't see is neither shown to nor approved by that person"
    ],
    defence:
      "references.ts `requireSame`: each person who decides sees, through the own plan, what is sent, as it was shown",
    removed: "the people who decide",
    patches: [[decisions, "requireSame(calls, parties, queries)", "requireSame(calls, [], queries)"]]
  },
  {
    name: "A person approved an action about an entry of another system that only the proposer may read (attack A19)",
    test: [
      "test/services/actions/references.test.ts",
      "is neither looked up for nor shown to a person who may not read it there"
    ],
    defence: "references.ts `standingOf`: what was read is shown to those who may use the action that read it",
    removed: "the condition",
    patches: [
      [
        "src/services/changes/calls/references.ts",
        "source === undefined\n          ? { _tag",
        "source?.slug === refer.name\n          ? { _tag"
      ]
    ]
  },
  {
    name: "The preview of an action showed a value of a row that the viewer doesn't see (our own review)",
    test: [
      "test/services/actions/references.test.ts",
      "that the second person doesn't see is neither shown to nor approved by that person"
    ],
    defence: "showCalls.ts `cellOf`: a value that was read from a row is shown to those who read the same",
    removed: "the condition",
    patches: [
      [
        "src/services/changes/calls/showCalls.ts",
        'if (value === undefined || (standing !== undefined && standing._tag !== "Same")) return []',
        "if (value === undefined) return []"
      ]
    ]
  },
  {
    name: "The choices of a field listed what the person may not read in another system (our own review)",
    test: [
      "test/services/actions/choices.test.ts",
      "are read in the other system for who may read there, and counted as calls"
    ],
    defence:
      "callers.ts `makeCallers`: a person's choices are read with the actions that the policy lets the person use",
    removed: "the condition",
    patches: [
      [
        "src/services/changes/callers.ts",
        "(state.actions ?? []).filter(({ slug }) => invokes(slug))",
        '(state.actions ?? []).filter(({ slug }) => slug !== "")'
      ]
    ]
  },
  {
    name: "The choices of a field listed entities of another parent than the one that was chosen (our own review)",
    test: [
      "test/services/actions/choices.test.ts",
      "are the entities that a text fits, among those that the person sees, within the one that is chosen"
    ],
    defence: "choices.ts `choicesFor`: a field within another is looked for among the entities that lead to that one",
    removed: "the condition",
    patches: [
      [
        "src/services/changes/choices.ts",
        "{ text, target, also, among }",
        "{ text, target, also, ...(among === undefined ? { among } : {}) }"
      ]
    ]
  },
  {
    name: "An inverse addressed what a cut answer of the service named (our own review)",
    test: [
      "test/services/actions/inverse.test.ts",
      "isn't taken back where the answer lacks the value, holds one that doesn't fit, or nothing was done"
    ],
    defence: "later.ts `wholeResult`: an answer that was cut when it was stored is no value of an inverse",
    removed: "the condition",
    patches: [
      [
        "src/services/changes/calls/later.ts",
        '[...text].length >= MAX_RESULT && text.endsWith("…")',
        "text.length === 0"
      ]
    ]
  },
  {
    name: "An action that a service had refused to take back counted as undone (our own review)",
    test: [
      "test/services/actions/inverse.test.ts",
      "can be taken back again after the service has refused its inverse"
    ],
    defence: "records.ts `UNDONE_BY`: an inverse that wasn't carried out has undone nothing",
    removed: "the condition",
    patches: [["src/services/changes/records.ts", "o.state IN ('refused', 'dead')", "o.state IN ('none')"]]
  },
  {
    name: "A person approved a value that only the proposer's plan had read in another system (our own review)",
    test: [
      "test/services/actions/plans.test.ts",
      "reads with nothing that the person may not use, and is neither shown to nor approved by one who may not"
    ],
    defence:
      "Call.ts `resolveCall`: a value that a step has read is shown to those who may use the action that read it",
    removed: "the sources",
    patches: [["src/services/changes/calls/Call.ts", "if (from.length === 0) return", "if (from.length >= 0) return"]]
  },
  {
    name: "A mistake in a file of mappings, or one table that the database blocks, decided about all its types (our own review)",
    test: [
      "test/services/mapping/strange.test.ts",
      "of a table that gets row security under a running server blocks that type alone, in lookups and when it is applied again"
    ],
    defence:
      "checkFile.ts `isKept`: a type in force is kept where the database is at fault; a mistake refuses the file",
    removed: "the condition",
    patches: [
      [
        "src/services/mapping/checkFile.ts",
        "former !== undefined && (relation === undefined",
        "true || (relation === undefined"
      ]
    ]
  },
  {
    name: "An administrator who read on the page what doctor finds about another organization (our own review)",
    test: [
      "test/services/administration/health.test.ts",
      "shows nothing of another organization: neither its findings nor whether it has any"
    ],
    defence: "Health.ts `shownOf`: what may be about other organizations is shown to the only one alone",
    removed: "the condition",
    patches: [["src/services/operations/Health.ts", '(to === "alone" && alone)', '(to === "alone")']]
  },
  {
    name: "An administrator who read the usage of another organization (our own review)",
    test: [
      "test/services/administration/usage.test.ts",
      "is summed up by day, person and model as SQL does, for one organization alone"
    ],
    defence: "Spending.ts: the organization is the first condition of the report",
    removed: "the condition",
    patches: [
      [
        "src/services/conversations/Spending.ts",
        "FROM max.usage WHERE organization_id = ${organization.id}\n              AND day",
        "FROM max.usage WHERE ${organization.id}::bigint > 0\n              AND day"
      ]
    ]
  },
  {
    name: "A sealed key copied into another organization's row, which spent it there (our own review)",
    test: [
      connectionsTest,
      "doesn't open in another organization's row, under another name, altered, or with another sealing key"
    ],
    defence: "seal.ts: organization and name are the associated data of AES-256-GCM",
    removed: "the associated data",
    patches: [
      [
        "src/services/secrets/seal.ts",
        "`${organizationId}\\0${name}`",
        "`${organizationId > 0n ? name.slice(0, 0) : name}`"
      ]
    ]
  },
  {
    name: "A file of the server's as a key, by its path (our own review)",
    test: [
      connectionsTest,
      "can be one that the operator keeps for this organization, by its name and never by a path"
    ],
    defence: "Secrets.ts: a reference is a name in the organization's own folder",
    removed: "the form of names",
    patches: [
      [
        "src/services/secrets/Secrets.ts",
        "if (directory === undefined || !FILE.test(file))",
        "if (directory === undefined)"
      ]
    ]
  },
  {
    name: "An administrator without the power over secrets who set the model's key or took the phone line (our own review)",
    test: [
      connectionsTest,
      "are those over secrets, and for whom the line answers also those over members and the policy"
    ],
    defence: "Connections.ts: the power is required of the current roles",
    removed: "the requirement",
    patches: [
      ["src/services/administration/Connections.ts", 'yield* requirePower(state.policy, principal, "secrets")', ""]
    ]
  },
  {
    name: "A phone line opened with a role by an administrator who may give no roles (our own review)",
    test: [
      connectionsTest,
      "are those over secrets, and for whom the line answers also those over members and the policy"
    ],
    defence: "Connections.ts: opening the line needs the power to give its role",
    removed: "the requirement",
    patches: [
      [
        "src/services/administration/Connections.ts",
        "if (openRole !== undefined) yield* mayGive(state.policy, principal, openRole === null ? [] : [openRole])",
        ""
      ]
    ]
  },
  {
    name: "A token that an administrator created for a person with more powers (our own review)",
    test: [
      officeTest,
      "isn't created for a person with more powers, a suspended one, a person of another organization, or without the power"
    ],
    defence: "Administration.ts `createToken`: the administrator must be able to give the person's roles",
    removed: "the requirement",
    patches: [[administration, "yield* mayGive(state.policy, asker, person.roles)\n          const own", "const own"]]
  },
  {
    name: "A token that an administrator kept to confirm changes in another person's name (our own review)",
    test: [officeTest, "never administers or confirms for another person"],
    defence: "Administration.ts `createToken`: a token with the scope admin or confirm is for its author",
    removed: "the comparison of persons",
    patches: [
      [administration, "if (own !== undefined && !person.isSelf)", "if (own !== undefined && own === person.id)"]
    ]
  },
  {
    name: "A person with more powers whom an administrator signed out again and again (our own review)",
    test: [officeTest, "isn't done to a person with more powers, without the power, or in another organization"],
    defence: "WaysIn.ts: the administrator must be able to give the roles that the person has",
    removed: "the requirement",
    patches: [
      [
        "src/services/access/WaysIn.ts",
        "if (administrator !== undefined) yield* mayGive(state.policy, administrator, member.roles)",
        ""
      ]
    ]
  },
  {
    name: "An administrator who linked their own address to a person with more powers, and signed in as them (our own review)",
    test: [officeTest, "aren't linked or removed without the power, or of a person with more powers"],
    defence: "WaysIn.ts: the administrator must be able to give the roles that the person has",
    removed: "the requirement",
    patches: [
      [
        "src/services/access/WaysIn.ts",
        "if (administrator !== undefined) yield* mayGive(state.policy, administrator, member.roles)",
        ""
      ]
    ]
  },
  {
    name: "An identifier of another person's row that was linked to a member (our own review)",
    test: [
      officeTest,
      "belong to one person only: neither another member's nor that of another person's row is linked"
    ],
    defence: "WaysIn.ts `link`: no other person in the data has the identifier",
    removed: "the comparison of persons",
    patches: [["src/services/access/WaysIn.ts", "people.some((person) => person !== anchorId)", "people.length > 9"]]
  },
  {
    name: "The last administrator who removed their own last identifier (our own review)",
    test: [officeTest, "leave the administrator one of their own, so that a holder of every power can sign in"],
    defence: "WaysIn.ts `unlink`: an administrator keeps an identifier of their own",
    removed: "the comparison of persons",
    patches: [["src/services/access/WaysIn.ts", "left === 0 && anchorId === administrator?.anchorEntityId", "left < 0"]]
  },
  {
    name: "A list by which an administrator took or gave a power that they lack (our own review)",
    test: [
      officeTest,
      "neither takes nor gives a power that its administrator lacks, and needs the power over members"
    ],
    defence:
      "Memberships.ts `sync`: the administrator must be able to give the roles of everyone whom the list changes",
    removed: "the requirement",
    patches: [["src/services/members/Memberships.ts", "yield* mayGive(state.policy, administrator, touched)", ""]]
  },
  {
    name: "A list after which no person could change members (our own review)",
    test: [
      officeTest,
      "neither takes nor gives a power that its administrator lacks, and needs the power over members"
    ],
    defence: "Memberships.ts `sync`: every power keeps an active holder",
    removed: "the comparison of holders",
    patches: [
      ["src/services/members/Memberships.ts", "keepingHolders(app, organization, state.policy, writing)", "writing"]
    ]
  },
  {
    name: "A list that suspended others than its administrator was shown (our own review)",
    test: [officeTest, "is shown and then applied as it was shown, or not at all"],
    defence: "Memberships.ts `sync`: the numbers that were confirmed are those of the change",
    removed: "the comparison",
    patches: [["src/services/members/Memberships.ts", "confirmed[kind] !== synced[kind].length", "confirmed[kind] < 0"]]
  },
  {
    name: "Attributes that raised what a person with more powers sees, set by an administrator with fewer (our own review)",
    test: [officeTest, "aren't set without the power, of a person with more powers, or under a name that can't be one"],
    defence: "Memberships.ts `change`: the administrator must be able to give the roles that the person has",
    removed: "the requirement",
    patches: [
      [
        "src/services/members/Memberships.ts",
        "if (administrator !== undefined) yield* mayGive(state.policy, administrator, before.roles)",
        ""
      ]
    ]
  },
  {
    name: "An administrator without the power over the policy who moved what “today” is (our own review)",
    test: [officeTest, "changes with the power policy only, part by part, and says what it was"],
    defence: "OrganizationSettings.ts: the power is required of the current roles",
    removed: "the requirement",
    patches: [
      [
        "src/services/administration/OrganizationSettings.ts",
        'yield* requirePower(state.policy, principal, "policy")',
        ""
      ]
    ]
  },
  {
    name: "A backup with another organization's data, by an administrator (our own review)",
    test: [officeTest, "isn't made where there is a second organization, whose data it would have"],
    defence: "Backups.ts: the page makes backups of an installation with one organization",
    removed: "the comparison",
    patches: [["src/services/operations/Backups.ts", "if (!row!.alone)", "if (row === undefined)"]]
  },
  {
    name: "Backups that fill the operator's disk (our own review)",
    test: [officeTest, "is made at most once in ten minutes, and never leaves the folder"],
    defence: "Backups.ts: one at a time, and one in ten minutes",
    removed: "the pause",
    patches: [["src/services/operations/Backups.ts", "if (row!.recent)", "if (row === undefined)"]]
  },
  {
    name: "A provider's token for another program (our own review)",
    test: ["test/channels/http/admission.test.ts", "is refused when it is expired, unsigned, forged or incomplete"],
    defence: "jwt.ts `makeVerifyJwt`: the token's audience is the one that the organization trusts",
    removed: "the audience, also of the search for the provider",
    patches: [
      ["src/services/access/jwt.ts", "          audience: provider.audience,\n", ""],
      [
        "src/services/access/IdentityProviders.ts",
        "AND p.audience = ANY(${claims.audiences}::text[]) LIMIT 2",
        "AND ${claims.audiences}::text[] IS NOT NULL LIMIT 1"
      ]
    ]
  },
  {
    name: "A provider's token that isn't valid yet, or no longer, by minutes (our own review)",
    test: ["test/channels/http/admission.test.ts", "is refused when it is expired, unsigned, forged or incomplete"],
    defence: "jwt.ts: clocks may differ by half a minute",
    removed: "the bound",
    patches: [["src/services/access/jwt.ts", "CLOCK_TOLERANCE_SECONDS = 30", "CLOCK_TOLERANCE_SECONDS = 900"]]
  },
  {
    name: "An address that its provider hasn't verified (our own review)",
    test: [
      "test/channels/http/admission.test.ts",
      "doesn't admit by an unverified e-mail address, or by one that is only row data"
    ],
    defence: "jwt.ts `isVerified`: email_verified is true",
    removed: "the comparison",
    patches: [["src/services/access/jwt.ts", ': payload["email_verified"] === true', ": true"]]
  },
  {
    name: "An identity provider removed by an administrator who lacks a power that it could give (our own review)",
    test: [providersTest, "is removed only with every power, and never another organization's"],
    defence: "Providers.ts: removing a provider needs every power",
    removed: "the powers but one",
    patches: [
      [
        "src/services/administration/Providers.ts",
        "current(administrator, Power.literals)\n          yield* providers.remove(",
        'current(administrator, ["members"])\n          yield* providers.remove('
      ]
    ]
  },
  {
    name: "An identity provider removed with powers that were lost in between (our own review)",
    test: [providersTest, "isn't removed by an administrator who lost a power in between"],
    defence: "IdentityProviders.ts `remove`: the epoch that admitted the administrator is held for the act",
    removed: "the comparison of epochs",
    patches: [
      [
        "src/services/access/IdentityProviders.ts",
        "lockEpochFor(app, organization, administrator)\n              const rows = yield* app`DELETE",
        "lockEpochFor(app, organization, undefined)\n              const rows = yield* app`DELETE"
      ]
    ]
  },
  {
    name: "A forged token that asked what another organization trusts (our own review)",
    test: [providersTest, "doesn't tell by an unsigned one what another organization trusts"],
    defence: "IdentityProviders.ts `examined`: the signature is checked before the other audiences",
    removed: "the order",
    patches: [
      [
        "src/services/access/IdentityProviders.ts",
        'return "audience"\n',
        'return "audience"\n          if ((yield* named(claims)).length !== 1) return "several"\n'
      ]
    ]
  },
  {
    name: "A provider's token tried by an administrator who may not see whom it admits (our own review)",
    test: [providersTest, "is tried with the power members, and never without"],
    defence: "Providers.ts `try`: needs the power over members",
    removed: "the power",
    patches: [
      [
        "src/services/administration/Providers.ts",
        'current(administrator, ["members"])\n          const proven',
        "current(administrator, [])\n          const proven"
      ]
    ]
  },
  {
    name: "An invitation for an address that two people have (our own review)",
    test: [invitationsTest, "isn't made for an address that two people have, and makes none of them a member"],
    defence: "prepareMember.ts: only an identifier of one person admits it",
    removed: "the refusal",
    patches: [
      [
        "src/services/members/prepareMember.ts",
        "if (second !== undefined) {",
        "if (second !== undefined && anchorId === undefined) {"
      ]
    ]
  },
  {
    name: "Codes of set-up links that were guessed (our own review)",
    test: [setupTest, "can't be guessed: an address has 300 wrong codes a minute"],
    defence: "setup.ts: wrong codes are counted by address, like failed sign-ins",
    removed: "the count",
    patches: [
      [
        "src/channels/http/setup.ts",
        "throttle.attempt(setup.finish(payload, settings.sessionSeconds))",
        "setup.finish(payload, settings.sessionSeconds)"
      ]
    ]
  },
  {
    name: "nOAuth: an address that a tenant's administrator wrote into an account of Microsoft Entra admitted its owner",
    test: [
      "test/channels/http/admission.test.ts",
      "of Microsoft Entra admits by an address whose domain its tenant has verified, and of no other provider"
    ],
    defence: "jwt.ts `isVerified`: email_verified, or Entra's xms_edov where there is none",
    removed: "the comparison with xms_edov",
    patches: [
      ["src/services/access/jwt.ts", '[true, 1, "1", "true"].some((value) => value === payload["xms_edov"])', "true"]
    ]
  },
  {
    name: "Figures at the price of a lookup: each reads every matching row (our own review)",
    test: [
      "test/channels/http/limits.test.ts",
      "count groups and figures as five calls, over each channel and within a conversation, and refuse what doesn't fit"
    ],
    defence: "EntityQueryService.ts `charged`: groups and figures count as five calls",
    removed: "the four further calls",
    patches: [["src/domain/FurtherCalls.ts", "FIGURE_CALLS = 5", "FIGURE_CALLS = 1"]]
  },
  {
    name: "A product that no number can hold made every lookup of a derived column fail (our own review)",
    test: [
      "test/services/lookup/derivedLimits.test.ts",
      "never make a statement fail: not at infinities, the ends of types, NaN, overflow or empty cells"
    ],
    defence: "derived.ts: larger factors, NaN and infinities have no product",
    removed: "the bound of factors",
    patches: [["src/database/sql/derived.ts", 'MAX_FACTOR = "1e30"', `MAX_FACTOR = "'Infinity'::numeric"`]]
  },
  {
    name: "A path that ends in nothing showed a value: PostgreSQL 18 dropped an outer join's condition (our own review)",
    test: [
      figuresTest,
      "a path ends in nothing where its second step does, even if each step's target must have the same value"
    ],
    defence:
      "shownRows.ts `Joins`: the conditions of a step are compared with TRUE, so that no equality is carried over",
    removed: "the comparison with TRUE",
    patches: [[shownRows, "(${shown}) IS TRUE", "(${shown})"]]
  },
  ...administrators,
  ...moves,
  ...providers
]
