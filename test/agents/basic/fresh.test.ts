/** Questions that were written before the rules they try: in people's own wording, a fifth of them nonsense or impossible. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { BasicAgent } from "../../support/basic.ts"
import { read, score } from "./officeScore.ts"
import { chinook, HARBOR, harbor, JANE, LENA, SAM, TEAM, team } from "./officeSetting.ts"

layer(BasicAgent, { excludeTestServices: true })("questions in people's own wording", (it) => {
  it.effect("are answered rightly or declined, and never falsely", () =>
    Effect.gen(function* () {
      const [sales, sample, shop] = [yield* team, yield* harbor, yield* chinook]
      const asked = Effect.fnUntraced(function* (name: string) {
        const tallies = [
          yield* score(sales, LENA, TEAM, read(`${name}-crm`)),
          yield* score(sales, SAM, TEAM, read(`${name}-calendar`)),
          yield* score(sample, "rosa.delgado@harbor.example", HARBOR, read(`${name}-harbor`)),
          yield* score(shop, JANE, "", read(`${name}-chinook`))
        ]
        const sum = (judged: "right" | "declined" | "false") => tallies.reduce((all, tally) => all + tally[judged], 0)
        const all = sum("right") + sum("declined") + sum("false")
        console.log(`${name}: ${sum("right")} of ${all} right, ${sum("declined")} declined, ${sum("false")} false`)
        return { right: sum("right"), wrong: sum("false"), all }
      })
      const fresh = yield* asked("fresh")
      const second = yield* asked("second")
      const third = yield* asked("third")
      const fourth = yield* asked("fourth")
      const fifth = yield* asked("fifth")
      const sixth = yield* asked("sixth")
      const seventh = yield* asked("seventh")
      const all = [fresh, second, third, fourth, fifth, sixth, seventh]
      expect(all.map(({ wrong }) => wrong)).toEqual(all.map(() => 0))
      expect(fresh.right / fresh.all).toBeGreaterThanOrEqual(0.9)
      expect(second.right / second.all).toBeGreaterThanOrEqual(0.85)
      expect(third.right / third.all).toBeGreaterThanOrEqual(0.8)
      expect(fourth.right / fourth.all).toBeGreaterThanOrEqual(0.85)
      expect(fifth.right / fifth.all).toBeGreaterThanOrEqual(0.95)
      expect(sixth.right / sixth.all).toBeGreaterThanOrEqual(0.95)
      expect(seventh.right / seventh.all).toBeGreaterThanOrEqual(0.88)
    })
  )
})
