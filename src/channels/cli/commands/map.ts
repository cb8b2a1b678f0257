/** The operator's command for existing tables and views. */
import { Console, Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import { OperatorError } from "../../../domain/errors.ts"
import {
  type ColumnEntry,
  MAX_MAPPING_LENGTH,
  type MappingFile,
  readMappingFile
} from "../../../services/mapping/mappingFile.ts"
import type { Applied } from "../../../services/mapping/Applied.ts"
import { Mappings } from "../../../services/mapping/Mappings.ts"
import { currentOrganization, UsageError } from "../context.ts"
import { optional, toggle } from "../flags.ts"
import { note, result } from "../output.ts"
import { readTextFile } from "../readTextFile.ts"

const diff = Effect.gen(function* () {
  const mappings = yield* Mappings
  const changes = yield* mappings.diff(yield* currentOrganization)
  yield* result(
    { changes },
    changes.length === 0
      ? ["Nothing has changed since the tables were mapped."]
      : [...changes, "To update the mapping: max map > mapping.json, edit it, then max map --apply mapping.json"]
  )
})

const apply = Effect.fnUntraced(function* (path: string) {
  const mappings = yield* Mappings
  const file = yield* readMappingFile(yield* readTextFile(path, MAX_MAPPING_LENGTH))
  const applied = yield* mappings.apply(yield* currentOrganization, file)
  yield* result(applied, appliedLines(applied))
  if (applied.advice.length > 0) {
    yield* note("Searches in large tables need these indexes; creating them blocks no writes:")
    for (const line of applied.advice) yield* note(`  ${line}`)
  }
  if (applied.kept.length > 0)
    return yield* OperatorError.of(
      "The types above are mapped. Others stay as they were mapped before, because their tables have changed:",
      applied.kept
    )
})

const appliedLines = ({ admin, excess, grants, triggers, types }: Applied): ReadonlyArray<string> => {
  const roles = new Set(types.flatMap(({ hidden }) => hidden.map(({ role }) => role)))
  return [
    ...types.map(
      ({ columns, pluralName, slug, table }) => `${pluralName} (${slug}) are read from ${table}: ${columns.join(", ")}`
    ),
    ...types.flatMap(({ pluralName, written }) =>
      written.length === 0 ? [] : [`${pluralName} can be changed, where the policy allows it: ${written.join(", ")}`]
    ),
    ...(grants.length === 0 ? [] : ["Changes of your tables are written with these rights and no others:"]),
    ...grants.map((statement) => `  ${statement};`),
    ...(excess.length === 0
      ? []
      : [
          `The role of changes may do more, which no mapping asks for and this user can't revoke: ${excess.join("; ")}`
        ]),
    ...(triggers.length === 0
      ? []
      : [
          `These triggers run with those rights. One that writes to another table makes every change fail, unless its function is SECURITY DEFINER and sets its search_path: ${triggers.join("; ")}`
        ]),
    ...(admin ? ["The role admin sees all of these columns."] : []),
    ...[...roles].flatMap((role) => {
      const parts = types.flatMap(({ hidden, slug }) =>
        hidden
          .filter((each) => each.role === role)
          .flatMap(({ columns }) => columns.map((column) => `${slug}.${column}`))
      )
      return [
        `The role ${role} doesn't see yet: ${parts.slice(0, 12).join(", ")}${parts.length > 12 ? `, and ${parts.length - 12} more` : ""}`,
        `  To show one: max policy grant ${role} ${parts[0]!}`
      ]
    })
  ]
}

/** The text of a mapping file, with one line per column. */
const fileText = (file: MappingFile): string => {
  const types = file.types.map(({ columns, ...type }) => {
    const head = Object.entries(type).map(([name, value]) => `      ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
    const lines = Object.entries(columns).map(([slug, column]) => `        ${JSON.stringify(slug)}: ${spaced(column)}`)
    return `    {\n${[...head, `      "columns": {\n${lines.join(",\n")}\n      }`].join(",\n")}\n    }`
  })
  return `{\n  "version": 1,\n  "types": [\n${types.join(",\n")}\n  ]\n}`
}

const spaced = (column: ColumnEntry): string =>
  `{ ${Object.entries(column)
    .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value).replaceAll(`","`, `", "`)}`)
    .join(", ")} }`

const proposal = Effect.fnUntraced(function* (tables: ReadonlyArray<string>, exclusive: boolean) {
  const mappings = yield* Mappings
  const { file, notes } = yield* mappings.propose(yield* currentOrganization, tables, exclusive)
  if (file.types.length === 0) {
    return yield* OperatorError.of("There is no table that can be mapped.", notes)
  }
  yield* Console.log(fileText(file))
  for (const line of notes) yield* note(line)
  const open = file.types.filter((type) => type.exclusive !== true && type.organization === undefined)
  if (open.length > 0) {
    yield* note(
      `Which rows belong to the organization? Missing in: ${open.map(({ type }) => type).join(", ")}. Add either "organization": "COLUMN", or "exclusive": true when all rows are this organization's (max map --exclusive).`
    )
  }
})

const remove = Effect.fnUntraced(function* (type: string, confirmed: boolean) {
  const mappings = yield* Mappings
  const organization = yield* currentOrganization
  const removal = yield* confirmed ? mappings.remove(organization, type) : mappings.removal(organization, type)
  yield* result({ ...removal, removed: confirmed }, [
    `${type} ${confirmed ? "are" : "would"} no longer ${confirmed ? "" : "be "}read from ${removal.table}, which stays as it is.`,
    ...(removal.references.length === 0 ? [] : [`Columns that go with it: ${removal.references.join(", ")}`]),
    ...(removal.rules.length === 0
      ? []
      : [
          `Rules of the policy that name it, and then grant nothing by it: ${removal.rules.join(", ")}. Take them out before the policy is published again.`
        ]),
    ...(removal.members === 0
      ? []
      : [`${removal.members} members have their rows there: map another table as people first.`]),
    ...(confirmed ? [] : [`To remove it: max map remove ${type} --yes`])
  ])
})

type Failure = Effect.Error<ReturnType<typeof proposal>> | UsageError
type Needs = Effect.Services<ReturnType<typeof proposal>>

export const map = Command.make(
  "map",
  {
    tables: Argument.String("table").pipe(
      Argument.withDescription(
        "SCHEMA.TABLE, none for all of them; diff lists the changes since; remove TYPE shows what hangs on a type"
      ),
      Argument.variadic()
    ),
    exclusive: toggle("exclusive", "All rows of the tables are this organization's"),
    apply: optional("apply", "Check a mapping file and put it in force"),
    yes: toggle("yes", "With remove: remove the type, after its preview")
  },
  (input): Effect.Effect<void, Failure, Needs> => {
    if (Option.isSome(input.apply)) {
      return input.tables.length > 0 || input.exclusive
        ? Effect.fail(UsageError.of("--apply takes only a file, which lists the tables."))
        : apply(input.apply.value)
    }
    const [first, type] = input.tables
    if (first === "remove" && type !== undefined && input.tables.length === 2) return remove(type, input.yes)
    if (input.yes || first === "remove") return Effect.fail(UsageError.of("Name the type: max map remove TYPE --yes"))
    return input.tables.length === 1 && input.tables[0] === "diff" ? diff : proposal(input.tables, input.exclusive)
  }
).pipe(
  Command.withDescription("Map existing tables and views, which are read where they are"),
  Command.withExamples([
    { command: "max map --exclusive > mapping.json", description: "Propose how to read every table; edit the file" },
    {
      command: "max map --apply mapping.json",
      description: "Check it and put it in force, or list its problems"
    },
    { command: "max map diff", description: "List the changes of the database since" },
    { command: "max map remove orders", description: "Preview the removal of a type; --yes removes it" }
  ])
)
