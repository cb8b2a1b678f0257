/**
 * The planner and the compiler against the oracle, with random policies, hostile rows and random callers: on a real
 * Postgres the statement returns the rows and cells that the oracle finds row by row, for every form of hops.
 */
import { layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as fc from "fast-check"
import { expect } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { runWithin } from "../../src/database/execute.ts"
import { compileFind } from "../../src/database/sql/find.ts"
import {
  type Catalog,
  DISPLAY_NAME,
  type EntityType,
  readableColumns,
  STATUS,
  targetOf,
  typeBySlug
} from "../../src/domain/EntityType.ts"
import { encodeId } from "../../src/domain/ids.ts"
import { NEVER } from "../../src/domain/Predicate.ts"
import type { Principal } from "../../src/domain/Principal.ts"
import type { ResolvedQuery, SelectedColumn } from "../../src/database/sql/ResolvedQuery.ts"
import { plan } from "../../src/permissions/PermissionEngine.ts"
import { Policy, problemText } from "../../src/permissions/Policy.ts"
import { readPolicy } from "../../src/permissions/readPolicy.ts"
import { OrganizationState } from "../../src/services/catalog/OrganizationState.ts"
import { TestServices } from "../support/database.ts"
import { caller, NOW, policy } from "./generators.ts"
import { type Caller, localIn, type PolicyJson, type RuleJson, visibleRelated, viewsOf } from "./oracle.ts"
import { caseText, count, floorOf, holds, makePlaces, makeTally, partOf, tallied } from "./setting.ts"
import { makeWorld, type Organization, TYPE_NAMES, type TypeName, READABLE, SHAPES } from "./world.ts"

/** Each case is a policy, a caller and a type, compared for two forms of hops. */
const CASES = partOf(10_000)
const WORLDS = [11, 12, 13, 14].slice(0, partOf(4))
const SEED = 20261121

interface Loaded {
  readonly organization: Organization
  readonly catalog: Catalog
}

interface Case {
  readonly policy: PolicyJson
  readonly caller: Caller
  readonly type: TypeName
  readonly where: number
}

const kase: fc.Arbitrary<Case> = fc
  .constantFrom(...TYPE_NAMES)
  .chain((type) =>
    fc.record({ policy: policy(type), caller, type: fc.constant(type), where: fc.nat({ max: WORLDS.length * 2 - 1 }) })
  )

/** Rows by id, each with its visible cells by column; NULL cells are omitted. */
type Shown = ReadonlyMap<string, Readonly<Record<string, unknown>>>

const expected = ({ caller: who, policy: file, type }: Case, { organization }: Loaded): Shown => {
  const views = viewsOf(file, who, organization, NOW)
  return new Map(
    [...views[type]].map(([id, columns]) => {
      const entity = organization.entities[type].get(id)!
      const cells: Record<string, unknown> = {}
      for (const column of columns) {
        const { kind } = READABLE[type][column]!
        const cell = entity.cells[column] ?? null
        if (kind === "one" || kind === "many") {
          const shown = cell === null && kind === "one" ? [] : visibleRelated(type, column, entity, views, organization)
          if (shown.length > 0)
            cells[column] = shown.slice(0, 11).map((reference) => [reference.id, reference.name ?? null])
        } else if (cell !== null) {
          cells[column] = kind === "timestamp" ? localIn(Date.parse(cell as string), organization.timeZone) : cell
        }
      }
      return [encodeId(id), cells]
    })
  )
}

const storedPolicy = (file: PolicyJson, catalog: Catalog): Policy => {
  const reading = readPolicy(JSON.stringify(file), catalog)
  if ("problems" in reading) throw new Error(reading.problems.map(problemText).join("\n"))
  // In the form that the database returns.
  return Schema.decodeUnknownSync(Policy)(JSON.parse(JSON.stringify(Schema.encodeSync(Policy)(reading.policy))))
}

const principalOf = (who: Caller, catalog: Catalog): Principal => ({
  organizationId: catalog.organization.id,
  anchorEntityId: encodeId(who.me),
  roles: who.roles,
  attributes: who.attributes as Principal["attributes"],
  ...(who.actor === undefined ? {} : { actor: { id: "agent", ...who.actor } as NonNullable<Principal["actor"]> }),
  epoch: catalog.epoch
})

/** A planned case: a query without its form of hops. */
const planned = (one: Case, { catalog }: Loaded) => {
  const stored = storedPolicy(one.policy, catalog)
  const principal = principalOf(one.caller, catalog)
  const planOf = (type: EntityType) => {
    const result = plan(stored, catalog, principal, type, "read", NOW)
    return result._tag === "Granted" ? result : undefined
  }
  const type = typeBySlug(catalog, one.type)!
  const granted = planOf(type)
  if (granted === undefined) return undefined
  const select = readableColumns(type).flatMap((column): ReadonlyArray<SelectedColumn> => {
    const mask = granted.cells.get(column.key)
    const target = targetOf(catalog, column)
    const other = target && planOf(target)
    if (mask === undefined || (target !== undefined && other === undefined)) return []
    return [
      {
        column,
        mask,
        ...(target === undefined
          ? {}
          : { target: { type: target, where: other!.where, name: other!.cells.get(DISPLAY_NAME) ?? NEVER } })
      }
    ]
  })
  return {
    conditional: granted.where._tag !== "Always" || [...granted.cells.values()].some((mask) => mask._tag !== "Always"),
    query: {
      type,
      plan: granted.where,
      filters: [],
      limit: 500,
      select,
      pool: "search" as const,
      label: "differential",
      name: granted.cells.get(DISPLAY_NAME) ?? NEVER,
      status: granted.cells.get(STATUS) ?? NEVER
    }
  }
}

/** The rows and cells that a planned case's statement returns. */
const shownBy = Effect.fnUntraced(function* (
  query: Omit<ResolvedQuery, "hops">,
  { catalog }: Loaded,
  hops: ResolvedQuery["hops"]
) {
  const { search } = yield* Database
  const { select } = query
  const statement = compileFind({ ...query, hops }, catalog)
  const rows = yield* catalog.rowSecurity === true
    ? runWithin<Record<string, unknown>>(search, catalog.organization.id, statement)
    : search.unsafe<Record<string, unknown>>(statement.text, statement.parameters)
  const shown = new Map<string, Record<string, unknown>>()
  for (const row of rows) {
    if (row["fresh"] !== true) throw new Error("The statement says that it is stale")
    if (row["id"] === null) continue
    const id = encodeId(row["id"] as bigint)
    if (shown.has(id)) throw new Error(`The row ${id} came twice`)
    if (row["organization_id"] !== catalog.organization.id) throw new Error(`The row ${id} is another organization's`)
    const cells: Record<string, unknown> = {}
    for (const [
      index,
      {
        column: { kind, slug }
      }
    ] of select.entries()) {
      const value = row[`c${index}`]
      if (value === null) continue
      cells[slug] = kind === "reference" || kind === "references" ? pairs(value as ReadonlyArray<string | null>) : value
    }
    for (const system of ["name", "status"]) {
      if ((row[system] ?? undefined) !== cells[system]) throw new Error(`${system} of ${id} isn't its cell`)
    }
    shown.set(id, cells)
  }
  if (rows[0]!["total"] !== shown.size) throw new Error(`total is ${String(rows[0]!["total"])} of ${shown.size}`)
  return shown as Shown
})

const pairs = (parts: ReadonlyArray<string | null>) =>
  Array.from({ length: parts.length / 2 }, (_, index) => [encodeId(BigInt(parts[2 * index]!)), parts[2 * index + 1]])

/** The differing rows, as text. */
const difference = (hops: string, want: Shown, got: Shown): string =>
  [...new Set([...got.keys(), ...want.keys()])]
    .filter((id) => JSON.stringify(sorted(want.get(id))) !== JSON.stringify(sorted(got.get(id))))
    .sort((a, b) => Number(want.has(a)) - Number(want.has(b)))
    .slice(0, 3)
    .map((id) => {
      const what = want.has(id) ? (got.has(id) ? "other cells" : "hidden") : "shown and shouldn't be"
      return `${id} is ${what}, ${hops}: expected ${JSON.stringify(want.get(id))}, found ${JSON.stringify(got.get(id))}`
    })
    .join("\n")

const sorted = (cells: Readonly<Record<string, unknown>> | undefined) =>
  cells && Object.entries(cells).sort(([a], [b]) => (a < b ? -1 : 1))

const same = (a: Shown, b: Shown): boolean =>
  a.size === b.size &&
  [...a].every(([id, cells]) => b.has(id) && JSON.stringify(sorted(cells)) === JSON.stringify(sorted(b.get(id))))

layer(TestServices, { excludeTestServices: true })("differential", (it) => {
  it.effect("the rows and cells that a policy shows are those that the oracle finds, for every form of hops", () =>
    Effect.gen(function* () {
      const states = yield* OrganizationState
      const loaded: Array<Loaded> = []
      for (const { organization, stored } of yield* makePlaces(WORLDS.flatMap(makeWorld))) {
        loaded.push({ organization, catalog: (yield* states.read(stored.id, { by: "none" })).state.catalog })
      }
      const tally = makeTally()
      let turns = 0
      yield* holds(
        kase,
        {
          name: "differential",
          cases: CASES,
          seed: SEED,
          queue: ({ where }) => where,
          text: (one) => caseText(one.caller, one.policy, `${one.type}, world ${one.where}`)
        },
        Effect.fnUntraced(function* (one) {
          const place = loaded[one.where]!
          const want = expected(one, place)
          const result = planned(one, place)
          for (const hops of [turns++ % 2 === 0 ? "subplan" : "probe", "array"] as const) {
            const shown: Shown = result === undefined ? new Map() : yield* shownBy(result.query, place, hops)
            if (!same(want, shown)) throw new Error(difference(hops, want, shown))
          }
          count(tally, want.size > 0, result?.conditional === true)
        })
      )
      tallied("differential, rows and cells in two shapes", CASES, tally)
    })
  )

  it.effect("a further deny never shows a row or a cell that wasn't shown, and a further allow never hides one", () =>
    Effect.gen(function* () {
      const states = yield* OrganizationState
      const [place] = yield* makePlaces(makeWorld(15))
      const loaded: Loaded = {
        organization: place!.organization,
        catalog: (yield* states.read(place!.stored.id, { by: "none" })).state.catalog
      }
      const run = Effect.runPromiseWith(yield* Effect.context<Database>())
      let hidden = 0
      let added = 0
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(
            kase,
            policy("people"),
            fc.constantFrom("subplan" as const, "array" as const),
            async (one, other, hops) => {
              const visible = async (rules: ReadonlyArray<RuleJson>): Promise<ReadonlySet<string>> => {
                const result = planned({ ...one, policy: { ...one.policy, rules } }, loaded)
                const shown: Shown = result === undefined ? new Map() : await run(shownBy(result.query, loaded, hops))
                return new Set(
                  [...shown].flatMap(([id, cells]) => [
                    id,
                    ...Object.keys(cells)
                      .filter((column) => READABLE[one.type][column]!.target === undefined)
                      .map((column) => `${id}.${column}`)
                  ])
                )
              }
              const [extra] = other.rules.filter((rule) => rule.type === one.type)
              if (extra === undefined) return
              // A rule that allows something can't name a derived column.
              const stored = (columns: RuleJson["columns"]) =>
                columns === "*" ? columns : columns.filter((column) => SHAPES[one.type][column] !== undefined)
              const more = (effect: RuleJson["effect"]) => [
                ...one.policy.rules,
                {
                  ...extra,
                  columns: effect === "deny" ? extra.columns : stored(extra.columns),
                  id: "extra",
                  effect,
                  role: "guest"
                }
              ]
              const [before, denied, allowed] = [
                await visible(one.policy.rules),
                await visible(more("deny")),
                await visible(more("allow"))
              ]
              expect([...denied].filter((cell) => !before.has(cell))).toEqual([])
              expect([...before].filter((cell) => !allowed.has(cell))).toEqual([])
              if (denied.size < before.size) hidden += 1
              if (allowed.size > before.size) added += 1
            }
          ),
          { numRuns: partOf(300), seed: SEED }
        )
      )
      expect(hidden).toBeGreaterThanOrEqual(floorOf(20))
      expect(added).toBeGreaterThanOrEqual(floorOf(20))
    })
  )
})
