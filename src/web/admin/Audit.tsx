/** The audit log, with the verification of its hash chains. */
import { useEffect, useState } from "preact/hooks"
import type { AuditPage, AuditRecord, Chain, Verification } from "../../wire/admin/audit.ts"
import type { Problem } from "../shared/api.ts"
import { audit, type AuditFilter, person, verify } from "./api.ts"
import { Badge, Command, counted, Failure, Isolated, Moment, Title, useTitle, WhenLoaded } from "./parts.tsx"
import { nameOf } from "./People.tsx"
import { to } from "./place.ts"
import { announcement, handleFailure, useLoaded } from "./state.ts"
import { PagedTable } from "./Table.tsx"

const KINDS = [
  ["", "Everything"],
  ["membership.", "Memberships"],
  ["identifier.", "Identifiers"],
  ["token.", "Tokens"],
  ["sign-in.", "Sign-in links"],
  ["session.", "Sessions"],
  ["policy.", "Policy"],
  ["data.", "Imports and exports"],
  ["provider.", "Identity providers"],
  ["sms.", "Text messages"]
] as const

/** The verb of each action; the actor precedes it and the subject follows. */
const VERBS: Readonly<Record<string, string>> = {
  "admission.refused": "was refused access",
  "backup.made": "backed up the",
  "catalog.derived": "derived the column",
  "catalog.published": "published the type",
  "catalog.rechecked": "read again, after other programs changed its table, the type",
  "catalog.removed": "no longer maps the type",
  "catalog.underived": "no longer derives the column",
  "data.exported": "exported",
  "data.imported": "imported a file as",
  "identifier.removed": "removed an identifier of",
  "identifier.verified": "verified an identifier of",
  "membership.added": "gave access to",
  "membership.changed": "changed the membership of",
  "membership.resumed": "restored access for",
  "membership.suspended": "suspended",
  "membership.moved": "moved the membership of",
  "organization.changed": "changed the settings of",
  "organization.created": "created the organization",
  "organization.key": "set the key of",
  "organization.restored": "restored",
  "policy.published": "published policy version",
  "provider.added": "registered the identity provider",
  "provider.removed": "removed the identity provider",
  "provider.secret-set": "replaced the client's secret of the identity provider",
  "read.refused": "was refused",
  "session.all-ended": "ended all sessions of",
  "session.begun": "signed in",
  "session.ended": "signed out",
  "sign-in.offered": "created a sign-in link for",
  "sms.closed": "limited text messages to members of",
  "sms.contact-set": "set the contact for access to",
  "sms.number-added": "connected the number",
  "sms.number-removed": "disconnected the number",
  "sms.opened": "opened text messages to all known people of",
  "sms.tested": "sent a test text from",
  "token.created": "created a token",
  "token.revoked": "revoked a token"
}

const HEADINGS = ["When", "Who", "What", "Details"]

export const Audit = ({ about = "" }: { readonly about?: string | undefined }) => {
  useTitle("Audit")
  const [chain, setChain] = useState<Chain>("changes")
  const [action, setAction] = useState("")
  const [since, setSince] = useState("")
  const filter: AuditFilter = { chain, action: chain === "changes" ? action : "", who: about, since }
  const key = JSON.stringify(filter)
  const { loaded, reload } = useLoaded(() => audit(filter), [key])
  return (
    <>
      <Title note="Each record contains the hash of the previous one, so a changed or removed record is noticed.">
        Audit
      </Title>
      <Integrity />
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
            value={filter.action}
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
      <WhenLoaded loaded={loaded} reload={reload}>
        {(first) => (
          <PagedTable
            key={key}
            caption={chain === "changes" ? "Changes" : "Refusals"}
            headings={HEADINGS}
            first={first}
            load={(before: number) => audit(filter, before)}
            rowsOf={rowsOf}
            empty="No record matches."
          />
        )}
      </WhenLoaded>
      <Command text="max audit verify">
        Store the head of the chain outside of Max: it shows later whether the log was truncated or rewritten.
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
          <Isolated>{loaded.is === "ready" ? nameOf(loaded.value) : id}</Isolated>
        </strong>{" "}
        <a href={to(["audit"])}>all people</a>
      </span>
    </p>
  )
}

