/** What a statement is written into: every value becomes a numbered parameter, every identifier is quoted. */

/** A PostgreSQL identifier, quoted. Names come from the catalog; one that couldn't have is a bug and throws. */
export const identifier = (name: string): string => {
  if (name.length === 0 || name.length > 63 || name.includes("\u0000")) throw new Error("Not an identifier")
  return `"${name.replaceAll(`"`, `""`)}"`
}

export const qualified = (relation: { readonly schema: string; readonly table: string }): string =>
  `${identifier(relation.schema)}.${identifier(relation.table)}`

export class SqlWriter {
  readonly parameters: Array<unknown> = []
  readonly casts: Array<string> = []
  private readonly row: string | undefined
  private aliases = 0

  /** `row`: the alias of a row that the values are in, `a1` and so on; a value that is a list stays a parameter. */
  constructor(row?: string) {
    this.row = row
  }

  /** Binds a value and returns its placeholder, with the cast that gives it its type. */
  bind(value: unknown, cast: string): string {
    this.casts.push(cast)
    const number = this.parameters.push(value)
    return this.row === undefined || isList(cast) ? `$${number}::${cast}` : `${this.row}.a${number}`
  }

  alias(): string {
    return `r${++this.aliases}`
  }
}

export const isList = (cast: string): boolean => cast.endsWith("[]")
