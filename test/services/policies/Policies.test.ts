/** Checking, publishing and editing policy files, with failures and races between the steps. */
import { layer } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { type OperatorError, Unavailable } from "../../../src/domain/errors.ts"
import { grantAccess, revokeAccess } from "../../../src/permissions/editPolicy.ts"
import { Policy } from "../../../src/permissions/Policy.ts"
import { readPolicy } from "../../../src/permissions/readPolicy.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { PolicyReview } from "../../../src/services/policies/PolicyReview.ts"
import { createOrganization, names, type Process, startProcess, answerText, Url } from "../../permissions/process.ts"
import { file, type RuleInput } from "../../permissions/support.ts"
import { addCompaniesAndMeetings, addMember, addRows, type Row } from "../../permissions/tables.ts"

const PEOPLE: ReadonlyArray<Row> = [
  { id: "lena", name: "Lena", status: "staff", email: "lena@atlas.com", phone: "+14155550100" },
  { id: "otto", name: "Otto", status: "staff", email: "otto@atlas.com" },
  { id: "vera", name: "Vera", status: "vip", owner: "lena", company: "at", phone: "+14155550101" },
  { id: "nils", name: "Nils", owner: "lena", company: "zz" },
  { id: "wide", name: "Wide", status: "lead", owner: "otto", company: "at" }
]

/** People, two companies and two meetings; external ids are the names in lower case. Lena and Otto are members. */
const makeOrganization = Effect.fnUntraced(function* ({ run }: Process, slug: string) {
  const organization = yield* createOrganization({ run }, slug)
  yield* run(addRows(organization, "people", PEOPLE))
  yield* run(addCompaniesAndMeetings(organization))
  yield* run(
    Effect.flatMap(Database, ({ owner }) =>
      Effect.forEach(["people", "companies", "meetings"], (table) =>
        owner.unsafe(`UPDATE data.${table} SET external_id = lower(name) WHERE organization_id = $1`, [organization.id])
      )
    )
  )
  yield* run(addMember(organization, "lena@atlas.com", "lena", ["member"], { region: "west" }))
  yield* run(addMember(organization, "otto@atlas.com", "otto", ["manager"]))
  return organization
})

const using = ({ run }: Process) => ({
  publish: (organization: Organization, text: string, options?: { readonly replacing?: number }) =>
    Effect.result(run(Effect.flatMap(Policies, (policies) => policies.publish(organization, text, "test", options)))),
  check: (organization: Organization, text: string) =>
    run(Effect.flatMap(Policies, (policies) => policies.check(organization, text))),
  review: <A, E>(ask: (review: PolicyReview["Service"]) => Effect.Effect<A, E>) =>
    run(Effect.flatMap(PolicyReview, ask) as Effect.Effect<A, E, never>),
  inForce: (organization: Organization) =>
    Effect.map(run(Effect.flatMap(Policies, (policies) => policies.current(organization))), ({ version }) => version)
})

const faultOf = (result: Result.Result<unknown, { readonly message: string }>): OperatorError => {
  if (Result.isSuccess(result)) throw new Error("It was published")
  return result.failure as OperatorError
}

const RULES: ReadonlyArray<RuleInput> = [
  { id: "own", columns: ["name", "phone", "status", "owner", "company"], where: { owner: "$me" } },
  { id: "staff", columns: ["name", "email"], where: { status: "staff" } },
  { id: "atlas", columns: ["name", "status"], where: { company: { name: "Atlas" } } },
  { id: "no-vip-phone", effect: "deny", columns: ["phone"], where: { status: "vip" } },
  { id: "companies", type: "companies", columns: ["name"] },
  { id: "meetings", type: "meetings", where: { attendees: "$me" } },
  { id: "boss", role: "manager" },
  { id: "later", columns: "*", notBefore: "2999-01-01" }
]
const TESTS = [
  { as: "lena@atlas.com", read: "people", expect: ["lena", "otto", "vera", "nils", "wide"] },
  {
    as: "lena@atlas.com",
    read: "people",
    includes: ["vera"],
    excludes: ["x"],
    shows: ["name", "status"],
    hides: ["phone", "email"]
  },
  { as: "lena@atlas.com", read: "meetings", expect: ["standup"], hides: [] },
  { as: "lena@atlas.com", roles: [], read: "people", denied: true },
  { as: "wide@atlas.com", roles: ["manager"], read: "people", denied: false },
  { as: "otto@atlas.com", read: "people", shows: ["phone"] },
  { as: "lena@atlas.com", read: "companies", hides: ["phone"] }
]

