import { describe, expect, it } from "vitest"
import { problemLines } from "../../src/permissions/policyLines.ts"

const TEXT = `{
  "version": 1,
  "roles": {
    "admin": { "inherits": [] },
    "a.b": {}
  },
  "rules": [
    { "id": "one", "where": { "all": [
      { "owner": "$me" },
      { "status": ["a", "b"] }
    ] } },
    "two"
  ],
  "tests": []
}`

const lines = (text: string, ...paths: ReadonlyArray<string>) =>
  problemLines(
    text,
    paths.map((path) => ({ path, message: "" }))
  )

describe("the line of a problem", () => {
  it("is that of the entry that its path names", () => {
    expect(
      lines(
        TEXT,
        "version",
        "roles.admin",
        "roles.a.b",
        "rules[0].id",
        "rules[0].where.all[1].status",
        "rules[1]",
        "tests"
      )
    ).toEqual([2, 4, 5, 8, 10, 12, 14])
  })

  it("is that of the nearest entry around a missing one", () => {
    expect(lines(TEXT, "rules[0].columns", "rules[7].id", "policy.roles.admin.powers", "policy.unknown", "")).toEqual([
      8, 7, 4, 1, 1
    ])
  })

  it("is that of the first syntax error for a problem of the whole file", () => {
    const last = TEXT.split("\n").length
    expect(lines(TEXT, "policy")).toEqual([1])
    expect(lines(TEXT.replace('"one",', '"one"'), "policy")).toEqual([8])
    expect(lines(TEXT.replace('"two"', '"two",'), "policy")).toEqual([13])
    expect(lines(TEXT.replace('"two"', "'two'"), "policy")).toEqual([12])
    expect(lines(TEXT.replace('"tests": []', '"tests": [}'), "policy")).toEqual([14])
    expect(lines(TEXT.slice(0, -1), "policy")).toEqual([last])
    expect(lines(`${TEXT}\n\n{}`, "policy")).toEqual([last + 2])
    expect(lines(TEXT.replace('"tests"', '"roles"'), "policy")).toEqual([14])
    expect(lines("", "policy")).toEqual([1])
  })

  it("agrees with JSON.parse about what is valid", () => {
    for (const text of [TEXT, "[]", "{}", "1e5", "-0.5", '"\\u00e9\\n"', "null", " [ 1 , [ ] , { } ] "])
      expect([lines(`\n${text}`, "policy"), JSON.parse(text)]).toEqual([[1], JSON.parse(text)])
    for (const text of [
      "01",
      "[1,]",
      "{,}",
      '{"a":}',
      '{"a" 1}',
      '{"a":1,}',
      "[1 2]",
      '"\t"',
      "[",
      "tru",
      '{"a":{}',
      "]"
    ]) {
      expect(() => JSON.parse(text)).toThrow(SyntaxError)
      expect(lines(`\n${text}`, "policy"), text).toEqual([2])
    }
  })

  it("is found in time proportional to the file, however it is nested", () => {
    const text = `${"[".repeat(400_000)}${'"\\'.repeat(50_000)}`
    expect(lines(text, "policy", "rules[1].id")).toEqual([1, 1])
  })
})
