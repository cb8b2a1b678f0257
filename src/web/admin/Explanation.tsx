/** Why somebody sees something, in words. */
import type { Explanation, Refused, RowExplanation, Truth } from "./api.ts"
import { Badge, listed, Said, Table } from "./parts.tsx"
import { to } from "./place.ts"

export const partOf = (part: number, whole: number): string =>
  whole === 0
    ? "there are none"
    : part === whole
      ? `all ${whole.toLocaleString()}`
      : part === 0
        ? `none of ${whole.toLocaleString()}`
        : `${part.toLocaleString()} of ${whole.toLocaleString()}`

/** One type for one person: the sentence, and what it rests on below. */
export const Verdict = ({ about, explanation: one }: { readonly explanation: Explanation; readonly about: string }) => (
  <details class="verdict">
    <summary>
      <span class="verdict-type">{one.type}</span>
      <span class="verdict-part">{one.denied === undefined ? partOf(one.visible, one.total) : "nothing"}</span>
      <Meter part={one.visible} whole={one.total} />
    </summary>
    <Because explanation={one} />
    <p>
      <a href={to(["policy", "explain"], { person: about, type: one.type })}>Ask about one of the {one.type}</a>
    </p>
  </details>
)

/** A type of which nothing is told. */
export const Untold = ({ refused, type }: Refused) => (
  <p class="verdict untold">
    <span class="verdict-type">{type}</span> <span class="soft">{refused}</span>
  </p>
)

/** A picture of what stands beside it. */
const Meter = ({ part, whole }: { readonly part: number; readonly whole: number }) => (
  <svg class="meter" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
    <rect class="whole" width="100" height="6" />
    <rect class="part" width={whole === 0 ? 0 : (100 * part) / whole} height="6" />
  </svg>
)

export const Because = ({ explanation: one }: { readonly explanation: Explanation }) => (
  <>
    {one.denied === undefined ? null : <p>Nothing is shown: {one.denied}.</p>}
    {one.rules.length === 0 ? null : (
      <>
        <h3>The rules, and on how many rows each holds</h3>
        <ul class="rules">
          {one.rules.map((rule) => (
            <li key={rule.id} class={rule.effect}>
              <span class="rule-words">
                {rule.role} {rule.words}
              </span>
              <span class="rule-foot">
                <code>{rule.id}</code> holds on {partOf(rule.rows, one.total)}
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
          headings={[{ name: "Columns" }, { name: "Seen" }, { name: "Because" }]}
          rows={together(one).map(({ because, columns, seen }) => ({
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

/** Columns of which the same is true, said once. */
const together = ({ columns, visible }: Explanation) => {
  const found = new Map<string, { readonly seen: string; readonly because: string; readonly columns: Array<string> }>()
  for (const { because, column, rows } of columns) {
    const seen =
      rows === 0 ? "hidden" : rows === visible ? "shown" : `on ${rows.toLocaleString()} of ${visible.toLocaleString()}`
    const known = found.get(seen + because)
    if (known === undefined) found.set(seen + because, { seen, because, columns: [column] })
    else known.columns.push(column)
  }
  return [...found.values()]
}

const ANSWER: Readonly<Record<Truth, string>> = { yes: "yes", no: "no", unknown: "can't be told" }

const says = (effect: "allow" | "deny", truth: Truth, hides: string): string =>
  effect === "allow"
    ? { yes: "allows it", no: "doesn't hold", unknown: "can't be told, so it doesn't allow" }[truth]
    : { yes: `hides ${hides}`, no: "doesn't hold", unknown: `can't be told, so it hides ${hides}` }[truth]

export const RowVerdict = ({ found }: { readonly found: RowExplanation }) => (
  <section aria-labelledby="verdict" class="row-verdict">
    <h2 id="verdict">
      <Said>{found.who}</Said> {found.visible ? "sees" : "doesn't see"} <Said>{found.name || found.entityId}</Said>
    </h2>
    <p>
      {found.visible ? <Badge kind="good">Seen</Badge> : <Badge kind="bad">Hidden</Badge>} Because {found.because}.
      {found.visible ? "" : " To this person the row looks like one that doesn't exist."}
    </p>
    <h3>Rule by rule</h3>
    {found.rules.length === 0 ? <p class="empty">No rule of these roles is about {found.type}.</p> : null}
    <ul class="rules">
      {found.rules.map((rule) => (
        <li key={rule.id} class={rule.effect}>
          <span class="rule-words">
            {rule.role} {rule.words}
          </span>
          <span class="rule-foot">
            <code>{rule.id}</code> {says(rule.effect, rule.truth, rule.hides ?? "the row")}
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
      headings={[{ name: "Column" }, { name: "They see it" }, { name: "You see" }, { name: "Because" }]}
      rows={found.columns.map(({ because, column, value, visible }) => ({
        key: column,
        cells: [
          column,
          <Seen seen={visible ? "shown" : "hidden"} />,
          value === undefined ? <span class="soft">nothing</span> : <Said>{value}</Said>,
          because
        ]
      }))}
    />
  </section>
)
