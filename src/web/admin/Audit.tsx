/** What was changed and what was refused, and whether the log is what was written. */
import { useEffect, useState } from "preact/hooks"
import { audit, type AuditQuery, type AuditRecord, type Chain, person, type Verification, verify } from "./api.ts"
import type { Problem } from "../shared/api.ts"
import { Badge, Command, counted, Failure, Moment, Said, Table, Title, usePage, When } from "./parts.tsx"
import { nameOf } from "./People.tsx"
import { to } from "./place.ts"
import { failed, said, useLoaded } from "./state.ts"

const KINDS = [
  ["", "Everything"],
  ["membership.", "Memberships"],
  ["identifier.", "Identifiers"],
  ["token.", "Tokens"],
  ["sign-in.", "Sign-in links"],
  ["session.", "Sessions"],
  ["policy.", "Policy"],
  ["provider.", "Identity providers"],
  ["sms.", "Text messages"]
] as const

/** What was done, between who did it and to whom. */
const DONE: Readonly<Record<string, string>> = {
  "admission.refused": "wasn't let in",
  "catalog.published": "published the type",
  "data.exported": "exported",
  "identifier.verified": "verified an identifier of",
  "membership.added": "let in",
  "membership.changed": "changed the membership of",
  "membership.resumed": "let in again",
  "membership.suspended": "suspended",
  "membership.moved": "moved the membership of",
  "organization.created": "made the organization",
  "organization.key": "set the key of",
  "organization.restored": "restored",
  "policy.published": "published policy version",
  "provider.added": "began to believe",
  "provider.removed": "stopped believing",
  "read.refused": "was refused",
  "session.begun": "signed in",
  "session.ended": "signed out",
  "sign-in.offered": "offered a sign-in link to",
  "sms.closed": "closed text messages to all but the members of",
  "sms.contact-set": "said whom to ask for access to",
  "sms.number-added": "connected the number",
  "sms.number-removed": "disconnected the number",
  "sms.opened": "opened text messages to everybody known to",
  "token.created": "made a token",
  "token.revoked": "revoked a token"
}

export const Audit = ({ about = "" }: { readonly about?: string | undefined }) => {
  usePage("Audit")
  const [chain, setChain] = useState<Chain>("changes")
  const [action, setAction] = useState("")
  const [since, setSince] = useState("")
  const query: AuditQuery = { chain, action: chain === "changes" ? action : "", who: about, since }
  const key = JSON.stringify(query)
  const { again, loaded } = useLoaded(() => audit(query), [key])
  return (
    <>
      <Title note="Each record carries the hash of the one before it: none can be changed or taken out unnoticed.">
        Audit
      </Title>
      <Verified />
      <form class="filters" role="search" aria-label="Audit log" onSubmit={(event) => event.preventDefault()}>
        <label>
          Log
          <select value={chain} onChange={(event) => setChain(event.currentTarget.value as Chain)}>
            <option value="changes">Changes</option>
            <option value="reads">Refusals</option>
          </select>
        </label>
        <label>
          Kind
          <select
            value={chain === "changes" ? action : ""}
            disabled={chain === "reads"}
            onChange={(event) => setAction(event.currentTarget.value)}
          >
            {KINDS.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Since
          <input type="date" value={since} onInput={(event) => setSince(event.currentTarget.value)} />
        </label>
        {about === "" ? null : <About id={about} />}
      </form>
      <When loaded={loaded} again={again}>
        {(found) => <Records key={key} first={found} query={query} />}
      </When>
      <Command text="max audit verify">
        The head of the chain, kept somewhere else, shows later that the log wasn't cut or written anew:
      </Command>
    </>
  )
}

const About = ({ id }: { readonly id: string }) => {
  const { loaded } = useLoaded(() => person(id), [id])
  return (
    <p class="chosen">
      <span class="label">About</span>
      <span>
        <strong>
          <Said>{loaded.is === "ready" ? nameOf(loaded.value) : id}</Said>
        </strong>{" "}
        <a href={to(["audit"])}>everybody</a>
      </span>
    </p>
  )
}

interface Page {
  readonly records: ReadonlyArray<AuditRecord>
  readonly next?: number
}

const Records = ({ first, query }: { readonly first: Page; readonly query: AuditQuery }) => {
  const [rest, set] = useState<ReadonlyArray<Page>>([])
  const [problem, setProblem] = useState<Problem>()
  const pages = [first, ...rest]
  const next = pages.at(-1)!.next
  const records = pages.flatMap((page) => page.records)
  if (records.length === 0) return <p class="empty">No record matches.</p>
  const show = () => {
    setProblem(undefined)
    audit(query, next).then(
      (page) => set([...rest, page]),
      (error: unknown) => setProblem(failed(error))
    )
  }
  return (
    <>
      <Table
        caption={query.chain === "changes" ? "What was changed" : "What was refused"}
        headings={[{ name: "When" }, { name: "Who" }, { name: "What" }, { name: "Details" }]}
        rows={records.map((record) => ({ key: String(record.sequence), cells: cellsOf(record) }))}
      />
      {problem === undefined ? null : <Failure problem={problem} again={show} />}
      {next === undefined ? null : (
        <button type="button" class="button more" onClick={show}>
          Show more
        </button>
      )}
    </>
  )
}

const cellsOf = (record: AuditRecord) => [
  <>
    <Moment at={record.at} />
    <div class="soft fine">record {record.sequence}</div>
  </>,
  <Who id={record.actor} name={record.actorName} />,
  <>
    {DONE[record.action] ?? record.action} <Subject record={record} />
    <div class="soft fine">
      <code>{record.action}</code>
    </div>
  </>,
  <Details record={record} />
]

const Who = ({ id, name }: { readonly id: string; readonly name: string | undefined }) =>
  name === undefined ? (
    <Said>{id}</Said>
  ) : (
    <a href={to(["people", id])}>
      <Said>{name}</Said>
    </a>
  )

const Subject = ({ record: { action, subject, subjectName } }: { readonly record: AuditRecord }) =>
  subjectName !== undefined ? (
    <Who id={subject} name={subjectName} />
  ) : action.startsWith("session.") || action.startsWith("token.") ? null : (
    <Said>{subject}</Said>
  )

const Details = ({ record: { details, personName } }: { readonly record: AuditRecord }) => (
  <dl class="details">
    {factsOf(details).map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{name === "person" ? <Who id={value} name={personName} /> : <Said>{value}</Said>}</dd>
      </div>
    ))}
  </dl>
)

