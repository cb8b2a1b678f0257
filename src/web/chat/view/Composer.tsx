/** The input field. Enter sends, Shift+Enter starts a new line, Escape stops the running turn. */
import "./composer.css"
import { useLayoutEffect, useRef } from "preact/hooks"
import { ReturnIcon, StopIcon } from "../../shared/icons.tsx"
import type { Chat } from "../state/Chat.ts"

/** Characters of a question. */
const MAX_LENGTH = 4000

export const Composer = ({ chat }: { readonly chat: Chat }) => {
  const field = useRef<HTMLTextAreaElement>(null)
  const words = chat.draft.value
  const isAnswering = chat.running.value !== undefined
  const place = JSON.stringify(chat.place.value)

  const fit = () => {
    const { current } = field
    if (current === null) return
    current.style.height = "auto"
    current.style.height = `${current.scrollHeight}px`
  }
  useLayoutEffect(fit, [words])

  // The height follows the width, which the page may set after the first rendering.
  useLayoutEffect(() => {
    const { current } = field
    if (current === null) return
    let width = 0
    const watch = new ResizeObserver(() => {
      if (current.clientWidth === width) return
      width = current.clientWidth
      fit()
    })
    watch.observe(current)
    return () => watch.disconnect()
  }, [])

  // Focus the field only with a hardware keyboard: on a phone, the screen keyboard would cover the page.
  // The place also changes when an answer is stored; the focus stays where the person moved it meanwhile.
  useLayoutEffect(() => {
    if (!isAnswering && matchMedia("(hover: hover)").matches) field.current?.focus({ preventScroll: true })
  }, [place])

  const ask = () => {
    const text = words.trim()
    if (text === "" || isAnswering) return
    chat.draft.value = ""
    void chat.say(text)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && isAnswering) void chat.stop()
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
    event.preventDefault()
    ask()
  }
  const left = MAX_LENGTH - words.length
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        ask()
      }}
    >
      <div class="line">
        <textarea
          ref={field}
          rows={1}
          dir="auto"
          maxLength={MAX_LENGTH}
          aria-label="Ask Max"
          aria-keyshortcuts={chat.isOwnPage ? "Control+/" : undefined}
          placeholder="Ask Max"
          enterkeyhint="send"
          value={words}
          onInput={(event) => (chat.draft.value = event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        {isAnswering ? (
          <button type="button" class="solid" onClick={() => void chat.stop()}>
            <StopIcon /> Stop
          </button>
        ) : (
          <button type="submit" class="solid" disabled={words.trim() === ""}>
            Ask <ReturnIcon />
          </button>
        )}
      </div>
      <p class="note">
        {left < 400 ? <span class="left">{left} characters left</span> : <>Max shows only what you may see.</>}
      </p>
    </form>
  )
}
