/** Files into an organization's data. */
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { type Imported, Importer } from "../../../services/Importer.ts"
import { currentOrganization, wantsJson } from "../context.ts"
import { note, result } from "../output.ts"

export const importFile = Command.make(
  "import",
  {
    file: Argument.String("file").pipe(Argument.withDescription("CSV with a header, or JSONL")),
    type: Flag.String("type").pipe(Flag.withDescription("people, companies, meetings, or a type of your own")),
    map: Flag.KeyValuePair("map").pipe(
      Flag.withDescription("header=column, or header=owner:people.email to find whom a value means; may be repeated"),
      Flag.withDefault({})
    ),
    ignore: Flag.String("ignore").pipe(
      Flag.withDescription("A header to leave out; may be repeated"),
      Flag.atMost(1000)
    ),
    create: Flag.Boolean("create").pipe(
      Flag.withDescription("Make the type and the columns that the organization doesn't have yet"),
      Flag.withDefault(false)
    )
  },
  (input) =>
    Effect.gen(function* () {
      const importer = yield* Importer
      const outcome = yield* importer.import(yield* currentOrganization, {
        file: input.file,
        type: input.type,
        map: input.map,
        ignore: input.ignore,
        create: input.create
      })
      yield* result(yield* wantsJson, outcome, lines(outcome))
      for (const warning of outcome.warnings) yield* note(warning)
    })
).pipe(
  Command.withDescription("Import a file: all of it, or nothing and the lines that stand in the way"),
  Command.withExamples([
    {
      command: "max import staff.csv --type people --ignore company",
      description: "Headers id, name, email and phone map themselves"
    },
    {
      command: "max import customers.csv --type people --map rep=owner:people.email --create",
      description: "A reference by e-mail; new columns"
    }
  ])
)

const lines = (outcome: Imported): ReadonlyArray<string> => [
  `${outcome.rows} ${outcome.rows === 1 ? "row" : "rows"} into ${outcome.type.pluralName}: ${outcome.inserted} new, ${outcome.updated} changed, ${outcome.unchanged} as they were.`,
  ...outcome.createdColumns.map(({ kind, slug }) => `New column: ${slug} (${kind})`),
  ...(outcome.hiddenColumns.length === 0
    ? []
    : [
        `No role sees ${outcome.hiddenColumns.join(", ")} yet. To show them: max policy show > policy.json, name them in its rules`,
        `(a rule with "*" takes them in as it is), then max policy publish policy.json`
      ])
]
