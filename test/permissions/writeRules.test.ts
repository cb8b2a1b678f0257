import { describe, expect, it } from "vitest"
import { confirmationOf } from "../../src/permissions/confirmation.ts"
import { publicationApprovers } from "../../src/permissions/Policy.ts"
import { file, policyOf, problemsOf, type RuleInput } from "./support.ts"

const problemOf = (rule: RuleInput) => problemsOf(file([rule])).join("\n")
const confirmProblem = (entry: object) => problemsOf(file([], { confirm: [entry] })).join("\n")

const GOVERNING = {
  member: { inherits: [] },
  constructor: { inherits: [], administers: ["members"] },
  admin: { inherits: [], administers: ["policy", "data"] },
  head: { inherits: ["admin"] },
  lawyer: { inherits: [], administers: ["policy"] }
}

describe("a rule about changes is refused with a correction for", () => {
  it.each<readonly [string, RuleInput, string]>([
    [
      "`becomes` in a rule that reads",
      { becomes: {} },
      "rules[0].becomes: `becomes` belongs to rules that allow an update."
    ],
    ["`becomes` in a rule that creates", { action: "create", becomes: {} }, "rules[0].becomes"],
    [
      "`becomes` in a deny",
      { action: "update", effect: "deny", becomes: {} },
      "A deny looks at the row before and after"
    ],
    [
      "an unknown column in `becomes`",
      { action: "update", becomes: { statsu: "vip" } },
      `rules[0].becomes.statsu: There is no column or operator "statsu" in people. Write: "status"`
    ],
    [
      "columns of a rule that deletes",
      { action: "delete", columns: ["name"] },
      '`columns` of a rule about delete must be "*".'
    ],
    ["an action without a name", { action: "invoke" }, `Write: "name": "send_reminder"`],
    ["a name that no action can have", { action: "invoke", name: "Send" }, "`name` must be the name of an action."],
    ["a name in another rule", { action: "update", name: "send" }, "`name` belongs to rules about invoke."]
  ])("%s", (_, rule, message) => {
    expect(problemOf(rule)).toContain(message)
  })

  it.each<readonly [string, object, string]>([
    ["an action that reads", { action: "read", type: "people", by: "once" }, `There is no action "read".`],
    [
      "no type",
      { action: "delete", by: "once" },
      "confirm[0].type: `type` must be one of people, companies, meetings."
    ],
    ["an unknown level", { action: "delete", type: "people", by: "thrice" }, `There is no way to confirm "thrice".`],
    ["no approvers", { action: "delete", type: "people", by: "second" }, `Write: "approvers": ["member"]`],
    [
      "approvers that no entry needs",
      { action: "delete", type: "people", by: "twice", approvers: ["manager"] },
      '`approvers` belongs to `"by": "second"`.'
    ],
    [
      "an unknown approver",
      { action: "delete", type: "people", by: "second", approvers: ["manger"] },
      `There is no role "manger". Known: member, manager, agent. Write: "manager"`
    ],
    [
      "an unknown column",
      { action: "update", type: "people", columns: ["fone"], by: "twice" },
      `There is no column of people "fone".`
    ],
    [
      "columns of a deletion",
      { action: "delete", type: "people", columns: ["phone"], by: "twice" },
      "`columns` belongs to entries about create and update."
    ],
    ["a bad number", { action: "update", type: "people", above: 0.5, by: "twice" }, "`above` must be a number of rows"],
    ["an unknown key", { action: "update", type: "people", by: "twice", abov: 5 }, `Write: "above"`]
  ])("a confirm entry with %s", (_, entry, message) => {
    expect(confirmProblem(entry)).toContain(message)
  })

  it.each<readonly [string, ReadonlyArray<object>, string]>([
    [
      "once",
      [{ action: "publish", by: "once" }],
      "confirm[0].by: Publishing can only be confirmed by a second person."
    ],
    [
      "approvers that are missing",
      [{ action: "publish", by: "second" }],
      "`approvers` must be a list of at least one role."
    ],
    [
      "a type",
      [{ action: "publish", by: "second", type: "people", approvers: ["admin"] }],
      'confirm[0].type: Unknown property "type"'
    ],
    [
      "an approver who may not change the policy",
      [{ action: "publish", by: "second", approvers: ["admin", "constructor"] }],
      "The role constructor can't approve a publication, because it may not change the policy."
    ],
    ["an unknown approver", [{ action: "publish", by: "second", approvers: ["admn"] }], `There is no role "admn".`],
    [
      "another such entry",
      [
        { action: "publish", by: "second", approvers: ["admin"] },
        { action: "publish", by: "second", approvers: ["admin"] }
      ],
      "confirm[1]: Only one entry may be about publish."
    ]
  ])("a confirm entry about publish with %s", (_, confirm, message) => {
    expect(problemsOf(file([], { confirm, roles: GOVERNING })).join("\n")).toContain(message)
  })

  it("a confirm entry that is not an object, and a list that is none", () => {
    expect(problemsOf(file([], { confirm: ["x"] })).join()).toContain("confirm[0]: An entry must be an object.")
    expect(problemsOf(file([], { confirm: {} })).join()).toContain("confirm: `confirm` must be a list.")
  })
})

