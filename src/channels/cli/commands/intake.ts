/** `max intake`: an e-mail in a file, answered once by the integration's member. */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { readFile, stat } from "node:fs/promises"
import { turnError } from "../../../agents/turnError.ts"
import type { ChangeState } from "../../../domain/Change.ts"
import { OperatorError } from "../../../domain/errors.ts"
import { CurrentPrincipal } from "../../../domain/Principal.ts"
import { quoted } from "../../../domain/text.ts"
import { MAX_MAIL, readMail } from "../../intake/readMail.ts"
import { takingIn } from "../../intake/takeIn.ts"
import { shown } from "../changeView.ts"
import { currentOrganization, currentPrincipal } from "../context.ts"
import { result } from "../output.ts"

const fromStandardInput = Effect.promise(async () => {
  const chunks: Array<Buffer> = []
  let length = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    length += chunk.length
    chunks.push(chunk)
    // The rest isn't read: the e-mail is refused.
    if (length > MAX_MAIL) break
  }
  return Buffer.concat(chunks)
})

const fromFile = (path: string) =>
  Effect.tryPromise({
    try: async () => {
      const stats = await stat(path)
      if (!stats.isFile()) throw new Error("not a file")
      return stats.size > MAX_MAIL ? Buffer.alloc(MAX_MAIL + 1) : await readFile(path)
    },
    catch: () => OperatorError.of(`${quoted(path)} can't be read.`)
  })

const stateOf = (state: ChangeState) => (state === "waiting" ? "waits for another member's approval" : state)
const counted = (rows: number) => `${rows} ${rows === 1 ? "row" : "rows"}`

export const intake = Command.make(
  "intake",
  {
    file: Argument.String("file").pipe(Argument.withDescription("An e-mail (RFC 5322), or - for standard input"))
  },
  Effect.fnUntraced(function* ({ file }) {
    const organization = yield* currentOrganization
    const who = yield* currentPrincipal
    const message = yield* readMail(file === "-" ? yield* fromStandardInput : yield* fromFile(file))
    const takeIn = yield* takingIn
    const outcome = yield* Effect.provideService(takeIn(organization, message), CurrentPrincipal, who)
    if ("_tag" in outcome) return yield* turnError(outcome)
    const lines = [
      ...(outcome.known ? [`${shown(message.sourceId)} was answered before.`] : []),
      ...(outcome.reply === undefined ? [] : [outcome.reply]),
      ...outcome.changes.map(({ changeId, rows, state }) => `Change ${changeId}: ${stateOf(state)}, ${counted(rows)}`)
    ]
    return yield* result(outcome, lines)
  })
).pipe(
  Command.withDescription("Hand in an e-mail: it is answered once, and its changes wait for approval"),
  Command.withExamples([
    { command: "max intake ticket.eml --as desk@example.com", description: "Proposed by the help desk's member" }
  ])
)
