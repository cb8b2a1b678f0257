/** Checks of the library's input, because programs without types get errors, too. Absent and undefined are equal. */
import { Effect, Result, Schema } from "effect"
import { InvalidInput } from "./domain/errors.ts"
import { isJsonObject, isNestedDeeper } from "./domain/json.ts"
import { describeIssue } from "./tools/describeIssue.ts"

/** Deeper than any input that a schema accepts; a cyclic object is deeper, too. */
const MAX_LEVELS = 16
const UNREADABLE = `The input must be plain values, nested at most ${MAX_LEVELS} levels deep.`

/** Decodes an input, or says what is wrong with it. What throws while it is read is invalid. */
export const checked = <A>(schema: Schema.Decoder<A>, input: () => unknown): Effect.Effect<A, InvalidInput> =>
  reading(() => {
    const decoded = Schema.decodeUnknownResult(schema, { onExcessProperty: "error" })(withoutUndefined(input()))
    return Result.mapError(decoded, ({ issue }) => InvalidInput.of(describeIssue(issue)))
  })

/** Fails with what `fault` finds wrong with an input, which it gets without undefined fields. */
export const requireValid = (
  input: unknown,
  fault: (input: unknown) => string | undefined
): Effect.Effect<void, InvalidInput> =>
  reading(() => {
    const found = fault(withoutUndefined(input))
    return found === undefined ? Result.void : Result.fail(InvalidInput.of(found))
  })

/** Requires a text that can be an id. */
export const text = (name: string, value: unknown): Effect.Effect<void, InvalidInput> =>
  isShortText(value)
    ? Effect.void
    : Effect.fail(InvalidInput.of(`${name} must be a text of at most ${MAX_TEXT} characters.`))

const MAX_TEXT = 200

export const isShortText = (value: unknown): value is string =>
  typeof value === "string" && value.length <= MAX_TEXT && !value.includes("\u0000")

/** Runs `read`; what it throws, such as an exception of a getter, is invalid input. */
export const reading = <A>(read: () => Result.Result<A, InvalidInput>): Effect.Effect<A, InvalidInput> =>
  Effect.suspend(() => {
    try {
      return Effect.fromResult(read())
    } catch {
      return Effect.fail(InvalidInput.of(UNREADABLE))
    }
  })

const withoutUndefined = (input: unknown): unknown => {
  if (isNestedDeeper(input, MAX_LEVELS)) throw new RangeError(UNREADABLE)
  return stripped(input)
}

const stripped = (value: unknown): unknown =>
  isJsonObject(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([key, part]) => (part === undefined ? [] : [[key, stripped(part)]]))
      )
    : value
