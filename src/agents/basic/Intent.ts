/** The intents of basic mode. A new one needs a case here, its patterns in rules.ts, and its script in answerIntent.ts. */
import { Data } from "effect"
import type { Fact } from "./Fact.ts"
import type { Condition, Lookup, Noun } from "./Lookup.ts"
import type { SpokenName } from "./readNames.ts"
import type { Asked, Words } from "./figures/Asked.ts"
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
  /** The same about two subjects. */
  Several: { readonly subjects: ReadonlyArray<Subject>; readonly whole: Subject; readonly what?: string }
  /** "is Ada a customer": whether a status is that of the subject. */
  Is: { readonly subject: Subject; readonly words: string; readonly or?: string }
  /** "her company's phone": a detail of what a detail leads to. */
  Via: { readonly subject: Subject; readonly via: string; readonly what: string }
  /** "who else works there": the colleagues of the person in focus. */
  Colleagues: {}
  /** Who of two has more rows; the condition on each of them is the last one of its lookup. */
  Comparison: {
    readonly asks: "whether" | "which"
    readonly fewer: boolean
    readonly sides: readonly [Lookup, Lookup]
    /** What the sides are called, where they differ in a value or a time. */
    readonly names?: readonly [string, string]
    /** What the two are, where the question says so: "which genre has more tracks". */
    readonly by?: string
  }
  /** How long the one row takes that a lookup leads to. */
  HowLong: { readonly of: Intent }
  /** "The most common status": the type that has such a column isn't said. */
  Commonest: { readonly by: Words; readonly upwards: boolean; readonly popular: boolean }
  Browse: { readonly mode: "list" | "count"; readonly lookup: Lookup; readonly skip: number }
  /** Free text that introduces a person. `sure` excludes every other reading. */
  Introduce: {
    readonly names: ReadonlyArray<SpokenName>
    readonly facts: ReadonlyArray<Fact>
    readonly sure: boolean
    readonly what?: string
  }
  Choose: { readonly index: number }
  /** "And next week?": the words too, because the year can be that of the question before. */
  Again: { readonly condition: Condition; readonly words: ReadonlyArray<Token> }
  /** "And Samir?", "and at Cedar Labs?": the question before about someone or something else. */
  Also: {
    readonly words: ReadonlyArray<Token>
    readonly conditions?: ReadonlyArray<Condition>
    /** "And Samir's?" */
    readonly whose?: true
    /** What the words mean after no such question. */
    readonly otherwise: Intent
  }
  /** The list before of another noun. */
  Instead: { readonly noun: Noun }
  More: {}
  Uncountable: { readonly lookup?: Lookup }
  /** Groups and figures. `otherwise` is meant if the words for groups name no column: "deals by Ada". */
  Figures: { readonly asked: Asked; readonly otherwise?: Intent }
  /** The last figures, or the last list, in other groups: "and by country?". */
  Regroup: { readonly by: Words; readonly conditions: ReadonlyArray<Condition>; readonly isOfYear: boolean }
  /** The last question with one more condition, or with its first groups: "only the open ones", "just the top 3"; whether it names a year. */
  Only: { readonly conditions: ReadonlyArray<Condition>; readonly limit?: number; readonly isOfYear?: boolean }
  /** Something to be done rather than looked up. */
  Request: { readonly of: "send" | "change" }
  /** Two questions that don't refer to each other. */
  Both: { readonly intents: readonly [Intent, Intent] }
  /** Questions that have to be asked one by one; the first of them. */
  Separate: { readonly first: string; readonly count: number }
  /** Another language; the message can still be a name. */
  Foreign: { readonly reply: (example: string) => string; readonly tokens: ReadonlyArray<Token> }
  NotKnown: {}
  /** A noun that is no type, which can be what rows are called: "site visits". */
  Titled: {
    readonly mode: "list" | "count"
    readonly title: ReadonlyArray<Token>
    readonly conditions: ReadonlyArray<Condition>
    readonly order?: NonNullable<Lookup["order"]>
    /** What the words mean if no row is called so. */
    readonly otherwise: Intent
  }
  /** Not understood, unless it is a name to the letter. */
  Unclear: { readonly tokens: ReadonlyArray<Token> }
}>
export const Intent = Data.taggedEnum<Intent>()
