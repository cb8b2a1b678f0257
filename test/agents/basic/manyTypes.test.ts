/** Basic mode knows more types than a model is told of, because it doesn't ask for the list of all. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { makeOrganization } from "../../support/atlas.ts"
import { ask, BasicAgent, load, openTo } from "../../support/basic.ts"

const ROWS = {
  boats: "Aurora",
  cranes: "Borealis",
  docks: "Cassiopeia",
  engines: "Draco",
  ferries: "Eridanus",
  grants: "Fornax",
  harbors: "Gemini",
  tickets: "Hydra",
  zones: "Indus"
}

layer(BasicAgent, { excludeTestServices: true })("an organization of twelve types", (it) => {
  it.effect("is asked about the last of them as about the first, and a name is found in any", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("harbor")
      for (const [type, name] of Object.entries(ROWS)) yield* load(organization, type, [{ id: type, name }])
      yield* openTo(organization, "people", "companies", "meetings", ...Object.keys(ROWS))
      const said = (text: string) => Effect.map(ask(organization, text), ({ text }) => text)
      for (const [type, name] of Object.entries(ROWS)) expect(yield* said(`list the ${type}`), type).toContain(name)
      expect(yield* said("how many zones are there")).toContain("1 zone")
      expect(yield* said("show Indus")).toContain("Indus")
    })
  )
})
