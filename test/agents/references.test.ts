import { describe, expect, it } from "vitest"
import { Sightings } from "../../src/agents/Sightings.ts"
import type { Entity, Page } from "../../src/domain/Page.ts"

const entity = (entityId: string, displayName: string, more: Partial<Entity> = {}): Entity => ({
  entityId,
  displayName,
  ...more
})
const page = (...entities: ReadonlyArray<Entity>): Page => ({ total: entities.length, entities })

const ada = entity("a", "Ada Lovelace", {
  status: "Customer",
  columns: { phone: "512-555-0142", company: { id: "x", name: "Analytical" } }
})
const lead = entity("b", "Ada Byron", { status: "Lead", columns: { company: { id: "y", name: "Babbage" } } })
const lost = entity("c", "Ada Byron", { status: "Lost", columns: {} })
const analytical = entity("x", "Analytical")

const about = (
  text: string,
  ...lookups: ReadonlyArray<readonly [type: string, values: ReadonlyArray<string>, page: Page]>
) => {
  const sightings = new Sightings()
  for (const [type, values, found] of lookups) sightings.page(type, values, found)
  return sightings.presentedIn(text).map(({ id }) => id)
}

describe("what an answer was about", () => {
  it("is whom it names, in its order, however the name is written", () => {
    const found = page(ada, lead, entity("d", "José Núñez"))
    expect(about("**JOSE NUNEZ** and Ada Lovelace.", ["people", ["a"], found])).toEqual(["d", "a"])
    expect(about("I found Ada Lovelaceson.", ["people", ["a"], found])).toEqual([])
  })

  it("is the one that was found, when the answer only tells of it", () => {
    expect(about("Her number is 512-555-0142.", ["people", ["a"], page(ada)])).toEqual(["a"])
    expect(about("She has none.", ["people", ["a"], page(ada)])).toEqual(["a"])
    expect(about("She has none.", ["people", ["a"], page(ada, lead)])).toEqual([])
  })

  it("is nothing, when nothing was found or only counted", () => {
    expect(about("I didn't find her.", ["people", ["ada"], page(ada)], ["people", ["adda"], page()])).toEqual([])
    expect(about("There are 12 people.", ["people", [], { total: 12, entities: [] }])).toEqual([])
  })

  it("isn't a company on the way to its people, nor one in their rows", () => {
    expect(
      about(
        "At Analytical works Ada Lovelace.",
        ["companies", ["analytical"], page(analytical)],
        ["people", ["x"], page(ada)]
      )
    ).toEqual(["a"])
    expect(about("Ada Lovelace works at Analytical.", ["people", ["ada"], page(ada)])).toEqual(["a"])
    expect(about("Analytical is a customer.", ["companies", ["analytical"], page(analytical)])).toEqual(["x"])
  })

  it("tells people of one name apart by what is said of them", () => {
    const found = page(ada, lead, lost)
    expect(about("Ada Byron (Lead, Babbage) and Ada Byron (Lost). Which one?", ["people", ["ada"], found])).toEqual([
      "b",
      "c"
    ])
    expect(about("Ada Byron is lost.", ["people", ["ada"], found])).toEqual(["c"])
    expect(about("Ada Byron works at Babbage.", ["people", ["ada"], found])).toEqual(["b"])
  })
})
