/** What an import would do or has done, and the rows that prevent it. */
import type { Imported } from "../../wire/admin/import.ts"
import type { Refused } from "./importing.ts"
import { Badge, counted, Fact, Isolated, listed } from "./parts.tsx"
import { to } from "./place.ts"

export const Warnings = ({ of }: { readonly of: ReadonlyArray<string> }) =>
  of.length === 0 ? null : (
    <ul class="notice warn">
      {of.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  )

export const RefusedRows = ({ refused: { lines, message } }: { readonly refused: Refused }) => (
  <div class="notice bad" role="alert">
    <p>{message}</p>
    {lines.length === 0 ? null : (
      <ol class="bad-rows" tabIndex={0} aria-label="Bad rows">
        {lines.map((line) => (
          <li key={line}>
            <Isolated>{line}</Isolated>
          </li>
        ))}
      </ol>
    )}
  </div>
)

export const Outcome = ({ result }: { readonly result: Imported }) => {
  const { badRows, createdColumns, dryRun, hiddenFrom, leftOut, mapped, outcome, rows, shownTo, type, warnings } =
    result
  const readAs = mapped.flatMap(({ example, header }) => (example === undefined ? [] : [{ header, ...example }]))
  return (
    <section aria-labelledby="outcome">
      <h2 id="outcome">{dryRun ? "What would happen" : "Imported"}</h2>
      <p>
        {dryRun ? <Badge>Nothing was changed</Badge> : <Badge kind="good">Done</Badge>} {counted(rows, "row")} into{" "}
        {type.pluralName}
        {outcome === undefined
          ? "."
          : `: ${outcome.inserted.toLocaleString()} new, ${outcome.updated.toLocaleString()} changed, ${outcome.unchanged.toLocaleString()} unchanged.`}
        {leftOut === 0 ? "" : ` ${counted(leftOut, "bad row")} left out.`}
      </p>
      <Warnings of={warnings} />
      <dl class="facts">
        {readAs.length === 0 ? null : (
          <Fact name="Read as">
            {readAs.map(({ header, read, text }) => (
              <div key={header}>
                <Isolated>{header}</Isolated>: <code>{text}</code> is <code>{read}</code>
              </div>
            ))}
          </Fact>
        )}
        {createdColumns.length === 0 ? null : (
          <Fact name={dryRun ? "New columns to come" : "New columns"}>
            {createdColumns.map(({ kind, name, slug }) => (
              <div key={slug}>
                <Isolated>{name}</Isolated> <span class="soft">{kind}</span>
              </div>
            ))}
            <div class="soft fine">
              {shownTo.length === 0 ? "" : `Shown to ${listed(shownTo)}. `}
              {hiddenFrom.length === 0 ? "" : `Hidden from ${listed(hiddenFrom)} until the policy shows them.`}
            </div>
          </Fact>
        )}
        {outcome === undefined || outcome.changedHere === 0 ? null : (
          <Fact name="Changed here since">{counted(outcome.changedHere, "cell")}</Fact>
        )}
        {outcome === undefined || outcome.columns.length === 0 ? null : (
          <Fact name="Changed columns">
            {outcome.columns.map((one) => `${one.column} in ${one.rows.toLocaleString()}`).join(", ")}
          </Fact>
        )}
        {outcome === undefined || outcome.new.length === 0 ? null : (
          <Fact name="New, for example">
            {outcome.new.map(({ line, name }) => (
              <div key={line}>
                <Isolated>{name}</Isolated>
              </div>
            ))}
          </Fact>
        )}
        {outcome === undefined || outcome.changed.length === 0 ? null : (
          <Fact name="Changed, for example">
            {outcome.changed.map(({ columns, line, name }) => (
              <div key={line}>
                <Isolated>{name}</Isolated>{" "}
                <span class="soft">
                  {columns
                    .map(({ column, now, was }) =>
                      now === undefined ? column : `${column}: ${was ?? "nothing"} → ${now ?? "nothing"}`
                    )
                    .join(", ")}
                </span>
              </div>
            ))}
          </Fact>
        )}
      </dl>
      {badRows.length === 0 ? null : (
        <RefusedRows refused={{ message: dryRun ? "Would be left out:" : "Left out:", lines: badRows }} />
      )}
      {dryRun ? null : (
        <p>
          Next: <a href={to(["policy"])}>who sees it</a>, or <a href="/">ask about it</a>.
        </p>
      )}
    </section>
  )
}
