/** The rows that can't be imported, in the file's order, and the error that names them. */
import { OperatorError } from "../../domain/errors.ts"

const MAX_BAD = 1000
const SHOWN_BAD = 20

export class BadRows {
  private readonly fileName: string
  private readonly shown: Array<string> = []
  private count = 0
  /** A last line for who gave a reference by something else than ids. */
  hint: string | undefined

  constructor(fileName: string) {
    this.fileName = fileName
  }

  get some(): boolean {
    return this.count > 0
  }

  get full(): boolean {
    return this.count >= MAX_BAD
  }

  add(line: number, problems: ReadonlyArray<string>) {
    this.count++
    if (this.shown.length < SHOWN_BAD) this.shown.push(`line ${line}: ${problems.join("; ")}`)
  }

  error(): OperatorError {
    const more = this.count - this.shown.length
    const count = `${this.count} bad row${this.count === 1 ? "" : "s"}${this.full ? " or more" : ""}`
    return new OperatorError({
      message: `Nothing was imported: ${this.fileName} has ${count}.`,
      details: [
        ...this.shown,
        ...(more > 0 ? [`and ${this.full ? "at least " : ""}${more} more`] : []),
        ...(this.hint === undefined ? [] : [this.hint])
      ]
    })
  }
}
