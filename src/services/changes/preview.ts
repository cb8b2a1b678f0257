/**
 * The preview of a change: a function of its document and the viewer's own plan of now. Old values come from the document, and
 * are shown only where the viewer may read the cell; a viewer who sees less than the change touches gets no digest.
 */
import { Effect, Record } from "effect"
import { carriedOf } from "../../database/sql/carriedRows.ts"
import type { ProposedRow, SeenRow } from "../../database/sql/RowChange.ts"
import { compilePropose, compileSeen } from "../../database/sql/write.ts"
import type { ChangeDocument, ChangeStep, Preview, PreviewCell, PreviewStep } from "../../domain/Change.ts"
import {
  type Catalog,
  type Column,
  DISPLAY_NAME,
  type EntityType,
  nameOfRelation,
  peopleOf,
  typeByKey
} from "../../domain/EntityType.ts"
import type { Unavailable } from "../../domain/errors.ts"
import { parseId, showId } from "../../domain/values.ts"
import { listOf } from "../cells/cellWriter.ts"
import { readingOf } from "./approverSees.ts"
import type { Caller } from "./callers.ts"
import { whyLasting } from "./lasting.ts"
import { madeDocument } from "./made.ts"
import { compiled } from "./reader.ts"
import type { Stored } from "./records.ts"
import { cut, showText } from "./show.ts"
import { assignmentsOf, groupsOf, mayDangle, type Unit, unitOf } from "./Unit.ts"

/** The columns that a step touches, of the type as it is now. */
const touched = (step: ChangeStep, type: EntityType): ReadonlyArray<Column> =>
  type.columns.filter(({ key }) => Object.hasOwn(step.before, key) || Object.hasOwn(step.after, key))

/** The name of the row, also of one that isn't there yet. */
const nameShown = ({ after, shown }: ChangeStep): string | null => shown[DISPLAY_NAME] ?? after[DISPLAY_NAME] ?? null

/** A step with what the viewer sees of it. */
export interface SeenStep {
  readonly step: ChangeStep
  readonly unit: Unit
  /** Undefined where the row is hidden or gone. */
  readonly name: string | undefined
  readonly isVisible: boolean
  /** Keys of the columns that the viewer may read on this row. */
  readonly visible: ReadonlySet<string>
}

/** A new change: the statement that judged it has just shown that its proposer sees every row and cell. */
export interface Judged {
  readonly document: ChangeDocument
  readonly proposerName: string | undefined
}

/** The preview of a change. What is `judged` isn't read again. */
export const previewOf = Effect.fnUntraced(function* (
  stored: Stored,
  viewer: Caller,
  judged?: Judged
): Effect.fn.Return<Preview, Unavailable> {
  const document = judged?.document ?? madeDocument(stored)
  const isDone = stored.state === "applied"
  const isJudged = judged !== undefined
  const shown = document === undefined ? undefined : yield* showSteps(document, viewer, { isDone, isJudged })
  // The statement that judged a change reads no name from a mapped table of people.
  const isNamed = judged !== undefined && peopleOf(viewer.catalog)?.mapping === undefined
  const proposerName = isNamed ? judged.proposerName : yield* nameOf(stored.proposer_id, viewer)
  const complete = shown?.complete === true
  const pending = stored.state === "open" || stored.state === "waiting"
  return {
    changeId: stored.change_id,
    state: stored.state,
    level: stored.level,
    // A draft's digest confirms nothing until the draft is open; its turn's answer carries it.
    ...(complete && (pending || stored.state === "drafted") ? { digest: stored.digest } : {}),
    complete,
    destructive: stored.destructive,
    rows: stored.rows,
    confirmedOnce: stored.confirmed,
    ...(pending ? { seconds: Math.max(0, stored.seconds) } : {}),
    proposer: stored.proposer_id,
    own: stored.proposer_id === viewer.principal.anchorEntityId,
    ...(proposerName === undefined ? {} : { proposerName }),
    channel: stored.channel,
    ...(stored.token === null ? {} : { token: cut(stored.token) }),
    ...(stored.source === null ? {} : { source: Record.map(stored.source, cut) }),
    createdAt: stored.created,
    approvers: stored.approvers,
    steps: shown?.steps ?? [],
    ...(stored.receipt === undefined ? {} : { receipt: stored.receipt }),
    ...(stored.undoes === null ? {} : { undoes: stored.undoes }),
    ...(document?.remains === undefined ? {} : { remains: document.remains.map(cut) }),
    ...(document === undefined || whyLasting(document, viewer.catalog) === undefined ? {} : { lasting: true }),
    ...(stored.undone_by === null ? {} : { undoneBy: stored.undone_by }),
    ...(stored.replaced_by === null ? {} : { replacedBy: stored.replaced_by })
  }
})

