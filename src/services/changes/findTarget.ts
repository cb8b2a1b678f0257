/** Finds the entity that a person names: by its id, by what identifies it, or by a part of its name; each through the caller's plan. */
import { Effect } from "effect"
import type { EntityType } from "../../domain/EntityType.ts"
import { InvalidInput, type LookupError, Unclear } from "../../domain/errors.ts"
import type { Entity } from "../../domain/Page.ts"
import { CurrentPrincipal } from "../../domain/Principal.ts"
import { type Filter, MAX_VALUE_LENGTH } from "../../domain/Query.ts"
import { quoted } from "../../domain/text.ts"
import { plainValue } from "../../domain/valueList.ts"
import type { EntityQueryService } from "../EntityQueryService.ts"
import type { Caller } from "./callers.ts"

/** The most choices that are offered. */
const MAX_CHOICES = 8

interface Searched {
  readonly text: string
  readonly target: EntityType
  /** What the entity must fulfil beside. */
  readonly among?: ReadonlyArray<Filter>
  /** Columns that identify it beside those that always do, the surest first. */
  readonly also?: ReadonlyArray<string>
}

interface Wanted extends Searched {
  /** What the errors are about: the slug of a column or of a field. */
  readonly label: string
  /** Columns that the result has. */
  readonly select?: ReadonlyArray<string>
}

/** Finds entities of a type by one column, through the caller's plan. */
const finder =
  (
    { among = [], select, target, text }: Omit<Wanted, "label">,
    caller: Caller,
    queries: EntityQueryService["Service"]
  ) =>
  (columnId?: string, op: "eq" | "ilike" = "eq") =>
    queries
      .findEntities({
        organizationId: caller.catalog.organization.id,
        entityTypeId: target.slug,
        filters: [...(columnId === undefined ? [] : [{ columnId, op, value: plainValue(text) }]), ...among],
        limit: MAX_CHOICES + 1,
        ...(select === undefined || select.length === 0 ? {} : { selectColumns: select })
      })
      .pipe(
        Effect.map(({ entities }) => entities),
        // A text that isn't of the column's kind matches none.
        Effect.catchTag("InvalidInput", (): Effect.Effect<ReadonlyArray<Entity>> => Effect.succeed([])),
        Effect.provideService(CurrentPrincipal, caller.principal)
      )

/** The columns that identify an entity of a type. */
const identifiersOf = (target: EntityType, { catalog, principal }: Caller, queries: EntityQueryService["Service"]) =>
  queries.overview({ organizationId: catalog.organization.id }).pipe(
    Effect.map((types) => types.find(({ id }) => id === target.slug)?.identifiers ?? []),
    Effect.provideService(CurrentPrincipal, principal)
  )

/** The first entities that a text fits, those that it identifies before those whose name has it; all of them for an empty one. */
export const searchTargets = Effect.fnUntraced(function* (
  searched: Searched,
  caller: Caller,
  queries: EntityQueryService["Service"]
) {
  const { also = [], target, text } = searched
  const found = finder(searched, caller, queries)
  if (text.length > MAX_VALUE_LENGTH) return []
  const identifiers = text.trim() === "" ? [] : yield* identifiersOf(target, caller, queries)
  const pages =
    text.trim() === ""
      ? [yield* found()]
      : yield* Effect.all([
          ...[...new Set(["id", ...also, ...identifiers])].map((columnId) => found(columnId)),
          ...(identifiers.includes("name") ? [found("name", "ilike")] : [])
        ])
  const entities = new Map(pages.flat().map((entity) => [entity.entityId, entity]))
  return [...entities.values()]
    .slice(0, MAX_CHOICES)
    .map(({ displayName, entityId }) => ({ value: entityId, name: displayName ?? entityId }))
})

export const findTarget = Effect.fnUntraced(function* (
  wanted: Wanted,
  caller: Caller,
  queries: EntityQueryService["Service"]
) {
  const { also = [], label, target, text } = wanted
  if (text.length > MAX_VALUE_LENGTH)
    return yield* InvalidInput.of(`${label} has at most ${MAX_VALUE_LENGTH} characters.`)
  const found = finder(wanted, caller, queries)
  const [self, ...others] = yield* found("id", "eq")
  if (self !== undefined && others.length === 0) return self
  const identifiers = yield* identifiersOf(target, caller, queries)
  const searches: ReadonlyArray<Effect.Effect<ReadonlyArray<Entity>, LookupError>> = [
    ...also.map((columnId) => found(columnId, "eq")),
    Effect.map(
      Effect.forEach(identifiers, (columnId) => found(columnId, "eq")),
      (pages) => [...new Map(pages.flat().map((entity) => [entity.entityId, entity])).values()]
    ),
    ...(identifiers.includes("name") ? [found("name", "ilike")] : [])
  ]
  for (const search of searches) {
    const entities = yield* search
    if (entities.length === 1) return entities[0]!
    if (entities.length > 1) {
      return yield* new Unclear({
        message: `${label}: several ${target.pluralName.toLowerCase()} fit ${quoted(text)}. Which one?`,
        choices: entities
          .slice(0, MAX_CHOICES)
          .map(({ displayName, entityId }) => ({ id: entityId, name: displayName ?? entityId }))
      })
    }
  }
  return yield* InvalidInput.of(`${label}: there is no ${target.name.toLowerCase()} ${quoted(text)}.`)
})
