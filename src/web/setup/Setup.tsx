/** The steps of the first run. The first makes the organization; the others can be skipped. */
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import type { Welcome } from "../../wire/chat.ts"
import type { Session } from "../../wire/session.ts"
import { get } from "../shared/api.ts"
import { ThemeSwitch } from "../shared/ThemeSwitch.tsx"
import { Wordmark } from "../shared/Wordmark.tsx"
import { First } from "./First.tsx"
import { Heading } from "./Heading.tsx"
import { Next } from "./Next.tsx"

export const Setup = ({ code }: { readonly code: string }) => {
  const done = useSignal<string | undefined>(undefined)
  // An administrator comes back to the list without a link.
  useEffect(() => {
    if (code !== "") return
    get<Session>("/v1/session")
      .then(async ({ powers }) => {
        if (powers.includes("data")) done.value = (await get<Welcome>("/v1/welcome")).organization
      })
      .catch(() => undefined)
  }, [])
  return (
    <div class="setup form">
      <header>
        <Wordmark />
        <ThemeSwitch />
      </header>
      <main>
        {done.value !== undefined ? (
          <Next name={done.value} />
        ) : code === "" ? (
          <>
            <Heading>Open the set-up link.</Heading>
            <p>
              This page needs the link that <code>max serve</code> prints while there is no organization, or writes into
              a file that it names. If the link is lost or older than a day, an operator makes a new one:{" "}
              <code>max setup link</code>
            </p>
            <p>
              Is Max set up already? <a href="/">Sign in</a>
            </p>
          </>
        ) : (
          <First code={code} onDone={(name) => (done.value = name)} />
        )}
      </main>
    </div>
  )
}
