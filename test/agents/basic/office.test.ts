/** Questions from an office with true answers by SQL: a reply is right, declines, or is false; none may be false. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { expect } from "vitest"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { BasicAgent, converse } from "../../support/basic.ts"
import { fixture } from "../../support/fixtures.ts"
import { type Judged, judge, type Question, questionsOf } from "./officeJudge.ts"
import { duringOneTruth, HARBOR, harbor, truthOf, WORKBENCH, workbench } from "./officeSetting.ts"

/** Asks every question, and prints what isn't right. */
const score = Effect.fnUntraced(function* (
  organization: Organization,
  email: string,
  tables: string,
  questions: ReadonlyArray<Question>
) {
  const tally: Record<Judged, number> = { right: 0, declined: 0, false: 0 }
  for (const { kind, sql, turns } of questions) {
    const truths = kind === "none" ? Effect.succeed([]) : truthOf(tables + sql)
    const { reply, truth } = yield* duringOneTruth(truths, converse(organization, email, turns))
    const judged = judge(kind, truth, reply)
    tally[judged] += 1
    if (judged !== "right")
      console.log(
        `${judged.toUpperCase()}: ${turns.join(" => ")}\n  ${kind} ${truth.slice(0, 8).join(", ")}\n  ${reply}`
      )
  }
  return tally
})

const read = (name: string) => questionsOf(readFileSync(fixture("office", `${name}.txt`), "utf8"))

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