/** The name of a member's entity, if the viewer may see it. */
const nameOf = Effect.fnUntraced(function* (anchorId: string, viewer: Caller) {
  return (yield* namesOfMembers([anchorId], viewer)).get(anchorId)
})

/** The names of members' entities by anchor, of those that the viewer may see. */
export const namesOfMembers = Effect.fnUntraced(function* (
  anchorIds: ReadonlyArray<string>,
  viewer: Caller
): Effect.fn.Return<ReadonlyMap<string, string>, Unavailable> {
  const people = peopleOf(viewer.catalog)
  const read = people === undefined ? undefined : viewer.readOf(people)
  if (people === undefined || read === undefined) return new Map()
  const anchors = new Map(anchorIds.map((anchorId) => [parseId(anchorId, people.mapping?.id.type), anchorId]))
  const ids = [...anchors.keys()].filter((id) => id !== undefined)
  if (ids.length === 0) return new Map()
  const statement = yield* compiled(() => compileSeen(people, ids, [], read, viewer.catalog))
  const reading = viewer.read<SeenRow>(statement)
  // A change is shown without the name while a mapped table of people can't be read.
  const seen = yield* people.mapping === undefined
    ? reading
    : Effect.catchTag(reading, "Unavailable", () => Effect.succeed([]))
  return new Map(seen.flatMap(({ id, name }) => (name === null ? [] : [[anchors.get(id)!, cut(name)]])))
})

/** The steps of a document as a viewer sees them. `isDone`: the rows are as the change left them. */
const showSteps = Effect.fnUntraced(function* (
  document: ChangeDocument,
  viewer: Caller,
  { isDone, isJudged }: { readonly isDone: boolean; readonly isJudged: boolean }
) {
  const { catalog } = viewer
  const units = document.steps.flatMap((step) => unitOf(step, catalog, document.undoes !== undefined) ?? [])
  const own = document.proposer === viewer.principal.anchorEntityId
  const created = units.filter(({ op }) => op === "create").map(({ id }) => id)
  const seen: Array<SeenStep> = []
  for (const group of groupsOf(units)) {
    const [first] = group.units
    const read = viewer.readOf(first.type)
    const columns = touched(first.step!, first.type)
    const virtual = first.op === "create" && !isDone
    const found = new Map<string, { readonly name: string | null; readonly visible: ReadonlyArray<boolean> }>()
    if (isJudged)
      for (const { id, step } of group.units)
        found.set(id, {
          name: nameShown(step!),
          visible: columns.map(() => true)
        })
    else if (read !== undefined && !virtual) {
      const statement = yield* compiled(() =>
        compileSeen(
          first.type,
          group.units.map(({ id }) => id),
          columns,
          read,
          catalog
        )
      )
      for (const row of yield* viewer.read<SeenRow>(statement)) found.set(row.id, row)
    } else if (read !== undefined) {
      // The row isn't there yet: the viewer's read plan is judged on what it would be. Its proposer wrote it.
      const statement = yield* compiled(() =>
        compilePropose(
          {
            type: first.type,
            ids: [first.id],
            assignments: assignmentsOf(group, catalog, viewer.readOf, created),
            read,
            write: readingOf(first, read)
          },
          catalog
        )
      )
      const [row] = yield* viewer.read<ProposedRow>(statement)
      const bits = own ? columns.map(() => true) : (row?.bits_after.slice(1) ?? [])
      const name = nameShown(first.step!)
      if (own || row?.bits_after[0] === true) found.set(first.id, { name, visible: bits })
    }
    for (const unit of group.units) {
      const row = found.get(unit.id)
      seen.push({
        step: unit.step!,
        unit,
        isVisible: row !== undefined,
        name: row === undefined ? undefined : (row.name ?? undefined),
        visible: new Set(columns.flatMap(({ key }, index) => (row?.visible[index] === true ? [key] : [])))
      })
    }
  }
  const names = yield* namesOf(seen, viewer)
  const inOrder = document.steps.flatMap((step) => seen.find((one) => one.step === step) ?? [])
  const complete = inOrder.length === document.steps.length && inOrder.every((one) => isComplete(one, names, viewer))
  return { complete, steps: inOrder.map((one) => showStep(one, catalog, names, isDone)) }
})

/** Whether the viewer sees the row, every cell that is touched, and every entity that a relation is set to. */
const isComplete = ({ isVisible, step, unit, visible }: SeenStep, names: Names, viewer: Caller): boolean =>
  isVisible &&
  touched(step, unit.type).every(
    (column) =>
      visible.has(column.key) &&
      (column.storage._tag === "Value" ||
        mayDangle(unit, column, viewer.catalog, viewer.readOf) ||
        referencesOf(column, step.after[column.key] ?? null).every((id) => names.has(keyOf(column, id))))
  )

