import { describe, expect, it } from "vitest"
import { Grounding } from "../../src/agents/guards/Grounding.ts"
import { lenientGuard, strictGuard } from "../../src/agents/guards/ReplyGuard.ts"

const people = [
  { entityId: "mvqbxkpahd", displayName: "Noah Mendes", status: "customer", columns: { phone: "404-555-0710", email: "noah@iron.example", company: { id: "mvqbxkpahf", name: "Iron Marine" } } },
  { entityId: "mvqbxkpahe", displayName: "Hugo Blanc", status: "lead", columns: { phone: "512-555-0142", email: "hugo@iron.example", company: { id: "mvqbxkpahf", name: "Iron Marine" } } }
] // prettier-ignore

const grounding = () => {
  const grounding = new Grounding({ country: "US", today: "2026-11-22" })
  grounding.addResult({ entities: people })
  grounding.seen.add("people", people, grounding.locale)
  return grounding
}

const holds = (text: string): boolean => {
  const guard = strictGuard(grounding())
  return (guard.push(text).fault ?? guard.end().fault) !== undefined
}

describe("a reply about one of several entities", () => {
  it.each([
    "Noah Mendes' phone is 512-555-0142.",
    "You can reach Noah Mendes at hugo@iron.example.",
    "Here you are.\nHugo Blanc: 404-555-0710",
    "Noah Mendes' status is lead.",
    "The number 512-555-0142 belongs to Noah Mendes."
  ])("is held if its sentence gives the entity another one's value: %s", (text) => {
    expect(holds(text)).toBe(true)
  })

  it.each([
    "Noah Mendes' phone is 404-555-0710.",
    "Noah Mendes' phone is 404-555-0710 and Hugo Blanc's is 512-555-0142.",
    "1. Noah Mendes — 404-555-0710; status customer\n2. Hugo Blanc — 512-555-0142; status lead",
    "Noah Mendes' phone is not 512-555-0142.",
    "Noah Mendes' status is customer. Hugo Blanc's status is lead.",
    "Noah Mendes is a customer. The other one's phone is 512-555-0142."
  ])("passes if every sentence agrees with the entity's card: %s", (text) => {
    expect(holds(text)).toBe(false)
  })

  it("loses only the sentence that contradicts the card when the model repeats it", () => {
    const guard = lenientGuard(grounding())
    const text = `${guard.push("Noah Mendes is a customer. Noah Mendes' phone is 512-555-0142. That is all.").text}${guard.end().text}`
    expect(text).toContain("Noah Mendes is a customer.")
    expect(text).not.toContain("512-555-0142")
  })
})
