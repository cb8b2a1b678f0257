/** Who gains and loses which rows and cells by a policy file, and what a chosen person would see. */
import { useId, useState } from "preact/hooks"
import type { PersonReference } from "../../wire/admin/people.ts"
import type { Difference, PolicySimulation, SimulatedPerson, SimulatedType } from "../../wire/admin/policyEditor.ts"
import type { Problem } from "../shared/api.ts"
import { people, simulatePolicy } from "./api.ts"
import { counted, Failure, Isolated, listed, WhenLoaded } from "./parts.tsx"
import { nameOf } from "./People.tsx"
import { announcement, handleFailure, useLoaded } from "./state.ts"

/** The most people that a search offers. */
const OFFERED = 8

const of = (part: number, whole: number): string =>
  part === whole && whole > 0 ? `all ${whole}` : part === 0 ? `none of ${whole}` : `${part} of ${whole}`

export const Simulation = ({ text }: { readonly text: string }) => {
  const { loaded, reload } = useLoaded(() => simulatePolicy(text), [text])
  return (
    <>
      <section aria-labelledby="gains">
        <h2 id="gains">Who gains and loses</h2>
        <p class="soft">Counted among the rows that you see yourself.</p>
        <WhenLoaded loaded={loaded} reload={() => void reload()}>
          {({ omitted, people: concerned }) => (
            <>
              {concerned.length === 0 ? (
                <p class="empty">No member sees or may change anything else than now.</p>
              ) : null}
              {concerned.map((person) => (
                <Person key={person.roles.join(" ")} person={person} />
              ))}
              {omitted === 0 ? null : (
                <p class="soft">And {counted(omitted, "more combination", "more combinations")} of roles.</p>
              )}
            </>
          )}
        </WhenLoaded>
      </section>
      <LookAs text={text} />
    </>
  )
}

/** Whether the file changes something about a type, or it isn't told. */
const isDifferent = (type: SimulatedPerson["types"][number]): boolean =>
  "refused" in type ||
  type.rows.gained.count + type.rows.lost.count + type.cells.length > 0 ||
  (type.changes?.rows ?? []).some(({ after, before }) => after !== before)

const Person = ({ person: { members, roles, types, who } }: { readonly person: SimulatedPerson }) => (
  <section class="simulated">
    <h3>{listed(roles) || "no role"}</h3>
    <p class="soft">
      {members === 1 ? "" : `${counted(members, "member")}; for example `}
      <Isolated>{who}</Isolated>
    </p>
    <ul>
      {types.some(isDifferent) ? null : <li>The same as now.</li>}
      {types.filter(isDifferent).map((type) => (
        <li key={type.type}>
          {"refused" in type ? (
            <span class="soft">
              {type.type}: {type.refused}
            </span>
          ) : (
            <Changed of={type} />
          )}
        </li>
      ))}
    </ul>
  </section>
)

const Changed = ({ of: type }: { readonly of: SimulatedType }) => {
  const { after, before, cells, denied, gainedColumns, rows, total } = type
  return (
    <>
      <strong>{type.type}</strong>: {of(before, total)} now,{" "}
      {denied === undefined ? of(after, total) : `nothing: ${denied}`} with this file
      <ul class="diff">
        <Rows mark="+" what="gained" of={rows.gained} more={`, with ${listed(gainedColumns) || "no column"}`} />
        <Rows mark="-" what="lost" of={rows.lost} />
        {cells.flatMap(({ column, gained, lost }) => [
          <Rows key={`+${column}`} mark="+" what="gained" column={column} of={gained} />,
          <Rows key={`-${column}`} mark="-" what="lost" column={column} of={lost} />
        ])}
        {type.changes?.rows
          .filter((one) => one.before !== one.after)
          .map(({ action, after: then, before: now, column }) => (
            <li key={`${action}${column ?? ""}`} class="altered">
              <span aria-hidden="true">~</span>
              <span class="visually-hidden">Changed: </span>
              <span>
                may {action} {column ?? "rows"} on {counted(then, "row")}, now {now}
              </span>
            </li>
          ))}
      </ul>
    </>
  )
}

