/** When one view stands for two calls: only if everything that plans depend on is the same, and for as long as it holds. */
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

/** At another time than now. */
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

  it("is kept for whoever is the same in everything, and for nobody else", () => {
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
    // By the same objects, and by others that say the same.
    expect(principals.map((principal) => viewOf({ principal, state }))).toEqual(views)
    const again = principals.map((principal) => viewOf({ principal: copy(principal), state: { ...state } }))
    expect(again.every((view, index) => view === views[index])).toBe(true)
  })

  it("isn't kept past a change of the policy or of the epoch, by whatever object it is asked for", () => {
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

  it("plans a type when it is asked for, once, and shows nothing of one that is denied", () => {
    const view = makeViews()({ principal: lena, state })
    expect(view.planning()).toBe(0n)
    const made = view.planOf(people)
    expect(made?._tag).toBe("Granted")
    const once = view.planning()
    expect(once).toBeGreaterThan(0n)
    expect(view.planOf(people)).toBe(made)
    expect(view.planning()).toBe(once)
    expect(view.planOf(catalog.types[2]!)).toBeUndefined()
    expect(view.planning()).toBeGreaterThan(once)
    expect(view.state).toBe(state)
  })

  it("names a plan for traces: alike for whoever has the same, otherwise for another, not at all before it is made", () => {
    const nameIn = (rules: ReadonlyArray<RuleInput>, principal = lena) => {
      const view = makeViews()({ principal, state: stateOf(rules) })
      expect(view.planHash(people)).toBeUndefined()
      view.planOf(people)
      const name = view.planHash(people)
      expect(name).toMatch(/^[0-9a-f]{8}$/)
      expect(view.planHash(people)).toBe(name)
      return name
    }
    const narrow: RuleInput = { columns: ["name"], where: { owner: "$me" } }
    expect(nameIn([{}])).toBe(nameIn([{}], copy(lena)))
    const names = [
      nameIn([{}]),
      nameIn([{ columns: ["name"] }]),
      nameIn([{ columns: ["phone"] }]),
      nameIn([narrow]),
      nameIn([narrow], { ...lena, anchorEntityId: "bcf" })
    ]
    expect(new Set(names).size).toBe(names.length)
  })

  it("ends when a rule of what was planned begins or ends, and is planned anew then", () => {
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
    // A type without times doesn't make it last.
    at(begins - 1, () => before.planOf(catalog.types[2]!))
    expect(before.expiresAt()).toBe(begins)
    expect(shows(begins - 1)[0]).toBe(before)
    expect(shows(begins - 1, copy(lena))[0]).toBe(before)
    expect(shows(begins, copy(lena))[1]).toBe(true)
    const [during, shown] = shows(begins)
    expect([during === before, shown]).toEqual([false, true])
    expect([shows(ends - 1)[1], shows(ends)[1], shows(ends, copy(lena))[1]]).toEqual([true, false, false])
  })

  it("is one of a bounded number", () => {
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