/** What a record says besides, flat; what is empty says nothing. */
const factsOf = (details: Readonly<Record<string, unknown>>, within = ""): ReadonlyArray<readonly [string, string]> =>
  Object.entries(details).flatMap(([name, value]): ReadonlyArray<readonly [string, string]> => {
    const label = `${within}${name}`
    if (Array.isArray(value)) return value.length === 0 ? [] : [[label, value.map(String).join(", ")]]
    if (typeof value === "object" && value !== null) return factsOf(value as Record<string, unknown>, `${label}: `)
    return value === undefined || value === null || value === false ? [] : [[label, short(String(value))]]
  })

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/

const short = (text: string): string =>
  /^[0-9a-f]{64}$/.test(text) ? `${text.slice(0, 12)}…` : INSTANT.test(text) ? text.slice(0, 10) : text

type Check =
  | { readonly is: "not yet" | "busy" }
  | { readonly is: "done"; readonly chains: ReadonlyArray<Verification> }
  | { readonly is: "failed"; readonly problem: Problem }

const Verified = () => {
  const [check, set] = useState<Check>({ is: "not yet" })
  const run = () => {
    set({ is: "busy" })
    verify().then(
      (chains) => set({ is: "done", chains }),
      (error: unknown) => set({ is: "failed", problem: failed(error) })
    )
  }
  const told = check.is === "done" ? check.chains.map(wordsOf).join(" ") : ""
  useEffect(() => void (told === "" ? undefined : (said.value = told)), [told])
  return (
    <div class="check">
      {check.is === "done" ? (
        <ul class="chains">
          {check.chains.map((chain) => (
            <li key={chain.chain}>
              {chain.broken === undefined ? <Badge kind="good">Unbroken</Badge> : <Badge kind="bad">Broken</Badge>}{" "}
              {wordsOf(chain)}
              {chain.head === undefined ? null : (
                <>
                  {" "}
                  <code class="head">{chain.head}</code>
                </>
              )}
            </li>
          ))}
        </ul>
      ) : check.is === "failed" ? (
        <Failure problem={check.problem} />
      ) : (
        <p class="soft">Whether the log is as it was written can be computed from its hashes.</p>
      )}
      <button type="button" class="button" disabled={check.is === "busy"} onClick={run}>
        {check.is === "busy" ? "Checking …" : check.is === "done" ? "Check again" : "Check the log"}
      </button>
    </div>
  )
}

const wordsOf = ({ broken, chain, records }: Verification): string => {
  const what = chain === "changes" ? "Changes" : "Refusals"
  if (broken !== undefined) return `${what}: record ${broken} isn't what was written, or is missing.`
  return records === 0 ? `${what}: no record yet.` : `${what}: ${counted(records, "record")}, each as it was written.`
}
