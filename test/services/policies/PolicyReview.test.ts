/** Policy reviews, compared with the results of real lookups. */
import { layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { readFileSync } from "node:fs"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import type { Principal } from "../../../src/domain/Principal.ts"
import { readScope } from "../../../src/permissions/ToolScope.ts"
import { PolicyReview } from "../../../src/services/policies/PolicyReview.ts"
import { createOrganization, names, type Process, startProcess, answerText, Url } from "../../permissions/process.ts"
import { file, type RuleInput } from "../../permissions/support.ts"
import { addCompaniesAndMeetings, addMember, addRows, idFor, type Row } from "../../permissions/tables.ts"

const PEOPLE: ReadonlyArray<Row> = [
  { id: "lena", name: "Lena", status: "staff", email: "lena@atlas.com", phone: "+14155550100", company: "at" },
  {
    id: "otto",
    name: "Otto",
    status: "staff",
    email: "otto@atlas.com",
    phone: "+14155550102",
    owner: "lena",
    company: "at"
  },
  { id: "vera", name: "Vera", status: "vip", owner: "lena", company: "at", phone: "+14155550101", email: "v@x.org" },
  { id: "nils", name: "Nils", owner: "lena", company: "zz", phone: "+14155550103", email: "n@x.org" },
  { id: "wide", name: "Wide", status: "lead", owner: "otto", company: "at", phone: "+14155550104", email: "w@x.org" },
  { id: "solo", name: "Solo", status: "west", phone: "+14155550105", email: "s@x.org" }
]

const RULES: ReadonlyArray<RuleInput> = [
  { id: "own", columns: ["name", "phone", "owner"], where: { owner: "$me" } },
  { id: "staff", columns: ["name", "email", "status"], where: { status: "staff" } },
  { id: "atlas", columns: ["name", "status", "company"], where: { company: { name: "Atlas" } } },
  {
    id: "region",
    columns: ["name", "phone"],
    where: { any: [{ status: "$attr.region" }, { not: { owner: { status: "staff" } } }] }
  },
  { id: "no-vip-phone", effect: "deny", columns: ["phone"], where: { status: "vip" } },
  { id: "no-lead", effect: "deny", where: { status: "lead" }, role: "junior" },
  { id: "companies", type: "companies", columns: ["name"], where: { owner: null } },
  { id: "meetings", type: "meetings", where: { attendees: "$me" } },
  { id: "boss", role: "manager", columns: ["name", "email", "owner"] },
  { id: "later", notBefore: "2999-01-01" },
  { id: "over", notAfter: "2000-01-01" }
]
const MORE = {
  roles: { member: { inherits: [] }, manager: { inherits: ["member"] }, junior: { inherits: ["member"] }, nothing: {} }
}

const makeOrganization = Effect.fnUntraced(function* ({ run }: Process, slug: string) {
  const organization = yield* createOrganization({ run }, slug)
  yield* run(addRows(organization, "people", PEOPLE))
  yield* run(addCompaniesAndMeetings(organization))
  for (const [email, label, role] of [
    ["lena@atlas.com", "lena", "member"],
    ["otto@atlas.com", "otto", "manager"],
    ["vera@atlas.com", "vera", "junior"],
    ["nils@atlas.com", "nils", "nothing"]
  ] as const) {
    yield* run(addMember(organization, email, label, [role], label === "lena" ? { region: "west" } : {}))
  }
  return organization
})

const MEMBERS = ["lena@atlas.com", "otto@atlas.com", "vera@atlas.com", "nils@atlas.com"]
const TYPES = ["people", "companies", "meetings"]
const COLUMNS: Readonly<Record<string, ReadonlyArray<string>>> = {
  people: ["name", "status", "owner", "company", "phone"],
  companies: ["name", "status", "owner", "phone", "email"],
  meetings: ["name", "status", "owner", "company", "attendees"]
}

/** Every visible row by id with its visible cells, by lookups. */
const seen = Effect.fnUntraced(function* (one: Process, principal: Principal, type: string) {
  const types = yield* one.types(principal)
  if (!types.includes(type)) return new Map<string, ReadonlyArray<string>>()
  const columns = (yield* one.columns(principal, type)).filter((column) => COLUMNS[type]!.includes(column))
  const page = yield* one.find(principal, { entityTypeId: type, selectColumns: columns })
  return new Map(page.entities.map((entity) => [entity.entityId, Object.keys(entity.columns ?? {})]))
})

const review = <A, E>({ run }: Process, ask: (review: PolicyReview["Service"]) => Effect.Effect<A, E>) =>
  run(Effect.flatMap(PolicyReview, ask) as Effect.Effect<A, E>)

layer(Url.layer, { excludeTestServices: true })("a policy review", (it) => {
  it.effect("agrees with lookups about rows and cells", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const organization = yield* makeOrganization(one, "explained")
      yield* one.publish(organization, RULES, MORE)
      let [hidden, shown, cells] = [0, 0, 0]
      for (const as of MEMBERS) {
        const principal = yield* one.admit(organization, as)
        for (const type of TYPES) {
          const real = yield* seen(one, principal, type)
          const found = yield* review(one, (on) => on.explain(organization, { as, type }))
          expect(found.visible, `${as} ${type}`).toBe(real.size)
          expect(found.denied === undefined).toBe((yield* one.types(principal)).includes(type))
          const rows =
            type === "people" ? PEOPLE.map(({ id }) => id) : type === "companies" ? ["at", "zz"] : ["m1", "m2"]
          for (const row of rows) {
            const id = idFor(row)
            const why = yield* review(one, (on) => on.explainRow(organization, { as, type, id }))
            expect(why.visible, `${as} ${type} ${row}`).toBe(real.has(id))
            const visible = why.columns.filter((cell) => cell.visible && COLUMNS[type]!.includes(cell.column))
            const withValue = visible.filter(({ value }) => value !== undefined).map(({ column }) => column)
            // A reference to a hidden row is shown empty, even if its mask shows the cell.
            const expected = real.get(id) ?? []
            expect(expected.every((column) => withValue.includes(column))).toBe(true)
            expect(
              withValue
                .filter((column) => !["owner", "company", "attendees"].includes(column))
                .every((column) => expected.includes(column))
            ).toBe(true)
            shown += why.visible ? 1 : 0
            hidden += why.visible ? 0 : 1
            cells += visible.length
          }
        }
      }
      expect([shown > 10, hidden > 10, cells > 20]).toEqual([true, true, true])
    })
  )

  it.effect("explains access by rule and condition, including unknown results", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const organization = yield* makeOrganization(one, "words")
      yield* one.publish(organization, RULES, MORE)
      const lena = { as: "lena@atlas.com", type: "people" }
      const all = yield* review(one, (on) => on.explain(organization, lena))
      expect(all).toMatchObject({
        who: "Lena",
        total: 6,
        visible: 6,
        notInForce: ["later begins on 2999-01-01 (UTC)", "over ended on 2000-01-01 (UTC)"]
      })
      expect(all.rules.map(({ id, rows }) => [id, rows])).toEqual([
        ["own", 3],
        ["staff", 2],
        ["atlas", 4],
        ["region", 1],
        ["no-vip-phone", 2]
      ])
      expect(all.columns.find(({ column }) => column === "phone")?.because).toBe(
        "shown by own and region only on the rows that they match; no-vip-phone hides it"
      )
      const vera = yield* review(one, (on) => on.explainRow(organization, { ...lena, id: idFor("vera") }))
      expect(vera.because).toBe("own and atlas allow it")
      const because = Object.fromEntries(vera.columns.map((cell) => [cell.column, cell.because]))
      expect(because).toMatchObject({
        phone: `no-vip-phone hides it: status is "vip"`,
        email: "only staff would show it, and it doesn't match this row",
        company: "atlas"
      })
      const nils = yield* review(one, (on) => on.explainRow(organization, { ...lena, id: idFor("nils") }))
      expect(nils.columns.find(({ column }) => column === "phone")?.because).toBe(
        `no-vip-phone hides it: unknown whether status is "vip"`
      )
      const region = nils.rules.find(({ id }) => id === "region")!
      expect([region.truth, region.conditions.map(({ truth, words }) => [words, truth])]).toEqual([
        "unknown",
        [
          ["at least one of these must hold", "unknown"],
          [`status is the attribute region of Lena ("west")`, "unknown"],
          [`owner's status isn't "staff"`, "no"]
        ]
      ])
      const wide = yield* review(one, (on) =>
        on.explainRow(organization, { as: "vera@atlas.com", type: "people", id: idFor("wide") })
      )
      expect([wide.visible, wide.because]).toEqual([false, "no-lead hides the whole row"])
      const withoutRule = yield* review(one, (on) => on.explain(organization, { as: "nils@atlas.com", type: "people" }))
      expect([withoutRule.denied, withoutRule.visible]).toEqual(["no rule in force allows it", 0])
      const outsider = yield* Effect.flip(
        review(one, (on) => on.explain(organization, { as: "x@y.org", type: "people" }))
      )
      expect(outsider.message).toContain("is not an active member, so nothing is visible to them")
      const missing = yield* Effect.flip(review(one, (on) => on.explainRow(organization, { ...lena, id: "zzz" })))
      expect(missing.message).toContain(`No row of people has the external or entity id "zzz"`)
    })
  )

  it.effect("predicts the gains and losses of an unpublished file", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const organization = yield* makeOrganization(one, "simulated")
      yield* one.publish(organization, RULES, MORE)
      const next = [
        ...RULES.filter(({ id }) => id !== "atlas" && id !== "no-vip-phone"),
        { id: "no-staff", effect: "deny", where: { status: "staff" } },
        { id: "zenith", columns: ["name", "phone", "email"], where: { company: { name: "Zenith" } } },
        { id: "all-companies", type: "companies", columns: ["name", "owner"] }
      ]
      const text = file(next, MORE)
      const before = new Map<string, ReadonlyMap<string, ReadonlyArray<string>>>()
      const predicted = new Map<string, Effect.Success<ReturnType<PolicyReview["Service"]["simulate"]>>>()
      for (const as of MEMBERS) {
        const principal = yield* one.admit(organization, as)
        for (const type of TYPES) {
          before.set(`${as} ${type}`, yield* seen(one, principal, type))
          predicted.set(
            `${as} ${type}`,
            yield* review(one, (on) => on.simulate(organization, { as, type, file: text }))
          )
        }
      }
      yield* one.publish(organization, next, MORE)
      let differences = 0
      for (const as of MEMBERS) {
        const principal = yield* one.admit(organization, as)
        for (const type of TYPES) {
          const key = `${as} ${type}`
          const [was, is] = [before.get(key)!, yield* seen(one, principal, type)]
          const { cells, rows } = predicted.get(key)!
          const gained = [...is.keys()].filter((id) => !was.has(id))
          const lost = [...was.keys()].filter((id) => !is.has(id))
          expect([rows.gained.count, rows.lost.count], key).toEqual([gained.length, lost.length])
          const both = [...is.keys()].filter((id) => was.has(id))
          const phones = (
            from: ReadonlyMap<string, ReadonlyArray<string>>,
            than: ReadonlyMap<string, ReadonlyArray<string>>
          ) => both.filter((id) => from.get(id)!.includes("phone") && !than.get(id)!.includes("phone")).length
          const phone = cells.find(({ column }) => column === "phone")
          if (type === "people")
            expect([phone?.gained.count ?? 0, phone?.lost.count ?? 0], key).toEqual([phones(is, was), phones(was, is)])
          differences += gained.length + lost.length
        }
      }
      expect(differences).toBeGreaterThan(5)
      expect(predicted.get("lena@atlas.com people")).toMatchObject({
        rows: { gained: { count: 0 }, lost: { count: 4, examples: expect.arrayContaining(["Lena", "Otto"]) } }
      })
    })
  )

  it.effect("previews a policy as an example person of each role", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const organization = yield* makeOrganization(one, "preview")
      const shown = yield* review(one, (on) =>
        on.preview(organization, file([{ columns: ["name"], where: { owner: "$me" } }, { role: "manager" }]))
      )
      expect(shown.map(({ as, isMember, role, type, visible }) => [role, as, isMember, type, visible])).toEqual([
        ["member", "Lena", true, "people", 3],
        ["member", "Lena", true, "companies", 0],
        ["member", "Lena", true, "meetings", 0],
        ["manager", "Otto", true, "people", 6],
        ["manager", "Otto", true, "companies", 0],
        ["manager", "Otto", true, "meetings", 0],
        ["agent", expect.any(String), false, "people", 0],
        ["agent", expect.any(String), false, "companies", 0],
        ["agent", expect.any(String), false, "meetings", 0]
      ])
    })
  )
})

