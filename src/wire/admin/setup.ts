/** The steps that follow the first run. */
import { Schema } from "effect"

const step = (description: string) => Schema.Boolean.annotate({ description })

export const SetupSteps = Schema.Struct({
  passkey: step("A member has a passkey."),
  data: step("Rows were imported, the sample data was added, or a table is mapped."),
  policy: step("The policy in force says more than the starter policy, besides what its role admin sees."),
  people: step("A second person was invited or added."),
  answer: step("A question was answered.")
})
export type SetupSteps = typeof SetupSteps.Encoded
