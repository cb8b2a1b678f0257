/** Who wrote by text and what became of it: never what was said, and numbers only by their end. */
import { useState } from "preact/hooks"
import type { Problem } from "../shared/api.ts"
import { texts, type Text, type Texts as Found } from "./api.ts"
import { Badge, Command, counted, Failure, Moment, Said, Table, Title, usePage, When } from "./parts.tsx"
import { failed, useLoaded } from "./state.ts"

type Kind = Parameters<typeof Badge>[0]["kind"]

/** What became of a message. */
const RECEIVED: Readonly<Record<string, readonly [words: string, kind?: Kind]>> = {
  waiting: ["Waiting for an answer"],
  answered: ["Answered", "good"],
  refused: ["Not let in", "warn"],
  keyword: ["The carrier's to answer"],
  stopped: ["Not answered: said STOP"],
  repeated: ["Not answered: repeated", "warn"],
  limited: ["Over the hour's limit", "warn"],
  failed: ["Not answered: it failed", "bad"],
  late: ["Not answered: too late", "bad"]
}

/** How far a text has come. */
const SENT: typeof RECEIVED = {
  queued: ["Waiting to be sent"],
  trying: ["Being sent"],
  accepted: ["On its way"],
  sent: ["Sent"],
  delivered: ["Delivered", "good"],
  undelivered: ["Not delivered", "bad"],
  dead: ["Not sent", "bad"]
}

/** What a text is. */
const WHAT: Readonly<Record<string, string>> = {
  answer: "an answer",
  refusal: "where to ask for access",
  notice: "a notice",
  apology: "an apology"
}

export const Texts = () => {
  usePage("Texts")
  const { again, loaded } = useLoaded(() => texts(), [])
  return (
    <>
      <Title note="Who wrote to Max by text, and how far each answer came. What was said isn't shown here.">
        Texts
      </Title>
      <When loaded={loaded} again={again}>
        {(found) => (
          <>
            <Lines {...found} />
            {found.lines.length === 0 && found.texts.length === 0 ? null : <Log first={found} />}
            {found.lines.length === 0 ? null : <Commands openRole={found.openRole} />}
          </>
        )}
      </When>
    </>
  )
}

const Lines = ({ lines, openRole }: Found) =>
  lines.length === 0 ? (
    <div class="empty">
      <p>No number is connected, so nobody can write to Max by text.</p>
      <Command text="max sms add-number +15125550100 --account AC…">
        Connecting one needs its provider's secret, so it is a command:
      </Command>
    </div>
  ) : (
    <dl class="facts">
      <div>
        <dt>{lines.length === 1 ? "Number" : "Numbers"}</dt>
        {lines.map(({ number, provider }) => (
          <dd key={number}>
            {number} <span class="soft fine">{provider}</span>
          </dd>
        ))}
      </div>
      <div>
        <dt>Who may write</dt>
        {openRole === undefined ? (
          <dd>Members only</dd>
        ) : (
          <dd>
            Everybody whose number is known: <Badge kind="warn">Open as {openRole}</Badge>
          </dd>
        )}
      </div>
    </dl>
  )

const Commands = ({ openRole }: { readonly openRole: string | undefined }) => (
  <>
    {openRole === undefined ? (
      <Command text="max sms open --role guest">
        Letting everybody in whose number is known trusts the sender's number, so it is a command:
      </Command>
    ) : (
      <Command text="max sms close">Letting members in only, from the next message on:</Command>
    )}
    <Command text="max sms add-number +15125550100 --account AC…">Connecting another number:</Command>
  </>
)

const Log = ({ first }: { readonly first: Found }) => {
  const [rest, set] = useState<ReadonlyArray<Found>>([])
  const [problem, setProblem] = useState<Problem>()
  const pages = [first, ...rest]
  const next = pages.at(-1)!.next
  const all = pages.flatMap((page) => page.texts)
  if (all.length === 0) return <p class="empty">Nobody has written yet.</p>
  const severalLines = new Set(all.map(({ line }) => line)).size > 1
  const show = () => {
    setProblem(undefined)
    texts(next).then(
      (page) => set([...rest, page]),
      (error: unknown) => setProblem(failed(error))
    )
  }
  return (
    <>
      <Table
        caption="Messages and texts"
        headings={[{ name: "When" }, { name: "Who" }, { name: "What" }, { name: "State" }]}
        rows={all.map((text, index) => ({ key: `${text.at} ${index}`, cells: cellsOf(text, severalLines) }))}
      />
      {problem === undefined ? null : <Failure problem={problem} again={show} />}
      {next === undefined ? null : (
        <button type="button" class="button more" onClick={show}>
          Show more
        </button>
      )}
    </>
  )
}

const cellsOf = (text: Text, severalLines: boolean) => {
  const { at, direction, error, kind = "", line, number, person, segments, state } = text
  const [words, badge] = (direction === "in" ? RECEIVED : SENT)[state] ?? [state]
  return [
    <Moment at={at} />,
    <>
      {person === undefined ? null : (
        <div>
          <Said>{person.name}</Said>
        </div>
      )}
      <div class={person === undefined ? undefined : "soft fine"}>{number}</div>
    </>,
    <>
      {direction === "in" ? "wrote" : `was sent ${WHAT[kind] ?? kind}`}
      {segments === undefined && !severalLines ? null : (
        <div class="soft fine">
          {[
            ...(segments === undefined ? [] : [counted(segments, "segment")]),
            ...(severalLines ? [`over ${line}`] : [])
          ].join(", ")}
        </div>
      )}
    </>,
    <>
      <Badge kind={badge ?? "neutral"}>{words}</Badge>
      {error === undefined ? null : <div class="soft fine">{/^\d+$/.test(error) ? `code ${error}` : error}</div>}
    </>
  ]
}
