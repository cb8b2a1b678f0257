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
  private aliases = 0

  /** Binds a value and returns its placeholder, with the cast that gives it its type. */
  bind(value: unknown, cast: string): string {
    this.parameters.push(value)
    return `$${this.parameters.length}::${cast}`
  }

  alias(): string {
    return `r${++this.aliases}`
  }
}
