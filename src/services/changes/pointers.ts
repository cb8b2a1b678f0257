/**
 * A proposal whose steps point at what earlier ones read: the reads come first, and each pointer becomes the text that was read.
 * The card names where it was read, and those see it who may read there. Pointers at what earlier steps write stay (`writePointers.ts`).
 */
import { Effect } from "effect"
import { READ } from "../../domain/DeclaredAction.ts"
import { atField, InvalidInput, type NotYet, type ProposalError, Unclear } from "../../domain/errors.ts"
import { quoted } from "../../domain/text.ts"
import type { SourceRow } from "../actions/readRows.ts"
import type { ReadResult } from "./calls/readAction.ts"
import type { Caller } from "./callers.ts"
import type { StepInput } from "./resolve.ts"
import type { Pointer } from "./writePointers.ts"

/** A step as a caller proposes it. */
export interface ProposedStep extends Omit<StepInput, "values" | "sources" | "pointers" | "place"> {
  readonly values?: ReadonlyArray<{ readonly columnId: string; readonly value: string | Pointer }> | undefined
}

/** The steps that change something, with what was read before them. */
export interface Pointed {
  readonly steps: ReadonlyArray<StepInput>
  readonly reads: ReadonlyArray<ReadResult>
}

/** The most actions that one proposal reads with. */
const MAX_READS = 8
/** The most entries that are offered as choices. */
const MAX_CHOICES = 8

/** `first`: the place of the first step, after those of the draft that the proposal continues. */
export const resolvePointers = Effect.fnUntraced(function* (
  proposed: ReadonlyArray<ProposedStep>,
  first: number,
  caller: Caller,
  read: (step: StepInput) => Effect.Effect<ReadResult, ProposalError | NotYet>
): Effect.fn.Return<Pointed, ProposalError | NotYet> {
  const isRead = ({ actionId }: ProposedStep) =>
    caller.actions.some(({ category, slug }) => slug === actionId && category === READ)
  const reading = proposed.filter(isRead)
  // Without a change there is nothing to propose, which is said before anything is read.
  const [one] = reading
  if (one !== undefined && reading.length === proposed.length)
    return yield* InvalidInput.of(`${one.actionId} only reads, so it is no step of a change.`)
  if (reading.length > MAX_READS) return yield* InvalidInput.of(`A change has at most ${MAX_READS} steps that read.`)
  const found = new Map<number, ReadResult>()
  const pointed = Effect.fnUntraced(function* (step: ProposedStep, at: number) {
    const values: Array<{ readonly columnId: string; readonly value: string }> = []
    const sources: Record<string, string> = {}
    const pointers: Record<string, Pointer> = {}
    for (const { columnId, value } of step.values ?? []) {
      if (typeof value === "string") {
        values.push({ columnId, value })
        continue
      }
      const inField = (error: InvalidInput | Unclear) => atField(columnId)(error) as InvalidInput | Unclear
      const refuse = (message: string) => Effect.fail(inField(InvalidInput.of(`${columnId}: ${message}`)))
      const source = proposed[value.step - first]
      if (!Number.isInteger(value.step) || value.step < 0 || value.step - first >= at)
        return yield* refuse(`there is no step ${value.step} before it.`)
      if (step.values?.some((other) => other.columnId === columnId && other.value !== value) === true)
        return yield* refuse("it is set twice.")
      if (source === undefined || !isRead(source)) {
        // What is read is read before anything is done.
        if (isRead(step)) return yield* refuse(`step ${value.step} reads nothing that it could take.`)
        pointers[columnId] = value
        continue
      }
      values.push({
        columnId,
        value: yield* Effect.mapError(follow(columnId, value.result, found.get(value.step - first)!), inField)
      })
      sources[columnId] = source.actionId
    }
    const { actionId, entityIds } = step
    return { actionId, entityIds, values, sources, pointers, place: first + at } satisfies StepInput
  })
  for (const [at, step] of proposed.entries()) if (isRead(step)) found.set(at, yield* read(yield* pointed(step, at)))
  const steps: Array<StepInput> = []
  for (const [at, step] of proposed.entries()) if (!isRead(step)) steps.push(yield* pointed(step, at))
  return { steps, reads: [...found.values()] }
})

/** The text that a pointer leads to. */
const follow = (
  columnId: string,
  result: string,
  { action, rows }: ReadResult
): Effect.Effect<string, InvalidInput | Unclear> => {
  const refuse = (message: string) => Effect.fail(InvalidInput.of(`${columnId}: ${message}`))
  const results = action.executor._tag === "Http" ? (action.executor.result ?? {}) : {}
  if (!Object.hasOwn(results, result)) return refuse(`${action.slug} has no result ${quoted(result)}.`)
  const values = [...new Set(rows.flatMap((row) => (Object.hasOwn(row, result) ? [row[result]!] : [])))]
  const [value, ...others] = values
  if (value === undefined) return refuse(`“${action.name}” has found no ${quoted(result)}.`)
  return others.length === 0
    ? Effect.succeed(value)
    : Effect.fail(
        new Unclear({
          message: `${columnId}: “${action.name}” has found several. Which one?`,
          choices: values.slice(0, MAX_CHOICES).map((id) => ({ id, name: nameOf(rows, result, id) }))
        })
      )
}

const nameOf = (rows: ReadonlyArray<SourceRow>, result: string, value: string): string => {
  const row = rows.find((one) => one[result] === value) ?? {}
  const others = Object.entries(row).flatMap(([name, text]) => (name === result ? [] : [text]))
  return [value, others.join(", ")].join(" ").trim()
}
