/** Tests in a policy about changes: what they expect, what a failure says, and that they change nothing. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { PolicyReview } from "../../../src/services/policies/PolicyReview.ts"
import { createOrganization, type Process, startProcess, Url } from "../../permissions/process.ts"
import { file, type RuleInput } from "../../permissions/support.ts"
import { addCompaniesAndMeetings, addMember, addRows } from "../../permissions/tables.ts"

const RULES: ReadonlyArray<RuleInput> = [
  { id: "see", columns: ["name", "status", "owner", "phone"], where: { not: { status: "hidden" } } },
  { id: "see-companies", type: "companies", columns: ["name"], where: { name: { not: "Zeta" } } },
  { id: "boss", role: "manager" },
  { id: "own", action: "update", columns: ["status", "phone"], where: { owner: "$me", status: { not: "won" } } },
  {
    id: "hand",
    action: "update",
    columns: ["owner"],
    where: { owner: "$me" },
    becomes: { owner: { status: "staff" } }
  },
  { id: "add", action: "create", columns: ["name", "owner"], where: { owner: "$me" } },
  { id: "drop", role: "manager", action: "delete", where: { status: "lead" } }
]

/** Lena, Otto, and rows of different owners and status; external ids are the names in lower case. */
const populated = Effect.fnUntraced(function* (run: Process["run"], slug: string) {
  const organization = yield* createOrganization({ run }, slug)
  yield* run(
    addRows(organization, "people", [
      { id: "lena", name: "Lena", status: "staff", email: "lena@atlas.com" },
      { id: "otto", name: "Otto", status: "staff", email: "otto@atlas.com" },
      { id: "vera", name: "Vera", status: "lead", owner: "lena", company: "at" },
      { id: "won", name: "Won", status: "won", owner: "lena" },
      { id: "wide", name: "Wide", status: "lead", owner: "otto" },
      { id: "dark", name: "Dark", status: "hidden", owner: "lena" }
    ])
  )
  yield* run(addCompaniesAndMeetings(organization))
  yield* run(
    Effect.flatMap(
      Database,
      ({ owner }) => owner`UPDATE data.people SET external_id = lower(name) WHERE organization_id = ${organization.id}`
    )
  )
  yield* run(addMember(organization, "lena@atlas.com", "lena", ["member"]))
  yield* run(addMember(organization, "otto@atlas.com", "otto", ["manager"]))
  return organization
})

