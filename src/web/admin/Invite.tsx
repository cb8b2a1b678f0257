/** Invites people: a list of addresses, their roles with what these see, and the links to pass on. */
import { useId, useState } from "preact/hooks"
import type { Invitations } from "../../wire/admin/people.ts"
import type { Role } from "../../wire/admin/policy.ts"
import type { Problem } from "../shared/api.ts"
import { invite } from "./api.ts"
import { counted, CopyButton, Dialog, Failure, Isolated, Moment } from "./parts.tsx"
import { announcement, handleFailure } from "./state.ts"

type Sent = Invitations["invitations"]

/** One person per line or separated by ; or ,: an address, a phone number, or `Name <address>`. */
const peopleIn = (text: string) =>
  text
    .split(/[\n;,]/)
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => {
      const start = line.lastIndexOf("<")
      if (start < 1 || !line.endsWith(">")) return { identifier: line }
      const name = line.slice(0, start).replaceAll('"', "").trim()
      const identifier = line.slice(start + 1, -1).trim()
      return name === "" ? { identifier } : { identifier, name }
    })

const linkOf = (code: string): string => `${location.origin}/sign-in#${code}`

/** Check boxes of roles, each with its own rules in words. */
export const RoleChoice = ({
  choose,
  chosen,
  roles
}: {
  readonly roles: ReadonlyArray<Role>
  readonly chosen: ReadonlyArray<string>
  readonly choose: (roles: ReadonlyArray<string>) => void
}) => (
  <fieldset class="roles">
    <legend>Roles</legend>
    {roles.map(({ administers, powers, role, rules }) => {
      const words = [
        ...rules.map(({ words }) => words),
        ...(administers ? ["may use the administration pages"] : []),
        ...(powers.length === 0 ? [] : [`may change ${powers.join(", ")} there`])
      ]
      return (
        <div key={role}>
          <label>
            <input
              type="checkbox"
              checked={chosen.includes(role)}
              onChange={({ currentTarget: { checked } }) =>
                choose(checked ? [...chosen, role] : chosen.filter((one) => one !== role))
              }
            />{" "}
            {role}
          </label>
          <details>
            <summary>What {role} sees and changes</summary>
            <ul>
              {words.map((line) => (
                <li key={line}>{line}</li>
              ))}
            </ul>
          </details>
        </div>
      )
    })}
  </fieldset>
)

export const InviteButton = ({
  reload,
  roles
}: {
  readonly roles: ReadonlyArray<Role>
  readonly reload: () => void
}) => {
  const [text, setText] = useState("")
  // Nothing is chosen, so that a role is a decision.
  const [chosen, choose] = useState<ReadonlyArray<string>>([])
  const [state, set] = useState<{ readonly busy: boolean; readonly problem?: Problem; readonly sent?: Sent }>({
    busy: false
  })
  const people = peopleIn(text)
  const field = useId()
  const submit = (event: Event) => {
    event.preventDefault()
    set({ busy: true })
    invite({ people, roles: chosen }).then(
      (sent) => {
        set({ busy: false, sent })
        announcement.value = `${counted(sent.length, "person", "people")} invited.`
      },
      (error: unknown) => set({ busy: false, problem: handleFailure(error) })
    )
  }
  const reset = () => {
    if (state.sent === undefined) return
    set({ busy: false })
    setText("")
    reload()
  }
  return (
    <Dialog label="Invite people" title="Invite people" onClose={reset}>
      {(close) =>
        state.sent === undefined ? (
          <form onSubmit={submit} class="stacked">
            <label for={field}>E-mail addresses or phone numbers, one per line</label>
            <textarea
              id={field}
              rows={4}
              value={text}
              placeholder={"ada@example.com\nBo Lindqvist <bo@example.com>"}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
            <RoleChoice roles={roles} chosen={chosen} choose={choose} />
            <p class="soft fine">
              Each person gets a link that works once, within seven days. Until they use it, they see nothing.
            </p>
            {state.problem === undefined ? null : <Failure problem={state.problem} />}
            <div class="actions">
              <button type="button" class="button" onClick={close}>
                Cancel
              </button>
              <button type="submit" class="act" disabled={state.busy || people.length === 0 || chosen.length === 0}>
                {people.length < 2 ? "Invite" : `Invite ${people.length} people`}
              </button>
            </div>
          </form>
        ) : (
          <Links sent={state.sent} close={close} />
        )
      }
    </Dialog>
  )
}

const Links = ({ close, sent }: { readonly sent: Sent; readonly close: () => void }) => (
  <>
    <p>
      {sent.every(({ mailed }) => mailed)
        ? "The links were mailed. You can also pass them on yourself:"
        : "Pass each link on to its person. It is shown only now:"}
    </p>
    <ul class="links">
      {sent.map(({ code, created, expiresAt, id, identifier, mailed }) => (
        <li key={id}>
          <div>
            <Isolated>{identifier}</Isolated>{" "}
            <span class="soft fine">
              {mailed ? "mailed, " : ""}
              {created ? "a new person, " : ""}until <Moment at={expiresAt} />
            </span>
          </div>
          <OneLink code={code} of={identifier} />
        </li>
      ))}
    </ul>
    <div class="actions">
      <button type="button" class="act" onClick={close}>
        Done
      </button>
    </div>
  </>
)

/** A link to copy, or to share where the device can. */
export const OneLink = ({ code, of }: { readonly code: string; readonly of: string }) => {
  const url = linkOf(code)
  return (
    <div class="command-line">
      <code>{url}</code>
      {"share" in navigator ? (
        <button
          type="button"
          class="button"
          onClick={() => void navigator.share({ url, title: "Max" }).catch(() => undefined)}
        >
          Share<span class="visually-hidden"> the link of {of}</span>
        </button>
      ) : null}
      <CopyButton text={url} what={`the link of ${of}`} />
    </div>
  )
}
