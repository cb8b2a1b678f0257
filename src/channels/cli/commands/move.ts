/** Moving to another database: everything into an empty one, or one organization while it is in use. */
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { SqlError } from "effect/sql"
import { connectOwner } from "../../../database/Database.ts"
import { type Location, type Source, sourceOf } from "../../../database/DatabaseSource.ts"
import { faultOf } from "../../../database/fault.ts"
import { OperatorError } from "../../../domain/errors.ts"
import { printable } from "../../../domain/text.ts"
import { Env, readLocation } from "../../../env.ts"
import { openSource } from "../../../layers.ts"
import { move as moveEverything } from "../../../services/operations/Backup.ts"
import {
  cleanAfterMove,
  connectionString,
  type Directory,
  embeddedPlace,
  type Moved,
  moveOrganization,
  placeOf,
  planMove,
  type Side,
  undoMove
} from "../../../services/operations/Move.ts"
import { max, UsageError } from "../context.ts"
import { optional, toggle } from "../flags.ts"
import { note, result } from "../output.ts"
import { afterwards, configuredDatabase, count, restoredLines } from "./backup.ts"

/** Reads the other database's address and connects to it. */
const connectTarget = Effect.fnUntraced(function* (to: string) {
  const env = yield* Env
  const place = yield* readLocation(to).pipe(Effect.mapError(({ message }) => OperatorError.of(`--to: ${message}`)))
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
  return { place, target }
})

/** One side of a move; an embedded server is named by its folder. */
const sideOf = (
  { connect, owner }: Source & Pick<Side, "owner">,
  { databaseUrl, dataDir }: Pick<Location, "databaseUrl" | "dataDir">
) => ({
  owner,
  place: databaseUrl === undefined ? embeddedPlace(dataDir) : placeOf(connect)
})

const everything = Effect.fnUntraced(function* (to: string) {
  const from = yield* configuredDatabase
  const { place, target } = yield* connectTarget(to)
  const done = yield* moveEverything(from.owner, target)
  yield* result(done, restoredLines(done, "moved"))
  yield* afterwards(done)
  yield* note(
    place.databaseUrl === undefined
      ? `The old database is unchanged. To use the new one: unset DATABASE_URL and set MAX_DATA_DIR=${printable(place.dataDir)}`
      : "The old database is unchanged. To use the new one, set DATABASE_URL to the value of --to."
  )
})

const FLAGS = {
  to: optional(
    "to",
    "The other database: a Postgres server's URL, env:NAME or file:/path, or a folder for the embedded Postgres"
  ),
  from: optional("from", "With --org: this database's URL as the other server reaches it, env:NAME or file:/path"),
  map: optional("map", "With --org: a map file of haproxy, whose line for the organization gets --cell"),
  cell: optional("cell", "With --map: the backend of the other database's processes"),
  haproxy: optional("haproxy", "With --map: the socket of the running haproxy, which gets the line, too"),
  withoutMapped: toggle("without-mapped", "With --org: move although mapped tables stay behind"),
  print: toggle("print", "With --org: check everything and print the statements, without changing anything"),
  undo: toggle("undo", "With --org: undo a move that isn't in force at the other database"),
  clean: toggle("clean", "With --org: delete the rows of an organization that moved away")
}

type Input = Command.Command.Config.Infer<typeof FLAGS>

const directoryOf = Effect.fnUntraced(function* ({ cell, haproxy, map }: Input) {
  const [file, name] = [Option.getOrUndefined(map), Option.getOrUndefined(cell)]
  if (file === undefined && name === undefined && Option.isNone(haproxy)) return undefined
  if (file === undefined || name === undefined)
    return yield* UsageError.of(
      "A map file needs the cell, and the other way round: --map FILE --cell NAME [--haproxy SOCKET]"
    )
  return { file, cell: name, socket: Option.getOrUndefined(haproxy) } satisfies Directory
})

