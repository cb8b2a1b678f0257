/** The organization of the replays: three people, two companies and two meetings under given rules. */
import { Effect } from "effect"
import type { AttributeValue } from "../../../src/domain/Principal.ts"
import type { FindQuery } from "../../../src/domain/Query.ts"
import { createOrganization, type Process, startProcess } from "../process.ts"
import type { RuleInput } from "../support.ts"
import { addMember, addRows } from "../tables.ts"

/** Creates the organization, publishes the rules and admits Lena, a member. */
export const under = Effect.fnUntraced(function* (
  slug: string,
  rules: ReadonlyArray<RuleInput>,
  attributes: Readonly<Record<string, AttributeValue>> = {},
  existing?: Process
) {
  const process = existing ?? (yield* startProcess())
  const organization = yield* createOrganization(process, slug)
  yield* process.run(
    addRows(organization, "people", [
      { id: "lena", name: "Lena", owner: "lena", phone: "+14155550100" },
      { id: "ann", name: "Ann", status: "vip", company: "secret", phone: "+14155550101" },
      { id: "bob", name: "Bob", company: "open", owner: "ann", phone: "+14155550102" }
    ])
  )
  yield* process.run(
    addRows(organization, "companies", [
      { id: "secret", name: "Secret Inc", status: "closed" },
      { id: "open", name: "Open Inc", status: "open" }
    ])
  )
  yield* process.run(
    addRows(organization, "meetings", [
      { id: "early", name: "Early", start: "2026-03-01T10:00:00Z", status: "private", attendees: ["ann", "bob"] },
      { id: "late", name: "Late", start: "2026-03-02T10:00:00Z", status: "public", attendees: ["bob"] }
    ])
  )
  yield* process.run(addMember(organization, "lena@atlas.com", "lena", ["member"], attributes))
  yield* process.publish(organization, rules)
  const lena = yield* process.admit(organization, "lena@atlas.com")
  return { process, organization, lena, find: (query: Partial<FindQuery> = {}) => process.find(lena, query) }
})

export const filter = (columnId: string, op: "eq" | "ilike" | "gte" | "lt", value: string) => ({
  filters: [{ columnId, op, value }]
})
