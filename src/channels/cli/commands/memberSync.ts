/** Members as a list says: a file, or a column of people. */
import { Effect, Option, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { OperatorError } from "../../../domain/errors.ts"
import { quoted } from "../../../domain/text.ts"
import { openImportFile } from "../../../services/import/readers/ImportFile.ts"
import type { Cell } from "../../../services/import/readers/FileRecord.ts"
import { membersByColumn } from "../../../services/members/memberColumn.ts"
import type { Synced } from "../../../services/members/memberList.ts"
import { Memberships } from "../../../services/members/Memberships.ts"
import { currentOrganization, UsageError, wantsJson } from "../context.ts"
import { result } from "../output.ts"

/** The rows of a file with the headers identifier and role. */
const readMembers = Effect.fnUntraced(function* (path: string) {
  const file = yield* openImportFile(path)
  const [identifier, role] = ["identifier", "role"].map((header) =>
    file.headers.findIndex((known) => known.trim().toLowerCase() === header)
  )
  if (identifier === undefined || identifier < 0 || role === undefined || role < 0) {
    return yield* new OperatorError({ message: `${quoted(path)} needs the headers identifier and role.` })
  }
  const records = yield* Stream.runCollect(Stream.flattenIterable(file.batches))
  const bad = records.find((record) => record.problem !== undefined)
  if (bad !== undefined)
    return yield* new OperatorError({ message: `Nothing was changed: ${file.unit} ${bad.line}: ${bad.problem}` })
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
      Argument.withDescription("CSV, JSONL or XLSX with the columns identifier and role (several: a;b)"),
      Argument.optional
    ),
    column: Flag.String("column").pipe(
      Flag.withDescription("Instead of a file: a column of people that holds their roles, such as people.role"),
      Flag.optional
    ),
    dryRun: Flag.Boolean("dry-run").pipe(
      Flag.withDescription("Say what would change, and change nothing"),
      Flag.withDefault(false)
    )
  },
  (input) =>
    Effect.gen(function* () {
      if (Option.isSome(input.file) === Option.isSome(input.column))
        return yield* new UsageError({ message: "Say where the members stand: FILE, or --column people.role" })
      const memberships = yield* Memberships
      const organization = yield* currentOrganization
      const rows = yield* Option.match(input.column, {
        onNone: () => readMembers(Option.getOrThrow(input.file)),
        onSome: (column) => membersByColumn(organization, column)
      })
      const outcome = yield* memberships.sync(organization, rows, { dryRun: input.dryRun })
      yield* result(yield* wantsJson, { dryRun: input.dryRun, ...outcome }, lines(outcome, input.dryRun))
    })
).pipe(
  Command.withDescription("Make the members those of a list: who isn't in it is suspended"),
  Command.withExamples([
    { command: "max member sync members.csv --dry-run", description: "Who would be added, changed and suspended" }
  ])
)

const lines = ({ added, changed, suspended, unchanged, verified }: Synced, dryRun: boolean): ReadonlyArray<string> => [
  ...added.map(({ roles, who }) => `+ ${quoted(who).slice(1, -1)}: ${roles.join(", ")}`),
  ...changed.map(
    ({ before, roles, who }) =>
      `~ ${quoted(who).slice(1, -1)}: ${before.roles.join(", ")}${before.suspended ? " (suspended)" : ""} → ${roles.join(", ")}`
  ),
  ...suspended.map(({ roles, who }) => `- ${quoted(who).slice(1, -1)}: ${roles.join(", ")} → suspended`),
  ...verified.map((who) => `${quoted(who).slice(1, -1)} is a verified identifier of a member from now on`),
  `${added.length} added, ${changed.length} changed, ${suspended.length} suspended, ${unchanged} as they were${dryRun ? " (a dry run: nothing was changed)" : ""}.`
]
