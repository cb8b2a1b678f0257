/**
 * A change as a card: what it does, on which rows, from what to what, until when, and what came of it. Code writes every word of
 * it, and every value stands alone, isolated from the text around it; nothing that a model has said is on a card.
 */
import "./drafts.css"
import { useSignal } from "@preact/signals"
import { useEffect, useId, useRef } from "preact/hooks"
import { clock } from "../../shared/time.ts"
import type { Chat } from "../state/Chat.ts"
import { type Card, isPending } from "../state/Card.ts"
import { STILL } from "../state/Drafts.ts"
import { deedOf, doneOf, timeLeft } from "./deed.ts"
import { DraftSteps } from "./DraftSteps.tsx"
import { listed } from "./texts.ts"

interface Props {
  readonly chat: Chat
  readonly card: Card
  /** The change that this one undoes, if it is shown as part of that one's card. */
  readonly undoes?: Card
  /** Whether the card is the page's subject, not part of a turn. */
  readonly alone?: boolean
}

const ENDED: Readonly<Record<string, string>> = {
  rejected: "Refused. Nothing was changed.",
  withdrawn: "You decided against it. Nothing was changed.",
  expired: "The time to confirm this is over. Nothing was changed.",
  stale: "The data has changed since this was shown. Nothing was changed.",
  failed: "This couldn't be done. Nothing was changed."
}

/** Milliseconds left, counted every second; undefined without an end. */
const useTimeLeft = ({ endsAt, preview }: Card): number | undefined => {
  const now = useSignal(performance.now())
  const runs = isPending(preview.value) && endsAt.value !== undefined
  useEffect(() => {
    if (!runs) return
    now.value = performance.now()
    const timer = setInterval(() => (now.value = performance.now()), 1000)
    return () => clearInterval(timer)
  }, [runs])
  return runs ? endsAt.value! - now.value : undefined
}

/** False for a moment after the controls have appeared. */
const useSettled = (key: string): boolean => {
  const settled = useSignal("")
  useEffect(() => {
    const timer = setTimeout(() => (settled.value = key), STILL)
    return () => clearTimeout(timer)
  }, [key])
  return settled.value === key
}

interface SecondProps {
  readonly card: Card
  readonly settled: boolean
  readonly confirm: (rows: number) => void
}

/** The second of two confirmations: another control than the first, and the number of rows typed into it. */
const Second = ({ card, confirm, settled }: SecondProps) => {
  const typed = useSignal("")
  const field = useRef<HTMLInputElement>(null)
  const id = useId()
  const { rows, steps } = card.preview.value
  const deed = deedOf(
    steps.map(({ actionId }) => actionId),
    rows
  )
  useEffect(() => field.current?.focus({ preventScroll: true }), [])
  return (
    <form
      class="second"
      onSubmit={(event) => {
        event.preventDefault()
        if (settled && typed.value.trim() === String(rows)) confirm(rows)
      }}
    >
      <label for={id}>
        To {deed.slice(0, 1).toLowerCase() + deed.slice(1)}, type the number {rows}.
      </label>
      <input
        ref={field}
        id={id}
        type="text"
        inputMode="numeric"
        autocomplete="off"
        value={typed.value}
        onInput={(event) => (typed.value = event.currentTarget.value)}
      />
      <button type="submit" class="solid" disabled={!settled || card.busy.value || typed.value.trim() !== String(rows)}>
        {deed}
      </button>
    </form>
  )
}

/** The person's yes and no. */
const Decision = ({ card, chat, undoes }: Props) => {
  const preview = card.preview.value
  const { digest, level, own, rows, state } = preview
  const actionIds = preview.steps.map(({ actionId }) => actionId)
  const again = level === "twice" && preview.confirmedOnce
  const settled = useSettled(`${card.id} ${state} ${again}`)
  const decide = (act: (one: Card) => Promise<void>) =>
    undoes === undefined ? act(card) : chat.drafts.decideUndo(undoes, act)
  const isWaitingForOthers = own && state === "waiting"
  const deed = undoes === undefined ? deedOf(actionIds, rows) : "Undo it"
  const label = level === "second" && own ? "Ask for approval" : level === "twice" ? `${deed}…` : deed
  const refusal = isWaitingForOthers ? "Take it back" : "Don't"
  return (
    <>
      {again && !isWaitingForOthers && (
        <Second
          card={card}
          settled={settled}
          confirm={(typed) => void decide((one) => chat.drafts.confirm(one, typed))}
        />
      )}
      <div class="decision">
        {!isWaitingForOthers && !again && (
          <button
            type="button"
            class={preview.destructive ? "plain danger" : "solid"}
            disabled={!settled || card.busy.value || digest === undefined}
            onClick={() => void decide((one) => chat.drafts.confirm(one))}
          >
            {label}
          </button>
        )}
        <button
          type="button"
          class="plain"
          data-at-once
          disabled={card.busy.value}
          onClick={() => void decide((one) => chat.drafts.refuse(one))}
        >
          {refusal}
        </button>
      </div>
    </>
  )
}

