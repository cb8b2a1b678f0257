/** Health: doctor's findings in words, the remedy of each, and the last backup. */
import { useEffect } from "preact/hooks"
import type { Finding, Health as Report } from "../../wire/admin/health.ts"
import { backUp, health } from "./api.ts"
import {
  Badge,
  type BadgeKind,
  Command,
  ConfirmButton,
  CopyButton,
  counted,
  Fact,
  Moment,
  Title,
  useTitle,
  WhenLoaded
} from "./parts.tsx"
import { announcement, may, useLoaded } from "./state.ts"

/** What each check looks at; a check that isn't listed has its own name. */
const NAMES: Readonly<Record<string, string>> = {
  connection: "Connection",
  postgres: "Version of Postgres",
  schema: "Version of Max's tables",
  extensions: "Extensions for searches",
  roles: "Rights of reads and writes",
  pooler: "Connection pooler",
  organizations: "Organization",
  tables: "Tables",
  indexes: "Indexes",
  "mapped tables": "Tables of your own",
  statistics: "Statistics of the planner",
  connections: "Free connections",
  standbys: "Standby servers",
  replicas: "Replicas",
  disk: "Disk",
  clock: "Clock",
  others: "Everything else"
}

const STATES: Readonly<Record<Finding["state"], readonly [text: string, kind: BadgeKind]>> = {
  ok: ["Good", "good"],
  warn: ["Attention", "warn"],
  fail: ["Doesn't work", "bad"],
  operator: ["Operators only", "neutral"]
}

/** What doesn't work first, what only operators see last. */
const ORDER: ReadonlyArray<Finding["state"]> = ["fail", "warn", "ok", "operator"]

export const Health = () => {
  useTitle("Health")
  const { loaded, reload } = useLoaded(health, [])
  return (
    <>
      <div class="heading">
        <Title note="What Max needs to work, checked just now, without changing anything.">Health</Title>
        <button type="button" class="button" onClick={reload}>
          Check again
        </button>
      </div>
      <WhenLoaded loaded={loaded} reload={reload}>
        {(report) => <Findings report={report} reload={reload} />}
      </WhenLoaded>
      <Command text="max doctor">
        The same checks on the machine where Max runs, with the database's credentials and everything that isn't shown
        here:
      </Command>
    </>
  )
}

const Findings = ({
  reload,
  report: { at, findings, lastBackup, mayBackUp }
}: {
  readonly report: Report
  readonly reload: () => void
}) => {
  const broken = findings.filter(({ state }) => state === "fail").length
  const weak = findings.filter(({ state }) => state === "warn").length
  const tally =
    broken > 0
      ? `${counted(broken, "check")} failed.`
      : weak > 0
        ? `Everything works; ${counted(weak, "check")} ${weak === 1 ? "needs" : "need"} attention.`
        : "Everything that was checked here works."
  useEffect(() => void (announcement.value = tally), [tally, at])
  return (
    <>
      <p class="tally">
        <strong>{tally}</strong>{" "}
        <span class="soft">
          Checked <Moment at={at} />
        </span>
      </p>
      <h2>Checks</h2>
      <ul class="findings" aria-label="Findings">
        {ORDER.flatMap((state) => findings.filter((finding) => finding.state === state)).map((finding, index) => (
          <Row key={`${finding.check} ${index}`} {...finding} />
        ))}
      </ul>
      <h2>Backup</h2>
      <dl class="facts">
        <Fact name="Last backup">
          {lastBackup === undefined ? "None is recorded for this organization" : <Moment at={lastBackup} />}
        </Fact>
      </dl>
      {mayBackUp && may("data") ? (
        <ConfirmButton
          label="Back up now"
          title="Make a backup?"
          confirm="Back up"
          act={backUp}
          done="The backup is made."
          reload={reload}
        >
          <p>
            All data is written into the folder that the operator has named. This can take minutes; the page waits for
            it.
          </p>
        </ConfirmButton>
      ) : null}
      <Command text="max backup max.backup">
        A backup has the data of every organization, so it is a command for operators, with the database's credentials:
      </Command>
    </>
  )
}

const Row = ({ check, mend, message, state }: Finding) => {
  const [text, kind] = STATES[state]
  return (
    <li>
      <h3>{NAMES[check] ?? check}</h3>
      <Badge kind={kind}>{text}</Badge>
      <p>{message}</p>
      {mend.length === 0 || state === "operator" ? null : (
        <>
          <p class="soft fine">An operator can mend it, with the database's credentials:</p>
          {mend.map((line) => (
            <div key={line} class="command-line">
              <code>{line}</code>
              <CopyButton text={line} />
            </div>
          ))}
        </>
      )}
    </li>
  )
}
