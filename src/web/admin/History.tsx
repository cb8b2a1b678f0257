/** Every version of the policy, and what differs between two of them. */
import { changes, type Version, versions } from "./api.ts"
import { Badge, Command, Said, Table, Title, usePage, When } from "./parts.tsx"
import { to } from "./place.ts"
import { PolicyParts } from "./Policy.tsx"
import { useLoaded } from "./state.ts"

export const History = ({
  from,
  to: until
}: {
  readonly from?: string | undefined
  readonly to?: string | undefined
}) => {
  usePage("Policy history")
  const { again, loaded } = useLoaded(versions, [])
  return (
    <>
      <Title note="No version is ever changed or removed.">Policy</Title>
      <PolicyParts />
      <When loaded={loaded} again={again}>
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
                  { name: "Version" },
                  { name: "Published" },
                  { name: "By" },
                  { name: "Rules", number: true },
                  { name: "SHA-256" },
                  { name: "Changes" }
                ]}
                rows={all.map((one) => ({ key: String(one.version), cells: cellsOf(one) }))}
              />
            </>
          )
        }}
      </When>
      <Command text="max policy show 1 > policy.json">To go back, publish an older version again:</Command>
    </>
  )
}

const number = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined

const cellsOf = ({ author, authorName, inForce, publishedAt, rules, sha256, version }: Version) => [
  <>
    {version} {inForce ? <Badge kind="good">in force</Badge> : null}
  </>,
  publishedAt,
  <Said>{authorName ?? author}</Said>,
  String(rules),
  <code title={sha256}>{sha256.slice(0, 12)}</code>,
  version === 1 ? (
    <span class="soft">the first</span>
  ) : (
    <a href={to(["policy", "history"], { from: String(version - 1), to: String(version) })}>
      {version - 1} → {version}
      <span class="visually-hidden">: what changed</span>
    </a>
  )
]

const Compare = ({
  all,
  from,
  until
}: {
  readonly all: ReadonlyArray<Version>
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
          <Choice all={all} value={from} choose={(version) => choose({ from: version, until })} />
        </label>
        <label>
          To version
          <Choice all={all} value={until} choose={(version) => choose({ from, until: version })} />
        </label>
      </form>
      {from < 1 ? (
        <p class="empty">This is the first version: there is nothing to compare it with.</p>
      ) : (
        <Diff from={from} until={until} />
      )}
    </section>
  )
}

const Choice = ({
  all,
  choose,
  value
}: {
  readonly all: ReadonlyArray<Version>
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

const Diff = ({ from, until }: { readonly from: number; readonly until: number }) => {
  const { again, loaded } = useLoaded(() => changes(from, until), [from, until])
  return (
    <When loaded={loaded} again={again}>
      {(found) =>
        found.length === 0 ? (
          <p class="empty">
            Nothing differs between version {from} and version {until}.
          </p>
        ) : (
          <ul class="diff">
            {found.map(({ mark, what }) => (
              <li key={mark + what} class={MARKS[mark][0]}>
                <span aria-hidden="true">{mark}</span>
                <span class="visually-hidden">{MARKS[mark][1]}</span>
                <span>{what}</span>
              </li>
            ))}
          </ul>
        )
      }
    </When>
  )
}
