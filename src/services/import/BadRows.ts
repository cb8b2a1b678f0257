/** The rows that can't be imported, in the files' order: one error that names them, or a report of what was left out. */
import { OperatorError } from "../../domain/errors.ts"
import type { ImportFile } from "./readers/ImportFile.ts"

/** A file with more bad rows than that is told so, and not all of them. */
const MAX_BAD = 1000
/** Rows to leave out are all named: with more of them something else is wrong. */
const MAX_LEFT_OUT = 10_000

export interface BadRow {
  readonly file: string
  /** What the number counts. */
  readonly unit: "line" | "row"
  readonly line: number
  readonly problems: ReadonlyArray<string>
}

/** A line for each row and what is wrong with it, with the file where there are several. */
export const badRowTexts = (rows: ReadonlyArray<BadRow>, several: boolean): ReadonlyArray<string> =>
  rows.map(({ file, line, problems, unit }) => `${several ? `${file}, ` : ""}${unit} ${line}: ${problems.join("; ")}`)

export class BadRows {
  private readonly several: boolean
  private readonly names: string
  private readonly most: number
  readonly rows: Array<BadRow> = []
  /** A last line for who gave a reference by something else than ids. */
  hint: string | undefined

  constructor(files: ReadonlyArray<Pick<ImportFile, "name">>, leaveOut: boolean) {
    this.several = files.length > 1
    this.names = files.length === 1 ? `${files[0]!.name} has` : "the files have"
    this.most = leaveOut ? MAX_LEFT_OUT : MAX_BAD
  }

  get full(): boolean {
    return this.rows.length >= this.most
  }

  add({ name, unit }: Pick<ImportFile, "name" | "unit">, line: number, problems: ReadonlyArray<string>) {
    this.rows.push({ file: name, unit, line, problems })
  }

  error(): OperatorError {
    const count = `${this.rows.length} bad row${this.rows.length === 1 ? "" : "s"}${this.full ? " or more" : ""}`
    return new OperatorError({
      message: `Nothing was imported: ${this.names} ${count}.`,
      details: [...badRowTexts(this.rows, this.several), ...(this.hint === undefined ? [] : [this.hint])]
    })
  }
}
