import { describe, expect, it } from "vitest"
import { diffPolicies } from "../../src/permissions/policyDiff.ts"
import { describeCondition, describeConfirm, describeRule } from "../../src/permissions/describe.ts"
import { catalog, people, policyOf, type RuleInput } from "./support.ts"

const sentence = (rule: RuleInput) => describeRule(policyOf([rule]).rules[0]!, catalog)
const where = (condition: unknown, type?: string) => {
  const [rule] = policyOf([{ where: condition, ...(type === undefined ? {} : { type }) }]).rules
  return describeCondition(
    rule!.where,
    catalog.types.find(({ key }) => key === rule!.type)!,
    catalog
  )
}

describe("describeRule", () => {
  it("names the action, the columns, the condition and the time limit", () => {
    expect(sentence({})).toBe("may see everything of all people")
    expect(sentence({ columns: ["phone", "name"] })).toBe("may see name and phone of all people")
    expect(sentence({ columns: ["name"], where: { status: "vip" }, notAfter: "2027-01-01" })).toBe(
      `may see name of people where status is "vip", until 2027-01-01 (UTC)`
    )
    expect(sentence({ effect: "deny", columns: ["phone"], where: { status: "vip" } })).toBe(
      `may not see phone of people where status is "vip", or where that is unknown`
    )
    expect(sentence({ effect: "deny", where: { status: "vip" } })).toBe(
      `may not see people where status is "vip", or where that is unknown`
    )
    expect(sentence({ effect: "deny" })).toBe("may not see any people")
    expect(sentence({ action: "update", columns: ["phone"] })).toBe("may update phone of all people")
  })

  it.each<readonly [RuleInput, string]>([
    [
      { action: "update", columns: ["phone"], where: { owner: "$me" } },
      "may update phone of people where owner is the person who asks, before and afterwards"
    ],
    [
      { action: "update", columns: ["owner"], where: { owner: "$me" }, becomes: { owner: { status: "staff" } } },
      `may update owner of people where owner is the person who asks, if afterwards owner's status is "staff"`
    ],
    [
      { action: "update", where: { owner: "$me" }, becomes: {} },
      "may update everything of people where owner is the person who asks, whatever they become"
    ],
    [
      { action: "update", effect: "deny", columns: ["status"], where: { status: "Won" } },
      `may not update status of people where status is "Won", before or afterwards, or where that is unknown`
    ],
    [
      { action: "create", columns: ["name", "owner"], where: { owner: "$me" } },
      "may create people with name and owner where owner is the person who asks"
    ],
    [{ action: "create", effect: "deny", columns: ["phone"] }, "may not create any people with phone"],
    [{ action: "delete" }, "may delete all people"],
    [
      { action: "delete", effect: "deny", where: { status: "Won" } },
      `may not delete people where status is "Won", or where that is unknown`
    ],
    [
      { action: "invoke", name: "remind", where: { owner: "$me" } },
      "may run remind for people where owner is the person who asks"
    ],
    [{ action: "invoke", effect: "deny", name: "remind" }, "may not run remind for any people"]
  ])("describes the rule %j", (rule, words) => {
    expect(sentence(rule)).toBe(words)
  })

  it.each<readonly [unknown, string]>([
    [{ status: ["a", "b"] }, `status is "a" or "b"`],
    [{ not: { status: ["a", "b"] } }, `status is none of "a" or "b"`],
    [{ owner: null }, "owner is empty"],
    [{ not: { owner: null } }, "owner is not empty"],
    [{ owner: "$me" }, "owner is the person who asks"],
    [{ id: "$me" }, "it is the person who asks"],
    [{ owner: { company: { name: "Atlas" } } }, `owner's company's name is "Atlas"`],
    [{ owner: { not: { status: "vip" } } }, `owner's status isn't "vip"`],
    [{ level: { gte: 3, lt: 9 } }, "level is at least 3 and level is under 9"],
    [{ joined: { gt: "2026-01-01" } }, `joined is after "2026-01-01"`],
    [{ tags: "red" }, `tags has "red"`],
    [{ status: "$attr.region" }, "status is the attribute region of the person who asks"],
    [
      { any: [{ status: "a" }, { all: [{ level: 1 }, { secret: true }] }] },
      `status is "a" or (level is 1 and secret is true)`
    ],
    [{ not: { any: [{ status: "a" }, { level: { lt: 3 } }] } }, `status isn't "a" and level is at least 3`],
    [{ all: [] }, ""],
    [{ any: [] }, "never"]
  ])("describes the condition %j", (condition, words) => {
    expect(where(condition)).toBe(words)
  })

  it('distinguishes "at least one isn\'t" from "none is"', () => {
    expect(where({ attendees: "$me" }, "meetings")).toBe("the person who asks is among attendees")
    expect(where({ not: { attendees: "$me" } }, "meetings")).toBe("the person who asks is not among attendees")
    expect(where({ attendees: { not: { status: "vip" } } }, "meetings")).toBe(
      `for at least one of attendees, status isn't "vip"`
    )
    expect(where({ not: { attendees: { status: "vip" } } }, "meetings")).toBe(`for none of attendees, status is "vip"`)
  })

  it("names the person and their attribute values", () => {
    const rule = policyOf([{ where: { all: [{ owner: "$me" }, { status: "$attr.region" }, { name: "$attr.x" }] } }])
      .rules[0]!
    expect(describeCondition(rule.where, people, catalog, { name: "Lena", attributes: { region: "west" } })).toBe(
      `owner is Lena and status is the attribute region of Lena ("west") and name is the attribute x of Lena (which is missing)`
    )
  })
})

