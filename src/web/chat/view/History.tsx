/** The list of conversations, searchable and grouped by date, and the signed-in person. */
import "./history.css"
import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import type { ConversationSummary } from "../../../wire/conversations.ts"
import { BinIcon, EditIcon, InboxIcon, OutIcon, PlusIcon, SearchIcon } from "../../shared/icons.tsx"
import { ThemeSwitch } from "../../shared/ThemeSwitch.tsx"
import { shortDate, periodName } from "../../shared/time.ts"
import { Wordmark } from "../../shared/Wordmark.tsx"
import type { Chat } from "../state/Chat.ts"
import { COUNTED } from "../state/Drafts.ts"
import type { Place } from "../state/place.ts"

interface Props {
  readonly chat: Chat
  /** Called when another conversation is opened. */
  readonly onNavigate?: () => void
}

interface ItemProps extends Props {
  readonly conversation: ConversationSummary
}

const Item = ({ chat, conversation, onNavigate }: ItemProps) => {
  const { id, matched, title, updatedAt } = conversation
  const confirming = useSignal(false)
  const isOpen = chat.conversation.value === id
  if (confirming.value) {
    return (
      <li class="item asks">
        <span>
          Delete “<bdi>{title}</bdi>”?
        </span>
        <button type="button" class="plain danger" onClick={() => void chat.remove(conversation)}>
          Delete
        </button>
        <button type="button" class="plain" onClick={() => (confirming.value = false)}>
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
        aria-current={isOpen ? "page" : undefined}
        onClick={() => {
          void chat.goTo({ conversation: id })
          onNavigate?.()
        }}
      >
        <bdi class="title">{title}</bdi>
        <time dateTime={updatedAt}>{shortDate(new Date(updatedAt))}</time>
        {matched !== undefined && <bdi class="matched">{matched}</bdi>}
      </button>
      <button
        type="button"
        class="quiet square bin"
        aria-label={`Delete “${title}”`}
        onClick={() => (confirming.value = true)}
      >
        <BinIcon />
      </button>
    </li>
  )
}

const groups = (conversations: ReadonlyArray<ConversationSummary>) => {
  const grouped: Array<{ readonly period: string; readonly items: Array<ConversationSummary> }> = []
  for (const conversation of conversations) {
    const period = periodName(new Date(conversation.updatedAt))
    if (grouped.at(-1)?.period !== period) grouped.push({ period, items: [] })
    grouped.at(-1)!.items.push(conversation)
  }
  return grouped
}

interface ToPlaceProps extends Props {
  readonly place: Exclude<Place, undefined>
  readonly children: ComponentChildren
}

/** The way to a part of the page that isn't a conversation. */
const ToPlace = ({ chat, children, onNavigate, place }: ToPlaceProps) => (
  <button
    type="button"
    class="open to-inbox"
    aria-current={Object.keys(place)[0] === Object.keys(chat.place.value ?? {})[0] ? "page" : undefined}
    onClick={() => {
      void chat.goTo(place)
      onNavigate?.()
    }}
  >
    {children}
  </button>
)

/** The ways to the inbox, with the number of changes that wait for this person's decision, and to what the person may do. */
const ToChanges = (props: Props) => {
  const { drafts, isOwnPage } = props.chat
  const count = drafts.waiting.value
  if (!drafts.isOn.value) return null
  return (
    <>
      <ToPlace {...props} place={{ inbox: true }}>
        <span class="title">
          <InboxIcon /> Inbox
        </span>
        {count > 0 && (
          <span class="count">
            {count < COUNTED ? count : `${COUNTED} or more`}
            <span class="visually-hidden"> waiting for you</span>
          </span>
        )}
      </ToPlace>
      {isOwnPage && (
        <ToPlace {...props} place={{ action: "" }}>
          <span class="title">
            <EditIcon /> What you can do
          </span>
        </ToPlace>
      )}
    </>
  )
}

const List = ({ chat, onNavigate }: Props) => {
  const { history } = chat
  const conversations = history.conversations.value
  const onScroll = (event: Event) => {
    const list = event.currentTarget as HTMLElement
    if (list.scrollHeight - list.scrollTop - list.clientHeight < 600) void history.more()
  }
  const running = history.running.value
  return (
    <nav class="list" aria-label="Conversations" onScroll={onScroll} tabIndex={-1}>
      {running.length > 0 && (
        <ul>
          {running.map(({ asked, turn }) => (
            <li key={turn} class="item going">
              <button
                type="button"
                class="open"
                onClick={() => {
                  void chat.goTo({ turn })
                  onNavigate?.()
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
                {...(onNavigate === undefined ? {} : { onNavigate })}
              />
            ))}
          </ul>
        </section>
      ))}
      {history.state.value === "failed" && <p class="aside">The list can't be loaded right now.</p>}
      {history.state.value === "ready" && conversations.length === 0 && running.length === 0 && (
        <p class="aside">
          {history.search.value.trim() === ""
            ? "Your questions appear here."
            : "None of your questions contains these words."}
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

export const History = ({ chat, onNavigate }: Props) => {
  const { history } = chat
  // On a narrow page the list is the main content instead of a sidebar.
  const Root = onNavigate === undefined ? "aside" : "div"
  const welcome = chat.welcome.value
  const Me = chat.isOwnPage ? "a" : "p"
  return (
    <Root class="history" {...(onNavigate === undefined ? { "aria-label": "Your conversations" } : {})}>
      {onNavigate === undefined && (
        <div class="head">
          <Wordmark />
          <button
            type="button"
            class="quiet new"
            aria-keyshortcuts={chat.isOwnPage ? "Control+Shift+O" : undefined}
            onClick={() => void chat.goTo(undefined)}
          >
            <PlusIcon /> New
          </button>
        </div>
      )}
      <label class="search">
        <SearchIcon />
        <span class="visually-hidden">Search your questions</span>
        <input
          type="search"
          placeholder="Search your questions"
          aria-keyshortcuts={chat.isOwnPage ? "Control+K" : undefined}
          value={history.search.value}
          onInput={(event) => history.find(event.currentTarget.value)}
        />
      </label>
      <ToChanges chat={chat} {...(onNavigate === undefined ? {} : { onNavigate })} />
      <List chat={chat} {...(onNavigate === undefined ? {} : { onNavigate })} />
      <div class="foot">
        <Me class="me" {...(chat.isOwnPage ? { href: "/account", title: "Your account" } : {})}>
          {welcome?.person !== undefined && <bdi class="who">{welcome.person}</bdi>}
          {welcome !== undefined && <bdi class="where">{welcome.organization}</bdi>}
        </Me>
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
