/** Explanations for an administrator disclose only data that the administrator's own plan shows. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { type Admitted, IdentityResolver } from "../../../src/services/members/IdentityResolver.ts"
import { asAdmitted } from "../../../src/services/administration/asAdmitted.ts"
import { Unavailable } from "../../../src/domain/errors.ts"
import { PolicyReview } from "../../../src/services/policies/PolicyReview.ts"
import { createOrganization, type Process, failureOf, startProcess, Url } from "../../permissions/process.ts"
import type { RuleInput } from "../../permissions/support.ts"
import { addMember, addRows, idFor, idNumber, type Row } from "../../permissions/tables.ts"

const PEOPLE: ReadonlyArray<Row> = [
  { id: "lena", name: "Lena", status: "staff", email: "lena@atlas.com", owner: "otto", company: "at" },
  { id: "otto", name: "Otto", status: "staff", email: "otto@atlas.com", company: "at" },
  { id: "vera", name: "Vera", status: "vip", owner: "lena", company: "at", phone: "+14155550101" },
  { id: "nils", name: "Nils", status: "lead", owner: "lena", company: "zz", phone: "+14155550103" },
  { id: "wide", name: "Wide", status: "vip", owner: "otto", company: "zz", phone: "+14155550104" },
  { id: "canary", name: "Canary", status: "west", owner: "lena", phone: "+14155550199", email: "canary@x.org" }
]

/** Otto asks about Lena. He sees staff and VIPs, without their phone numbers. */
const OTTO: RuleInput = {
  id: "otto",
  role: "lead",
  columns: ["name", "status", "owner"],
  where: { status: ["staff", "vip"] }
}
const LENA: ReadonlyArray<RuleInput> = [
  { id: "own", columns: ["name", "phone", "status", "owner"], where: { owner: "$me" } },
  { id: "staff", columns: ["name"], where: { status: "staff" } },
  { id: "no-vip-phone", effect: "deny", columns: ["phone"], where: { status: "vip" } }
]
const ROLES = { roles: { member: {}, lead: {} } }

const under = Effect.fnUntraced(function* (slug: string, rules: ReadonlyArray<RuleInput>) {
  const one = yield* startProcess()
  const organization = yield* createOrganization(one, slug)
  yield* one.run(addRows(organization, "people", PEOPLE))
  yield* one.run(
    addRows(organization, "companies", [
      { id: "at", name: "Atlas" },
      { id: "zz", name: "Zenith", status: "closed" }
    ])
  )
  yield* one.run(addMember(organization, "lena@atlas.com", "lena", ["member"], { region: "secret-region" }))
  yield* one.run(addMember(organization, "otto@atlas.com", "otto", ["lead"]))
  yield* one.publish(organization, rules, ROLES)
  return { one, organization, otto: yield* admitted(one, organization, "otto@atlas.com") }
})

const admitted = ({ run }: Process, organization: Organization, email: string): Effect.Effect<Admitted, unknown> =>
  run(Effect.flatMap(IdentityResolver, (all) => all.admit(organization, { kind: "email", key: email })))

const LENAS = { as: "lena@atlas.com", type: "people" }
const explain = ({ run }: Process, asking: Admitted, question: Partial<typeof LENAS> = {}) =>
  run(Effect.flatMap(PolicyReview, (on) => on.explainAs(asking, { ...LENAS, ...question })) as Effect.Effect<Explained>)
type Explained = Effect.Success<ReturnType<PolicyReview["Service"]["explainAs"]>>
const explainRow = ({ run }: Process, asking: Admitted, id: string, question: Partial<typeof LENAS> = {}) =>
  run(
    Effect.flatMap(PolicyReview, (on) =>
      on.explainRowAs(asking, { ...LENAS, ...question, id })
    ) as Effect.Effect<ExplainedRow>
  )
type ExplainedRow = Effect.Success<ReturnType<PolicyReview["Service"]["explainRowAs"]>>

