/** The first run as commands: a new link for the page. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { Env } from "../../../env.ts"
import { Setup } from "../../../services/onboarding/Setup.ts"
import { note, result } from "../output.ts"
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

export const setup = Command.make("setup").pipe(
  Command.withDescription("Set Max up in a browser"),
  Command.withSubcommands([link])
)
