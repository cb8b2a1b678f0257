/** The page of traces: where requests of the organization spend their time. */
import "../shared/base.css"
import "./traces.css"
import { render } from "preact"
import type { Problem } from "../shared/api.ts"
import { Compare, Detail } from "./Detail.tsx"
import { SHORTCUTS, listenToShortcuts } from "./shortcuts.ts"
import { List } from "./List.tsx"
import { applyTheme } from "../shared/theme.ts"
import { Wordmark } from "../shared/Wordmark.tsx"
import { Overview } from "./Overview.tsx"
import { problem, start, view } from "./state.ts"

const Refused = ({ problem: reason }: { readonly problem: Problem }) => (
  <section class="refused" role="alert">
    <h2>
      {reason.status === 401
        ? "You aren't signed in"
        : reason.status === 403
          ? "You may not see traces"
          : "The traces can't be loaded"}
    </h2>
    {reason.status === 401 ? (
      <p>
        Sign in with a link: <code>max serve --sign-in YOU</code> prints one on the server.
      </p>
    ) : reason.status === 403 ? (
      <p>Traces are for administrators of the organization, and for tokens with the scope traces.</p>
    ) : (
      <p>{reason.message}</p>
    )}
  </section>
)

const Page = () => {
  const refused = problem.value
  return (
    <>
      <header class="top">
        <h1>
          <Wordmark /> <span>traces</span>
        </h1>
        <dl class="keys" aria-label="Keyboard shortcuts">
          {SHORTCUTS.map(([key, what]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      </header>
      <main class={refused === undefined ? "" : "alone"}>
        {refused !== undefined ? (
          <Refused problem={refused} />
        ) : (
          <>
            <List />
            <section class="shown" aria-label="Details">
              {view.value._tag === "Trace" ? <Detail /> : view.value._tag === "Compare" ? <Compare /> : <Overview />}
            </section>
          </>
        )}
      </main>
    </>
  )
}

applyTheme(document.documentElement)
start()
listenToShortcuts()
render(<Page />, document.getElementById("app")!)
