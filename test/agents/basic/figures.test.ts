/** Sentences that ask for figures, over WorkBench and Chinook, with the answers of SQL. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { BasicAgent, converse } from "../../support/basic.ts"
import { fixture } from "../../support/fixtures.ts"
import { someOf } from "../../support/long.ts"
import { type Judged, judge, type Sentence, sentencesOf, type Truth } from "./figuresJudge.ts"
import { chinook, duringOneTruth, JANE, WORKBENCH, workbench } from "./officeSetting.ts"

const truthOf = Effect.fnUntraced(function* (sql: string) {
  const { owner } = yield* Database
  const inPublic = Effect.andThen(
    owner`SET LOCAL search_path = public, pg_catalog`,
    owner.unsafe<Truth>(sql).unprepared
  )
  return yield* owner.withTransaction(inPublic)
})

const score = Effect.fnUntraced(function* (
  organization: Organization,
  email: string,
  tables: string,
  sentences: ReadonlyArray<Sentence>
) {
  const tally: Record<Judged, number> = { right: 0, declined: 0, wrong: 0 }
  for (const sentence of sentences) {
    const truths = sentence.sql === undefined ? Effect.succeed([]) : truthOf(tables + sentence.sql)
    const { reply, truth } = yield* duringOneTruth(truths, converse(organization, email, sentence.ask))
    const judged = judge(sentence, truth, reply)
    tally[judged] += 1
    if (judged !== "right" || process.env["MAX_SHOW_REPLIES"] !== undefined)
      console.log(
        `${judged.toUpperCase()}: ${sentence.ask.join(" => ")}\n  ${sentence.is} ${truth
          .slice(0, 12)
          .map(({ answer, key }) => `${key}=${answer}`)
          .join(", ")}\n  ${reply}`
      )
  }
  return tally
})

/** With the person who asks, whom the import doesn't have. */
const SALES = WORKBENCH.replace("p AS (", "p AS (SELECT 'Admin' AS name, NULL AS status, NULL AS email, NULL AS phone, NULL AS product, NULL AS owner, NULL AS company, NULL::date AS last_contact, NULL::date AS follow_up UNION ALL ") // prettier-ignore

const read = (name: string) => sentencesOf(readFileSync(fixture("figures", `${name}.jsonl`), "utf8"))

/** Sets that were written before the rules they try. */
const FRESH = [
  "twentyfirst",
  "twentysecond",
  "twentythird",
  "twentyfourth",
  "twentyfifth",
  "twentysixth",
  "twentyseventh",
  "twentyninth",
  "thirtysecond",
  "thirtyfourth",
  "thirtysixth",
  "plain",
  "thirtyseventh",
  "fortyfirst",
  "fortysecond",
  "fortythird",
  "fortyfourth",
  "fortyfifth",
  "fortysixth",
  "fortyseventh",
  "fortyeighth"
]
/** The share of a set that is right at least. */
const FLOORS: Readonly<Record<string, number>> = {
  twentyninth: 0.7,
  thirtysecond: 0.45,
  thirtyfourth: 0.36,
  thirtysixth: 0.3,
  thirtyseventh: 0.65,
  fortyfirst: 0.8,
  fortysecond: 0.7,
  fortythird: 0.65,
  fortyfourth: 0.7,
  fortyfifth: 0.6,
  fortysixth: 0.5,
  fortyseventh: 0.5,
  fortyeighth: 0.7
}

layer(BasicAgent, { excludeTestServices: true })("figures in basic mode", (it) => {
  it.effect("are right or declined, and never wrong, also in words that the rules weren't written for", () =>
    Effect.gen(function* () {
      const [shop, sales] = [yield* chinook, yield* workbench]
      const asked = Effect.fnUntraced(function* (name: string) {
        const sentences = read(name)
        const of = (world: Sentence["of"]) => sentences.filter((sentence) => sentence.of === world)
        const tallies = [
          yield* score(shop, JANE, "", of("chinook")),
          yield* score(sales, "admin@atlas.example", SALES, of("workbench"))
        ]
        const sum = (judged: Judged) => tallies.reduce((all, tally) => all + tally[judged], 0)
        console.log(`${name}: ${sum("right")} of ${sentences.length} right, ${sum("wrong")} wrong`)
        return { right: sum("right"), wrong: sum("wrong"), all: sentences.length }
      })
      const known = yield* asked("sentences")
      const probe = yield* asked("probe")
      const traps = yield* asked("traps")
      expect(known.all).toBe(120)
      expect([known.wrong, probe.wrong, traps.wrong]).toEqual([0, 0, 0])
      expect(known.right).toBeGreaterThanOrEqual(108)
      expect(probe.right).toBeGreaterThanOrEqual(48)
      expect(traps.right).toBeGreaterThanOrEqual(26)
      for (const name of someOf(FRESH)) {
        const { all, right, wrong } = yield* asked(name)
        expect([name, wrong, right / all >= (FLOORS[name] ?? 0.9)]).toEqual([name, 0, true])
      }
    })
  )
})
