/** Splitting a batch's values and rows. */
import { describe, expect, it } from "vitest"
import { batchParameters, rowsByRequest } from "../../src/database/batch.ts"
import type { Statement } from "../../src/database/sql/ResolvedQuery.ts"

const request = (id: number, more: Partial<Statement> = {}) => ({
  id,
  statement: { text: "one", parameters: [id, "x"], ...more }
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
