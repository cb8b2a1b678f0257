/** Plans and resolved queries against the oracles in memory: checks their meaning independently of the SQL compiler. */
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type EntityType, typeByKey } from "../../src/domain/EntityType.ts"
import { encodeId } from "../../src/domain/ids.ts"
import { plan } from "../../src/permissions/PermissionEngine.ts"
import { resolveLiterals } from "../../src/services/lookup/resolve.ts"
import { type Visible, visibleColumns, visibleTypes } from "../../src/services/lookup/visible.ts"
import { catalog } from "./catalog.ts"
import { caller, generousPolicy, member, NOW, policy, query } from "./generators.ts"
import { type MemoryRow, principalOf, rowOf, satisfies, storedPolicy } from "./memory.ts"
import { type Caller, type PolicyJson, viewOf, viewsOf } from "./oracle.ts"
import { aimed, answer, type Query } from "./queryOracle.ts"
import { floorOf, partOf } from "./setting.ts"
import { makeWorld, random, TYPE_NAMES, type TypeName } from "./world.ts"

const SEED = 20261125
const [here] = makeWorld(51)
const rowsOf = (type: TypeName) => [...here!.entities[type].values()].map((entity) => rowOf(type, entity, here!))
const rows = {
  people: rowsOf("people"),
  companies: rowsOf("companies"),
  meetings: rowsOf("meetings"),
  deals: rowsOf("deals")
}
const typeOf = (slug: TypeName): EntityType => typeByKey(catalog, slug)!
const idOf = (row: MemoryRow) => encodeId(BigInt(row.values["id"] as string))

describe("plan", () => {
  it("shows the rows and cells that the oracle shows", () => {
    let visible = 0
    let conditional = 0
    fc.assert(
      fc.property(
        fc.constantFrom(...TYPE_NAMES).chain((type) => fc.tuple(fc.constant(type), policy(type), caller)),
        ([slug, file, who]) => {
          const type = typeOf(slug)
          const planned = plan(storedPolicy(file), catalog, principalOf(who), type, "read", NOW)
          const shown =
            planned._tag === "Denied"
              ? []
              : rows[slug]
                  .filter((row) => satisfies(planned.where, row, type))
                  .map((row) => [
                    idOf(row),
                    [...planned.cells].flatMap(([column, mask]) => (satisfies(mask, row, type) ? [column] : [])).sort()
                  ])
          const wanted = [...viewOf(file, who, here!, slug, NOW)].map(([id, cells]) => [
            encodeId(id),
            [...cells].sort()
          ])
          expect(shown).toEqual(wanted)
          if (wanted.length > 0) visible += 1
          if (planned._tag === "Granted" && planned.limited) conditional += 1
          const all = planned._tag === "Granted" && !planned.limited
          expect(all ? shown.length : rows[slug].length).toBe(rows[slug].length)
        }
      ),
      { numRuns: partOf(1000), seed: SEED }
    )
    expect(visible).toBeGreaterThanOrEqual(floorOf(300))
    expect(conditional).toBeGreaterThanOrEqual(floorOf(300))
  })
})

const visibleTo = (file: PolicyJson, who: Caller): Visible => {
  const [stored, principal] = [storedPolicy(file), principalOf(who)]
  const plans = new Map(
    catalog.types.map((type) => [type.key, plan(stored, catalog, principal, type, "read", NOW)] as const)
  )
  return {
    state: { catalog, policy: stored, policyHash: "" },
    planOf: (type) => {
      const planned = plans.get(type.key)
      return planned?._tag === "Granted" ? planned : undefined
    }
  }
}

describe("resolve", () => {
  it("selects the rows that the oracle finds, and refuses hidden names", () => {
    let answered = 0
    let found = 0
    fc.assert(
      fc.property(generousPolicy, member, query, fc.nat(), (file, who, random_, aim) => {
        const filter = aim % 2 === 0 ? undefined : aimed(random_.type, here!, random(aim))
        const request: Query = filter === undefined ? random_ : { ...random_, filters: [filter, ...random_.filters] }
        const visible = visibleTo(file, who)
        const views = viewsOf(file, who, here!, NOW)
        const type = typeOf(request.type)
        const granted = visible.planOf(type)
        const names =
          granted === undefined
            ? undefined
            : new Set(visibleColumns({ type, plan: granted }, visible).map(({ slug }) => slug))
        expect(
          visibleTypes(visible)
            .map(({ slug }) => slug)
            .includes(request.type)
        ).toBe(granted !== undefined)
        const resolved = resolveLiterals(
          { entityTypeId: request.type, filters: request.filters, selectColumns: request.select, limit: request.limit },
          visible
        )
        const named = [...request.filters.map(({ columnId }) => columnId), ...request.select]
        const hidden = names === undefined || !named.every((name) => names.has(name))
        expect(Result.isFailure(resolved) ? resolved.failure._tag : "answered").toBe(
          hidden ? "UnknownName" : "answered"
        )
        if (Result.isFailure(resolved)) return
        const { filters, limit, order, plan: where, select } = resolved.success
        const shown = rows[request.type].filter(
          (row) => satisfies(where, row, type) && filters.every((part) => satisfies(part, row, type))
        )
        const wanted = answer(request, views, here!).map(({ id }) => encodeId(id))
        expect(shown.map(idOf).sort()).toEqual([...wanted].sort())
        expect(select.map(({ column }) => column.slug)).toEqual([...new Set(request.select)])
        expect(limit).toBe(request.limit)
        for (const { column, mask, target } of select) {
          for (const row of shown) {
            const seen = views[request.type].get(BigInt(row.values["id"] as string))!
            expect(satisfies(mask, row, type)).toBe(seen.has(column.slug))
            for (const other of target === undefined ? [] : row.related(column.key)) {
              const id = BigInt(other.values["id"] as string)
              const view = views[target!.type.key as TypeName].get(id)
              expect(satisfies(target!.where, other, target!.type)).toBe(view !== undefined)
              expect(view === undefined || satisfies(target!.name, other, target!.type) === view.has("name")).toBe(true)
            }
          }
        }
        const range = request.filters.find(({ op }) => op === "gte" || op === "lt")
        expect(order?.column.slug).toBe(range?.columnId)
        expect(order?.descending).toBe(range === undefined ? undefined : range.op === "lt")
        answered += 1
        if (wanted.length > 0) found += 1
      }),
      { numRuns: partOf(1500), seed: SEED }
    )
    expect(answered).toBeGreaterThanOrEqual(floorOf(450))
    expect(found).toBeGreaterThanOrEqual(floorOf(0.3 * answered))
  })
})
