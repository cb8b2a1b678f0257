/** Compares `checkRow` with the independent oracle of the conformance suite. */
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

/** The visible rows and cells according to `checkRow` and to the oracle. */
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
  const expected = [...viewOf(file, who, here!, type, NOW)].map(([id, cells]) => [encodeId(id), [...cells].sort()])
  return { checked, expected }
}

const onDeals = (where: object): PolicyJson => ({
  version: 1,
  roles: { member: { inherits: [] } },
  rules: [{ id: "r", effect: "allow", role: "member", action: "read", type: "deals", columns: "*", where: where as {} }]
})
const lena: Caller = { me: 30n, roles: ["member"], attributes: {} }

describe("checkRow", () => {
  it("shows the same rows and cells as the oracle", () => {
    let visible = 0
    fc.assert(
      fc.property(
        fc.constantFrom(...TYPE_NAMES).chain((type) => fc.tuple(fc.constant(type), policy(type), caller)),
        ([type, file, who]) => {
          const { checked, expected } = both(file, who, type)
          expect(checked).toEqual(expected)
          if (expected.length > 0) visible += 1
        }
      ),
      { numRuns: CASES, seed: 20261124 }
    )
    expect(visible).toBeGreaterThanOrEqual(floorOf(0.3 * CASES))
  })

  it("compares numbers exactly, also beyond 2^53", () => {
    for (const level of ["9007199254740993", "9007199254740992"]) {
      const { checked, expected } = both(onDeals({ level }), lena, "deals")
      expect(checked).toEqual(expected)
    }
    for (const amount of ["5.0", { gt: "123456789012345678901234567890.4" }]) {
      const { checked, expected } = both(onDeals({ amount }), lena, "deals")
      expect(checked).toEqual(expected)
    }
  })

  it("compares timestamps as points in time, not as text", () => {
    for (const at of [{ gte: "2026-03-01T00:00" }, { lt: "2026-03-08T03:01:00-04:00" }, "2026-03-29T02:59:00+02:00"]) {
      const { checked, expected } = both(onDeals({ at }), lena, "deals")
      expect(checked).toEqual(expected)
    }
  })

  it("shows only what both the principal and its actor may see", () => {
    const file = onDeals({})
    expect(both(file, { ...lena, actor: { roles: [], attributes: {} } }, "deals")).toEqual({
      checked: [],
      expected: []
    })
  })
})
