/** Reports the problems of an installation and their remedies. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { OperatorError } from "../../../domain/errors.ts"
import { printable } from "../../../domain/text.ts"
import { Env } from "../../../env.ts"
import { installationOf } from "../../../layers.ts"
import { examine, type Finding } from "../../../services/operations/Doctor.ts"
import { bold, result } from "../output.ts"

export const doctor = Command.make(
  "doctor",
  {},
  Effect.fnUntraced(function* () {
    const env = yield* Env
    const findings = yield* examine(installationOf(env))
    const failed = findings.filter(({ status }) => status === "fail").length
    yield* result({ ok: failed === 0, findings }, findings.flatMap(lines))
    if (failed > 0) return yield* OperatorError.of(failed === 1 ? "One check failed." : `${failed} checks failed.`)
  })
).pipe(
  Command.withDescription(
    "Check the installation read-only and name the command that repairs each problem; exits with 1 if a check fails"
  )
)

const WIDTH = "organizations".length

const lines = ({ check, mend, message, status }: Finding): ReadonlyArray<string> => [
  `${status === "ok" ? "ok  " : bold(status)}  ${check.padEnd(WIDTH)}  ${printable(message)}`,
  ...(mend ?? []).map((line) => `      ${" ".repeat(WIDTH)}  → ${printable(line)}`)
]
