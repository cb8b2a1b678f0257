/** The sign-in: by a sign-in link, or by a token that is kept only in memory. */
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { SignInWays } from "../../../wire/session.ts"
import { get, Problem, request } from "../../shared/api.ts"
import { canUsePasskeys, passkeyTrouble, signInWithPasskey } from "../../shared/passkey.ts"
import type { Chat } from "../state/Chat.ts"

export interface Entry {
  /** The one-time code of a sign-in link, until it is tried. */
  code: string | undefined
  /** Why coming back from an identity provider failed, until it is shown. */
  failed: string | undefined
  readonly useToken: (token: string) => void
}

const CODE = /max_[a-z]{1,14}_[A-Za-z0-9_-]{43}/

const FAILED: Readonly<Record<string, string>> = {
  refused: "The sign-in was not completed. Try again.",
  "no-access": "You don't have access here yet. Ask an administrator to invite you.",
  "too-many": "Too many attempts from your address. Wait a minute.",
  unavailable: "The sign-in service can't be reached right now. Try again in a minute."
}

const messageOf = (error: unknown): string =>
  error instanceof Problem && error.status === 0
    ? "The server can't be reached. Try again in a moment."
    : error instanceof Problem && error.status === 401
      ? "This link or token was used before or has expired. Ask for a new one."
      : error instanceof Problem
        ? error.message
        : "Signing in failed."

/** Asks for a link by mail. The answer never tells whether the address is a member's. */
const MailedLink = () => {
  const email = useSignal("")
  const said = useSignal("")
  const submit = (event: Event) => {
    event.preventDefault()
    request("POST", "/v1/session/mail", { email: email.value }).then(
      () => (said.value = `If ${email.value} is a member's address, a link is on its way. It works for 15 minutes.`),
      (error: unknown) => (said.value = messageOf(error))
    )
  }
  return (
    <form onSubmit={submit}>
      <label for="email">Or your e-mail address, for a link by mail</label>
      <div class="row">
        <input
          id="email"
          type="email"
          autocomplete="email"
          maxLength={320}
          required
          value={email.value}
          onInput={(event) => (email.value = event.currentTarget.value)}
          aria-describedby="mailed"
        />
        <button type="submit" disabled={email.value.trim() === ""}>
          Mail me a link
        </button>
      </div>
      <p id="mailed" class="aside" role="status">
        {said.value}
      </p>
    </form>
  )
}

export const SignIn = ({ chat, entry }: { readonly chat: Chat; readonly entry: Entry }) => {
  const pasted = useSignal("")
  const trouble = useSignal(entry.failed === undefined ? "" : (FAILED[entry.failed] ?? FAILED["refused"]!))
  const busy = useSignal(entry.code !== undefined)

  /** Exchanges the code of a link for a session; false if that fails. */
  const redeem = async (code: string): Promise<boolean> => {
    busy.value = true
    trouble.value = ""
    try {
      await request("POST", "/v1/session", { code })
      await chat.start()
      return true
    } catch (error) {
      trouble.value = messageOf(error)
      return false
    } finally {
      busy.value = false
    }
  }

  const usePasskey = async () => {
    trouble.value = ""
    try {
      await signInWithPasskey()
      await chat.start()
    } catch (error) {
      trouble.value = passkeyTrouble(error)
    }
  }

  /** Tries the pasted secret as a link's code, then as a token. */
  const submit = async (event: Event) => {
    event.preventDefault()
    const code = CODE.exec(pasted.value)?.[0]
    if (code === undefined) {
      trouble.value = "That is neither a sign-in link nor a token: both contain max_."
      return
    }
    if (await redeem(code)) return
    entry.useToken(code)
    await chat.start()
  }

  const ways = useSignal<SignInWays>({ mail: false, passkeys: false, providers: [] })
  useEffect(() => {
    const { code } = entry
    entry.code = entry.failed = undefined
    if (code !== undefined) void redeem(code)
    // Without an answer the page offers what needs none.
    get<SignInWays>("/v1/session/ways").then(
      (offered) => (ways.value = offered),
      () => undefined
    )
  }, [])

  return (
    <>
      <h1>
        {chat.ended.value ? "Your session has ended." : "Ask about the people, companies and meetings you work with."}
      </h1>
      <p class="lead">
        {chat.ended.value
          ? "Sign in again to continue. A question that has no answer yet comes back when you sign in here."
          : "Max looks them up, and shows you only what you may see."}
      </p>
      {ways.value.providers.map(({ id, name }) => (
        <p key={id} class="provider">
          <a class="solid" href={`/v1/session/with/${id}`}>
            Sign in with {name}
          </a>
        </p>
      ))}
      {ways.value.passkeys && canUsePasskeys() && (
        <p class="provider">
          <button type="button" class="solid" onClick={() => void usePasskey()}>
            Sign in with a passkey
          </button>
        </p>
      )}
      <form onSubmit={(event) => void submit(event)} aria-busy={busy.value}>
        <label for="given">Your sign-in link</label>
        <div class="row">
          <input
            id="given"
            type="text"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder="https://…/sign-in#max_…"
            value={pasted.value}
            onInput={(event) => (pasted.value = event.currentTarget.value)}
            aria-describedby="trouble how"
          />
          <button type="submit" class="solid" disabled={busy.value || pasted.value.trim() === ""}>
            Sign in
          </button>
        </div>
        <p id="trouble" class="trouble" role="alert">
          {trouble.value}
        </p>
        <p role="status" class="aside">
          {busy.value ? "Signing in…" : ""}
        </p>
      </form>
      {ways.value.mail ? <MailedLink /> : null}
      <dl id="how" class="how">
        <div>
          <dt>Have a link?</dt>
          <dd>Open it, or paste it here. It works once.</dd>
        </div>
        <div>
          <dt>Have a token?</dt>
          <dd>Paste that instead. It is kept until you close this page.</dd>
        </div>
        <div>
          <dt>Have neither?</dt>
          <dd>
            Ask an administrator of Max for an invitation or a sign-in link. An operator creates one with{" "}
            <code>max serve --sign-in you@example.com</code>.
          </dd>
        </div>
      </dl>
    </>
  )
}
