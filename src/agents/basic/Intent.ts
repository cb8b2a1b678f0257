/** The intents of basic mode. A new one needs a case here, its patterns in rules.ts, and its script in answerIntent.ts. */
import { Data } from "effect"
import type { Fact } from "./Fact.ts"
import type { Condition, Lookup } from "./readLookup.ts"
import type { SpokenName } from "./readNames.ts"
import type { Token } from "./tokenize.ts"

export type Subject = Data.TaggedEnum<{
  Named: { readonly tokens: ReadonlyArray<Token> }
  /** The entities of the last answer. */
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
  /** Free text that introduces a person. `sure` excludes every other reading. */
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
