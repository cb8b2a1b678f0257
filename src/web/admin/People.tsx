/** Who may come in: searched by name, role or identifier, a page at a time. */
import { useEffect, useState } from "preact/hooks"
import { people, type People as Found, type Person, policy } from "./api.ts"
import { Badge, Command, counted, Day, Failure, Moment, Roles, Said, Table, Title, usePage, When } from "./parts.tsx"
import { to } from "./place.ts"
import { failed, said, useLoaded } from "./state.ts"
import type { Problem } from "../shared/api.ts"

const HEADINGS = [
  { name: "Person" },
  { name: "Roles" },
  { name: "State" },
  { name: "Last call" },
  { name: "Tokens", number: true }
]

export const People = () => {
  usePage("People")
  const [typed, setTyped] = useState("")
  const [search, setSearch] = useState("")
  const [role, setRole] = useState("")
  const [state, setState] = useState("")
  const roles = useLoaded(policy, []).loaded
  useEffect(() => {
    const timer = setTimeout(() => setSearch(typed), 200)
    return () => clearTimeout(timer)
  }, [typed])
  const { again, loaded } = useLoaded(() => people({ search, role, state }), [search, role, state])
  return (
    <>
      <Title note="Who may come in, and as what. Having a row in the data lets nobody in.">People</Title>
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
          <select value={state} onChange={(event) => setState(event.currentTarget.value)}>
            <option value="">Any</option>
            <option value="active">Active</option>
            <option value="suspended">Suspended</option>
          </select>
        </label>
      </form>
      <When loaded={loaded} again={again}>
        {(found) => (
          <List
            key={`${search} ${role} ${state}`}
            first={found}
            filtered={search + role + state !== ""}
            more={(after) => people({ search, role, state, after })}
          />
        )}
      </When>
      <Command text="max member add ada@example.com --role member">
        Letting somebody in binds an address to a person, so it is a command:
      </Command>
    </>
  )
}

const List = ({
  filtered,
  first,
  more
}: {
  readonly first: Found
  readonly filtered: boolean
  readonly more: (after: string) => Promise<Found>
}) => {
  const [rest, set] = useState<ReadonlyArray<Found>>([])
  const [problem, setProblem] = useState<Problem>()
  const pages = [first, ...rest]
  const all = pages.flatMap((page) => page.people)
  const next = pages.at(-1)!.next
  const told = first.total === 0 ? "Nobody matches." : `${counted(first.total, "person", "people")}`
  useEffect(() => void (said.value = told), [told])
  if (first.total === 0) {
    return (
      <p class="empty">
        {filtered
          ? "Nobody matches. Search for a part of a name, or for a whole e-mail address."
          : "There is no member yet."}
      </p>
    )
  }
  const show = () => {
    setProblem(undefined)
    more(next!).then(
      (page) => set([...rest, page]),
      (error: unknown) => setProblem(failed(error))
    )
  }
  return (
    <>
      <p class="soft tally">
        {told}
        {all.length < first.total ? `, ${all.length} shown` : ""}
      </p>
      <Table caption="Members" headings={HEADINGS} rows={all.map((one) => ({ key: one.id, cells: cellsOf(one) }))} />
      {problem === undefined ? null : <Failure problem={problem} again={show} />}
      {next === undefined ? null : (
        <button type="button" class="button more" onClick={show}>
          Show more
        </button>
      )}
    </>
  )
}

export const nameOf = (person: Person): string => person.name || person.identifiers[0]?.text || person.id

const cellsOf = (person: Person) => [
  <div class="person">
    <a href={to(["people", person.id])}>
      <Said>{nameOf(person)}</Said>
    </a>
    {person.isSelf ? <span class="soft"> (you)</span> : null}
    <div class="soft fine">
      {person.identifiers.map(({ kind, text }) => (
        <span key={kind + text} class="identifier">
          <Said>{text}</Said>
        </span>
      ))}
    </div>
  </div>,
  <Roles roles={person.roles} />,
  person.state === "active" ? (
    <Badge kind="good">Active</Badge>
  ) : (
    <Badge kind="bad">
      Suspended {person.suspendedSince === undefined ? null : <Day at={person.suspendedSince} />}
    </Badge>
  ),
  person.lastCall === undefined ? <span class="soft">not known</span> : <Moment at={person.lastCall} />,
  String(person.tokens)
]
