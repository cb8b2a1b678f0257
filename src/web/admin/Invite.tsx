/** Invites people: addresses or a list with a header, their roles with what these see, and the links to pass on. */
import { useId, useState } from "preact/hooks"
import type { Invitations, InvitePreview } from "../../wire/admin/people.ts"
import type { Role } from "../../wire/admin/policy.ts"
import type { Problem } from "../shared/api.ts"
import { invite } from "./api.ts"
import { Drop } from "./Drop.tsx"
import { upload } from "./importing.ts"
import { InviteListPreview } from "./InviteList.tsx"
import { counted, CopyButton, Dialog, Failure, Isolated, Moment } from "./parts.tsx"
import { QrCode } from "./QrCode.tsx"
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

/** Whether the text is a table: its first line names columns, and has neither an address nor a phone number. */
const hasHeader = (text: string): boolean => {
  const [first = "", ...rest] = text.trim().split("\n")
  return rest.length > 0 && !first.includes("@") && first.replaceAll(/\D/g, "").length < 5
}

const linkOf = (code: string): string => `${location.origin}/sign-in#${code}`

/** Check boxes of roles, each with its own rules in words. */
export const RoleChoice = ({
  choose,
  chosen,
  legend = "Roles",
  roles
}: {
  readonly roles: ReadonlyArray<Role>
  readonly legend?: string
  readonly chosen: ReadonlyArray<string>
  readonly choose: (roles: ReadonlyArray<string>) => void
}) => (
  <fieldset class="roles">
    <legend>{legend}</legend>
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
  const [file, setFile] = useState<File>()
  // Nothing is chosen, so that a role is a decision.
  const [chosen, choose] = useState<ReadonlyArray<string>>([])
  const [preview, setPreview] = useState<InvitePreview>()
  const [state, set] = useState<{ readonly busy: boolean; readonly problem?: Problem; readonly sent?: Sent }>({
    busy: false
  })
  const list = file ?? (hasHeader(text) ? new File([text], "list.csv") : undefined)
  const people = list === undefined ? peopleIn(text) : (preview?.people ?? [])
  const isReady =
    list === undefined
      ? people.length > 0 && chosen.length > 0
      : preview !== undefined && preview.problems.length === 0 && people.length > 0
  const field = useId()
  const edit = (change: () => void) => {
    change()
    setPreview(undefined)
    set({ busy: false })
  }
  const during = (work: () => Promise<void>) => {
    set({ busy: true })
    work().catch((error: unknown) => set({ busy: false, problem: handleFailure(error) }))
  }
  const read = (from: File) =>
    during(async () => {
      const options = chosen.length === 0 ? {} : { roles: chosen }
      const found = (await (await upload("people/invite/list", from, options)).json()) as InvitePreview
      setPreview(found)
      set({ busy: false })
      announcement.value =
        found.problems.length > 0
          ? `${counted(found.problems.length, "problem")}.`
          : `${counted(found.people.length, "person", "people")}. No person is invited yet.`
    })
  const submit = (event: Event) => {
    event.preventDefault()
    if (list !== undefined && preview === undefined) return read(list)
    during(async () => {
      const sent = await invite(
        preview === undefined
          ? { people, roles: chosen }
          : {
              people: preview.people.map(({ identifier, name, roles }) => ({
                identifier,
                roles,
                ...(name === undefined ? {} : { name })
              }))
            }
      )
      set({ busy: false, sent })
      announcement.value = `${counted(sent.length, "person", "people")} invited.`
    })
  }
  const reset = () => {
    if (state.sent === undefined) return
    edit(() => setText(""))
    setFile(undefined)
    reload()
  }
  return (
    <Dialog label="Invite people" title="Invite people" onClose={reset}>
      {(close) =>
        state.sent === undefined ? (
          <form onSubmit={submit} class="stacked" aria-busy={state.busy}>
            {file === undefined ? (
              <>
                <label for={field}>E-mail addresses or phone numbers, one per line</label>
                <textarea
                  id={field}
                  rows={4}
                  value={text}
                  placeholder={"ada@example.com\nBo Lindqvist <bo@example.com>"}
                  aria-describedby={`${field}-list`}
                  onInput={({ currentTarget }) => edit(() => setText(currentTarget.value))}
                />
                <p id={`${field}-list`} class="soft fine">
                  Or a table with a header, such as Name, E-mail, Role.
                </p>
              </>
            ) : (
              <p>
                <Isolated>{file.name}</Isolated>{" "}
                <button type="button" class="button" onClick={() => edit(() => setFile(undefined))}>
                  Another list
                </button>
              </p>
            )}
            {file === undefined && text.trim() === "" ? (
              <Drop
                label="Drop a list here, or choose one (CSV, Excel, JSONL)"
                disabled={state.busy}
                open={(opened) => edit(() => setFile(opened))}
              />
            ) : null}
            <RoleChoice
              roles={roles}
              chosen={chosen}
              choose={(next) => edit(() => choose(next))}
              {...(list === undefined ? {} : { legend: "Roles of the people to whom the list gives none" })}
            />
            <p class="soft fine">
              Each person gets a link that works once, within seven days. Until they use it, they see nothing.
            </p>
            {preview === undefined ? null : <InviteListPreview preview={preview} />}
            {state.problem === undefined ? null : <Failure problem={state.problem} />}
            <div class="actions">
              <button type="button" class="button" onClick={close}>
                Cancel
              </button>
              {list !== undefined && preview === undefined ? (
                <button type="submit" class="act" disabled={state.busy}>
                  Check the list
                </button>
              ) : (
                <button type="submit" class="act" disabled={state.busy || !isReady}>
                  {people.length < 2 ? "Invite" : `Invite ${people.length} people`}
                </button>
              )}
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

/** A link to copy, to share where the device can, and as a QR code for a phone at hand. */
export const OneLink = ({ code, of }: { readonly code: string; readonly of: string }) => {
  const url = linkOf(code)
  const [isDrawn, draw] = useState(false)
  return (
    <>
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
        <button type="button" class="button" aria-expanded={isDrawn} onClick={() => draw(!isDrawn)}>
          QR code<span class="visually-hidden"> of the link of {of}</span>
        </button>
        <CopyButton text={url} what={`the link of ${of}`} />
      </div>
      {isDrawn ? <QrCode text={url} label={`QR code of the link of ${of}`} /> : null}
    </>
  )
}
