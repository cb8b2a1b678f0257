/** Values as programs and people write them: by column, or as `column=value`. */
import { Result } from "effect"
import { InvalidInput } from "../../domain/errors.ts"
import { quoted } from "../../domain/text.ts"
import type { Step } from "../../wire/changes.ts"
import type { ProposedStep } from "./pointers.ts"

/** Steps in the form that proposing takes. */
export const stepsOf = (steps: ReadonlyArray<Step>): Result.Result<ReadonlyArray<ProposedStep>, InvalidInput> =>
  Result.all(
    steps.map(({ actionId, entityIds, values = {} }) =>
      Result.map(valuesOf(values), (read) => ({ actionId, entityIds, values: read }))
    )
  )

const valuesOf = (
  values: NonNullable<Step["values"]>
): Result.Result<NonNullable<ProposedStep["values"]>, InvalidInput> =>
  Array.isArray(values)
    ? Result.all(values.map(readAssignment))
    : Result.succeed(Object.entries(values).map(([columnId, value]) => ({ columnId, value })))

/** Reads `column=value`; the first `=` divides. */
const readAssignment = (text: string) => {
  const at = text.indexOf("=")
  return at < 1
    ? Result.fail(InvalidInput.of(`${quoted(text)} isn't column=value.`))
    : Result.succeed({ columnId: text.slice(0, at).trim(), value: text.slice(at + 1) })
}
