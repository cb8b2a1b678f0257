/** `max usage`: questions, their outcomes, and the cost of conversations. */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { Env } from "../../../env.ts"
import { Spending, type UsageRow } from "../../../services/conversations/Spending.ts"
import { dollarsOf } from "../../../services/conversations/usage.ts"
import { UnclearQuestions } from "../../../services/administration/UnclearQuestions.ts"
import { currentOrganization, memberNames, UsageError } from "../context.ts"
import { optional, toggle } from "../flags.ts"
import { columns, dim, result } from "../output.ts"

const DAYS = 30
const MAX_DAYS = 9999

export const usage = Command.make(
  "usage",
  {
    days: Flag.Int("days").pipe(Flag.withDescription(`The number of days, including today [${DAYS}]`), Flag.optional),
    since: optional("since", "The same as --days, written as 30d"),
    notUnderstood: toggle(
      "not-understood",
      "List the questions that were not understood instead, where they are kept: without names, values and who asked"
    ),
    keepQuestions: Flag.Literals("keep-questions", ["on", "off"]).pipe(
      Flag.withDescription("Keep such questions from now on, or stop and forget them"),
      Flag.optional
    ),
    by: Flag.Literals("by", ["model", "day", "person"]).pipe(
      Flag.withDescription("One line per model, or per day or person and model"),
      Flag.withDefault("model" as const)
    )
  },
  Effect.fnUntraced(function* (input) {
    const { by } = input
    if (input.notUnderstood || Option.isSome(input.keepQuestions))
      return yield* questions(Option.getOrUndefined(input.keepQuestions))
    const days = yield* daysOf(Option.getOrUndefined(input.days), Option.getOrUndefined(input.since))
    const { prices } = yield* Env
    const spending = yield* Spending
    const rows = yield* spending.report(yield* currentOrganization, days, by)
    const names = by === "person" ? yield* memberNames : new Map<string, string>()
    const table = rows.map((row) => ({ ...row, dollars: dollarsOf(row, prices) }))
    const group = ({ anchorId, day }: UsageRow) =>
      day !== undefined ? [day] : anchorId !== undefined ? [names.get(anchorId) ?? anchorId] : []
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
                ...group(row),
                row.model,
                ...[row.turns, row.answered, row.declined, row.failed, row.inputTokens, row.outputTokens].map(String),
                row.dollars === undefined ? "unknown" : `$${row.dollars.toFixed(2)}`
              ]),
              [...(by === "model" ? [] : [by]), "model", ...HEADINGS]
            ),
            ...(table.some((row) => row.dollars === undefined)
              ? [dim("Set MAX_PRICES to the models' prices: model=in/out, in dollars per million tokens.")]
              : [])
          ]
    )
  })
).pipe(
  Command.withDescription("Show the questions and the cost of answers: outcomes, tokens, dollars"),
  Command.withExamples([
    { command: "max usage --days 30 --by person", description: "The last 30 days" },
    { command: "max usage --days 7 --by day", description: "Each day of a week" },
    {
      command: "max usage --keep-questions on",
      description: "Keep what isn't understood, without names and who asked"
    },
    { command: "max usage --not-understood", description: "What people ask that Max doesn't understand" }
  ])
)

const questions = Effect.fnUntraced(function* (keep: "on" | "off" | undefined) {
  const unclear = yield* UnclearQuestions
  const organization = yield* currentOrganization
  if (keep !== undefined) yield* unclear.set(organization, keep === "on")
  const found = yield* unclear.report(organization)
  yield* result(
    found,
    !found.kept
      ? [dim("Questions that were not understood aren't kept: max usage --keep-questions on")]
      : found.questions.length === 0
        ? [dim(`They are kept for ${found.days} days; there is none.`)]
        : columns(
            found.questions.map(({ day, question, times }) => [String(times), day, question]),
            ["times", "last", "question"]
          )
  )
})

const HEADINGS = ["turns", "answered", "declined", "failed", "tokens in", "tokens out", "about"]

const daysOf = (days: number | undefined, since: string | undefined) => {
  if (days !== undefined && since !== undefined) return Effect.fail(UsageError.of("Give --days or --since, not both."))
  const [, written = ""] = /^(\d{1,4})d$/.exec(since ?? `${DAYS}d`) ?? []
  if (written === "" || Number(written) < 1)
    return Effect.fail(UsageError.of("--since takes a number of days, such as 30d."))
  const count = days ?? Number(written)
  return count >= 1 && count <= MAX_DAYS
    ? Effect.succeed(count)
    : Effect.fail(UsageError.of(`--days takes a number between 1 and ${MAX_DAYS}.`))
}
