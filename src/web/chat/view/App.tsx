/** The page as a whole: who isn't in yet gets the way in, everybody else the list and the conversation. */
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

interface Props {
  readonly chat: Chat
  /** What is shown to somebody who isn't in. */
  readonly outside: ComponentChildren
  /** Pressed to put the page away, where it can be. */
  readonly onClose?: () => void
}

/** Pixels from which on the list stands beside the conversation. */
const WIDE = 832

/** The width that there is, of the window or of the part of a site that the page has. */
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
      aria-label="Conversations"
      aria-expanded={listed.value}
      onClick={() => (listed.value = !listed.value)}
    >
      {listed.value ? <CloseIcon /> : <MenuIcon />}
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

const Inside = ({ chat, onClose }: Omit<Props, "outside">) => {
  const root = useRef<HTMLDivElement>(null)
  const isNarrow = useIsNarrow(root)
  const listed = useSignal(false)
  return (
    <div ref={root} class={`app ${isNarrow ? "narrow" : "wide"}`}>
      {isNarrow ? (
        <>
          <TopBar chat={chat} listed={listed} onClose={onClose} />
          {listed.value ? (
            <Region chat={chat} class="listed">
              <h1 class="visually-hidden">Conversations</h1>
              <History chat={chat} onGone={() => (listed.value = false)} />
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

export const App = ({ chat, outside, onClose }: Props) => {
  switch (chat.access.value) {
    case "unknown":
      return <div class="blank" aria-busy="true" />
    case "out":
    case "unreachable":
      return <>{outside}</>
    case "in":
      return <Inside chat={chat} {...(onClose === undefined ? {} : { onClose })} />
  }
}
