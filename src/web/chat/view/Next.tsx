/** What a person asks next: the next rows of a list, or more about the one entity of an answer. */
import type { Reference } from "../../../wire/conversations.ts"
import type { AnswerParts } from "../state/answerParts.ts"
import type { Chat } from "../state/Chat.ts"
import { handleOf } from "../state/handle.ts"
import type { Turn } from "../state/Turn.ts"
import { mailTo, telTo } from "./contact.ts"

interface Props {
  readonly chat: Chat
  readonly turn: Turn
  readonly parts: AnswerParts
}

const Contact = ({ cells = [], name = "" }: Reference) => (
  <>
    {cells
      .filter(({ kind, value }) => (kind === "phone" || kind === "email") && !value.includes(", "))
      .map(({ kind, name: label, value }) => (
        <a key={label} class="plain" href={kind === "phone" ? telTo(value) : mailTo(value)}>
          {kind === "phone" ? "Call" : "Write to"} <bdi>{name}</bdi>
        </a>
      ))}
  </>
)

export const Next = ({ chat, parts, turn }: Props) => {
  const [only, ...others] = turn.references.value
  const subject = others.length === 0 && parts.rows.length === 0 && only?.name !== undefined ? only : undefined
  const said = new Set(subject?.cells?.map(({ name }) => name.toLowerCase()))
  const questions =
    subject === undefined
      ? []
      : (chat.welcome.value?.next ?? []).filter(
          ({ label, type }) => type === subject.type && !said.has(label.toLowerCase())
        )
  const hasContact = subject?.cells?.some(({ kind }) => kind === "phone" || kind === "email") === true
  const canOpen = subject !== undefined && chat.isOwnPage
  if (!parts.hasMore && questions.length === 0 && !hasContact && !canOpen) return null
  return (
    <div class="next" role="group" aria-label="Ask next">
      {parts.hasMore && (
        <button type="button" class="plain" onClick={() => void chat.say("more")}>
          More
        </button>
      )}
      {subject !== undefined && hasContact && <Contact {...subject} />}
      {subject !== undefined &&
        questions.map(({ label, question }) => (
          <button
            key={label}
            type="button"
            class="plain"
            onClick={() => void chat.say(question.replace("{name}", () => subject.name!))}
          >
            {label}
          </button>
        ))}
      {canOpen && (
        <button type="button" class="plain" onClick={() => void chat.goTo({ entity: handleOf(subject) })}>
          All details
        </button>
      )}
    </div>
  )
}
