import { describe, expect, it } from "vitest"
import type { Catalog } from "../../src/domain/EntityType.ts"
import { type PolicyDocument, printPolicy } from "../../src/permissions/policyDocument.ts"
import { draftPolicy, type Reach } from "../../src/permissions/draftPolicy.ts"
import { type PolicyEdit, type EditResult, grantAccess, revokeAccess } from "../../src/permissions/editPolicy.ts"
import { lintPolicy } from "../../src/permissions/lint.ts"
import { readPolicy } from "../../src/permissions/readPolicy.ts"
import { catalog, file, granted, meaningOf, NOW, people, planOf, policyOf, type RuleInput } from "./support.ts"

const grown: Catalog = {
  ...catalog,
  types: catalog.types.map((type) =>
    type === people
      ? {
          ...people,
          columns: [
            ...people.columns,
            { ...people.columns[4]!, key: "salary-key", slug: "salary" },
            { ...people.columns[4]!, key: "desk-key", slug: "desk" }
          ]
        }
      : type
  )
}

const apply = (
  how: typeof grantAccess,
  rules: ReadonlyArray<RuleInput>,
  edit: PolicyEdit,
  of: Catalog = catalog
): EditResult => how(JSON.parse(file(rules)) as PolicyDocument, policyOf(rules), of, edit)

/** The changed and added rules after an edit, or the problems of a refused one. */
const changed = (how: typeof grantAccess, rules: ReadonlyArray<RuleInput>, edit: PolicyEdit, of: Catalog = catalog) => {
  const edited = apply(how, rules, edit, of)
  if ("problems" in edited) return edited.problems.map(({ message }) => message)
  const before = new Set((JSON.parse(file(rules)) as PolicyDocument).rules.map((rule) => JSON.stringify(rule)))
  return edited.document.rules
    .filter((rule) => !before.has(JSON.stringify(rule)))
    .map(({ columns, id, where }) => ({ id, columns, ...(where === undefined ? {} : { where }) }))
}

describe("grantAccess", () => {
  it("adds a column to the rule that covers every row", () => {
    const rules = [
      { id: "all", columns: ["name"] },
      { id: "own", columns: ["name", "email"], where: { owner: "$me" } }
    ]
    expect(changed(grantAccess, rules, { role: "member", what: ["people.phone"] })).toEqual([
      { id: "all", columns: ["name", "phone"] }
    ])
  })

  it("adds a column to every conditional rule when no rule covers every row", () => {
    const rules = [
      { id: "own", columns: ["name"], where: { owner: "$me" } },
      { id: "vip", columns: ["name"], where: { status: "vip" } }
    ]
    expect(changed(grantAccess, rules, { role: "member", what: ["people.phone", "people.email"] })).toEqual([
      { id: "own", columns: ["name", "phone", "email"], where: { owner: "$me" } },
      { id: "vip", columns: ["name", "phone", "email"], where: { status: "vip" } }
    ])
  })

  it("grants a whole type, and adds a rule where the role had no access", () => {
    expect(changed(grantAccess, [{ id: "all", columns: ["name"] }], { role: "member", what: ["people"] })).toEqual([
      { id: "all", columns: "*" }
    ])
    expect(
      changed(grantAccess, [{ id: "member-people", type: "companies" }], {
        role: "member",
        what: ["people.name", "people.phone"]
      })
    ).toEqual([{ id: "member-people-2", columns: ["name", "phone"] }])
    expect(changed(grantAccess, [{}], { role: "member", what: ["people.phone"], where: { owner: "$me" } })).toEqual([
      { id: "member-people", columns: ["phone"], where: { owner: "$me" } }
    ])
  })

  it("grants changes by their action, apart from reading", () => {
    const rules = [
      { id: "see", columns: ["name"] },
      { id: "own", action: "update", columns: ["name"], where: { owner: "$me" } }
    ]
    expect(changed(grantAccess, rules, { role: "member", what: ["people.phone:update"] })).toEqual([
      { id: "own", columns: ["name", "phone"], where: { owner: "$me" } }
    ])
    const added = apply(grantAccess, rules, {
      role: "member",
      what: ["people.name:create", "people.phone:create", "people:delete"],
      where: { owner: "$me" }
    })
    expect("document" in added && added.document.rules.slice(2)).toEqual([
      {
        id: "member-create-people",
        effect: "allow",
        role: "member",
        action: "create",
        type: "people",
        columns: ["name", "phone"],
        where: { owner: "$me" }
      },
      {
        id: "member-delete-people",
        effect: "allow",
        role: "member",
        action: "delete",
        type: "people",
        columns: "*",
        where: { owner: "$me" }
      }
    ])
  })

  it("refuses to grant deleting a column, and actions that it doesn't know", () => {
    const messages = (...what: ReadonlyArray<string>) => changed(grantAccess, [{}], { role: "member", what })
    expect(messages("people.phone:delete")).toEqual(["A row is deleted as a whole."])
    expect(messages("people:invoke")).toEqual([`There is no action "invoke". Known: read, create, update, delete.`])
    expect(messages("people.phone:updat")).toEqual([`There is no action "updat". Known: read, create, update, delete.`])
  })

  it("doesn't expose columns added since publication through another rule's star", () => {
    const rules = [
      { id: "boss", role: "manager" },
      { id: "all", columns: ["name"] },
      { id: "deny", effect: "deny", where: { status: "x" } }
    ]
    const edited = apply(grantAccess, rules, { role: "member", what: ["people.salary"] }, grown)
    if ("problems" in edited) throw new Error("refused")
    const reading = readPolicy(printPolicy(edited.document), grown)
    if ("problems" in reading) throw new Error("unreadable")
    const cells = (role: string) => granted(planOf(reading.policy, { roles: [role] }, { of: grown })).cells
    expect([cells("member").has("salary-key"), cells("member").has("desk-key")]).toEqual([true, false])
    expect([cells("manager").has("desk-key")]).toEqual([false])
    expect(edited.document.rules[2]!.columns).toBe("*")
  })

  it("refuses unknown roles, types and columns", () => {
    expect(
      changed(grantAccess, [{}], {
        role: "menber",
        what: ["peple", "people.fone", "people.__proto__", "people.phone.x"]
      })
    ).toHaveLength(5)
  })
})