layer(Url.layer, { excludeTestServices: true })("tests of changes in a policy", (it) => {
  it.effect("say which changes are allowed and refused, and why", () =>
    Effect.gen(function* () {
      const { run } = yield* startProcess()
      const organization = yield* populated(run, "changetests")
      const { owner } = yield* run(Effect.map(Database, (database) => database))
      const rows = owner.unsafe<{ text: string }>(
        `SELECT p::text AS text FROM data.people p WHERE organization_id = $1 ORDER BY id`,
        [organization.id]
      )
      const before = yield* rows
      const check = (tests: ReadonlyArray<object>) =>
        Effect.map(
          run(Effect.flatMap(Policies, (policies) => policies.check(organization, file(RULES, { tests })))),
          ({ tests: outcomes }) =>
            outcomes.flatMap(({ failures, title }) => failures.map((text) => `${title}: ${text}`))
        )
      const lena = { as: "lena@atlas.com" }
      const otto = { as: "otto@atlas.com" }
      expect(
        yield* check([
          { ...lena, update: "people", values: { status: "lost" }, allows: ["vera"], refuses: ["won", "wide", "dark"] },
          { ...lena, update: "people", values: { status: "won" }, refuses: ["vera"] },
          { ...lena, update: "people", values: { phone: "(415) 555-0100", status: null }, refuses: ["vera"] },
          { ...lena, update: "people", values: { owner: "otto" }, allows: ["vera", "won"] },
          { ...lena, update: "people", values: { owner: "won" }, refuses: ["vera"] },
          { ...lena, update: "people", values: { owner: null }, refuses: ["vera"] },
          { ...lena, create: "people", values: { name: "New", owner: "$me" }, allowed: true },
          { ...lena, create: "people", values: { name: "New", owner: "otto" }, allowed: false },
          { ...lena, create: "people", values: { name: "New", owner: "$me", phone: "1" }, allowed: false },
          { ...lena, delete: "people", refuses: ["vera"] },
          { ...otto, delete: "people", allows: ["vera", "wide"], refuses: ["won"] },
          { ...otto, roles: [], update: "people", values: { status: "x" }, refuses: ["vera"] }
        ])
      ).toEqual([])
      expect(
        yield* check([
          {
            ...lena,
            update: "people",
            values: { status: "lost" },
            allows: ["won", "dark", "missing"],
            refuses: ["vera"]
          },
          { ...lena, update: "people", values: { status: "won" }, allows: ["vera"] },
          { ...lena, update: "people", values: { company: "zz" }, allows: ["vera"] },
          { ...lena, delete: "people", allows: ["vera"] },
          { ...otto, delete: "people", allows: ["won"] },
          { ...lena, create: "people", values: { name: "New", owner: "$me" }, allowed: false },
          { ...lena, update: "people", values: { owner: "missing" }, allows: ["vera"] },
          { ...lena, create: "people", values: { name: null }, allowed: true }
        ])
      ).toEqual([
        "lena@atlas.com updates people: expected won (Won) to be allowed; found it refused: no rule allows status to change on this row",
        "lena@atlas.com updates people: expected dark (Dark) to be allowed; found it refused: the row is hidden",
        `lena@atlas.com updates people: expected "missing" (no such row) to be allowed; found it refused: the row is hidden`,
        "lena@atlas.com updates people: expected vera (Vera) to be refused; found it allowed",
        "lena@atlas.com updates people: expected vera (Vera) to be allowed; found it refused: no rule allows this value of status",
        `lena@atlas.com updates people: company: there is no row "zz" of companies`,
        "lena@atlas.com deletes people: expected vera (Vera) to be allowed; found it refused: no rule in force lets them delete people",
        "otto@atlas.com deletes people: expected won (Won) to be allowed; found it refused: no rule allows it on this row",
        "lena@atlas.com creates people: expected the new row to be refused; found it allowed",
        `lena@atlas.com updates people: owner: there is no row "missing" of people`,
        "lena@atlas.com creates people: name: empty, but every record needs a name"
      ])
      expect(yield* rows).toEqual(before)
    })
  )

  it.effect("simulates the rows that a person could change, column by column, and says to what", () =>
    Effect.gen(function* () {
      const { run } = yield* startProcess()
      const organization = yield* populated(run, "changesimulation")
      const publish = (rules: ReadonlyArray<RuleInput>) =>
        run(Effect.flatMap(Policies, (policies) => policies.publish(organization, file(rules), "test")))
      const simulate = (as: string, rules: ReadonlyArray<RuleInput>) =>
        Effect.map(
          run(
            Effect.flatMap(PolicyReview, (review) =>
              review.simulate(organization, { as, type: "people", file: file(rules) })
            )
          ),
          ({ changes }) => changes
        )
      const reading = RULES.slice(0, 3)
      yield* publish(reading)
      expect(yield* simulate("lena@atlas.com", reading)).toBe(undefined)
      // Dark is Lena's, and hidden from her; the e-mail address of no row is shown to her.
      const wide = [...RULES, { id: "mail", action: "update", columns: ["email"] }]
      expect(yield* simulate("lena@atlas.com", wide)).toEqual({
        rows: [
          { action: "update", column: "status", before: 0, after: 1 },
          { action: "update", column: "owner", before: 0, after: 2 },
          { action: "update", column: "phone", before: 0, after: 1 }
        ],
        rules: [
          "may create people with name and owner where owner is Lena",
          `may update status and phone of people where owner is Lena and status isn't "won", before and afterwards`,
          `may update owner of people where owner is Lena, if afterwards owner's status is "staff"`,
          "may update email of all people"
        ]
      })
      yield* publish(RULES)
      const none = RULES.filter(({ id }) => id !== "own" && id !== "drop")
      const changes = yield* simulate("otto@atlas.com", none)
      expect(changes?.rows).toEqual([
        { action: "update", column: "status", before: 1, after: 0 },
        { action: "update", column: "owner", before: 1, after: 1 },
        { action: "update", column: "phone", before: 1, after: 0 },
        { action: "delete", before: 2, after: 0 }
      ])
    })
  )
})
