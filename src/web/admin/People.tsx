/** The list of members: search, filters and paging. */
import { useEffect, useState } from "preact/hooks"
import type { People as PeoplePage, Person } from "../../wire/admin/people.ts"
import { people, policy } from "./api.ts"
import { InviteButton } from "./Invite.tsx"
import { Badge, counted, Day, Isolated, Moment, Roles, Title, useTitle, WhenLoaded } from "./parts.tsx"
import { to } from "./place.ts"
import { announcement, may, useLoaded } from "./state.ts"
import { SyncButton } from "./SyncList.tsx"
import { PagedTable } from "./Table.tsx"

const HEADINGS = ["Person", "Roles", "State", "Last call", "Tokens"]

const STATES = ["active", "invited", "suspended"] as const

export const People = () => {
  useTitle("People")
  const [typed, setTyped] = useState("")
  const [search, setSearch] = useState("")
  const [role, setRole] = useState("")
  const [state, setState] = useState<(typeof STATES)[number]>()
  const roles = useLoaded(policy, []).loaded
  useEffect(() => {
    const timer = setTimeout(() => setSearch(typed), 200)
    return () => clearTimeout(timer)
  }, [typed])
  const query = { search, ...(role === "" ? {} : { role }), ...(state === undefined ? {} : { state }) }
  const key = JSON.stringify(query)
  const { loaded, reload } = useLoaded(() => people(query), [key])
  return (
    <>
      <div class="heading">
        <Title note="The people who have access, and their roles. A row in the data gives no access.">People</Title>
        {may("members") && roles.is === "ready" ? (
          <div class="acts">
            <InviteButton roles={roles.value.roles} reload={reload} />
            <SyncButton reload={reload} />
          </div>
        ) : null}
      </div>
      <form class="filters" role="search" aria-label="People" onSubmit={(event) => event.preventDefault()}>
        <label class="wide">
          Search
          <input
            type="search"
            placeholder="Name, role, e-mail or phone"
            value={typed}
            maxLength={320}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        <label>
          Role
          <select value={role} onChange={(event) => setRole(event.currentTarget.value)}>
            <option value="">Any</option>
            {roles.is === "ready" ? roles.value.roles.map((one) => <option key={one.role}>{one.role}</option>) : null}
          </select>
        </label>
        <label>
          State
          <select
            value={state ?? ""}
            onChange={(event) => setState(STATES.find((one) => one === event.currentTarget.value))}
          >
            <option value="">Any</option>
            <option value="active">Active</option>
            <option value="invited">Invited</option>
            <option value="suspended">Suspended</option>
          </select>
        </label>
      </form>
      <WhenLoaded loaded={loaded} reload={reload}>
        {(first) => (
          <Members
            key={key}
            first={first}
            filtered={search !== "" || role !== "" || state !== undefined}
            load={(after) => people({ ...query, after })}
          />
        )}
      </WhenLoaded>
    </>
  )
}

const Members = ({
  filtered,
  first,
  load
}: {
  readonly first: PeoplePage
  readonly filtered: boolean
  readonly load: (after: string) => Promise<PeoplePage>
}) => {
  const { total } = first
  const tally = total === 0 ? "No member matches." : counted(total, "person", "people")
  useEffect(() => void (announcement.value = tally), [tally])
  return (
    <PagedTable
      caption="Members"
      headings={HEADINGS}
      numbers="Tokens"
      first={first}
      load={load}
      rowsOf={(pages) => pages.flatMap((page) => page.people).map((one) => ({ key: one.id, cells: cellsOf(one) }))}
      empty={
        filtered
          ? "No member matches. Search for part of a name, or for a complete e-mail address."
          : "There are no members yet."
      }
      summary={(shown) => (
        <p class="soft tally">
          {tally}
          {shown < total ? `, ${shown} shown` : ""}
        </p>
      )}
    />
  )
}

export const nameOf = (person: Person): string => person.name || person.identifiers[0]?.text || person.id

export const StateBadge = ({ person: { state, suspendedSince } }: { readonly person: Person }) =>
  state === "active" ? (
    <Badge kind="good">Active</Badge>
  ) : state === "invited" ? (
    <Badge kind="warn">Invited</Badge>
  ) : (
    <Badge kind="bad">Suspended {suspendedSince === undefined ? null : <Day at={suspendedSince} />}</Badge>
  )

const cellsOf = (person: Person) => [
  <div class="person">
    <a href={to(["people", person.id])}>
      <Isolated>{nameOf(person)}</Isolated>
    </a>
    {person.isSelf ? <span class="soft"> (you)</span> : null}
    <div class="soft fine">
      {person.identifiers.map(({ kind, text }) => (
        <span key={kind + text} class="identifier">
          <Isolated>{text}</Isolated>
        </span>
      ))}
    </div>
  </div>,
  <Roles roles={person.roles} />,
  <StateBadge person={person} />,
  person.lastCall === undefined ? <span class="soft">unknown</span> : <Moment at={person.lastCall} />,
  String(person.tokens)
]
