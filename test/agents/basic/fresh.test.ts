/** Questions that were written before the rules they try: in people's own wording, a fifth of them nonsense or impossible. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { BasicAgent } from "../../support/basic.ts"
import { someOf } from "../../support/long.ts"
import { read, score } from "./officeScore.ts"
import { chinook, HARBOR, harbor, JANE, LENA, SAM, TEAM, team } from "./officeSetting.ts"

const BOTH = ["harbor", "chinook"] as const
const NONE = [] as const
/** The sets, the share of them that is right at least, and the databases that they ask besides the team's. */
const SETS: ReadonlyArray<readonly [name: string, floor: number, besides: ReadonlyArray<"harbor" | "chinook">]> = [
  ["fresh", 0.9, BOTH],
  ["second", 0.85, BOTH],
  ["third", 0.8, BOTH],
  ["fourth", 0.85, BOTH],
  ["fifth", 0.95, BOTH],
  ["sixth", 0.95, BOTH],
  ["seventh", 0.88, BOTH],
  ["eighth", 0.9, NONE],
  ["ninth", 0.8, BOTH],
  ["tenth", 0.6, BOTH],
  ["eleventh", 0.5, NONE],
  ["twelfth", 0.85, NONE],
  ["thirteenth", 0.6, NONE],
  ["fourteenth", 0.8, NONE],
  ["fifteenth", 0.8, NONE],
  ["sixteenth", 0.85, NONE],
  ["seventeenth", 0.85, NONE],
  ["eighteenth", 0.9, NONE],
  ["nineteenth", 0.8, NONE],
  ["twentieth", 0.9, NONE],
  ["twentyfirst", 0.9, NONE],
  ["twentysecond", 0.75, NONE],
  ["twentythird", 0.9, NONE],
  ["twentyfourth", 0.9, NONE],
  ["twentyfifth", 0.9, NONE],
  ["twentysixth", 0.9, NONE],
  ["twentyseventh", 0.9, NONE],
  ["twentyeighth", 0.5, NONE],
  ["twentyninth", 0.85, BOTH],
  ["leftout", 0.5, NONE],
  ["dropped", 0.85, NONE],
  ["thirtieth", 0.9, BOTH],
  ["thirtyfirst", 0.85, BOTH],
  ["thirtysecond", 0.7, BOTH],
  ["thirtythird", 0.5, ["chinook"]],
  ["thirtyfourth", 0.5, BOTH],
  ["thirtysixth", 0.8, BOTH],
  ["thirtyfifth", 0.3, ["chinook"]],
  ["thirtyseventh", 0.9, BOTH],
  ["thirtyeighth", 0.8, BOTH],
  ["thirtyninth", 0.8, BOTH],
  ["attacked", 0.5, BOTH],
  ["fortieth", 0.8, BOTH],
  ["fortyfirst", 0.8, BOTH],
  ["fortysecond", 0.75, BOTH],
  ["attackedagain", 0.9, BOTH],
  ["fortythird", 0.75, BOTH],
  ["fortyfourth", 0.65, BOTH],
  ["followed", 0.95, BOTH],
  ["fortyfifth", 0.85, BOTH],
  ["fortysixth", 0.8, BOTH],
  ["fortyseventh", 0.7, BOTH],
  ["fortyeighth", 0.7, BOTH],
  ["fortyninth", 0.65, BOTH],
  ["fiftieth", 0.7, BOTH],
  ["fiftyfirst", 0.85, BOTH],
  ["fiftysecond", 0.7, BOTH],
  ["fiftythird", 0.65, BOTH]
]

layer(BasicAgent, { excludeTestServices: true })("questions in people's own wording", (it) => {
  it.effect("are answered rightly or declined, and never falsely", () =>
    Effect.gen(function* () {
      const [sales, sample, shop] = [yield* team, yield* harbor, yield* chinook]
      const asked = Effect.fnUntraced(function* ([name, floor, besides]: (typeof SETS)[number]) {
        const tallies = [
          yield* score(sales, LENA, TEAM, read(`${name}-crm`)),
          yield* score(sales, SAM, TEAM, read(`${name}-calendar`))
        ]
        if (besides.includes("harbor"))
          tallies.push(yield* score(sample, "rosa.delgado@harbor.example", HARBOR, read(`${name}-harbor`)))
        if (besides.includes("chinook")) tallies.push(yield* score(shop, JANE, "", read(`${name}-chinook`)))
        const sum = (judged: "right" | "declined" | "false") => tallies.reduce((all, tally) => all + tally[judged], 0)
        const all = sum("right") + sum("declined") + sum("false")
        console.log(`${name}: ${sum("right")} of ${all} right, ${sum("declined")} declined, ${sum("false")} false`)
        expect([name, sum("false")]).toEqual([name, 0])
        expect([name, sum("right") / all >= floor]).toEqual([name, true])
      })
      for (const set of someOf(SETS)) yield* asked(set)
    })
  )
})
