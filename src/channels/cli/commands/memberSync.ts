/** Synchronizes the members with a list: a file, or a column of people. */
import { Effect, Option, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { OperatorError } from "../../../domain/errors.ts"
import { quoted } from "../../../domain/text.ts"
import { openImportFile } from "../../../services/import/readers/ImportFile.ts"
import type { Cell } from "../../../services/import/readers/FileRecord.ts"
import { membersByColumn } from "../../../services/members/memberColumn.ts"
import type { Synced } from "../../../services/members/memberList.ts"
import { Memberships } from "../../../services/members/Memberships.ts"
import { currentOrganization, UsageError } from "../context.ts"
import { optional, toggle } from "../flags.ts"
import { result } from "../output.ts"

/** Reads the members of a file with the headers identifier and role. */
const readMembers = Effect.fnUntraced(function* (path: string) {
  const file = yield* openImportFile(path)
  const [identifier, role] = ["identifier", "role"].map((header) =>
    file.headers.findIndex((candidate) => candidate.trim().toLowerCase() === header)
  )
  if (identifier === undefined || identifier < 0 || role === undefined || role < 0) {
    return yield* OperatorError.of(`${quoted(path)} needs the headers identifier and role.`)
  }
  const records = yield* Stream.runCollect(Stream.flattenIterable(file.batches))
  const invalid = records.find((record) => record.problem !== undefined)
  if (invalid !== undefined)
    return yield* OperatorError.of(`Nothing was changed: ${file.unit} ${invalid.line}: ${invalid.problem}`)
  const text = (cell: Cell) => (typeof cell === "string" ? cell.trim() : Array.isArray(cell) ? cell.join(";") : "")
  return records.map(({ cells, line }) => ({
    place: `${file.unit} ${line}`,
    identifier: text(cells[identifier]),
    roles: text(cells[role])
      .split(";")
      .map((one) => one.trim())
      .filter((one) => one !== "")
  }))
}, Effect.scoped)

export const sync = Command.make(
  "sync",
  {
    file: Argument.String("file").pipe(
      Argument.withDescription("CSV, JSONL or XLSX with the columns identifier and role (several roles: a;b)"),
      Argument.optional
    ),
    column: optional("column", "Instead of a file: a column of people that holds their roles, such as people.role"),
    dryRun: toggle("dry-run", "Show the changes without making them")
  },
  Effect.fnUntraced(function* (input) {
    if (Option.isSome(input.file) === Option.isSome(input.column))
      return yield* UsageError.of("Pass either FILE or --column, such as --column people.role.")
    const memberships = yield* Memberships
    const organization = yield* currentOrganization
    const rows = yield* Option.match(input.column, {
      onNone: () => readMembers(Option.getOrThrow(input.file)),
      onSome: (column) => membersByColumn(organization, column)
    })
    const outcome = yield* memberships.sync(organization, rows, { dryRun: input.dryRun })
    yield* result({ dryRun: input.dryRun, ...outcome }, lines(outcome, input.dryRun))
  })
).pipe(
  Command.withDescription("Make the members match a list; members outside it are suspended"),
  Command.withExamples([
    {
      command: "max member sync members.csv --dry-run",
      description: "Show which members would be added, changed and suspended"
    }
  ])
)

const lines = ({ added, changed, suspended, unchanged, verified }: Synced, dryRun: boolean): ReadonlyArray<string> => [
  ...added.map(({ roles, who }) => `+ ${quoted(who).slice(1, -1)}: ${roles.join(", ")}`),
  ...changed.map(
    ({ before, roles, who }) =>
      `~ ${quoted(who).slice(1, -1)}: ${before.roles.join(", ")}${before.suspended ? " (suspended)" : ""} → ${roles.join(", ")}`
  ),
  ...suspended.map(({ roles, who }) => `- ${quoted(who).slice(1, -1)}: ${roles.join(", ")} → suspended`),
  ...verified.map((who) => `${quoted(who).slice(1, -1)} becomes a verified identifier of a member`),
  `${added.length} added, ${changed.length} changed, ${suspended.length} suspended, ${unchanged} unchanged${dryRun ? " (a dry run: nothing was changed)" : ""}.`
]
