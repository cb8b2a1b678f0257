/** The webhook that tells another system, such as a chat, of changes that wait for another person. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { Env } from "../../../env.ts"
import { ApproverWebhook } from "../../../services/changes/calls/ApproverWebhook.ts"
import { currentOrganization } from "../context.ts"
import { argument } from "../flags.ts"
import { dim, note, result } from "../output.ts"

const set = Command.make(
  "set",
  {
    url: argument("url", "Where the requests go: https://HOST/PATH"),
    secret: Flag.String("secret").pipe(
      Flag.withDescription("The secret that signs them, as env:NAME or file:/path; only this text is stored")
    )
  },
  Effect.fnUntraced(function* ({ secret, url }) {
    const webhooks = yield* ApproverWebhook
    yield* webhooks.set(yield* currentOrganization, { url, secret })
    yield* result({ url, secret }, ["Changes that wait for another person are told there from now on."])
    if ((yield* Env).publicUrl === undefined)
      yield* note("Nothing is sent before MAX_PUBLIC_URL is set: a link to the change needs it.")
  })
).pipe(
  Command.withDescription("Declare where to tell of changes that wait for another person"),
  Command.withExamples([
    {
      command: "max change webhook set https://hooks.example.com/max --secret file:/run/secrets/hook",
      description: "max serve sends; the requests are signed with the secret in the file"
    }
  ])
)

const remove = Command.make(
  "remove",
  {},
  Effect.fnUntraced(function* () {
    const webhooks = yield* ApproverWebhook
    yield* webhooks.remove(yield* currentOrganization)
    yield* result({ removed: true }, ["Nothing is told any more."])
  })
).pipe(Command.withDescription("Take the webhook away, at once"))

export const webhook = Command.make(
  "webhook",
  {},
  Effect.fnUntraced(function* () {
    const webhooks = yield* ApproverWebhook
    const found = yield* webhooks.status((yield* currentOrganization).id)
    if (found === undefined) return yield* result(null, ["There is no webhook: max change webhook set"])
    const { error, failed, secret, told, url, waiting } = found
    yield* result(found, [
      url,
      dim(`signed with ${secret}`),
      `${told} told, ${waiting} waiting, ${failed} failed${error === null ? "" : `; the latest one: ${error}`}`
    ])
  })
).pipe(
  Command.withDescription("Show the webhook that tells of changes that wait for another person"),
  Command.withSubcommands([set, remove])
)
