/** One field of a form, made from its declaration: its label, its input by kind, what is expected, and what is wrong. */
import type { JSX } from "preact"
import type { Described, Form, Place } from "./Form.ts"
import { Reference } from "./Reference.tsx"

interface Props extends Place {
  readonly form: Form
}

/** The id of a field's input. */
export const idOf = (path: string): string => `field-${path.replaceAll("/", "-")}`

/** The longest text with one line. */
const MAX_LINE = 200

const TYPES: Readonly<Record<string, "email" | "tel" | "date" | "datetime-local">> = {
  email: "email",
  phone: "tel",
  date: "date",
  timestamp: "datetime-local"
}

const HINTS: Readonly<Record<string, string>> = {
  list: "Several are separated by semicolons.",
  references: "Several are separated by semicolons."
}

const YES_OR_NO: ReadonlyArray<readonly [string, string]> = [
  ["true", "Yes"],
  ["false", "No"]
]

/** Columns whose texts have several lines. */
const PROSE = /note|description|comment|details|summary|text|body/

/** Whether a text is written in several lines. */
const isProse = ({ field: { check, maxLength, pattern, slug }, form }: Props): boolean =>
  pattern === undefined &&
  check === undefined &&
  (maxLength === undefined
    ? PROSE.test(slug) || (form.row?.values[slug] ?? "").length > MAX_LINE
    : maxLength > MAX_LINE)

const hintOf = ({ description, kind, max, min }: Place["field"]): string => {
  const bounds =
    min !== undefined && max !== undefined
      ? `From ${min} to ${max}.`
      : min !== undefined
        ? `At least ${min}.`
        : max !== undefined
          ? `At most ${max}.`
          : ""
  return [description ?? "", HINTS[kind] ?? "", bounds].filter((part) => part !== "").join(" ")
}

const Control = ({ field, form, path, ...described }: Props & Described): JSX.Element => {
  const { kind, values } = field
  const value = form.get(path)
  const onInput = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
    form.set(path, currentTarget.value)
  // One of several types; each alone has a type of its own.
  const type = (TYPES[kind] ?? "text") as "text"
  const options = kind === "boolean" ? YES_OR_NO : values?.map((one) => [one, one] as const)
  if (options !== undefined && kind !== "list")
    return (
      <select {...described} value={value} onChange={(event) => form.set(path, event.currentTarget.value)}>
        <option value="">{field.needed ? "Choose…" : "None"}</option>
        {options.map(([one, label]) => (
          <option key={one} value={one}>
            {label}
          </option>
        ))}
      </select>
    )
  if (kind === "text" && isProse({ field, form, path }))
    return <textarea {...described} rows={3} value={value} onInput={onInput} />
  return (
    <input
      {...described}
      type={type}
      autocomplete="off"
      {...(kind === "integer" ? { inputMode: "numeric" as const } : {})}
      {...(kind === "number" ? { inputMode: "decimal" as const } : {})}
      value={value}
      onInput={onInput}
    />
  )
}

export const FieldInput = ({ field, form, path }: Props) => {
  const id = idOf(path)
  const hint = hintOf(field)
  const problem = form.problems.value.find((one) => one.field === path)
  const isNeeded = field.needed && field.default === undefined
  const about = [...(hint === "" ? [] : [`${id}-hint`]), ...(problem === undefined ? [] : [`${id}-problem`])]
  const described: Described = {
    id,
    ...(about.length === 0 ? {} : { "aria-describedby": about.join(" ") }),
    ...(problem === undefined ? {} : { "aria-invalid": true }),
    ...(isNeeded ? { "aria-required": true } : {})
  }
  return (
    <div class="field">
      <label for={id}>
        {field.name}
        {isNeeded && <span class="needed"> needed</span>}
      </label>
      {hint !== "" && (
        <p class="aside" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {field.chosen === true ? (
        <Reference field={field} form={form} path={path} {...described} />
      ) : (
        <Control field={field} form={form} path={path} {...described} />
      )}
      {problem !== undefined && (
        <p class="trouble" id={`${id}-problem`}>
          {sentence(problem.message)}
        </p>
      )}
    </div>
  )
}

/** A problem as a sentence of its own. */
export const sentence = (text: string): string =>
  `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`
