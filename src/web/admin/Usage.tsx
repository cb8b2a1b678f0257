/** Usage: how many questions were asked, how they ended and what they cost, by day, person and model. */
import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import type { Usage as UsageReport, UsageTotal } from "../../wire/admin/usage.ts"
import { usage } from "./api.ts"
import { Command, counted, Isolated, Title, useTitle, WhenLoaded } from "./parts.tsx"
import { to } from "./place.ts"
import { Questions } from "./Questions.tsx"
import { Retention } from "./Retention.tsx"
import { announcement, useLoaded } from "./state.ts"
import { Table } from "./Table.tsx"

const PERIODS = [7, 30, 90]
const NUMBERS = ["Questions", "Answered", "Declined", "Failed", "Tokens", "Cost"]

export const Usage = ({ days: chosen }: { readonly days?: string | undefined }) => {
  useTitle("Usage")
  const days = PERIODS.find((period) => String(period) === chosen) ?? 30
  const { loaded, reload } = useLoaded(() => usage(days), [days])
  return (
    <>
      <Title note="The questions that were asked, how they ended, and about what they cost. Who asked what isn't shown.">
        Usage
      </Title>
      <nav class="parts" aria-label="Period">
        <ul>
          {PERIODS.map((period) => (
            <li key={period}>
              <a href={to(["usage"], { days: String(period) })} aria-current={period === days ? "page" : undefined}>
                {period} days
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <WhenLoaded loaded={loaded} reload={reload}>
        {(report) => <Report report={report} />}
      </WhenLoaded>
      <Command text={`max usage --days ${days} --by person`}>The same as a command, per person and model:</Command>
      {loaded.is === "ready" ? (
        <Retention key={loaded.value.conversationDays} of={loaded.value} reload={reload} />
      ) : null}
      <Questions />
    </>
  )
}

const Report = ({ report }: { readonly report: UsageReport }) => {
  const { byDay, byModel, byPerson, days, others, total } = report
  const tally = total.questions === 0 ? `No question was asked in ${days} days.` : counted(total.questions, "question")
  useEffect(() => void (announcement.value = tally), [tally, days])
  if (total.questions === 0) return <p class="empty">{tally}</p>
  const unknown = total.questions - total.answered - total.declined - total.failed
  return (
    <>
      <dl class="facts">
        {NUMBERS.map((name, index) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{numbersOf(total)[index]}</dd>
          </div>
        ))}
      </dl>
      <p class="soft">
        Declined: the reply answered nothing, because the question wasn't understood or asked for what Max doesn't do.
        Failed: there was no reply.
        {unknown === 0
          ? ""
          : ` ${counted(unknown, "question")} ${unknown === 1 ? "was" : "were"} stopped, or asked before Max counted how questions end.`}
        {total.dollars === undefined ? " A cost is unknown where MAX_PRICES doesn't name the model." : ""}
      </p>
      <h2>By day</h2>
      <Totals
        what="Day"
        caption="Usage by day"
        rows={byDay.map(({ day, ...own }) => ({ key: day, name: <CalendarDay of={day} />, total: own }))}
        total={total}
      />
      <h2>By person</h2>
      <Totals
        what="Person"
        caption="Usage by person"
        rows={[
          ...byPerson.map(({ id, name, ...own }) => ({
            key: id,
            name:
              id === "" ? (
                "Without a person"
              ) : name === undefined ? (
                <span class="soft">
                  A name you can't see <code>{id}</code>
                </span>
              ) : (
                <Isolated>{name}</Isolated>
              ),
            total: own
          })),
          ...(others === undefined
            ? []
            : [{ key: "others", name: counted(others.people, "other person", "other people"), total: others }])
        ]}
        total={total}
      />
      <h2>By model</h2>
      <Totals
        what="Model"
        caption="Usage by model"
        rows={byModel.map(({ model, ...own }) => ({ key: model, name: <code>{model}</code>, total: own }))}
        total={total}
      />
    </>
  )
}

interface TotalRow {
  readonly key: string
  readonly name: ComponentChildren
  readonly total: UsageTotal
}

const Totals = ({
  caption,
  rows,
  total,
  what
}: {
  readonly caption: string
  readonly what: string
  readonly rows: ReadonlyArray<TotalRow>
  readonly total: UsageTotal
}) => (
  <Table
    caption={caption}
    headings={[what, ...NUMBERS]}
    numbers={NUMBERS}
    rows={rows.map(({ key, name, total: own }) => ({ key, cells: [name, ...numbersOf(own)] }))}
    totals={["Total", ...numbersOf(total)]}
  />
)

const DOLLARS = new Intl.NumberFormat(undefined, { style: "currency", currency: "USD" })

/** In the order of `NUMBERS`. */
const numbersOf = ({ answered, declined, dollars, failed, inputTokens, outputTokens, questions }: UsageTotal) => [
  ...[questions, answered, declined, failed, inputTokens + outputTokens].map((number) => number.toLocaleString()),
  dollars === undefined ? "unknown" : dollars > 0 && dollars < 0.005 ? "< $0.01" : DOLLARS.format(dollars)
]

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" })

/** A day of the organization's calendar, whatever the browser's time zone. */
const CalendarDay = ({ of }: { readonly of: string }) => (
  <time dateTime={of}>{DAY.format(new Date(`${of}T00:00:00Z`))}</time>
)
