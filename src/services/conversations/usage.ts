/** Usage in totals: questions, outcomes, tokens and dollars of the rows of a report. */
import type { UsageRow } from "./Spending.ts"

/** Dollars per million tokens, by model. */
export type Prices = ReadonlyMap<string, { readonly input: number; readonly output: number }>

export interface UsageTotal {
  readonly questions: number
  readonly answered: number
  readonly declined: number
  readonly failed: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** Absent if the price of one of the models is unknown. */
  readonly dollars?: number
}

/** The cost in dollars: 0 without tokens, undefined for a model without a price. */
export const dollarsOf = (
  { inputTokens, model, outputTokens }: Pick<UsageRow, "inputTokens" | "model" | "outputTokens">,
  prices: Prices
): number | undefined => {
  if (inputTokens + outputTokens === 0) return 0
  const price = prices.get(model)
  return price === undefined ? undefined : (inputTokens * price.input + outputTokens * price.output) / 1_000_000
}

export const totalOf = (rows: ReadonlyArray<UsageRow>, prices: Prices): UsageTotal => {
  const sum = (of: (row: UsageRow) => number) => rows.reduce((all, row) => all + of(row), 0)
  const dollars = rows.map((row) => dollarsOf(row, prices))
  return {
    questions: sum(({ turns }) => turns),
    answered: sum(({ answered }) => answered),
    declined: sum(({ declined }) => declined),
    failed: sum(({ failed }) => failed),
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    ...(dollars.includes(undefined) ? {} : { dollars: dollars.reduce<number>((all, one) => all + one!, 0) })
  }
}

/** The totals of each group of rows, in the order in which the groups first appear. */
export const totalsBy = (
  rows: ReadonlyArray<UsageRow>,
  groupOf: (row: UsageRow) => string,
  prices: Prices
): ReadonlyArray<readonly [group: string, total: UsageTotal]> => {
  const groups = new Map<string, Array<UsageRow>>()
  for (const row of rows) {
    const group = groups.get(groupOf(row))
    if (group === undefined) groups.set(groupOf(row), [row])
    else group.push(row)
  }
  return [...groups].map(([group, own]) => [group, totalOf(own, prices)])
}
