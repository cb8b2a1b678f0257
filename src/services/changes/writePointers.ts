/**
 * Values that an earlier step of the same change makes: the id of a row that it adds, which is known at once, and what another system
 * answers a call, which is filled in before the later call is sent.
 */
import { Effect } from "effect"
import type { ChangeCall } from "../../domain/Change.ts"
import type { ActionField, DeclaredAction } from "../../domain/DeclaredAction.ts"
import { atField, InvalidInput } from "../../domain/errors.ts"
import { quoted } from "../../domain/text.ts"
import { showId } from "../../domain/values.ts"
import type { Unit } from "./Unit.ts"

/** What an earlier step of the same proposal has read or makes: its place, from 0, and the name of a result. */
export interface Pointer {
  readonly step: number
  readonly result: string
}

/** The result of a step that adds a row. */
const ID = "id"
/** The kinds of fields whose value is one text, which can be checked when it is filled in. */
const FILLED: ReadonlyArray<ActionField["kind"]> = [
  "text",
  "email",
  "phone",
  "integer",
  "number",
  "boolean",
  "date",
  "timestamp"
]

/** What the steps of a proposal have become, by their places: a row, or the place of a call among the calls. */
export type Places = Map<number, Unit | { readonly call: number; readonly action: DeclaredAction }>

/** The values that a step's pointers lead to, and those that are filled in later. */
export const followed = Effect.fnUntraced(function* (pointers: Readonly<Record<string, Pointer>>, places: Places) {
  const values: Array<{ readonly columnId: string; readonly value: string }> = []
  const later: Record<string, NonNullable<ChangeCall["later"]>[string]> = {}
  for (const [columnId, { result, step }] of Object.entries(pointers)) {
    const refuse = (message: string) => refusal(columnId, message)
    const place = places.get(step)
    if (place === undefined) return yield* refuse(`step ${step} makes nothing that it could take.`)
    if ("call" in place) {
      const problem = resultProblem(place.action, result)
      if (problem !== undefined) return yield* refuse(problem)
      later[columnId] = { call: place.call, result }
      continue
    }
    const { action, op, type } = place
    if (op !== "create" || result !== ID) return yield* refuse(`${action.slug} has no result ${quoted(result)}.`)
    if (type.mapping !== undefined)
      return yield* refuse(`the database gives a new ${type.name.toLowerCase()} its id when it is written.`)
    values.push({ columnId, value: showId(place.id, undefined) })
  }
  return { values, later }
})

const refusal = (columnId: string, message: string) =>
  Effect.fail(atField(columnId)(InvalidInput.of(`${columnId}: ${message}`)) as InvalidInput)

/** Why a result of an action can't be one value; what a function returns isn't declared. */
const resultProblem = ({ executor, slug }: DeclaredAction, result: string): string | undefined => {
  if (executor._tag !== "Http") return undefined
  const pointers = executor.result ?? {}
  if (!Object.hasOwn(pointers, result)) return `${slug} has no result ${quoted(result)}.`
  return pointers[result]!.split("/").includes("*") ? `${quoted(result)} of ${slug} can be several.` : undefined
}

/** Refuses what isn't known before rows are written: a call is sent after them. */
export const requireKnownBefore = (later: Readonly<Record<string, unknown>>, { slug }: { readonly slug: string }) => {
  const [columnId] = Object.keys(later)
  return columnId === undefined
    ? Effect.void
    : refusal(columnId, `${slug} is written before a call is sent, so it can't take what that is answered.`)
}

/** Refuses fields that don't exist, or whose value must be known when the change is confirmed. */
export const requireFillable = Effect.fnUntraced(function* (
  later: Readonly<Record<string, unknown>>,
  { fields, slug }: DeclaredAction
) {
  for (const columnId of Object.keys(later)) {
    const field = fields.find((one) => one.slug === columnId)
    if (field === undefined) return yield* refusal(columnId, `${slug} has no such field.`)
    if (!FILLED.includes(field.kind)) return yield* refusal(columnId, "it must be known when the change is confirmed.")
  }
})
