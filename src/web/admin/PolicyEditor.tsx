/** Edits the policy as a file: the text, what it would mean and change, and its publication. */
import { signal } from "@preact/signals"
import { useEffect, useRef, useState } from "preact/hooks"
import type { PolicyCheck, PolicyDocument } from "../../wire/admin/policyEditor.ts"
import type { Problem } from "../shared/api.ts"
import { checkPolicy, policyDocument, proposePolicy, publishPolicy } from "./api.ts"
import { Diff } from "./History.tsx"
import { Badge, ConfirmButton, counted, Failure, listed, Title, useTitle, WhenLoaded } from "./parts.tsx"
import { to } from "./place.ts"
import { PolicyParts } from "./Policy.tsx"
import { PolicyGrid } from "./PolicyGrid.tsx"
import { PolicyText, showLine } from "./PolicyText.tsx"
import { Remarks, Report } from "./PolicyReport.tsx"
import { Simulation } from "./PolicySimulation.tsx"
import { announcement, handleFailure, useLoaded } from "./state.ts"

/** An edited text, kept while the administrator looks at other pages, with the version in force that it would replace. */
const draft = signal<{ readonly text: string; readonly replacing: number } | undefined>(undefined)

export const PolicyEditor = ({ version }: { readonly version?: string | undefined }) => {
  useTitle("Edit the policy")
  const { loaded, reload } = useLoaded(policyDocument, [])
  return (
    <>
      <Title note="Nothing changes before you publish, and every version stays in the history.">Policy</Title>
      <PolicyParts />
      <WhenLoaded loaded={loaded} reload={reload}>
        {(current) => (
          <Editor key={current.version} inForce={current} restoring={version} reload={() => void reload()} />
        )}
      </WhenLoaded>
    </>
  )
}

type Checked = { readonly text: string; readonly found: PolicyCheck }

