/** `check`, the decision for one row, against the oracle of the conformance suite, which shares nothing with it. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { typeByKey } from "../../src/domain/EntityType.ts"
import { encodeId } from "../../src/domain/ids.ts"
import { checkRow } from "../../src/permissions/checkRow.ts"
import { catalog } from "../conformance/catalog.ts"
import { caller, NOW, policy } from "../conformance/generators.ts"
import { principalOf, rowOf, storedPolicy } from "../conformance/memory.ts"
import { type Caller, type PolicyJson, viewOf } from "../conformance/oracle.ts"
import { floorOf, partOf } from "../conformance/setting.ts"
import { makeWorld, TYPE_NAMES, type TypeName } from "../conformance/world.ts"

const CASES = partOf(1500)
const [here] = makeWorld(41)

/** The rows that `check` shows, with their cells, and those that the oracle shows. */
const both = (file: PolicyJson, who: Caller, type: TypeName) => {
  const [read, principal] = [storedPolicy(file), principalOf(who)]
  const checked = [...here!.entities[type].values()].flatMap((entity) => {
    const { cells, visible } = checkRow(
      read,
      catalog,
      principal,
      typeByKey(catalog, type)!,
      "read",
      rowOf(type, entity, here!),
      NOW
    )
    return visible ? [[encodeId(entity.id), [...cells].sort()]] : []
  })
  const seen = [...viewOf(file, who, here!, type, NOW)].map(([id, cells]) => [encodeId(id), [...cells].sort()])
  return { checked, seen }
}

const onDeals = (where: object): PolicyJson => ({
  version: 1,
  roles: { member: { inherits: [] } },
  rules: [{ id: "r", effect: "allow", role: "member", action: "read", type: "deals", columns: "*", where: where as {} }]
})
const lena: Caller = { me: 30n, roles: ["member"], attributes: {} }

describe("the decision for one row", () => {
  it("is what the oracle decides, row and cells", () => {
    let visible = 0
    fc.assert(
      fc.property(
        fc.constantFrom(...TYPE_NAMES).chain((type) => fc.tuple(fc.constant(type), policy(type), caller)),
        ([type, file, who]) => {
          const { checked, seen } = both(file, who, type)
          expect(checked).toEqual(seen)
          if (seen.length > 0) visible += 1
        }
      ),
      { numRuns: CASES, seed: 20261124 }
    )
    expect(visible).toBeGreaterThanOrEqual(floorOf(0.3 * CASES))
  })

  it("compares numbers exactly, beyond 2^53 too", () => {
    for (const level of ["9007199254740993", "9007199254740992"]) {
      const { checked, seen } = both(onDeals({ level }), lena, "deals")
      expect(checked).toEqual(seen)
    }
    for (const amount of ["5.0", { gt: "123456789012345678901234567890.4" }]) {
      const { checked, seen } = both(onDeals({ amount }), lena, "deals")
      expect(checked).toEqual(seen)
    }
  })

  it("compares points in time and not their text", () => {
    for (const at of [{ gte: "2026-03-01T00:00" }, { lt: "2026-03-08T03:01:00-04:00" }, "2026-03-29T02:59:00+02:00"]) {
      const { checked, seen } = both(onDeals({ at }), lena, "deals")
      expect(checked).toEqual(seen)
    }
  })

  it("for whoever acts for somebody is what both may see", () => {
    const file = onDeals({})
    expect(both(file, { ...lena, actor: { roles: [], attributes: {} } }, "deals")).toEqual({ checked: [], seen: [] })
  })
})
