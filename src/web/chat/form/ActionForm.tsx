/** An action as a form. Submitting proposes the change; the card that follows confirms it. */
import { useRef } from "preact/hooks"
import type { FormField } from "../../../wire/changes.ts"
import type { Chat } from "../state/Chat.ts"
import { MAX_ENTRIES } from "./checkFields.ts"
import { FieldInput, idOf, sentence } from "./FieldInput.tsx"
import type { Form } from "./Form.ts"

interface GroupProps {
  readonly field: FormField
  readonly form: Form
}

/** A list of entries with fields of their own. */
const Group = ({ field, form }: GroupProps) => {
  const { fields = [], maxLength = MAX_ENTRIES, name, slug } = field
  const entries = form.entries(slug)
  const problem = form.problems.value.find((one) => one.field === slug)
  const added = useRef<HTMLButtonElement>(null)
  const focusSoon = (id: string) => requestAnimationFrame(() => document.getElementById(id)?.focus())
  return (
    <fieldset class="group">
      <legend>
        {name}
        {field.needed && <span class="needed"> needed</span>}
      </legend>
      {field.description !== undefined && <p class="aside">{field.description}</p>}
      {entries.map((_, at) => (
        <fieldset key={at} class="entry">
          <legend>
            {name} {at + 1}
          </legend>
          {fields.map((inner) => (
            <FieldInput key={inner.slug} form={form} field={inner} path={`${slug}/${at}/${inner.slug}`} />
          ))}
          <button
            type="button"
            class="plain small"
            onClick={() => {
              form.removeEntry(slug, at)
              added.current?.focus()
            }}
          >
            Remove {name} {at + 1}
          </button>
        </fieldset>
      ))}
      <button
        ref={added}
        id={idOf(slug)}
        type="button"
        class="plain small"
        aria-disabled={entries.length >= maxLength}
        onClick={() => {
          if (entries.length >= maxLength) return
          form.addEntry(slug)
          if (fields[0] !== undefined) focusSoon(idOf(`${slug}/${entries.length}/${fields[0].slug}`))
        }}
      >
        Add {name}
      </button>
      {problem !== undefined && <p class="trouble">{sentence(problem.message)}</p>}
    </fieldset>
  )
}

/** The name of a place in the form: "Quantity", or "Items 2, Quantity". */
const nameOf = (fields: ReadonlyArray<FormField>, path: string): string => {
  const [slug, at, inner] = path.split("/")
  const field = fields.find((one) => one.slug === slug)
  const within = field?.fields?.find((one) => one.slug === inner)
  return within === undefined ? (field?.name ?? path) : `${field?.name} ${Number(at) + 1}, ${within.name}`
}

const Summary = ({ form }: { readonly form: Form }) => {
  const problems = form.problems.value
  return (
    <div class="summary" role="alert">
      {form.trouble.value !== "" && <p class="trouble">{form.trouble.value}</p>}
      {problems.length > 0 && (
        <>
          <p>
            {problems.length === 1 ? "One field needs another value:" : `${problems.length} fields need other values:`}
          </p>
          <ul>
            {problems.map(({ field, message }) => (
              <li key={field}>
                <button type="button" class="link" onClick={() => document.getElementById(idOf(field))?.focus()}>
                  {nameOf(form.action.fields, field)}
                </button>
                : {message}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}

interface Props {
  readonly chat: Chat
  readonly form: Form
  /** Instead of the action's name and description. */
  readonly title?: string
  readonly onCancel?: () => void
}

export const ActionForm = ({ chat, form, onCancel = () => history.back(), title }: Props) => {
  const { description, fields, name } = form.action
  const submit = async (event: Event) => {
    event.preventDefault()
    const changeId = await form.propose()
    if (changeId !== undefined) {
      chat.prefilled = undefined
      await chat.goTo({ change: changeId })
      chat.status.value = "The change is shown for your confirmation."
      return document.querySelector<HTMLElement>(".alone h1")?.focus()
    }
    const first = form.problems.value[0]
    if (first !== undefined) requestAnimationFrame(() => document.getElementById(idOf(first.field))?.focus())
  }
  return (
    <form class="action-form" noValidate onSubmit={(event) => void submit(event)}>
      <h1 tabIndex={-1}>{title ?? name}</h1>
      {title === undefined && <p>{description}</p>}
      <p class="aside">Nothing is changed by this form: you are shown what it will do, and confirm that.</p>
      <Summary form={form} />
      {fields.map((field) =>
        field.kind === "group" ? (
          <Group key={field.slug} form={form} field={field} />
        ) : (
          <FieldInput key={field.slug} form={form} field={field} path={field.slug} />
        )
      )}
      <p class="send">
        <button type="submit" class="solid" aria-disabled={form.busy.value}>
          {form.busy.value ? "Checking…" : "Show the change"}
        </button>
        <button type="button" class="plain" onClick={onCancel}>
          Cancel
        </button>
      </p>
    </form>
  )
}
