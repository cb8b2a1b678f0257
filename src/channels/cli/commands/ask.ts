/** `max ask`: one question and its answer. */
import { Effect, Option, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { MaxAgent } from "../../../agents/MaxAgent.ts"
import { turnError } from "../../../agents/turnError.ts"
import type { TurnEvent } from "../../../wire/TurnEvent.ts"
import { currentOrganization, currentPrincipal, wantsJson } from "../context.ts"
import { optional } from "../flags.ts"
import { json } from "../output.ts"
import { quietView, viewOf } from "../turnView.ts"

export const ask = Command.make(
  "ask",
  {
    question: Argument.String("question").pipe(
      Argument.withDescription("In plain words"),
      Argument.variadic({ min: 1 })
    ),
    session: optional("session", "The conversation to continue, as named by an earlier answer")
  },
  Effect.fnUntraced(function* (input) {
    const agent = yield* MaxAgent
    const organization = yield* currentOrganization
    const asJson = yield* wantsJson
    const view = asJson ? quietView({ columns: 80, write: () => undefined }) : viewOf(process.stdout)
    let last: TurnEvent | undefined
    yield* agent
      .turn({
        organization,
        who: yield* currentPrincipal,
        session: Option.getOrUndefined(input.session),
        say: { text: input.question.join(" ") }
      })
      .pipe(
        Stream.runForEach((event) =>
          Effect.sync(() => {
            last = event
            if (event._tag !== "error") view.show(event)
            else view.show({ _tag: "retract" })
          })
        )
      )
    if (last?._tag === "error") return yield* turnError(last)
    if (last?._tag !== "done" || !asJson) return
    const { reference, references, session, text, usage } = last
    yield* json({ answer: text, references, choices: view.choices(), session, usage, reference })
  })
).pipe(
  Command.withDescription("Ask one question in plain words"),
  Command.withExamples([
    { command: 'max ask "who is Ada Lovelace, and what is her phone number?"', description: "An answer" }
  ])
)
