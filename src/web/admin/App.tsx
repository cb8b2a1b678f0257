/** The frame of the administration pages: the session, the navigation, and the page for people without access. */
import { useEffect } from "preact/hooks"
import type { Power, Session } from "../../wire/session.ts"
import { Wordmark } from "../shared/Wordmark.tsx"
import { session } from "./api.ts"
import { AccessPage } from "./Access.tsx"
import { Audit } from "./Audit.tsx"
import { Changes } from "./Changes.tsx"
import { Explain } from "./Explain.tsx"
import { Health } from "./Health.tsx"
import { History } from "./History.tsx"
import { Import } from "./Import.tsx"
import { Model } from "./Model.tsx"
import { Command, Failure, Isolated, useTitle } from "./parts.tsx"
import { Organization } from "./Organization.tsx"
import { People } from "./People.tsx"
import { PersonPage } from "./Person.tsx"
import { Phone } from "./Phone.tsx"
import { place, to } from "./place.ts"
import { Policy } from "./Policy.tsx"
import { PolicyEditor } from "./PolicyEditor.tsx"
import { PolicyProposal, PolicyProposals } from "./PolicyProposal.tsx"
import { Texts } from "./Texts.tsx"
import { Usage } from "./Usage.tsx"
import { type Access, access, announcement, handleFailure, may, problemOf } from "./state.ts"

const enter = () => {
  access.value = { is: "checking" }
  session().then(
    (current) => {
      access.value = { is: "signed in", session: current }
    },
    (error: unknown) => {
      handleFailure(error)
      access.value = { is: "refused", problem: problemOf(error) }
    }
  )
}

export const App = () => {
  useEffect(enter, [])
  const now = access.value
  return (
    <>
      {now.is === "checking" ? (
        <main class="alone" aria-busy="true">
          <h1 class="visually-hidden">Administration</h1>
        </main>
      ) : now.is === "refused" ? (
        <Refused {...now} />
      ) : now.session.scopes.includes("admin") ? (
        <Inside session={now.session} />
      ) : (
        <NotAdministrator session={now.session} />
      )}
      <div class="visually-hidden" role="status" aria-live="polite">
        {announcement}
      </div>
    </>
  )
}

const SECTIONS = [
  { path: ["people"], name: "People" },
  { path: ["import"], name: "Import", power: "data" },
  { path: ["policy"], name: "Policy" },
  { path: ["changes"], name: "Changes" },
  { path: ["model"], name: "Model", power: "secrets" },
  { path: ["phone"], name: "Phone", power: "secrets" },
  { path: ["access"], name: "Access", power: "members" },
  { path: ["texts"], name: "Texts" },
  { path: ["usage"], name: "Usage" },
  { path: ["organization"], name: "Organization" },
  { path: ["audit"], name: "Audit" },
  { path: ["health"], name: "Health" }
] as ReadonlyArray<{ readonly path: readonly [string]; readonly name: string; readonly power?: Power }>

const Inside = ({ session: { organization, scopes } }: { readonly session: Session }) => {
  const { path, query } = place.value
  const [section = "people", part, one] = path
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
          <Isolated>{organization}</Isolated>
        </p>
        <nav aria-label="Administration">
          <ul>
            {SECTIONS.filter(({ power }) => power === undefined || may(power)).map((one) => (
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
        ) : section === "import" && may("data") ? (
          <Import />
        ) : section === "policy" && part === "history" ? (
          <History from={query["from"]} to={query["to"]} />
        ) : section === "policy" && part === "edit" && may("policy") ? (
          <PolicyEditor key={query["version"] ?? ""} version={query["version"]} />
        ) : section === "policy" && part === "proposals" && may("policy") ? (
          one === undefined ? (
            <PolicyProposals />
          ) : (
            <PolicyProposal key={one} id={one} />
          )
        ) : section === "policy" && part === "explain" ? (
          <Explain key={JSON.stringify(query)} person={query["person"]} type={query["type"]} row={query["row"]} />
        ) : section === "policy" ? (
          <Policy />
        ) : section === "changes" ? (
          <Changes />
        ) : section === "model" && may("secrets") ? (
          <Model />
        ) : section === "phone" && may("secrets") ? (
          <Phone />
        ) : section === "access" && may("members") ? (
          <AccessPage />
        ) : section === "texts" ? (
          <Texts />
        ) : section === "usage" ? (
          <Usage days={query["days"]} />
        ) : section === "organization" ? (
          <Organization />
        ) : section === "health" ? (
          <Health />
        ) : section === "audit" ? (
          <Audit about={query["about"]} />
        ) : (
          <UnknownPlace />
        )}
      </main>
    </div>
  )
}

/** The fragment holds the page's location, so a jump to an element is made by script. */
const skip = (event: Event) => {
  event.preventDefault()
  document.getElementById("content")?.focus()
}

const UnknownPlace = () => {
  useTitle("Not found")
  return (
    <>
      <h1 tabIndex={-1}>There is no such page</h1>
      <p>
        Go to <a href={to(["people"])}>People</a>.
      </p>
    </>
  )
}

const Refused = ({ problem }: Extract<Access, { is: "refused" }>) => {
  useTitle("Administration")
  const { name } = problem
  return (
    <main class="alone">
      <p class="brand">
        <Wordmark />
      </p>
      {name === "not-authenticated" ? (
        <>
          <h1>Sign in to administer</h1>
          <p>
            These pages are for administrators of an organization. Another administrator can send you a link that works
            once: People, your name, Sign-in link.
          </p>
          <Command text="max serve --sign-in you@example.com">
            An operator creates one on the machine where Max runs:
          </Command>
        </>
      ) : name === "not-admitted" ? (
        <>
          <h1>You no longer have access</h1>
          <p>{problem.message}</p>
        </>
      ) : name === "not-in-scope" ? (
        <>
          <h1>You are no longer an administrator</h1>
          <p>{problem.message}</p>
        </>
      ) : (
        <>
          <h1>Max can't be reached</h1>
          <Failure problem={problem} retry={enter} />
        </>
      )}
    </main>
  )
}

const NotAdministrator = ({ session: { organization, roles } }: { readonly session: Session }) => {
  useTitle("Administration")
  return (
    <main class="alone">
      <p class="brand">
        <Wordmark />
        <Isolated>{organization}</Isolated>
      </p>
      <h1>You are not an administrator</h1>
      <p>
        You are signed in to <Isolated>{organization}</Isolated>
        {roles.length === 0 ? " without a role" : ` as ${roles.join(", ")}`}. The policy names the roles that
        administer, and yours isn't among them.
      </p>
      <p>
        Ask the administrators of Max in your organization, or <a href="/">go to the chat</a>.
      </p>
    </main>
  )
}
