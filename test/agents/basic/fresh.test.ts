/** Questions that were written before the rules they try: in people's own wording, a fifth of them nonsense or impossible. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { BasicAgent } from "../../support/basic.ts"
import { someOf } from "../../support/long.ts"
import { read, score } from "./officeScore.ts"
import { chinook, HARBOR, harbor, JANE, LENA, SAM, TEAM, team } from "./officeSetting.ts"

/** The sets, the share of them that is right at least, and whether they ask all four databases. */
const SETS = [
  ["fresh", 0.9, true],
  ["second", 0.85, true],
  ["third", 0.8, true],
  ["fourth", 0.85, true],
  ["fifth", 0.95, true],
  ["sixth", 0.95, true],
  ["seventh", 0.88, true],
  ["eighth", 0.9, false],
  ["ninth", 0.8, true],
  ["tenth", 0.6, true],
  ["eleventh", 0.5, false],
  ["twelfth", 0.85, false],
  ["thirteenth", 0.6, false],
  ["fourteenth", 0.8, false],
  ["fifteenth", 0.8, false],
  ["sixteenth", 0.85, false],
  ["seventeenth", 0.85, false],
  ["eighteenth", 0.9, false],
  ["nineteenth", 0.8, false],
  ["twentieth", 0.9, false],
  ["twentyfirst", 0.9, false],
  ["twentysecond", 0.75, false],
  ["twentythird", 0.9, false],
  ["twentyfourth", 0.9, false],
  ["twentyfifth", 0.9, false],
  ["twentysixth", 0.9, false],
  ["twentyseventh", 0.9, false],
  ["twentyeighth", 0.5, false],
  ["twentyninth", 0.85, true],
  ["leftout", 0.5, false],
  ["dropped", 0.85, false],
  ["thirtieth", 0.9, true],
  ["thirtyfirst", 0.85, true]
] as const

layer(BasicAgent, { excludeTestServices: true })("questions in people's own wording", (it) => {
  it.effect("are answered rightly or declined, and never falsely", () =>
    Effect.gen(function* () {
      const [sales, sample, shop] = [yield* team, yield* harbor, yield* chinook]
      const asked = Effect.fnUntraced(function* (name: string, floor: number, isWhole: boolean) {
        const tallies = [
          yield* score(sales, LENA, TEAM, read(`${name}-crm`)),
          yield* score(sales, SAM, TEAM, read(`${name}-calendar`))
        ]
        if (isWhole)
          tallies.push(
            yield* score(sample, "rosa.delgado@harbor.example", HARBOR, read(`${name}-harbor`)),
            yield* score(shop, JANE, "", read(`${name}-chinook`))
          )
        const sum = (judged: "right" | "declined" | "false") => tallies.reduce((all, tally) => all + tally[judged], 0)
        const all = sum("right") + sum("declined") + sum("false")
        console.log(`${name}: ${sum("right")} of ${all} right, ${sum("declined")} declined, ${sum("false")} false`)
        expect([name, sum("false")]).toEqual([name, 0])
        expect([name, sum("right") / all >= floor]).toEqual([name, true])
      })
      for (const [name, floor, isWhole] of someOf(SETS)) yield* asked(name, floor, isWhole)
    })
  )
})
