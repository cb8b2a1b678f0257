/** What came of a mapping that was put in force. */
interface Mapped {
  readonly slug: string
  readonly pluralName: string
  readonly table: string
  readonly version: number
  readonly columns: ReadonlyArray<string>
  /** The columns that changes may set. */
  readonly written: ReadonlyArray<string>
  /** The columns that each role doesn't see. */
  readonly hidden: ReadonlyArray<{ readonly role: string; readonly columns: ReadonlyArray<string> }>
}

export interface Applied {
  readonly types: ReadonlyArray<Mapped>
  /** Why other types of the file stay as they were mapped before: what other programs did to their tables. */
  readonly kept: ReadonlyArray<string>
  /** Whether the starter policy's admin rule was extended by the new columns. */
  readonly admin: boolean
  /** The rights in tables of other programs that changes are written with, as statements; of all organizations. */
  readonly grants: ReadonlyArray<string>
  /** Rights of the same role that no mapping asks for and that this user can't take away. */
  readonly excess: ReadonlyArray<string>
  /** Triggers of tables that are written which run with those rights, as schema.table and name. */
  readonly triggers: ReadonlyArray<string>
  readonly advice: ReadonlyArray<string>
}
