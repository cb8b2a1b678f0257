/** The tool calls of a turn: what the person is told of them, their limits, and what their results add to the guards. */
import { Effect } from "effect"
import type { Preview } from "../domain/Change.ts"
import type { Page } from "../domain/Page.ts"
import type { FindQuery } from "../domain/Query.ts"
import { callTool, type ToolOutcome } from "../tools/call.ts"
import { CHANGE_TOOL, type Drafts } from "../tools/ChangeTool.ts"
import type { EmittedEvents } from "./EmittedEvents.ts"
import type { Grounding } from "./guards/Grounding.ts"
import type { Provenance } from "./guards/Provenance.ts"
import type { Part } from "./ModelStep.ts"
import type { Sightings } from "./Sightings.ts"

export type ToolCall = Extract<Part, { _tag: "ToolCall" }>

const MAX_PARALLEL_CALLS = 6
/** Limits of the results that a model sees in one turn: entities and characters. */
const MAX_ROWS = 100
const MAX_RESULT_LENGTH = 48_000

interface Calling {
  readonly plurals: ReadonlyMap<string, string>
  readonly events: EmittedEvents
  /** Absent where the turn may not propose changes. */
  readonly drafts: Drafts | undefined
}

const TOO_MANY_CALLS: ToolOutcome = {
  text: "That is too much at once. Ask for this again, with fewer calls.",
  failed: true,
  unavailable: false
}
const NO_ROOM = "That is all that can be looked up for this answer. Say what you have."

/** Executes the calls of one model step. Drafts are made in call order, lookups side by side. */
export const executeAll = (calling: Calling, calls: ReadonlyArray<ToolCall>) =>
  Effect.forEach(
    calls,
    (call, index) => (index < MAX_PARALLEL_CALLS ? execute(calling, call) : Effect.succeed(TOO_MANY_CALLS)),
    { concurrency: calls.some(({ name }) => name === CHANGE_TOOL) ? 1 : MAX_PARALLEL_CALLS }
  )

const execute = ({ drafts, events, plurals }: Calling, call: ToolCall) =>
  events
    .emit({ _tag: "tool", message: activity(call, plurals) })
    .pipe(Effect.andThen(callTool(call.name, call.input, drafts?.request)))

/** Describes a call to the person; a type that they may not see is not named. */
const activity = (call: ToolCall, plurals: ReadonlyMap<string, string>): string => {
  const type = (call.input as { readonly entityTypeId?: unknown } | undefined)?.entityTypeId
  const plural = typeof type === "string" ? plurals.get(type)?.toLowerCase() : undefined
  if (call.name === CHANGE_TOOL) return "Preparing a change…"
  if (call.name === "listEntityTypes") return "Listing what can be looked up…"
  if (plural === undefined) return "Looking…"
  return call.name === "findEntities" ? `Looking up ${plural}…` : `Looking up the details of ${plural}…`
}

/** Limits of a turn's results. */
export const newRoom = () => ({ rows: MAX_ROWS, length: MAX_RESULT_LENGTH })

/** Deducts a result from the turn's limits; a result that does not fit is withheld. */
export const withinLimits = (room: ReturnType<typeof newRoom>, result: ToolOutcome): ToolOutcome => {
  const rows = (result.value as Partial<Page> | undefined)?.entities?.length ?? 0
  if (rows > room.rows || result.text.length > room.length) return { text: NO_ROOM, failed: true, unavailable: false }
  room.rows -= rows
  room.length -= result.text.length
  return result
}

export const toPart = (call: ToolCall, result: ToolOutcome): Extract<Part, { _tag: "ToolResult" }> => ({
  _tag: "ToolResult",
  id: call.id,
  name: call.name,
  text: result.text,
  failed: result.failed,
  ...(result.value === undefined ? {} : { value: result.value })
})

interface Records {
  readonly grounding: Grounding
  readonly sightings: Sightings
  readonly provenance: Provenance
  readonly plurals: ReadonlyMap<string, string>
}

/** Adds a result that the model sees to the grounding, to the sightings and to what drafts may be made of. */
export const recordResult = (call: ToolCall, value: unknown, records: Records): void => {
  const { grounding, plurals, provenance, sightings } = records
  grounding.addResult(value)
  if (call.name === CHANGE_TOOL) provenance.addDrafted((value as Partial<Preview>).steps ?? [])
  if (call.name !== "findEntities") return
  const query = call.input as FindQuery
  const page = value as Page
  grounding.seen.add(query.entityTypeId, page.entities, grounding.locale)
  grounding.figures.add(page)
  sightings.addList(query, page)
  sightings.addFigures(query, plurals.get(query.entityTypeId) ?? query.entityTypeId, page)
  sightings.addPage(
    query.entityTypeId,
    query.filters.map((filter) => filter.value),
    page
  )
  provenance.addLookup(query.filters, [query.entityTypeId, plurals.get(query.entityTypeId) ?? ""], page)
}
