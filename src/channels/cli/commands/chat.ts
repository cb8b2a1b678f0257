/** `max chat`: a conversation on the terminal, or line by line through a pipe. */
import { Console, Effect, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { createInterface, type Interface } from "node:readline"
import { Writable } from "node:stream"
import { changingOf } from "../../../agents/changing.ts"
import { MaxAgent, type TurnInput } from "../../../agents/MaxAgent.ts"
import { SENTENCES } from "../../../agents/sentences.ts"
import type { Choice } from "../../../wire/TurnEvent.ts"
import type { Organization } from "../../../domain/EntityType.ts"
import { CurrentPrincipal, type Principal } from "../../../domain/Principal.ts"
import { Sessions } from "../../../services/conversations/Sessions.ts"
import { currentOrganization, currentPrincipal } from "../context.ts"
import { type Ask, decide, isInteractive, openIn, TERMINAL } from "../deciding.ts"
import { bold, dim } from "../output.ts"
import { viewOf } from "../turnView.ts"

const PROMPT = bold("› ")

export const chat = Command.make(
  "chat",
  {
    continue: Flag.Boolean("continue").pipe(
      Flag.withAlias("c"),
      Flag.withDescription("Continue your last conversation"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* (input) {
    const organization = yield* currentOrganization
    const principal = yield* currentPrincipal
    const agent = yield* MaxAgent
    const previous = input.continue ? yield* lastConversation(organization, principal) : undefined
    const terminal = yield* openTerminal(previous?.asked ?? [])
    if (process.stdin.isTTY) yield* greet(organization, yield* agent.providerFor(organization), previous !== undefined)
    yield* converse(terminal, { organization, who: principal }, previous?.id)
  }, Effect.scoped)
).pipe(Command.withDescription("Talk with Max"))

const greet = (organization: Organization, provider: string, continued: boolean) =>
  Console.log(
    [
      `I'm Max, for ${organization.name}. ${continued ? "Where were we?" : "Ask me about people, companies or meetings."}`,
      ...(provider === "basic"
        ? [dim("Basic mode: no model, no network. I understand simple questions in English.")]
        : []),
      dim("Ctrl-C stops an answer, Ctrl-D ends.")
    ].join("\n")
  )

/** The person's latest session, with its questions. */
const lastConversation = Effect.fnUntraced(function* (organization: Organization, principal: Principal) {
  const sessions = yield* Sessions
  const own = (yield* sessions.list(organization)).find(({ anchorId }) => anchorId === principal.anchorEntityId)
  if (own === undefined) return undefined
  const { turns } = yield* sessions.show(organization, own.id)
  return { id: own.id, asked: turns.map(({ asked }) => asked) }
})

interface Terminal {
  /** The next line of input; undefined at its end. */
  readonly nextLine: Effect.Effect<string | undefined>
  /** The line that answers a question; undefined at the end of input. */
  readonly ask: Ask
  /** Runs an answer without echoing input; true if Ctrl-C cancelled it. */
  readonly whileAnswering: <A, E, R>(answer: Effect.Effect<A, E, R>) => Effect.Effect<boolean, E, R>
}

const openTerminal = (history: ReadonlyArray<string>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => makeTerminal(history)),
      ({ lines }) => Effect.sync(() => lines.close())
    ),
    ({ terminal }) => terminal
  )

const makeTerminal = (history: ReadonlyArray<string>): { readonly lines: Interface; readonly terminal: Terminal } => {
  const interactive = process.stdin.isTTY && process.stdout.isTTY
  let muted = false
  const output = new Writable({
    write: (chunk: Buffer, _, done) => {
      if (!muted) process.stdout.write(chunk)
      done()
    }
  })
  const lines = createInterface({
    input: process.stdin,
    output: interactive ? Object.assign(output, { columns: process.stdout.columns, isTTY: true }) : output,
    terminal: interactive,
    history: history.toReversed(),
    prompt: PROMPT
  })
  const waiting: Array<string> = []
  let closed = false
  let onLine: (() => void) | undefined
  let onCancel: (() => void) | undefined
  lines.on("line", (line) => {
    if (/^\/?(quit|exit)$/i.test(line.trim())) return lines.close()
    waiting.push(line)
    onLine?.()
  })
  lines.on("close", () => {
    closed = true
    onLine?.()
  })
  lines.on("SIGINT", () => {
    if (onCancel !== undefined) return onCancel()
    if (lines.line === "") process.stdout.write(dim("\nCtrl-D ends.\n"))
    else {
      process.stdout.write("\n")
      lines.write(null, { ctrl: true, name: "e" })
      lines.write(null, { ctrl: true, name: "u" })
    }
    lines.prompt()
  })
  const takeLine = (prompt: string) =>
    Effect.callback<string | undefined>((resume) => {
      const take = () => {
        const line = waiting.shift()
        if (line === undefined && !closed) return
        onLine = undefined
        if (line === undefined && interactive) process.stdout.write("\n")
        resume(Effect.succeed(line))
      }
      onLine = take
      lines.setPrompt(prompt)
      if (interactive && waiting.length === 0 && !closed) lines.prompt()
      take()
    })
  const terminal: Terminal = {
    nextLine: Effect.suspend(() => takeLine(PROMPT)),
    // A line that was typed before the question is no answer to it.
    ask: (question) =>
      Effect.suspend(() => {
        waiting.length = 0
        return takeLine(question)
      }),
    whileAnswering: (answer) =>
      Effect.raceFirst(
        Effect.as(answer, false),
        Effect.callback<boolean>((resume) => {
          onCancel = () => resume(Effect.succeed(true))
        })
      ).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            onCancel = undefined
            muted = false
          })
        ),
        (running) =>
          Effect.suspend(() => {
            muted = interactive
            return running
          })
      )
  }
  return { lines, terminal }
}

