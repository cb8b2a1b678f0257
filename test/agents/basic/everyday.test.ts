/** Everyday questions: days of the week, times of day, follow-ups, and conditions on what refers to a row. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { BasicAgent } from "../../support/basic.ts"
import { read, score } from "./officeScore.ts"
import { chinook, HARBOR, harbor, JANE, WORKBENCH, workbench } from "./officeSetting.ts"

layer(BasicAgent, { excludeTestServices: true })("everyday questions", (it) => {
  it.effect("are answered rightly or declined, and never falsely", () =>
    Effect.gen(function* () {
      const [sample, sales, shop] = [yield* harbor, yield* workbench, yield* chinook]
      const asked = Effect.fnUntraced(function* (name: string) {
        const tallies = [
          yield* score(sample, "rosa.delgado@harbor.example", HARBOR, read(`${name}-harbor`)),
          yield* score(sales, "admin@atlas.example", WORKBENCH, read(`${name}-workbench`)),
          yield* score(shop, JANE, "", read(`${name}-chinook`))
        ]
        const sum = (judged: "right" | "declined" | "false") => tallies.reduce((all, tally) => all + tally[judged], 0)
        const all = sum("right") + sum("declined") + sum("false")
        console.log(`${name}: ${sum("right")} of ${all} right, ${sum("false")} false`)
        return { right: sum("right"), wrong: sum("false"), all }
      })
      const known = yield* asked("everyday")
      const unseen = yield* asked("unseen")
      const traps = yield* score(sample, "rosa.delgado@harbor.example", HARBOR, read("everyday-traps-harbor"))
      console.log(traps)
      expect([known.wrong, unseen.wrong, traps.false]).toEqual([0, 0, 0])
      expect(known.all).toBeGreaterThanOrEqual(80)
      expect(known.right / known.all).toBeGreaterThanOrEqual(0.9)
    })
  )
})
