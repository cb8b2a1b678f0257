/** What a request asks to be changed, before anything is looked up: words, not columns or rows. */
import { Data } from "effect"
import type { ContextType } from "../readConversation.ts"
import type { Concept } from "../lexicon.ts"
import type { Lookup } from "../Lookup.ts"
import type { Moment } from "./moments.ts"
import type { Said, Word } from "./words.ts"

type Words = ReadonlyArray<Word>

/** The row, or the set of rows, that a request is about. */
export type Subject = Data.TaggedEnum<{
  /** A pronoun: the subject of an earlier sentence, or the entity of the last answer. */
  It: {}
  Named: {
    readonly words: Words
    readonly type?: ContextType
    /** "the login bug": a part of a name can do. */
    readonly isDefinite?: true
    /** The names of several rows, if no row has all the words as its name. */
    readonly each?: ReadonlyArray<Words>
  }
  /** "my first meeting with Kofi on December 4". */
  Described: {
    readonly type?: ContextType
    readonly order?: "first" | "last" | "next"
    readonly title?: Words
    /** The title with the noun after it: "the next introductory call". */
    readonly fuller?: Words
    readonly mine: boolean
    readonly people: ReadonlyArray<Words>
    readonly moment?: Moment
  }
  /** "all of Akira's leads that are interested in software", read as a question for a list. */
  Rows: {
    readonly lookup: Lookup
    /** Another reading of the words, for where this one means no rows. */
    readonly otherwise?: Lookup
    /** How many there are, as the person says. */
    readonly count?: number
    /** "The tasks Rotate keys and Plan the offsite": the names of the rows, where the words mean no set. */
    readonly each?: ReadonlyArray<Words>
    /** "all of Raj's tasks except Renew certificates": the names of rows that stay as they are. */
    readonly except?: ReadonlyArray<Words>
  }
}>
export const Subject = Data.taggedEnum<Subject>()

/** A cell that is set; `was` is its value so far, as the person states it. */
export type Setting = Data.TaggedEnum<{
  /** A column that the person names. */
  Column: { readonly column: Words; readonly value: Words; readonly was?: Words }
  /** A column that the verb means. */
  Concept: { readonly concept: Concept | "name" | "length"; readonly value: Words; readonly was?: Words }
  /** "move Ada to Won": the value tells the column. */
  Value: { readonly value: Words; readonly was?: Words; readonly kind?: Words }
}>
export const Setting = Data.taggedEnum<Setting>()

export type Deed = Data.TaggedEnum<{
  Update: {
    readonly subject: Subject
    readonly settings: ReadonlyArray<Setting>
    /** "assignee Lena, due 8 December": further settings, which are read with a type's columns. */
    readonly list?: Words
  }
  /** Moves a time; earlier if `minutes` is negative. `column` is absent for the time that a row is about. */
  Shift: { readonly subject: Subject; readonly column?: Words; readonly minutes: number }
  /** Makes a meeting longer or shorter. */
  Stretch: { readonly subject: Subject; readonly minutes: number }
  Delete: { readonly subject: Subject }
  Create: {
    readonly type: ContextType
    /** "lead", which can be a status. */
    readonly kind?: string
    readonly name?: Words
    /** What follows, which is read with the type's columns. */
    readonly rest: Words
    readonly people: ReadonlyArray<Words>
    readonly settings: ReadonlyArray<Setting>
  }
}>
export const Deed = Data.taggedEnum<Deed>()

/** What has to be said before a statement that counts only there: the row that it is about, or that a row is new. */
export type Follows = "named" | "new"

/** A part of a request, such as a sentence. */
export type Part = Data.TaggedEnum<{
  /** An order; `isFramed` if a frame reads it. */
  Order: { readonly deed: Deed; readonly isFramed?: true }
  /** A statement of what is so, or will be; `enough` if it asks for the change by itself. */
  Statement: {
    readonly deed?: Deed
    readonly subject?: Subject
    readonly enough: boolean
    readonly follows?: Follows
    readonly isFramed?: true
    /** What another person wants, or did: only "please do so" can follow. */
    readonly isReported?: true
    /** Whether it is about a cell of the row. */
    readonly isOfCell?: true
  }
  /** Why something is asked for; `isLoose` if it could also be a part of the request, `isOfCell` if it is about a cell of the row. */
  Reason: { readonly subject?: Subject; readonly isLoose: boolean; readonly isOfCell?: true }
  /** "Apart from the done ones": the rows of the set that stay as they are. */
  Except: { readonly names?: ReadonlyArray<Words>; readonly conditions?: Lookup["conditions"] }
  /** "Jamie Moore too": another row for the same change. */
  Also: { readonly subject: Subject & { readonly _tag: "Named" } }
  /** "All three of them", after a set: how many rows it has, as the person says. */
  Counted: { readonly count?: number }
  /** "can you update that?" */
  Please: {}
  /** What is said of a new row in a sentence of its own: "Low priority, for Luis". */
  Detail: { readonly rest: Words }
  /** "I need to catch up with Nadia." */
  Meet: { readonly who: Words }
}>
export const Part = Data.taggedEnum<Part>()

/** A request that was understood whole, in each way in which it can be read. */
export interface Request {
  readonly said: Said
  readonly deeds: ReadonlyArray<Deed>
  /** What counts only if none of the `deeds` can be drafted. */
  readonly loose: ReadonlyArray<Deed>
  /** What the frames of frames.ts read, which is tried if nothing else can be drafted. */
  readonly framed: ReadonlyArray<Deed>
  /** The request with the correction that follows it: "to Olga, sorry, I meant Amir". */
  readonly instead?: Request
  /** Two requests in one sentence, for each place where it can be divided. */
  readonly pairs?: ReadonlyArray<ReadonlyArray<Request>>
}