layer(Url.layer, { excludeTestServices: true })("a tool scope on a call", (it) => {
  it.effect("narrows every answer, alternating with unscoped calls and across a policy change", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const organization = yield* makeOrganization(one, "scoped")
      yield* one.publish(organization, [{}, { type: "companies" }])
      const lena = yield* one.admit(organization, "lena@atlas.com")
      const { catalog } = yield* review(one, (on) => on.names(organization))
      const reading = readScope(["people.name", "people.company"], catalog)
      if ("problems" in reading) throw new Error("unreadable")
      const scoped = { ...lena, scope: reading.scope }
      for (let round = 0; round < 3; round++) {
        expect(yield* one.types(lena)).toEqual(["people", "companies"])
        expect(yield* one.types(scoped)).toEqual(["people"])
        expect(yield* one.columns(scoped)).toEqual(["name"])
        expect(yield* one.types({ ...lena, scope: [] })).toEqual([])
        expect((yield* one.find(lena, { selectColumns: ["phone"], limit: 1 })).entities[0]?.columns).toHaveProperty(
          "phone"
        )
        // A column hidden by the scope is indistinguishable from an unknown one.
        const ask = (column: string) => answerText(one.find(scoped, { selectColumns: [column] }))
        expect((yield* ask("phone")).replaceAll("phone", "fhone")).toBe(yield* ask("fhone"))
        expect(yield* answerText(one.find(scoped, { entityTypeId: "companies" }))).toContain("UnknownName")
        if (round === 1) yield* one.publish(organization, [{ columns: ["name", "phone"] }, { type: "companies" }])
      }
      const found = yield* review(one, (on) =>
        on.explain(organization, { as: "lena@atlas.com", type: "people", scope: ["people.name"] })
      )
      expect(found.columns.find(({ column }) => column === "phone")).toMatchObject({
        rows: 0,
        because: "it is outside the tool scope"
      })
    })
  )
})

