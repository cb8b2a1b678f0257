/** Requests to change something in basic mode: the sales data set's own, and others in other words. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect } from "vitest"
import { MAX_SCRIPT_STEPS } from "../../../../src/agents/loop.ts"
import { BasicAgent } from "../../../support/basic.ts"
import { helpDesk, isExpected, salesCompany, saying, type Write, taskTeam } from "../../../support/deeds.ts"
import { fixture } from "../../../support/fixtures.ts"

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
    const { reply, steps, write, writes } = yield* say(one.do)
    if (steps > MAX_SCRIPT_STEPS) score.long += 1
    const exact = isExpected(one.expect, writes ?? [])
    score[exact ? "exact" : write === undefined ? "nothing" : "wrong"] += 1
    if (!exact || steps > MAX_SCRIPT_STEPS) console.log(steps, one.do, write ?? reply)
  }
  return score
})

describe("requests to change something in basic mode", () => {
  layer(BasicAgent, { excludeTestServices: true })((it) => {
    it.effect("draft exactly what 90 requests of a sales data set ask for in at least 86 cases, and nothing else", () =>
      Effect.gen(function* () {
        const cases = ["crm", "calendar"].flatMap((name) =>
          casesOf(fixture("workbench", `${name}.changes.cases.jsonl`))
        )
        const found = yield* score(cases)
        expect(cases).toHaveLength(90)
        expect(found).toMatchObject({ wrong: 0, long: 0 })
        expect(found.exact).toBeGreaterThanOrEqual(86)
      })
    )

    it.effect("draft exactly what 60 requests in other words ask for in at least 51 cases, and nothing else", () =>
      Effect.gen(function* () {
        const cases = casesOf(join(import.meta.dirname, "paraphrases.jsonl"))
        const found = yield* score(cases)
        expect(cases).toHaveLength(60)
        expect(found).toMatchObject({ wrong: 0, long: 0 })
        expect(found.exact).toBeGreaterThanOrEqual(51)
      })
    )

    it.effect("draft exactly what requests ask for in words that the rules weren't written for, or nothing", () =>
      Effect.gen(function* () {
        const found = yield* score(casesOf(join(import.meta.dirname, "probe.jsonl")))
        console.log(found)
        expect(found).toMatchObject({ wrong: 0, long: 0 })
      })
    )

    it.effect("say which values there are for a value that no row has, even if several rows could be meant", () =>
      Effect.gen(function* () {
        const say = yield* saying(yield* salesCompany)
        for (const text of [
          "mark Cameron as Purple",
          "set Cameron's status to Purple",
          "mark Cameron Anderson as Purple"
        ]) {
          const { reply, steps, write } = yield* say(text)
          expect(write).toBeUndefined()
          expect(reply).toContain("“Purple”")
          expect(reply).toContain("There are Lead, Lost, Proposal, Qualified and Won.")
          expect(reply).not.toContain("Which one?")
          expect(steps).toBeLessThanOrEqual(MAX_SCRIPT_STEPS)
        }
        expect((yield* say("mark Cameron as Won")).reply).toContain("Which one?")
      })
    )

    it.effect(
      "say which days are meant by a weekday that can be one of two, and take it where it can be only one",
      () =>
        Effect.gen(function* () {
          const say = yield* saying(yield* taskTeam)
          for (const text of [
            "Move Rotate keys to next Friday",
            "Move all of Raj's tasks to next Friday",
            "Delay Rotate keys until next Friday",
            "Rotate keys is due next Friday",
            "Assign Review the contract to Lena, due next Friday"
          ]) {
            const { reply, write } = yield* say(text)
            expect([text, write, reply]).toEqual([
              text,
              undefined,
              "“next Friday” can be 2023-12-01 or 2023-12-08. Say the date."
            ])
          }
          expect((yield* say("Move Rotate keys to next Monday")).write?.values).toEqual({ due_date: "2023-12-04" })
        })
    )

    it.effect("keep the sign of a number, and reckon with none that is negative or too large to be exact", () =>
      Effect.gen(function* () {
        const say = yield* saying(yield* helpDesk)
        const amounts = {
          "set the amount of PO-1001 to -5": "-5",
          "raise the amount of PO-1001 by 10%": "462",
          "lower the amount of PO-1001 by 20": "400",
          "raise the amount of PO-1001 by -5%": undefined,
          "raise the amount of PO-1001 by - 5": undefined,
          "add -50 to the amount of PO-1001": undefined,
          "raise the amount of PO-1001 by 99999999999999999999999999%": undefined
        }
        for (const [text, amount] of Object.entries(amounts)) {
          const { write } = yield* say(text)
          expect([text, write?.values?.["amount"]]).toEqual([text, amount])
        }
      })
    )

    it.effect("take the words after “called” as the name, even if one of them could name a column", () =>
      Effect.gen(function* () {
        const say = yield* saying(yield* salesCompany)
        const named = {
          "Create a 1 hour event called Account Manager Onboarding on December 8 at 3:30 with nia":
            "Account Manager Onboarding",
          "Create an event named Guests and Members Gala, on December 8 at 3:30": "Guests and Members Gala",
          "Create a meeting called new client briefing on December 8 at 11 with nia": "new client briefing",
          "Create a meeting titled Kickoff owner Raj on December 8 at 11": "Kickoff"
        }
        for (const [text, name] of Object.entries(named)) {
          const { write } = yield* say(text)
          expect([text, write?.values?.["name"]]).toEqual([text, name])
        }
      })
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
        })
    )
  })
})
