/** Where groups and figures are turned off, questions for them are declined in words, and all others are answered. */
import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { expect } from "vitest"
import { BasicStep } from "../../src/agents/basic/BasicStep.ts"
import { MaxAgent } from "../../src/agents/MaxAgent.ts"
import { ToolHandlers } from "../../src/tools/handlers.ts"
import { addPeople, makeOrganization } from "../support/atlas.ts"
import { ADMIN, hear, openTo } from "../support/basic.ts"
import { servicesWith } from "../support/database.ts"

const Figureless = MaxAgent.layer.pipe(
  Layer.provideMerge(BasicStep),
  Layer.provideMerge(ToolHandlers),
  Layer.provideMerge(servicesWith({ figures: "off" })),
  Layer.orDie
)

layer(Figureless, { excludeTestServices: true })("without figures, basic mode", (it) => {
  it.effect("says that they are turned off, and answers counts and lists", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("figureless")
      yield* addPeople(organization, [
        { name: "Ada Stone", status: "Lead" },
        { name: "Bo Reed", status: "Won" }
      ])
      yield* openTo(organization, "people")
      const reply = (text: string) => Effect.map(hear(organization, ADMIN, text), (heard) => heard.text)
      for (const question of [
        "how many people per status",
        "people by status",
        "which status has the most people",
        "what share of people is won"
      ]) {
        expect(yield* reply(question), question).toBe(
          "Groups, sums and averages are turned off here. I can still look things up, list them and count them."
        )
      }
      expect(yield* reply("how many people are won")).toMatch(/\b1\b/)
      expect(yield* reply("list people")).toContain("Ada Stone")
    })
  )
})
