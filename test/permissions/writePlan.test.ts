import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { typeByKey } from "../../src/domain/EntityType.ts"
import type { Principal } from "../../src/domain/Principal.ts"
import { type CheckedChange, checkWrite } from "../../src/permissions/checkWrite.ts"
import { decide, type Refusals } from "../../src/permissions/decide.ts"
import { readScope } from "../../src/permissions/ToolScope.ts"
import { planWrite, settableColumns, type WriteAction, type WriteGranted } from "../../src/permissions/WritePlan.ts"
import { catalog as worldCatalog } from "../conformance/catalog.ts"
import { NOW as WORLD_NOW } from "../conformance/generators.ts"
import { principalOf, rowOf, satisfies, storedPolicy } from "../conformance/memory.ts"
import { floorOf, partOf } from "../conformance/setting.ts"
import { makeWorld } from "../conformance/world.ts"
import { writeCase } from "../conformance/writeCases.ts"
import { afterwards, concerned } from "../conformance/writeOracle.ts"
import { catalog, lena, NOW, people, policyOf, type RuleInput } from "./support.ts"

type Row = Readonly<Record<string, string | boolean | null>>

const NO_ROW = { values: {}, keys: {}, related: () => [] }
const rowFrom = (row: Row | undefined) =>
  row === undefined ? NO_ROW : { values: { id: "1", ...row }, keys: row, related: () => [] }

const planOf = (
  rules: ReadonlyArray<RuleInput>,
  action: WriteAction = "update",
  principal: Partial<Principal> = {},
  now = NOW
) =>
  planWrite(
    policyOf(rules.map((rule) => ({ action, ...rule }))),
    catalog,
    { ...lena, ...principal },
    people,
    action,
    now
  )

const granted = (...args: Parameters<typeof planOf>): WriteGranted => {
  const plan = planOf(...args)
  if (plan._tag === "Denied") throw new Error(`Denied: ${plan.reason}`)
  return plan
}

/** Decides a change by judging the plan's predicates in memory. */
const decided = (
  plan: WriteGranted,
  columns: ReadonlyArray<string>,
  rows: { readonly before?: Row; readonly after?: Row }
): Refusals =>
  decide(plan, columns, {
    before: plan.before.map((bound) => satisfies(bound, rowFrom(rows.before), people)),
    after: plan.after.map((bound) => satisfies(bound, rowFrom(rows.after), people))
  })

const ALLOWED: Refusals = []
const change = (from: string | null, to: string | null) => ({ before: { status: from }, after: { status: to } })

