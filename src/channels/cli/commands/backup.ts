/** Backup, restore, and moving to another database. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { SqlError } from "effect/sql"
import { connectOwner } from "../../../database/Database.ts"
import { faultOf } from "../../../database/fault.ts"
import { OperatorError } from "../../../domain/errors.ts"
import { printable } from "../../../domain/text.ts"
import { Env, readLocation } from "../../../env.ts"
import { configuredOwner, openSource } from "../../../layers.ts"
import {
  backup as writeBackup,
  move as moveEverything,
  type Restored,
  restore as readBackup
} from "../../../services/operations/Backup.ts"
import { recordBackup } from "../../../services/operations/backupRecord.ts"
import { argument, required, toggle } from "../flags.ts"
import { note, result } from "../output.ts"

const count = (number: number, noun: string): string => `${number} ${number === 1 ? noun : `${noun}s`}`

export const force = toggle("force", "Overwrite an existing file")

const configuredDatabase = Effect.gen(function* () {
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

export const move = Command.make(
  "move",
  {
    to: required(
      "to",
      "The other database: a Postgres server's URL, env:NAME or file:/path, or a folder for the embedded Postgres"
    )
  },
  Effect.fnUntraced(function* (input) {
    const env = yield* Env
    const place = yield* readLocation(input.to).pipe(
      Effect.mapError(({ message }) => OperatorError.of(`--to: ${message}`))
    )
    const from = yield* configuredDatabase
    const target = yield* openSource({ ...env, ...place }).pipe(
      Effect.flatMap(connectOwner),
      Effect.tap(({ owner }) => owner`SELECT 1`),
      Effect.mapError((error) =>
        OperatorError.of(
          SqlError.isSqlError(error)
            ? `--to: the other database can't be used, ${faultOf(error).reason}. Nothing was moved.`
            : `--to: ${error.message}`
        )
      )
    )
    if (target.notice !== undefined) yield* note(target.notice)
    const done = yield* moveEverything(from.owner, target)
    yield* result(done, restoredLines(done, "moved"))
    yield* afterwards(done)
    yield* note(
      place.databaseUrl === undefined
        ? `The old database is unchanged. To use the new one: unset DATABASE_URL and set MAX_DATA_DIR=${printable(place.dataDir)}`
        : "The old database is unchanged. To use the new one, set DATABASE_URL to the value of --to."
    )
  }, Effect.scoped)
).pipe(
  Command.withDescription("Copy all data into another, empty database, and verify every row"),
  Command.withExamples([
    { command: "max move --to env:NEW_DATABASE_URL", description: "From the embedded Postgres to a server" },
    { command: "max move --to .max", description: "And back again" }
  ])
)

const restoredLines = (done: Restored, what: string): ReadonlyArray<string> => [
  `${count(done.rows, "row")} of ${count(done.tables, "table")}, in ${count(done.organizations, "organization")}, ${what} as of ${done.takenAt}; counts and checksums agree.`
]

const afterwards = Effect.fnUntraced(function* ({ elsewhere, withoutRoles }: Restored) {
  if (elsewhere.length > 0)
    yield* note(
      `Rows of mapped tables are not included; lookups need these tables in the new database: ${elsewhere.map(printable).join(", ")}.`
    )
  if (withoutRoles !== undefined) yield* note(withoutRoles)
})