const oneOrganization = Effect.fnUntraced(function* (slug: string, input: Input) {
  const directory = yield* directoryOf(input)
  const from = yield* configuredDatabase
  const source = sideOf(from, yield* Env)
  if (input.clean) {
    const place = yield* cleanAfterMove({ slug, source })
    return yield* result({ organization: slug, movedTo: place }, [
      `The rows of ${slug}, which moved to ${printable(place)}, were deleted here.`
    ])
  }
  const to = Option.getOrUndefined(input.to)
  if (to === undefined) return yield* UsageError.of("Name the other database: --to URL")
  const { place, target } = yield* connectTarget(to)
  const sides = { slug, source, target: sideOf(target, place), say: note }
  if (input.undo) {
    yield* undoMove(sides)
    return yield* result({ organization: slug, undone: true }, [
      `The move was undone: ${slug} is in force here, and nothing of it is at ${printable(sides.target.place)}.`
    ])
  }
  const reached = Option.isNone(input.from) ? from : yield* reachedFrom(input.from.value)
  const request = {
    ...sides,
    connection: (user: string, name: string) => connectionString(reached.connect, user, name),
    hasPassword: reached.password !== undefined,
    directory,
    withoutMapped: input.withoutMapped
  }
  if (input.print) {
    const plan = yield* planMove(request)
    return yield* result(plan, plan)
  }
  const moved = yield* moveOrganization(request)
  yield* result(moved, movedLines(moved))
  if (directory === undefined)
    yield* note(
      `Route it now; until then its requests reach the old database and are unavailable. The line of haproxy's map: ${moved.key} CELL`
    )
  yield* note(`Its rows are still in the old database: max move --org ${slug} --clean deletes them.`)
}, Effect.scoped)

const reachedFrom = Effect.fnUntraced(function* (from: string) {
  const { databaseUrl } = yield* readLocation(from).pipe(
    Effect.mapError(({ message }) => OperatorError.of(`--from: ${message}`))
  )
  if (databaseUrl === undefined) return yield* OperatorError.of("--from: expected a Postgres server's URL.")
  return sourceOf({ url: databaseUrl })
})

const movedLines = ({ cell, figures, key, organization, to }: Moved): ReadonlyArray<string> => {
  const routed = cell === undefined ? [] : [`Routed: ${key} ${cell}`]
  const done = `${organization} is in force at ${printable(to)}.`
  if (figures === undefined) return [done, ...routed]
  const { catchUp, checksums, fence, switch: switching, whole } = figures.window
  return [
    `${done} ${count(figures.rows, "row")} of ${count(figures.tables, "table")}; counts and checksums agree.`,
    `Copied in ${figures.copySeconds} s; unavailable for ${whole} ms (fence ${fence}, catching up ${catchUp}, checksums ${checksums}, switch ${switching}).`,
    ...routed
  ]
}

export const move = Command.make(
  "move",
  FLAGS,
  Effect.fnUntraced(function* (input) {
    const { org } = yield* max
    if (Option.isSome(org)) return yield* oneOrganization(org.value, input)
    const { cell, clean, from, haproxy, map, print, to, undo, withoutMapped } = input
    if (clean || print || undo || withoutMapped || [cell, from, haproxy, map].some(Option.isSome))
      return yield* UsageError.of(
        "Name the organization that moves: --org SLUG. Without it, everything moves into an empty database."
      )
    if (Option.isNone(to)) return yield* UsageError.of("Name the other database: --to URL")
    yield* everything(to.value)
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Copy all data into another, empty database, or move one organization (--org) to another while it is in use"
  ),
  Command.withExamples([
    { command: "max move --to env:NEW_DATABASE_URL", description: "From the embedded Postgres to a server" },
    { command: "max move --to .max", description: "And back again" },
    {
      command: "max move --org atlas --to env:CELL2 --map /etc/haproxy/cells.map --cell cell2",
      description: "One organization, while it is in use"
    }
  ])
)
