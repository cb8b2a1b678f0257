/** Questions from an office with true answers by SQL: a reply is right, declines, or is false; none may be false. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { BasicAgent } from "../../support/basic.ts"
import { read, score } from "./officeScore.ts"
import { HARBOR, harbor, WORKBENCH, workbench } from "./officeSetting.ts"

layer(BasicAgent, { excludeTestServices: true })("questions from an office", (it) => {
  it.effect(
    "are answered rightly or declined, and never falsely, also in words that the rules weren't written for",
    () =>
      Effect.gen(function* () {
        const [sample, sales] = [yield* harbor, yield* workbench]
        const asked = Effect.fnUntraced(function* (prefix: string) {
          const first = yield* score(sample, "rosa.delgado@harbor.example", HARBOR, read(`${prefix}harbor`))
          const second = yield* score(sales, "admin@atlas.example", WORKBENCH, read(`${prefix}workbench`))
          const [right, wrong] = [first.right + second.right, first.false + second.false]
          const all = [first, second].flatMap((tally) => Object.values(tally)).reduce((sum, one) => sum + one, 0)
          console.log(`${right} of ${all} right, ${wrong} false`)
          return { all, right, wrong }
        })
        const known = yield* asked("")
        const probe = yield* asked("probe-")
        const traps = yield* asked("traps-")
        const named = read("named")
        const each = yield* score(sample, "rosa.delgado@harbor.example", HARBOR, named)
        expect(each).toEqual({ right: named.length, declined: 0, false: 0 })
        expect(known.all).toBeGreaterThanOrEqual(200)
        expect([known.wrong, probe.wrong, traps.wrong]).toEqual([0, 0, 0])
        expect(known.right / known.all).toBeGreaterThanOrEqual(0.75)
        expect(probe.right / probe.all).toBeGreaterThanOrEqual(0.5)
        expect(traps.right).toBeGreaterThanOrEqual(28)
      })
  )
})
