/** `max sessions`: operators' commands for stored conversations. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { Sessions } from "../../../services/conversations/Sessions.ts"
import { currentOrganization, memberNames } from "../context.ts"
import { argument } from "../flags.ts"
import { columns, dim, listing, result } from "../output.ts"

const list = Command.make(
  "list",
  {},
  Effect.fnUntraced(function* () {
    const sessions = yield* Sessions
    const found = yield* sessions.list(yield* currentOrganization)
    const names = yield* memberNames
    yield* listing(
      found,
      dim("There are no stored conversations."),
      ({ anchorId, id, turns, updatedAt }) => [id, names.get(anchorId) ?? anchorId, String(turns), updatedAt],
      ["session", "person", "turns", "last used"]
    )
  })
).pipe(Command.withDescription("List stored conversations, most recently used first"))

const session = argument("session", "As max sessions list shows it")

const show = Command.make(
  "show",
  { session },
  Effect.fnUntraced(function* (input) {
    const sessions = yield* Sessions
    const found = yield* sessions.show(yield* currentOrganization, input.session)
    yield* result(
      found,
      found.turns.flatMap(({ answered, asked, at, inputTokens, model, outputTokens, reference }) => [
        ...columns([[`› ${asked}`]]),
        ...answered.split("\n").flatMap((line) => columns([[line]])),
        dim(`${at}  ${model}  ${inputTokens} tokens in, ${outputTokens} out  ref ${reference}`)
      ])
    )
  })
).pipe(Command.withDescription("Show the turns of a conversation"))

const remove = Command.make(
  "delete",
  { session },
  Effect.fnUntraced(function* (input) {
    const sessions = yield* Sessions
    yield* sessions.remove(yield* currentOrganization, input.session)
    yield* result({ deleted: input.session }, ["The conversation is deleted."])
  })
).pipe(Command.withDescription("Delete a conversation"))

export const sessions = Command.make("sessions").pipe(
  Command.withDescription("Stored conversations"),
  Command.withSubcommands([list, show, remove])
)
