/** One turn: time, question, lookups, answer and actions. */
import "./turn.css"
import "./figures.css"
import { useSignal } from "@preact/signals"
import { memo } from "../../shared/memo.ts"
import { AgainIcon, EditIcon } from "../../shared/icons.tsx"
import { clock } from "../../shared/time.ts"
import { type AnswerParts, partsOfAnswer } from "../state/answerParts.ts"
import type { Chat } from "../state/Chat.ts"
import type { Turn } from "../state/Turn.ts"
import { Choices } from "./Choices.tsx"
import { CopyButton } from "./CopyButton.tsx"
import { Download } from "./Download.tsx"
import { DraftCard } from "./DraftCard.tsx"
import { EditQuestion } from "./EditQuestion.tsx"
import { FailureNotice } from "./FailureNotice.tsx"
import { Loaded } from "./Loaded.tsx"
import { Next } from "./Next.tsx"
import { Prose } from "./Prose.tsx"
import { Question } from "./Question.tsx"
import { Rows } from "./Rows.tsx"

interface Props {
  readonly chat: Chat
  readonly turn: Turn
  readonly isLast: boolean
  /** The day, on the first turn of each day. */
  readonly day: string | undefined
}

const Activity = ({ turn }: { readonly turn: Turn }) => {
  const steps = turn.activity.value
  if (turn.phase.value !== "asked" || turn.text.value !== "") return null
  return (
    <div class="activity">
      <p>{steps.at(-1) ?? "Thinking…"}</p>
      <span class="ruler" aria-hidden="true" />
    </div>
  )
}

interface AnswerProps {
  readonly chat: Chat
  readonly turn: Turn
  readonly isLast: boolean
  readonly busy: boolean
}

/** The changes that a turn has drafted; the last turn also shows those of no turn. */
const TurnDrafts = ({ chat, isLast, turn }: Pick<AnswerProps, "chat" | "isLast" | "turn">) => {
  const position = turn.position.value
  const own = chat.drafts.cards.value.filter((card) => (card.turn === undefined ? isLast : card.turn === position))
  return (
    <>
      {own.map((card) => (
        <DraftCard key={card.id} card={card} chat={chat} />
      ))}
    </>
  )
}

/** What the model said before its lookups; it is no part of the answer. */
const Prefaces = ({ turn }: { readonly turn: Turn }) => (
  <>
    {turn.prefaces.value.map((text, index) => (
      <div key={index} class="preface">
        <Prose text={text} dimmed />
      </div>
    ))}
  </>
)

/** The way from a question for missing values to the form that asks for all of them. */
const FillIn = ({ chat, turn }: { readonly chat: Chat; readonly turn: Turn }) => {
  const form = turn.form.value
  if (form === undefined || !chat.isOwnPage) return null
  return (
    <p>
      <button
        type="button"
        class="plain"
        onClick={() => {
          chat.prefilled = form
          void chat.goTo({ action: form.actionId })
        }}
      >
        Fill in a form
      </button>
    </p>
  )
}

/** A complete answer: its text, its list as rows or choices, and what one asks next. */
const Complete = ({ busy, chat, isLast, turn }: AnswerProps) => {
  const { figures, references, text } = turn
  const parts: AnswerParts = partsOfAnswer(text.value, references.value, chat.welcome.value?.person, figures.value)
  const hasChoices = turn.choices.value.length > 0
  return (
    <>
      <Prose text={parts.before} />
      {parts.figures.map((one, index) => (
        <Loaded key={index} chat={chat}>
          {({ Figures }) => <Figures figures={one} />}
        </Loaded>
      ))}
      {hasChoices ? (
        <Choices chat={chat} turn={turn} enabled={isLast && !busy} />
      ) : (
        parts.rows.length > 0 && <Rows chat={chat} parts={parts} enabled={!busy} isLast={isLast} />
      )}
      {parts.after !== "" && (
        <div class="below">
          <Prose text={parts.after} />
        </div>
      )}
      {isLast && !busy && <FillIn chat={chat} turn={turn} />}
      {isLast && !busy && !hasChoices && <Next chat={chat} parts={parts} turn={turn} />}
    </>
  )
}

const Answer = (props: AnswerProps) => {
  const { turn } = props
  const phase = turn.phase.value
  if (phase === "answered") return <Complete {...props} />
  if (phase === "withheld") {
    return (
      <p class="aside">
        Your access has changed since, so this answer is no longer shown. Ask again for a current one.
      </p>
    )
  }
  return (
    <>
      <Prose text={turn.text.value} growing={phase === "asked"} dimmed={phase === "stopped"} />
      {phase === "stopped" && <p class="aside">You stopped this answer. It wasn't saved.</p>}
    </>
  )
}

export const TurnView = memo(({ chat, day, isLast, turn }: Props) => {
  const editing = useSignal(false)
  const phase = turn.phase.value
  const busy = chat.running.value !== undefined
  const again = () => void chat.say(turn.asked, undefined, turn)
  const canReplace = !busy && (turn.position.value !== undefined || phase === "stopped" || phase === "failed")
  return (
    <>
      {day !== undefined && <p class="day">{day}</p>}
      <article class="turn" aria-busy={phase === "asked"}>
        <time class="when" dateTime={turn.at.toISOString()}>
          {clock(turn.at)}
        </time>
        {editing.value ? (
          <EditQuestion chat={chat} turn={turn} close={() => (editing.value = false)} />
        ) : (
          <div class="question">
            <Question text={turn.asked} />
            {canReplace && (
              <button type="button" class="quiet square tool" onClick={() => (editing.value = true)} aria-label="Edit">
                <EditIcon />
              </button>
            )}
          </div>
        )}
        <div class="answer">
          <Prefaces turn={turn} />
          <Activity turn={turn} />
          <Answer chat={chat} turn={turn} isLast={isLast} busy={busy} />
          {phase === "failed" && turn.failure.value !== undefined && (
            <FailureNotice failure={turn.failure.value} retry={busy ? undefined : again}>
              {turn.replaces.length > 0 && (
                <button type="button" class="plain" onClick={() => chat.thread.restore(turn)}>
                  Show the earlier answer
                </button>
              )}
            </FailureNotice>
          )}
          {phase === "answered" && <TurnDrafts chat={chat} turn={turn} isLast={isLast} />}
          {phase !== "asked" && phase !== "failed" && (
            <div class="tools">
              {turn.text.value !== "" && <CopyButton text={turn.text.value} />}
              {turn.list.value !== undefined && <Download chat={chat} query={turn.list.value} />}
              {canReplace && (isLast || phase === "withheld") && (
                <button type="button" class="quiet tool" onClick={again}>
                  <AgainIcon /> Ask again
                </button>
              )}
              {phase === "stopped" && turn.replaces.length > 0 && (
                <button type="button" class="quiet tool" onClick={() => chat.thread.restore(turn)}>
                  Show the earlier answer
                </button>
              )}
            </div>
          )}
        </div>
      </article>
    </>
  )
})
