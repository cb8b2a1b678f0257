/** What a proposal is made from, for each of its types. */
import type { Catalog } from "../../domain/EntityType.ts"
import type { Facts, RelationFacts, Samples } from "./tableFacts.ts"

export interface ProposeOptions {
  readonly exclusive: boolean
  readonly timeZone: string
  readonly samples: Samples
  /** schema.table.column of the columns that a mapping in force shows already, which aren't held back. */
  readonly shown: ReadonlySet<string>
  /** Whether the operator named the relations. All others that may not be read are left out. */
  readonly named: boolean
}

export interface Target {
  readonly slug: string
  readonly id: string
}

export interface Context {
  readonly facts: Facts
  /** The common prefix of all tables. */
  readonly prefix: string
  readonly targets: ReadonlyMap<string, Target>
  readonly links: ReadonlyMap<string, RelationFacts>
  readonly catalog: Catalog
  readonly options: ProposeOptions
  readonly notes: Array<string>
}
