/** Buttons for the entities that a question may mean. */
import "./choices.css"
import { dateValue } from "../../shared/time.ts"
import type { Chat } from "../state/Chat.ts"
import { handleOf } from "../state/handle.ts"
import type { Turn } from "../state/Turn.ts"

interface Props {
  readonly chat: Chat
  readonly turn: Turn
  readonly enabled: boolean
}

/** Values from the answer that distinguish choices of the same name. */
const valuesOf = (turn: Turn, handle: string): ReadonlyArray<string> =>
  (turn.references.value.find((one) => handleOf(one) === handle)?.cells ?? [])
    .slice(0, 2)
    .map(({ kind, value }) => (kind === "date" || kind === "timestamp" ? dateValue(value) : value))

export const Choices = ({ chat, enabled, turn }: Props) => (
  <ol class="choices" aria-label="Which one?">
    {turn.choices.value.map(({ handle, name, status }, index) => (
      <li key={handle}>
        <button type="button" disabled={!enabled} onClick={() => void chat.say(name, { choice: handle })}>
          <span class="number" aria-hidden="true">
            {index + 1}
          </span>
          <bdi>{name}</bdi>
          <span class="status">
            {[...valuesOf(turn, handle), ...(status === undefined ? [] : [status])].map((value) => (
              <bdi key={value}>{value}</bdi>
            ))}
          </span>
        </button>
      </li>
    ))}
  </ol>
)
