/** What policies mean on rows: every expectation written by hand, every answer from the database. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import type { Page } from "../../src/domain/Page.ts"
import { CurrentPrincipal } from "../../src/domain/Principal.ts"
import { EntityQueryService } from "../../src/services/EntityQueryService.ts"
import { IdentityResolver } from "../../src/services/members/IdentityResolver.ts"
import { Organizations } from "../../src/services/organizations/Organizations.ts"
import { Policies } from "../../src/services/policies/Policies.ts"
import { TestServices } from "../support/database.ts"
import { file, type RuleInput } from "./support.ts"
import { addMember, addRows } from "./tables.ts"

const PEOPLE = [
  { id: "me", name: "Lena", status: "staff", company: "at", email: "lena@atlas.com" },
  { id: "ann", name: "Ann", status: "vip", owner: "me", company: "at", phone: "+1 415 555 0100" },
  { id: "bob", name: "Bob", status: "VIP", owner: "me", company: "bo", phone: "call me" },
  { id: "cid", name: "Cid", owner: "ann", company: "bo", phone: "(415) 555-0100" },
  { id: "dan", name: "Dan", status: "lead", phone: "+49 30 901820" },
  { id: "eve", name: "Eve", status: "lead", owner: "gone", company: "xx" }
]
const EVERYBODY = ["Ann", "Bob", "Cid", "Dan", "Eve", "Lena"]

/** Rules, and whom they show. */
const PEOPLE_MEANINGS: ReadonlyArray<readonly [string, ReadonlyArray<RuleInput>, ReadonlyArray<string>]> = [
  ["a value is compared exactly, in its own case", [{ where: { status: "vip" } }], ["Ann"]],
  ["what is not a value isn't what is NULL", [{ where: { status: { ne: "vip" } } }], ["Bob", "Dan", "Eve", "Lena"]],
  ["not, too, leaves out what is NULL", [{ where: { not: { status: "vip" } } }], ["Bob", "Dan", "Eve", "Lena"]],
  ["null is NULL, and nothing else is", [{ where: { status: null } }], ["Cid"]],
  ["not null is whatever isn't NULL", [{ where: { status: { not: null } } }], ["Ann", "Bob", "Dan", "Eve", "Lena"]],
  ["a list is any of its values", [{ where: { status: ["vip", "VIP", "x"] } }], ["Ann", "Bob"]],
  [
    "not of a list is none of its values, where there is one",
    [{ where: { status: { not: ["vip", "VIP"] } } }],
    ["Dan", "Eve", "Lena"]
  ],
  ["an empty list is nobody", [{ where: { status: [] } }], []],
  ["not of an empty list is everybody", [{ where: { not: { status: [] } } }], EVERYBODY],
  ["$me is who asks", [{ where: { owner: "$me" } }], ["Ann", "Bob"]],
  ["the own record by id", [{ where: { id: "$me" } }], ["Lena"]],
  [
    "a deny hides what it is true of, and what it is unknown of",
    [{}, { effect: "deny", where: { status: "vip" } }],
    ["Bob", "Dan", "Eve", "Lena"]
  ],
  [
    "a deny of null hides only what is NULL",
    [{}, { effect: "deny", where: { status: null } }],
    ["Ann", "Bob", "Dan", "Eve", "Lena"]
  ],
  [
    "a deny across a reference hides those whose reference is missing, too",
    [{}, { effect: "deny", where: { company: { name: "Atlas" } } }],
    ["Bob", "Cid"]
  ],
  [
    "a deny of not across a reference as well",
    [{}, { effect: "deny", where: { company: { not: { name: "Atlas" } } } }],
    ["Ann", "Lena"]
  ],
  ["a relation is about the other row", [{ where: { company: { name: "Atlas" } } }], ["Ann", "Lena"]],
  ["not of a relation needs the other row, too", [{ where: { not: { company: { name: "Atlas" } } } }], ["Bob", "Cid"]],
  [
    "a relation to what has no status is unknown, whatever is asked of the status",
    [{ where: { company: { status: "x" } } }],
    []
  ],
  ["two steps, and back", [{ where: { owner: { owner: "$me" } } }], ["Cid"]],
  [
    "all of nothing is true, any of nothing isn't",
    [{ where: { all: [] } }, { where: { any: [] }, columns: ["phone"] }],
    EVERYBODY
  ],
  ["two names in one condition are both asked", [{ where: { status: "vip", owner: "$me" } }], ["Ann"]],
  ["phones are compared in their normal form", [{ where: { phone: "1-415-555-0100" } }], ["Ann", "Cid"]],
  ["a phone without one isn't another phone: that is unknown", [{ where: { phone: { ne: "+14155550100" } } }], ["Dan"]],
  ["and isn't NULL either", [{ where: { phone: null } }], ["Eve", "Lena"]],
  [
    "a deny of a phone hides those whose phone can't be read",
    [{}, { effect: "deny", where: { phone: "+14155550100" } }],
    ["Dan"]
  ],
  [
    "a deny with columns hides nobody",
    [{}, { effect: "deny", columns: ["name"] }],
    ["(hidden)", "(hidden)", "(hidden)", "(hidden)", "(hidden)", "(hidden)"]
  ],
  [
    "a deny of a cell where it is unknown hides the cell",
    [{}, { effect: "deny", columns: ["name"], where: { status: "vip" } }],
    ["(hidden)", "(hidden)", "Bob", "Dan", "Eve", "Lena"]
  ]
]

