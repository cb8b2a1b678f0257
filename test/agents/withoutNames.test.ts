/** What is kept of a question that wasn't understood: no name and no value. */
import { describe, expect, it } from "vitest"
import { isQuestionWord } from "../../src/agents/basic/respell.ts"
import { withoutNames } from "../../src/agents/withoutNames.ts"
import { generate } from "../../src/services/import/sample/generate.ts"
import { catalog } from "../permissions/support.ts"

const kept = (question: string) => withoutNames(question, catalog)

describe("a question without its names", () => {
  it.each([
    ["How many attendees did Lena Schmidt invite to Atlas?", "how many attendees did … to …"],
    ["can you reach lena.schmidt@atlas.example or +1 801 555 0103 tomorrow?", "can you reach … or … tomorrow?"],
    ["what's the score of the people at globex", "what is the score of the people at …"],
    ["Will April be late, may I ask?", "… be late, may i ask?"],
    ["Mark Young's salary in 2024", "… salary in …"],
    ["is Ana-María de la O'Neill-Güneş in the meetings", "is … in the meetings"],
    ["hello , 你好 Борис", "hello, …"],
    ["people people\nRobert'); DROP TABLE", "people people …"]
  ])("keeps the words that Max knows, and those of the organization's types and columns: %s", (question, expected) => {
    expect(kept(question)).toBe(expected)
  })

  it("isn't kept if nothing is left of it, and is short", () => {
    for (const nothing of ["", "   ", "Lena Schmidt", "4711", "???", "lena@atlas.example"])
      expect([nothing, kept(nothing)]).toEqual([nothing, undefined])
    expect(kept("people ".repeat(600))!.length).toBeLessThanOrEqual(200)
  })

  it("has no word of any name of the sample data, at any place and in any case, but small words that aren't names", () => {
    const { companies, people } = generate(new Date("2026-11-24T12:00:00Z"))
    const names = [...people, ...companies].map(({ name }) => String(name))
    expect(names.length).toBeGreaterThan(2000)
    for (const name of names) {
      const parts = name.toLowerCase().match(/\p{L}+/gu)!
      for (const question of [
        `${name} hates the moon`,
        `does ${name} fly to the moon`,
        `moon: ${name.toLowerCase()}?`
      ]) {
        const words = new Set(kept(question)?.match(/\p{L}+/gu) ?? [])
        const isSmall = !question.includes(name)
        const left = parts.filter((part) => words.has(part) && !(isSmall && isQuestionWord(part)))
        expect([question, left]).toEqual([question, []])
      }
    }
  })
})
