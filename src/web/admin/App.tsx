/** The frame around every page: who is here, where one can go, and what is said to those who can't come in. */
import { useEffect } from "preact/hooks"
import { Wordmark } from "../shared/Wordmark.tsx"
import { session } from "./api.ts"
import { Audit } from "./Audit.tsx"
import { Explain } from "./Explain.tsx"
import { History } from "./History.tsx"
import { Command, Failure, Said, usePage } from "./parts.tsx"
import { People } from "./People.tsx"
import { PersonPage } from "./Person.tsx"
import { place, to } from "./place.ts"
import { Policy } from "./Policy.tsx"
import { Texts } from "./Texts.tsx"
import { failed, failureOf, said, who, type Who } from "./state.ts"

const enter = () => {
  who.value = { is: "unknown" }
  session().then(
    (found) => {
      who.value = { is: "here", session: found }
    },
    (error: unknown) => {
      failed(error)
      who.value = { is: "kept out", problem: failureOf(error) }
    }
  )
}

export const App = () => {
  useEffect(enter, [])
  const now = who.value
  return (
    <>
      {now.is === "unknown" ? (
        <main class="alone" aria-busy="true">
          <h1 class="visually-hidden">Administration</h1>
        </main>
      ) : now.is === "kept out" ? (
        <KeptOut {...now} />
      ) : now.session.scopes.includes("admin") ? (
        <Inside session={now.session} />
      ) : (
        <NoAdministrator session={now.session} />
      )}
      <div class="visually-hidden" role="status" aria-live="polite">
        {said}
      </div>
    </>
  )
}

const SECTIONS = [
  { path: ["people"], name: "People" },
  { path: ["policy"], name: "Policy" },
  { path: ["texts"], name: "Texts" },
  { path: ["audit"], name: "Audit" }
] as const

const Inside = ({
  session: { organization, scopes }
}: {
  readonly session: { organization: string; scopes: ReadonlyArray<string> }
}) => {
  const { path, query } = place.value
  const [section = "people", part] = path
  const address = path.join("/")
  useEffect(() => scrollTo(0, 0), [address])
  const elsewhere = [
    { href: "/", name: "Chat", shown: scopes.includes("chat") },
    { href: "/traces", name: "Traces", shown: scopes.includes("traces") }
  ].filter(({ shown }) => shown)
  return (
    <div class="frame">
      <a class="skip" href="#content" onClick={skip}>
        Skip to the page
      </a>
      <header class="side">
        <p class="brand">
          <Wordmark />
          <Said>{organization}</Said>
        </p>
        <nav aria-label="Administration">
          <ul>
            {SECTIONS.map((one) => (
              <li key={one.name}>
                <a href={to(one.path)} aria-current={one.path[0] === section ? "page" : undefined}>
                  {one.name}
                </a>
              </li>
            ))}
          </ul>
          <ul class="elsewhere">
            {elsewhere.map(({ href, name }) => (
              <li key={href}>
                <a href={href}>{name}</a>
              </li>
            ))}
          </ul>
        </nav>
      </header>
      <main id="content" tabIndex={-1}>
        {section === "people" && part !== undefined ? (
          <PersonPage key={part} id={part} />
        ) : section === "people" ? (
          <People />
        ) : section === "policy" && part === "history" ? (
          <History from={query["from"]} to={query["to"]} />
        ) : section === "policy" && part === "explain" ? (
          <Explain key={JSON.stringify(query)} person={query["person"]} type={query["type"]} row={query["row"]} />
        ) : section === "policy" ? (
          <Policy />
        ) : section === "texts" ? (
          <Texts />
        ) : section === "audit" ? (
          <Audit about={query["about"]} />
        ) : (
          <Nowhere />
        )}
      </main>
    </div>
  )
}

/** The address behind # is the page's own, so a jump within it is made by hand. */
const skip = (event: Event) => {
  event.preventDefault()
  document.getElementById("content")?.focus()
}

const Nowhere = () => {
  usePage("Nothing here")
  return (
    <>
      <h1 tabIndex={-1}>There is nothing here</h1>
      <p>
        Go to <a href={to(["people"])}>People</a>.
      </p>
    </>
  )
}

const KeptOut = ({ problem }: Extract<Who, { is: "kept out" }>) => {
  usePage("Administration")
  const name = problem.name.split(":").pop()
  return (
    <main class="alone">
      <p class="brand">
        <Wordmark />
      </p>
      {name === "not-authenticated" ? (
        <>
          <h1>Sign in to administer</h1>
          <p>
            These pages are for people whose role administers their organization. You come in by a link that is good for
            five minutes and once.
          </p>
          <Command text="max serve --sign-in you@example.com">
            On the machine where Max runs, an operator makes one for you:
          </Command>
        </>
      ) : name === "not-admitted" ? (
        <>
          <h1>You have no access any more</h1>
          <p>{problem.message}</p>
        </>
      ) : name === "not-in-scope" ? (
        <>
          <h1>You may not administer any more</h1>
          <p>{problem.message}</p>
        </>
      ) : (
        <>
          <h1>Max can't be reached</h1>
          <Failure problem={problem} again={enter} />
        </>
      )}
    </main>
  )
}

const NoAdministrator = ({
  session: { organization, roles }
}: {
  readonly session: { organization: string; roles: ReadonlyArray<string> }
}) => {
  usePage("Administration")
  return (
    <main class="alone">
      <p class="brand">
        <Wordmark />
        <Said>{organization}</Said>
      </p>
      <h1>Your role doesn't administer</h1>
      <p>
        You are signed in to <Said>{organization}</Said>
        {roles.length === 0 ? " without a role" : ` as ${roles.join(", ")}`}. Which roles administer is said in the
        policy, and yours isn't one of them.
      </p>
      <p>
        Ask whoever looks after Max here, or <a href="/">go to the chat</a>.
      </p>
    </main>
  )
}
