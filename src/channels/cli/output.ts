/** Command output: results go to standard output (one JSON document with `--json`), notes to standard error. */
import { Console, Context, Effect, Layer, References } from "effect"
import { printable } from "../../domain/text.ts"
import { logging } from "../../observability/logs.ts"
import { wantsJson } from "./context.ts"

const color = process.stdout.isTTY === true && (process.env["NO_COLOR"] ?? "") === ""

export const dim = (text: string): string => (color ? `\u001b[2m${text}\u001b[22m` : text)
export const bold = (text: string): string => (color ? `\u001b[1m${text}\u001b[22m` : text)

/** Prints a value as JSON. */
export const json = (value: unknown) =>
  Console.log(JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? part.toString() : part), 2))

/** Prints a result: the value as JSON with `--json`, otherwise `lines`. */
export const result = (value: unknown, lines: ReadonlyArray<string>) =>
  Effect.flatMap(wantsJson, (asJson) => (asJson ? json(value) : Console.log(lines.join("\n"))))

/** Whether notes are log records: those of a server whose logs are JSON, because their reader expects nothing else. */
export const NotesAreLogged = Context.Reference<boolean>("max/cli/NotesAreLogged", { defaultValue: () => false })

/** Prints a line to standard error; it is never part of the result. */
export const note = (line: string, level: "Info" | "Error" = "Info") =>
  Effect.flatMap(NotesAreLogged, (areLogged) =>
    areLogged ? Effect.provide(Effect.logWithLevel(level)(line), JSON_LOG) : Console.error(line)
  )

const JSON_LOG = Layer.merge(logging("json", false), Layer.succeed(References.MinimumLogLevel, "Info"))

const width = (text: string): number => [...text].length

/** Aligns rows in columns. Cells are made printable; the last column is not padded. */
export const columns = (
  rows: ReadonlyArray<ReadonlyArray<string>>,
  header?: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const all = (header === undefined ? rows : [header, ...rows]).map((row) => row.map(printable))
  const widths = all.reduce<Array<number>>(
    (widest, row) => row.map((cell, index) => Math.max(widest[index] ?? 0, width(cell))),
    []
  )
  const lines = all.map((row) =>
    row
      .map((cell, index) => (index === row.length - 1 ? cell : cell + " ".repeat(widths[index]! - width(cell))))
      .join("  ")
      .trimEnd()
  )
  return header === undefined ? lines : [dim(lines[0]!), ...lines.slice(1)]
}

/** Prints a list: with `--json` its values, otherwise their rows in columns, or `none` when there are no values. */
export const listing = <A>(
  values: ReadonlyArray<A>,
  none: string,
  row: (value: A) => ReadonlyArray<string>,
  header: ReadonlyArray<string>
) => result(values, values.length === 0 ? [none] : columns(values.map(row), header))

/** Waits until the text is written; ignores a closed pipe. */
export const toStandardOutput = (text: string) =>
  Effect.callback<void>((resume) => {
    process.stdout.write(text, () => resume(Effect.void))
  })
