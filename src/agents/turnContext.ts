/**
 * The context of a turn, as data: the person, the types they may look up, today's date and the focus. It stays out of the
 * system prompt because names come from imports and must not be read as instructions.
 *
 * The format of a conversation for every provider (`StepRequest.messages`):
 * - `messages[0]` has the user's role; its first Text part is exactly `JSON.stringify(context)`, rebuilt on every turn.
 *   It precedes the earlier turns as well: conversations are too short for provider caches, so replacing it costs nothing.
 * - The last Text part of each of the user's messages is what the person wrote. Earlier turns are plain text.
 * - A chosen handle arrives as the text "number N", with the candidates in `focus`, in order.
 * - `focus` has the entities that the last answer presented, in order, read again through the plan on this turn. An entity
 *   in focus is looked up with the filter `id eq`.
 * - A reply that the guards reject is followed by a message of the user's role with the reason.
 */
import { labelFrom } from "../domain/names.ts"
import { PEOPLE } from "../domain/EntityType.ts"

export interface TurnContext {
  readonly person: { readonly name?: string }
  readonly organization: string
  /** YYYY-MM-DD, in `timeZone`. */
  readonly today: string
  /** HH:MM, in `timeZone`. */
  readonly time: string
  readonly timeZone: string
  readonly types: ReadonlyArray<ContextType>
  readonly focus?: ReadonlyArray<FocusEntity>
  /** What the person may change, by the slug of the type; absent where the turn may not propose changes. */
  readonly can?: Readonly<Record<string, string>>
  /** The latest changes of this conversation, at most three, newest first. */
  readonly drafts?: ReadonlyArray<string>
}

export interface ContextType {
  readonly id: string
  readonly name: string
  readonly plural: string
  /** The visible identifier columns; absent if there are none. */
  readonly columns?: ReadonlyArray<string>
}

export interface FocusEntity {
  /** The slug of its type. */
  readonly type: string
  readonly id: string
  readonly name: string
}

/** A row's name for the context: one line, at most 40 characters. */
export const contextName = (name: string): string => labelFrom(name)

/** Types in the context; `listEntityTypes` lists the others, which basic mode doesn't ask for. */
const MAX_TYPES = 8
const MAX_BASIC_TYPES = 12

/** The first types for the context, people first. */
export const contextTypes = (types: ReadonlyArray<ContextType>, isBasic: boolean): ReadonlyArray<ContextType> =>
  [...types]
    .sort((a, b) => Number(b.id === PEOPLE) - Number(a.id === PEOPLE))
    .slice(0, isBasic ? MAX_BASIC_TYPES : MAX_TYPES)
