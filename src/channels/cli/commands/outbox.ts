/** What confirmed changes ask of other systems: what waits, what failed, and sending it again by hand. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { CallState } from "../../../domain/Change.ts"
import { ChangeOutbox } from "../../../services/changes/calls/ChangeOutbox.ts"
import { currentOrganization } from "../context.ts"
import { argument } from "../flags.ts"
import { listing, result } from "../output.ts"

const retry = Command.make(
  "retry",
  {
    id: argument("id", "A change's id, as max change outbox shows it"),
    step: Argument.Int("step").pipe(Argument.withDescription("The step's number"))
  },
  Effect.fnUntraced(function* ({ id, step }) {
    const outbox = yield* ChangeOutbox
    yield* outbox.retry((yield* currentOrganization).id, id, step)
    yield* result({ changeId: id, step, state: "queued" }, [
      "It is sent again. Look there first if it was unknown: a service without an idempotency key does it twice."
    ])
  })
).pipe(Command.withDescription("Send a refused, unsent or unknown call again"))

export const outbox = Command.make(
  "outbox",
  {
    state: Flag.Literals("state", CallState.literals).pipe(
      Flag.withDescription("Only in this state; by default all but done"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ state }) {
    const entries = yield* ChangeOutbox
    yield* listing(
      yield* entries.list((yield* currentOrganization).id, Option.getOrUndefined(state)),
      "Nothing waits.",
      ({ action, attempts, changeId, error, nextAt, state: now, step }) => [
        changeId,
        String(step),
        action,
        now,
        String(attempts),
        now === "queued" ? nextAt : "",
        error ?? ""
      ],
      ["change", "step", "action", "state", "attempts", "next", "error"]
    )
  })
).pipe(
  Command.withDescription("Show what confirmed changes ask of other systems, as the operator: no values"),
  Command.withSubcommands([retry])
)
