/** Requests to change a set of rows in basic mode: of a sales company, and of a type of its own. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect } from "vitest"
import { MAX_SCRIPT_STEPS } from "../../../../src/agents/loop.ts"
import { BasicAgent } from "../../../support/basic.ts"
import { someOf } from "../../../support/long.ts"
import { helpDesk, isExpected, salesCompany, saying, taskTeam, type Write } from "../../../support/deeds.ts"

interface SetCase {
  readonly do: string
  /** The calls of one change; null if the request can't be understood whole. */
  readonly expect: Write | ReadonlyArray<Write> | null
}

const casesOf = (name: string): ReadonlyArray<SetCase> =>
  readFileSync(join(import.meta.dirname, name), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))

const expected = ({ action, ids, values }: Write): Write => ({
  action,
  ...(ids && { ids: [...ids].sort() }),
  ...(values && { values })
})

const score = Effect.fnUntraced(function* (
  say: Effect.Success<ReturnType<typeof saying>>,
  cases: ReadonlyArray<SetCase>
) {
  const score = { exact: 0, nothing: 0, wrong: 0, long: 0 }
  for (const one of cases) {
    const { reply, steps, write, writes = [] } = yield* say(one.do)
    if (steps > MAX_SCRIPT_STEPS) score.long += 1
    const exact = isExpected([one.expect ?? []].flat().map(expected), writes)
    score[exact ? "exact" : write === undefined ? "nothing" : "wrong"] += 1
    if (!exact || steps > MAX_SCRIPT_STEPS)
      console.log(steps, one.do, JSON.stringify(write === undefined ? reply : writes))
  }
  return score
})

/** Sets of requests of the organizations, and how many of them are drafted exactly at least. */
const UNSEEN = [
  ["freshTeam", "freshBoard", 78],
  ["secondTeam", "secondSales", 47],
  ["thirdTeam", undefined, 27],
  ["fourthTeam", "fourthSales", 42],
  ["fifthTeam", "fifthSales", 39],
  ["sixthTeam", "sixthSales", 38],
  ["seventhTeam", "seventhSales", 31],
  ["eighthTeam", "eighthSales", 64],
  ["ninthTeam", "ninthSales", 58],
  ["tenthTeam", "tenthSales", 47],
  ["eleventhTeam", undefined, 34],
  ["twelfthTeam", "twelfthSales", 127],
  ["thirteenthTeam", "thirteenthSales", 80],
  ["fourteenthTeam", undefined, 42],
  ["fifteenthTeam", undefined, 30],
  ["sixteenthTeam", "sixteenthSales", 66],
  ["seventeenthTeam", "seventeenthSales", 35],
  ["eighteenthTeam", "eighteenthSales", 99],
  ["nineteenthTeam", undefined, 55],
  ["twentiethTeam", undefined, 38],
  ["twentyfirstTeam", "severalSales", 45],
  ["twentysecondTeam", "twentysecondSales", 68],
  ["twentyfourthTeam", "twentyfourthSales", 22],
  ["twentysixthTeam", "twentysixthSales", 70],
  ["twentyeighthTeam", "twentyeighthSales", 15],
  ["twentyninthTeam", "twentyninthSales", 123],
  ["thirtiethTeam", "thirtiethSales", 156, "thirtiethDesk"],
  ["thirtyfirstTeam", "thirtyfirstSales", 107],
  ["thirtysecondTeam", "thirtysecondSales", 63],
  ["thirtythirdTeam", "thirtythirdSales", 83],
  ["thirtyfourthTeam", "thirtyfourthSales", 65],
  ["thirtysixthTeam", undefined, 25],
  ["plainTeam", undefined, 75],
  ["thirtyfifthTeam", "thirtyfifthSales", 81],
  [undefined, undefined, 49, "twentythirdDesk"],
  [undefined, undefined, 19, "twentyfifthDesk"]
] as const

const NONE = { exact: 0, nothing: 0, wrong: 0, long: 0 }

