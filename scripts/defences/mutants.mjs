// Mistakes that leaked in the prototype of these semantics. The conformance corpus must detect each one.
const bind = "src/permissions/bindPredicate.ts"
const engine = "src/permissions/PermissionEngine.ts"
const predicate = "src/database/sql/predicate.ts"
const comparisons = "src/database/sql/comparisons.ts"
const corpus = ["test/conformance/differential.test.ts", "the rows and cells that a policy shows"]

export const mutants = [
  {
    name: "notExistsNaive",
    removed: "inside a negated EXISTS, unknown counts as satisfied",
    patches: [
      [bind, "none(column.key, inner(true, !must))", "none(column.key, inner(true, must))"],
      [predicate, "notArray(context), !may)", "notArray(context), may)"]
    ]
  },
  {
    name: "missingAttrTrue",
    removed: "a missing attribute is unknown (here: true)",
    patches: [
      [
        bind,
        "if (column === undefined || value === undefined) return unknown",
        "if (column === undefined) return unknown\n      if (value === undefined) return ALWAYS"
      ]
    ]
  },
  {
    name: "emptyInTrue",
    removed: "an empty list is false (here: true)",
    patches: [[bind, "? positive\n            ? NEVER\n            : ALWAYS", "? ALWAYS"]]
  },
  {
    name: "neDistinct",
    removed: "<> is unknown for NULL (here: IS DISTINCT FROM)",
    patches: [[comparisons, `ne: "<>"`, `ne: "IS DISTINCT FROM"`]]
  },
  {
    name: "notInIsNotTrue",
    removed: "<> ALL is unknown for NULL (here: (= ANY) IS NOT TRUE)",
    patches: [
      [
        comparisons,
        "return negated ? `${reference} <> ALL(${list})`",
        "return negated ? `(${reference} = ANY(${list})) IS NOT TRUE`"
      ]
    ]
  },
  {
    name: "relNoOrg",
    removed: "hops to related rows check the organization",
    patches: [
      [
        "src/database/sql/rows.ts",
        "if (mapping === undefined) return `${alias}.organization_id = ${context.organization}`",
        'if (mapping === undefined) return alias === "p" ? `${alias}.organization_id = ${context.organization}` : "TRUE"'
      ],
      [predicate, 'storage.mapped === true ? "TRUE" : `${link}.organization_id = ${context.organization}`', '"TRUE"']
    ]
  },
  {
    name: "deMorganSlip",
    removed: "De Morgan: a negated all is an any of negations",
    patches: [[bind, `(predicate._tag === "All") === positive ?`, `predicate._tag === "All" ?`]]
  },
  {
    name: "ignoreRole",
    removed: "a rule applies to its role only",
    patches: [[engine, "rule.action === action && effectiveRoles.has(rule.role)", "rule.action === action"]]
  },
  {
    name: "ignoreExpiry",
    removed: "a rule expires at notAfter",
    patches: [[engine, " && (rule.notAfter === undefined || now < rule.notAfter)", ""]]
  },
  {
    name: "derivedFirstSource",
    removed: "a derived cell is visible where all of its sources are (here: the first)",
    patches: [
      [
        "src/permissions/permissionPlan.ts",
        "...derived!.of.map((source) => cells.get(source) ?? NEVER)",
        "...derived!.of.slice(0, 1).map((source) => cells.get(source) ?? NEVER)"
      ]
    ]
  },
  {
    name: "derivedUndenied",
    removed: "a rule that denies a derived column hides it",
    patches: [["src/permissions/permissionPlan.ts", ", ...unless(key))", ")"]]
  },
  {
    name: "dropDeny",
    removed: "denials apply",
    patches: [
      [engine, `.filter((rule) => rule.effect === "deny")`, `.filter((rule) => rule.effect === "deny" && false)`]
    ]
  },
  {
    name: "denyAnd",
    removed: "each deny applies on its own (here: only all together)",
    patches: [
      [
        engine,
        '...refused.filter(({ rule }) => rule.columns === "*").map(({ unless }) => unless)',
        '...[refused.filter(({ rule }) => rule.columns === "*")].flatMap((all) => (all.length === 0 ? [] : [any(...all.map(({ unless }) => unless))]))'
      ]
    ]
  },
  {
    name: "allowMay",
    removed: "an allow must be true (here: not false)",
    patches: [
      [
        engine,
        "bindPredicate(rule.where, type, binding, true, true)",
        "bindPredicate(rule.where, type, binding, true, false)"
      ]
    ]
  },
  {
    name: "denyMust",
    removed: "a deny must be false (here: not true)",
    patches: [
      [
        engine,
        "bindPredicate(rule.where, type, binding, false, true)",
        "bindPredicate(rule.where, type, binding, false, false)"
      ]
    ]
  }
].map((mutant) => ({ ...mutant, defence: mutant.patches[0][0].replace("src/", ""), test: corpus }))
