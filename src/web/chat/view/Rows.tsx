/** The entities of a list as rows; pressing one asks about it. */
import "./rows.css"
import { handleOf } from "../state/handle.ts"
import type { AnswerParts, Row, ShownCell } from "../state/answerParts.ts"
import type { Chat } from "../state/Chat.ts"
import { mailTo, telTo } from "./contact.ts"
import { Prose } from "./Prose.tsx"

interface Props {
  readonly chat: Chat
  readonly parts: AnswerParts
  readonly enabled: boolean
  /** Whether the entities are those of the last answer, which the server can still name by number. */
  readonly isLast: boolean
}

const Value = ({ isObvious, kind, label, raw, value }: ShownCell) => (
  <span class="cell">
    <span class={isObvious ? "visually-hidden" : "label"}>{label} </span>
    {kind === "phone" || kind === "email" ? (
      <a href={kind === "phone" ? telTo(raw) : mailTo(raw)}>
        <bdi>{value}</bdi>
      </a>
    ) : (
      <bdi>{value}</bdi>
    )}
  </span>
)

/** Asks about a row: the last answer's by its handle, an earlier one's by its name. */
const ask = (chat: Chat, { reference }: Row, isLast: boolean): void => {
  const name = reference?.name ?? ""
  if (reference === undefined || name === "") return
  if (isLast) void chat.say(name, { choice: handleOf(reference) })
  else void chat.say(isBasic(chat) ? name : `Tell me about ${name}`)
}

const isBasic = (chat: Chat): boolean => chat.welcome.value?.mode === "basic"

/** Basic mode knows people by name alone. */
const canAsk = (chat: Chat, { reference }: Row, isLast: boolean): boolean =>
  isLast || !isBasic(chat) || reference?.type === "people"

const RowView = ({ chat, enabled, isLast, row }: Omit<Props, "parts"> & { readonly row: Row }) => {
  const { cells, reference, text } = row
  if (reference === undefined || cells === undefined) {
    return (
      <li class="row written">
        <Prose text={text} />
        {reference?.name !== undefined && (
          <button
            type="button"
            class="quiet small"
            disabled={!enabled || !canAsk(chat, row, isLast)}
            aria-label={`More about ${reference.name}`}
            onClick={() => ask(chat, row, isLast)}
          >
            <span aria-hidden="true">›</span>
          </button>
        )}
      </li>
    )
  }
  return (
    <li class="row">
      <button
        type="button"
        class="name"
        disabled={!enabled || !canAsk(chat, row, isLast)}
        onClick={() => ask(chat, row, isLast)}
      >
        <bdi>{reference.name}</bdi>
      </button>
      <span class="cells">
        {cells.map((cell, index) => (
          <Value key={index} {...cell} />
        ))}
        {reference.status !== undefined && (
          <span class="cell">
            <bdi>{reference.status}</bdi>
          </span>
        )}
      </span>
    </li>
  )
}

export const Rows = ({ parts, ...rest }: Props) => (
  <ol class="rows" aria-label="What was found">
    {parts.rows.map((row, index) => (
      <RowView key={index} row={row} {...rest} />
    ))}
  </ol>
)
