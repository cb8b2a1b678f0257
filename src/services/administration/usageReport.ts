/** The usage of an organization as an administrator sees it: a name only where the administrator's own plan shows it. */
import { Effect } from "effect"
import type { Organization } from "../../domain/EntityType.ts"
import type { Unavailable } from "../../domain/errors.ts"
import type { Usage } from "../../wire/admin/usage.ts"
import type { Spending, UsageRow } from "../conversations/Spending.ts"
import { type Prices, totalOf, totalsBy } from "../conversations/usage.ts"

/** The people that a report lists. */
const MAX_PEOPLE = 200

/** What the operator has set. */
export interface OperatorsSettings {
  readonly prices: Prices
  /** After so many days without use conversations are deleted, at the latest. */
  readonly mostConversationDays: number
}

type Named = (id: string) => string | undefined

const personOf = ({ anchorId = "" }: UsageRow): string => anchorId

export const usageReport = Effect.fnUntraced(function* (
  spending: Spending["Service"],
  organization: Organization,
  days: number,
  { mostConversationDays, prices }: OperatorsSettings,
  naming: (ids: ReadonlyArray<string>) => Effect.Effect<Named, Unavailable>
) {
  const daily = yield* spending.report(organization, days, "day")
  const personal = yield* spending.report(organization, days, "person")
  const people = totalsBy(personal, personOf, prices).toSorted(([, a], [, b]) => b.questions - a.questions)
  const shown = people.slice(0, MAX_PEOPLE)
  const rest = new Set(people.slice(MAX_PEOPLE).map(([id]) => id))
  const named = yield* naming(shown.map(([id]) => id))
  const report: Usage = {
    days,
    conversationDays: Math.min(organization.conversationDays ?? mostConversationDays, mostConversationDays),
    mostConversationDays,
    total: totalOf(daily, prices),
    byDay: totalsBy(daily, ({ day = "" }) => day, prices).map(([day, total]) => ({ day, ...total })),
    byPerson: shown.map(([id, total]) => {
      const name = named(id)
      return name === undefined ? { id, ...total } : { id, name, ...total }
    }),
    ...(rest.size === 0
      ? {}
      : {
          others: {
            people: rest.size,
            ...totalOf(
              personal.filter((row) => rest.has(personOf(row))),
              prices
            )
          }
        }),
    byModel: totalsBy(daily, ({ model }) => model, prices)
      .map(([model, total]) => ({ model, ...total }))
      .toSorted((a, b) => b.questions - a.questions)
  }
  return report
})