const Rows = ({
  column,
  mark,
  more = "",
  of: { count, examples },
  what
}: {
  readonly mark: "+" | "-"
  readonly what: "gained" | "lost"
  readonly column?: string
  readonly of: Difference
  readonly more?: string
}) =>
  count === 0 ? null : (
    <li class={mark === "+" ? "added" : "removed"}>
      <span aria-hidden="true">{mark}</span>
      <span>
        {column === undefined ? `${counted(count, "row")} ${what}` : `${column} ${what} on ${counted(count, "row")}`}
        {examples.length === 0 ? "" : `: ${examples.join(", ")}${count > examples.length ? ", …" : ""}`}
        {more}
      </span>
    </li>
  )

type Look =
  | { readonly is: "seen"; readonly name: string; readonly seen: PolicySimulation }
  | { readonly is: "several"; readonly people: ReadonlyArray<{ readonly id: string; readonly name: string }> }
  | { readonly is: "problem"; readonly problem: Problem }

const LookAs = ({ text }: { readonly text: string }) => {
  const field = useId()
  const [wanted, setWanted] = useState("")
  const [busy, setBusy] = useState(false)
  const [look, setLook] = useState<Look>()

  const see = async (person: PersonReference): Promise<Look> => {
    const seen = await simulatePolicy(text, person)
    return { is: "seen", name: seen.people[0]?.who ?? wanted, seen }
  }
  const during = (work: () => Promise<Look>) => {
    setBusy(true)
    void work()
      .catch((error: unknown): Look => ({ is: "problem", problem: handleFailure(error) }))
      .then((found) => {
        setLook(found)
        setBusy(false)
        if (found.is === "seen") announcement.value = `What ${found.name} would see is shown.`
      })
  }
  const search = async (): Promise<Look> => {
    const found = (await people({ search: wanted.trim(), state: "active", limit: OFFERED })).people
    if (found.length > 1) return { is: "several", people: found.map((one) => ({ id: one.id, name: nameOf(one) })) }
    return see(found[0] === undefined ? { identifier: wanted.trim() } : { id: found[0].id })
  }
  return (
    <section aria-labelledby="look">
      <h2 id="look">Look as a person</h2>
      <form
        class="filters ask"
        onSubmit={(event) => {
          event.preventDefault()
          during(search)
        }}
      >
        <label class="wide" for={field}>
          Who
          <input
            id={field}
            required
            maxLength={200}
            autocomplete="off"
            placeholder="Name, e-mail address or phone number"
            value={wanted}
            onInput={({ currentTarget }) => setWanted(currentTarget.value)}
          />
        </label>
        <button type="submit" class="button" disabled={busy || wanted.trim() === ""}>
          Look
        </button>
      </form>
      {look === undefined ? null : look.is === "problem" ? (
        <Failure problem={look.problem} />
      ) : look.is === "several" ? (
        <>
          <p>Several people match. Who is meant?</p>
          <div class="actions">
            {look.people.map(({ id, name }) => (
              <button key={id} type="button" class="button" onClick={() => during(() => see({ id }))}>
                <Isolated>{name}</Isolated>
              </button>
            ))}
          </div>
        </>
      ) : (
        <section class="simulated" aria-label={`What ${look.name} would see`}>
          <h3>
            <Isolated>{look.name}</Isolated> would see
          </h3>
          <ul>
            {look.seen.people[0]?.types.map((type) => (
              <li key={type.type}>
                {"refused" in type ? (
                  <span class="soft">
                    {type.type}: {type.refused}
                  </span>
                ) : (
                  <Seen of={type} />
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
    </section>
  )
}

const Seen = ({ of: { after, columns, denied, examples, total, type } }: { readonly of: SimulatedType }) => {
  const shown = columns.filter(({ rows }) => rows > 0)
  return (
    <>
      <strong>{type}</strong>: {denied === undefined ? of(after, total) : `nothing: ${denied}`}
      {after === 0 ? null : (
        <p class="soft">
          {listed(shown.map(({ column, rows }) => (rows === after ? column : `${column} on ${rows}`))) || "no column"}
          {examples.length === 0 ? "" : `. ${examples.join(", ")}${after > examples.length ? ", …" : ""}`}
        </p>
      )}
    </>
  )
}
