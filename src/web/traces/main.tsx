/** Where the time goes: traces of one's own organization, for whoever may see them. */
import "../shared/base.css"
import "./traces.css"
import { render } from "preact"
import type { Problem } from "../shared/api.ts"
import { Compare, Detail } from "./Detail.tsx"
import { KEYS, listenToKeys } from "./keys.ts"
import { List } from "./List.tsx"
import { themed } from "../shared/theme.ts"
import { Wordmark } from "../shared/Wordmark.tsx"
import { Overview } from "./Overview.tsx"
import { problem, start, view } from "./state.ts"

const Refused = ({ why }: { readonly why: Problem }) => (
  <section class="refused" role="alert">
    <h2>
      {why.status === 401 ? "Nobody is signed in" : why.status === 403 ? "This isn't for you" : "That didn't work"}
    </h2>
    {why.status === 401 ? (
      <p>
        Sign in with a link: <code>max serve --sign-in YOU</code> prints one on the server's machine.
      </p>
    ) : why.status === 403 ? (
      <p>Traces are for admins of the organization, and for tokens with the scope traces.</p>
    ) : (
      <p>{why.message}</p>
    )}
  </section>
)

const Page = () => {
  const why = problem.value
  return (
    <>
      <header class="top">
        <h1>
          <Wordmark /> <span>traces</span>
        </h1>
        <dl class="keys" aria-label="Keys">
          {KEYS.map(([key, what]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      </header>
      <main class={why === undefined ? "" : "alone"}>
        {why !== undefined ? (
          <Refused why={why} />
        ) : (
          <>
            <List />
            <section class="shown" aria-label="What is shown">
              {view.value._tag === "Trace" ? <Detail /> : view.value._tag === "Compare" ? <Compare /> : <Overview />}
            </section>
          </>
        )}
      </main>
    </>
  )
}

themed(document.documentElement)
start()
listenToKeys()
render(<Page />, document.getElementById("app")!)
