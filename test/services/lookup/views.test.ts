/** The view cache: calls share a view only if all inputs of their plans are equal, and until it expires. */
import { describe, expect, it } from "vitest"
import type { Principal } from "../../../src/domain/Principal.ts"
import type { State } from "../../../src/services/catalog/OrganizationState.ts"
import { makeViews } from "../../../src/services/lookup/views.ts"
import { catalog, lena, people, policyOf, type RuleInput } from "../../permissions/support.ts"

const stateOf = (rules: ReadonlyArray<RuleInput>, more: Partial<State> = {}): State => ({
  catalog,
  policy: policyOf(rules),
  policyHash: "one",
  ...more
})
const state = stateOf([{}])
const copy = (principal: Principal): Principal => structuredClone(principal)

/** Runs with another current time. */
const at = <A>(now: number, body: () => A): A => {
  const clock = Date.now
  Date.now = () => now
  try {
    return body()
  } finally {
    Date.now = clock
  }
}

describe("a view", () => {
  const full: Principal = {
    ...lena,
    attributes: { region: "west", level: 3 },
    actor: { id: "agent", roles: ["agent"], attributes: { desk: "a" } },
    scope: [{ type: "people", action: "read", columns: ["name"] }]
  }

  it("is shared by principals that are equal in all inputs, and by no others", () => {
    const { actor, scope } = full
    const others: ReadonlyArray<Principal> = [
      { ...full, organizationId: 8n },
      { ...full, anchorEntityId: "bcf" },
      { ...full, roles: ["manager"] },
      { ...full, roles: ["member", "manager"] },
      { ...full, roles: [] },
      { ...full, attributes: {} },
      { ...full, attributes: { region: "east", level: 3 } },
      { ...full, attributes: { region: "west", level: "3" } },
      { ...full, attributes: { area: "west", level: 3 } },
      { ...full, actor: { ...actor!, id: "other" } },
      { ...full, actor: { ...actor!, roles: [] } },
      { ...full, actor: { ...actor!, attributes: {} } },
      { ...full, actor: { ...actor!, attributes: { desk: "b" } } },
      { ...full, scope: [] },
      { ...full, scope: [{ ...scope![0]!, type: "meetings" }] },
      { ...full, scope: [{ ...scope![0]!, action: "update" }] },
      { ...full, scope: [{ ...scope![0]!, columns: "*" }] },
      { ...full, scope: [{ ...scope![0]!, columns: ["phone"] }] },
      { ...full, scope: [...scope!, ...scope!] }
    ]
    const { actor: _, ...direct } = full
    const { scope: __, ...unscoped } = full
    const principals = [full, ...others, direct, unscoped]
    const viewOf = makeViews()
    const views = principals.map((principal) => viewOf({ principal, state }))
    expect(new Set(views).size).toBe(principals.length)
    // The same objects, and equal copies.
    expect(principals.map((principal) => viewOf({ principal, state }))).toEqual(views)
    const again = principals.map((principal) => viewOf({ principal: copy(principal), state: { ...state } }))
    expect(again.every((view, index) => view === views[index])).toBe(true)
  })

  it("is replaced after a change of the policy or the epoch, even for the same principal object", () => {
    const viewOf = makeViews()
    const before = viewOf({ principal: lena, state })
    const published = stateOf([{ columns: ["name"] }], { policyHash: "two" })
    const after = viewOf({ principal: lena, state: published })
    expect(after).not.toBe(before)
    expect([before.planOf(people)?.cells.size, after.planOf(people)?.cells.size]).toEqual([people.columns.length, 1])
    const raised = viewOf({ principal: lena, state: { ...state, catalog: { ...catalog, epoch: 2n } } })
    expect(raised).not.toBe(before)
    expect(viewOf({ principal: lena, state })).toBe(before)
  })

  it("is the same for roles, attributes and grants in any order, and so is the basis of its answers", () => {
    const viewOf = makeViews()
    const grants = ["name", "phone"].map((column) => ({ type: "people", action: "read", columns: [column] }))
    const several = { ...full, roles: ["manager", "member"], scope: grants }
    const turned = {
      ...several,
      roles: several.roles.toReversed(),
      scope: grants.toReversed(),
      attributes: { level: 3, region: "west" }
    }
    expect(viewOf({ principal: turned, state })).toBe(viewOf({ principal: several, state }))
    const keyOf = (principal: Principal) => makeViews()({ principal, state }).basis().key
    expect(keyOf(turned)).toBe(keyOf(several))
    expect(keyOf({ ...turned, roles: ["member"] })).not.toBe(keyOf(several))
  })

  it("names in its basis the first time-bound rule of any type, planned or not", () => {
    const timed = stateOf([{ notAfter: "2026-06-01" }])
    at(Date.parse("2026-05-01"), () => {
      expect(makeViews()({ principal: lena, state: timed }).basis().expiresAt).toBe(Date.parse("2026-06-01"))
    })
    expect(makeViews()({ principal: lena, state }).basis().expiresAt).toBe(Infinity)
  })

  it("plans a type once, on first use, and hides a denied one", () => {
    const view = makeViews()({ principal: lena, state })
    expect(view.planning()).toBe(0n)
    const planned = view.planOf(people)
    expect(planned?._tag).toBe("Granted")
    const once = view.planning()
    expect(once).toBeGreaterThan(0n)
    expect(view.planOf(people)).toBe(planned)
    expect(view.planning()).toBe(once)
    expect(view.planOf(catalog.types[2]!)).toBeUndefined()
    expect(view.planning()).toBeGreaterThan(once)
    expect(view.state).toBe(state)
  })

  it("hashes a plan for traces: equal plans have equal hashes, and an unplanned type has none", () => {
    const hashIn = (rules: ReadonlyArray<RuleInput>, principal = lena) => {
      const view = makeViews()({ principal, state: stateOf(rules) })
      expect(view.planHash(people)).toBeUndefined()
      view.planOf(people)
      const hash = view.planHash(people)
      expect(hash).toMatch(/^[0-9a-f]{8}$/)
      expect(view.planHash(people)).toBe(hash)
      return hash
    }
    const narrow: RuleInput = { columns: ["name"], where: { owner: "$me" } }
    expect(hashIn([{}])).toBe(hashIn([{}], copy(lena)))
    const hashes = [
      hashIn([{}]),
      hashIn([{ columns: ["name"] }]),
      hashIn([{ columns: ["phone"] }]),
      hashIn([narrow]),
      hashIn([narrow], { ...lena, anchorEntityId: "bcf" })
    ]
    expect(new Set(hashes).size).toBe(hashes.length)
  })

  it("expires when a rule of its plans starts or ends, and is then planned again", () => {
    const [begins, ends] = [Date.UTC(2026, 6, 1), Date.UTC(2026, 7, 1)]
    const timed = stateOf([
      { columns: ["name"] },
      { columns: ["phone"], notBefore: "2026-07-01", notAfter: "2026-08-01" },
      { type: "meetings" }
    ])
    const viewOf = makeViews()
    const shows = (now: number, principal = lena) =>
      at(now, () => {
        const view = viewOf({ principal, state: timed })
        return [view, view.planOf(people)?.cells.has("phone-key")] as const
      })
    const [before, hidden] = shows(begins - 1)
    expect(hidden).toBe(false)
    expect(before.expiresAt()).toBe(begins)
    // Planning a type without timed rules doesn't extend it.
    at(begins - 1, () => before.planOf(catalog.types[2]!))
    expect(before.expiresAt()).toBe(begins)
    expect(shows(begins - 1)[0]).toBe(before)
    expect(shows(begins - 1, copy(lena))[0]).toBe(before)
    expect(shows(begins, copy(lena))[1]).toBe(true)
    const [during, shown] = shows(begins)
    expect([during === before, shown]).toEqual([false, true])
    expect([shows(ends - 1)[1], shows(ends)[1], shows(ends, copy(lena))[1]]).toEqual([true, false, false])
  })

  it("is evicted when the cache holds 2,000 views", () => {
    const viewOf = makeViews()
    const first = viewOf({ principal: copy(lena), state })
    const fill = (count: number, from: number) => {
      for (let index = 0; index < count; index++)
        viewOf({ principal: { ...lena, anchorEntityId: `a${from + index}` }, state })
    }
    fill(1999, 0)
    expect(viewOf({ principal: copy(lena), state })).toBe(first)
    fill(1, 1999)
    expect(viewOf({ principal: copy(lena), state })).not.toBe(first)
  })
})
