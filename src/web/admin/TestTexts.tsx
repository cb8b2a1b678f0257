/** One text from a number to the administrator's own, and how far it came. */
import { useEffect } from "preact/hooks"
import type { LineTests, PhoneLine } from "../../wire/admin/connections.ts"
import { lineTests, testLine } from "./api.ts"
import { Reason, SENT } from "./delivery.tsx"
import { Badge, Command, Fact, Failure, Isolated, Moment, WhenLoaded } from "./parts.tsx"
import { to } from "./place.ts"
import { useSending } from "./sending.tsx"
import { may, useLoaded } from "./state.ts"

/** A delivery report that hasn't come by then may never come: carriers needn't send one. */
const WATCHED_MS = 120_000
const PAUSE_MS = 2000
const UNDER_WAY: ReadonlySet<string> = new Set(["queued", "trying", "accepted", "sent"])

const isUnderWay = ({ tests }: LineTests) =>
  tests.some(({ at, state }) => UNDER_WAY.has(state) && Date.now() - Date.parse(at) < WATCHED_MS)

export const TestTexts = ({ numbers }: Pick<PhoneLine, "numbers">) => {
  const { loaded, reload } = useLoaded(lineTests, [])
  useEffect(() => {
    if (loaded.is !== "ready" || !isUnderWay(loaded.value)) return undefined
    const timer = setTimeout(reload, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [loaded])
  return (
    <section aria-labelledby="text-yourself">
      <h2 id="text-yourself">Text yourself</h2>
      <WhenLoaded loaded={loaded} reload={reload}>
        {(found) => (
          <>
            {found.to === undefined ? (
              <p class="notice warn">
                No phone number is linked to you.{" "}
                {may("members") ? (
                  <>
                    Link yours on your page under <a href={to(["people"])}>People</a>, then
                  </>
                ) : (
                  "An administrator who may invite people can link yours. Then"
                )}{" "}
                try here whether texts arrive.
              </p>
            ) : (
              <p>
                One text to your own number, <Isolated>{found.to}</Isolated>, shows whether texts arrive. It counts like
                any other.
              </p>
            )}
            <dl class="facts wide">
              {numbers.map(({ phone }) => (
                <LineTest key={phone} phone={phone} of={found} reload={reload} />
              ))}
            </dl>
          </>
        )}
      </WhenLoaded>
      <Command text="max sms test --to-member you@example.com">The same by command, to any member:</Command>
    </section>
  )
}

const LineTest = ({
  of,
  phone,
  reload
}: {
  readonly phone: string
  readonly of: LineTests
  readonly reload: () => Promise<unknown>
}) => {
  const { busy, problem, submit } = useSending()
  const test = of.tests.find(({ line }) => line === phone)
  const [label, kind] = test === undefined ? [] : (SENT[test.state] ?? [test.state])
  return (
    <Fact name={phone}>
      {test === undefined ? null : (
        <div role="status">
          <Badge kind={kind ?? "neutral"}>{label}</Badge>{" "}
          <span class="soft">
            to <Isolated>{test.to}</Isolated>, <Moment at={test.at} />
          </span>
          <Reason error={test.error} />
        </div>
      )}
      {problem === undefined ? null : <Failure problem={problem} />}
      <form
        onSubmit={submit(
          () => testLine(phone),
          "The text is on its way.",
          () => void reload()
        )}
      >
        <div class="actions start">
          <button type="submit" class="button" disabled={busy || of.to === undefined}>
            Text me<span class="visually-hidden"> from {phone}</span>
          </button>
        </div>
      </form>
    </Fact>
  )
}
