/** The command that imports files. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { quoted } from "../../../domain/text.ts"
import { badRowTexts } from "../../../services/import/BadRows.ts"
import { type Imported, Importer } from "../../../services/import/Importer.ts"
import { currentOrganization } from "../context.ts"
import { optional, pairs, required, toggle } from "../flags.ts"
import { columns, note, result } from "../output.ts"
import { makeProgress } from "../progress.ts"

export const importFile = Command.make(
  "import",
  {
    files: Argument.String("file").pipe(
      Argument.withDescription("CSV with a header, JSONL, or XLSX; several are imported together"),
      Argument.variadic({ min: 1 })
    ),
    type: required("type", "people, companies, meetings, or a type of your own"),
    map: pairs(
      "map",
      "header=column, header=id,number for several, or header=owner:people.email to look up the people of a reference; may be repeated"
    ),
    ignore: Flag.String("ignore").pipe(
      Flag.withDescription("A header to leave out; may be repeated"),
      Flag.atMost(1000)
    ),
    idPrefix: optional("id-prefix", "A prefix for the ids of these rows, such as crm:"),
    create: toggle("create", "Create the type and the columns that the organization doesn't have yet"),
    dryRun: toggle("dry-run", "Report what would happen, and change nothing"),
    keepChanges: toggle("keep-changes", "Leave cells that people have changed here since, instead of overwriting them"),
    skipBad: toggle("skip-bad", "Leave bad rows out and report them, and import the others"),
    encoding: optional("encoding", "The encoding of a text file, where it can't be detected, such as windows-1252"),
    headerRow: Flag.Int("header-row").pipe(
      Flag.withDescription("The line or row of the header, below others; by default the first one with a value"),
      Flag.optional
    ),
    locale: optional("locale", "How the files write numbers, dates and yes or no, such as de-DE"),
    dates: optional("dates", "The order of dates: dmy, mdy or ymd; by default the locale's"),
    sheet: optional("sheet", "The sheet of a spreadsheet; the first one by default")
  },
  Effect.fnUntraced(function* (input) {
    const importer = yield* Importer
    const progress = makeProgress()
    const outcome = yield* importer
      .import(yield* currentOrganization, {
        ...input,
        idPrefix: Option.getOrUndefined(input.idPrefix),
        encoding: Option.getOrUndefined(input.encoding),
        sheet: Option.getOrUndefined(input.sheet),
        headerRow: Option.getOrUndefined(input.headerRow),
        locale: Option.getOrUndefined(input.locale),
        dates: Option.getOrUndefined(input.dates),
        onProgress: progress.show
      })
      .pipe(Effect.ensuring(Effect.sync(progress.clear)))
    yield* result(outcome, lines(outcome))
    for (const warning of outcome.warnings) yield* note(warning)
  })
).pipe(
  Command.withDescription("Import files atomically, or report the lines that prevent it"),
  Command.withExamples([
    {
      command: "max import staff.xlsx --type people --ignore company --dry-run",
      description: "A dry run. The headers id, name, email and phone map themselves"
    },
    {
      command: "max import customers.csv --type people --map rep=owner:people.email --create",
      description: "A reference looked up by e-mail; new columns"
    }
  ])
)

const count = (number: number) => number.toLocaleString("en-US")

const lines = (outcome: Imported): ReadonlyArray<string> => {
  const { inserted, leftOut, rows, type, unchanged, updated } = outcome
  const left = leftOut === 0 ? "" : `, ${count(leftOut)} bad and left out`
  const dryRun = outcome.dryRun ? " (a dry run: nothing was changed)" : ""
  return [
    ...(outcome.dryRun ? readAs(outcome) : []),
    `${count(rows)} ${rows === 1 ? "row" : "rows"} into ${type.pluralName}${dryRun}: ${count(inserted)} new, ${count(updated)} changed, ${count(unchanged)} unchanged${left}.`,
    ...changedHere(outcome),
    ...(outcome.dryRun ? changes(outcome) : []),
    ...(outcome.dryRun ? [] : outcome.createdColumns.map(({ kind, slug }) => `New column: ${slug} (${kind})`)),
    ...seenBy(outcome),
    ...badRowTexts(outcome.badRows, outcome.files.length > 1)
  ]
}

/** Cells that people have changed with Max since they were imported. */
const changedHere = ({ changedHere: { cells, kept }, dryRun }: Imported): ReadonlyArray<string> => {
  if (cells === 0) return []
  const what = `${count(cells)} ${cells === 1 ? "cell" : "cells"} that people have changed here since`
  const would = dryRun ? "would be" : cells === 1 ? "was" : "were"
  return [`${what} ${would} ${kept ? "left" : "overwritten"}.${kept || !dryRun ? "" : " --keep-changes leaves them."}`]
}

/** The format of each file, and the columns that its headers map to. */
const readAs = ({ createdColumns, files, type }: Imported): ReadonlyArray<string> =>
  files.flatMap(({ format, mapped, name }) => [
    `${name}: ${format}`,
    ...columns(
      mapped.map(({ example, header, to }) => {
        const created = createdColumns.find(({ slug }) => slug === to.split(":")[0])
        const read = example === undefined ? "" : `, ${quoted(example.text)} read as ${example.read}`
        return [`  ${header}`, "→", `${created === undefined ? to : `${to} (new: ${created.kind})`}${read}`]
      })
    ),
    ...(type.created ? [`  The type ${type.slug} would be created.`] : [])
  ])

const changes = ({ preview }: Imported): ReadonlyArray<string> => {
  if (preview === undefined) return []
  const { columns: changed, examples } = preview
  const several = new Set([...examples.new, ...examples.changed].map(({ file }) => file)).size > 1
  const rowText = (example: (typeof examples.new)[number]) =>
    `${several ? `${example.file} ` : ""}${example.line}: ${example.id === undefined ? "" : `${quoted(example.id).slice(1, -1)} `}${quoted(example.name).slice(1, -1)}`
  return [
    ...(changed.length === 0
      ? []
      : [`Changed columns: ${changed.map(({ column, rows }) => `${column} in ${count(rows)}`).join(", ")}`]),
    ...examples.new.map((example) => `  + ${rowText(example)}`),
    ...examples.changed.map(
      (example) =>
        `  ~ ${rowText(example)}: ${example.columns.map(({ column, now, was }) => (now === undefined ? column : `${column} ${cell(was)} → ${cell(now)}`)).join(", ")}`
    )
  ]
}

const cell = (value: string | null | undefined) => (value === null || value === undefined ? "nothing" : quoted(value))

/** The roles that see the new columns, and the command that shows them to the others. */
const seenBy = ({ dryRun, type, visibility }: Imported): ReadonlyArray<string> => {
  const { columns: created, hiddenFrom, shownTo } = visibility
  return [
    ...(shownTo.length === 0
      ? []
      : [`${dryRun ? "Would be shown" : "Shown"} to ${shownTo.join(", ")}: ${created.join(", ")}`]),
    ...(hiddenFrom.length === 0
      ? []
      : [
          `${dryRun ? "Would stay hidden" : "Hidden"} from ${hiddenFrom.join(", ")}. To show ${created.length === 1 ? "it" : "them"}${dryRun ? " then" : ""}:`,
          ...hiddenFrom.map((role) => `  max policy grant ${role} ${type.created ? type.slug : created.join(" ")}`)
        ])
  ]
}
