/** Why a file can't be read, with the line where that shows if there is one. */
export class Unreadable extends Error {
  readonly line: number | undefined
  constructor(message: string, line?: number) {
    super(message)
    this.line = line
  }
}

export const DAMAGED = "this isn't a spreadsheet, or it is damaged."
export const TOO_LARGE = "this spreadsheet is too large. Save the sheet as CSV (UTF-8), which may have any size."
export const TOO_COMPLEX = "the spreadsheet is too complex to read. Save the sheet as CSV (UTF-8)."
