import { expect, it } from "vitest"
import { Kept } from "../../src/web/chat/state/Kept.ts"

const welcome = (organization: string, person?: string) =>
  ({
    organization,
    ...(person === undefined ? {} : { person }),
    mode: "basic",
    kinds: [],
    examples: [],
    next: []
  }) as const

it("A question that was typed when a session ended returns once, and only to the same person of the same organization", () => {
  const kept = new Kept(false)
  const ada = welcome("Harbor", "Ada")
  const takes = (by?: ReturnType<typeof welcome>, of = ada) => {
    kept.put("Who called?", of)
    return [kept.take(by), kept.take(of)]
  }
  expect(takes(ada)).toEqual(["Who called?", ""])
  expect(takes(welcome("Harbor", "Bo"))).toEqual(["", ""])
  expect(takes(welcome("Cedar", "Ada"))).toEqual(["", ""])
  expect(takes(welcome("Harbor"))).toEqual(["", ""])
  expect(takes()).toEqual(["", ""])
  expect(takes(welcome("Harbor"), welcome("Harbor"))).toEqual(["", ""])
})
