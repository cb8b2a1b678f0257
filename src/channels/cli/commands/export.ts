/** Exports an organization's rows for operators. */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { printable } from "../../../domain/text.ts"
import { Exporter } from "../../../services/operations/Exporter.ts"
import { EXPORT_FORMATS } from "../../../services/operations/export/cells.ts"
import { writeNewFile } from "../../../services/operations/newFile.ts"
import { currentOrganization, UsageError, wantsJson } from "../context.ts"
import { argument, optional } from "../flags.ts"
import { note, result, toStandardOutput } from "../output.ts"
import { force } from "./backup.ts"

export const exportType = Command.make(
  "export",
  {
    type: argument("type", "people, companies, meetings, or a type of yours"),
    format: Flag.Literals("format", EXPORT_FORMATS).pipe(
      Flag.withDescription("csv for spreadsheets, jsonl for programs and for importing again"),
      Flag.withDefault("csv" as const)
    ),
    out: optional("out", "The file to create; standard output by default"),
    force
  },
  Effect.fnUntraced(function* (input) {
    const out = Option.getOrUndefined(input.out)
    if ((yield* wantsJson) && out === undefined)
      return yield* UsageError.of("--json prints the result, so the rows need a file: --out FILE")
    const exporter = yield* Exporter
    const organization = yield* currentOrganization
    if (out === undefined) {
      const rows = yield* exporter.export(organization, input, toStandardOutput)
      return yield* note(
        `${rows} ${rows === 1 ? "row" : "rows"}, regardless of the policy. This was recorded: max audit list`
      )
    }
    const rows = yield* writeNewFile(out, { force: input.force }, (write) =>
      exporter.export(organization, input, write)
    )
    yield* result({ file: out, type: input.type, format: input.format, rows }, [
      `${rows} ${rows === 1 ? "row" : "rows"} of ${input.type} were written to ${printable(out)}, regardless of the policy.`
    ])
    yield* note("This was recorded: max audit list")
  })
).pipe(
  Command.withDescription("Export all rows of a type, regardless of the policy; recorded in the audit log"),
  Command.withExamples([
    {
      command: "max export people --out people.csv",
      description: "For a spreadsheet, with no cell evaluated as a formula"
    },
    { command: "max export companies --format jsonl > companies.jsonl", description: "Lossless" }
  ])
)