describe("requests to change a set of rows in basic mode", () => {
  layer(BasicAgent, { excludeTestServices: true })((it) => {
    it.effect(
      "draft exactly the rows and values of 61 requests about customers, meetings and tasks in at least 52 cases, and nothing else",
      () =>
        Effect.gen(function* () {
          const cases = casesOf("sets.jsonl")
          const found = yield* score(yield* saying(yield* salesCompany), cases)
          console.log(found)
          expect(cases).toHaveLength(61)
          expect(found).toMatchObject({ wrong: 0, long: 0 })
          expect(found.exact).toBeGreaterThanOrEqual(52)
        })
    )

    it.effect(
      "draft exactly what 30 requests about a type of the organization's own ask for in at least 26 cases, and nothing else",
      () =>
        Effect.gen(function* () {
          const cases = casesOf("taskSets.jsonl")
          const found = yield* score(yield* saying(yield* taskTeam), cases)
          console.log(found)
          expect(cases).toHaveLength(30)
          expect(found).toMatchObject({ wrong: 0, long: 0 })
          expect(found.exact).toBeGreaterThanOrEqual(26)
        })
    )

    it.effect("draft what requests ask for that were written before the rules, or nothing", () =>
      Effect.gen(function* () {
        const all = [
          yield* saying(yield* taskTeam),
          yield* saying(yield* salesCompany),
          yield* saying(yield* helpDesk)
        ] as const
        for (const [ofTeam, ofCompany, floor, ofDesk] of someOf(UNSEEN)) {
          const scored = yield* Effect.forEach([ofTeam, ofCompany, ofDesk], (name, at) =>
            name === undefined ? Effect.succeed(NONE) : score(all[at]!, casesOf(`${name}.jsonl`))
          )
          const sum = (what: "exact" | "wrong") => scored.reduce((all, one) => all + one[what], 0)
          const names = [ofTeam, ofCompany, ofDesk].join(" ")
          console.log(names, scored)
          expect([names, sum("wrong")]).toEqual([names, 0])
          expect([names, sum("exact")]).toEqual([names, expect.toSatisfy((exact: number) => exact >= floor)])
        }
      })
    )

    it.effect("draft exactly what other wordings of the classes ask for that rules were written for, or nothing", () =>
      Effect.gen(function* () {
        const team = yield* score(yield* saying(yield* taskTeam), casesOf("classesTeam.jsonl"))
        const company = yield* score(yield* saying(yield* salesCompany), casesOf("classesSales.jsonl"))
        expect([team, company]).toEqual([
          { ...NONE, exact: 115 },
          { ...NONE, exact: 51 }
        ])
      })
    )

    it.effect(
      "draft nothing of 270 statements, conditions, wishes of others and questions about tasks that ask for no change",
      () =>
        Effect.gen(function* () {
          const say = yield* saying(yield* taskTeam)
          const texts = ["declinedTeam.txt", "declinedFrames.txt", "declinedVoices.txt", "declinedProbes.txt"].flatMap(
            (name) =>
              readFileSync(join(import.meta.dirname, name), "utf8")
                .trim()
                .split("\n")
          )
          const drafted = yield* Effect.filter(texts, (text) =>
            Effect.map(say(text), ({ write }) => write !== undefined)
          )
          expect(texts).toHaveLength(270)
          expect(drafted).toEqual([])
        })
    )

    it.effect("draft nothing of 192 telegrams and reasons that leave open what is asked for", () =>
      Effect.gen(function* () {
        const all = { Telegrams: taskTeam, Desk: helpDesk }
        const drafted: Array<string> = []
        let texts = 0
        for (const [name, organization] of Object.entries(all)) {
          const say = yield* saying(yield* organization)
          const lines = readFileSync(join(import.meta.dirname, `declined${name}.txt`), "utf8")
            .trim()
            .split("\n")
          texts += lines.length
          for (const text of lines) if ((yield* say(text)).write !== undefined) drafted.push(text)
        }
        expect(drafted).toEqual([])
        expect(texts).toBe(192)
      })
    )

    it.effect(
      "say the set before it is drafted, and draft none of more than 25 rows, of several people of a name, or that nothing matches",
      () =>
        Effect.gen(function* () {
          const say = yield* saying(yield* salesCompany)
          const { reply } = yield* say("reassign all of Akira's leads that are interested in software to Sofia")
          expect(reply).toMatch(/^That's 3 leads: [A-Z]\w+ [A-Z]\w+, [A-Z]\w+ [A-Z]\w+ and [A-Z]\w+ [A-Z]\w+\. Here is the change/) // prettier-ignore
          const declined = {
            "move all leads to lost": "That's 42 leads, and a change has at most 25.",
            "give all of Patel's customers to Sofia": "Several people match “Patel”",
            "delete all of Akira's leads that are interested in gardening": "I know of no “gardening”",
            "cancel my meetings on Sunday": "I found no such meetings"
          }
          for (const [text, why] of Object.entries(declined)) {
            const { reply, write } = yield* say(text)
            expect([text, write, reply]).toEqual([text, undefined, expect.stringContaining(why)])
          }
        })
    )
  })
})
