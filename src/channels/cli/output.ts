/** Command output: results go to standard output (one JSON document with `--json`), notes to standard error. */
import { Console } from "effect"
import { printable } from "../../domain/text.ts"

const color = process.stdout.isTTY === true && (process.env["NO_COLOR"] ?? "") === ""

export const dim = (text: string): string => (color ? `\u001b[2m${text}\u001b[22m` : text)
export const bold = (text: string): string => (color ? `\u001b[1m${text}\u001b[22m` : text)

const json = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? part.toString() : part), 2)

/** Prints a result: the value as JSON with `--json`, otherwise `lines`. */
export const result = (asJson: boolean, value: unknown, lines: ReadonlyArray<string>) =>
  Console.log(asJson ? json(value) : lines.join("\n"))

/** Prints a line to standard error; it is never part of the result. */
export const note = (line: string) => Console.error(line)

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
