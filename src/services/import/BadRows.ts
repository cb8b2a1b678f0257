/** The rows that can't be imported, in the files' order: reported as one error, or as left out. */
import { OperatorError } from "../../domain/errors.ts"
import type { ImportFile } from "./readers/ImportFile.ts"

/** From this many bad rows on, the error lists no more. */
const MAX_BAD = 1000
/** Every row left out is listed; so many suggest another problem, and fail the import. */
const MAX_LEFT_OUT = 10_000

export interface BadRow {
  readonly file: string
  /** What `line` counts. */
  readonly unit: "line" | "row"
  readonly line: number
  readonly problems: ReadonlyArray<string>
}

/** One text per bad row with its problems, and with the file's name where `withFile` is set. */
export const badRowTexts = (rows: ReadonlyArray<BadRow>, withFile: boolean): ReadonlyArray<string> =>
  rows.map(({ file, line, problems, unit }) => `${withFile ? `${file}, ` : ""}${unit} ${line}: ${problems.join("; ")}`)

export class BadRows {
  private readonly withFile: boolean
  private readonly subject: string
  private readonly limit: number
  readonly rows: Array<BadRow> = []
  /** A last line, where references were read as ids and matched none. */
  hint: string | undefined

  constructor(files: ReadonlyArray<Pick<ImportFile, "name">>, leaveOut: boolean) {
    this.withFile = files.length > 1
    this.subject = files.length === 1 ? `${files[0]!.name} has` : "the files have"
    this.limit = leaveOut ? MAX_LEFT_OUT : MAX_BAD
  }

  get full(): boolean {
    return this.rows.length >= this.limit
  }

  add({ name, unit }: Pick<ImportFile, "name" | "unit">, line: number, problems: ReadonlyArray<string>) {
    this.rows.push({ file: name, unit, line, problems })
  }

  error(): OperatorError {
    const count = `${this.rows.length} bad row${this.rows.length === 1 ? "" : "s"}${this.full ? " or more" : ""}`
    return OperatorError.of(`Nothing was imported: ${this.subject} ${count}.`, [
      ...badRowTexts(this.rows, this.withFile),
      ...(this.hint === undefined ? [] : [this.hint])
    ])
  }
}
