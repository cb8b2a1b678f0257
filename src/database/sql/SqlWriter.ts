/** Collects a statement's parameters and quotes its identifiers. */

/** A quoted PostgreSQL identifier. Throws on a name that the catalog can't hold. */
export const identifier = (name: string): string => {
  if (name.length === 0 || name.length > 63 || name.includes("\u0000")) throw new Error("Not an identifier")
  return `"${name.replaceAll(`"`, `""`)}"`
}

/** A quoted constant, for any setting of `standard_conforming_strings`. */
export const literal = (text: string): string => `${text.includes("\\") ? "E" : ""}'${text.replace(/['\\]/g, "$&$&")}'`

export const qualified = (relation: { readonly schema: string; readonly table: string }): string =>
  `${identifier(relation.schema)}.${identifier(relation.table)}`

export class SqlWriter {
  readonly parameters: Array<unknown> = []
  readonly casts: Array<string> = []
  /** The relations that the statement reads, quoted. */
  readonly relations = new Set<string>()
  /** The mapped relations that the statement reads, quoted. */
  readonly mapped = new Set<string>()
  private readonly row: string | undefined
  private aliases = 0

  /** `row`: reads scalar values from the columns `a1`… of this alias instead, for the batch form; lists stay parameters. */
  constructor(row?: string) {
    this.row = row
  }

  /** Binds a value and returns its placeholder, with the cast that types it. */
  bind(value: unknown, cast: string): string {
    this.casts.push(cast)
    const number = this.parameters.push(value)
    return this.row === undefined || isList(cast) ? `$${number}::${cast}` : `${this.row}.a${number}`
  }

  relation(relation: { readonly schema: string; readonly table: string }): string {
    const name = qualified(relation)
    this.relations.add(name)
    return name
  }

  alias(): string {
    return `r${++this.aliases}`
  }
}

export const isList = (cast: string): boolean => cast.endsWith("[]")
