/** The versions of the policy, and the differences between two of them. */
import type { PolicyChanges, PolicyVersion } from "../../wire/admin/policy.ts"
import { changes, versions } from "./api.ts"
import { Badge, Command, Isolated, Title, useTitle, WhenLoaded } from "./parts.tsx"
import { to } from "./place.ts"
import { PolicyParts } from "./Policy.tsx"
import { may, useLoaded } from "./state.ts"
import { Table } from "./Table.tsx"

export const History = ({
  from,
  to: until
}: {
  readonly from?: string | undefined
  readonly to?: string | undefined
}) => {
  useTitle("Policy history")
  const { loaded, reload } = useLoaded(versions, [])
  return (
    <>
      <Title note="Versions are never changed or removed.">Policy</Title>
      <PolicyParts />
      <WhenLoaded loaded={loaded} reload={reload}>
        {(all) => {
          const [newest] = all
          const last = number(until) ?? newest?.version ?? 0
          return (
            <>
              <Compare all={all} from={number(from) ?? last - 1} until={last} />
              <h2>Versions</h2>
              <Table
                caption="Versions of the policy"
                headings={[
                  "Version",
                  "Published",
                  "By",
                  "Rules",
                  "SHA-256",
                  "Changes",
                  ...(may("policy") ? ["Restore"] : [])
                ]}
                numbers="Rules"
                rows={all.map((one) => ({ key: String(one.version), cells: cellsOf(one) }))}
              />
            </>
          )
        }}
      </WhenLoaded>
      {may("policy") ? null : (
        <Command text="max policy show 1 > policy.json">
          To go back, save an older version to a file and publish it:
        </Command>
      )}
    </>
  )
}

const number = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined

const cellsOf = ({ author, authorName, inForce, publishedAt, rules, sha256, version }: PolicyVersion) => [
  <>
    {version} {inForce ? <Badge kind="good">in force</Badge> : null}
  </>,
  publishedAt,
  <Isolated>{authorName ?? author}</Isolated>,
  String(rules),
  <code title={sha256}>{sha256.slice(0, 12)}</code>,
  version === 1 ? (
    <span class="soft">the first</span>
  ) : (
    <a href={to(["policy", "history"], { from: String(version - 1), to: String(version) })}>
      {version - 1} → {version}
      <span class="visually-hidden">: what changed</span>
    </a>
  ),
  ...(may("policy")
    ? [
        inForce ? (
          <span class="soft">–</span>
        ) : (
          <a href={to(["policy", "edit"], { version: String(version) })}>
            Restore<span class="visually-hidden"> version {version}</span>
          </a>
        )
      ]
    : [])
]

const Compare = ({
  all,
  from,
  until
}: {
  readonly all: ReadonlyArray<PolicyVersion>
  readonly from: number
  readonly until: number
}) => {
  const choose = (next: { readonly from: number; readonly until: number }) => {
    location.hash = to(["policy", "history"], { from: String(next.from), to: String(next.until) })
  }
  return (
    <section aria-labelledby="changes">
      <h2 id="changes">What changed</h2>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          From version
          <VersionSelect all={all} value={from} choose={(version) => choose({ from: version, until })} />
        </label>
        <label>
          To version
          <VersionSelect all={all} value={until} choose={(version) => choose({ from, until: version })} />
        </label>
      </form>
      {from < 1 ? (
        <p class="empty">This is the first version, so there is nothing to compare it with.</p>
      ) : (
        <Diff from={from} until={until} />
      )}
    </section>
  )
}

const VersionSelect = ({
  all,
  choose,
  value
}: {
  readonly all: ReadonlyArray<PolicyVersion>
  readonly value: number
  readonly choose: (version: number) => void
}) => (
  <select value={String(value)} onChange={(event) => choose(Number(event.currentTarget.value))}>
    {all.some(({ version }) => version === value) ? null : <option value={String(value)}>–</option>}
    {all.map(({ inForce, version }) => (
      <option key={version} value={String(version)}>
        {version}
        {inForce ? " (in force)" : ""}
      </option>
    ))}
  </select>
)

const MARKS = { "+": ["added", "Added: "], "-": ["removed", "Removed: "], "~": ["altered", "Changed: "] } as const

/** Differences of two policies in words. */
export const Differences = ({ of }: { readonly of: PolicyChanges["changes"] }) => (
  <ul class="diff">
    {of.map(({ mark, what }) => (
      <li key={mark + what} class={MARKS[mark][0]}>
        <span aria-hidden="true">{mark}</span>
        <span class="visually-hidden">{MARKS[mark][1]}</span>
        <span>{what}</span>
      </li>
    ))}
  </ul>
)

export const Diff = ({ from, until }: { readonly from: number; readonly until: number }) => {
  const { loaded, reload } = useLoaded(() => changes(from, until), [from, until])
  return (
    <WhenLoaded loaded={loaded} reload={reload}>
      {(differences) =>
        differences.length === 0 ? (
          <p class="empty">
            Version {from} and version {until} don't differ.
          </p>
        ) : (
          <Differences of={differences} />
        )
      }
    </WhenLoaded>
  )
}