describe("the plan of a change", () => {
  it("requires one rule that holds both for the row before and for the row after", () => {
    const rules = [
      { where: { status: "open" }, becomes: { status: "open" } },
      { where: { status: "won" }, becomes: { status: "won" } }
    ]
    const plan = granted(rules)
    expect(decided(plan, ["status"], change("open", "open"))).toEqual(ALLOWED)
    // One rule holds before and the other one after: neither permits the step from open to won.
    expect(decided(plan, ["status"], change("open", "won"))).toEqual([{ column: "status", because: "value" }])
  })

  it("lets the condition hold for the row afterwards too when `becomes` is left out", () => {
    const plan = granted([{ where: { status: "open" } }])
    expect(decided(plan, ["status"], change("open", "won"))).toEqual([{ column: "status", because: "value" }])
    expect(decided(plan, ["status"], change("won", "open"))).toEqual([{ column: "status", because: "row" }])
    expect(decided(granted([{ where: { status: "open" }, becomes: {} }]), ["status"], change("open", "won"))).toEqual(
      ALLOWED
    )
  })

  it("decides each column by the rules that cover it", () => {
    const plan = granted([{ columns: ["phone"] }, { columns: ["email"], where: { status: "open" } }])
    expect(decided(plan, ["phone-key", "email-key"], change("open", "open"))).toEqual(ALLOWED)
    expect(decided(plan, ["phone-key", "email-key", "name"], change("won", "won"))).toEqual([
      { column: "email-key", because: "row" },
      { column: "name", because: "row" }
    ])
    expect(settableColumns(plan)).toEqual(["phone-key", "email-key"])
  })

  it("refuses what a deny covers before or after, and what it doesn't know", () => {
    const plan = granted([{}, { effect: "deny", columns: ["status", "phone"], where: { status: "won" } }])
    expect(decided(plan, ["status"], change("open", "lost"))).toEqual(ALLOWED)
    expect(decided(plan, ["status"], change("won", "lost"))).toEqual([{ column: "status", because: "row" }])
    expect(decided(plan, ["status"], change("open", "won"))).toEqual([{ column: "status", because: "value" }])
    expect(decided(plan, ["status"], change(null, "lost"))).toEqual([{ column: "status", because: "row" }])
    expect(decided(plan, ["status"], change("open", null))).toEqual([{ column: "status", because: "value" }])
    expect(decided(plan, ["email-key"], change("won", "won"))).toEqual(ALLOWED)
    const whole = granted([{}, { effect: "deny", where: { status: "won" } }])
    expect(decided(whole, ["email-key"], change("won", "won"))).toEqual([{ column: "email-key", because: "row" }])
  })

  it("doesn't allow what is unknown before or after", () => {
    const plan = granted([{ where: { status: { not: "won" } } }])
    expect(decided(plan, ["status"], change("open", "lost"))).toEqual(ALLOWED)
    expect(decided(plan, ["status"], change(null, "lost"))).toHaveLength(1)
    expect(decided(plan, ["status"], change("open", null))).toHaveLength(1)
    expect(planOf([{ where: { status: "$attr.missing" } }])).toMatchObject({ reason: "no-rule" })
  })

  it("requires the principal and its actor to be allowed, each by a rule of its own", () => {
    const actor = { id: "a", roles: ["agent"], attributes: {} }
    const rules = [{ columns: ["phone", "email"] }, { role: "agent", columns: ["phone", "name"] }]
    const plan = granted(rules, "update", { actor })
    expect(settableColumns(plan)).toEqual(["phone-key"])
    expect(decided(plan, ["phone-key"], change("a", "a"))).toEqual(ALLOWED)
    expect(decided(plan, ["email-key"], change("a", "a"))).toHaveLength(1)
    expect(decided(plan, ["name"], change("a", "a"))).toHaveLength(1)
    expect(planOf([{}], "update", { actor })).toMatchObject({ reason: "no-rule" })
  })

  it("stays within the tool scope, and a scope for reading permits no change", () => {
    const scopeOf = (...parts: ReadonlyArray<string>) => {
      const reading = readScope(parts, catalog)
      return "scope" in reading ? reading.scope : []
    }
    expect(planOf([{}], "update", { scope: scopeOf("people") })).toMatchObject({ reason: "out-of-scope" })
    const plan = granted([{}], "update", { scope: scopeOf("people.phone:update") })
    expect(settableColumns(plan)).toEqual(["phone-key"])
    expect(decided(plan, ["phone-key", "name"], change("a", "a"))).toEqual([{ column: "name", because: "row" }])
    expect(decided(granted([{}], "delete", { scope: scopeOf("people:delete") }), [], change("a", "a"))).toEqual(ALLOWED)
    expect(decided(granted([{}], "delete", { scope: scopeOf("people.phone:delete") }), [], change("a", "a"))).toEqual([
      { because: "row" }
    ])
  })

  it("judges the new row of `create`, and the old one of `delete`", () => {
    const creates = granted([{ columns: ["name", "status"], where: { status: "open" } }], "create")
    expect([creates.before.length, creates.after.length]).toEqual([0, 1])
    expect(decided(creates, ["name", "status"], { after: { status: "open" } })).toEqual(ALLOWED)
    expect(decided(creates, ["name"], { after: { status: null } })).toEqual([{ column: "name", because: "value" }])
    expect(decided(creates, ["phone-key"], { after: { status: "open" } })).toEqual([
      { column: "phone-key", because: "row" }
    ])
    const deletes = granted([{ where: { status: "open" } }], "delete")
    expect([deletes.before.length, deletes.after.length]).toEqual([1, 0])
    expect(decided(deletes, [], { before: { status: "open" } })).toEqual(ALLOWED)
    expect(decided(deletes, ["name"], { before: { status: "won" } })).toEqual([{ because: "row" }])
  })

  it("refuses a change of no column, and a change whose judgements are missing", () => {
    const plan = granted([{ where: { status: "open" } }])
    expect(decided(plan, [], change("open", "open"))).toEqual([{ because: "row" }])
    for (const bits of [
      {},
      { before: [true] },
      { after: [true] },
      { before: [], after: [true] },
      { before: null, after: [true] }
    ])
      expect(decide(plan, ["status"], bits)).toHaveLength(1)
    expect(decide(plan, ["status"], { before: [true], after: [true] })).toEqual(ALLOWED)
  })

  it("doesn't let a stored rule about deleting with a list of columns allow anything", () => {
    const policy = policyOf([{ action: "delete" }])
    const narrow = { ...policy, rules: policy.rules.map((rule) => ({ ...rule, columns: ["name"] })) }
    const plan = planWrite(narrow, catalog, lena, people, "delete", NOW) as WriteGranted
    expect(decided(plan, [], change("a", "a"))).toEqual([{ because: "row" }])
    const denying = policyOf([{ action: "delete" }, { action: "delete", effect: "deny" }])
    const listed = {
      ...denying,
      rules: denying.rules.map((rule) => (rule.effect === "deny" ? { ...rule, columns: ["name"] } : rule))
    }
    expect(
      decided(planWrite(listed, catalog, lena, people, "delete", NOW) as WriteGranted, [], change("a", "a"))
    ).toEqual([{ because: "row" }])
  })

  it("refuses everything that a deny covers when the deny can't be known, and drops allows that can't hold", () => {
    const unknown = granted([{}, { effect: "deny", columns: ["phone"], where: { status: "$attr.missing" } }])
    expect(decided(unknown, ["phone-key", "name"], change("a", "a"))).toEqual([{ column: "phone-key", because: "row" }])
    expect(planOf([{ becomes: { status: "$attr.missing" } }])).toMatchObject({ reason: "no-rule" })
    expect(planOf([{ where: { status: "$attr.missing" }, becomes: {} }])).toMatchObject({ reason: "no-rule" })
    expect(settableColumns(granted([{ columns: ["phone"] }, { effect: "deny", columns: ["name"] }]))).toEqual([
      "phone-key"
    ])
    expect(settableColumns(granted([{}], "delete"))).toEqual(people.columns.map(({ key }) => key))
  })

  it("ignores a stored `becomes` of a deny and of a rule that creates", () => {
    const stored = (action: WriteAction, rules: ReadonlyArray<RuleInput>, effect: string) => {
      const policy = policyOf(rules.map((rule) => ({ action, ...rule })))
      const [becomes] = policyOf([{ where: { status: "lost" } }]).rules
      const plan = planWrite(
        {
          ...policy,
          rules: policy.rules.map((rule) => (rule.effect === effect ? { ...rule, becomes: becomes!.where } : rule))
        },
        catalog,
        lena,
        people,
        action,
        NOW
      )
      return plan as WriteGranted
    }
    const denies = stored("update", [{}, { effect: "deny", where: { status: "won" } }], "deny")
    expect(decided(denies, ["name"], change("a", "won"))).toHaveLength(1)
    expect(decided(denies, ["name"], change("a", "lost"))).toEqual(ALLOWED)
    const creates = stored("create", [{ where: { status: "open" } }], "allow")
    expect(decided(creates, ["name"], { after: { status: "open" } })).toEqual(ALLOWED)
    expect(decided(creates, ["name"], { after: { status: "lost" } })).toHaveLength(1)
  })

  it("is denied when its rules can't be bound, and refuses without any party", () => {
    const policy = policyOf([{ action: "update" }])
    const broken = { ...policy, rules: policy.rules.map((rule) => ({ ...rule, where: { _tag: "Not" } as never })) }
    expect(planWrite(broken, catalog, lena, people, "update", NOW)).toMatchObject({ reason: "not-bindable" })
    const plan = granted([{}])
    expect(decide({ ...plan, parties: [] }, ["name"], { before: [true], after: [true] })).toEqual([
      { column: "name", because: "row" }
    ])
  })

  it("is denied without an allow, beyond 500 rules, and beyond 2,000 values", () => {
    expect(planOf([])).toMatchObject({ _tag: "Denied", reason: "no-rule" })
    expect(planOf([{ effect: "deny" }])).toMatchObject({ reason: "no-rule" })
    const many = (count: number) => Array.from({ length: count }, (_, at) => ({ where: { status: `s${at}` } }))
    expect(planOf(many(500))._tag).toBe("Granted")
    expect(planOf(many(501))).toMatchObject({ reason: "too-large" })
    const values = Array.from({ length: 1001 }, (_, at) => `v${at}`)
    expect(planOf([{ where: { status: values.slice(1) } }])._tag).toBe("Granted")
    expect(planOf([{ where: { status: values } }])).toMatchObject({ reason: "too-large" })
  })

  it("ends when one of its rules begins or ends", () => {
    const rules = [{ columns: ["phone"] }, { columns: ["name"], notBefore: "2026-06-02", notAfter: "2026-06-03" }]
    const [first, second] = [Date.UTC(2026, 5, 2), Date.UTC(2026, 5, 3)]
    expect(granted(rules)).toMatchObject({ expiresAt: first })
    expect(settableColumns(granted(rules, "update", {}, first))).toEqual(["name", "phone-key"])
    expect(granted(rules, "update", {}, first).expiresAt).toBe(second)
    expect(settableColumns(granted(rules, "update", {}, second))).toEqual(["phone-key"])
  })

  it("counts equal conditions once", () => {
    const plan = granted([{ where: { status: "open" } }, { columns: ["phone"], where: { status: "open" } }])
    expect([plan.before.length, plan.after.length]).toEqual([1, 1])
  })
})

