/** Lookup commands: they return what the member named by `--as`, or a model acting for that member, gets. */
import { Effect, Option, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { InvalidInput, UnknownName, Unavailable } from "../../../domain/errors.ts"
import type { Page } from "../../../domain/Page.ts"
import type { Filter } from "../../../domain/Query.ts"
import { printable, quoted } from "../../../domain/text.ts"
import { EntityQueryService } from "../../../services/EntityQueryService.ts"
import { inputFault } from "../../../tools/call.ts"
import { toolDefinitions } from "../../../tools/definitions.ts"
import { renderCell, renderColumns, renderPage, renderTypes } from "../../../tools/render.ts"
import { MaxToolkit } from "../../../tools/Toolkit.ts"
import { type ExportRequest, Exports } from "../../../services/exports/Exports.ts"
import { writeNewFile } from "../../../services/operations/newFile.ts"
import { asPrincipal, UsageError, wantsJson } from "../context.ts"
import { argument, optional, toggle } from "../flags.ts"
import { figureLines, terminal } from "../figuresView.ts"
import { columns as inColumns, dim, note, result, toStandardOutput } from "../output.ts"
import { force } from "./backup.ts"

export const types = Command.make(
  "types",
  {},
  Effect.fnUntraced(function* () {
    const queries = yield* EntityQueryService
    const found = yield* asPrincipal((organizationId) => queries.listEntityTypes({ organizationId }))
    yield* result(found, inColumns(found.entityTypes.map(({ id, pluralName }) => [id, pluralName])))
  })
).pipe(Command.withDescription("List the entity types that can be looked up"))

export const columns = Command.make(
  "columns",
  {
    type: argument("type", "Entity type, as listed by max types"),
    contains: Flag.String("contains").pipe(
      Flag.withDescription("Only columns whose name contains this word"),
      Flag.atMost(20)
    ),
    max: Flag.Int("max").pipe(Flag.withDescription("Maximum number of columns (default 50)"), Flag.optional)
  },
  Effect.fnUntraced(function* (input) {
    const queries = yield* EntityQueryService
    const found = yield* asPrincipal((organizationId) =>
      queries.listColumnsForType({
        organizationId,
        entityTypeId: input.type,
        filter: {
          ...(input.contains.length > 0 ? { nameContains: input.contains } : {}),
          ...(Option.isSome(input.max) ? { max: input.max.value } : {})
        }
      })
    )
    const rows = [
      ...found.columns.map(({ holds = "", id, name }) => [id, name, holds]),
      ...(found.leadHere ?? []).map(({ id, name }) => [id, name, "leads here"])
    ]
    yield* result(found, inColumns(rows))
  })
).pipe(Command.withDescription("List the columns of a type"))

const FILTER = /^([^=~<>!]+?)(!=|>=|<|=|~)([^]*)$/
const OPS = { "=": "eq", "!=": "ne", "~": "ilike", ">=": "gte", "<": "lt" } as const

const readFilter = (text: string): Effect.Effect<Filter, UsageError> => {
  const match = FILTER.exec(text)
  return match === null
    ? Effect.fail(UsageError.of(`${quoted(text)} is not a filter. Write name=…, name!=…, name~…, start>=… or start<…`))
    : Effect.succeed({ columnId: match[1]!.trim(), op: OPS[match[2] as keyof typeof OPS], value: match[3]! })
}

export const find = Command.make(
  "find",
  {
    type: argument("type", "Entity type, as listed by max types"),
    filters: Argument.String("filter").pipe(
      Argument.withDescription(
        "Conditions that must all match: name~ada (contains), phone=… (equals), status!=lost, status=new|open (any of), phone=* (any; != none), due=2026-Q3, amount=10..20, company.city=…, start>=today, start<2027"
      ),
      Argument.variadic()
    ),
    select: optional("select", "Columns to show, comma-separated (at most 5)"),
    limit: Flag.Int("limit").pipe(
      Flag.withDescription("Page size (default 5, at most 25); 0 returns only the total"),
      Flag.optional
    ),
    by: optional("by", 'Group by these columns, comma-separated (at most 2): owner, "month due", company.city'),
    sum: optional("sum", "Sums of these columns, comma-separated"),
    avg: optional("avg", "Averages of these columns, comma-separated"),
    after: optional("after", "Continue after this id, which the previous page printed"),
    csv: toggle("csv", "Write everything that matches as CSV: at most 10,000 rows and 20 columns, ten files an hour"),
    out: optional("out", "With --csv: the file to create; standard output by default"),
    force
  },
  Effect.fnUntraced(function* (input) {
    const queries = yield* EntityQueryService
    const filters = yield* Effect.forEach(input.filters, readFilter)
    const listed = (option: Option.Option<string>, word = "") =>
      Option.map(option, (text) => text.split(",").map((slug) => `${word}${slug.trim()}`))
    const columns = listed(input.select)
    const words = [listed(input.by, "by "), listed(input.sum, "sum "), listed(input.avg, "avg ")].flatMap(
      Option.getOrElse((): ReadonlyArray<string> => [])
    )
    const out = Option.getOrUndefined(input.out)
    if (input.csv) {
      if (Option.isSome(input.limit) || Option.isSome(input.after) || words.length > 0)
        return yield* UsageError.of("--csv writes all pages: leave out --limit, --after, --by, --sum and --avg.")
      const query = { entityTypeId: input.type, filters, selectColumns: Option.getOrUndefined(columns) }
      return yield* writeCsv(query, out, input.force)
    }
    if (out !== undefined) return yield* UsageError.of("--out takes what --csv writes.")
    const select = [...Option.getOrElse(columns, (): ReadonlyArray<string> => []), ...words]
    const page = yield* asPrincipal((organizationId) =>
      queries.findEntities({
        organizationId,
        entityTypeId: input.type,
        filters,
        selectColumns: select,
        limit: Option.getOrUndefined(input.limit),
        cursorEntityId: Option.getOrUndefined(input.after)
      })
    )
    yield* result(
      page,
      page.groups === undefined && page.tooMany !== true ? pageLines(page, select) : figureLines(page, terminal())
    )
  })
).pipe(
  Command.withDescription("Find people, companies, meetings and other entities"),
  Command.withExamples([
    { command: "max find people name~ada --select phone,email", description: "Find people by part of their name" },
    { command: 'max find meetings "start>=today" --limit 3', description: "The next three meetings" },
    {
      command: "max find people status=open --csv --out open.csv",
      description: "What the member of --as may see of them, for a spreadsheet"
    },
    { command: "max find invoices due=2026-Q4 --by owner --sum amount", description: "The amounts of each owner" }
  ])
)

/** Writes what the member of `--as` may see as CSV; recorded like an export over HTTP. */
const writeCsv = Effect.fnUntraced(function* (query: ExportRequest, out: string | undefined, force: boolean) {
  if ((yield* wantsJson) && out === undefined)
    return yield* UsageError.of("--json prints the result, so the rows need a file: --out FILE")
  const exports = yield* Exports
  const { rows, text } = yield* asPrincipal(() => exports.begin(query))
  if (out === undefined) yield* Stream.runForEach(text, toStandardOutput)
  else {
    yield* writeNewFile(out, { force }, (write) => Stream.runForEach(text, write))
    const count = rows()
    yield* result({ file: out, type: query.entityTypeId, rows: count }, [
      `${count} ${count === 1 ? "row" : "rows"} of ${query.entityTypeId} were written to ${printable(out)}.`
    ])
  }
  yield* note("This was recorded: max audit list")
})

const pageLines = (page: Page, select: ReadonlyArray<string>): ReadonlyArray<string> => {
  const shown = select.filter((slug) => slug !== "name" && slug !== "status")
  const status = page.entities.some((entity) => entity.status !== undefined) ? ["status"] : []
  const count =
    page.totalIsLowerBound === true ? `More than ${page.total}` : page.total === 0 ? "Nothing" : String(page.total)
  const summary = dim(`${count} found${page.limited === true ? " among what you can see" : ""}.`)
  if (page.entities.length === 0) return [summary]
  return [
    ...inColumns(
      page.entities.map((entity) => [
        entity.entityId,
        entity.displayName ?? "",
        ...status.map(() => entity.status ?? ""),
        ...shown.map((slug) => renderCell(entity.columns?.[slug]))
      ]),
      ["id", "name", ...status, ...shown]
    ),
    summary,
    ...(page.nextCursorEntityId === undefined ? [] : [dim(`More: --after ${page.nextCursorEntityId}`)])
  ]
}

export const tools = Command.make(
  "tools",
  {},
  Effect.fnUntraced(function* () {
    yield* result(
      toolDefinitions,
      toolDefinitions.map((definition) => JSON.stringify(definition))
    )
  })
).pipe(Command.withDescription("Print the definitions of the three tools that a model gets"))

const RENDER = { listEntityTypes: renderTypes, listColumnsForType: renderColumns, findEntities: renderPage } as const

export const tool = Command.make(
  "tool",
  {
    name: Argument.Literals("name", ["listEntityTypes", "listColumnsForType", "findEntities"]),
    input: Argument.String("json").pipe(Argument.withDescription("Tool input as JSON"), Argument.optional)
  },
  Effect.fnUntraced(function* (input) {
    const parameters = yield* Effect.try({
      try: (): unknown => JSON.parse(Option.getOrElse(input.input, () => "{}")),
      catch: () => UsageError.of("The input is not valid JSON.")
    })
    const fault = inputFault(input.name, parameters)
    if (fault !== undefined) return yield* InvalidInput.of(fault)
    const toolkit = yield* MaxToolkit
    const output = yield* asPrincipal(() =>
      toolkit
        .handle(input.name, parameters as never)
        .pipe(Effect.flatMap(Stream.runLast), Effect.catchTag("AiError", Effect.die))
    )
    const value: unknown = Option.getOrThrow(output).result
    if (value instanceof UnknownName || value instanceof InvalidInput || value instanceof Unavailable)
      return yield* value
    yield* result(value, [RENDER[input.name](value as never)])
  })
).pipe(Command.withDescription("Call a tool and print the text that a model would get"))