layer(Url.layer, { excludeTestServices: true })("a team over a closure table", (it) => {
  it.effect("includes every subordinate at any depth, without a recursive query", () =>
    Effect.gen(function* () {
      const statements: Array<string> = []
      const one = yield* startProcess((text) => Effect.sync(() => void statements.push(text)))
      const organization = yield* makeOrganization(one, "team")
      yield* makeTeams(one, organization)
      yield* one.publish(organization, [{ columns: ["name"], where: { any: [{ id: "$me" }, { leaders: "$me" }] } }])
      const asked = Effect.fnUntraced(function* (as: string) {
        return yield* one.find(yield* one.admit(organization, as)).pipe(names)
      })
      // Lena leads Otto, Vera and Nils; Otto leads Wide.
      yield* one.run(addMember(organization, "otto@atlas.com", "otto", ["member"]))
      yield* one.run(addMember(organization, "wide@atlas.com", "wide", ["member"]))
      expect(yield* asked("lena@atlas.com")).toEqual(["Lena", "Nils", "Otto", "Vera", "Wide"])
      expect(yield* asked("otto@atlas.com")).toEqual(["Otto", "Wide"])
      expect(yield* asked("wide@atlas.com")).toEqual(["Wide"])
      const { owner } = yield* one.run(Effect.map(Database, (database) => database))
      // Solo joins Wide's team, so all leaders above see it. Then Wide leaves Otto's team together with Solo.
      const move = (who: string, to: string | null) =>
        owner.unsafe(
          `UPDATE data.people SET owner_id = ${to === null ? "NULL" : `(SELECT id FROM data.people WHERE name = '${to}' AND organization_id = $1)`}
           WHERE name = '${who}' AND organization_id = $1`,
          [organization.id]
        )
      yield* move("Solo", "Wide")
      expect(yield* asked("lena@atlas.com")).toEqual(["Lena", "Nils", "Otto", "Solo", "Vera", "Wide"])
      yield* move("Wide", null)
      expect(yield* asked("lena@atlas.com")).toEqual(["Lena", "Nils", "Otto", "Vera"])
      expect(yield* asked("wide@atlas.com")).toEqual(["Solo", "Wide"])
      // A cycle terminates and shows only its members.
      yield* move("Wide", "Solo")
      expect(yield* asked("wide@atlas.com")).toEqual(["Solo", "Wide"])
      expect(statements.filter((text) => /recursive/i.test(text))).toEqual([])
      expect(statements.some((text) => text.includes("team_members"))).toBe(true)
    })
  )
})

