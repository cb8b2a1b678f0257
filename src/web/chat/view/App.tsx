/** The whole chat: the sign-in until there is a session, then the list and the conversation. */
import "./app.css"
import { type Signal, useSignal } from "@preact/signals"
import type { ComponentChildren, RefObject } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import { CloseIcon, MenuIcon, PlusIcon } from "../../shared/icons.tsx"
import { Wordmark } from "../../shared/Wordmark.tsx"
import type { Chat } from "../state/Chat.ts"
import { Conversation } from "./Conversation.tsx"
import { History } from "./History.tsx"
import { Region } from "./Region.tsx"
import { focusQuestion } from "./shortcuts.ts"

interface Props {
  readonly chat: Chat
  /** Shown to people without a session. */
  readonly signIn: ComponentChildren
  /** Closes the chat, where it can be closed. */
  readonly onClose?: () => void
}

/** The width in pixels from which the list is shown beside the conversation. */
const WIDE = 832

/** Whether the element is narrow: inside another site, the width of the window doesn't tell. */
const useIsNarrow = (root: RefObject<HTMLElement | null>): boolean => {
  const isNarrow = useSignal(false)
  useLayoutEffect(() => {
    const { current } = root
    if (current === null) return
    const measure = () => (isNarrow.value = current.clientWidth < WIDE)
    measure()
    const watch = new ResizeObserver(measure)
    watch.observe(current)
    return () => watch.disconnect()
  }, [root, isNarrow])
  return isNarrow.value
}

interface TopBarProps {
  readonly chat: Chat
  readonly listed: Signal<boolean>
  readonly onClose?: (() => void) | undefined
}

const TopBar = ({ chat, listed, onClose }: TopBarProps) => (
  <header class="topbar">
    <button
      type="button"
      class="quiet square"
      aria-label={chat.drafts.waiting.value > 0 ? "Conversations; changes wait for you" : "Conversations"}
      aria-expanded={listed.value}
      onClick={() => (listed.value = !listed.value)}
    >
      {listed.value ? <CloseIcon /> : <MenuIcon />}
      {chat.drafts.waiting.value > 0 && <span class="waits" />}
    </button>
    <Wordmark />
    <span>
      <button
        type="button"
        class="quiet square"
        aria-label="New conversation"
        onClick={() => {
          listed.value = false
          void chat.goTo(undefined)
        }}
      >
        <PlusIcon />
      </button>
      {onClose !== undefined && (
        <button type="button" class="quiet square" aria-label="Close" onClick={onClose}>
          <CloseIcon />
        </button>
      )}
    </span>
  </header>
)

const SignedIn = ({ chat, onClose }: Omit<Props, "signIn">) => {
  const root = useRef<HTMLDivElement>(null)
  const isNarrow = useIsNarrow(root)
  const listed = useSignal(false)
  /** A card that has just appeared may have moved what is under the finger: nothing but a refusal can be pressed. */
  const still = (event: Event) => {
    if (performance.now() >= chat.drafts.stillUntil) return
    if (event.target instanceof Element && event.target.closest("[data-at-once]") !== null) return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div
      ref={root}
      class={`app ${isNarrow ? "narrow" : "wide"}`}
      onClickCapture={still}
      onKeyDownCapture={(event) => event.key === "Enter" && still(event)}
    >
      {chat.isOwnPage && (
        <button type="button" class="solid skip" onClick={focusQuestion}>
          Skip to the question
        </button>
      )}
      {isNarrow ? (
        <>
          <TopBar chat={chat} listed={listed} onClose={onClose} />
          {listed.value ? (
            <Region chat={chat} class="listed">
              <h1 class="visually-hidden">Conversations</h1>
              <History chat={chat} onNavigate={() => (listed.value = false)} />
            </Region>
          ) : (
            <Conversation chat={chat} />
          )}
        </>
      ) : (
        <>
          <History chat={chat} />
          <Conversation chat={chat} />
        </>
      )}
    </div>
  )
}

export const App = ({ chat, onClose, signIn }: Props) => {
  switch (chat.access.value) {
    case "unknown":
      return <div class="blank" aria-busy="true" />
    case "signed out":
    case "unreachable":
      return <>{signIn}</>
    case "signed in":
      return <SignedIn chat={chat} {...(onClose === undefined ? {} : { onClose })} />
  }
}
