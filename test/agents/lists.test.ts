import { describe, expect, it } from "vitest"
import { Sightings } from "../../src/agents/Sightings.ts"
import type { Page } from "../../src/domain/Page.ts"
import type { FindQuery } from "../../src/domain/Query.ts"

const page = (...ids: ReadonlyArray<string>): Page => ({
  total: ids.length,
  entities: ids.map((entityId) => ({ entityId, displayName: `Name ${entityId}` }))
})

const query = (entityTypeId: string, value: string): FindQuery => ({
  entityTypeId,
  filters: [{ columnId: "name", op: "ilike", value }],
  limit: 5,
  cursorEntityId: "before",
  selectColumns: ["phone"]
})

const meant = (type: string, ...ids: ReadonlyArray<string>) => ids.map((id) => ({ type, id, columns: {} }))

const sightings = () => {
  const seen = new Sightings()
  seen.addList(query("companies", "first"), page("a", "b"))
  seen.addList(query("people", "second"), page("a", "b", "c"))
  seen.addList(query("people", "third"), page("c"))
  return seen
}

describe("the lookup behind an answer's list", () => {
  it("is the latest one that found everything that the answer presents, without its page and columns", () => {
    expect(sightings().listOf(meant("people", "b", "a"))).toEqual({
      entityTypeId: "people",
      filters: [{ columnId: "name", op: "ilike", value: "second" }]
    })
    expect(sightings().listOf(meant("companies", "a", "b"))?.filters[0]?.value).toBe("first")
  })

  it("doesn't exist for one entity, for entities of several lookups, and for several types", () => {
    expect(sightings().listOf(meant("people", "c"))).toBeUndefined()
    expect(sightings().listOf(meant("people", "a", "d"))).toBeUndefined()
    expect(sightings().listOf([...meant("people", "a"), ...meant("companies", "b")])).toBeUndefined()
  })
})
