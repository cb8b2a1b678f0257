/** The form that explains why a person sees a type, or one row of it. */
import { useEffect, useState } from "preact/hooks"
import type { PersonReference } from "../../wire/admin/people.ts"
import type { RowExplanation, TypeExplanation } from "../../wire/admin/policy.ts"
import type { Problem } from "../shared/api.ts"
import { explain, explainRow, person, types } from "./api.ts"
import { Because, partOf, RowVerdict } from "./Explanation.tsx"
import { Command, Failure, Isolated, Loading, Title, useTitle } from "./parts.tsx"
import { nameOf } from "./People.tsx"
import { PolicyParts } from "./Policy.tsx"
import { announcement, handleFailure, useLoaded } from "./state.ts"

type Answer =
  | { readonly is: "type"; readonly type: TypeExplanation }
  | { readonly is: "row"; readonly row: RowExplanation }
  | { readonly is: "problem"; readonly problem: Problem }

export const Explain = ({
  person: id,
  row: firstRow = "",
  type: firstType = "people"
}: {
  readonly person?: string | undefined
  readonly type?: string | undefined
  readonly row?: string | undefined
}) => {
  useTitle("Explain")
  const [identifier, setIdentifier] = useState("")
  const [type, setType] = useState(firstType)
  const [row, setRow] = useState(firstRow)
  const [busy, setBusy] = useState(id !== undefined)
  const [answer, setAnswer] = useState<Answer>()
  const allTypes = useLoaded(types, []).loaded
  const chosen = useLoaded(() => (id === undefined ? Promise.resolve(undefined) : person(id)), [id]).loaded
  const about: PersonReference | undefined =
    id !== undefined ? { id } : identifier.trim() === "" ? undefined : { identifier: identifier.trim() }

  const ask = (subject: PersonReference) => {
    setBusy(true)
    const answered: Promise<Answer> =
      row.trim() === ""
        ? explain(subject, type).then((explanation) => ({ is: "type", type: explanation }))
        : explainRow(subject, type, row.trim()).then((explanation) => ({ is: "row", row: explanation }))
    answered
      .catch((error: unknown): Answer => ({ is: "problem", problem: handleFailure(error) }))
      .then((result) => {
        setAnswer(result)
        setBusy(false)
        if (result.is !== "problem") announcement.value = "Explained."
      })
  }
  // A link that names a person starts the explanation.
  useEffect(() => {
    if (id !== undefined) ask({ id })
  }, [id])

  return (
    <>
      <Title note="Why a person sees something, or doesn't. The answer contains only what you may see yourself.">
        Policy
      </Title>
      <PolicyParts />
      <form
        class="filters ask"
        onSubmit={(event) => {
          event.preventDefault()
          if (about !== undefined) ask(about)
        }}
      >
        {id === undefined ? (
          <label class="wide">
            Who
            <input
              required
              value={identifier}
              maxLength={320}
              autocomplete="off"
              placeholder="E-mail address or phone number"
              onInput={(event) => setIdentifier(event.currentTarget.value)}
            />
          </label>
        ) : (
          <p class="wide chosen">
            <span class="label">Who</span>
            <span>
              <strong>
                <Isolated>{chosen.is === "ready" && chosen.value !== undefined ? nameOf(chosen.value) : "…"}</Isolated>
              </strong>{" "}
              <a href="#/policy/explain">another person</a>
            </span>
          </p>
        )}
        <label>
          What
          <select value={type} onChange={(event) => setType(event.currentTarget.value)}>
            {allTypes.is === "ready" ? (
              allTypes.value.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.name}
                </option>
              ))
            ) : (
              <option value={type}>{type}</option>
            )}
          </select>
        </label>
        <label>
          One row (optional)
          <input
            value={row}
            maxLength={200}
            autocomplete="off"
            placeholder="Its id"
            onInput={(event) => setRow(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="act" disabled={busy}>
          Explain
        </button>
      </form>
      {busy ? (
        <Loading />
      ) : answer === undefined ? (
        <p class="empty">
          Name a person to see what their roles allow: for a whole type, or for one row and each of its cells.
        </p>
      ) : answer.is === "problem" ? (
        <Failure problem={answer.problem} />
      ) : answer.is === "row" ? (
        <RowVerdict row={answer.row} />
      ) : (
        <section aria-labelledby="verdict">
          <h2 id="verdict">
            <Isolated>{answer.type.who}</Isolated> sees{" "}
            {answer.type.denied === undefined ? partOf(answer.type.visible, answer.type.total) : "nothing of"}{" "}
            {answer.type.type}
          </h2>
          <Because explanation={answer.type} />
        </section>
      )}
      <Command text="max policy explain --for lena@example.com people --sql">
        An operator sees the whole explanation, with the SQL statement:
      </Command>
    </>
  )
}
