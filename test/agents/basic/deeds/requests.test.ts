/** Requests to change something in basic mode: the sales data set's own, and others in other words. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect } from "vitest"
import { BasicAgent } from "../../../support/basic.ts"
import { isExpected, salesCompany, saying, type Write } from "../../../support/deeds.ts"
import { fixture } from "../../../support/fixtures.ts"

/** The steps that a turn may have. */
const MAX_STEPS = 6

const linesOf = (path: string) =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
const casesOf = (path: string) =>
  linesOf(path).map((line): { readonly do: string; readonly expect: ReadonlyArray<Write> } => JSON.parse(line))

const score = Effect.fnUntraced(function* (cases: ReturnType<typeof casesOf>) {
  const say = yield* saying(yield* salesCompany)
  const score = { exact: 0, nothing: 0, wrong: 0, long: 0 }
  for (const one of cases) {
    const { reply, steps, write } = yield* say(one.do)
    if (steps > MAX_STEPS) score.long += 1
    if (write === undefined) score.nothing += 1
    else score[isExpected(one.expect[0]!, write) ? "exact" : "wrong"] += 1
    if (write === undefined || !isExpected(one.expect[0]!, write)) console.log(one.do, write ?? reply)
  }
  return score
})

describe("requests to change something in basic mode", () => {
  layer(BasicAgent, { excludeTestServices: true, timeout: 60_000 })((it) => {
    it.effect(
      "draft exactly what 90 requests of a sales data set ask for in at least 86 cases, and nothing else",
      () =>
        Effect.gen(function* () {
          const cases = ["crm", "calendar"].flatMap((name) =>
            casesOf(fixture("workbench", `${name}.changes.cases.jsonl`))
          )
          const found = yield* score(cases)
          expect(cases).toHaveLength(90)
          expect(found).toMatchObject({ wrong: 0, long: 0 })
          expect(found.exact).toBeGreaterThanOrEqual(86)
        }),
      120_000
    )

    it.effect(
      "draft exactly what 60 requests in other words ask for in at least 51 cases, and nothing else",
      () =>
        Effect.gen(function* () {
          const cases = casesOf(join(import.meta.dirname, "paraphrases.jsonl"))
          const found = yield* score(cases)
          expect(cases).toHaveLength(60)
          expect(found).toMatchObject({ wrong: 0, long: 0 })
          expect(found.exact).toBeGreaterThanOrEqual(51)
        }),
      120_000
    )

    it.effect(
      "draft nothing where a condition, a second request, several rows or a misspelling can't be understood",
      () =>
        Effect.gen(function* () {
          const say = yield* saying(yield* salesCompany)
          const drafted: Array<unknown> = []
          for (const text of linesOf(join(import.meta.dirname, "declined.txt"))) {
            const { write } = yield* say(text)
            if (write !== undefined) drafted.push({ text, write })
          }
          expect(drafted).toEqual([])
        }),
      120_000
    )
  })
})
