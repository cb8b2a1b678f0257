/** The open conversation: its turns, oldest first, and the input field. */
import "./conversation.css"
import { useSignal } from "@preact/signals"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { DownIcon } from "../../shared/icons.tsx"
import { dayName } from "../../shared/time.ts"
import type { Chat } from "../state/Chat.ts"
import { Composer } from "./Composer.tsx"
import { DraftCard } from "./DraftCard.tsx"
import { Empty } from "./Empty.tsx"
import { FailureNotice } from "./FailureNotice.tsx"
import { Part } from "./Part.tsx"
import { Region } from "./Region.tsx"
import { TurnView } from "./TurnView.tsx"

/** Within this many pixels of the end, the page scrolls along with new text. */
const NEAR = 80

export const Conversation = ({ chat }: { readonly chat: Chat }) => {
  const scroller = useRef<HTMLDivElement>(null)
  const paper = useRef<HTMLDivElement>(null)
  const follows = useRef(true)
  const top = useRef(0)
  const isAway = useSignal(false)
  const turns = chat.turns.value
  const { value: at } = chat.place
  const isAlone = at !== undefined && "change" in at && turns.length === 0
  const isInbox = at !== undefined && "inbox" in at
  const action = at !== undefined && "action" in at ? at.action : undefined
  const entity = at !== undefined && "entity" in at ? at.entity : undefined
  const isTop = isInbox || action !== undefined || entity !== undefined
  const place = JSON.stringify(chat.place.value)
  const first = turns[0]?.key
  const last = turns.at(-1)?.key

  const toEnd = () => {
    const { current } = scroller
    if (current !== null) current.scrollTop = current.scrollHeight
  }

  // A conversation opens at its end, and a new question scrolls into view.
  useLayoutEffect(() => {
    follows.current = !isTop
    isAway.value = false
    if (isTop) scroller.current?.scrollTo(0, 0)
    else toEnd()
  }, [place, last])

  useEffect(() => {
    const { current } = paper
    if (current === null) return
    const watch = new ResizeObserver(() => {
      if (follows.current) toEnd()
    })
    watch.observe(current)
    return () => watch.disconnect()
  }, [turns.length === 0])

  // Earlier turns are inserted above without moving the visible ones.
  const height = useRef(0)
  const before = useRef<string | undefined>(undefined)
  useLayoutEffect(() => {
    const { current } = scroller
    if (current !== null && before.current !== undefined && before.current !== first && !follows.current) {
      current.scrollTop += current.scrollHeight - height.current
    }
    before.current = first
    height.current = current?.scrollHeight ?? 0
  }, [first, turns.length])

  const isLoading = useRef(false)
  const onScroll = () => {
    const { current } = scroller
    if (current === null) return
    const left = current.scrollHeight - current.scrollTop - current.clientHeight
    // Only scrolling up ends the following; growing content does not.
    if (left < NEAR) follows.current = true
    else if (current.scrollTop < top.current) follows.current = false
    top.current = current.scrollTop
    isAway.value = left > 4 * NEAR
    height.current = current.scrollHeight
    if (current.scrollTop > 400 || isLoading.current || !chat.thread.hasEarlier.value || follows.current) return
    isLoading.current = true
    void chat.loadEarlier().finally(() => (isLoading.current = false))
  }

  return (
    <Region chat={chat} class="conversation">
      <div class="scroller" ref={scroller} onScroll={onScroll} tabIndex={-1}>
        <div class="sheet">
          {isTop ? (
            <Part chat={chat} action={action} entity={entity} />
          ) : isAlone && chat.failure.value === undefined ? (
            <div class="entries alone">
              <h1 tabIndex={-1}>One change</h1>
              <p>
                <button type="button" class="plain small" onClick={() => void chat.goTo({ inbox: true })}>
                  All changes in the inbox
                </button>
              </p>
              {chat.drafts.cards.value.map((card) => (
                <DraftCard key={card.id} card={card} chat={chat} alone />
              ))}
            </div>
          ) : turns.length === 0 && !chat.loading.value && chat.failure.value === undefined ? (
            <Empty chat={chat} />
          ) : (
            <div class="entries" ref={paper}>
              <h1 class="visually-hidden">Conversation</h1>
              {chat.thread.hasEarlier.value && (
                <button type="button" class="quiet earlier" onClick={() => void chat.loadEarlier()}>
                  Show earlier turns
                </button>
              )}
              {chat.failure.value !== undefined && <FailureNotice failure={chat.failure.value} />}
              <div class="log" role="log" aria-label="Conversation" aria-busy={chat.loading.value}>
                {turns.map((turn, index) => {
                  const day = dayName(turn.at)
                  const isNewDay = index === 0 || dayName(turns[index - 1]!.at) !== day
                  return (
                    <TurnView
                      key={turn.key}
                      chat={chat}
                      turn={turn}
                      day={isNewDay ? day : undefined}
                      isLast={index === turns.length - 1}
                    />
                  )
                })}
              </div>
            </div>
          )}
          <div class="foot">
            {isAway.value && !isTop && (
              <button type="button" class="to-end" onClick={toEnd} aria-label="Scroll to the end">
                <DownIcon />
              </button>
            )}
            {/* It would cover a form's fields. */}
            {(action ?? "") === "" && entity === undefined && <Composer chat={chat} />}
          </div>
        </div>
      </div>
      <p class="visually-hidden" role="status">
        {chat.status.value}
      </p>
    </Region>
  )
}
