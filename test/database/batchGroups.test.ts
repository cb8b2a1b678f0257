/** Who shares a statement, what it is given, and whose its rows are. */
import { describe, expect, it } from "vitest"
import { givenBy, rowsOf, sharing } from "../../src/database/batchGroups.ts"
import type { Several, Statement } from "../../src/database/sql/find.ts"

const SEVERAL: Several = { text: "several", shared: new Set() }

const asker = (who: number, more: Partial<Statement> = {}) => ({
  who,
  statement: { text: "one", parameters: [who, "x"], several: () => SEVERAL, ...more }
})

const askers = (count: number, more: Partial<Statement> = {}) =>
  Array.from({ length: count }, (_, index) => asker(index, more))

/** Who is with whom, and whether in one statement. */
const told = (asked: ReadonlyArray<ReturnType<typeof asker>>, room = 1) =>
  sharing(asked, room).map(({ askers: some, several }) => ({
    who: some.map(({ who }) => who),
    shared: several !== undefined
  }))

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)

describe("sharing a statement", () => {
  it("is for those whose statements have one text", () => {
    expect(told([asker(0), asker(1, { text: "other" }), asker(2), asker(3, { text: "third" })])).toEqual([
      { who: [0, 2], shared: true },
      { who: [1], shared: false },
      { who: [3], shared: false }
    ])
  })

  it("is for nobody who is alone, nor where a statement can't be written for several", () => {
    expect(told([])).toEqual([])
    expect(told(askers(1))).toEqual([{ who: [0], shared: false }])
    expect(told(askers(2, { several: undefined }))).toEqual([
      { who: [0], shared: false },
      { who: [1], shared: false }
    ])
  })

  it("asks that the lists of all of them are the same, in the same order, and of nothing else", () => {
    const several = () => ({ text: "several", shared: new Set([1, 2]) })
    const withLists = (who: number, ...lists: ReadonlyArray<ReadonlyArray<string>>) =>
      asker(who, { parameters: [who, ...lists], several })
    expect(
      told([
        withLists(0, ["a", "b"], ["c"]),
        withLists(1, ["a"], ["b", "c"]),
        withLists(2, ["a", "b"], ["c"]),
        withLists(3, ["b", "a"], ["c"]),
        withLists(4, ["a,b"], ["c"]),
        withLists(5, ["a"], ["b", "c"])
      ])
    ).toEqual([
      { who: [0, 2], shared: true },
      { who: [1, 5], shared: true },
      { who: [3], shared: false },
      { who: [4], shared: false }
    ])
  })

  it("makes as many parts as there is room for, none of a few, and none too large", () => {
    expect(told(askers(16), 2)).toEqual([
      { who: numbers(0, 8), shared: true },
      { who: numbers(8, 16), shared: true }
    ])
    expect(told(askers(16), 1)).toEqual([{ who: numbers(0, 16), shared: true }])
    expect(told(askers(16), 0)).toEqual([{ who: numbers(0, 16), shared: true }])
    expect(told(askers(4), 2)).toEqual([{ who: numbers(0, 4), shared: true }])
    expect(told(askers(5), 2)).toEqual([
      { who: numbers(0, 4), shared: true },
      { who: [4], shared: false }
    ])
    expect(told(askers(65), 2)).toEqual([
      { who: numbers(0, 32), shared: true },
      { who: numbers(32, 64), shared: true },
      { who: [64], shared: false }
    ])
  })
})

describe("a shared statement", () => {
  it("is given each one's values in their order, and the lists as they are", () => {
    const list = ["a"]
    const some = [1n, 2n, 3n].map((value, index) => asker(index, { parameters: [value, list, `v${index}`] }))
    expect(givenBy(some, { text: "several", shared: new Set([1]) })).toEqual([[1n, 2n, 3n], list, ["v0", "v1", "v2"]])
  })

  it("has rows of each, in the order in which they come", () => {
    const row = (n: number, id: number) => ({ n, id })
    expect(rowsOf([row(2, 1), row(1, 5), row(2, 3)], 3)).toEqual([[row(1, 5)], [row(2, 1), row(2, 3)], []])
  })

  it("shows nothing to anybody when a row is nobody's", () => {
    for (const n of [0, 3, -1, 1.5, Number.NaN]) expect(rowsOf([{ n: 1 }, { n }], 2)).toBeUndefined()
  })
})
