/** Why a person sees rows and cells, in plain words. */
import type { RefusedExplanation, RowExplanation, Truth, TypeExplanation } from "../../wire/admin/policy.ts"
import { Badge, Isolated, listed } from "./parts.tsx"
import { to } from "./place.ts"
import { Table } from "./Table.tsx"

export const partOf = (part: number, whole: number): string =>
  whole === 0
    ? "none exist"
    : part === whole
      ? `all ${whole.toLocaleString()}`
      : part === 0
        ? `none of ${whole.toLocaleString()}`
        : `${part.toLocaleString()} of ${whole.toLocaleString()}`

/** How much of a type a person sees, with the reasons folded away. */
export const Verdict = ({
  about,
  explanation: one
}: {
  readonly explanation: TypeExplanation
  readonly about: string
}) => (
  <details class="verdict">
    <summary>
      <span class="verdict-type">{one.type}</span>
      <span class="verdict-part">{one.denied === undefined ? partOf(one.visible, one.total) : "nothing"}</span>
      <Meter part={one.visible} whole={one.total} />
    </summary>
    <Because explanation={one} />
    <p>
      <a href={to(["policy", "explain"], { person: about, type: one.type })}>Explain one row of {one.type}</a>
    </p>
  </details>
)

/** A type that isn't explained, with the reason. */
export const Unexplained = ({ refused, type }: RefusedExplanation) => (
  <p class="verdict unexplained">
    <span class="verdict-type">{type}</span> <span class="soft">{refused}</span>
  </p>
)

/** The proportion as a bar; the text beside it says the same. */
const Meter = ({ part, whole }: { readonly part: number; readonly whole: number }) => (
  <svg class="meter" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
    <rect class="whole" width="100" height="6" />
    <rect class="part" width={whole === 0 ? 0 : (100 * part) / whole} height="6" />
  </svg>
)

export const Because = ({ explanation: one }: { readonly explanation: TypeExplanation }) => (
  <>
    {one.denied === undefined ? null : <p>No rows are visible: {one.denied}.</p>}
    {one.rules.length === 0 ? null : (
      <>
        <h3>The rules, and how many rows each applies to</h3>
        <ul class="rules">
          {one.rules.map((rule) => (
            <li key={rule.id} class={rule.effect}>
              <span class="rule-words">
                {rule.role} {rule.words}
              </span>
              <span class="rule-foot">
                <code>{rule.id}</code> applies to {partOf(rule.rows, one.total)}
              </span>
            </li>
          ))}
        </ul>
      </>
    )}
    {one.notInForce.length === 0 ? null : <p class="soft">Not in force at the moment: {one.notInForce.join("; ")}.</p>}
    {one.denied === undefined && one.columns.length > 0 ? (
      <>
        <h3>Column by column</h3>
        <Table
          caption={`Columns of ${one.type}`}
          headings={["Columns", "Visible", "Because"]}
          rows={grouped(one).map(({ because, columns, seen }) => ({
            key: seen + because,
            cells: [listed(columns), <Seen seen={seen} />, because]
          }))}
        />
      </>
    ) : null}
  </>
)

const Seen = ({ seen }: { readonly seen: string }) => (
  <Badge kind={seen === "shown" ? "good" : seen === "hidden" ? "bad" : "warn"}>{seen}</Badge>
)

/** Columns with the same visibility and reason are one row of the table. */
const grouped = ({ columns, visible }: TypeExplanation) => {
  const groups = new Map<string, { readonly seen: string; readonly because: string; readonly columns: Array<string> }>()
  for (const { because, column, rows } of columns) {
    const seen =
      rows === 0 ? "hidden" : rows === visible ? "shown" : `on ${rows.toLocaleString()} of ${visible.toLocaleString()}`
    const group = groups.get(seen + because)
    if (group === undefined) groups.set(seen + because, { seen, because, columns: [column] })
    else group.columns.push(column)
  }
  return [...groups.values()]
}

const ANSWER: Readonly<Record<Truth, string>> = { yes: "yes", no: "no", unknown: "unknown" }

const effectOf = (effect: "allow" | "deny", truth: Truth, hides: string): string =>
  effect === "allow"
    ? { yes: "allows it", no: "doesn't apply", unknown: "is undecided, so it doesn't allow it" }[truth]
    : { yes: `hides ${hides}`, no: "doesn't apply", unknown: `is undecided, so it hides ${hides}` }[truth]

export const RowVerdict = ({ row }: { readonly row: RowExplanation }) => (
  <section aria-labelledby="verdict" class="row-verdict">
    <h2 id="verdict">
      <Isolated>{row.who}</Isolated> {row.visible ? "sees" : "doesn't see"}{" "}
      <Isolated>{row.name || row.entityId}</Isolated>
    </h2>
    <p>
      {row.visible ? <Badge kind="good">Visible</Badge> : <Badge kind="bad">Hidden</Badge>} Because {row.because}.
      {row.visible ? "" : " For this person the row doesn't exist."}
    </p>
    <h3>Rule by rule</h3>
    {row.rules.length === 0 ? <p class="empty">These roles have no rule about {row.type}.</p> : null}
    <ul class="rules">
      {row.rules.map((rule) => (
        <li key={rule.id} class={rule.effect}>
          <span class="rule-words">
            {rule.role} {rule.words}
          </span>
          <span class="rule-foot">
            <code>{rule.id}</code> {effectOf(rule.effect, rule.truth, rule.hides ?? "the row")}
          </span>
          <ul class="conditions">
            {rule.conditions
              .filter(({ words }) => words !== "every row")
              .map(({ depth, truth, words }, index) => (
                <li key={index} class={depth === 0 ? "" : `deeper deeper-${Math.min(depth, 4)}`}>
                  {words}: <strong>{ANSWER[truth]}</strong>
                </li>
              ))}
          </ul>
        </li>
      ))}
    </ul>
    <h3>Column by column</h3>
    <Table
      caption="Cells of this row"
      headings={["Column", "Visible to them", "What you see", "Because"]}
      rows={row.columns.map(({ because, column, value, visible }) => ({
        key: column,
        cells: [
          column,
          <Seen seen={visible ? "shown" : "hidden"} />,
          value === undefined ? <span class="soft">nothing</span> : <Isolated>{value}</Isolated>,
          because
        ]
      }))}
    />
  </section>
)
