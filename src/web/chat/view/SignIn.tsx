/** The sign-in: by a sign-in link, or by a token that is kept only in memory. */
import "./sign-in.css"
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { Problem, request } from "../../shared/api.ts"
import { ThemeSwitch } from "../../shared/ThemeSwitch.tsx"
import { Wordmark } from "../../shared/Wordmark.tsx"
import type { Chat } from "../state/Chat.ts"

export interface Entry {
  /** The one-time code of a sign-in link. */
  readonly code: string | undefined
  readonly useToken: (token: string) => void
}

const CODE = /max_[a-z]{1,14}_[A-Za-z0-9_-]{43}/

const messageOf = (error: unknown): string =>
  error instanceof Problem && error.status === 0
    ? "The server can't be reached. Try again in a moment."
    : error instanceof Problem && error.status === 401
      ? "This link or token was used before or has expired. Ask for a new one."
      : error instanceof Problem
        ? error.message
        : "Signing in failed."

export const SignIn = ({ chat, entry }: { readonly chat: Chat; readonly entry: Entry }) => {
  const pasted = useSignal("")
  const trouble = useSignal("")
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

  useEffect(() => {
    if (entry.code !== undefined) void redeem(entry.code)
  }, [])

  return (
    <div class="sign-in">
      <header>
        <Wordmark />
        <ThemeSwitch />
      </header>
      <main>
        {chat.access.value === "unreachable" ? (
          <>
            <h1>Max can't be reached.</h1>
            <p class="lead">The server doesn't answer right now. Your earlier questions are still there.</p>
            <button type="button" class="solid" onClick={() => void chat.start()}>
              Try again
            </button>
          </>
        ) : (
          <>
            <h1>Ask about the people, companies and meetings you work with.</h1>
            <p class="lead">Max looks them up, and shows you only what you may see.</p>
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
        )}
      </main>
    </div>
  )
}
