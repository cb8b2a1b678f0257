/** Which of several is meant: one press answers. */
import "./choices.css"
import type { Chat } from "../state/Chat.ts"
import type { Turn } from "../state/Turn.ts"

interface Props {
  readonly chat: Chat
  readonly turn: Turn
  readonly enabled: boolean
}

export const Choices = ({ chat, enabled, turn }: Props) => (
  <ol class="choices" aria-label="Which one?">
    {turn.choices.value.map(({ handle, name, status }, index) => (
      <li key={handle}>
        <button type="button" disabled={!enabled} onClick={() => void chat.say(name, { choice: handle })}>
          <span class="number" aria-hidden="true">
            {index + 1}
          </span>
          <bdi>{name}</bdi>
          {status !== undefined && (
            <span class="status">
              <bdi>{status}</bdi>
            </span>
          )}
        </button>
      </li>
    ))}
  </ol>
)
