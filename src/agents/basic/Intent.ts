/** What a person can want. To teach basic mode something new: a case here, the ways of saying it in rules.ts, and a script that does it in scripts.ts. */
import { Data } from "effect"
import type { Fact } from "./readFacts.ts"
import type { Condition, Lookup } from "./readLookup.ts"
import type { SpokenName } from "./readNames.ts"
import type { Token } from "./tokenize.ts"

export type Subject = Data.TaggedEnum<{
  Named: { readonly tokens: ReadonlyArray<Token> }
  /** Whatever the last answer was about. */
  Focus: {}
  Me: {}
}>
export const Subject = Data.taggedEnum<Subject>()

export type Intent = Data.TaggedEnum<{
  Greeting: {}
  Thanks: {}
  Help: {}
  Bye: {}
  Who: { readonly subject: Subject }
  Detail: { readonly subject: Subject; readonly what: string }
  Browse: { readonly mode: "list" | "count"; readonly lookup: Lookup; readonly skip: number }
  /** Somebody is introduced in free text. `sure` when it can't be about anything else. */
  Introduce: {
    readonly names: ReadonlyArray<SpokenName>
    readonly facts: ReadonlyArray<Fact>
    readonly sure: boolean
    readonly what?: string
  }
  Choose: { readonly index: number }
  Again: { readonly condition: Condition }
  More: {}
  Uncountable: { readonly lookup?: Lookup }
  NotKnown: {}
  Unclear: {}
}>
export const Intent = Data.taggedEnum<Intent>()