const keyOf = ({ storage }: Column, id: string): string => (storage._tag === "Value" ? id : `${storage.target} ${id}`)

/** Names of entities by type key and id, of those that the viewer sees. */
type Names = ReadonlyMap<string, string>

const referencesOf = (column: Column, text: string | null): ReadonlyArray<string> =>
  text === null || column.storage._tag === "Value"
    ? []
    : column.storage._tag === "One"
      ? [text]
      : listOf(text).flatMap((id) => id ?? [])

/** Reads the names of the referenced entities through the viewer's plans, one statement per type. */
export const namesOf = Effect.fnUntraced(function* (seen: ReadonlyArray<SeenStep>, viewer: Caller) {
  const wanted = new Map<string, Set<string>>()
  for (const { step, unit, visible } of seen) {
    for (const column of touched(step, unit.type).filter(({ key }) => visible.has(key))) {
      if (column.storage._tag === "Value") continue
      const ids = wanted.get(column.storage.target) ?? new Set()
      for (const text of [step.before[column.key] ?? null, step.after[column.key] ?? null])
        for (const id of referencesOf(column, text)) ids.add(id)
      wanted.set(column.storage.target, ids)
    }
  }
  const names = new Map<string, string>()
  for (const { step, unit } of seen)
    if (unit.op === "create") names.set(`${unit.type.key} ${unit.id}`, cut(nameShown(step) ?? ""))
  for (const [key, ids] of wanted) {
    const type = typeByKey(viewer.catalog, key)
    const read = type === undefined || ids.size === 0 ? undefined : viewer.readOf(type)
    if (type === undefined || read === undefined) continue
    const statement = yield* compiled(() => compileSeen(type, [...ids], [], read, viewer.catalog))
    for (const { id, name } of yield* viewer.read<SeenRow>(statement))
      names.set(`${key} ${id}`, cut(name ?? showId(id, type.mapping?.id.type)))
  }
  return names
})

/** A cell's text for the viewer. An entity that the viewer doesn't see is left out, so the cell looks as in a lookup. */
const showCell = (column: Column, text: string | null, catalog: Catalog, names: Names): string | undefined => {
  const { storage } = column
  if (storage._tag === "Value") return showText(column, text, catalog)
  const shown = referencesOf(column, text).flatMap((id) => names.get(keyOf(column, id)) ?? [])
  return shown.length === 0 ? undefined : cut(shown.join(", "))
}

const showStep = (
  { name, step, unit, visible }: SeenStep,
  catalog: Catalog,
  names: Names,
  isDone: boolean
): PreviewStep => ({
  actionId: unit.action.slug,
  action: unit.action.name,
  entityTypeId: unit.type.slug,
  // The database gives a new row of a mapped type its id.
  entityId:
    unit.op === "create" && unit.type.mapping !== undefined && !isDone
      ? ""
      : showId(step.entity, unit.type.mapping?.id.type),
  ...(name === undefined ? {} : { displayName: cut(name) }),
  cells: [...cellsOf(step, unit.type, visible, catalog, names), ...carriedCells(step, unit.type)]
})

/** How many rows of other tables a deletion takes along or changes, as cells, so that every channel says it. */
const carriedCells = ({ carried = {} }: ChangeStep, type: EntityType): ReadonlyArray<PreviewCell> =>
  Object.entries(carried).map(([name, rows]) => {
    const deletes = carriedOf(type).some((one) => one.deletes && nameOfRelation(one.relation) === name)
    return { columnId: name, name: `${deletes ? "Also deletes" : "Also changes"} rows of ${name}`, was: String(rows) }
  })

/** The cells of a step that the viewer may read. */
export const cellsOf = (
  step: ChangeStep,
  type: EntityType,
  visible: ReadonlySet<string>,
  catalog: Catalog,
  names: Names
): ReadonlyArray<PreviewCell> =>
  touched(step, type).flatMap((column): ReadonlyArray<PreviewCell> => {
    if (!visible.has(column.key)) return []
    const was = showCell(column, step.before[column.key] ?? null, catalog, names)
    const becomes = showCell(column, step.after[column.key] ?? null, catalog, names)
    if (was === undefined && becomes === undefined) return []
    return [
      {
        columnId: column.slug,
        name: column.name,
        ...(was === undefined ? {} : { was }),
        ...(becomes === undefined ? {} : { becomes })
      }
    ]
  })
