/** Backup and restore. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { faultOf } from "../../../database/fault.ts"
import { OperatorError } from "../../../domain/errors.ts"
import { printable } from "../../../domain/text.ts"
import { configuredOwner } from "../../../layers.ts"
import { backup as writeBackup, type Restored, restore as readBackup } from "../../../services/operations/Backup.ts"
import { recordBackup } from "../../../services/operations/backupRecord.ts"
import { argument, toggle } from "../flags.ts"
import { note, result } from "../output.ts"

export const count = (number: number, noun: string): string => `${number} ${number === 1 ? noun : `${noun}s`}`

export const force = toggle("force", "Overwrite an existing file")

export const configuredDatabase = Effect.gen(function* () {
  const database = yield* configuredOwner
  yield* Effect.mapError(database.owner`SELECT 1`, (error) =>
    OperatorError.of(`The database can't be used: ${faultOf(error).reason}. max doctor shows the remedy.`)
  )
  if (database.notice !== undefined) yield* note(database.notice)
  return database
})

export const backup = Command.make(
  "backup",
  { file: argument("file", "The file to create"), force },
  Effect.fnUntraced(function* (input) {
    const { owner } = yield* configuredDatabase
    const done = yield* writeBackup(owner, input.file, { force: input.force })
    yield* result({ file: input.file, ...done }, [
      `${count(done.rows, "row")} of ${count(done.tables, "table")} were written to ${printable(input.file)} (${done.bytes} bytes).`
    ])
    yield* recordBackup(owner, { rows: done.rows, bytes: done.bytes }).pipe(
      Effect.catch((error) => note(`The backup isn't in the audit log: ${faultOf(error).reason}.`))
    )
    yield* note("It contains all data of every organization: store it where only you can read it.")
  }, Effect.scoped)
).pipe(
  Command.withDescription("Write all of Max's data to one file, while it runs"),
  Command.withExamples([
    { command: "max backup max-2026-11-22.backup", description: "All organizations, policies, members and their data" }
  ])
)

export const restore = Command.make(
  "restore",
  { file: argument("file", "A file from max backup") },
  Effect.fnUntraced(function* (input) {
    const done = yield* readBackup(yield* configuredDatabase, input.file)
    yield* result(done, restoredLines(done, "restored"))
    yield* afterwards(done)
  }, Effect.scoped)
).pipe(Command.withDescription("Restore a backup into an empty database, atomically"))

export const restoredLines = (done: Restored, what: string): ReadonlyArray<string> => [
  `${count(done.rows, "row")} of ${count(done.tables, "table")}, in ${count(done.organizations, "organization")}, ${what} as of ${done.takenAt}; counts and checksums agree.`
]

export const afterwards = Effect.fnUntraced(function* ({ elsewhere, withoutRoles }: Restored) {
  if (elsewhere.length > 0)
    yield* note(
      `Rows of mapped tables are not included; lookups need these tables in the new database: ${elsewhere.map(printable).join(", ")}.`
    )
  if (withoutRoles !== undefined) yield* note(withoutRoles)
})
