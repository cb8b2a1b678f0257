/** `max ask`: one question and its answer. */
import { Effect, Option, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { changingOf } from "../../../agents/changing.ts"
import { MaxAgent } from "../../../agents/MaxAgent.ts"
import { SENTENCES } from "../../../agents/sentences.ts"
import { turnError } from "../../../agents/turnError.ts"
import type { TurnEvent } from "../../../wire/TurnEvent.ts"
import { CurrentPrincipal } from "../../../domain/Principal.ts"
import { currentOrganization, currentPrincipal, wantsJson } from "../context.ts"
import { optional } from "../flags.ts"
import { askTerminal, decide, isInteractive, openIn, TERMINAL } from "../deciding.ts"
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
    const who = yield* currentPrincipal
    let last: TurnEvent | undefined
    yield* agent
      .turn({
        organization,
        who,
        session: Option.getOrUndefined(input.session),
        say: { text: input.question.join(" ") },
        changes: changingOf(TERMINAL)
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
    if (last?._tag !== "done") return
    const { figures, reference, references, session, text, usage } = last
    const drafts = yield* Effect.provideService(openIn(session), CurrentPrincipal, who)
    if (asJson) {
      const answer = {
        answer: text,
        references,
        choices: view.choices(),
        session,
        usage,
        reference,
        ...(figures === undefined ? {} : { figures })
      }
      return yield* json(drafts.length === 0 ? answer : { ...answer, drafts })
    }
    const ask = isInteractive() ? askTerminal : undefined
    for (const draft of drafts)
      yield* Effect.provideService(decide(draft, ask, text.includes(SENTENCES.waits)), CurrentPrincipal, who)
  })
).pipe(
  Command.withDescription("Ask one question in plain words"),
  Command.withExamples([
    { command: 'max ask "who is Ada Lovelace, and what is her phone number?"', description: "An answer" }
  ])
)
