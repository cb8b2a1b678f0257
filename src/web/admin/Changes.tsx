/** All changes with their phases: who, when, through which channel, and how long Max took; never a value of a row. */
import type { ChangeLog, LoggedChange } from "../../wire/admin/changes.ts"
import { changeLog } from "./api.ts"
import { Badge, type BadgeKind, counted, Isolated, Moment, Title, useTitle, WhenLoaded } from "./parts.tsx"
import { useLoaded } from "./state.ts"
import { PagedTable } from "./Table.tsx"

const STATES: Readonly<Partial<Record<LoggedChange["state"], readonly [text: string, kind?: BadgeKind]>>> = {
  open: ["Waits for its proposer"],
  waiting: ["Waits for approval", "warn"],
  applied: ["Applied", "good"],
  rejected: ["Rejected"],
  withdrawn: ["Withdrawn"],
  expired: ["Expired"],
  stale: ["Not applied: the rows had changed", "warn"],
  failed: ["Not applied", "bad"]
}

const LEVELS: Readonly<Record<string, string>> = {
  once: "one confirmation",
  twice: "two confirmations",
  second: "a second person"
}

const HEADINGS = ["When", "Who", "What", "State"]

export const Changes = () => {
  useTitle("Changes")
  const { loaded, reload } = useLoaded(() => changeLog(), [])
  return (
    <>
      <Title note="Every change that was proposed, with its phases. The values aren't shown; people see those that they may see.">
        Changes
      </Title>
      <WhenLoaded loaded={loaded} reload={reload}>
        {(log) => (
          <PagedTable
            caption="Proposed changes"
            headings={HEADINGS}
            first={log}
            load={changeLog}
            rowsOf={rowsOf}
            empty="No changes have been proposed yet."
          />
        )}
      </WhenLoaded>
    </>
  )
}

const rowsOf = (pages: ReadonlyArray<ChangeLog>) =>
  pages.flatMap((page) => page.changes).map((change) => ({ key: change.id, cells: cellsOf(change) }))

const Person = ({ id, name }: LoggedChange["proposer"]) => <Isolated>{name ?? id}</Isolated>

const cellsOf = ({ actionIds, at, channel, id, level, phases, proposer, rows, state, token }: LoggedChange) => {
  const [label, badge] = STATES[state] ?? [state]
  return [
    <Moment at={at} />,
    <>
      <Person {...proposer} />
      <div class="soft fine">
        {channel}
        {token === undefined ? null : (
          <>
            , by the token <Isolated>{token}</Isolated>
          </>
        )}
      </div>
    </>,
    <>
      {actionIds.join(", ")}
      <div class="soft fine">{[counted(rows, "row"), LEVELS[level] ?? "no confirmation", id].join(", ")}</div>
    </>,
    <>
      <Badge kind={badge ?? "neutral"}>{label}</Badge>
      <details>
        <summary>{counted(phases.length, "phase")}</summary>
        <ol class="phases">
          {phases.map(({ at: when, channel: through, ms, outcome, phase, who }, index) => (
            <li key={index}>
              <strong>{phase}</strong>
              {outcome === "ok" ? "" : ` (${outcome})`} <Moment at={when} />
              <div class="soft fine">
                <Person {...who} />, {through}
                {ms === undefined ? "" : `, ${ms} ms`}
              </div>
            </li>
          ))}
        </ol>
      </details>
    </>
  ]
}
