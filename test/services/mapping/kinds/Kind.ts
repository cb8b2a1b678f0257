/** A database of another program, in small: its tables as the program makes them, with a few rows of our own. */

export interface Lookup {
  readonly type: string
  readonly filters: ReadonlyArray<string>
  /** Hand-written: the ids that an administrator finds. */
  readonly sql: string
  /**
   * What the second role finds, if it isn't simply the rows of those that it may see; undefined where it may not see the type or
   * a column of the filter.
   */
  readonly second?: string | undefined
}

export const lookup = (
  type: string,
  filters: string,
  sql: string,
  ...second: ReadonlyArray<string | undefined>
): Lookup => ({
  type,
  filters: filters === "" ? [] : filters.split(" & "),
  sql,
  ...(second.length === 0 ? {} : { second: second[0] })
})

export interface Kind {
  readonly name: string
  /** The schemas that it makes; the first is the search path. */
  readonly schemas: ReadonlyArray<string>
  /** Statements, each ending with a semicolon at the end of a line. */
  readonly sql: string
  /** The tables without a type of their own: link tables, and those that the notes name with a remedy. All others have one. */
  readonly without: ReadonlyArray<string>
  /** The edits by hand that the proposal needs. */
  readonly edits?: Readonly<Record<string, object>>
  /** The key of the organization in a column of the tables; without it all rows are the organization's. */
  readonly key?: string
  /** Members: an e-mail address, a phone number, or the id of a row that has neither. */
  readonly admin: string
  readonly second: string
  /** What the second role sees of a type: a rule, and the same by hand. */
  readonly sees: Readonly<Record<string, { readonly columns: unknown; readonly where?: object; readonly sql: string }>>
  readonly lookups: ReadonlyArray<Lookup>
  /** table.column of every column that holds a credential or regulated data. */
  readonly credentials: ReadonlyArray<string>
  /** table.column of the harmless columns that a proposal holds back. */
  readonly heldBack?: ReadonlyArray<string>
  /** A table of one type that other types lead to. */
  readonly drop: { readonly table: string; readonly type: string }
  readonly rename: { readonly table: string; readonly column: string; readonly type: string; readonly slug: string }
}
