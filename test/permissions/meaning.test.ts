/** The meaning of policies on rows: expectations are written by hand, answers come from the database. */
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
const ALL_PEOPLE = ["Ann", "Bob", "Cid", "Dan", "Eve", "Lena"]

/** A meaning, its rules, and the names that they show. */
const PEOPLE_MEANINGS: ReadonlyArray<readonly [string, ReadonlyArray<RuleInput>, ReadonlyArray<string>]> = [
  ["equality is exact and case-sensitive", [{ where: { status: "vip" } }], ["Ann"]],
  ["inequality excludes NULL", [{ where: { status: { ne: "vip" } } }], ["Bob", "Dan", "Eve", "Lena"]],
  ["negated equality excludes NULL", [{ where: { not: { status: "vip" } } }], ["Bob", "Dan", "Eve", "Lena"]],
  ["null matches only NULL", [{ where: { status: null } }], ["Cid"]],
  [
    "not null matches everything except NULL",
    [{ where: { status: { not: null } } }],
    ["Ann", "Bob", "Dan", "Eve", "Lena"]
  ],
  ["a list matches any of its values", [{ where: { status: ["vip", "VIP", "x"] } }], ["Ann", "Bob"]],
  [
    "a negated list excludes its values and NULL",
    [{ where: { status: { not: ["vip", "VIP"] } } }],
    ["Dan", "Eve", "Lena"]
  ],
  ["an empty list matches no row", [{ where: { status: [] } }], []],
  ["a negated empty list matches every row", [{ where: { not: { status: [] } } }], ALL_PEOPLE],
  ["$me is the principal", [{ where: { owner: "$me" } }], ["Ann", "Bob"]],
  ["the id $me matches the principal's own record", [{ where: { id: "$me" } }], ["Lena"]],
  [
    "a deny hides the rows on which it is true or unknown",
    [{}, { effect: "deny", where: { status: "vip" } }],
    ["Bob", "Dan", "Eve", "Lena"]
  ],
  [
    "a deny of null hides only NULL",
    [{}, { effect: "deny", where: { status: null } }],
    ["Ann", "Bob", "Dan", "Eve", "Lena"]
  ],
  [
    "a deny through a reference also hides rows with a missing reference",
    [{}, { effect: "deny", where: { company: { name: "Atlas" } } }],
    ["Bob", "Cid"]
  ],
  [
    "so does a deny of a negation through a reference",
    [{}, { effect: "deny", where: { company: { not: { name: "Atlas" } } } }],
    ["Ann", "Lena"]
  ],
  [
    "a relation evaluates its condition on the target row",
    [{ where: { company: { name: "Atlas" } } }],
    ["Ann", "Lena"]
  ],
  [
    "a negated relation also requires the target row",
    [{ where: { not: { company: { name: "Atlas" } } } }],
    ["Bob", "Cid"]
  ],
  ["a condition on a NULL column of the target is unknown", [{ where: { company: { status: "x" } } }], []],
  ["two relations in a row can lead back to the type", [{ where: { owner: { owner: "$me" } } }], ["Cid"]],
  [
    "an empty all is true, an empty any is false",
    [{ where: { all: [] } }, { where: { any: [] }, columns: ["phone"] }],
    ALL_PEOPLE
  ],
  ["two columns in one condition must both match", [{ where: { status: "vip", owner: "$me" } }], ["Ann"]],
  ["phone numbers are compared in their normal form", [{ where: { phone: "1-415-555-0100" } }], ["Ann", "Cid"]],
  ["inequality with an unparsable phone number is unknown", [{ where: { phone: { ne: "+14155550100" } } }], ["Dan"]],
  ["an unparsable phone number isn't NULL", [{ where: { phone: null } }], ["Eve", "Lena"]],
  [
    "a deny of a phone number also hides unparsable ones",
    [{}, { effect: "deny", where: { phone: "+14155550100" } }],
    ["Dan"]
  ],
  [
    "a deny with columns hides no row",
    [{}, { effect: "deny", columns: ["name"] }],
    ["(hidden)", "(hidden)", "(hidden)", "(hidden)", "(hidden)", "(hidden)"]
  ],
  [
    "a deny of a cell hides it where the condition is unknown",
    [{}, { effect: "deny", columns: ["name"], where: { status: "vip" } }],
    ["(hidden)", "(hidden)", "Bob", "Dan", "Eve", "Lena"]
  ]
]

/** Noon in UTC, 7 a.m. in the organization's time zone. */
const NOON = "2026-03-01T12:00:00Z"

const MEETING_MEANINGS: ReadonlyArray<readonly [string, ReadonlyArray<RuleInput>, ReadonlyArray<string>]> = [
  [
    "$me matches a many-relation that includes the principal",
    [{ type: "meetings", where: { attendees: "$me" } }],
    ["All", "Mine"]
  ],
  [
    "a many-relation matches if at least one target matches",
    [{ type: "meetings", where: { attendees: { status: "vip" } } }],
    ["All", "Theirs"]
  ],
  [
    "a negated many-relation requires that no target can match",
    [{ type: "meetings", where: { not: { attendees: { status: "vip" } } } }],
    ["Empty", "Ghosts", "Mine"]
  ],
  [
    "a deny of a many-relation hides rows with a possible match",
    [{ type: "meetings" }, { type: "meetings", effect: "deny", where: { attendees: { status: "vip" } } }],
    ["Empty", "Ghosts", "Mine"]
  ],
  [
    "a deny of a negated many-relation keeps only rows with a certain match",
    [{ type: "meetings" }, { type: "meetings", effect: "deny", where: { not: { attendees: { status: "vip" } } } }],
    ["All", "Theirs"]
  ],
  [
    "an inner negation matches if at least one target certainly doesn't match",
    [{ type: "meetings", where: { attendees: { not: { status: "vip" } } } }],
    ["All", "Mine"]
  ],
  [
    "a many-relation can continue through a reference",
    [{ type: "meetings", where: { attendees: { owner: { name: "Ann" } } } }],
    ["All", "Unknown"]
  ],
  [
    "a negated many-relation is unknown where a further reference is missing",
    [{ type: "meetings", where: { not: { attendees: { owner: { name: "Lena" } } } } }],
    ["Empty", "Ghosts", "Unknown"]
  ],
  ["lt matches earlier times", [{ type: "meetings", where: { start: { lt: NOON } } }], ["All"]],
  [
    "a negated lt matches equal and later times, but not NULL",
    [{ type: "meetings", where: { not: { start: { lt: NOON } } } }],
    ["Mine", "Theirs"]
  ],
  [
    "a time without an offset is in the organization's time zone",
    [{ type: "meetings", where: { start: { lte: "2026-03-01T07:00" } } }],
    ["All", "Mine"]
  ],
  ["a negated lte matches later times", [{ type: "meetings", where: { start: { not: { lte: NOON } } } }], ["Theirs"]],
  [
    "a deny of earlier times also hides NULL",
    [{ type: "meetings" }, { type: "meetings", effect: "deny", where: { start: { lt: NOON } } }],
    ["Mine", "Theirs"]
  ],
  [
    "gte and lt form a half-open interval",
    [{ type: "meetings", where: { start: { gte: NOON, lt: "2026-03-02T12:00:00Z" } } }],
    ["Mine"]
  ]
]

layer(TestServices, { excludeTestServices: true })("a policy", (it) => {
  it.effect("shows exactly the rows that its rules mean", () =>
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
              // A fully hidden type is an unknown name.
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
