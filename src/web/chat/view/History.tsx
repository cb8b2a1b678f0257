/** The list of conversations, searched and parted by when they were, and who is here. */
import "./history.css"
import { useSignal } from "@preact/signals"
import { BinIcon, OutIcon, PlusIcon, SearchIcon } from "../../shared/icons.tsx"
import { ThemeSwitch } from "../../shared/ThemeSwitch.tsx"
import { briefly, periodWords } from "../../shared/time.ts"
import { Wordmark } from "../../shared/Wordmark.tsx"
import type { Chat } from "../state/Chat.ts"
import type { ConversationSummary } from "../wire.ts"

interface Props {
  readonly chat: Chat
  /** The page has gone elsewhere. */
  readonly onGone?: () => void
}

interface ItemProps extends Props {
  readonly conversation: ConversationSummary
}

const Item = ({ chat, conversation, onGone }: ItemProps) => {
  const { id, title, updatedAt } = conversation
  const asks = useSignal(false)
  const isHere = chat.conversation.value === id
  if (asks.value) {
    return (
      <li class="item asks">
        <span>Delete this conversation?</span>
        <button type="button" class="plain danger" onClick={() => void chat.remove(conversation)}>
          Delete
        </button>
        <button type="button" class="plain" onClick={() => (asks.value = false)}>
          Keep
        </button>
      </li>
    )
  }
  return (
    <li class="item">
      <button
        type="button"
        class="open"
        aria-current={isHere ? "page" : undefined}
        onClick={() => {
          void chat.goTo({ conversation: id })
          onGone?.()
        }}
      >
        <bdi class="title">{title}</bdi>
        <time dateTime={updatedAt}>{briefly(new Date(updatedAt))}</time>
      </button>
      <button
        type="button"
        class="quiet square bin"
        aria-label={`Delete “${title}”`}
        onClick={() => (asks.value = true)}
      >
        <BinIcon />
      </button>
    </li>
  )
}

const groups = (conversations: ReadonlyArray<ConversationSummary>) => {
  const found: Array<{ readonly period: string; readonly items: Array<ConversationSummary> }> = []
  for (const conversation of conversations) {
    const period = periodWords(new Date(conversation.updatedAt))
    if (found.at(-1)?.period !== period) found.push({ period, items: [] })
    found.at(-1)!.items.push(conversation)
  }
  return found
}

const List = ({ chat, onGone }: Props) => {
  const { history } = chat
  const conversations = history.conversations.value
  const onScroll = (event: Event) => {
    const list = event.currentTarget as HTMLElement
    if (list.scrollHeight - list.scrollTop - list.clientHeight < 600) void history.more()
  }
  const going = history.running.value
  return (
    <nav class="list" aria-label="Conversations" onScroll={onScroll} tabIndex={-1}>
      {going.length > 0 && (
        <ul>
          {going.map(({ asked, turn }) => (
            <li key={turn} class="item going">
              <button
                type="button"
                class="open"
                onClick={() => {
                  void chat.goTo({ turn })
                  onGone?.()
                }}
              >
                <bdi class="title">{asked}</bdi>
                <span class="now">Answering</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {groups(conversations).map(({ items, period }) => (
        <section key={period}>
          <h2>{period}</h2>
          <ul>
            {items.map((conversation) => (
              <Item
                key={conversation.id}
                chat={chat}
                conversation={conversation}
                {...(onGone === undefined ? {} : { onGone })}
              />
            ))}
          </ul>
        </section>
      ))}
      {history.state.value === "failed" && <p class="aside">The list can't be had right now.</p>}
      {history.state.value === "ready" && conversations.length === 0 && going.length === 0 && (
        <p class="aside">
          {history.search.value.trim() === "" ? "What you ask is kept here." : "Nothing you asked has these words."}
        </p>
      )}
      {history.next.value !== undefined && (
        <button type="button" class="plain" onClick={() => void history.more()}>
          Show more
        </button>
      )}
    </nav>
  )
}

export const History = ({ chat, onGone }: Props) => {
  const { history } = chat
  // Alone on a narrow page it is the page.
  const Root = onGone === undefined ? "aside" : "div"
  const welcome = chat.welcome.value
  return (
    <Root class="history" {...(onGone === undefined ? { "aria-label": "Your conversations" } : {})}>
      {onGone === undefined && (
        <div class="head">
          <Wordmark />
          <button type="button" class="quiet new" onClick={() => void chat.goTo(undefined)}>
            <PlusIcon /> New
          </button>
        </div>
      )}
      <label class="search">
        <SearchIcon />
        <span class="visually-hidden">Search what you asked</span>
        <input
          type="search"
          placeholder="Search what you asked"
          value={history.search.value}
          onInput={(event) => history.find(event.currentTarget.value)}
        />
      </label>
      <List chat={chat} {...(onGone === undefined ? {} : { onGone })} />
      <div class="foot">
        <p>
          {welcome?.person !== undefined && <bdi class="who">{welcome.person}</bdi>}
          {welcome !== undefined && <bdi class="where">{welcome.organization}</bdi>}
        </p>
        {chat.isOwnPage && (
          <>
            <ThemeSwitch />
            <button type="button" class="quiet square" onClick={() => void chat.signOut()} aria-label="Sign out">
              <OutIcon />
            </button>
          </>
        )}
      </div>
    </Root>
  )
}
