/** Synchronizes the members with a list: a file, or a column of people. */
import { Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { OperatorError } from "../../../domain/errors.ts"
import { quoted } from "../../../domain/text.ts"
import { readPeopleList } from "../../../services/import/peopleList.ts"
import { membersByColumn } from "../../../services/members/memberColumn.ts"
import type { Synced } from "../../../services/members/memberList.ts"
import { Memberships } from "../../../services/members/Memberships.ts"
import { currentOrganization, UsageError } from "../context.ts"
import { optional, toggle } from "../flags.ts"
import { result } from "../output.ts"

/** Reads the members of a file with their roles. */
const readMembers = Effect.fnUntraced(function* (path: string) {
  const { hasRoles, people, problems } = yield* readPeopleList(path)
  if (!hasRoles) return yield* OperatorError.of(`${quoted(path)} needs the headers identifier and role.`)
  if (problems.length > 0) return yield* OperatorError.of("Nothing was changed.", problems.slice(0, 20))
  return people.map(({ identifier, place, roles = [] }) => ({ place, identifier, roles }))
})

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