describe("a confirm entry about publish", () => {
  it("names the roles that approve, and those that inherit one of them", () => {
    const confirm = [{ action: "publish", by: "second", approvers: ["admin"] }]
    const policy = policyOf([], { confirm, roles: GOVERNING })
    expect(policy.publishing).toEqual({ approvers: ["admin", "head"] })
    expect(policy).not.toHaveProperty("confirm")
    expect(publicationApprovers(policy)).toEqual(["admin", "head"])
  })

  it("is needed by no publication without it, and then every role that may change the policy may approve one", () => {
    const policy = policyOf([], { roles: GOVERNING })
    expect(policy).not.toHaveProperty("publishing")
    expect(publicationApprovers(policy)).toEqual(["admin", "head", "lawyer"])
  })
})

describe("a confirm entry", () => {
  const policy = policyOf([], {
    roles: {
      member: {},
      manager: { inherits: ["member"] },
      director: { inherits: ["manager"] },
      finance: {},
      agent: {}
    },
    confirm: [
      { action: "delete", type: "people", by: "second", approvers: ["manager"] },
      { action: "update", type: "people", columns: ["owner", "company"], above: 5, by: "twice" },
      { action: "update", type: "people", columns: ["email"], by: "second", approvers: ["finance", "director"] },
      { action: "update", type: "people", columns: ["phone"], by: "second", approvers: ["manager"] },
      { action: "invoke", name: "remind", type: "people", by: "twice" }
    ]
  })
  const change = (columns: ReadonlyArray<string>, rows = 1) =>
    [{ action: "update", type: "people", columns, rows }] as const

  it("raises the confirmation of the changes that it concerns, and no other", () => {
    expect(confirmationOf(policy, change(["owner-key"], 6), "once")).toEqual({ level: "twice" })
    expect(confirmationOf(policy, change(["owner-key"], 5), "once")).toEqual({ level: "once" })
    expect(confirmationOf(policy, change(["status"], 6), "once")).toEqual({ level: "once" })
    expect(confirmationOf(policy, change(["status", "owner-key"], 6), "once")).toEqual({ level: "twice" })
    const elsewhere = [{ action: "delete", type: "companies-type", columns: [], rows: 1 }] as const
    expect(confirmationOf(policy, elsewhere, "once")).toEqual({ level: "once" })
    expect(confirmationOf(policyOf([]), change(["status"]), "twice")).toEqual({ level: "twice" })
    expect(
      confirmationOf(policy, [{ action: "invoke", name: "remind", type: "people", columns: [], rows: 1 }], "once").level
    ).toBe("twice")
    expect(
      confirmationOf(policy, [{ action: "invoke", name: "other", type: "people", columns: [], rows: 1 }], "once").level
    ).toBe("once")
  })

  it("never lowers the confirmation that the action asks for", () => {
    expect(confirmationOf(policy, change(["owner-key"], 6), "second").level).toBe("second")
  })

  it("lets those approve who satisfy every entry, roles that inherit an approver's included", () => {
    const approvers = (...columns: ReadonlyArray<string>) => confirmationOf(policy, change(columns), "once").approvers
    expect(approvers("phone-key")).toEqual(["manager", "director"])
    expect(approvers("email-key")).toEqual(["director", "finance"])
    expect(approvers("phone-key", "email-key")).toEqual(["director"])
  })

  it("of several changes counts the strictest", () => {
    expect(
      confirmationOf(
        policy,
        [...change(["status"]), { action: "delete", type: "people", columns: [], rows: 1 }],
        "once"
      )
    ).toEqual({ level: "second", approvers: ["manager", "director"] })
  })
})
