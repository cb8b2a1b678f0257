/** Names of rows in other words. */
import { describe, expect, it } from "vitest"
import { beginningsOf, isPartOf, isReworded } from "../../../../src/agents/basic/deeds/reworded.ts"

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

describe("a part of a name", () => {
  it.each([
    ["login bug", "Fix login bug"],
    ["wiki", "Update the wiki"],
    ["the budget draft", "Draft the budget"],
    ["new logos", "Design new logo"]
  ])("has words of the name and no other: %s, %s", (said, name) => {
    expect(isPartOf(said, name)).toBe(true)
    expect(beginningsOf(said).every((part) => isIn(part, name))).toBe(true)
  })

  it.each([
    ["login page bug", "Fix login bug"],
    ["call", "Call the printer"],
    ["reviews", "Review the contract"],
    ["bug", "Fix login bug"],
    ["the", "Review the contract"],
    ["", "Review the contract"],
    ["bug bug", "Fix login bug"]
  ])("isn't one with another word, or as one that a name begins with: %s, %s", (said, name) => {
    expect(isPartOf(said, name)).toBe(false)
  })
})

const isIn = (part: string, name: string) =>
  name.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase().includes(part)
