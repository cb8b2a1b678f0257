/** A fact that free text states about a person besides the name. */
import type { Concept } from "./lexicon.ts"

export interface Fact {
  readonly concept: Extract<Concept, "email" | "phone" | "zip" | "city" | "state" | "address" | "handle">
  /** Spellings of the value, most likely first. */
  readonly values: ReadonlyArray<string>
  /** The original text. */
  readonly said: string
  /**
   * `stated` must match. `mentioned` must match if any row has the value, because a capitalized word may be a town or a
   * product. `aside` belongs to a journey, a parcel or a change, and only distinguishes namesakes.
   */
  readonly weight: "stated" | "mentioned" | "aside"
  /** Follows a name and is written like a town: the reply must say when it is ignored. */
  readonly followsName?: true
}
