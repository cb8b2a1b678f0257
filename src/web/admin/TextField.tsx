/** A labelled field with its hint, or with the problem that the server has with it. */
import type { ComponentChildren } from "preact"
import { useId } from "preact/hooks"
import type { Sent } from "./sending.tsx"

/** What the server has against fields of a form that was sent. */
export const problemsOf = ({ problem }: Sent) =>
  (problem?.more["problems"] ?? []) as ReadonlyArray<{ readonly field: string; readonly message: string }>

export const TextField = ({
  children,
  give,
  isSecret = false,
  label,
  placeholder,
  problem,
  required = false,
  rows,
  value
}: {
  readonly label: string
  readonly value: string
  readonly give: (text: string) => void
  readonly problem: string | undefined
  readonly placeholder?: string
  readonly required?: boolean
  /** A field of several lines. */
  readonly rows?: number
  readonly isSecret?: boolean
  readonly children?: ComponentChildren
}) => {
  const id = useId()
  const hint = `${id}-hint`
  const shared = {
    id,
    value,
    required,
    placeholder,
    autocomplete: "off",
    spellcheck: false,
    ...(problem === undefined ? {} : { "aria-invalid": true }),
    ...(problem === undefined && children === undefined ? {} : { "aria-describedby": hint })
  } as const
  return (
    <>
      <label for={id}>{label}</label>
      {rows !== undefined ? (
        <textarea {...shared} rows={rows} onInput={({ currentTarget }) => give(currentTarget.value)} />
      ) : isSecret ? (
        <input {...shared} type="password" onInput={({ currentTarget }) => give(currentTarget.value)} />
      ) : (
        <input {...shared} onInput={({ currentTarget }) => give(currentTarget.value)} />
      )}
      {problem !== undefined ? (
        <p id={hint} class="at-field" role="alert">
          {problem}
        </p>
      ) : children === undefined ? null : (
        <p id={hint} class="soft fine">
          {children}
        </p>
      )}
    </>
  )
}
