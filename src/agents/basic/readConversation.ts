/** Parses a step's messages: the context, the person's messages, and the tool results of this turn so far. */
import { Option, Schema } from "effect"
import type { DeclaredAction } from "../../domain/DeclaredAction.ts"
import { type Message, type Part, REFUSED_REPLY, type StepRequest } from "../ModelStep.ts"
import type { Answer } from "./script.ts"

const Context = Schema.Struct({
  person: Schema.optionalKey(Schema.Struct({ name: Schema.optionalKey(Schema.String) })),
  organization: Schema.optionalKey(Schema.String),
  today: Schema.String,
  /** HH:MM, in the time zone. */
  time: Schema.optionalKey(Schema.String),
  timeZone: Schema.optionalKey(Schema.String),
  types: Schema.Array(
    Schema.Struct({
      id: Schema.String,
      name: Schema.String,
      plural: Schema.String,
      columns: Schema.optionalKey(Schema.Array(Schema.String))
    })
  ),
  focus: Schema.optionalKey(
    Schema.Array(Schema.Struct({ type: Schema.String, id: Schema.String, name: Schema.String }))
  )
})

/** The context of the turn: see turnContext.ts. */
export type Context = typeof Context.Type
export type ContextType = Context["types"][number]
/** An entity of the last answer. */
export type Focus = NonNullable<Context["focus"]>[number]

export interface Conversation {
  readonly context: Context
  readonly said: string
  /** The person's earlier messages, oldest first. */
  readonly earlier: ReadonlyArray<string>
  readonly rounds: ReadonlyArray<ReadonlyArray<Answer>>
  /** Whether the person may change anything here. */
  readonly canChange: boolean
  /** The declared actions that the person may use. */
  readonly actions: ReadonlyArray<DeclaredAction>
}

const decodeContext = Schema.decodeUnknownOption(Schema.fromJsonString(Context))
const EMPTY: Context = { today: "1970-01-01", types: [] }

export const readConversation = ({ actions = [], messages, tools }: StepRequest): Conversation => {
  const last = messages.findLastIndex((message) => message.role === "user" && texts(message).some(isSaid))
  const contexts = messages
    .flatMap((message) => (message.role === "user" ? texts(message) : []))
    .map((text) => decodeContext(text))
  const said = messages
    .slice(0, last + 1)
    .filter((message) => message.role === "user")
    .map((message) => texts(message).at(-1))
    .filter((text) => text !== undefined && isSaid(text) && Option.isNone(decodeContext(text)))
  return {
    context: Option.getOrElse(contexts.findLast(Option.isSome) ?? Option.none(), () => EMPTY),
    actions,
    canChange: tools.some(({ name }) => name === "requestAction"),
    said: said.at(-1) ?? "",
    earlier: said.slice(0, -1) as ReadonlyArray<string>,
    rounds: messages
      .slice(last + 1)
      .filter((message) => message.role === "user")
      .map((message) => message.parts.flatMap(answer))
  }
}

/** Whether the person wrote a text. The loop's correction of a rejected reply is skipped: the script gives the same reply again, and the guard removes the faulty sentences. */
const isSaid = (text: string): boolean => !text.startsWith(REFUSED_REPLY)

const texts = ({ parts }: Message): ReadonlyArray<string> =>
  parts.flatMap((part) => (part._tag === "Text" ? [part.text] : []))

const answer = (part: Part): ReadonlyArray<Answer> =>
  part._tag === "ToolResult"
    ? [{ text: part.text, ...(part.failed || part.value === undefined ? {} : { value: part.value }) }]
    : []
