/** Edits an earlier question; the new answer replaces this turn and all later ones. */
import { useSignal } from "@preact/signals"
import { useLayoutEffect, useRef } from "preact/hooks"
import type { Chat } from "../state/Chat.ts"
import type { Turn } from "../state/Turn.ts"

interface Props {
  readonly chat: Chat
  readonly turn: Turn
  readonly close: () => void
}

export const EditQuestion = ({ chat, close, turn }: Props) => {
  const words = useSignal(turn.asked)
  const field = useRef<HTMLTextAreaElement>(null)
  const later = chat.turns.value.length - chat.turns.value.indexOf(turn) - 1
  useLayoutEffect(() => {
    field.current?.focus()
    field.current?.setSelectionRange(words.peek().length, words.peek().length)
  }, [])
  const ask = () => {
    if (words.value.trim() === "") return
    close()
    void chat.say(words.value.trim(), undefined, turn)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") close()
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
    event.preventDefault()
    ask()
  }
  return (
    <form
      class="edit"
      onSubmit={(event) => {
        event.preventDefault()
        ask()
      }}
    >
      <textarea
        ref={field}
        dir="auto"
        rows={2}
        maxLength={4000}
        aria-label="Edit the question"
        value={words.value}
        onInput={(event) => (words.value = event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div class="tools">
        <button type="submit" class="solid small">
          Ask again
        </button>
        <button type="button" class="plain" onClick={close}>
          Cancel
        </button>
        {later > 0 && (
          <span class="aside">{later === 1 ? "The answer" : `The ${later} answers`} below will be replaced.</span>
        )}
      </div>
    </form>
  )
}