/** Noon in Greenwich, seven in the morning for the organization. */
const NOON = "2026-03-01T12:00:00Z"

const MEETING_MEANINGS: ReadonlyArray<readonly [string, ReadonlyArray<RuleInput>, ReadonlyArray<string>]> = [
  ["a person is among many", [{ type: "meetings", where: { attendees: "$me" } }], ["All", "Mine"]],
  ["some of many is as said", [{ type: "meetings", where: { attendees: { status: "vip" } } }], ["All", "Theirs"]],
  [
    "not of many is nobody of them, and where one might be it is unknown",
    [{ type: "meetings", where: { not: { attendees: { status: "vip" } } } }],
    ["Empty", "Ghosts", "Mine"]
  ],
  [
    "a deny of many hides where one is, and where one might be",
    [{ type: "meetings" }, { type: "meetings", effect: "deny", where: { attendees: { status: "vip" } } }],
    ["Empty", "Ghosts", "Mine"]
  ],
  [
    "a deny of not-many keeps only where one surely is",
    [{ type: "meetings" }, { type: "meetings", effect: "deny", where: { not: { attendees: { status: "vip" } } } }],
    ["All", "Theirs"]
  ],
  [
    "some of many isn't as said",
    [{ type: "meetings", where: { attendees: { not: { status: "vip" } } } }],
    ["All", "Mine"]
  ],
  [
    "some of many, across a further reference",
    [{ type: "meetings", where: { attendees: { owner: { name: "Ann" } } } }],
    ["All", "Unknown"]
  ],
  [
    "nobody of many, across a further reference, is unknown where that is missing",
    [{ type: "meetings", where: { not: { attendees: { owner: { name: "Lena" } } } } }],
    ["Empty", "Ghosts", "Unknown"]
  ],
  ["before a time", [{ type: "meetings", where: { start: { lt: NOON } } }], ["All"]],
  [
    "what isn't before a time is at it or after it, and not what has none",
    [{ type: "meetings", where: { not: { start: { lt: NOON } } } }],
    ["Mine", "Theirs"]
  ],
  [
    "until a time, in the organization's own",
    [{ type: "meetings", where: { start: { lte: "2026-03-01T07:00" } } }],
    ["All", "Mine"]
  ],
  ["what isn't until a time is after it", [{ type: "meetings", where: { start: { not: { lte: NOON } } } }], ["Theirs"]],
  [
    "a deny of what is before a time hides what has none",
    [{ type: "meetings" }, { type: "meetings", effect: "deny", where: { start: { lt: NOON } } }],
    ["Mine", "Theirs"]
  ],
  [
    "between two times, of which the second doesn't count",
    [{ type: "meetings", where: { start: { gte: NOON, lt: "2026-03-02T12:00:00Z" } } }],
    ["Mine"]
  ]
]

layer(TestServices, { excludeTestServices: true })("a policy shows", (it) => {
  it.effect("the rows that its rules mean", () =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const policies = yield* Policies
      const identities = yield* IdentityResolver
      const queries = yield* EntityQueryService
      const organization = yield* organizations.create({ slug: "atlas", country: "US", timeZone: "America/New_York" })
      yield* addRows(organization, "people", PEOPLE)
      yield* addRows(organization, "companies", [
        { id: "at", name: "Atlas" },
        { id: "bo", name: "Borealis" }
      ])
      yield* addRows(organization, "meetings", [
        { id: "all", name: "All", start: "2026-03-01T11:59:59.999Z", attendees: ["me", "ann", "cid"] },
        { id: "mine", name: "Mine", start: NOON, attendees: ["me"] },
        { id: "theirs", name: "Theirs", start: "2026-03-02T12:00:00Z", attendees: ["ann"] },
        { id: "empty", name: "Empty" },
        { id: "unknown", name: "Unknown", attendees: ["cid"] },
        { id: "ghosts", name: "Ghosts", attendees: ["gone"] }
      ])
      yield* addMember(organization, "lena@atlas.com", "me", ["member"])
      const found: Array<readonly [string, ReadonlyArray<string>]> = []
      for (const [type, table] of [
        ["people", PEOPLE_MEANINGS],
        ["meetings", MEETING_MEANINGS]
      ] as const) {
        for (const [meaning, rules] of table) {
          yield* policies.publish(organization, file(rules), "test")
          const { principal } = yield* identities.admit(organization, { kind: "email", key: "lena@atlas.com" })
          const page = yield* queries
            .findEntities({ organizationId: organization.id, entityTypeId: type, filters: [], limit: 25 })
            .pipe(
              Effect.provideService(CurrentPrincipal, principal),
              // A type of which nothing can be seen has no name.
              Effect.catchTag("UnknownName", () => Effect.succeed({ total: 0, entities: [] } satisfies Page))
            )
          expect(page.total).toBe(page.entities.length)
          found.push([meaning, page.entities.map((entity) => entity.displayName ?? "(hidden)").sort()])
        }
      }
      expect(found).toEqual([...PEOPLE_MEANINGS, ...MEETING_MEANINGS].map(([meaning, , shown]) => [meaning, shown]))
    })
  )
})
