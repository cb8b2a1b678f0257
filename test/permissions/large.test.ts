/** Policy files that would take minutes or overflow the stack: refused with the limit's name, or read and linted in bounded time. */
import { describe, expect, it } from "vitest"
import { lintPolicy } from "../../src/permissions/lint.ts"
import { plan } from "../../src/permissions/PermissionEngine.ts"
import { diffPolicies } from "../../src/permissions/policyDiff.ts"
import { readPolicy } from "../../src/permissions/readPolicy.ts"
import { encodeId } from "../../src/domain/ids.ts"
import { catalog, NOW, people } from "./support.ts"

const RULE = { effect: "allow", role: "r0", action: "read", type: "people", columns: ["name"] }
const rulesOf = (count: number, of: (index: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, index) => ({ ...RULE, id: `${index}`, ...of(index) }))
const rolesOf = (count: number, inherits: (index: number) => ReadonlyArray<number>) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`r${index}`, { inherits: inherits(index).map((one) => `r${one}`) }])
  )
const text = (roles: object, rules: ReadonlyArray<object> = [], more: object = {}) =>
  JSON.stringify({ version: 1, roles, rules, ...more })
const problemsOf = (file: string) => {
  const reading = readPolicy(file, catalog)
  return "problems" in reading ? reading.problems.map(({ message }) => message) : []
}
const policyOf = (file: string) => {
  const reading = readPolicy(file, catalog)
  if ("problems" in reading) return expect.fail(reading.problems[0]!.message)
  return reading.policy
}
const before = (index: number) => Array.from({ length: index }, (_, at) => at)
const nested = (open: string, close: string, count: number) => `${open.repeat(count)}{}${close.repeat(count)}`

describe("a policy file is refused with the limit that it exceeds", () => {
  it.each<readonly [string, string, string]>([
    [
      "a chain of 5,000 roles",
      text(rolesOf(5000, (at) => (at === 0 ? [] : [at - 1]))),
      "`roles` must have at most 1000 entries."
    ],
    [
      "a chain of 1,000 roles",
      text(rolesOf(1000, (at) => (at === 0 ? [] : [at - 1]))),
      "Roles must inherit at most 32 roles in a row."
    ],
    [
      "400 roles that each inherit all before",
      text(rolesOf(400, before)),
      "Roles must inherit at most 32 roles in a row."
    ],
    [
      "layers of roles that inherit all of the layer below",
      text(
        rolesOf(480, (at) =>
          at < 15 ? [] : Array.from({ length: 15 }, (_, one) => Math.floor(at / 15) * 15 - 15 + one)
        )
      ),
      "Roles must inherit at most 100000 roles, counted over all of them."
    ],
    [
      "a cycle of 1,000 roles",
      text(rolesOf(1000, (at) => [(at + 1) % 1000])),
      `The role "r0" inherits itself through "r999".`
    ],
    [
      "10,001 rules",
      text(
        { r0: {} },
        Array.from({ length: 10_001 }, () => ({}))
      ),
      "`rules` must have at most 10000 entries."
    ],
    ["a name of 8 MB", text({ [`r${"x".repeat(8_000_000)}`]: {} }), "The file must be at most 1000 kB."],
    [
      "a condition nested 10,000 deep",
      text({ r0: {} }, [{ ...RULE, id: "a", where: 0 }]).replace(
        `"where":0`,
        `"where":${nested(`{"not":`, "}", 10_000)}`
      ),
      "The file must be nested at most 128 levels deep, its conditions nested at most 32 levels deep."
    ],
    [
      "lists nested 100,000 deep beside the policy",
      `{"version":1,"roles":{},"rules":[],"$schema":${nested("[", "]", 100_000)}}`,
      "The file must be nested at most 128 levels deep, its conditions nested at most 32 levels deep."
    ],
    [
      "a condition nested 40 deep",
      text({ r0: {} }, [{ ...RULE, id: "a", where: 0 }]).replace(`"where":0`, `"where":${nested(`{"not":`, "}", 40)}`),
      "Conditions must be nested at most 32 levels deep."
    ],
    [
      "50,000 names of roles that don't exist",
      text({ r0: { inherits: Array.from({ length: 50_000 }, (_, at) => `q${at}`) } }),
      `There is no role "q0". Known: r0.`
    ]
  ])("for %s", (_, file, message) => {
    expect(problemsOf(file)).toContain(message)
  })
})

describe("a policy within the limits is read, linted and compared", () => {
  it.each<readonly [string, string]>([
    [
      "9,000 rules of one role and type",
      text(
        { r0: {} },
        rulesOf(9000, (at) => ({ effect: at % 2 === 0 ? "allow" : "deny" }))
      )
    ],
    [
      "1,000 roles that inherit one, with rules",
      text(
        rolesOf(1000, (at) => (at === 0 ? [] : [0])),
        rulesOf(4000, (at) => ({ role: `r${at % 1000}`, where: { level: at } }))
      )
    ],
    [
      "one list of 60,000 values",
      text(
        { r0: {} },
        rulesOf(1, () => ({
          where: { all: [{ level: before(60_000) }, { level: before(60_000).map((at) => at + 60_000) }] }
        }))
      )
    ]
  ])("with %s", (_, file) => {
    const policy = policyOf(file)
    lintPolicy(policy, catalog, NOW, { roles: new Set(["r0"]), attributes: new Set() })
    expect(diffPolicies(policy, policy, catalog)).toEqual([])
  })

  it("with conditions that can be compared in exponentially many ways", () => {
    const deep = (operator: string, level: number) =>
      JSON.parse(`${`{"${operator}":[`.repeat(28)}{"level":${level}}${"]}".repeat(28)}`) as object
    const policy = policyOf(
      text({ r0: {} }, [...rulesOf(1, () => ({ where: deep("all", 1) })), { ...RULE, id: "b", where: deep("any", 2) }])
    )
    expect(lintPolicy(policy, catalog, NOW)).toEqual([])
  })

  it("and a plan of more than 1,000 rules is denied", () => {
    const policy = policyOf(text({ r0: {} }, rulesOf(1001)))
    const principal = { organizationId: 7n, anchorEntityId: encodeId(1n), roles: ["r0"], attributes: {}, epoch: 1n }
    expect(plan(policy, catalog, principal, people, "read", NOW)).toMatchObject({ _tag: "Denied", reason: "too-large" })
    const smaller = { ...policy, rules: policy.rules.slice(1) }
    expect(plan(smaller, catalog, principal, people, "read", NOW)._tag).toBe("Granted")
  })
})
