/** The page as a whole: who isn't in yet gets the way in, everybody else the list and the conversation. */
import "./app.css"
import { useEffect } from "preact/hooks"
import { MenuIcon, PlusIcon } from "../../shared/icons.tsx"
import { Wordmark } from "../../shared/Wordmark.tsx"
import type { Chat } from "../state/Chat.ts"
import { Conversation } from "./Conversation.tsx"
import { Drawer, useIsNarrow } from "./Drawer.tsx"
import { History } from "./History.tsx"
import { SignIn, type Entry } from "./SignIn.tsx"

interface Props {
  readonly chat: Chat
  readonly entry: Entry
}

const TopBar = ({ chat, open }: { readonly chat: Chat; readonly open: () => void }) => (
  <header class="topbar">
    <button type="button" class="quiet square" onClick={open} aria-label="Conversations">
      <MenuIcon />
    </button>
    <Wordmark />
    <button type="button" class="quiet square" onClick={() => void chat.goTo(undefined)} aria-label="New conversation">
      <PlusIcon />
    </button>
  </header>
)

export const App = ({ chat, entry }: Props) => {
  const isNarrow = useIsNarrow()
  useEffect(() => {
    const name = chat.welcome.value?.organization
    document.title = name === undefined ? "Max" : `Max at ${name}`
  }, [chat.welcome.value])
  switch (chat.access.value) {
    case "unknown":
      return <main class="blank" aria-busy="true" />
    case "out":
    case "unreachable":
      return <SignIn chat={chat} entry={entry} />
    case "in":
      return isNarrow ? (
        <Drawer
          label="Conversations"
          page={(open) => (
            <div class="app narrow">
              <TopBar chat={chat} open={open} />
              <Conversation chat={chat} />
            </div>
          )}
        >
          {(close) => <History chat={chat} onGone={close} />}
        </Drawer>
      ) : (
        <div class="app wide">
          <History chat={chat} />
          <Conversation chat={chat} />
        </div>
      )
  }
}
