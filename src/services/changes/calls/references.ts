/**
 * References of calls: the person names an entity, and what is sent for it is read from the entity through the person's own plan.
 * Everyone who confirms, approves or is shown the call must see the same.
 */
import { Effect, Result } from "effect"
import type { ChangeCall } from "../../../domain/Change.ts"
import type { ActionField, CallValues } from "../../../domain/DeclaredAction.ts"
import { type EntityType, typeBySlug } from "../../../domain/EntityType.ts"
import { InvalidInput, NotAllowed, Stale, type Unavailable } from "../../../domain/errors.ts"
import type { Entity } from "../../../domain/Page.ts"
import { CurrentPrincipal } from "../../../domain/Principal.ts"
import { readField } from "../../actions/fieldValues.ts"
import type { EntityQueryService } from "../../EntityQueryService.ts"
import type { Caller } from "../callers.ts"
import { findTarget } from "../findTarget.ts"

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
  queries: Queries
) {
  const values: Record<string, string> = { ...given }
  const refers: Record<string, Refers[string]> = {}
  const references = fields.filter(({ kind }) => kind === "reference")
  // Fields that lie within one another have no outer one, which is said.
  const waiting = [...references]
  while (waiting.length > 0) {
    const field = waiting.find(({ within }) => !waiting.some(({ slug }) => slug === within?.field)) ?? waiting[0]!
    waiting.splice(waiting.indexOf(field), 1)
    const { sends, slug, target, within } = field
    const text = given[slug]
    if (text === undefined) continue
    const type = typeOf(caller, target)
    if (type === undefined) return yield* InvalidInput.of(`${slug}: there is nothing that you may see here.`)
    const parent = within && refers[within.field]
    if (within !== undefined && parent === undefined) return yield* InvalidInput.of(`${slug} needs ${within.field}.`)
    const entity = yield* findTarget(
      {
        label: slug,
        text,
        target: type,
        ...(within === undefined ? {} : { among: [{ columnId: within.column, op: "eq", value: parent!.entity }] }),
        ...(sends === undefined ? {} : { also: [sends], select: [sends] })
      },
      caller,
      queries
    )
    const sent = sentOf(entity, sends)
    if (sent === undefined) return yield* InvalidInput.of(`${slug}: it has no ${sends ?? "id"} that you can see.`)
    const checked = readField({ ...field, kind: "text" }, sent, caller.catalog.organization)
    if (Result.isFailure(checked)) return yield* InvalidInput.of(`${slug}: ${checked.failure}.`)
    values[slug] = checked.success
    refers[slug] = { type: type.slug, entity: entity.entityId, ...(sends === undefined ? {} : { sends }) }
  }
  return { values, ...(references.length === 0 ? {} : { refers }) }
})

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
  for (const [slug, { entity, sends, type }] of Object.entries(refers)) {
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
