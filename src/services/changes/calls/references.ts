/**
 * References of calls: the person names an entity, and what is sent for it is read from the entity through the person's own plan.
 * Everyone who confirms, approves or is shown the call must see the same.
 */
import { Effect, Result } from "effect"
import type { ChangeCall } from "../../../domain/Change.ts"
import type { ActionField, CallValues } from "../../../domain/DeclaredAction.ts"
import { type EntityType, typeBySlug } from "../../../domain/EntityType.ts"
import { atField, InvalidInput, NotAllowed, Stale, type Unavailable } from "../../../domain/errors.ts"
import type { Entity } from "../../../domain/Page.ts"
import { CurrentPrincipal } from "../../../domain/Principal.ts"
import { readField } from "../../actions/fieldValues.ts"
import type { ReadRows } from "../../actions/readRows.ts"
import type { EntityQueryService } from "../../EntityQueryService.ts"
import type { Caller } from "../callers.ts"
import { findTarget } from "../findTarget.ts"
import { findCandidate } from "./candidates.ts"

type Queries = EntityQueryService["Service"]
type Refers = NonNullable<ChangeCall["refers"]>

/** What is sent for an entity; undefined where the cell is empty or hidden. */
const sentOf = ({ columns = {}, entityId }: Entity, sends: string | undefined): string | undefined => {
  if (sends === undefined) return entityId
  const value = columns[sends]
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined
}

/** The values of a call with what is sent for each reference, the outer ones first. */
export const resolveReferences = Effect.fnUntraced(function* (
  fields: ReadonlyArray<ActionField>,
  given: CallValues,
  caller: Caller,
  queries: Queries,
  read: ReadRows
) {
  const values: Record<string, string> = { ...given }
  const refers: Record<string, Refers[string]> = {}
  const entities: Record<string, string> = {}
  const all = fields.filter(({ kind }) => kind === "reference")
  const references = all.filter(({ from }) => from === undefined)
  // Fields that lie within one another have no outer one, which is said.
  const waiting = [...references]
  while (waiting.length > 0) {
    const field = waiting.find(({ within }) => !waiting.some(({ slug }) => slug === within?.field)) ?? waiting[0]!
    waiting.splice(waiting.indexOf(field), 1)
    const { sends, slug, target, within } = field
    const text = given[slug]
    if (text === undefined) continue
    const type = typeOf(caller, target)
    if (type === undefined)
      return yield* atField(slug)(InvalidInput.of(`${slug}: there is nothing that you may see here.`))
    const parent = within && entities[within.field]
    if (within !== undefined && parent === undefined)
      return yield* atField(slug)(InvalidInput.of(`${slug} needs ${within.field}.`))
    const entity = yield* findTarget(
      {
        label: slug,
        text,
        target: type,
        ...(within === undefined ? {} : { among: [{ columnId: within.column, op: "eq", value: parent! }] }),
        ...(sends === undefined ? {} : { also: [sends], select: [sends] })
      },
      caller,
      queries
    ).pipe(Effect.mapError(atField(slug)))
    const sent = sentOf(entity, sends)
    if (sent === undefined)
      return yield* atField(slug)(InvalidInput.of(`${slug}: it has no ${sends ?? "id"} that you can see.`))
    values[slug] = yield* checkedText(field, sent, caller)
    entities[slug] = entity.entityId
    refers[slug] = { type: type.slug, entity: entity.entityId, ...(sends === undefined ? {} : { sends }) }
  }
  for (const field of all) {
    const text = given[field.slug]
    if (field.from === undefined || text === undefined) continue
    const found = yield* findCandidate({ from: field.from, label: field.slug, text }, values, caller, read).pipe(
      Effect.mapError(atField(field.slug))
    )
    values[field.slug] = yield* checkedText(field, found.value, caller)
    refers[field.slug] = { action: field.from.action, name: found.name }
  }
  return { values, ...(all.length === 0 ? {} : { refers }) }
})

/** What is sent for a reference, if it fits the field. */
const checkedText = (field: ActionField, sent: string, { catalog }: Caller): Effect.Effect<string, InvalidInput> => {
  const checked = readField({ ...field, kind: "text" }, sent, catalog.organization)
  return Result.isSuccess(checked)
    ? Effect.succeed(checked.success)
    : Effect.fail(atField(field.slug)(InvalidInput.of(`${field.slug}: ${checked.failure}.`)) as InvalidInput)
}

const typeOf = ({ catalog, readOf }: Caller, slug: string | undefined): EntityType | undefined => {
  const type = slug === undefined ? undefined : typeBySlug(catalog, slug)
  return type !== undefined && readOf(type) !== undefined ? type : undefined
}

/** What a reference is for a viewer. */
export type Standing = { readonly _tag: "Same"; readonly name?: string } | { readonly _tag: "Hidden" | "Other" }

/** Compares each reference of a call with what the viewer sees now. */
export const standingOf = Effect.fnUntraced(function* (
  { refers = {}, values }: ChangeCall,
  viewer: Caller,
  queries: Queries
): Effect.fn.Return<Readonly<Record<string, Standing>>, Unavailable> {
  const found: Record<string, Standing> = {}
  for (const [slug, refer] of Object.entries(refers)) {
    if ("action" in refer) {
      // What was read is part of the change; those see it who may read it there themselves.
      const source = viewer.actions.find((one) => one.slug === refer.action)
      const name = [refer.name, source === undefined ? "" : `read from “${source.name}”`]
      found[slug] =
        source === undefined
          ? { _tag: "Hidden" }
          : { _tag: "Same", name: name.filter((part) => part !== "").join(", ") }
      continue
    }
    const { entity, sends, type } = refer
    const [row] = yield* queries
      .findEntities({
        organizationId: viewer.catalog.organization.id,
        entityTypeId: type,
        filters: [{ columnId: "id", op: "eq", value: entity }],
        limit: 1,
        ...(sends === undefined ? {} : { selectColumns: [sends] })
      })
      .pipe(
        Effect.map(({ entities }) => entities),
        Effect.catch((error): Effect.Effect<ReadonlyArray<Entity>, Unavailable> =>
          error._tag === "Unavailable" ? Effect.fail(error) : Effect.succeed([])
        ),
        Effect.provideService(CurrentPrincipal, viewer.principal)
      )
    const sent = row && sentOf(row, sends)
    const name = row?.displayName
    found[slug] =
      sent === undefined
        ? { _tag: "Hidden" }
        : sent.trim() !== values[slug]
          ? { _tag: "Other" }
          : { _tag: "Same", ...(name === undefined || name === sent ? {} : { name }) }
  }
  return found
})

/** Requires that each party sees what is sent as it was shown. */
export const requireSame = Effect.fnUntraced(function* (
  calls: ReadonlyArray<ChangeCall>,
  parties: ReadonlyArray<Caller>,
  queries: Queries
) {
  for (const call of calls)
    for (const party of parties) {
      const standings = Object.values(yield* standingOf(call, party, queries)).map(({ _tag }) => _tag)
      if (standings.includes("Hidden")) return yield* NotAllowed.of(UNSEEN)
      if (standings.includes("Other")) return yield* Stale.of(OTHER)
    }
})

const UNSEEN = "It is about something that isn't there for everyone who decides: nothing was changed."
const OTHER = "What it is about has changed since you looked: nothing was changed."
