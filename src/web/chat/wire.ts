/** What the server says to the page and the other way round (docs/serve.md; /openapi.json is the whole of it). */

/** A value of an entity that an answer has said, with what it is called. */
export interface Cell {
  readonly name: string
  readonly kind: string
  readonly value: string
}

/** What an answer was about. */
export interface Reference {
  readonly type: string
  readonly id: string
  readonly name?: string
  readonly status?: string
  readonly cells?: ReadonlyArray<Cell>
}

export interface Choice {
  readonly handle: string
  readonly name: string
  readonly status?: string
}

export type TurnEvent =
  | { readonly _tag: "tool"; readonly message: string }
  | { readonly _tag: "delta"; readonly text: string }
  | { readonly _tag: "retract" }
  | { readonly _tag: "matches"; readonly choices: ReadonlyArray<Choice> }
  | {
      readonly _tag: "done"
      readonly session: string
      readonly text: string
      readonly references: ReadonlyArray<Reference>
      readonly reference: string
    }
  | { readonly _tag: "error"; readonly reason: string; readonly message: string; readonly reference?: string }

export type Say = { readonly text: string } | { readonly choice: string }

export interface ConversationSummary {
  readonly id: string
  readonly title: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly turns: number
}

/** A turn as it is kept; without `answered` when what was answered then may say what can't be seen any more. */
export interface KeptTurn {
  readonly position: number
  readonly asked: string
  readonly at: string
  readonly reference: string
  readonly answered?: string
  readonly references?: ReadonlyArray<Reference>
  readonly choices?: ReadonlyArray<Choice>
}

/** A turn that can be listened to, begun here or on another device. */
export interface HeldTurn {
  readonly turn: string
  readonly asked?: string
  /** The handle of what was chosen. */
  readonly choice?: string
  readonly conversation?: string
  readonly after?: number
  /** Otherwise it has ended within the last minute. */
  readonly answering: boolean
}

export interface Welcome {
  readonly organization: string
  readonly person?: string
  /** Whether rules answer, or a language model. */
  readonly mode: "basic" | "model"
  /** What can be looked up: "people", "meetings". */
  readonly kinds: ReadonlyArray<string>
  readonly examples: ReadonlyArray<{ readonly about: string; readonly questions: ReadonlyArray<string> }>
}