describe("describeConfirm", () => {
  it("says what a change takes", () => {
    const confirm = [
      { action: "delete", type: "people", by: "second", approvers: ["manager", "agent"] },
      { action: "update", type: "people", columns: ["owner"], above: 5, by: "twice" },
      { action: "invoke", name: "remind", type: "people", by: "once" },
      { action: "publish", by: "second", approvers: ["head"] }
    ]
    const roles = Object.fromEntries(
      ["member", "manager", "agent", "head"].map((role) => [role, { inherits: [], administers: ["policy"] }])
    )
    expect(describeConfirm(policyOf([], { confirm, roles }), catalog)).toEqual([
      "Publishing a policy takes a second person's approval (head).",
      "Deleting people takes a second person's approval (manager or agent).",
      "Updating owner of more than 5 people takes two different confirmations.",
      "Running remind for people takes one confirmation."
    ])
  })
})

describe("diffPolicies", () => {
  const marks = (a: ReadonlyArray<RuleInput>, b: ReadonlyArray<RuleInput>, more: object = {}) =>
    diffPolicies(policyOf(a), policyOf(b, more), catalog).map(({ mark, what }) => `${mark} ${what}`)

  it("ignores the order of rules and columns", () => {
    expect(
      marks(
        [
          { id: "a", columns: ["name", "phone"] },
          { id: "b", type: "companies" }
        ],
        [
          { id: "b", type: "companies" },
          { id: "a", columns: ["phone", "name"] }
        ]
      )
    ).toEqual([])
  })

  it("describes added, removed and changed rules and roles", () => {
    expect(
      marks(
        [{ id: "a" }, { id: "b", columns: ["name"] }],
        [{ id: "b", columns: ["name", "phone"], where: { status: "x" } }, { id: "c" }]
      )
    ).toEqual([
      "- a: member may see everything of all people",
      "- b: member may see name of all people",
      `+ b: member may see name and phone of people where status is "x"`,
      "+ c: member may see everything of all people"
    ])
    expect(marks([{ id: "b", columns: ["name", "email"] }], [{ id: "b", columns: ["name", "phone"] }])).toEqual([
      "~ b: member may also see phone, and may no longer see email of people"
    ])
    const rule = (more: object) => [{ id: "a", action: "update", columns: ["phone"], where: { owner: "$me" }, ...more }]
    expect(marks(rule({}), rule({ becomes: {} }))).toEqual([
      "- a: member may update phone of people where owner is the person who asks, before and afterwards",
      "+ a: member may update phone of people where owner is the person who asks, whatever they become"
    ])
    expect(
      marks(
        [{ id: "a", action: "create", columns: ["name"] }],
        [{ id: "a", action: "create", columns: ["name", "email"] }]
      )
    ).toEqual(["~ a: member may also set email of new people"])
    expect(marks([], [], { confirm: [{ action: "delete", type: "people", by: "twice" }] })).toEqual([
      "+ Deleting people takes two different confirmations."
    ])
    expect(marks([{}], [{}], { roles: { member: {}, agent: { inherits: ["member"] } } })).toEqual([
      "- role manager, who also has what member has",
      "- role agent",
      "+ role agent, who also has what member has"
    ])
    expect(
      marks([{}], [{}], { roles: { member: { administers: true }, manager: { inherits: ["member"] }, agent: {} } })
    ).toEqual([
      "- role member",
      "+ role member, who may administer",
      "- role manager, who also has what member has",
      "+ role manager, who also has what member has, who may administer"
    ])
  })
})
