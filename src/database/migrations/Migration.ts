export interface Migration {
  readonly id: number
  readonly name: string
  /** One statement per string. */
  readonly statements: () => ReadonlyArray<string>
}
