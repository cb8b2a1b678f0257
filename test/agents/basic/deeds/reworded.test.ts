/** Names of rows in other words. */
import { describe, expect, it } from "vitest"
import { beginningsOf, isReworded } from "../../../../src/agents/basic/deeds/reworded.ts"

describe("a name in other words", () => {
  it.each([
    ["contract review", "Review the contract"],
    ["Certificate renewal", "Renew certificates"],
    ["the Flask upgrade", "Upgrade Flask"],
    ["planning of the offsite", "Plan the offsite"],
    ["archiving old tickets", "Archive old tickets"],
    ["Résumé screening", "Screen résumés"],
    ["a🎉🎉🎉 planning", "Plan a🎉🎉🎉"],
    ["Review the contract", "Review the contract"]
  ])("has the words of the name in another order and form: %s, %s", (said, name) => {
    expect(isReworded(said, name)).toBe(true)
    expect(beginningsOf(said).every((part) => isIn(part, name))).toBe(true)
  })

  it.each([
    ["old tickets", "Archive old tickets"],
    ["contract review", "Review the contracts of interns"],
    ["contract contract", "Review the contract"],
    ["interview notes", "Interval notes"],
    ["test backup", "Text backup"],
    ["the", "Review the contract"],
    ["phase 1 plan", "Plan phase 2"]
  ])("isn't one with other words, more or fewer: %s, %s", (said, name) => {
    expect(isReworded(said, name)).toBe(false)
  })
})

const isIn = (part: string, name: string) =>
  name.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase().includes(part)
