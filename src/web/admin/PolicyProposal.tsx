/** Policies that were proposed: what one would change, and the approval or refusal of another person. */
import { useRef } from "preact/hooks"
import type { PolicyProposal as Proposal } from "../../wire/admin/policyEditor.ts"
import type { Preview } from "../../wire/changes.ts"
import { checkPolicy, decideOn, policyProposal, policyProposals } from "./api.ts"
import { Differences } from "./History.tsx"
import { Badge, ConfirmButton, Isolated, listed, Moment, Title, useTitle, WhenLoaded } from "./parts.tsx"
import { to } from "./place.ts"
import { PolicyParts } from "./Policy.tsx"
import { PolicyText, showLine } from "./PolicyText.tsx"
import { Remarks, Report } from "./PolicyReport.tsx"
import { Simulation } from "./PolicySimulation.tsx"
import { useLoaded } from "./state.ts"
import { Table } from "./Table.tsx"

export const PolicyProposals = () => {
  useTitle("Proposed policies")
  const { loaded, reload } = useLoaded(policyProposals, [])
  return (
    <>
      <Title note="A proposed policy is in force after another person has approved it.">Policy</Title>
      <PolicyParts />
      <WhenLoaded loaded={loaded} reload={reload}>
        {(proposals) =>
          proposals.length === 0 ? (
            <p class="empty">No proposed policy waits for an approval.</p>
          ) : (
            <Table
              caption="Proposed policies"
              headings={["Proposed", "By", "Waits for", "Proposal"]}
              rows={proposals.map(({ changeId, createdAt, proposer, proposerName }) => ({
                key: changeId,
                cells: [
                  <Moment at={createdAt} />,
                  proposerName === undefined ? <code>{proposer}</code> : <Isolated>{proposerName}</Isolated>,
                  proposerName === undefined ? "another person" : "you",
                  <a href={to(["policy", "proposals", changeId])}>
                    Review<span class="visually-hidden"> the proposal {changeId}</span>
                  </a>
                ]
              }))}
            />
          )
        }
      </WhenLoaded>
    </>
  )
}

export const PolicyProposal = ({ id }: { readonly id: string }) => {
  useTitle("A proposed policy")
  const { loaded, reload } = useLoaded(() => policyProposal(id), [id])
  return (
    <>
      <Title note="It is in force after another person has approved it.">Policy</Title>
      <PolicyParts />
      <WhenLoaded loaded={loaded} reload={reload}>
        {(proposal) => <Review proposal={proposal} reload={() => void reload()} />}
      </WhenLoaded>
    </>
  )
}

const STATES: Readonly<Record<string, string>> = {
  rejected: "It was refused: nothing was published.",
  withdrawn: "It was taken back: nothing was published.",
  expired: "The time to approve it is over: nothing was published.",
  stale: "Another version was published before it was approved: nothing was published.",
  failed: "It couldn't be published any more."
}

const Review = ({
  proposal: { document, preview },
  reload
}: {
  readonly proposal: Proposal
  readonly reload: () => void
}) => {
  const { changeId, createdAt, own, policy, proposer, proposerName, receipt, state } = preview
  const isWaiting = state === "open" || state === "waiting"
  return (
    <>
      <p class="tally">
        <Badge kind={state === "applied" ? "good" : isWaiting ? "warn" : "neutral"}>
          {state === "applied" ? "Published" : isWaiting ? "Waits for approval" : "Not published"}
        </Badge>{" "}
        Proposed by {own ? "you" : <Isolated>{proposerName ?? proposer}</Isolated>}, <Moment at={createdAt} />, over
        version {policy?.replaces}.
      </p>
      {receipt === undefined ? null : <p>{receipt.message}</p>}
      {isWaiting ? (
        <Waiting document={document} preview={preview} reload={reload} />
      ) : (
        <>
          {STATES[state] === undefined ? null : <p>{STATES[state]}</p>}
          <section aria-labelledby={changeId}>
            <h2 id={changeId}>What it changes</h2>
            <Differences of={policy?.changes ?? []} />
          </section>
          <h2>File</h2>
          <div class="stacked policy-editor">
            <PolicyText text={document} />
          </div>
        </>
      )}
    </>
  )
}

/** What the editor shows before a publication: the approver decides on the same. */
const Waiting = ({
  document,
  preview,
  reload
}: {
  readonly document: string
  readonly preview: Preview
  readonly reload: () => void
}) => {
  const area = useRef<HTMLTextAreaElement>(null)
  const { approvers, digest, own, policy, state } = preview
  const { loaded, reload: again } = useLoaded(() => checkPolicy(document), [document])
  const problems = policy?.problems ?? []
  const show = (line: number) => showLine(area.current, line)
  return (
    <>
      {problems.length === 0 ? null : (
        <section class="notice" aria-labelledby="outdated">
          <h2 id="outdated">It can't be published any more</h2>
          {problems.map((problem) => (
            <p key={problem}>{problem}</p>
          ))}
        </section>
      )}
      <WhenLoaded loaded={loaded} reload={() => void again()}>
        {(found) =>
          "problems" in found ? (
            <Remarks of={found.problems} show={show} />
          ) : (
            <>
              <Report checked={found} show={show} />
              <Simulation text={document} />
            </>
          )
        }
      </WhenLoaded>
      <h2>File</h2>
      <div class="stacked policy-editor">
        <PolicyText text={document} area={area} />
      </div>
      {own ? (
        <p class="soft">
          {state === "open"
            ? "You haven't asked for an approval yet: do that in the inbox."
            : `Another person with the role ${listed(approvers, "or")} approves it.`}
        </p>
      ) : null}
      <div class="actions">
        {own ? (
          <ConfirmButton
            label="Take it back"
            title="Take the proposal back?"
            confirm="Take it back"
            done="It was taken back."
            act={() => decideOn(preview, "withdraw")}
            reload={reload}
          >
            Nothing is published.
          </ConfirmButton>
        ) : (
          <>
            <ConfirmButton
              label="Refuse"
              title="Refuse this policy?"
              confirm="Refuse"
              done="It was refused."
              act={() => decideOn(preview, "reject")}
              reload={reload}
            >
              Nothing is published, and its proposer sees that it was refused.
            </ConfirmButton>
            {digest === undefined ? null : (
              <ConfirmButton
                label="Approve and publish"
                title="Publish this policy?"
                confirm="Publish"
                done="It is in force."
                act={() => decideOn(preview, "confirm")}
                reload={reload}
              >
                It counts from the next request of every person on. To go back, restore version {policy?.replaces} from
                the history.
              </ConfirmButton>
            )}
          </>
        )}
      </div>
    </>
  )
}
