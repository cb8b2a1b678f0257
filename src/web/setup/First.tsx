/** The organization and its first administrator. */
import { type Signal, useSignal } from "@preact/signals"
import type { SetUp } from "../../wire/setup.ts"
import { Problem, request } from "../shared/api.ts"
import { Heading } from "./Heading.tsx"

interface FieldProps {
  readonly id: string
  readonly label: string
  readonly of: Signal<string>
  readonly hint?: string
  readonly type?: "text" | "email"
  readonly autocomplete?: string
  readonly maxLength: number
}

const Field = ({ autocomplete = "off", hint, id, label, maxLength, of, type = "text" }: FieldProps) => (
  <p class="field">
    <label for={id}>{label}</label>
    <input
      id={id}
      type={type as "text"}
      required
      autocomplete={autocomplete}
      maxLength={maxLength}
      value={of.value}
      onInput={(event) => (of.value = event.currentTarget.value)}
      {...(hint === undefined ? {} : { "aria-describedby": `${id}-hint` })}
    />
    {hint !== undefined && (
      <span id={`${id}-hint`} class="aside">
        {hint}
      </span>
    )}
  </p>
)

/** The country of the browser's language, such as US for en-US. */
const countryOf = (language: string): string => {
  try {
    return new Intl.Locale(language).maximize().region ?? ""
  } catch {
    return ""
  }
}

const troubleOf = (error: unknown): string =>
  error instanceof Problem && error.status !== 0
    ? error.message
    : "The server can't be reached. Nothing is lost: try again in a moment."

export const First = ({ code, onDone }: { readonly code: string; readonly onDone: (name: string) => void }) => {
  const name = useSignal("")
  const country = useSignal(countryOf(navigator.language))
  const timeZone = useSignal(Intl.DateTimeFormat().resolvedOptions().timeZone)
  const person = useSignal("")
  const email = useSignal("")
  const busy = useSignal(false)
  const trouble = useSignal("")
  const submit = (event: Event) => {
    event.preventDefault()
    busy.value = true
    trouble.value = ""
    const wanted: SetUp = {
      code,
      organization: { name: name.value, country: country.value.trim(), timeZone: timeZone.value.trim() },
      administrator: { name: person.value, email: email.value }
    }
    request("POST", "/v1/setup", wanted).then(
      () => onDone(name.value.trim()),
      (error: unknown) => {
        trouble.value = troubleOf(error)
        busy.value = false
      }
    )
  }
  return (
    <>
      <Heading>Set Max up</Heading>
      <p>
        Max answers questions about your organization, and shows each person only what they may see. This takes a
        minute.
      </p>
      <form onSubmit={submit} aria-busy={busy.value}>
        <fieldset>
          <legend>Your organization</legend>
          <Field id="organization" label="Name" of={name} maxLength={100} autocomplete="organization" />
          <Field
            id="country"
            label="Country"
            of={country}
            maxLength={2}
            autocomplete="country"
            hint="Two letters, such as US: of phone numbers that are written without a country code."
          />
          <Field id="zone" label="Time zone" of={timeZone} maxLength={64} hint="Such as America/New_York." />
        </fieldset>
        <fieldset>
          <legend>You, the first administrator</legend>
          <Field id="person" label="Your name" of={person} maxLength={100} autocomplete="name" />
          <Field
            id="email"
            label="Your e-mail address"
            of={email}
            type="email"
            maxLength={320}
            autocomplete="email"
            hint="You see everything, and decide who else sees what."
          />
        </fieldset>
        <button type="submit" class="solid" disabled={busy.value}>
          Set up and sign in
        </button>
        <p class="trouble" role="alert">
          {trouble.value}
        </p>
      </form>
    </>
  )
}
