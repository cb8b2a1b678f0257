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
  for (const [type, values, found] of lookups) sightings.addPage(type, values, found)
  return sightings.presentedIn(text).map(({ id }) => id)
}

describe("the entities that an answer presents", () => {
  it("are those that it names, in its order, in any spelling", () => {
    const found = page(ada, lead, entity("d", "José Núñez"))
    expect(about("**JOSE NUNEZ** and Ada Lovelace.", ["people", ["a"], found])).toEqual(["d", "a"])
    expect(about("I found Ada Lovelaceson.", ["people", ["a"], found])).toEqual([])
  })

  it("include the only result when the answer states its values without its name", () => {
    expect(about("Her number is 512-555-0142.", ["people", ["a"], page(ada)])).toEqual(["a"])
    expect(about("She has none.", ["people", ["a"], page(ada)])).toEqual(["a"])
    expect(about("She has none.", ["people", ["a"], page(ada, lead)])).toEqual([])
  })

  it("are the only entity in focus, or none of several, in an answer without a name", () => {
    const answer = (text: string, ...focus: ReadonlyArray<Entity>) => {
      const sightings = new Sightings()
      sightings.addFocus(focus.map((one) => ({ type: "people", page: page(one) })))
      return sightings.presentedIn(text).map(({ id }) => id)
    }
    expect(answer("Her number is 512-555-0142.", ada)).toEqual(["a"])
    expect(answer("I can't sort them.", ada)).toEqual(["a"])
    expect(answer("I can't sort them.", ada, lead)).toEqual([])
    expect(answer("I can't find Babbage.", ada, lead)).toEqual([])
    expect(answer("I can't sort them. Try “who is Ada Lovelace”.", ada, lead)).toEqual([])
    expect(answer("Ada Lovelace is a customer.", ada, lead)).toEqual(["a"])
  })

  it("are none when nothing was found or only counted", () => {
    expect(about("I didn't find her.", ["people", ["ada"], page(ada)], ["people", ["adda"], page()])).toEqual([])
    expect(about("There are 12 people.", ["people", [], { total: 12, entities: [] }])).toEqual([])
  })

  it("exclude a company that was only a step to its people, or a value in their rows", () => {
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

  it("distinguish namesakes by the values that the answer states", () => {
    const found = page(ada, lead, lost)
    expect(about("Ada Byron (Lead, Babbage) and Ada Byron (Lost). Which one?", ["people", ["ada"], found])).toEqual([
      "b",
      "c"
    ])
    expect(about("Ada Byron is lost.", ["people", ["ada"], found])).toEqual(["c"])
    expect(about("Ada Byron works at Babbage.", ["people", ["ada"], found])).toEqual(["b"])
  })
})
