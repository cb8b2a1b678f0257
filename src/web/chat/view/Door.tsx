/** The page without a session: the sign-in, which is loaded when it is needed, or a note that the server can't be reached. */
import "./sign-in.css"
import { useSignal, useSignalEffect } from "@preact/signals"
import { ThemeSwitch } from "../../shared/ThemeSwitch.tsx"
import { Wordmark } from "../../shared/Wordmark.tsx"
import type { Chat } from "../state/Chat.ts"
import type { Entry, SignIn } from "./SignIn.tsx"

export const Door = ({ chat, entry }: { readonly chat: Chat; readonly entry: Entry }) => {
  const loaded = useSignal<{ readonly SignIn: typeof SignIn }>()
  const away = chat.access.value === "unreachable"
  useSignalEffect(() => {
    if (chat.access.value !== "signed out" || loaded.value !== undefined) return
    import("./SignIn.tsx").then(
      (module) => (loaded.value = module),
      () => (chat.access.value = "unreachable")
    )
  })
  const { value: module } = loaded
  return (
    <div class="sign-in">
      <header>
        <Wordmark />
        <ThemeSwitch />
      </header>
      <main aria-busy={!away && module === undefined}>
        {away ? (
          <>
            <h1>Max can't be reached.</h1>
            <p class="lead">The server doesn't answer right now. Your earlier questions are still there.</p>
            <button type="button" class="solid" onClick={() => void chat.start()}>
              Try again
            </button>
          </>
        ) : (
          module !== undefined && <module.SignIn chat={chat} entry={entry} />
        )}
      </main>
    </div>
  )
}