/** Who decides, and until when. */
const Terms = ({ card, left }: { readonly card: Card; readonly left: number }) => {
  const {
    approvers,
    complete,
    lasting,
    level,
    own,
    proposerName,
    remains = [],
    source,
    state,
    token
  } = card.preview.value
  const roles = approvers.length === 0 ? "No role allows that here." : `Role: ${listed(approvers, "or")}.`
  return (
    <div class="terms">
      {!own && (
        <p>
          <bdi>{proposerName ?? "Another member"}</bdi> asks for this.
        </p>
      )}
      {source && (
        <p>
          From a message of <bdi>{source.from}</bdi> (<bdi>{`${source.source} ${source.sourceId}`}</bdi>).
        </p>
      )}
      {lasting && <p>It can't be undone here.</p>}
      {remains.map((name) => (
        <p key={name}>
          “<bdi>{name}</bdi>” isn't taken back: it can't be undone here.
        </p>
      ))}
      {token && (
        <p>
          Drafted by “<bdi>{token}</bdi>”.
        </p>
      )}
      {level === "second" && own && (
        <p>
          {state === "waiting" ? "Waits for the approval of another person." : "Another person must approve it."}{" "}
          <bdi>{roles}</bdi>
        </p>
      )}
      {!complete && (
        <p>
          {own
            ? "You no longer see everything that this touches, so you can't confirm it."
            : "This touches more than you may see, so you can't approve it."}
        </p>
      )}
      <p>
        Nothing has changed yet. <span role="timer">Open for {timeLeft(left)}.</span>
      </p>
    </div>
  )
}

const Receipt = ({ card, chat }: Props) => {
  const preview = card.preview.value
  const { receipt, undoneBy } = preview
  const undo = card.undo.value
  const isUndoing = undo !== undefined && isPending(undo.preview.value)
  return (
    <div class="receipt">
      <p>
        <strong>{receipt?.calls === undefined ? `${doneOf(preview)}.` : receipt.message}</strong>{" "}
        {receipt && <time dateTime={receipt.at}>{clock(new Date(receipt.at))}</time>}
        {undoneBy && (receipt?.invertible ? " Its inverse was confirmed since." : " It was undone since.")}
      </p>
      {chat.mayConfirm.value &&
        !undoneBy &&
        !preview.lasting &&
        !isUndoing &&
        (receipt?.invertible || preview.steps.some(({ call }) => !call)) && (
          <button
            type="button"
            class="plain small"
            disabled={card.busy.value}
            onClick={() => void chat.drafts.undo(card)}
          >
            Undo
          </button>
        )}
    </div>
  )
}

const Outcome = ({ card, chat, isOver, undoes }: Props & { readonly isOver: boolean }) => {
  const { own, state } = card.preview.value
  if (state === "applied") return undoes === undefined ? <Receipt card={card} chat={chat} /> : null
  const ended = isOver ? "expired" : state
  const canRepeat = own && undoes === undefined && (ended === "expired" || ended === "stale")
  return (
    <div class="receipt">
      <p>{ENDED[ended]}</p>
      {canRepeat && (
        <button
          type="button"
          class="plain small"
          disabled={card.busy.value}
          onClick={() => void chat.drafts.again(card)}
        >
          Look again
        </button>
      )}
    </div>
  )
}

const Differences = ({ card }: { readonly card: Card }) =>
  card.differences.value.length === 0 ? null : (
    <ul class="differences">
      {card.differences.value.map(({ cell, now, row, was }, index) => (
        <li key={index}>
          <bdi>{row}</bdi>, {cell}: it was <bdi>{was ?? "empty"}</bdi> when you looked; it is{" "}
          <bdi>{now ?? "empty"}</bdi> now.
        </li>
      ))}
    </ul>
  )

export const DraftCard = ({ alone = false, card, chat, undoes }: Props) => {
  const Heading = alone ? "h2" : "h3"
  const preview = card.preview.value
  const left = useTimeLeft(card)
  const isOver = left !== undefined && left <= 0
  const isOpen = isPending(preview) && !isOver
  const id = useId()
  const actionIds = preview.steps.map(({ actionId }) => actionId)
  const title = `${undoes === undefined ? "" : "Undo: "}${deedOf(actionIds, preview.rows)}`
  const undo = card.undo.value
  return (
    // A group, not a landmark: several cards may have the same title.
    <div class={`draft ${isOpen ? "pending" : preview.state}`} role="group" aria-labelledby={id}>
      <Heading id={id}>{title}</Heading>
      <Differences card={card} />
      {preview.steps.length === 0 ? (
        <p class="aside">Its values aren't kept any more.</p>
      ) : (
        <DraftSteps steps={preview.steps} done={preview.state === "applied"} />
      )}
      {isOpen && <Terms card={card} left={left ?? 0} />}
      {isOpen &&
        preview.complete &&
        // A proposed policy is decided on where all of it is shown.
        (chat.mayConfirm.value && (preview.policy === undefined || preview.own) ? (
          <Decision card={card} chat={chat} {...(undoes === undefined ? {} : { undoes })} />
        ) : (
          <p>
            <a
              class="plain"
              data-at-once
              href={
                preview.policy === undefined ? chat.linkTo({ change: card.id }) : `/admin#/policy/proposals/${card.id}`
              }
              target="_blank"
              rel="noopener"
            >
              Decide in Max
            </a>
          </p>
        ))}
      {!isOpen && <Outcome card={card} chat={chat} isOver={isOver} {...(undoes === undefined ? {} : { undoes })} />}
      <p class="trouble" role="alert">
        {card.problem.value ?? ""}
      </p>
      {undo !== undefined && <DraftCard card={undo} chat={chat} undoes={card} alone={alone} />}
    </div>
  )
}