const converse = Effect.fnUntraced(function* (
  terminal: Terminal,
  who: Pick<TurnInput, "organization" | "who">,
  resumed: string | undefined
) {
  const agent = yield* MaxAgent
  let session = resumed
  let choices: ReadonlyArray<Choice> = []
  /** Whether the conversation may have drafts that haven't been shown: a resumed one, or one whose answer drafted. */
  let hasDrafts = resumed !== undefined
  let saysThatItWaits = false
  /** Drafts that this terminal has asked about. */
  const offered = new Set<string>()
  while (true) {
    const line = yield* terminal.nextLine
    if (line === undefined) return
    if (line.trim() === "") continue
    const view = viewOf(process.stdout)
    const chosen = /^\d{1,2}$/.test(line.trim()) ? choices[Number(line.trim()) - 1] : undefined
    const turn = agent.turn({
      ...who,
      session,
      say: chosen === undefined ? { text: line } : { choice: chosen.handle },
      changes: changingOf(TERMINAL)
    })
    const cancelled = yield* terminal.whileAnswering(
      Stream.runForEach(turn, (event) =>
        Effect.sync(() => {
          if (event._tag === "done") {
            session = event.session
            hasDrafts ||= (event.drafts ?? []).length > 0
            saysThatItWaits = event.text.includes(SENTENCES.waits)
          }
          view.show(event)
        })
      )
    )
    if (cancelled) view.cancelled()
    else {
      choices = view.choices()
      if (session !== undefined && hasDrafts)
        yield* Effect.provideService(
          decideDrafts(terminal, session, offered, saysThatItWaits),
          CurrentPrincipal,
          who.who
        )
      hasDrafts = false
    }
  }
})

/** Shows the drafts of the conversation that haven't been shown, and asks for the decision at a terminal. */
const decideDrafts = Effect.fnUntraced(
  function* (terminal: Terminal, session: string, offered: Set<string>, afterAnswer: boolean) {
    const drafts = (yield* openIn(session)).filter(({ changeId }) => !offered.has(changeId))
    for (const draft of drafts) {
      offered.add(draft.changeId)
      yield* decide(draft, isInteractive() ? terminal.ask : undefined, afterAnswer)
    }
  },
  // A draft that can't be decided any more is said, and the conversation goes on.
  Effect.catch(({ message }) => Console.log(message))
)
