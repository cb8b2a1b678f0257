import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { plainValue, readTerms, type Term } from "../../src/domain/valueList.ts"
import { series } from "../support/long.ts"

/**
 * A reader of its own: what each character of a value means, found from the end of the row that it stands in. It shares no
 * pattern with the product.
 */
const reader = (value: string): ReadonlyArray<Term> => {
  const marks: Array<{ readonly text: string; readonly mark: "bar" | "dots" | ""; readonly escaped: boolean }> = []
  const dotsAt = (at: number) => {
    let end = at
    while (value[end] === ".") end += 1
    return end - at
  }
  for (let at = 0; at < value.length;) {
    const character = value[at]!
    const next = value[at + 1]
    if (character === "\\" && (next === "|" || next === "*")) {
      marks.push({ text: next, mark: "", escaped: true })
      at += 2
    } else if (character === "\\" && dotsAt(at + 1) === 2) {
      marks.push({ text: "..", mark: "", escaped: true })
      at += 3
    } else if (character === ".") {
      const length = dotsAt(at)
      marks.push({ text: ".".repeat(length), mark: length === 2 ? "dots" : "", escaped: false })
      at += length
    } else {
      marks.push({ text: character, mark: character === "|" ? "bar" : "", escaped: false })
      at += 1
    }
  }
  const alternatives: Array<typeof marks> = [[]]
  for (const one of marks) {
    if (one.mark === "bar") alternatives.push([])
    else alternatives.at(-1)!.push(one)
  }
  return alternatives.map((part): Term => {
    const text = part.map((one) => one.text).join("")
    if (text.trim() === "*" && part.every(({ escaped }) => !escaped)) return { _tag: "Any" }
    const at = part.findIndex(({ mark }) => mark === "dots")
    const side = (some: typeof marks) => {
      const joined = some.map((one) => one.text).join("")
      return joined.trim() === "" ? undefined : joined
    }
    const [from, to] = [side(part.slice(0, at)), side(part.slice(at + 1))]
    const isRange = at >= 0 && part.filter(({ mark }) => mark === "dots").length === 1
    return isRange && (from !== undefined || to !== undefined)
      ? { _tag: "Range", from, to, text }
      : { _tag: "Value", text }
  })
}

const piece = fc.constantFrom("|", "*", "..", ".", "\\", "@", " ", "a", "5", "2026-03", "😀", "$1", "'", "%")
const value = fc.oneof(
  fc.array(piece, { maxLength: 12 }).map((parts) => parts.join("")),
  fc.string({ unit: "binary" })
)
const runs = { numRuns: series({ short: 3000, long: 100_000 }) }

describe("a filter's value", () => {
  it("is any of its alternatives, a range or any value, and otherwise itself", () => {
    const text = (value: string): Term => ({ _tag: "Value", text: value })
    expect(readTerms("Boston|Denver")).toEqual([text("Boston"), text("Denver")])
    expect(readTerms(" * ")).toEqual([{ _tag: "Any" }])
    expect(readTerms("5*")).toEqual([text("5*")])
    expect(readTerms("2026-03..2026-04")).toEqual([
      { _tag: "Range", from: "2026-03", to: "2026-04", text: "2026-03..2026-04" }
    ])
    expect(readTerms("5..")).toEqual([{ _tag: "Range", from: "5", to: undefined, text: "5.." }])
    expect(readTerms("..5|x")).toEqual([{ _tag: "Range", from: undefined, to: "5", text: "..5" }, text("x")])
    for (const literal of ["wait...", "..", "1..2..3", "C:\\files", "a.b@c.d", "", "\\"])
      expect(readTerms(literal)).toEqual([text(literal)])
    expect(readTerms("a\\|b|\\*|1\\..2")).toEqual([text("a|b"), text("*"), text("1..2")])
  })

  it("is read as a reader of its own reads it, whatever its characters", () => {
    fc.assert(
      fc.property(value, (one) => {
        expect(readTerms(one)).toEqual(reader(one))
      }),
      runs
    )
  })

  it("means exactly the text that is made plain", () => {
    fc.assert(
      fc.property(value, (one) => {
        expect(readTerms(plainValue(one))).toEqual([{ _tag: "Value", text: one }])
      }),
      runs
    )
  })
})