describe("planWrite and decide", () => {
  it("reach the verdict of the rules evaluated one by one", () => {
    const [here] = makeWorld(61)
    const cases = partOf(1500)
    let allowed = 0
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 31 }), (seed) => {
        const one = writeCase(seed, here!)
        const { action, id, scope } = one
        const type = typeByKey(worldCatalog, one.type)!
        const old = here!.entities[one.type].get(id)
        if (old === undefined && action !== "create") return
        const { entity, organization: later } = afterwards(one, here!, false)
        const before = old === undefined ? NO_ROW : rowOf(one.type, old, here!)
        const after = entity === undefined ? NO_ROW : rowOf(one.type, entity, later)
        const columns = concerned(one)
        const principal = {
          ...principalOf(one.caller),
          ...(scope === undefined ? {} : { scope: [{ type: type.key, action, columns: scope }] })
        }
        const policy = storedPolicy(one.policy)
        const plan = planWrite(policy, worldCatalog, principal, type, action, WORLD_NOW)
        const refusals =
          plan._tag === "Denied"
            ? undefined
            : decide(plan, columns, {
                before: plan.before.map((bound) => satisfies(bound, before, type)),
                after: plan.after.map((bound) => satisfies(bound, after, type))
              })
        const verdict = checkWrite(
          policy,
          worldCatalog,
          principal,
          type,
          { action, columns, before, after } as CheckedChange,
          WORLD_NOW
        )
        expect(refusals?.length === 0).toBe(verdict)
        if (verdict) allowed += 1
      }),
      { numRuns: cases, seed: 20261122 }
    )
    expect(allowed).toBeGreaterThanOrEqual(floorOf(0.3 * cases))
  })
})
