/** The first run as commands: a new link for the page. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { Database } from "../../../database/Database.ts"
import { Env } from "../../../env.ts"
import { Setup } from "../../../services/onboarding/Setup.ts"
import { Importer } from "../../../services/import/Importer.ts"
import { addSample } from "../../../services/import/sample/loadSample.ts"
import type { SetupSteps } from "../../../wire/admin/setup.ts"
import { Checklist } from "../../../services/administration/Checklist.ts"
import { currentOrganization } from "../context.ts"
import { columns, note, result } from "../output.ts"
import { setupLink } from "../setupLink.ts"

const link = Command.make(
  "link",
  {},
  Effect.fnUntraced(function* () {
    const setup = yield* Setup
    const { httpHost, httpPort } = yield* Env
    const made = yield* setupLink(
      yield* setup.createLink,
      `http://${httpHost.includes(":") ? `[${httpHost}]` : httpHost}:${httpPort}`
    )
    yield* result({ link: made }, [made])
    yield* note("It works for a day, and once. max serve must be running.")
  })
).pipe(Command.withDescription("Create the link of the first run, for a server without an organization"))

const STEPS = {
  passkey: "a member has a passkey",
  data: "data was imported, or a table is mapped",
  policy: "the policy says more than the starter policy",
  people: "a second person was invited",
  answer: "a question was answered"
} satisfies Record<keyof SetupSteps, string>

const steps = Command.make(
  "steps",
  {},
  Effect.fnUntraced(function* () {
    const checklist = yield* Checklist
    const taken = yield* checklist.steps(yield* currentOrganization)
    yield* result(
      taken,
      columns(
        (["passkey", "data", "policy", "people", "answer"] as const).map((step) => [
          taken[step] ? "done" : "open",
          STEPS[step]
        ])
      )
    )
  })
).pipe(Command.withDescription("Show which steps after the first run were taken"))

const sample = Command.make(
  "sample",
  {},
  Effect.fnUntraced(function* () {
    const { companies, meetings, people } = yield* addSample(
      yield* Database,
      yield* Importer,
      yield* currentOrganization
    )
    yield* result({ people, companies, meetings }, [
      `Added ${people} people, ${companies} companies and ${meetings} meetings to try Max with.`
    ])
  })
).pipe(Command.withDescription("Add the sample data to an organization without data"))

export const setup = Command.make("setup").pipe(
  Command.withDescription("Set Max up in a browser"),
  Command.withSubcommands([link, steps, sample])
)
