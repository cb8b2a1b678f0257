/** What a question for figures asks for, before the columns are known. */
import type { Figure } from "../../../domain/Query.ts"
import type { Condition, Lookup } from "../Lookup.ts"
import type { Token } from "../tokenize.ts"

export type Words = ReadonlyArray<Token>

/** What is counted or made of the values of a column. */
export interface Measure {
  readonly figure: "count" | Figure
  /** The column in the person's words; absent for the amount of the noun. */
  readonly of?: Words
  /** Money that came in: only a column that holds a whole amount is meant, never a price. */
  readonly revenue?: true
  /** "Total invoices": their number, or the sum of their amounts. */
  readonly either?: true
  /** "In minutes": only a column that holds how long something takes in this unit. */
  readonly unit?: string
  readonly lookup: Lookup
}

interface Having {
  readonly compared: string
  readonly value: string
}

/** The groups that are asked for: the first of them, in an order. */
interface Best {
  readonly upwards: boolean
  /** The one at this place: 2 for "the second most". */
  readonly nth?: number
  /** One group is asked for ("which country"), or as many; absent for a list. */
  readonly limit?: number
}

export interface Asked {
  readonly measure: Measure
  /** The columns of the groups in the person's words, at most two. */
  readonly by: ReadonlyArray<Words>
  readonly best?: Best
  readonly having?: Having
  /** The share of these rows among those of the measure. */
  readonly part?: ReadonlyArray<Condition>
  /** Groups of people without the asker's own. */
  readonly besides?: true
  /** How many groups there are. */
  readonly number?: true
  /** The rows themselves, in the order of the measured column. */
  readonly rows?: { readonly upwards?: boolean; readonly limit?: number; readonly nth?: number }
}