layer(Url.layer, { excludeTestServices: true })("policies", (it) => {
  it.effect("are published only if their tests pass, with expected and actual results for each failure", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const organization = yield* makeOrganization(one, "tests")
      const { inForce, publish } = using(one)
      const good = TESTS.filter(({ as }) => as !== "wide@atlas.com")
      expect(Result.isSuccess(yield* publish(organization, file(RULES, { tests: good })))).toBe(true)
      expect(yield* inForce(organization)).toBe(2)
      const bad = [
        { as: "lena@atlas.com", read: "people", expect: ["lena", "otto", "unknown"] },
        { as: "lena@atlas.com", read: "people", includes: ["vera"], shows: ["phone"] },
        { as: "lena@atlas.com", read: "people", excludes: ["vera"] },
        { as: "lena@atlas.com", read: "people", denied: true },
        { as: "lena@atlas.com", roles: [], read: "people", expect: ["lena"] },
        { as: "lena@atlas.com", read: "companies", shows: ["phone"] },
        { as: "wide@atlas.com", read: "people", expect: [] },
        { as: "otto", read: "people", expect: [] },
        { as: "id:none", read: "people", expect: [] }
      ]
      const failure = faultOf(yield* publish(organization, file(RULES, { tests: bad })))
      expect([failure.message, ...(failure.details ?? [])]).toEqual([
        "The policy was not published: not all of its 9 tests pass.",
        `tests[0]: lena@atlas.com reads people: expected to see "unknown" (no such row); found it hidden.`,
        expect.stringMatching(
          /^tests\[0\]: .* expected only lena, otto and unknown; found (?=.*vera \(Vera\))(?=.*nils \(Nils\))(?=.*wide \(Wide\)).*\.$/
        ),
        "tests[1]: lena@atlas.com reads people: expected phone to be shown; found it hidden on vera (Vera).",
        "tests[2]: lena@atlas.com reads people: expected vera (Vera) to be hidden; found it visible.",
        expect.stringContaining(
          "expected people to be denied; found that own, staff, atlas and no-vip-phone allows it"
        ),
        "tests[4]: lena@atlas.com as a person without roles reads people: expected to see lena (Lena); found it hidden.",
        "tests[5]: lena@atlas.com reads companies: expected phone to be shown on at least one row; found it hidden on every row.",
        expect.stringContaining(`"wide@atlas.com" is not an active member`),
        expect.stringContaining(`"otto" is no e-mail address, phone number or id:ID`),
        expect.stringContaining(`No person has the id "none"`)
      ])
      expect(yield* inForce(organization)).toBe(2)
      // Tests run under the checked policy, not the one in force.
      const open = file([...RULES, { id: "all" }], {
        tests: [
          { as: "lena@atlas.com", read: "people", shows: ["phone"], includes: ["wide"] },
          // Who has no address is named by id.
          { as: "id:lena", read: "people", includes: ["wide"] }
        ]
      })
      expect(Result.isSuccess(yield* publish(organization, open))).toBe(true)
    })
  )

  it.effect("are refused if another policy is published during their tests", () =>
    Effect.gen(function* () {
      const other = yield* startProcess()
      const organization = yield* makeOrganization(other, "race")
      const tests = [{ as: "lena@atlas.com", read: "companies", expect: [] }]
      let interrupted = false
      const one = yield* startProcess((text) =>
        Effect.suspend(() => {
          if (interrupted || !text.includes("max policy rows")) return Effect.void
          interrupted = true
          return using(other).publish(organization, file([{ columns: ["name"] }]))
        })
      )
      const refused = faultOf(yield* using(one).publish(organization, file([{}], { tests })))
      expect(interrupted).toBe(true)
      expect(refused.message).toBe("The organization changed during publication. Publish again.")
      expect(yield* using(one).inForce(organization)).toBe(2)
      const lena = yield* one.admit(organization, "lena@atlas.com")
      expect(yield* one.columns(lena)).toEqual(["name"])
      expect(Result.isSuccess(yield* using(one).publish(organization, file([{}], { tests })))).toBe(true)
    })
  )

  it.effect("are refused if the version to replace is no longer in force", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const organization = yield* makeOrganization(one, "replacing")
      const { publish } = using(one)
      expect(Result.isSuccess(yield* publish(organization, file([{}]), { replacing: 1 }))).toBe(true)
      expect(faultOf(yield* publish(organization, file([]), { replacing: 1 })).message).toBe(
        "Version 2 is in force, not 1: another policy has been published."
      )
      expect(yield* using(one).inForce(organization)).toBe(2)
    })
  )

  it.effect("stay unchanged when the database connection dies during publication", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const organization = yield* makeOrganization(one, "dies")
      const { owner } = yield* one.run(Effect.map(Database, (database) => database))
      yield* owner.unsafe(`CREATE FUNCTION public.die() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_catalog.pg_terminate_backend(pg_catalog.pg_backend_pid()); RETURN NULL; END'`)
      for (const table of ["max.policies", "max.organizations", "max.audit_log"]) {
        yield* owner.unsafe(
          `CREATE TRIGGER die AFTER INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION public.die()`
        )
        expect(faultOf(yield* using(one).publish(organization, file([])))).toBeInstanceOf(Unavailable)
        yield* owner.unsafe(`DROP TRIGGER die ON ${table}`)
        expect(yield* using(one).inForce(organization)).toBe(1)
        const lena = yield* one.admit(organization, "lena@atlas.com")
        expect((yield* one.types(lena)).length).toBe(3)
      }
      expect(Result.isSuccess(yield* using(one).publish(organization, file([])))).toBe(true)
      expect(yield* one.run(Effect.flatMap(Policies, (policies) => policies.list(organization)))).toMatchObject([
        { version: 2, inForce: true, author: "test", rules: 0 },
        { version: 1, inForce: false, author: "operator" }
      ])
    })
  )

  it.effect("are immutable: the application's role may not change or delete a version", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      yield* makeOrganization(one, "immutable")
      const { app } = yield* one.run(Effect.map(Database, (database) => database))
      for (const statement of [
        "UPDATE max.policies SET document = '{}'",
        "DELETE FROM max.policies",
        "TRUNCATE max.policies"
      ])
        expect(Result.isFailure(yield* Effect.result(app.unsafe(statement)))).toBe(true)
    })
  )

  it.effect("treat hostile files as data and refuse them", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const organization = yield* makeOrganization(one, "hostile")
      const { inForce, publish } = using(one)
      const details = (text: string) =>
        Effect.map(publish(organization, text), (result) => faultOf(result).details?.join("\n"))
      const sql = `x'; DROP TABLE max.policies; --`
      expect(yield* details(`{"version":1,"roles":{},"rules":[${" ".repeat(10_000_000)}]}`)).toContain(
        "at most 1000 kB"
      )
      expect(
        yield* details(
          file([{ where: "WHERE" }]).replace(`"WHERE"`, `${`{"not":`.repeat(10_000)}{}${"}".repeat(10_000)}`)
        )
      ).toContain("nested at most 32 levels")
      expect(yield* details(file([], { roles: { a: { inherits: ["b"] }, b: { inherits: ["a"] } } }))).toContain(
        "inherits itself"
      )
      expect(yield* details(file([], { roles: { [sql]: {} } }))).toContain("A role's name must begin")
      expect(yield* details(file([{ type: sql }, { columns: [sql] }, { where: { [sql]: 1 } }]))).toContain(
        "There is no type"
      )
      expect(yield* details(file([], { roles: JSON.parse(`{"__proto__":{"inherits":["x"]}}`) as object }))).toContain(
        "A role's name"
      )
      expect(yield* details(file([{ where: JSON.parse(`{"__proto__":{"status":"x"}}`) as unknown }]))).toContain(
        `no column or operator "__proto__"`
      )
      expect(yield* details(file([{}], { tests: Array.from({ length: 201 }, () => TESTS[0]) }))).toContain(
        "at most 200 entries"
      )
      expect(yield* inForce(organization)).toBe(1)
      const loopOf = (length: number) =>
        Array.from({ length }).reduce<unknown>((inner) => ({ owner: inner }), { name: sql })
      expect(yield* details(file([{ where: loopOf(9) }]))).toContain("at most 8 relations in a row")
      // A cyclic relation is followed exactly as deep as written. SQL in values and ids is plain text.
      const loop = loopOf(8)
      const kept = file(
        [{ id: sql, columns: ["name"], where: { any: [loop, { status: sql }, { status: "staff" }] } }],
        {
          tests: [
            { as: "lena@atlas.com", read: "people", expect: ["lena", "otto"] },
            { as: "lena@atlas.com", read: "people", excludes: [sql] }
          ]
        }
      )
      expect(Result.isSuccess(yield* publish(organization, kept))).toBe(true)
      expect(yield* one.find(yield* one.admit(organization, "lena@atlas.com")).pipe(names)).toEqual(["Lena", "Otto"])
    })
  )

  it.effect("with oversized plans are refused, and deny every lookup if stored regardless", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const organization = yield* makeOrganization(one, "large")
      const { publish } = using(one)
      const values = (count: number) => Array.from({ length: count }, (_, index) => `value ${index}`)
      const tooMany = file([{ where: { status: values(3000) } }])
      const tooLong = file(
        Array.from({ length: 400 }, (_, index) => ({ where: { owner: { company: { owner: { name: `n${index}` } } } } }))
      )
      for (const text of [tooMany, tooLong]) {
        expect(faultOf(yield* publish(organization, text)).details?.[0]).toMatch(
          /^roles\.member: The plan of member for people exceeds the limit of .*would deny all of people\. Write: /
        )
        // Stores the policy directly, as for a combination of roles that no member had at publication.
        yield* one.run(
          Effect.gen(function* () {
            const { owner } = yield* Database
            const review = yield* PolicyReview
            const reading = readPolicy(text, (yield* review.names(organization)).catalog)
            if ("problems" in reading) throw new Error("unreadable")
            yield* owner`UPDATE max.policies SET rules = ${owner.json(Schema.encodeSync(Policy)(reading.policy))} WHERE organization_id = ${organization.id}`
            yield* owner`UPDATE max.organizations SET epoch = epoch + 1 WHERE organization_id = ${organization.id}`
          })
        )
        const lena = yield* one.admit(organization, "lena@atlas.com")
        const answers = yield* Effect.forEach(
          [
            {},
            { cursorEntityId: "b" },
            { filters: [{ columnId: "name", op: "eq" as const, value: "Lena" }] },
            { limit: 0 }
          ],
          (query) => answerText(one.find(lena, query))
        )
        expect(new Set(answers)).toEqual(
          new Set([`{"fault":"UnknownName","message":"There is no type \\"people\\"."}`])
        )
        const { denied } = yield* using(one).review((review) =>
          review.explain(organization, { as: "lena@atlas.com", type: "people" })
        )
        expect(denied).toContain("exceeds the size limit")
      }
    })
  )

  it.effect("are edited minimally, without exposing columns added since publication to other roles", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const organization = yield* makeOrganization(one, "grant")
      yield* using(one).publish(organization, file([{ columns: ["name"] }, { id: "boss", role: "manager" }]))
      const change = (how: typeof grantAccess, what: string) =>
        one.run(
          Effect.flatMap(Policies, (policies) =>
            policies.change(
              organization,
              (document, policy, catalog) => how(document, policy, catalog, { role: "member", what: [what] }),
              "test"
            )
          )
        )
      const lena = yield* one.admit(organization, "lena@atlas.com")
      expect(yield* one.columns(lena)).toEqual(["name"])
      expect(yield* change(grantAccess, "people.phone")).toMatchObject({
        version: 3,
        changes: [{ mark: "~", what: "r0: member may also see phone of people" }]
      })
      expect(yield* one.columns(yield* one.admit(organization, "lena@atlas.com"))).toEqual(["name", "phone"])
      expect(yield* change(grantAccess, "people.phone")).toEqual({ version: undefined, changes: [] })
      expect((yield* change(revokeAccess, "people.phone")).version).toBe(4)
      expect(yield* one.columns(yield* one.admit(organization, "lena@atlas.com"))).toEqual(["name"])
      const audited = yield* one.run(
        Effect.flatMap(
          Database,
          ({ owner }) => owner`SELECT action, subject FROM max.audit_log
          WHERE organization_id = ${organization.id} AND action = 'policy.published' ORDER BY sequence`
        )
      )
      expect(audited.map((row) => row["subject"])).toEqual(["1", "2", "3", "4"])
    })
  )
})