const rowsOf = (pages: ReadonlyArray<AuditPage>) =>
  pages
    .flatMap(({ records }) => records)
    .map((record) => ({
      key: String(record.sequence),
      cells: [
        <>
          <Moment at={record.at} />
          <div class="soft fine">record {record.sequence}</div>
        </>,
        <Person id={record.actor} name={record.actorName} />,
        <>
          {VERBS[record.action] ?? record.action} <Subject record={record} />
          <div class="soft fine">
            <code>{record.action}</code>
          </div>
        </>,
        <Details record={record} />
      ]
    }))

const Person = ({ id, name }: { readonly id: string; readonly name: string | undefined }) =>
  name === undefined ? (
    <Isolated>{id}</Isolated>
  ) : (
    <a href={to(["people", id])}>
      <Isolated>{name}</Isolated>
    </a>
  )

const Subject = ({ record: { action, subject, subjectName } }: { readonly record: AuditRecord }) =>
  subjectName !== undefined ? (
    <Person id={subject} name={subjectName} />
  ) : action.startsWith("session.") || action.startsWith("token.") ? null : (
    <Isolated>{subject}</Isolated>
  )

const Details = ({ record: { details, personName } }: { readonly record: AuditRecord }) => (
  <dl class="details">
    {flattened(details).map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{name === "person" ? <Person id={value} name={personName} /> : <Isolated>{value}</Isolated>}</dd>
      </div>
    ))}
  </dl>
)

/** The details as a flat list of names and texts, without empty values. */
const flattened = (
  details: Readonly<Record<string, unknown>>,
  prefix = ""
): ReadonlyArray<readonly [name: string, text: string]> =>
  Object.entries(details).flatMap(([name, value]): ReadonlyArray<readonly [string, string]> => {
    const label = `${prefix}${name}`
    if (Array.isArray(value)) return value.length === 0 ? [] : [[label, value.map(String).join(", ")]]
    if (typeof value === "object" && value !== null) return flattened(value as Record<string, unknown>, `${label}: `)
    return value === undefined || value === null || value === false ? [] : [[label, shortened(String(value))]]
  })

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/

const shortened = (text: string): string =>
  /^[0-9a-f]{64}$/.test(text) ? `${text.slice(0, 12)}…` : INSTANT.test(text) ? text.slice(0, 10) : text

type Check =
  | { readonly is: "not started" | "running" }
  | { readonly is: "done"; readonly chains: ReadonlyArray<Verification> }
  | { readonly is: "failed"; readonly problem: Problem }

const Integrity = () => {
  const [check, set] = useState<Check>({ is: "not started" })
  const run = () => {
    set({ is: "running" })
    verify().then(
      (chains) => set({ is: "done", chains }),
      (error: unknown) => set({ is: "failed", problem: handleFailure(error) })
    )
  }
  const result = check.is === "done" ? check.chains.map(describeChain).join(" ") : ""
  useEffect(() => void (result === "" ? undefined : (announcement.value = result)), [result])
  return (
    <div class="check">
      {check.is === "done" ? (
        <ul class="chains">
          {check.chains.map((chain) => (
            <li key={chain.chain}>
              {chain.broken === undefined ? <Badge kind="good">Intact</Badge> : <Badge kind="bad">Broken</Badge>}{" "}
              {describeChain(chain)}
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
        <p class="soft">The log's hashes show whether a record was changed.</p>
      )}
      <button type="button" class="button" disabled={check.is === "running"} onClick={run}>
        {check.is === "running" ? "Checking …" : check.is === "done" ? "Check again" : "Check the log"}
      </button>
    </div>
  )
}

const describeChain = ({ broken, chain, records }: Verification): string => {
  const name = chain === "changes" ? "Changes" : "Refusals"
  if (broken !== undefined) return `${name}: record ${broken} was changed or is missing.`
  return records === 0 ? `${name}: no records yet.` : `${name}: ${counted(records, "record")}, all unchanged.`
}
