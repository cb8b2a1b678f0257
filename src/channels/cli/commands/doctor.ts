/** What is wrong with an installation, and what mends it. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { OperatorError } from "../../../domain/errors.ts"
import { printable } from "../../../domain/text.ts"
import { Env } from "../../../env.ts"
import { openExistingSource } from "../../../layers.ts"
import { examine, type Finding } from "../../../services/operations/Doctor.ts"
import { wantsJson } from "../context.ts"
import { bold, result } from "../output.ts"

export const doctor = Command.make("doctor", {}, () =>
  Effect.gen(function* () {
    const env = yield* Env
    const findings = yield* examine({
      location: env,
      source: openExistingSource(env),
      searchConnections: env.searchConnections
    })
    const failed = findings.filter(({ status }) => status === "fail").length
    yield* result(yield* wantsJson, { ok: failed === 0, findings }, findings.flatMap(lines))
    if (failed > 0)
      return yield* new OperatorError({ message: failed === 1 ? "One thing fails." : `${failed} things fail.` })
  })
).pipe(
  Command.withDescription(
    "Say what is wrong and which command mends it, and change nothing; ends with 1 when something fails, else with 0"
  )
)

const WIDTH = "organizations".length

const lines = ({ check, mend, message, status }: Finding): ReadonlyArray<string> => [
  `${status === "ok" ? "ok  " : bold(status)}  ${check.padEnd(WIDTH)}  ${printable(message)}`,
  ...(mend ?? []).map((line) => `      ${" ".repeat(WIDTH)}  → ${printable(line)}`)
]