/** Creates the closure table and trigger of docs/permissions.md, and the relation column over it. */
const makeTeams = Effect.fnUntraced(function* ({ run }: Process, { id }: Organization) {
  const { owner } = yield* run(Effect.map(Database, (database) => database))
  const docs = readFileSync(new URL("../../../docs/permissions.md", import.meta.url), "utf8")
  const sql = /<!-- team -->\s*```sql\n([^]*?)```/.exec(docs)?.[1]
  if (sql === undefined) throw new Error("docs/permissions.md has no team example")
  for (const statement of sql.split(/;\s*\n(?=CREATE|INSERT|GRANT|SELECT)/)) {
    const result = yield* Effect.result(owner.unsafe(statement.trim().replace(/;\s*$/, "")).unprepared)
    if (Result.isFailure(result)) throw new Error(`${statement}: ${String(result.failure)}`)
  }
  yield* owner`
    INSERT INTO builder.entity_type_versions (organization_id, type_key, version, name, plural_name, relation_schema, relation_table, position)
    SELECT ${id}, type_key, 2, name, plural_name, relation_schema, relation_table, position
    FROM builder.entity_type_versions WHERE organization_id = 0 AND type_key = 'people'`
  yield* owner`
    INSERT INTO builder.columns SELECT ${id}, type_key, 2, column_key, slug, name, kind, storage, position
    FROM builder.columns WHERE organization_id = 0 AND type_key = 'people'`
  yield* owner`
    INSERT INTO builder.columns VALUES (${id}, 'people', 2, 'leaders', 'leaders', 'Leaders', 'references', ${owner.json(
      {
        _tag: "Many",
        link: { schema: "data", table: "team_members" },
        from: "member_id",
        to: "leader_id",
        target: "people"
      }
    )}, 99)`
  yield* owner`INSERT INTO builder.version_refs VALUES (${id}, 'people', ${id}, 2)`
  yield* owner`UPDATE max.organizations SET epoch = epoch + 1 WHERE organization_id = ${id}`
})