const Editor = ({
  inForce,
  reload,
  restoring
}: {
  readonly inForce: PolicyDocument
  readonly restoring: string | undefined
  readonly reload: () => void
}) => {
  const area = useRef<HTMLTextAreaElement>(null)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem>()
  const [checked, setChecked] = useState<Checked>()
  const kept = draft.value
  const text = kept?.text ?? inForce.document
  const replacing = kept?.replacing ?? inForce.version
  const isSuperseded = replacing !== inForce.version

  const during = (work: () => Promise<void>) => {
    setBusy(true)
    setProblem(undefined)
    void work()
      .catch((error: unknown) => setProblem(handleFailure(error)))
      .finally(() => setBusy(false))
  }
  const edit = (next: string, over = replacing) => {
    draft.value = next === inForce.document ? undefined : { text: next, replacing: over }
  }
  const version = restoring !== undefined && /^\d{1,9}$/.test(restoring) ? Number(restoring) : undefined
  const isRestored = useRef(false)
  useEffect(() => {
    if (version === undefined || kept !== undefined || isRestored.current) return
    isRestored.current = true
    during(async () => {
      edit((await policyDocument(version)).document, inForce.version)
      announcement.value = `The text of version ${version} is in the editor.`
    })
  }, [version, kept === undefined])

  const check = () =>
    during(async () => {
      const found = await checkPolicy(text)
      setChecked({ text, found })
      announcement.value =
        "problems" in found ? `${counted(found.problems.length, "problem")}.` : "Checked. Read below what would change."
    })
  const show = (line: number) => showLine(area.current, line)
  const report = checked?.text === text ? checked.found : undefined
  const failing = report === undefined || "problems" in report ? [] : report.tests.filter(({ passes }) => !passes)
  const isPublishable =
    report !== undefined &&
    !("problems" in report) &&
    failing.length === 0 &&
    report.changes.length > 0 &&
    !isSuperseded

  return (
    <>
      <p class="tally">
        <Badge kind="good">Version {inForce.version} in force</Badge>{" "}
        {kept === undefined ? null : <Badge kind="warn">Not published</Badge>}
      </p>
      {version === undefined || kept === undefined || isRestored.current ? null : (
        <p class="soft">Your text isn't published. To restore version {version}, discard it first.</p>
      )}
      {isSuperseded ? (
        <section class="notice" aria-labelledby="superseded">
          <h2 id="superseded">Version {inForce.version} was published meanwhile</h2>
          <p>Your text was made from version {replacing}, and is still below. This changed since then:</p>
          <Diff from={replacing} until={inForce.version} />
          <p>Take these changes into your text if you want to keep them: it replaces version {inForce.version}.</p>
          <button
            type="button"
            class="button"
            onClick={() => {
              edit(text, inForce.version)
              setChecked(undefined)
            }}
          >
            Continue from version {inForce.version}
          </button>
        </section>
      ) : null}
      <PolicyGrid text={() => draft.value?.text ?? inForce.document} edit={(next) => edit(next)} show={show} />
      <h2>File</h2>
      <form
        class="stacked policy-editor"
        aria-busy={busy}
        onSubmit={(event) => {
          event.preventDefault()
          check()
        }}
      >
        <PolicyText text={text} area={area} edit={(next) => edit(next)} />
        <div class="actions">
          {kept === undefined ? null : (
            <ConfirmButton
              label="Discard my text"
              title="Discard your text?"
              confirm="Discard"
              danger
              done={`The text of version ${inForce.version} is in the editor.`}
              act={() => {
                draft.value = undefined
                return Promise.resolve()
              }}
              reload={() => setChecked(undefined)}
            >
              The editor then shows version {inForce.version}, which is in force.
            </ConfirmButton>
          )}
          <button type="submit" class={isPublishable ? "button" : "act"} disabled={busy || text.trim() === ""}>
            Check
          </button>
        </div>
      </form>
      {problem === undefined ? null : <Failure problem={problem} />}
      {report === undefined ? (
        checked === undefined ? null : (
          <p class="soft">The text has changed. Check it again before you publish it.</p>
        )
      ) : "problems" in report ? (
        <section aria-labelledby="problems">
          <h2 id="problems">{counted(report.problems.length, "problem")}</h2>
          <Remarks of={report.problems} show={show} />
        </section>
      ) : (
        <>
          <Report checked={report} show={show} />
          <Simulation key={checked!.text} text={checked!.text} />
          <div class="actions">
            {isPublishable && inForce.approvers !== undefined ? (
              <ConfirmButton
                label={`Propose version ${inForce.version + 1}`}
                title="Propose this policy?"
                confirm="Propose"
                done="It waits for another person's approval."
                act={async () => {
                  const id = await proposePolicy(text, replacing)
                  draft.value = undefined
                  location.hash = to(["policy", "proposals", id])
                }}
                reload={() => undefined}
              >
                {counted(report.changes.length, "change")} to version {inForce.version}. Another person with the role{" "}
                {listed(inForce.approvers, "or")} approves it in the inbox before it is in force.
              </ConfirmButton>
            ) : isPublishable ? (
              <ConfirmButton
                label={`Publish version ${inForce.version + 1}`}
                title="Publish this policy?"
                confirm="Publish"
                done={`Version ${inForce.version + 1} is in force.`}
                act={async () => {
                  try {
                    await publishPolicy(text, replacing)
                    draft.value = undefined
                    if (version !== undefined) location.hash = to(["policy", "edit"])
                  } catch (error) {
                    reload()
                    throw error
                  }
                }}
                reload={reload}
              >
                {counted(report.changes.length, "change")} to version {inForce.version}. It counts from the next request
                of every person on. To go back, restore version {inForce.version} from the history.
              </ConfirmButton>
            ) : (
              <p class="soft">
                {failing.length > 0
                  ? `Not all tests pass, so it can't be published.`
                  : isSuperseded
                    ? "Continue from the version in force first."
                    : "It says the same as the version in force."}
              </p>
            )}
          </div>
        </>
      )}
    </>
  )
}
