/** Asking why somebody sees a type, or one row of it. */
import { useEffect, useState } from "preact/hooks"
import { type About, explain, type Explanation, explainRow, person, type RowExplanation, types } from "./api.ts"
import type { Problem } from "../shared/api.ts"
import { Because, partOf, RowVerdict } from "./Explanation.tsx"
import { Command, Failure, Said, Title, usePage } from "./parts.tsx"
import { nameOf } from "./People.tsx"
import { PolicyParts } from "./Policy.tsx"
import { failed, said, useLoaded } from "./state.ts"

type Answer =
  | { readonly is: "type"; readonly found: Explanation }
  | { readonly is: "row"; readonly found: RowExplanation }
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
  usePage("Explain")
  const [identifier, setIdentifier] = useState("")
  const [type, setType] = useState(firstType)
  const [row, setRow] = useState(firstRow)
  const [busy, setBusy] = useState(id !== undefined)
  const [answer, setAnswer] = useState<Answer>()
  const known = useLoaded(types, []).loaded
  const chosen = useLoaded(() => (id === undefined ? Promise.resolve(undefined) : person(id)), [id]).loaded
  const about: About | undefined =
    id !== undefined ? { id } : identifier.trim() === "" ? undefined : { identifier: identifier.trim() }

  const ask = (asked: About) => {
    setBusy(true)
    const wanted: Promise<Answer> =
      row.trim() === ""
        ? explain(asked, type).then((found) => ({ is: "type", found }))
        : explainRow(asked, type, row.trim()).then((found) => ({ is: "row", found }))
    wanted
      .catch((error: unknown): Answer => ({ is: "problem", problem: failed(error) }))
      .then((given) => {
        setAnswer(given)
        setBusy(false)
        if (given.is !== "problem") said.value = "Explained."
      })
  }
  // A link that names a person asks by itself.
  useEffect(() => {
    if (id !== undefined) ask({ id })
  }, [id])

  return (
    <>
      <Title note="Why somebody sees something, or doesn't. You are told only what you may see yourself.">Policy</Title>
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
                <Said>{chosen.is === "ready" && chosen.value !== undefined ? nameOf(chosen.value) : "…"}</Said>
              </strong>{" "}
              <a href="#/policy/explain">somebody else</a>
            </span>
          </p>
        )}
        <label>
          What
          <select value={type} onChange={(event) => setType(event.currentTarget.value)}>
            {known.is === "ready" ? (
              known.value.map((one) => (
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
        <p class="soft waiting" role="status">
          Looking it up …
        </p>
      ) : answer === undefined ? (
        <p class="empty">
          Name a person to see what their roles come to: for all of a type, or for one row and each of its cells.
        </p>
      ) : answer.is === "problem" ? (
        <Failure problem={answer.problem} />
      ) : answer.is === "row" ? (
        <RowVerdict found={answer.found} />
      ) : (
        <section aria-labelledby="verdict">
          <h2 id="verdict">
            <Said>{answer.found.who}</Said> sees{" "}
            {answer.found.denied === undefined ? partOf(answer.found.visible, answer.found.total) : "nothing of"}{" "}
            {answer.found.type}
          </h2>
          <Because explanation={answer.found} />
        </section>
      )}
      <Command text="max policy explain --for lena@example.com people --sql">
        An operator sees everything, and the statement too:
      </Command>
    </>
  )
}
