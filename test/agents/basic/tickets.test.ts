/** Texts of tickets and e-mails in basic mode: the plan that each one asks for, or none. */
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { missingOf, readPlan } from "../../../src/agents/basic/declared/readAsked.ts"
import { ownWords } from "../../../src/channels/intake/ownWords.ts"
import { readActions } from "../../../src/services/actions/readActions.ts"
import { systemCatalog } from "../../support/catalog.ts"
import { TICKETS } from "./tickets.ts"

const text = readFileSync(new URL("../../../examples/purchase-orders/actions.json", import.meta.url), "utf8")
const reading = readActions(text, { catalog: systemCatalog, hosts: ["127.0.0.1:4480"] })
if ("problems" in reading) throw new Error(JSON.stringify(reading.problems))
const { actions } = reading

/** What basic mode makes of a message, as intake hands it in: steps, or nothing where it declines or asks for what is missing. */
const planOf = (message: string) => {
  const plan = readPlan(ownWords(message), actions)
  return plan === undefined || plan.asked.some((each) => missingOf(each) !== undefined)
    ? "declined"
    : plan.asked.map(({ action, values }) => [action.slug, values])
}
const isEqual = (a: unknown, b: unknown) => {
  try {
    expect(a).toEqual(b)
    return true
  } catch {
    return false
  }
}
const results = TICKETS.map(({ plan, text: said }) => ({ said, plan, got: planOf(said) }))

it("plans what at least four of five of sixty tickets ask for, and nothing else", () => {
  expect(TICKETS).toHaveLength(60)
  const wrong = results.filter(({ got, plan }) => !isEqual(got, plan))
  const shown = wrong.map(({ got, plan, said }) => ({ said, plan: JSON.stringify(plan), got: JSON.stringify(got) }))
  expect(shown.filter(({ got }) => got !== '"declined"')).toEqual([])
  expect(shown.length, JSON.stringify(shown, undefined, 1)).toBeLessThanOrEqual(9)
})
