/** The calls of a change as a viewer is shown them: what is asked of which host and, once it is confirmed, what came of it. */
import { Effect } from "effect"
import type { Database } from "../../../database/Database.ts"
import { orUnavailable } from "../../../database/execute.ts"
import type { ChangeCall, Preview, PreviewCell, PreviewStep, Receipt } from "../../../domain/Change.ts"
import { type ActionField, type CallValues, type DeclaredAction, placeOf } from "../../../domain/DeclaredAction.ts"
import type { Caller } from "../callers.ts"
import type { Unavailable } from "../../../domain/errors.ts"
import { documentOf } from "../document.ts"
import type { EntityQueryService } from "../../EntityQueryService.ts"
import type { Stored } from "../records.ts"
import { cut, localTime } from "../show.ts"
import { type Inverse, inversesOf } from "./inverses.ts"
import { answeredFor } from "./later.ts"
import { calledActions, type Outcome, outcomesOf, wordsOf } from "./outboxRows.ts"
import { type Standing, standingOf } from "./references.ts"

/**
 * The versions of actions that calls name; the latest one tells names where the version isn't in force any more. What is sent
 * are texts that a person wrote, which every viewer of the change sees, and cells of rows, which those see who may read them.
 */
const showCalls = Effect.fnUntraced(function* (
  stored: Stored,
  calls: ReadonlyArray<ChangeCall>,
  viewer: Caller,
  queries: EntityQueryService["Service"],
  { changes: sql }: Database["Service"]
) {
  const { organization } = viewer.catalog
  const outcomes =
    stored.state === "applied" ? yield* orUnavailable(outcomesOf(sql, organization.id, stored.change_id)) : []
  const actions = yield* orUnavailable(calledActions(sql, organization.id, calls))
  const standings = yield* Effect.forEach(calls, (call) => standingOf(call, viewer, queries))
  const nameOf = (at: number) => actions.find(({ slug }) => slug === calls[at]?.action)?.name ?? ""
  const steps = calls.map((call, step): PreviewStep => {
    const { action: slug, later = {}, values, version } = call
    const action = actions.find((one) => one.slug === slug && one.version === version)
    const outcome = outcomes.find((one) => one.step === step)
    const [message] = outcome === undefined ? [] : wordsOf([outcome], calls, actions)
    return {
      actionId: slug,
      action: action?.name ?? slug,
      entityTypeId: "",
      entityId: "",
      cells: (action?.fields ?? []).flatMap((field) => {
        const source = later[field.slug]
        return source === undefined
          ? cellOf(field, values, organization.timeZone, standings[step]![field.slug])
          : [laterCellOf(field, nameOf(source.call), source.result, answeredFor(call, field.slug, outcomes))]
      }),
      call: {
        host: action === undefined ? "" : placeOf(action.executor),
        ...(outcome === undefined ? {} : { state: outcome.state }),
        ...(message === undefined ? {} : { message: cut(message) })
      }
    }
  })
  const isSeen = standings.every((each) => Object.values(each).every(({ _tag }) => _tag === "Same"))
  return { steps, isSeen, tell: toldBy(outcomes, calls, actions) }
})

/** A preview with the calls of its change, and a receipt that says what came of them. */
export const withCalls = Effect.fnUntraced(function* (
  previewing: Effect.Effect<Preview, Unavailable>,
  stored: Stored,
  viewer: Caller,
  queries: EntityQueryService["Service"],
  database: Database["Service"],
  document = documentOf(stored)
): Effect.fn.Return<Preview, Unavailable> {
  const { digest, ...preview } = yield* previewing
  const calls = document?.calls
  const shown = digest === undefined ? preview : { ...preview, digest }
  if (calls === undefined) return shown
  const { isSeen, steps, tell } = yield* showCalls(stored, calls, viewer, queries, database)
  return {
    // What a viewer doesn't see as it was shown to the proposer, that viewer can't decide on.
    ...(isSeen ? shown : { ...preview, complete: false }),
    steps: [...preview.steps, ...steps],
    ...(preview.receipt === undefined ? {} : { receipt: tell(preview.receipt) })
  }
})

/** Completes a receipt, whose message says what came of the calls. */
export const toldBy =
  (outcomes: ReadonlyArray<Outcome>, calls: ReadonlyArray<ChangeCall>, actions: ReadonlyArray<DeclaredAction>) =>
  (receipt: Receipt): Receipt => {
    const words = wordsOf(outcomes, calls, actions)
    if (words.length === 0) return receipt
    const taken = inversesOf(outcomes, calls, actions)
    const rows = receipt.entities.length > 0 ? [receipt.message] : []
    const offer = outcomes.every(({ state }) => state === "done") ? [] : offerOf(taken)
    return {
      ...receipt,
      message: [...rows, ...words, ...offer].join(" "),
      ...(taken.length === 0 ? {} : { invertible: true })
    }
  }

const offerOf = (taken: ReadonlyArray<Inverse>): ReadonlyArray<string> =>
  taken.length === 0
    ? []
    : [`Undo proposes to take back ${taken.map(({ name }) => `“${name}”`).join(" and ")}; you confirm that first.`]

const cellOf = (
  field: ActionField,
  values: CallValues,
  timeZone: string,
  standing: Standing | undefined
): ReadonlyArray<PreviewCell> => {
  const value = values[field.slug]
  if (value === undefined || (standing !== undefined && standing._tag !== "Same")) return []
  const name = standing?.name === undefined ? "" : ` (${standing.name})`
  return [{ columnId: field.slug, name: field.name, becomes: cut(`${shownText(field, value, timeZone)}${name}`) }]
}

/** A value that is filled in when an earlier call is done, and the value once it is. */
const laterCellOf = ({ name, slug }: ActionField, source: string, result: string, answered: string | undefined) => {
  const from =
    answered === undefined ? `the ${result} that “${source}” answers` : `${answered} (answered by “${source}”)`
  return { columnId: slug, name, becomes: cut(from) }
}

const shownText = ({ fields = [], kind }: ActionField, value: string, timeZone: string): string => {
  switch (kind) {
    case "timestamp":
      return localTime(value, timeZone)
    case "list":
      return (JSON.parse(value) as ReadonlyArray<string>).join(", ")
    case "group":
      return (JSON.parse(value) as ReadonlyArray<CallValues>)
        .map((entry) =>
          fields
            .flatMap((field) =>
              entry[field.slug] === undefined ? [] : [`${field.name} ${shownText(field, entry[field.slug]!, timeZone)}`]
            )
            .join(", ")
        )
        .join("; ")
    default:
      return value
  }
}
