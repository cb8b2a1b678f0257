/** The way in: a link that an administrator gives, which this page takes up, or a token for now. */
import "./sign-in.css"
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { Problem, request } from "../../shared/api.ts"
import { ThemeSwitch } from "../../shared/ThemeSwitch.tsx"
import { Wordmark } from "../../shared/Wordmark.tsx"
import type { Chat } from "../state/Chat.ts"

export interface Entry {
  /** The code that a sign-in link brought. */
  readonly code: string | undefined
  readonly useToken: (token: string) => void
}

const CODE = /max_[a-z]{1,14}_[A-Za-z0-9_-]{43}/

const words = (error: unknown): string =>
  error instanceof Problem && error.status === 0
    ? "The server can't be reached. Try again in a moment."
    : error instanceof Problem && error.status === 401
      ? "This has been used, or is too old. Ask for a new one."
      : error instanceof Problem
        ? error.message
        : "That didn't work."

export const SignIn = ({ chat, entry }: { readonly chat: Chat; readonly entry: Entry }) => {
  const given = useSignal("")
  const trouble = useSignal("")
  const busy = useSignal(entry.code !== undefined)

  /** Whether the code was one of a link. */
  const enter = async (code: string): Promise<boolean> => {
    busy.value = true
    trouble.value = ""
    try {
      await request("POST", "/v1/session", { code })
      await chat.begin()
      return true
    } catch (error) {
      trouble.value = words(error)
      return false
    } finally {
      busy.value = false
    }
  }

  /** A link's code becomes a session; what is none may be a token. */
  const submit = async (event: Event) => {
    event.preventDefault()
    const code = CODE.exec(given.value)?.[0]
    if (code === undefined) {
      trouble.value = "That is neither a sign-in link nor a token: both have max_ in them."
      return
    }
    if (await enter(code)) return
    entry.useToken(code)
    await chat.begin()
  }

  useEffect(() => {
    if (entry.code !== undefined) void enter(entry.code)
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
            <p class="lead">The server doesn't answer right now. What you asked before is kept.</p>
            <button type="button" class="solid" onClick={() => void chat.begin()}>
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
                  value={given.value}
                  onInput={(event) => (given.value = event.currentTarget.value)}
                  aria-describedby="trouble how"
                />
                <button type="submit" class="solid" disabled={busy.value || given.value.trim() === ""}>
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
                  Ask whoever runs Max for you. This makes one: <code>max serve --sign-in you@example.com</code>
                </dd>
              </div>
            </dl>
          </>
        )}
      </main>
    </div>
  )
}
