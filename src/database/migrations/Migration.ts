export interface Migration {
  readonly id: number
  readonly name: string
  /** One statement a string. */
  readonly statements: () => ReadonlyArray<string>
}
