/** A new token with which a program acts for a member. It is shown once. */
import { useState } from "preact/hooks"
import type { CreateToken, NewToken, PersonWithTokens } from "../../wire/admin/people.ts"
import { createToken } from "./api.ts"
import { CopyButton, Day, Dialog, Isolated } from "./parts.tsx"
import { nameOf } from "./People.tsx"
import { Sending, useSending } from "./sending.tsx"

type Scope = CreateToken["scopes"][number]

const SCOPES: ReadonlyArray<readonly [scope: Scope, does: string, ownOnly?: true]> = [
  ["tools", "looks things up"],
  ["chat", "asks questions"],
  ["export", "takes what the person sees away as files"],
  ["changes", "proposes changes"],
  ["confirm", "confirms changes", true],
  ["traces", "reads traces, if a role of the person may"],
  ["admin", "administers, if a role of the person may", true]
]

export const NewTokenButton = ({
  person,
  reload
}: {
  readonly person: PersonWithTokens
  readonly reload: () => void
}) => {
  const [name, setName] = useState("")
  const [scopes, setScopes] = useState<ReadonlyArray<Scope>>(["tools"])
  const [days, setDays] = useState("90")
  const [made, setMade] = useState<NewToken | undefined>(undefined)
  const sending = useSending()
  const who = nameOf(person)
  const closed = () => {
    if (made !== undefined) reload()
    setMade(undefined)
    setName("")
  }
  return (
    <Dialog label="Create a token" title={`Token of ${who}`} onClose={closed}>
      {(close) =>
        made !== undefined ? (
          <>
            <p>
              This is the only time that the token is shown. Keep it as you keep a password. It expires{" "}
              <Day at={made.expiresAt} />.
            </p>
            <div class="command-line">
              <code>{made.token}</code>
              <CopyButton text={made.token} what="the token" />
            </div>
            <div class="actions">
              <button type="button" class="act" onClick={close}>
                Done
              </button>
            </div>
          </>
        ) : (
          <form
            class="stacked"
            onSubmit={sending.submit(
              async () => setMade(await createToken(person.id, { name: name.trim(), scopes, days: Number(days) })),
              "The token is created.",
              () => {}
            )}
          >
            <p>
              A program with the token sees what <Isolated>{who}</Isolated> sees, until you revoke it. That you created
              it is recorded.
            </p>
            <label>
              What it is for
              <input required maxLength={100} value={name} onInput={({ currentTarget: { value } }) => setName(value)} />
            </label>
            <fieldset>
              <legend>What it may do</legend>
              {SCOPES.filter(([, , ownOnly]) => ownOnly !== true || person.isSelf).map(([scope, does]) => (
                <label key={scope} class="inline">
                  <input
                    type="checkbox"
                    checked={scopes.includes(scope)}
                    onChange={({ currentTarget: { checked } }) =>
                      setScopes(checked ? [...scopes, scope] : scopes.filter((one) => one !== scope))
                    }
                  />{" "}
                  <code>{scope}</code> <span class="soft">{does}</span>
                </label>
              ))}
            </fieldset>
            <label>
              Days until it expires
              <input
                type="number"
                required
                min={1}
                max={730}
                value={days}
                onInput={({ currentTarget: { value } }) => setDays(value)}
              />
            </label>
            <Sending sending={sending} label="Create" disabled={name.trim() === "" || scopes.length === 0} />
          </form>
        )
      }
    </Dialog>
  )
}
