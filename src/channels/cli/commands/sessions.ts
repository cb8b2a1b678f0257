/** `max sessions`: operators' commands for stored conversations. */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { Memberships } from "../../../services/members/Memberships.ts"
import { Sessions } from "../../../services/conversations/Sessions.ts"
import { currentOrganization, wantsJson } from "../context.ts"
import { columns, dim, result } from "../output.ts"

/** Members' names by anchor. */
export const memberNames = Effect.gen(function* () {
  const memberships = yield* Memberships
  const members = yield* memberships.list(yield* currentOrganization)
  return new Map(members.map(({ anchorId, name }) => [anchorId, name]))
})

const list = Command.make("list", {}, () =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const found = yield* sessions.list(yield* currentOrganization)
    const names = yield* memberNames
    yield* result(
      yield* wantsJson,
      found,
      found.length === 0
        ? [dim("There are no stored conversations.")]
        : columns(
            found.map(({ anchorId, id, turns, updatedAt }) => [
              id,
              names.get(anchorId) ?? anchorId,
              String(turns),
              updatedAt
            ]),
            ["session", "person", "turns", "last used"]
          )
    )
  })
).pipe(Command.withDescription("List stored conversations, most recently used first"))

const session = Argument.String("session").pipe(Argument.withDescription("As max sessions list shows it"))

const show = Command.make("show", { session }, (input) =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const found = yield* sessions.show(yield* currentOrganization, input.session)
    yield* result(
      yield* wantsJson,
      found,
      found.turns.flatMap(({ answered, asked, at, inputTokens, model, outputTokens, reference }) => [
        ...columns([[`› ${asked}`]]),
        ...answered.split("\n").flatMap((line) => columns([[line]])),
        dim(`${at}  ${model}  ${inputTokens} tokens in, ${outputTokens} out  ref ${reference}`)
      ])
    )
  })
).pipe(Command.withDescription("Show the turns of a conversation"))

const remove = Command.make("delete", { session }, (input) =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    yield* sessions.remove(yield* currentOrganization, input.session)
    yield* result(yield* wantsJson, { deleted: input.session }, ["The conversation is deleted."])
  })
).pipe(Command.withDescription("Delete a conversation"))

export const sessions = Command.make("sessions").pipe(
  Command.withDescription("Stored conversations"),
  Command.withSubcommands([list, show, remove])
)
