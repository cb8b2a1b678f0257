/** How a member is identified: identifiers are linked and removed. */
import { useState } from "preact/hooks"
import type { PersonWithTokens } from "../../wire/admin/people.ts"
import { linkIdentifier, removeIdentifier } from "./api.ts"
import { ConfirmButton, Dialog, Isolated } from "./parts.tsx"
import { nameOf } from "./People.tsx"
import { Sending, useSending } from "./sending.tsx"
import { may } from "./state.ts"

interface Shown {
  readonly person: PersonWithTokens
  readonly reload: () => void
}

export const Identifiers = ({ person, reload }: Shown) => {
  const { identifiers, isSelf } = person
  // An administrator keeps one of their own.
  const mayRemove = may("members") && !(isSelf && identifiers.length === 1)
  return (
    <>
      {identifiers.length === 0 ? <span class="soft">nothing: this person has no way to sign in</span> : null}
      {identifiers.map((one, index) => (
        <div key={`${one.kind} ${one.text} ${index}`}>
          <Isolated>{one.text}</Isolated>{" "}
          {one.kind === "subject" ? <span class="soft">(identity provider) </span> : null}
          {mayRemove ? <RemoveButton person={person} reload={reload} identifier={one} /> : null}
        </div>
      ))}
      {may("members") ? <LinkButton person={person} reload={reload} /> : null}
    </>
  )
}

const RemoveButton = ({
  identifier: { kind, text },
  person,
  reload
}: Shown & { readonly identifier: PersonWithTokens["identifiers"][number] }) => {
  const name = nameOf(person)
  return (
    <ConfirmButton
      danger
      label={`Remove ${text}`}
      confirm="Remove"
      title={`Remove ${text}?`}
      act={() => removeIdentifier(person.id, { kind, text })}
      done="The identifier is removed."
      reload={reload}
    >
      {person.identifiers.length === 1 ? (
        <p class="notice warn">
          This is the last one: afterwards <Isolated>{name}</Isolated> can sign in with a passkey or with a link that
          you create, and in no other way.
        </p>
      ) : null}
      <p>
        It no longer admits <Isolated>{name}</Isolated>, in any channel. Their sessions end, because some may have begun
        with it; tokens and roles stay, and so does the person’s row in the data.
      </p>
    </ConfirmButton>
  )
}

const LinkButton = ({ person, reload }: Shown) => {
  const [kind, choose] = useState("contact")
  const [text, set] = useState("")
  const [issuer, setIssuer] = useState("")
  const sending = useSending()
  const isSubject = kind === "subject"
  const named = isSubject
    ? { subject: text.trim(), ...(issuer.trim() === "" ? {} : { issuer: issuer.trim() }) }
    : { identifier: text.trim() }
  const clear = () => {
    set("")
    setIssuer("")
  }
  return (
    <Dialog label="Add an identifier" title={`Another identifier of ${nameOf(person)}`} onClose={clear}>
      {(close) => (
        <form
          class="stacked"
          onSubmit={sending.submit(
            () => linkIdentifier(person.id, named),
            "The identifier is added.",
            () => {
              close()
              reload()
            }
          )}
        >
          <label>
            Kind
            <select value={kind} onChange={({ currentTarget }) => choose(currentTarget.value)}>
              <option value="contact">E-mail address or phone number</option>
              <option value="subject">Subject at an identity provider</option>
            </select>
          </label>
          <label>
            {isSubject ? "Subject (sub)" : "E-mail address or phone number"}
            <input
              value={text}
              maxLength={isSubject ? 255 : 320}
              onInput={({ currentTarget }) => set(currentTarget.value)}
            />
          </label>
          {isSubject ? (
            <label>
              Issuer, if there are several
              <input value={issuer} maxLength={500} onInput={({ currentTarget }) => setIssuer(currentTarget.value)} />
            </label>
          ) : null}
          <p class="soft fine">
            A person who proves it signs in as this one: add it only if you know that it is theirs. That you added it is
            recorded.
          </p>
          <Sending sending={sending} label="Add" disabled={text.trim() === ""} />
        </form>
      )}
    </Dialog>
  )
}
