/** `max usage`: the cost of conversations. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { Env, type Prices } from "../../../env.ts"
import { Spending, type UsageRow } from "../../../services/conversations/Spending.ts"
import { currentOrganization, memberNames, UsageError } from "../context.ts"
import { columns, dim, result } from "../output.ts"

export const usage = Command.make(
  "usage",
  {
    since: Flag.String("since").pipe(
      Flag.withDescription("The number of days, including today: 30d"),
      Flag.withDefault("30d")
    ),
    by: Flag.Literals("by", ["model", "person"]).pipe(
      Flag.withDescription("One line per model, or per person and model"),
      Flag.withDefault("model" as const)
    )
  },
  Effect.fnUntraced(function* (input) {
    const [, days] = /^(\d{1,4})d$/.exec(input.since) ?? []
    if (days === undefined || Number(days) < 1) {
      return yield* UsageError.of("--since takes a number of days, such as 30d.")
    }
    const { prices } = yield* Env
    const spending = yield* Spending
    const rows = yield* spending.report(yield* currentOrganization, Number(days), input.by === "person")
    const names = input.by === "person" ? yield* memberNames : new Map<string, string>()
    const table = rows.map((row) => ({ ...row, dollars: dollars(row, prices) }))
    const person = (row: UsageRow) => (row.anchorId === undefined ? [] : [names.get(row.anchorId) ?? row.anchorId])
    yield* result(
      table.map((row) => ({
        ...row,
        ...(row.anchorId === undefined ? {} : { name: names.get(row.anchorId) ?? null }),
        dollars: row.dollars ?? null
      })),
      table.length === 0
        ? [dim("No question has been asked.")]
        : [
            ...columns(
              table.map((row) => [
                ...person(row),
                row.model,
                String(row.turns),
                String(row.inputTokens),
                String(row.outputTokens),
                row.dollars === undefined ? "unknown" : `$${row.dollars.toFixed(2)}`
              ]),
              [...(input.by === "person" ? ["person"] : []), "model", "turns", "tokens in", "tokens out", "about"]
            ),
            ...(table.some((row) => row.dollars === undefined)
              ? [dim("Set MAX_PRICES to the models' prices: model=in/out, in dollars per million tokens.")]
              : [])
          ]
    )
  })
).pipe(
  Command.withDescription("Show the cost of answers: turns, tokens, dollars"),
  Command.withExamples([{ command: "max usage --since 30d --by person", description: "The last 30 days" }])
)

/** The cost in dollars: 0 for basic mode, undefined for a model without a price. */
const dollars = ({ inputTokens, model, outputTokens }: UsageRow, prices: Prices): number | undefined => {
  if (inputTokens + outputTokens === 0) return 0
  const price = prices.get(model)
  return price === undefined ? undefined : (inputTokens * price.input + outputTokens * price.output) / 1_000_000
}
