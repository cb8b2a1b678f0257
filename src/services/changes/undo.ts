/** The inverse of an applied change, as units of a new one. It stands only where what the change made still stands. */
import { Effect } from "effect"
import { actionByKey, type Executor } from "../../domain/Action.ts"
import type { ChangeDocument, ChangeState, ChangeStep } from "../../domain/Change.ts"
import { type EntityType, typeByKey } from "../../domain/EntityType.ts"
import { Decided, Stale, type UnknownName } from "../../domain/errors.ts"
import type { Caller } from "./callers.ts"
import { whyLasting } from "./lasting.ts"
import { type Made, madeDocument, rowDigest } from "./made.ts"
import { noChange } from "./propose.ts"
import type { Stored } from "./records.ts"
import { showText } from "./show.ts"
import { textsOf, type Unit } from "./Unit.ts"

/** What an applied change did, for a person who proposed or decided it, and the conversation that it belongs to. */
export const undoable = (
  stored: Stored | undefined,
  who: string
): Effect.Effect<
  { readonly undone: ChangeDocument; readonly made: Made; readonly sessionId: string | undefined },
  Decided | UnknownName
> => {
  if (stored === undefined || ![stored.proposer_id, stored.decided_by].includes(who)) return Effect.fail(noChange)
  const refuse = (message: string, state: ChangeState = "applied") => Effect.fail(new Decided({ message, state }))
  if (stored.state !== "applied") return refuse("Only an applied change can be undone.", stored.state)
  if (stored.undone_by !== null) return refuse("This change has been undone already.")
  const undone = madeDocument(stored)
  if (undone === undefined) return refuse("The values of this change aren't kept any more.")
  return Effect.succeed({
    undone,
    made: stored.made ?? {},
    sessionId: stored.session_id ?? undefined
  })
}

const MOVED = "The columns of this type have changed since: it can't be undone."

const addsMapped = (action: string, type: string, { catalog }: Pick<Caller, "catalog">): boolean =>
  actionByKey(catalog, action)?.executor.op === "create" && typeByKey(catalog, type)?.mapping !== undefined

/** The units that undo a document, the last step first. */
export const inverseOf = (document: ChangeDocument, caller: Caller): Effect.Effect<ReadonlyArray<Unit>, Stale> => {
  const lasting = whyLasting(document, caller.catalog)
  if (lasting !== undefined) return Effect.fail(Stale.of(lasting))
  const units = document.steps.toReversed().map((step) => inverseStep(step, caller))
  return units.includes(undefined) ? Effect.fail(Stale.of(MOVED)) : Effect.succeed(units as ReadonlyArray<Unit>)
}

const INVERSE: Readonly<Record<Executor["op"], Executor["op"]>> = {
  create: "delete",
  update: "update",
  delete: "create"
}

const inverseStep = (step: ChangeStep, { catalog }: Caller): Unit | undefined => {
  const done = actionByKey(catalog, step.action)
  const type = typeByKey(catalog, step.type)
  if (done === undefined || type === undefined) return undefined
  const op = INVERSE[done.executor.op]
  const action = actionByKey(catalog, `${type.key}.${op}`)
  const filled = Object.entries(step.before).filter(([, text]) => op !== "create" || !isEmpty(text))
  const columns = type.columns.filter(({ key }) => filled.some(([filledKey]) => filledKey === key))
  if (action === undefined || columns.length < filled.length) return undefined
  return {
    action,
    op,
    type,
    id: step.entity,
    cells: columns.map((column) => ({ column, texts: textsOf(column, step.before[column.key] ?? null, catalog) })),
    ...(op === "create" && step.row !== undefined ? { restores: step.row } : {}),
    ...(op === "update" ? { undoes: true } : {})
  }
}

/** An empty cell, or a relation without links. */
const isEmpty = (text: string | null | undefined): boolean => text === null || text === undefined || text === "{}"

/** Fails where the rows aren't as the change left them; says so for each cell. */
export const requireStanding = (
  steps: ReadonlyArray<ChangeStep>,
  undone: ChangeDocument,
  made: Made,
  { catalog }: Caller
): Effect.Effect<void, Stale> => {
  const conflicts = steps.flatMap((step) => {
    const done = undone.steps.find(({ entity, type }) => entity === step.entity && type === step.type)
    const type = typeByKey(catalog, step.type)
    if (done === undefined || type === undefined) return []
    return addsMapped(done.action, done.type, { catalog })
      ? conflictOfAdded(step, type, made)
      : conflictsOf(step, done, type, { catalog })
  })
  return conflicts.length === 0
    ? Effect.void
    : Effect.fail(Stale.of(`${conflicts.slice(0, 5).join(" ")} It wasn't undone.`))
}

/** The database filled in cells that the change didn't set: the row is compared as a whole. */
const conflictOfAdded = (step: ChangeStep, type: EntityType, made: Made): ReadonlyArray<string> => {
  const columns = type.columns.filter(({ key }) => Object.hasOwn(step.before, key))
  const now = rowDigest(
    columns,
    columns.map(({ key }) => step.before[key] ?? null)
  )
  return Object.values(made).some(({ entity, row }) => entity === step.entity && row === now)
    ? []
    : [`The ${type.name.toLowerCase()} has been changed since it was added.`]
}

const conflictsOf = (
  step: ChangeStep,
  done: ChangeStep,
  type: EntityType,
  { catalog }: Pick<Caller, "catalog">
): ReadonlyArray<string> =>
  type.columns
    .filter(({ key }) => Object.hasOwn(step.before, key))
    .flatMap((column): ReadonlyArray<string> => {
      const [now, then] = [step.before[column.key] ?? null, done.after[column.key] ?? null]
      if (now === then || (isEmpty(now) && isEmpty(then))) return []
      if (column.storage._tag !== "Value") return [`${column.name} has been changed since.`]
      const shown = (text: string | null) => showText(column, text, catalog) ?? "empty"
      return [`${column.name} was made ${shown(then)}; it is ${shown(now)} now.`]
    })
