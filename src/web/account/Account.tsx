import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { Passkey, Passkeys, Session, SignInWays } from "../../wire/session.ts"
import { get, Problem, request } from "../shared/api.ts"
import { canUsePasskeys, passkeyTrouble } from "../shared/passkey.ts"
import { addPasskey } from "../shared/addPasskey.ts"
import { ThemeSwitch } from "../shared/ThemeSwitch.tsx"
import { Wordmark } from "../shared/Wordmark.tsx"

interface Loaded {
  readonly session: Session
  readonly passkeys: ReadonlyArray<Passkey>
  /** Whether passkeys work at this address and in this browser. */
  readonly isOffered: boolean
}

const load = async (): Promise<Loaded> => {
  const [session, ways] = await Promise.all([get<Session>("/v1/session"), get<SignInWays>("/v1/session/ways")])
  const passkeys = session.by === "session" ? (await get<Passkeys>("/v1/passkeys")).passkeys : []
  return { session, passkeys, isOffered: ways.passkeys && canUsePasskeys() }
}

const day = (at: string) => new Date(at).toLocaleDateString(undefined, { dateStyle: "medium" })

const One = ({ onRemove, passkey }: { readonly passkey: Passkey; readonly onRemove: () => void }) => {
  const asking = useSignal(false)
  return (
    <li>
      <p>
        <bdi>{passkey.name}</bdi>
        <span class="aside">
          Added {day(passkey.createdAt)} ·{" "}
          {passkey.usedAt === null ? "not used yet" : `last used ${day(passkey.usedAt)}`}
        </span>
      </p>
      {asking.value ? (
        <span class="asks">
          <button type="button" class="plain" onClick={() => (asking.value = false)}>
            Keep it
          </button>
          <button type="button" class="solid" onClick={onRemove}>
            Remove this passkey
          </button>
        </span>
      ) : (
        <button type="button" class="plain" aria-label={`Remove ${passkey.name}`} onClick={() => (asking.value = true)}>
          Remove
        </button>
      )}
    </li>
  )
}

const Owned = ({ isOffered, passkeys: known, session }: Loaded) => {
  const passkeys = useSignal(known)
  const name = useSignal("")
  const busy = useSignal(false)
  const trouble = useSignal("")
  const said = useSignal("")
  const trying = async (act: () => Promise<string>) => {
    busy.value = true
    trouble.value = ""
    said.value = ""
    try {
      said.value = await act()
    } catch (error) {
      trouble.value = passkeyTrouble(error)
    } finally {
      busy.value = false
    }
  }
  const add = (event: Event) => {
    event.preventDefault()
    void trying(async () => {
      const added = await addPasskey(name.value)
      passkeys.value = [...passkeys.value, added]
      name.value = ""
      return `${added.name} is added. You can sign in with it from now on.`
    })
  }
  const remove = (passkey: Passkey) =>
    void trying(async () => {
      await request("DELETE", `/v1/passkeys/${passkey.id}`)
      passkeys.value = passkeys.value.filter(({ id }) => id !== passkey.id)
      return `${passkey.name} is removed. Delete it on your device, too.`
    })
  return (
    <section aria-labelledby="passkeys">
      <h2 id="passkeys">Passkeys</h2>
      <p>
        A passkey signs you in with your fingerprint, your face or the PIN of your device, without a link. It works at
        this address only.
      </p>
      {passkeys.value.length > 0 && (
        <ul>
          {passkeys.value.map((passkey) => (
            <One key={passkey.id} passkey={passkey} onRemove={() => remove(passkey)} />
          ))}
        </ul>
      )}
      {isOffered && session.by === "session" ? (
        <form onSubmit={add} aria-busy={busy.value}>
          <label for="name">Name of the device</label>
          <div class="row">
            <input
              id="name"
              type="text"
              maxLength={100}
              placeholder="My laptop"
              value={name.value}
              onInput={(event) => (name.value = event.currentTarget.value)}
              aria-describedby="trouble"
            />
            <button type="submit" class="solid" disabled={busy.value}>
              Add a passkey
            </button>
          </div>
        </form>
      ) : (
        <p class="aside">
          {session.by === "session"
            ? "Passkeys need an https address and a current browser. Ask an operator to set MAX_PUBLIC_URL."
            : "Sign in with a link to add a passkey."}
        </p>
      )}
      <p id="trouble" class="trouble" role="alert">
        {trouble.value}
      </p>
      <p class="aside" role="status">
        {said.value}
      </p>
    </section>
  )
}

export const Account = () => {
  const loaded = useSignal<Loaded | Problem | undefined>(undefined)
  useEffect(() => {
    load().then(
      (found) => (loaded.value = found),
      (error: unknown) => (loaded.value = error instanceof Problem ? error : new Problem("failed", 0, String(error)))
    )
  }, [])
  const { value } = loaded
  return (
    <div class="account form">
      <header>
        <a href="/" aria-label="Max: back to your questions">
          <Wordmark />
        </a>
        <ThemeSwitch />
      </header>
      <main aria-busy={value === undefined}>
        <h1>Your account</h1>
        {value instanceof Problem ? (
          <p role="alert">
            {value.status === 401 ? (
              <>
                You aren't signed in. <a href="/sign-in">Sign in</a>
              </>
            ) : (
              value.message
            )}
          </p>
        ) : value === undefined ? null : (
          <>
            <p class="aside">
              {value.session.organization}
              {value.session.roles.length > 0 && ` · ${value.session.roles.join(", ")}`}
            </p>
            <Owned {...value} />
          </>
        )}
      </main>
    </div>
  )
}
