/** Formats policy explanations, simulations, previews and differences for the terminal. */
import type { Catalog } from "../../domain/EntityType.ts"
import type { PolicyChange } from "../../permissions/policyDiff.ts"
import { type Policy, type Problem, problemText } from "../../permissions/Policy.ts"
import { describeConfirm, describePolicy, listed } from "../../permissions/describe.ts"
import type { Truth, TypeExplanation } from "../../wire/admin/policy.ts"
import type { PolicySimulation } from "../../wire/admin/policyEditor.ts"
import type { RowExplanation } from "../../services/policies/explainRow.ts"
import type { EvaluatedRule } from "../../services/policies/rowReasons.ts"
import type { TestOutcome } from "../../services/policies/testOutcome.ts"
import type { Difference, Simulation } from "../../services/policies/simulatePolicy.ts"
import type { Preview } from "../../services/policies/previewRoles.ts"
import { renderCell } from "../../tools/render.ts"
import { bold, columns, dim } from "./output.ts"

type Lines = ReadonlyArray<string>

const indented = (lines: Lines, by = "  "): Lines => lines.map((line) => `${by}${line}`)
const section = (title: string, lines: Lines): Lines =>
  lines.length === 0 ? [] : ["", bold(title), ...indented(lines)]
const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`
const of = (part: number, whole: number): string =>
  part === whole && whole > 0 ? `all ${whole}` : part === 0 ? `none of ${whole}` : `${part} of ${whole}`

/** Every rule of a policy as a sentence, grouped by role. */
export const policyLines = (policy: Policy, catalog: Catalog): Lines => [
  ...roleLines(policy, catalog),
  ...describeConfirm(policy, catalog)
]

const roleLines = (policy: Policy, catalog: Catalog): Lines =>
  describePolicy(policy, catalog).flatMap(({ administers, inherits, powers, role, rules }) => [
    `${role}${inherits.length === 0 ? "" : `, which inherits ${listed(inherits)}`}`,
    ...(administers ? ["  may use the administration pages at /admin: members, policy and audit log"] : []),
    ...(powers.length === 0 ? [] : [`  may change there: ${listed(powers)}`]),
    ...(rules.length === 0 ? ["  no rules of its own"] : []),
    ...rules.map(({ id, words }) => `  ${words} ${dim(`(${id})`)}`)
  ])

export const diffLines = (changes: ReadonlyArray<PolicyChange>): Lines =>
  changes.length === 0 ? ["Nothing changes."] : changes.map(({ mark, what }) => `${mark} ${what}`)

export const warningLines = (warnings: ReadonlyArray<Problem>): Lines => warnings.map(problemText)

export const testLines = (outcomes: ReadonlyArray<TestOutcome>): Lines =>
  outcomes.flatMap(({ failures, path, title }) => [
    `${failures.length === 0 ? "ok  " : "FAIL"} ${path}: ${title}`,
    ...failures.map((failure) => `       ${failure}`)
  ])

export const explanationLines = (explanation: TypeExplanation): Lines => {
  const { columns: cells, denied, notInForce, roles, rules, total, type, visible, who } = explanation
  return [
    bold(
      `${who}, ${listed(roles)}, sees ${denied === undefined ? `${of(visible, total)} ${type}` : `nothing of ${type}: ${denied}`}.`
    ),
    ...section(
      "Rules, and the number of rows that each matches",
      columns(rules.map((rule) => [rule.effect, `${rule.rows} of ${total}`, `${rule.role} ${rule.words} (${rule.id})`]))
    ),
    ...section(
      "Column by column",
      denied === undefined
        ? columns(grouped(cells.map(({ because, column, rows }) => [columnCount(rows, visible), because, column])))
        : []
    ),
    ...section("Rules not in force now", notInForce)
  ]
}

/** Groups columns with the same state and reason into one line. */
const grouped = (cells: ReadonlyArray<readonly [state: string, because: string, column: string]>) => {
  const groups = new Map<
    string,
    { readonly columns: Array<string>; readonly state: string; readonly because: string }
  >()
  for (const [state, because, column] of cells) {
    const key = JSON.stringify([state, because])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { columns: [column], state, because })
    else group.columns.push(column)
  }
  return [...groups.values()].map((group) => [group.state, listed(group.columns), group.because])
}

const columnCount = (rows: number, visible: number): string =>
  rows === 0 ? "hidden" : rows === visible ? "shown" : `on ${rows} of ${visible}`

const ANSWER: Readonly<Record<Truth, string>> = { yes: "yes", no: "no", unknown: "unknown" }

export const rowLines = (explanation: RowExplanation): Lines => {
  const { because, columns: cells, entityId, externalId, name, roles, rules, type, visible, who } = explanation
  const values = new Map(cells.map(({ column, value }) => [column, renderCell(value)]))
  const ids = externalId === undefined ? entityId : `${externalId}, ${entityId}`
  return [
    bold(
      `${who}, ${listed(roles)}, ${visible ? "sees" : "doesn't see"} ${name === "" ? "this row" : name} (${type} ${ids}).`
    ),
    `Because ${because}.`,
    ...section(
      "Rule by rule",
      rules.flatMap((rule) => evaluatedLines(rule, values))
    ),
    ...section(
      visible ? "Column by column" : "Values",
      columns(
        cells.map(({ because: why, column, value, visible: shown }) => {
          const text = value === undefined ? "(empty)" : shortened(renderCell(value))
          return visible ? [shown ? "shown" : "hidden", column, text, why] : [column, text]
        })
      )
    ),
    ...(visible ? [] : ["", "This person can't tell the row from one that doesn't exist."])
  ]
}

const shortened = (text: string): string => ([...text].length > 48 ? `${[...text].slice(0, 47).join("")}…` : text)

const evaluatedLines = (rule: EvaluatedRule, values: ReadonlyMap<string, string>): Lines => {
  const hides = rule.hides === undefined ? "hides the row" : `hides ${rule.hides}`
  const outcomes =
    rule.effect === "allow"
      ? { yes: "allows it", no: "doesn't match", unknown: "unknown, so it doesn't allow" }
      : { yes: hides, no: "doesn't match", unknown: `unknown, so it ${hides}` }
  const conditions = rule.conditions.filter(({ words }) => words !== "every row")
  return [
    `${rule.id}: ${outcomes[rule.truth]}. ${dim(`${rule.role} ${rule.words}`)}`,
    ...conditions.map(({ column, depth, truth, words }) => {
      const value = column === undefined ? "" : dim(`  (${column}: ${values.get(column) || "empty"})`)
      return `  ${"  ".repeat(depth)}${words}: ${ANSWER[truth]}${value}`
    })
  ]
}

export const simulationLines = (simulation: Simulation): Lines => {
  const { after, before, cells, denied, gainedColumns, rows, total, type, who } = simulation
  const none = rows.gained.count + rows.lost.count === 0
  return [
    bold(
      `${who} sees ${of(before, total)} ${type} now, and would see ${denied === undefined ? of(after, total) : `nothing: ${denied}`}.`
    ),
    ...section("Rows", [
      ...(none ? ["the same rows"] : []),
      ...differenceLines("gained", rows.gained, `, with ${listed(gainedColumns) || "no column"}`),
      ...differenceLines("lost", rows.lost)
    ]),
    ...section("Cells on the rows that are visible under both policies", [
      ...(cells.length === 0 ? ["the same cells"] : []),
      ...cells.flatMap(({ column, gained, lost }) => [
        ...differenceLines("gained", gained, "", column),
        ...differenceLines("lost", lost, "", column)
      ])
    ]),
    ...changesLines(simulation)
  ]
}

/** The rows that the person could change, and what the rules say of the values. */
const changesLines = ({ changes, who }: Simulation): Lines => {
  if (changes === undefined) return []
  const groups = new Map<string, Array<string>>()
  for (const { action, after, before, column } of changes.rows) {
    const key = `${action}\u0000${before}\u0000${after}`
    groups.set(key, [...(groups.get(key) ?? []), column ?? ""])
  }
  const rows = [...groups].map(([key, slugs]) => {
    const [action = "", before = "", after = ""] = key.split("\u0000")
    const what = slugs[0] === "" ? action : `${action} ${listed(slugs)}`
    return [
      what,
      before === after ? `on ${counted(Number(after), "row")}` : `on ${counted(Number(after), "row")}, now ${before}`
    ]
  })
  return [
    ...section(`Rows that ${who} could change`, rows.length === 0 ? ["none"] : columns(rows)),
    ...section(
      "Under these rules",
      changes.rules.map((words) => `${who} ${words}`)
    )
  ]
}

const differenceLines = (
  what: "gained" | "lost",
  { count, examples }: Difference,
  more = "",
  column?: string
): Lines => {
  if (count === 0) return []
  const names = `${examples.join(", ")}${count > examples.length ? ", …" : ""}`
  const change =
    column === undefined ? `${counted(count, "row")} ${what}` : `${column} ${what} on ${counted(count, "row")}`
  return [`${what === "lost" ? "-" : "+"} ${change}: ${names}${more}`]
}

/** What each role would see, with example rows. */
export const previewLines = (previews: ReadonlyArray<Preview>): Lines => {
  const roles = [...new Set(previews.map(({ role }) => role))]
  return roles.flatMap((role) => {
    const own = previews.filter((preview) => preview.role === role)
    const [first] = own
    return [
      bold(role) + dim(`  as ${first!.as}${first!.isMember ? "" : ", as an example: no member has this role yet"}`),
      ...indented(
        columns(own.map((preview) => [preview.type, of(preview.visible, preview.total), cellWords(preview)]))
      ),
      ...indented(
        own.flatMap(({ columns: all, examples, type }) =>
          examples.map(({ columns: shown, name }) => {
            const what = shown.length === all.length ? "every column" : listed(shown) || "no column"
            return dim(`${type}: ${name === "" ? "(no name)" : name} with ${what}`)
          })
        )
      )
    ]
  })
}

const cellWords = ({ columns: cells, visible }: Preview): string => {
  const hidden = cells.filter(({ rows }) => rows === 0).map(({ column }) => column)
  const some = cells.filter(({ rows }) => rows > 0 && rows < visible).map(({ column, rows }) => `${column} on ${rows}`)
  if (visible === 0) return ""
  return [
    ...(some.length === 0 ? [] : [listed(some)]),
    ...(hidden.length === 0 ? [] : [`without ${listed(hidden)}`]),
    ...(some.length + hidden.length === 0 ? ["with every column"] : [])
  ].join("; ")
}

/** Who gains and loses what, for the first member of each combination of roles that is concerned. */
export const gainLines = ({ omitted, people }: PolicySimulation): Lines => [
  ...(people.length === 0 ? ["No member's access changes."] : []),
  ...people.flatMap(({ members, roles, types, who }) => [
    bold(`${roles.join(", ") || "no role"} (${counted(members, "member")})`),
    ...types.flatMap((type) =>
      ("refused" in type ? [`${type.type}: ${type.refused}`] : simulationLines({ ...type, who })).map(
        (line) => `  ${line}`
      )
    )
  ]),
  ...(omitted === 0 ? [] : [`${counted(omitted, "more combination")} of roles not listed.`])
]