layer(Url.layer, { excludeTestServices: true })("an explanation for an administrator", (it) => {
  it.effect("counts only rows and columns that the administrator sees", () =>
    Effect.gen(function* () {
      const { one, organization, otto } = yield* under("both", [OTTO, ...LENA])
      const found = yield* explain(one, otto)
      const [hers, his] = yield* Effect.all([
        one.find(yield* one.admit(organization, "lena@atlas.com")),
        one.find(otto.principal)
      ])
      const ids = new Set(his.entities.map(({ entityId }) => entityId))
      const both = hers.entities.filter(({ entityId }) => ids.has(entityId))
      expect([found.total, found.visible]).toEqual([his.total, both.length])
      expect([found.total, found.visible, hers.total]).toEqual([4, 3, 5])
      expect(found.rules.map(({ id, rows }) => [id, rows])).toEqual([
        ["own", 1],
        ["staff", 2],
        ["no-vip-phone", 2]
      ])
      expect(found.columns.map(({ column, rows }) => [column, rows])).toEqual([
        ["name", 3],
        ["status", 1],
        ["owner", 1]
      ])
      expect(found.rules.map(({ words }) => words)).toEqual([
        "may see name, status and owner of people where owner is Lena",
        `may see name of people where status is "staff"`,
        `may not see other columns of people where status is "vip", or where that is unknown`
      ])
      expect(JSON.stringify(found)).not.toMatch(/"phone"|secret-region|Canary/)
    })
  )

  it.effect("of a row contains only cells that the administrator sees, and accepts only entity ids", () =>
    Effect.gen(function* () {
      const { one, otto } = yield* under("row", [OTTO, ...LENA])
      const vera = yield* explainRow(one, otto, idFor("vera"))
      expect([vera.name, vera.visible, vera.because, vera.externalId]).toEqual([
        "Vera",
        true,
        "own allows it",
        undefined
      ])
      expect(vera.columns.map(({ column, value }) => [column, value])).toEqual([
        ["name", "Vera"],
        ["status", "vip"],
        ["owner", expect.objectContaining({ name: "Lena" })]
      ])
      expect(JSON.stringify(vera)).not.toContain("+1415")
      const wide = yield* explainRow(one, otto, idFor("wide"))
      expect([wide.visible, wide.because]).toEqual([false, "no allow matches it"])
      // A hidden row and an unknown id produce the same error.
      const words = (id: string) =>
        Effect.map(failureOf(explainRow(one, otto, id)), (fault) => JSON.stringify(fault).replaceAll(id, "ID"))
      expect(yield* words(idFor("canary"))).toBe(yield* words("zzzzz"))
      expect(yield* words(idFor("canary"))).toContain("No row of people")
    })
  )

  it.effect("does not change with hidden data", () =>
    Effect.gen(function* () {
      const { one, organization, otto } = yield* under("hidden", [OTTO, ...LENA])
      const all = () =>
        Effect.map(
          Effect.all([explain(one, otto), ...["vera", "wide", "lena"].map((id) => explainRow(one, otto, idFor(id)))]),
          (found) => JSON.stringify(found)
        )
      const before = yield* all()
      const { owner } = yield* one.run(Effect.map(Database, (database) => database))
      yield* owner`UPDATE data.people SET phone = '+14155550777', phone_k = '+14155550777', email = 'n@n.n', company_id = NULL WHERE organization_id = ${organization.id}`
      yield* owner`DELETE FROM data.people WHERE organization_id = ${organization.id} AND status IN ('west', 'lead')`
      expect(yield* all()).toBe(before)
      yield* owner`UPDATE data.people SET status = 'staff' WHERE organization_id = ${organization.id} AND name = 'Vera'`
      expect(yield* all()).not.toBe(before)
    })
  )

  it.effect("does not change with a reference's target that the administrator can't see", () =>
    Effect.gen(function* () {
      const me = [{ owner: "$me" }, { not: { owner: "$me" } }]
      const combined = [
        { any: [{ owner: "$me" }, { owner: null }] },
        { not: { all: [{ owner: "$me" }, { not: { owner: null } }] } }
      ]
      const compared = (column: string, ...ids: ReadonlyArray<string>): ReadonlyArray<unknown> => [
        { [column]: null },
        { not: { [column]: null } },
        { [column]: ids[0] },
        { [column]: { ne: ids[0] } },
        { [column]: ids },
        { not: { [column]: ids } }
      ]
      const hops = compared("company", idFor("at"), idFor("zz")).flatMap((where) => [
        { attendees: where },
        { not: { attendees: where } }
      ])
      const cases = [
        {
          type: "people",
          row: "vera",
          asking: [
            { ...OTTO, columns: ["name", "status", "owner", "company"] },
            { role: "lead", type: "companies" }
          ],
          conditions: [...me, ...combined, ...compared("owner", idFor("lena"), idFor("nils"))].flatMap((where) => [
            where,
            { company: where }
          ]),
          column: "owner",
          hidden: [null, "nils", "canary"],
          seen: "lena"
        },
        {
          type: "meetings",
          row: "m1",
          asking: [
            { role: "lead", type: "meetings" },
            { role: "lead" },
            { role: "lead", type: "companies", where: { status: null } }
          ],
          conditions: hops,
          column: "company",
          hidden: [null, "zz", "yy"],
          seen: "at"
        }
      ]
      const { one, organization } = yield* under("targets", [])
      yield* one.run(addMember(organization, "nils@atlas.com", "nils", ["member"]))
      yield* one.run(addRows(organization, "companies", [{ id: "yy", name: "Yonder", status: "closed" }]))
      yield* one.run(addRows(organization, "meetings", [{ id: "m1", name: "Standup", attendees: ["vera"] }]))
      const { owner } = yield* one.run(Effect.map(Database, (database) => database))
      for (const { asking, column, conditions, hidden, row, seen, type } of cases) {
        const judged = conditions.flatMap((where, index) => [
          { id: `allow${index}`, type, where, columns: ["name"] },
          { id: `deny${index}`, type, where, columns: ["name"], effect: "deny" }
        ])
        yield* one.publish(organization, [...asking, ...judged, { id: "every", type }], ROLES)
        const otto = yield* admitted(one, organization, "otto@atlas.com")
        // About Lena, whom Otto always sees, and about Nils.
        const all = Effect.map(
          Effect.forEach(["lena@atlas.com", "nils@atlas.com"], (as) =>
            Effect.all([explain(one, otto, { as, type }), explainRow(one, otto, idFor(row), { as, type })])
          ),
          (found) => JSON.stringify(found)
        )
        const point = Effect.fnUntraced(function* (target: string | null) {
          const id = target === null ? null : idNumber(target)
          for (const table of column === "owner" ? ["people", "companies"] : ["people"])
            yield* owner.unsafe(
              `UPDATE data.${table} SET ${column}_id = $1::bigint WHERE organization_id = $2::bigint AND name IN ('Vera', 'Atlas')`,
              [id, organization.id]
            )
        })
        const truths = ({ rules }: Pick<ExplainedRow, "rules">) => rules.map(({ id, truth }) => [id, truth])
        const byAdministrator = Effect.map(explainRow(one, otto, idFor(row), { type }), truths)
        const byOperator = Effect.map(
          one.run(
            Effect.flatMap(PolicyReview, (on) =>
              on.explainRow(organization, { ...LENAS, type, id: idFor(row) })
            ) as Effect.Effect<ExplainedRow>
          ),
          truths
        )
        const answers = new Set<string>()
        for (const target of hidden) {
          yield* point(target)
          answers.add(yield* all)
          // What isn't unknown is true.
          const known = (yield* byAdministrator).filter(([, truth]) => truth !== "unknown")
          expect(yield* byOperator, type).toEqual(expect.arrayContaining(known))
        }
        expect([...answers], type).toHaveLength(1)
        // A visible target is judged as for an operator.
        yield* point(seen)
        expect(yield* byAdministrator, type).toEqual(yield* byOperator)
        expect(answers).not.toContain(yield* all)
      }
    })
  )

  it.effect("is refused if a rule reads hidden data", () =>
    Effect.gen(function* () {
      const hidden: ReadonlyArray<readonly [string, ReadonlyArray<RuleInput>]> = [
        ["a column", [{ where: { phone: null } }]],
        ["a column, in a denial", [{}, { effect: "deny", where: { all: [{ not: { email: "x@y.org" } }] } }]],
        ["a row of the other type", [{ where: { company: { status: "closed" } } }]],
        [
          "rows of the same type, over a relation",
          [{ where: { any: [{ owner: { status: "lead" } }, { status: "vip" }] } }]
        ],
        [
          "a column that is shown on some rows",
          [
            { role: "lead", columns: ["phone"], where: { status: "vip" } },
            { role: "lead", columns: ["name"], where: { status: "staff" } },
            { where: { phone: "+14155550101" } }
          ]
        ]
      ]
      const { one, organization } = yield* under("refused", [OTTO, ...LENA])
      for (const [what, rules] of hidden) {
        const companies = { ...OTTO, id: "companies", type: "companies", columns: ["name", "status"] }
        yield* one.publish(organization, [OTTO, { ...companies, where: { status: null } }, ...rules], ROLES)
        const otto = yield* admitted(one, organization, "otto@atlas.com")
        const fault = yield* failureOf(explain(one, otto))
        expect(fault, what).toMatchObject({ _tag: "OperatorError" })
        expect(yield* failureOf(explainRow(one, otto, idFor("vera"))), what).toEqual(fault)
      }
      // The same rule is explained once the administrator sees everything.
      yield* one.publish(
        organization,
        [{ role: "lead" }, { role: "lead", type: "companies" }, { where: { company: { status: "closed" } } }],
        ROLES
      )
      const found = yield* explain(one, yield* admitted(one, organization, "otto@atlas.com"))
      expect([found.total, found.visible]).toEqual([6, 2])
    })
  )

  it.effect("reads the id of every visible row, and no relation to a type that the administrator doesn't see", () =>
    Effect.gen(function* () {
      const { one, organization } = yield* under("relations", [])
      const otto = { ...OTTO, columns: ["name", "status", "owner", "company"] }
      const asked = Effect.fnUntraced(function* (...rules: ReadonlyArray<RuleInput>) {
        yield* one.publish(organization, [otto, ...rules], ROLES)
        return yield* Effect.result(explain(one, yield* admitted(one, organization, "otto@atlas.com")))
      })
      const own = yield* asked({ where: { id: "$me" } }, { role: "member", type: "companies" })
      expect(own).toMatchObject({ success: { total: 4, visible: 1, rules: [{ rows: 1 }] } })
      expect(own).toMatchObject({
        success: { columns: [{ column: "name" }, { column: "status" }, { column: "owner" }] }
      })
      const refused = { failure: { _tag: "OperatorError" } }
      expect(yield* asked({ where: { company: null } })).toMatchObject(refused)
      // A relation that the administrator doesn't see, to a type that the administrator sees.
      const companies = { role: "lead", type: "companies" }
      const atlas = { where: { company: { name: "Atlas" } } }
      expect(yield* asked(companies, atlas)).toMatchObject({ success: { visible: 3 } })
      yield* one.publish(organization, [OTTO, companies, atlas], ROLES)
      expect(yield* failureOf(explain(one, yield* admitted(one, organization, "otto@atlas.com")))).toMatchObject(
        refused.failure
      )
    })
  )

  it.effect("is refused if its conditions on visible targets are too large together", () =>
    Effect.gen(function* () {
      const statuses = ["staff", "vip", ...Array.from({ length: 500 }, (_, index) => `status-${index}`)]
      const asking = { ...OTTO, where: { status: statuses } }
      const owned = (count: number) => Array.from({ length: count }, () => ({ where: { owner: "$me" } }))
      const { one, organization } = yield* under("large", [])
      const asked = Effect.fnUntraced(function* (count: number) {
        yield* one.publish(organization, [asking, ...owned(count)], ROLES)
        return yield* failureOf(explain(one, yield* admitted(one, organization, "otto@atlas.com")))
      })
      expect(yield* asked(30)).toBe("answered")
      expect(yield* asked(60)).toMatchObject({
        _tag: "OperatorError",
        message: expect.stringContaining("too large") as string
      })
    })
  )

  it.effect(
    "doesn't distinguish a hidden type from an unknown one, and fails once the administrator's plan is stale",
    () =>
      Effect.gen(function* () {
        const { one, organization, otto } = yield* under("types", [OTTO, ...LENA, { id: "firms", type: "companies" }])
        const about = (type: string) =>
          Effect.map(failureOf(explain(one, otto, { type })), (fault) => JSON.stringify(fault).replaceAll(type, "TYPE"))
        expect(yield* about("companies")).toBe(yield* about("kompaniess"))
        expect(yield* about("companies")).toContain("There is no type")
        yield* one.run(addMember(organization, "otto@atlas.com", "otto", []))
        expect(yield* failureOf(explain(one, otto))).toMatchObject({ _tag: "Unavailable" })
        const withoutRoles = yield* admitted(one, organization, "otto@atlas.com")
        expect(yield* failureOf(explain(one, withoutRoles))).toMatchObject({ _tag: "OperatorError" })
      })
  )

  it.effect(
    "is given in the new state if the organization changes meanwhile, and isn't asked twice for anything else",
    () =>
      Effect.gen(function* () {
        const { one, organization, otto } = yield* under("meanwhile", [OTTO, ...LENA])
        let asked = 0
        const answer = (change: Effect.Effect<unknown, unknown>) =>
          one.run(
            Effect.gen(function* () {
              const identities = yield* IdentityResolver
              const review = yield* PolicyReview
              return yield* asAdmitted(identities)(otto.principal, (asking) => {
                asked += 1
                return Effect.andThen(asked === 1 ? Effect.orDie(change) : Effect.void, review.explainAs(asking, LENAS))
              })
            }) as Effect.Effect<Explained>
          )
        expect(yield* answer(one.run(addMember(organization, "nils@atlas.com", "nils", ["member"])))).toMatchObject({
          type: "people"
        })
        expect(asked).toBe(2)
        asked = 1
        expect(yield* answer(Effect.void)).toMatchObject({ type: "people" })
        expect(asked).toBe(2)
        const broken = asAdmitted(yield* one.run(Effect.flatMap(IdentityResolver, Effect.succeed)))
        let tried = 0
        const failing = one.run(
          broken(otto.principal, () => {
            tried += 1
            return Effect.fail(Unavailable.error)
          }) as never
        )
        expect(yield* failureOf(failing)).toMatchObject({ _tag: "Unavailable" })
        expect(tried).toBe(1)
      })
  )
})
