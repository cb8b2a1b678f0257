/** Text messages: senders and delivery states, never a message's content; numbers are masked. */
import type { LoggedText, TextLog } from "../../wire/admin/texts.ts"
import { texts } from "./api.ts"
import { Badge, Command, counted, Isolated, Moment, Title, useTitle, WhenLoaded } from "./parts.tsx"
import { to } from "./place.ts"
import { may, useLoaded } from "./state.ts"
import { PagedTable } from "./Table.tsx"
import { type Label, Reason, SENT } from "./delivery.tsx"

/** How a received message was handled. */
const RECEIVED: Readonly<Record<string, Label>> = {
  waiting: ["Waiting for an answer"],
  answered: ["Answered", "good"],
  refused: ["Refused: no access", "warn"],
  keyword: ["Left to the carrier"],
  stopped: ["Not answered: sent STOP"],
  repeated: ["Not answered: repeated", "warn"],
  limited: ["Over the hourly limit", "warn"],
  failed: ["Not answered: failed", "bad"],
  late: ["Not answered: too late", "bad"]
}

const KINDS: Readonly<Record<string, string>> = {
  answer: "an answer",
  refusal: "where to ask for access",
  notice: "a notice",
  apology: "an apology",
  approval: "a link to approve a change",
  test: "a test"
}

const HEADINGS = ["When", "Who", "What", "State"]

export const Texts = () => {
  useTitle("Texts")
  const { loaded, reload } = useLoaded(() => texts(), [])
  return (
    <>
      <Title note="Who sent Max a text message, and whether the answer arrived. The messages themselves aren't shown.">
        Texts
      </Title>
      <WhenLoaded loaded={loaded} reload={reload}>
        {(log) => (
          <>
            <Lines {...log} />
            {log.lines.length === 0 && log.texts.length === 0 ? null : (
              <PagedTable
                caption="Received and sent texts"
                headings={HEADINGS}
                first={log}
                load={texts}
                rowsOf={rowsOf}
                empty="No messages yet."
              />
            )}
            {log.lines.length === 0 || may("secrets") ? null : <Commands openRole={log.openRole} />}
          </>
        )}
      </WhenLoaded>
    </>
  )
}

const Lines = ({ lines, openRole }: TextLog) =>
  lines.length === 0 ? (
    <div class="empty">
      <p>No number is connected, so Max receives no text messages.</p>
      {may("secrets") ? (
        <p>
          Connect one under <a href={to(["phone"])}>Phone</a>.
        </p>
      ) : (
        <Command text="max sms add-number +15125550100 --account AC…">
          Connecting a number needs the power over secrets, or a command:
        </Command>
      )}
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
            All people with a known number: <Badge kind="warn">Open as {openRole}</Badge>
          </dd>
        )}
      </div>
    </dl>
  )

const Commands = ({ openRole }: { readonly openRole: string | undefined }) => (
  <>
    {openRole === undefined ? (
      <Command text="max sms open --role guest">
        Admitting all people with a known number trusts the sender's number. By command:
      </Command>
    ) : (
      <Command text="max sms close">To admit members only, from the next message on:</Command>
    )}
    <Command text="max sms add-number +15125550100 --account AC…">To connect another number:</Command>
  </>
)

const rowsOf = (pages: ReadonlyArray<TextLog>) => {
  const all = pages.flatMap((page) => page.texts)
  const severalLines = new Set(all.map(({ line }) => line)).size > 1
  return all.map((text, index) => ({ key: `${text.at} ${index}`, cells: cellsOf(text, severalLines) }))
}

const cellsOf = (text: LoggedText, severalLines: boolean) => {
  const { at, direction, error, kind = "", line, number, person, segments, state } = text
  const [label, badge] = (direction === "in" ? RECEIVED : SENT)[state] ?? [state]
  return [
    <Moment at={at} />,
    <>
      {person === undefined ? null : (
        <div>
          <Isolated>{person.name}</Isolated>
        </div>
      )}
      <div class={person === undefined ? undefined : "soft fine"}>{number}</div>
    </>,
    <>
      {direction === "in" ? "wrote" : `was sent ${KINDS[kind] ?? kind}`}
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
      <Badge kind={badge ?? "neutral"}>{label}</Badge>
      <Reason error={error} />
    </>
  ]
}
