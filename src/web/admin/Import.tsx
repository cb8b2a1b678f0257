/** Imports a file: drop it, say where its columns go, see what would happen, and import. */
import { useState } from "preact/hooks"
import type { Imported, Proposal, ReadFile } from "../../wire/admin/import.ts"
import type { Problem } from "../shared/api.ts"
import { type Chosen, choiceFor, importFile, optionsOf, propose, type Refused, type Settings } from "./importing.ts"
import { Drop } from "./Drop.tsx"
import { Mapping, Reading } from "./ImportMapping.tsx"
import { ImportRuns } from "./ImportRuns.tsx"
import { Outcome, RefusedRows, Warnings } from "./ImportOutcome.tsx"
import { counted, Failure, Title, useTitle } from "./parts.tsx"
import { announcement, handleFailure } from "./state.ts"

interface Opened {
  readonly file: File
  readonly read: ReadFile
  /** Undefined if it can't be read so. */
  readonly proposal: Proposal | undefined
}

type Busy = { readonly doing: string; readonly share?: number }

export const Import = () => {
  useTitle("Import")
  const [opened, setOpened] = useState<Opened>()
  const [chosen, choose] = useState<Chosen>()
  const [settings, setSettings] = useState<Settings>({})
  const [busy, setBusy] = useState<Busy>()
  const [problem, setProblem] = useState<Problem>()
  const [refused, setRefused] = useState<Refused>()
  const [result, setResult] = useState<Imported>()

  const forget = () => {
    setProblem(undefined)
    setRefused(undefined)
    setResult(undefined)
  }
  const during = (doing: string, work: () => Promise<void>) => {
    forget()
    setBusy({ doing })
    announcement.value = doing
    void work()
      .catch((error: unknown) => setProblem(handleFailure(error)))
      .finally(() => setBusy(undefined))
  }
  const open = (file: File, read: ReadFile = {}) =>
    during(`Reading ${file.name} …`, async () => {
      const proposal = await propose(file, read).catch((error: unknown) => {
        setOpened({ file, read, proposal: undefined })
        throw error
      })
      setOpened({ file, read, proposal })
      choose(choiceFor(proposal, proposal.type))
    })
  const run = (dryRun: boolean) => {
    const doing = dryRun ? "Checking …" : "Importing …"
    during(doing, async () => {
      const { file, proposal, read } = opened!
      const options = { ...read, ...optionsOf(proposal!, chosen!), ...settings, dryRun }
      const last = await importFile(file, options, ({ rows, share }) =>
        setBusy({ doing: `${doing} ${counted(rows, "row")}`, share })
      )
      if ("result" in last) setResult(last.result)
      else setRefused(last.refused)
      announcement.value = "result" in last ? (dryRun ? "Checked." : "Imported.") : last.refused.message
    })
  }
  const change = (next: Chosen) => {
    forget()
    choose(next)
  }
  const again = () => {
    forget()
    setOpened(undefined)
  }
  const isDone = result !== undefined && !result.dryRun
  return (
    <>
      <Title note="CSV, Excel (.xlsx) or JSONL. A file is imported completely or not at all, and nothing changes before you have seen what would.">
        Import
      </Title>
      {isDone || opened !== undefined ? null : <Drop open={open} disabled={busy !== undefined} />}
      {opened === undefined || isDone ? null : (
        <form
          class="import"
          aria-busy={busy !== undefined}
          onSubmit={(event) => {
            event.preventDefault()
            run(true)
          }}
        >
          <p>
            <bdi>{opened.file.name}</bdi> <span class="soft">{opened.proposal?.format}</span>{" "}
            <button type="button" class="button" onClick={again}>
              Another file
            </button>
          </p>
          {opened.proposal === undefined || chosen === undefined ? null : (
            <>
              <Warnings of={opened.proposal.warnings} />
              <Mapping proposal={opened.proposal} chosen={chosen} choose={change} />
            </>
          )}
          <Reading
            isSpreadsheet={/\.xlsx$/i.test(opened.file.name)}
            read={opened.read}
            reread={(read) => open(opened.file, read)}
            settings={settings}
            setSettings={(next) => {
              forget()
              setSettings(next)
            }}
          />
          <div class="actions" hidden={opened.proposal === undefined}>
            <button type="submit" class={result === undefined ? "act" : "button"} disabled={busy !== undefined}>
              Check the file
            </button>
          </div>
        </form>
      )}
      {busy === undefined ? null : (
        <p class="waiting">
          <label>
            {busy.doing} <progress {...(busy.share === undefined ? {} : { value: busy.share })} />
          </label>
        </p>
      )}
      {problem === undefined ? null : <Failure problem={problem} />}
      {refused === undefined ? null : <RefusedRows refused={refused} />}
      {result === undefined ? null : (
        <>
          <Outcome result={result} />
          <div class="actions">
            {isDone ? (
              <button type="button" class="button" onClick={again}>
                Import another file
              </button>
            ) : (
              <button
                type="button"
                class="act"
                disabled={busy !== undefined || result.rows === 0}
                onClick={() => run(false)}
              >
                Import {counted(result.rows - result.leftOut, "row")}
              </button>
            )}
          </div>
        </>
      )}
      {isDone || opened === undefined ? <ImportRuns /> : null}
    </>
  )
}
