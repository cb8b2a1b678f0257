// What went wrong elsewhere: the test that replays it, the defence that it is about, and how that is taken out.
const bind = "src/permissions/bindPredicate.ts"
const engine = "src/permissions/PermissionEngine.ts"
const find = "src/database/sql/find.ts"
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
const rows = "src/database/sql/rows.ts"

const denials = "test/permissions/replays/denials.test.ts"
const columns = "test/permissions/replays/columns.test.ts"
const states = "test/permissions/replays/states.test.ts"
const access = "test/permissions/access.test.ts"
const regressions = "test/services/lookup/store-regressions.test.ts"
const desk = "test/services/mapping/desk.test.ts"
const scope = "test/permissions/scope.test.ts"
const walls = "test/database/rowSecurity.test.ts"

export const replays = [
  {
    name: "Cerbos #917, CASL #170: a policy without a rule, or of denials alone, allowed everything",
    test: [denials, "Cerbos #917"],
    defence: "PermissionEngine.ts `planFor`: no allow, no plan",
    removed: "the refusal, and that any of nothing is never",
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
    name: "feathers-casl PR 149: the deny was lost on the way to the list",
    test: [denials, "feathers-casl PR 149"],
    defence: "PermissionEngine.ts `planFor`: denials are part of the rows' predicate",
    removed: "denials of rows",
    patches: [[engine, `...refused.filter(({ rule }) => rule.columns === "*").map(({ unless }) => unless)`, ""]]
  },
  {
    name: "GHSA-hm46-7j72-rpv9: a forbid that can't be evaluated was skipped",
    test: [denials, "GHSA-hm46-7j72-rpv9"],
    defence: "bindPredicate.ts: what is unknown denies, on both sides",
    removed: "unknown in a deny",
    patches: [[bind, "const unknown = must ? NEVER : ALWAYS", "const unknown = must && positive ? NEVER : ALWAYS"]]
  },
  {
    name: "CVE-2022-21646: a wildcard in an exclusion was passed over",
    test: [denials, "CVE-2022-21646"],
    defence: "PermissionEngine.ts `planFor`: a deny with * is about rows",
    removed: "the case of *: a deny is about the columns that it lists",
    patches: [[engine, `...refused.filter(({ rule }) => rule.columns === "*").map(({ unless }) => unless)`, ""]]
  },
  {
    name: "WaveHouse #223: leaving columns out meant all of them",
    test: [denials, "WaveHouse #223"],
    defence: "resolve.ts: a column is shown when it is asked for by a visible name",
    removed: "nothing asked for becomes every column",
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
    defence: "domain/values.ts `bindScalar`: numbers are finite",
    removed: "the check",
    patches: [
      [values, `if (typeof value === "number" && !Number.isFinite(value)) return undefined`, ""],
      [values, "text !== undefined && DECIMAL.test(text) ? text : undefined", "text"]
    ]
  },
  {
    name: "Directus #23894: a search looked into a hidden column",
    test: [columns, "Directus #23894"],
    defence: "resolve.ts: a filter holds where its column's mask does",
    removed: "the mask of a filter",
    patches: [
      [resolve, "filters.push(both(maskOf(plan, column), condition.success))", "filters.push(condition.success)"]
    ]
  },
  {
    name: "Directus #15437, ZenStack #1454: a filter reached through an unreadable relation",
    test: [columns, "Directus #15437"],
    defence: "resolveFilter.ts `equal`, `contains`: a relation is filtered under the target's plan",
    removed: "the target's rows and the mask of its name",
    patches: [
      [
        filters,
        "all<Parameter>(target.plan.where, compare(values, idColumn",
        "all<Parameter>(compare(values, idColumn"
      ],
      [filters, "all<Parameter>(target.plan.where, maskOf(target.plan, name), part)", "all<Parameter>(part)"]
    ]
  },
  {
    name: "CVE-2024-34708: an alias showed what the name hid",
    test: [columns, "CVE-2024-34708"],
    defence: "cells.ts `underMask`: every cell is shown under its mask",
    removed: "the mask of a cell",
    patches: [
      [
        cells,
        'return `CASE WHEN ${fragment(mask, type, "p", { ...context, hops: "probe" })} THEN ${value} END`',
        "return value"
      ]
    ]
  },
  {
    name: "frappe PR 40515, DAB #3554: an order by a hidden column",
    test: [columns, "frappe PR 40515"],
    defence: "resolve.ts: what orders is a filter under its mask",
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
    name: "ZenStack #814: a mask was lost where the row is shown as a relation",
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
    defence: "resolve.ts: a filter that can't be read is a fault",
    removed: "filters with undefined are left out",
    patches: [
      [
        resolve,
        "    const requested =",
        "    query = { ...query, filters: (query.filters ?? []).filter(({ columnId, op, value }) => columnId !== undefined && op !== undefined && value !== undefined) }\n    const requested ="
      ],
      [resolve, "if (query.filters.length > MAX_FILTERS)", "if ((query.filters ?? []).length > MAX_FILTERS)"]
    ]
  },
  {
    name: "CVE-2026-33729: two questions had one cache key",
    test: [access, "CVE-2026-33729"],
    defence: "views.ts `viewKey`: an injective text of the whole principal",
    removed: "attributes as a list of pairs (here: joined by commas)",
    patches: [
      [views, "    Object.entries(principal.attributes),", `    Object.entries(principal.attributes).join(","),`]
    ]
  },
  {
    name: "CVE-2024-56323: circumstances weren't part of the cache key",
    test: [access, "CVE-2024-56323"],
    defence: "views.ts `viewKey`: whoever acts for somebody is part of it",
    removed: "the actor's attributes",
    patches: [[views, ", Object.entries(principal.actor.attributes)]", "]"]]
  },
  {
    name: "CVE-2026-34972: checks of one batch collided",
    test: [states, "CVE-2026-34972"],
    defence: "views.ts `viewKey`: each question has the view of its own circumstances",
    removed: "attributes",
    patches: [[views, "    Object.entries(principal.attributes),\n", ""]]
  },
  {
    name: "CVE-2023-2455: a plan was used again for another role",
    test: [states, "CVE-2023-2455"],
    defence: "views.ts `viewKey`: roles",
    removed: "roles",
    patches: [[views, "    principal.roles,\n", ""]]
  },
  {
    name: "CVE-2023-2455 again: callers at the same time in one process",
    test: [access, "CVE-2023-2455"],
    defence: "views.ts `viewKey`: the anchor",
    removed: "the anchor and the attributes",
    patches: [
      [
        views,
        "    principal.anchorEntityId,\n    principal.roles,\n    Object.entries(principal.attributes),\n",
        "    principal.roles,\n"
      ]
    ]
  },
  {
    name: "GHSA-56p6-qw3c-fq2g: a suspended session went on",
    test: [access, "GHSA-56p6-qw3c-fq2g"],
    defence: "OrganizationState.ts: only an active membership is read",
    removed: "suspended_at IS NULL",
    patches: [[state, " AND s.suspended_at IS NULL", ""]]
  },
  {
    name: "The same, from a process that has planned already",
    test: [access, "GHSA-56p6-qw3c-fq2g"],
    defence: "find.ts: the epoch is asked in the statement that reads",
    removed: "the guard",
    patches: [[find, "SELECT o.epoch = ${epoch} AS fresh", "SELECT ${epoch} IS NOT NULL AS fresh"]]
  },
  {
    name: "The same, while it happens",
    test: [access, "a suspension between planning and reading"],
    defence: "find.ts: the epoch is asked in the statement that reads",
    removed: "the guard",
    patches: [[find, "SELECT o.epoch = ${epoch} AS fresh", "SELECT ${epoch} IS NOT NULL AS fresh"]]
  },
  {
    name: "A suspension that 32 callers hammer against",
    test: [states, "thirty-two callers"],
    defence: "Memberships.ts `suspend`: the epoch rises in the same transaction",
    removed: "the epoch",
    patches: [["src/database/epoch.ts", "SET epoch = epoch + 1 WHERE", "SET epoch = epoch WHERE"]]
  },
  {
    name: "A plan outlived a rule's time (our own review)",
    test: [access, "a rule begins and ends on time"],
    defence: "views.ts: a view ends with the first time of its rules",
    removed: "the end",
    patches: [
      [views, "last.state === state && last.expiresAt() > now", "last.state === state"],
      [views, "cached !== undefined && cached.expiresAt() > now ? cached", "cached !== undefined ? cached"]
    ]
  },
  {
    name: "A barrier between the policy's and the epoch's read (our own review)",
    test: [states, "a barrier"],
    defence: "OrganizationState.ts `read`: one statement",
    removed: "that one statement: the epoch is read by a second",
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
    defence: "Policy.ts: rules hold keys and not slugs",
    removed: "keys: cells go by slug",
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
    defence: "IdentityResolver.ts `admit`: a verified identifier of a membership, never a row's data",
    removed: "verification: whoever's row has the phone is admitted",
    patches: [
      [
        identity,
        `          const { membership, state } = yield* states.read(organization.id, { by: "identifier", ...identifier })\n`,
        `          const [found] = yield* runWithin<{ id: bigint }>(search, organization.id, { text: "SELECT p.id FROM data.people p WHERE p.organization_id = $1::bigint AND $2::text IN (p.phone_k, p.email_k) ORDER BY p.id LIMIT 1", parameters: [organization.id, identifier.key] })\n          const { membership, state } = yield* states.read(organization.id, found === undefined ? { by: "identifier", ...identifier } : { by: "anchor", id: encodeId(found.id) })\n`
      ]
    ]
  },
  {
    name: "= hijacked through search_path (our own review)",
    test: [regressions, "ignores an = operator"],
    defence: "Database.ts: every connection starts with search_path = pg_catalog, pg_temp",
    removed: "the setting, of connections and of roles",
    patches: [[database, `search_path: "pg_catalog, pg_temp"`, `search_path: "public, pg_catalog"`]]
  },
  {
    name: "A statement that forgets the organization",
    test: ["test/permissions/statement.test.ts", "asks each table that it reads for the organization"],
    defence: "find.ts: the organization is in the statement whatever the plan says",
    removed: "the organization of the rows",
    patches: [[find, '    belongs(type, "p", context),\n', ""]]
  },
  {
    name: "The same, and the rows came back",
    test: [states, "a row of another organization"],
    defence: "OrgEntityStore.ts: the organization of every row that comes back",
    removed: "the check",
    patches: [
      ["src/services/OrgEntityStore.ts", "if (rows.some((row) => isForeign(row, catalog))) {", "if (rows.length < 0) {"]
    ]
  },
  {
    name: "The same, and row-level security is on",
    test: [walls, "shows each role the rows"],
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
    name: "A switch of row-level security that running processes miss",
    test: [walls, "is switched under running processes"],
    defence: "switchRowSecurity.ts: every epoch rises with it",
    removed: "the epochs",
    patches: [["src/database/epoch.ts", "SET epoch = epoch + 1 WHERE", "SET epoch = epoch WHERE"]]
  },
  {
    name: "A tool scope wasn't part of the cache key (our own review)",
    test: [access, "CVE-2026-33729"],
    defence: "views.ts `viewKey`: the scope",
    removed: "the scope",
    patches: [
      [views, "    principal.scope?.map(({ action, columns, type }) => [type, action, columns]) ?? null,\n", ""]
    ]
  },
  {
    name: "The same: its columns weren't",
    test: [access, "CVE-2026-33729"],
    defence: "views.ts `viewKey`: the scope",
    removed: "the columns of the scope",
    patches: [[views, "[type, action, columns]) ?? null", "[type, action]) ?? null"]]
  },
  {
    name: "A tool scope that the plan forgot (our own review)",
    test: [scope, "keeps access to the types and columns that it names"],
    defence: "PermissionEngine.ts `plan`: AND with the plan of the scope",
    removed: "that plan",
    patches: [[engine, "if (scope !== undefined) plans.push(scopePlan(scope, type, action))", ""]]
  },
  {
    name: "A tool scope that gave instead of taking away",
    test: [scope, "grants nothing"],
    defence: "permissionPlan.ts `intersect`: a cell is where both plans show it",
    removed: "the other plan's mask",
    patches: [["src/permissions/permissionPlan.ts", "cells.set(column, all(mask, other))", "cells.set(column, other)"]]
  },
  {
    name: "A mapped view with two rows per id (our own review)",
    test: [desk, "show a row of a view by that row's own values"],
    defence: "find.ts: of what is mapped whole rows are materialized, and none is read again by its id",
    removed: "that: the page is read by id",
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
    defence: "rows.ts `targetRows`: an id that names two rows names nothing",
    removed: "the count",
    patches: [[rows, "if (type.mapping?.unique !== false) return", "if (type.columns.length > 0) return"]]
  },
  {
    name: "A mapped view that is redefined",
    test: [desk, "show a row of a view by that row's own values"],
    defence: "rows.ts `relationOf`: what isn't what was mapped isn't read",
    removed: "the refusal",
    patches: [[rows, `if (type.mapping?.broken === true) throw new Error("The relation isn't what was mapped")`, ""]]
  },
  {
    name: "A mapped view, or a function in it, with an untrusted owner (our own review)",
    test: [desk, "are refused with the statement that solves the problem"],
    defence: "mapping/checkMapping.ts: a view or function with another owner is reported, and nothing is mapped",
    removed: "the check of owners",
    patches: [
      [
        "src/services/mapping/checkMapping.ts",
        "for (const name of relation.untrusted) {",
        "for (const name of [] as string[]) {"
      ]
    ]
  },
  {
    name: "NaN and the infinities in a mapped column (our own review)",
    test: [desk, "read NaN and infinities as empty"],
    defence: "rows.ts `sourceValue`: a number that isn't finite is none",
    removed: "the CASE of exact numbers",
    patches: [[rows, `if (source.type === "integer") return first`, `if (source.type !== "float") return first`]]
  },
  {
    name: "The same, of binary fractions",
    test: [desk, "read NaN and infinities as empty"],
    defence: "rows.ts `sourceValue`: a number that isn't finite is none",
    removed: "the CASE of binary fractions",
    patches: [[rows, `if (source.type === "integer") return first`, `if (source.type !== "numeric") return first`]]
  }
]