describe("revokeAccess", () => {
  it("revokes a change and leaves reading as it is", () => {
    const rules = [
      { id: "see", columns: ["name", "phone"] },
      { id: "own", action: "update", columns: ["name", "phone"] },
      { id: "del", action: "delete" }
    ]
    expect(changed(revokeAccess, rules, { role: "member", what: ["people.phone:update"] })).toEqual([
      { id: "own", columns: ["name"] }
    ])
    const edited = apply(revokeAccess, rules, { role: "member", what: ["people:delete"] })
    expect("document" in edited && edited.document.rules.map(({ id }) => id)).toEqual(["see", "own"])
  })

  it("removes a column from every rule of the role, and removes rules left without columns", () => {
    const rules = [
      { id: "all", columns: ["phone"] },
      { id: "own", where: { owner: "$me" } },
      { id: "boss", role: "manager" }
    ]
    const edited = apply(revokeAccess, rules, { role: "member", what: ["people.phone"] })
    if ("problems" in edited) throw new Error("refused")
    expect(edited.document.rules.map(({ id }) => id)).toEqual(["own", "boss"])
    expect(edited.document.rules[0]!.columns).not.toContain("phone")
    expect(edited.document.rules[1]!.columns).toBe("*")
    expect(changed(revokeAccess, rules, { role: "member", what: ["people"] })).toEqual([])
  })

  it("names the role that access is inherited from, and refuses to revoke nothing", () => {
    expect(changed(revokeAccess, [{ id: "all" }], { role: "manager", what: ["people.phone"] })).toEqual([
      "manager inherits this access from member (rule all)."
    ])
    expect(changed(revokeAccess, [{ columns: ["name"] }], { role: "member", what: ["people.phone"] })).toEqual([
      "No rule of member grants this access, so there is nothing to revoke."
    ])
  })

  it("undoes a grant exactly", () => {
    const rules = [
      { id: "all", columns: ["name"] },
      { id: "own", columns: ["email", "name"], where: { owner: "$me" } }
    ]
    const there = apply(grantAccess, rules, { role: "member", what: ["people.phone"] })
    if ("problems" in there) throw new Error("refused")
    const reading = readPolicy(printPolicy(there.document), catalog)
    if ("problems" in reading) throw new Error("unreadable")
    const back = revokeAccess(there.document, reading.policy, catalog, { role: "member", what: ["people.phone"] })
    if ("problems" in back) throw new Error("refused")
    const last = readPolicy(printPolicy(back.document), catalog)
    if ("problems" in last) throw new Error("unreadable")
    expect(meaningOf(planOf(last.policy))).toEqual(meaningOf(planOf(rules)))
  })
})

describe("draftPolicy", () => {
  const draft = (reach: Reach, hidden: ReadonlyArray<string> = []) => {
    const reading = readPolicy(
      printPolicy(draftPolicy({ roles: [{ role: "member", reach }], private: hidden }, catalog)),
      catalog
    )
    if ("problems" in reading) throw new Error(JSON.stringify(reading.problems))
    return reading.policy
  }

  it("lets the admin change everything, and a role the values of what the person owns", () => {
    const rules = draft("company").rules.filter(({ action }) => action !== "read")
    expect(rules.filter(({ role }) => role === "admin").map(({ id }) => id)).toEqual(
      ["people", "companies", "meetings"].flatMap((type) =>
        ["create", "update", "delete"].map((action) => `admin-${action}-${type}`)
      )
    )
    const [update, create, ...rest] = rules.filter(({ role, type }) => role === "member" && type === "people")
    expect([rest, update!.action, create!.action]).toEqual([[], "update", "create"])
    expect(update!.columns).not.toContain("owner-key")
    expect(create!.columns).toContain("owner-key")
    expect(lintPolicy(draft("company"), catalog, NOW)).toEqual([])
  })

  it("produces a publishable policy for every answer", () => {
    for (const reach of ["all", "own", "company"] as const) {
      for (const hidden of [[], ["phone"], ["people.phone", "email"], people.columns.map(({ slug }) => slug)]) {
        expect(granted(planOf(draft(reach, hidden), { roles: ["admin"] })).limited).toBe(false)
        expect(granted(planOf(draft(reach, hidden), { roles: ["member"] })).limited).toBe(
          reach !== "all" || hidden.length > 3
        )
      }
    }
  })

  it("shows private columns only on a person's own records", () => {
    const made = granted(planOf(draft("all", ["phone"])))
    expect([made.limited, made.cells.get("phone-key")?._tag, made.cells.get("email-key")?._tag]).toEqual([
      false,
      "Any",
      "Always"
    ])
  })
})

describe("printPolicy", () => {
  it("round-trips the document and keeps short values on one line", () => {
    const document = JSON.parse(
      file([{}, { where: { any: [{ owner: "$me" }, { status: ["a", "b"] }] } }])
    ) as PolicyDocument
    expect(JSON.parse(printPolicy(document))).toEqual(document)
    expect(printPolicy(document)).toContain(
      `    { "id": "r0", "effect": "allow", "role": "member", "action": "read", "type": "people", "columns": "*" },\n`
    )
  })
})
