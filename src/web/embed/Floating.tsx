/** The chat as a panel that a button in the corner of a site opens. */
import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { useRef } from "preact/hooks"
import type { Chat } from "../chat/state/Chat.ts"
import { App } from "../chat/view/App.tsx"

interface Props {
  readonly chat: Chat
  readonly signIn: ComponentChildren
}

export const Floating = ({ chat, signIn }: Props) => {
  const isOpen = useSignal(false)
  const launcher = useRef<HTMLButtonElement>(null)
  const open = () => {
    isOpen.value = true
    if (chat.access.value !== "signed in") void chat.start()
  }
  const close = () => {
    isOpen.value = false
    launcher.current?.focus()
  }
  return (
    <>
      <button
        ref={launcher}
        type="button"
        class="solid launcher"
        aria-expanded={isOpen.value}
        hidden={isOpen.value}
        onClick={open}
      >
        Ask Max
      </button>
      {isOpen.value && (
        <div
          class="panel"
          role="dialog"
          aria-label="Max"
          onKeyDown={(event) => event.key === "Escape" && chat.running.value === undefined && close()}
        >
          <App chat={chat} signIn={signIn} onClose={close} />
        </div>
      )}
    </>
  )
}
