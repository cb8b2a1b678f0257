/** Usage: questions with their outcomes and costs, by day, person and model. */
import { Schema } from "effect"

const { optionalKey } = Schema

const MAX_DAYS = 366

export const UsageQuery = {
  /** The days of the report, including today; 30 if it is omitted. */
  days: optionalKey(Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: MAX_DAYS })))
}

const total = {
  questions: Schema.Int,
  answered: Schema.Int,
  declined: Schema.Int.annotate({
    description: "Questions whose reply answers nothing: not understood, or nothing that Max does."
  }),
  failed: Schema.Int.annotate({
    description: "Questions without a reply. The rest was stopped, or asked before outcomes were recorded."
  }),
  inputTokens: Schema.Finite,
  outputTokens: Schema.Finite,
  dollars: optionalKey(Schema.Finite.annotate({ description: "Omitted if the price of a model isn't known." }))
}
const Total = Schema.Struct(total)
export type UsageTotal = typeof Total.Encoded

export const UnclearQuestions = Schema.Struct({
  kept: Schema.Boolean.annotate({ description: "Whether the organization has opted in." }),
  days: Schema.Int.annotate({ description: "A question that isn't asked again is forgotten after so many." }),
  questions: Schema.Array(
    Schema.Struct({
      question: Schema.String.annotate({ description: "An ellipsis stands for names, values and unknown words." }),
      times: Schema.Int,
      day: Schema.String.annotate({
        description: "YYYY-MM-DD: when it was asked last, in the organization's time zone"
      })
    })
  ).annotate({ description: "Most often asked first, at most 500." })
})
export type UnclearQuestions = typeof UnclearQuestions.Encoded

export const KeepQuestions = Schema.Struct({ kept: Schema.Boolean })
export type KeepQuestions = typeof KeepQuestions.Encoded

export const Usage = Schema.Struct({
  days: Schema.Int,
  conversationDays: Schema.Int.annotate({
    description: "A conversation that is unused for so many days is deleted when the next one begins."
  }),
  mostConversationDays: Schema.Int.annotate({ description: "The operator's time, below which the organization's is." }),
  total: Total,
  byDay: Schema.Array(
    Schema.Struct({
      ...total,
      day: Schema.String.annotate({ description: "YYYY-MM-DD, in the organization's time zone" })
    })
  ).annotate({ description: "The days with a question, latest first." }),
  byPerson: Schema.Array(
    Schema.Struct({
      ...total,
      id: Schema.String.annotate({ description: "The person's entity id; empty if a question has no person." }),
      name: optionalKey(Schema.String.annotate({ description: "Omitted if you may not see it." }))
    })
  ).annotate({ description: "The people with the most questions, at most 200." }),
  others: optionalKey(
    Schema.Struct({ ...total, people: Schema.Int }).annotate({ description: "All people beyond the first 200." })
  ),
  byModel: Schema.Array(Schema.Struct({ ...total, model: Schema.String }))
})
export type Usage = typeof Usage.Encoded
