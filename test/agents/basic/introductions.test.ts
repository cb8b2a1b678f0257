import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { ask, BasicAgent, load, openTo } from "../../support/basic.ts"
import { AIRLINE, PASSENGERS } from "./airline.ts"
import { ABROAD, type Introduction, SHOP } from "./introductions.ts"
import { CLIENTS, CUSTOMERS } from "./retail.ts"

/** Counts the cases that pass, and prints each failure with the reply. */
const score = Effect.fnUntraced(function* (organization: Organization, cases: ReadonlyArray<Introduction>) {
  let passed = 0
  for (const [text, ...expected] of cases) {
    const answer = yield* ask(organization, text)
    if (JSON.stringify([...answer.about].sort()) === JSON.stringify([...expected].sort())) passed += 1
    else
      console.log(
        `${text}\n  expected ${expected.join(", ") || "no match"}, found ${answer.about.join(", ") || "no match"}: ${answer.text}`
      )
  }
  console.log(`${passed} of ${cases.length}`)
  return passed
})

const CASES = [
  ["are found among a shop's customers by all stated facts", "people", CUSTOMERS, SHOP],
  ["are found in a custom type with other words for town and postcode", "clients", CLIENTS, ABROAD],
  ["are found among an airline's passengers", "people", PASSENGERS, AIRLINE]
] as const

layer(BasicAgent, { excludeTestServices: true })("people introduced in free text", (it) => {
  it.effect.each(CASES)("%s", ([, type, rows, introductions]) =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization(`free-text-${Math.random().toString(36).slice(2)}`)
      yield* load(organization, type, rows)
      yield* openTo(organization, "people", "companies", "meetings", ...(type === "clients" ? [type] : []))
      expect(yield* score(organization, introductions)).toBe(introductions.length)
    })
  )
})
