/** Asks questions from an office, judges the replies by the truths of SQL, and prints what isn't right. */
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { converse } from "../../support/basic.ts"
import { fixture } from "../../support/fixtures.ts"
import { type Judged, judge, type Question, questionsOf } from "./officeJudge.ts"
import { duringOneTruth, truthOf } from "./officeSetting.ts"

/** Asks every question, and prints what isn't right. */
export const score = Effect.fnUntraced(function* (
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
    if (judged !== "right" || process.env["MAX_SHOW_REPLIES"] !== undefined)
      console.log(
        `${judged.toUpperCase()}: ${turns.join(" => ")}\n  ${kind} ${truth.slice(0, 8).join(", ")}\n  ${reply}`
      )
  }
  return tally
})

export const read = (name: string) => questionsOf(readFileSync(fixture("office", `${name}.txt`), "utf8"))
