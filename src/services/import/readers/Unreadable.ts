/** What makes a file unreadable, at a line if there is one. */
export class Unreadable extends Error {
  readonly line: number | undefined
  constructor(message: string, line?: number) {
    super(message)
    this.line = line
  }
}
