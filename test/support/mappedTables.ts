/** Existing databases, their mapping, and members who look things up in them. */
import { Effect } from "effect"
import { Database } from "../../src/database/Database.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import { CurrentPrincipal } from "../../src/domain/Principal.ts"
import type { FindQuery } from "../../src/domain/Query.ts"
import { EntityQueryService } from "../../src/services/EntityQueryService.ts"
import { IdentityResolver } from "../../src/services/members/IdentityResolver.ts"
import { readMappingFile, type TypeEntry } from "../../src/services/mapping/mappingFile.ts"
import { Mappings } from "../../src/services/mapping/Mappings.ts"
import { readIdentifier, readPersonId } from "../../src/services/members/identifier.ts"
import { Memberships } from "../../src/services/members/Memberships.ts"
import { Policies } from "../../src/services/policies/Policies.ts"

/** Runs with the search path of other programs. */
const inPublic = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Database, ({ owner }) =>
    owner.withTransaction(Effect.andThen(owner`SET LOCAL search_path = public, pg_catalog`, effect))
  )

/** Runs a script statement by statement; each ends with a semicolon at the end of a line. */
export const runScript = Effect.fnUntraced(function* (script: string) {
  const { owner } = yield* Database
  const statements = script
    .split(/;[ \t]*\n/)
    .map((statement) => statement.replace(/^\s*(--.*|\\c .*)$/gm, "").trim())
    .filter((text) => text !== "" && !/^(DROP|CREATE) DATABASE/.test(text.replace(/^(\/\*[^]*?\*\/\s*)*/, "")))
  yield* inPublic(Effect.forEach(statements, (statement) => owner.unsafe(statement).unprepared, { discard: true }))
})

/** Proposes a mapping, lets the test edit it, and applies it as a file. */
export const mapTables = Effect.fnUntraced(function* (
  organization: Organization,
  options: {
    readonly tables?: ReadonlyArray<string>
    readonly exclusive?: boolean
    readonly edit?: (entry: TypeEntry) => TypeEntry | undefined
  } = {}
) {
  const mappings = yield* Mappings
  const { file, notes } = yield* mappings.propose(organization, options.tables ?? [], options.exclusive ?? false)
  const types = file.types.flatMap((entry) => (options.edit === undefined ? entry : (options.edit(entry) ?? [])))
  const applied = yield* mappings.apply(organization, yield* readMappingFile(JSON.stringify({ ...file, types })))
  return { proposed: file, notes, applied }
})

export const policyFor = Effect.fnUntraced(function* (organization: Organization, policy: object) {
  const policies = yield* Policies
  yield* policies.publish(organization, JSON.stringify(policy), "test")
})

/** Adds a person of the data as a member, and looks things up as that person. */
export const asExistingPerson = Effect.fnUntraced(function* (
  organization: Organization,
  identifier: string,
  ...roles: ReadonlyArray<string>
) {
  const members = yield* Memberships
  const { anchorId } = yield* members.add(organization, { identifier, roles })
  return yield* asMember(organization, identifier, anchorId)
})

/** Looks things up as a member. */
export const asMember = Effect.fnUntraced(function* (organization: Organization, who: string, anchorId: string) {
  const identities = yield* IdentityResolver
  const queries = yield* EntityQueryService
  const identifier = readPersonId(who) === undefined ? readIdentifier(who, organization) : undefined
  const admitted =
    identifier === undefined
      ? identities.readmit({ organizationId: organization.id, anchorEntityId: anchorId })
      : identities.admit(organization, identifier)
  const principal = Effect.map(admitted, (found) => found.principal)
  const as = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.flatMap(principal, (current) => Effect.provideService(effect, CurrentPrincipal, current))
  const organizationId = organization.id
  const find = (entityTypeId: string, filters: ReadonlyArray<string> = [], more: Partial<FindQuery> = {}) =>
    as(
      queries.findEntities({
        organizationId,
        entityTypeId,
        filters: filters.map((filter) => {
          const [, columnId, op, value] = /^(\w+)(>=|[=~<])(.*)$/s.exec(filter)!
          return {
            columnId: columnId!,
            op: ({ "=": "eq", "~": "ilike", ">=": "gte", "<": "lt" } as const)[op as "="],
            value: value!
          }
        }),
        ...more
      })
    )
  /** Every entity, page by page. */
  const findAll = Effect.fnUntraced(function* (
    entityTypeId: string,
    filters: ReadonlyArray<string> = [],
    select: ReadonlyArray<string> = [],
    limit = 7
  ) {
    const entities = []
    let cursor: string | undefined
    for (;;) {
      const page = yield* find(entityTypeId, filters, {
        selectColumns: select,
        limit,
        ...(cursor === undefined ? {} : { cursorEntityId: cursor })
      })
      entities.push(...page.entities)
      if (entities.length > page.total) throw new Error("More entities than the total says")
      cursor = page.nextCursorEntityId
      if (cursor === undefined) {
        if (entities.length !== page.total) throw new Error(`${entities.length} entities of ${page.total}`)
        return entities
      }
    }
  })
  return {
    anchorId,
    find,
    findAll,
    types: Effect.map(as(queries.listEntityTypes({ organizationId })), ({ entityTypes }) =>
      entityTypes.map(({ id }) => id)
    ),
    columns: (entityTypeId: string) =>
      Effect.map(as(queries.listColumnsForType({ organizationId, entityTypeId })), ({ columns }) =>
        columns.map(({ id }) => id)
      ),
    labels: (entityTypeId: string) => as(queries.listColumnsForType({ organizationId, entityTypeId })),
    statement: (entityTypeId: string, more: Partial<FindQuery>) =>
      as(queries.explain({ organizationId, entityTypeId, filters: [], ...more })),
    explain: (entityTypeId: string, columnId: string, value: string) =>
      as(queries.explain({ organizationId, entityTypeId, filters: [{ columnId, op: "eq", value }] }))
  }
})

/** The first column of the rows of hand-written SQL. */
export const byHand = Effect.fnUntraced(function* (sql: string) {
  const { owner } = yield* Database
  const rows = yield* inPublic(owner.unsafe<{ id: unknown }>(sql))
  return rows.map(({ id }) => String(id))
})

export const ids = (entities: ReadonlyArray<{ readonly entityId: string }>) => entities.map(({ entityId }) => entityId)
