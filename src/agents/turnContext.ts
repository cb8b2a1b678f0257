/**
 * What varies from person to person and from turn to turn, as data: who asks, what they may look up, what today is and
 * what the conversation was about. The system prompt has none of it, because names come from importers.
 *
 * The shape of a conversation as every provider gets it (`StepRequest.messages`):
 * - `messages[0]` is the person's; its first Text part is exactly `JSON.stringify(context)`, made anew on every turn.
 *   It stands in front of the earlier turns, too: a conversation is shorter than what providers cache, so nothing is
 *   saved by leaving a stale one there.
 * - The last Text part of each of the person's messages is what the person wrote. Earlier turns are plain texts.
 * - A choice by handle arrives as the text "number N", with the candidates in `focus` in their order.
 * - `focus` is what the last answer presented, in the order in which it did, read again through the plan on this turn.
 *   An entity in focus is looked up with the filter `id eq`.
 * - When a reply is refused by the guards, the reply and a message of the person's role with the reason follow.
 */
import { labelFrom } from "../domain/names.ts"
import { PEOPLE } from "../domain/EntityType.ts"

export interface TurnContext {
  readonly person: { readonly name?: string }
  readonly organization: string
  /** YYYY-MM-DD, in `timeZone`. */
  readonly today: string
  readonly timeZone: string
  readonly types: ReadonlyArray<ContextType>
  readonly focus?: ReadonlyArray<FocusEntity>
}

export interface ContextType {
  readonly id: string
  readonly name: string
  readonly plural: string
  /** The identifier columns that the person may see; absent where there is none. */
  readonly columns?: ReadonlyArray<string>
}

export interface FocusEntity {
  /** The slug of its type. */
  readonly type: string
  readonly id: string
  readonly name: string
}

/** A name from a row as it may stand in the context: on one line, at most 40 characters. */
export const contextName = (name: string): string => labelFrom(name)

/** Types beyond this many are left to `listEntityTypes`. */
const MAX_TYPES = 8

/** Types as the context shows them: people first, as many as there is room for. */
export const contextTypes = (types: ReadonlyArray<ContextType>): ReadonlyArray<ContextType> =>
  [...types].sort((a, b) => Number(b.id === PEOPLE) - Number(a.id === PEOPLE)).slice(0, MAX_TYPES)
