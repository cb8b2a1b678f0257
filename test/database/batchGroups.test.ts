/** Grouping requests into batches, and splitting a batch's values and rows. */
import { describe, expect, it } from "vitest"
import { batchesOf, batchParameters, rowsByRequest } from "../../src/database/batchGroups.ts"
import type { BatchForm, Statement } from "../../src/database/sql/ResolvedQuery.ts"

const FORM: BatchForm = { text: "batch", shared: new Set() }

const request = (id: number, more: Partial<Statement> = {}) => ({
  id,
  statement: { text: "one", parameters: [id, "x"], batch: () => FORM, ...more }
})

const requests = (count: number, more: Partial<Statement> = {}) =>
  Array.from({ length: count }, (_, index) => request(index, more))

/** The ids in each batch, and whether it uses the batch form. */
const grouped = (all: ReadonlyArray<ReturnType<typeof request>>, room = 1) =>
  batchesOf(all, room).map(({ form, requests: some }) => ({
    ids: some.map(({ id }) => id),
    batched: form !== undefined
  }))

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)

describe("batchesOf", () => {
  it("batches requests whose statements have one text", () => {
    expect(grouped([request(0), request(1, { text: "other" }), request(2), request(3, { text: "third" })])).toEqual([
      { ids: [0, 2], batched: true },
      { ids: [1], batched: false },
      { ids: [3], batched: false }
    ])
  })

  it("runs a lone request, and statements without a batch form, one by one", () => {
    expect(grouped([])).toEqual([])
    expect(grouped(requests(1))).toEqual([{ ids: [0], batched: false }])
    expect(grouped(requests(2, { batch: undefined }))).toEqual([
      { ids: [0], batched: false },
      { ids: [1], batched: false }
    ])
  })

  it("batches requests only if all their list parameters are equal, in order", () => {
    const batch = () => ({ text: "batch", shared: new Set([1, 2]) })
    const withLists = (id: number, ...lists: ReadonlyArray<ReadonlyArray<string>>) =>
      request(id, { parameters: [id, ...lists], batch })
    expect(
      grouped([
        withLists(0, ["a", "b"], ["c"]),
        withLists(1, ["a"], ["b", "c"]),
        withLists(2, ["a", "b"], ["c"]),
        withLists(3, ["b", "a"], ["c"]),
        withLists(4, ["a,b"], ["c"]),
        withLists(5, ["a"], ["b", "c"])
      ])
    ).toEqual([
      { ids: [0, 2], batched: true },
      { ids: [1, 5], batched: true },
      { ids: [3], batched: false },
      { ids: [4], batched: false }
    ])
  })

  it("splits a large group over the room for concurrent statements, and never a group of four", () => {
    expect(grouped(requests(16), 2)).toEqual([
      { ids: numbers(0, 8), batched: true },
      { ids: numbers(8, 16), batched: true }
    ])
    expect(grouped(requests(16), 1)).toEqual([{ ids: numbers(0, 16), batched: true }])
    expect(grouped(requests(16), 0)).toEqual([{ ids: numbers(0, 16), batched: true }])
    expect(grouped(requests(4), 2)).toEqual([{ ids: numbers(0, 4), batched: true }])
    expect(grouped(requests(5), 2)).toEqual([
      { ids: numbers(0, 4), batched: true },
      { ids: [4], batched: false }
    ])
    expect(grouped(requests(65), 2)).toEqual([
      { ids: numbers(0, 32), batched: true },
      { ids: numbers(32, 64), batched: true },
      { ids: [64], batched: false }
    ])
  })
})

describe("a batch", () => {
  it("binds an array of the requests' values per parameter, and the shared lists unchanged", () => {
    const list = ["a"]
    const some = [1n, 2n, 3n].map((value, index) => request(index, { parameters: [value, list, `v${index}`] }))
    expect(batchParameters(some, { shared: new Set([1]) })).toEqual([[1n, 2n, 3n], list, ["v0", "v1", "v2"]])
  })

  it("returns each request its own rows, in the order of the result", () => {
    const row = (n: number, id: number) => ({ n, id })
    expect(rowsByRequest([row(2, 1), row(1, 5), row(2, 3)], 3)).toEqual([[row(1, 5)], [row(2, 1), row(2, 3)], []])
  })

  it("returns no rows at all when a row belongs to no request", () => {
    for (const n of [0, 3, -1, 1.5, Number.NaN]) expect(rowsByRequest([{ n: 1 }, { n }], 2)).toBeUndefined()
  })
})
