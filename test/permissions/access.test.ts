/** Access while policies, memberships and rows change, across several processes with their own caches. */
import { layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { expect } from "vitest"
import { Database } from "../../src/database/Database.ts"
import type { Organization } from "../../src/domain/EntityType.ts"
import { NotAdmitted, Unavailable } from "../../src/domain/errors.ts"
import type { Principal } from "../../src/domain/Principal.ts"
import { EntityQueryService } from "../../src/services/EntityQueryService.ts"
import { CurrentPrincipal } from "../../src/domain/Principal.ts"
import { Memberships } from "../../src/services/members/Memberships.ts"
import { createOrganization, names, type Process, failureOf, startProcess, answerText, Url } from "./process.ts"
import type { RuleInput } from "./support.ts"
import { addMember, addRows, idFor, type Row } from "./tables.ts"

const PEOPLE: ReadonlyArray<Row> = [
  { id: "lena", name: "Lena", status: "staff", email: "lena@example.com", phone: "+14155550100" },
  { id: "max", name: "Max", status: "staff", owner: "lena" },
  { id: "vera", name: "Vera", status: "vip", owner: "max", company: "at" }
]

/** Creates an organization with three people, of whom Lena and Max are members. */
const makeOrganization = Effect.fnUntraced(function* (
  { run }: Process,
  slug: string,
  people: ReadonlyArray<Row> = PEOPLE
) {
  const organization = yield* createOrganization({ run }, slug)
  yield* run(addRows(organization, "people", people))
  yield* run(addRows(organization, "companies", [{ id: "at", name: `Atlas of ${slug}` }]))
  yield* run(addMember(organization, "lena@atlas.com", "lena", ["member"]))
  yield* run(addMember(organization, "max@atlas.com", "max", ["member"]))
  return organization
})

const raiseEpoch = ({ run }: Process, organization: Organization) =>
  run(
    Effect.flatMap(
      Database,
      ({ owner }) => owner`UPDATE max.organizations SET epoch = epoch + 1 WHERE organization_id = ${organization.id}`
    )
  )

/** Pins a version of people for the organization, without some columns and with an optional extra one. */
const pinPeople = Effect.fnUntraced(function* (
  process_: Process,
  organization: Organization,
  without: ReadonlyArray<string>,
  extra?: string
) {
  yield* process_.run(
    Effect.gen(function* () {
      const { owner } = yield* Database
      const id = organization.id
      yield* owner`
      INSERT INTO builder.entity_type_versions (organization_id, type_key, version, name, plural_name, relation_schema, relation_table, position)
      SELECT ${id}, type_key, 2, name, plural_name, relation_schema, relation_table, position
      FROM builder.entity_type_versions WHERE organization_id = 0 AND type_key = 'people'`
      yield* owner`
      INSERT INTO builder.columns SELECT ${id}, type_key, 2, column_key, slug, name, kind, storage, position
      FROM builder.columns WHERE organization_id = 0 AND type_key = 'people' AND NOT column_key = ANY(${without}::text[])`
      if (extra !== undefined) {
        yield* owner`
        INSERT INTO builder.columns VALUES (${id}, 'people', 2, ${extra}, ${extra}, 'Extra', 'text',
          ${owner.json({ _tag: "Value", column: "external_id", keyColumn: "name_k", indexed: true })}, 99)`
      }
      yield* owner`INSERT INTO builder.version_refs VALUES (${id}, 'people', ${id}, 2)`
    })
  )
  yield* raiseEpoch(process_, organization)
})

/** Adds a custom type over the table of meetings. */
const addType = Effect.fnUntraced(function* (process_: Process, organization: Organization, slug: string) {
  yield* process_.run(
    Effect.gen(function* () {
      const { owner } = yield* Database
      const id = organization.id
      yield* owner`INSERT INTO builder.entity_types (organization_id, type_key, slug) VALUES (${id}, ${slug}, ${slug})`
      yield* owner`
      INSERT INTO builder.entity_type_versions (organization_id, type_key, version, name, plural_name, relation_schema, relation_table)
      VALUES (${id}, ${slug}, 1, 'Type', 'Types', 'data', 'meetings')`
      yield* owner`
      INSERT INTO builder.columns VALUES (${id}, ${slug}, 1, 'name', 'name', 'Name', 'text',
        ${owner.json({ _tag: "Value", column: "name", keyColumn: "name_k", indexed: true })}, 0)`
    })
  )
  yield* raiseEpoch(process_, organization)
})

const VISIBLE: ReadonlyArray<RuleInput> = [{ columns: ["name", "status", "owner", "company"] }]

layer(Url.layer, { excludeTestServices: true })("access control", (it) => {
  it.effect("hidden and unknown names get byte-identical errors, before any value is evaluated", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const hiding = yield* makeOrganization(one, "hiding")
      const lacking = yield* makeOrganization(one, "lacking")
      // In one organization the names are hidden, in the other they don't exist.
      yield* addType(one, hiding, "secrets")
      yield* pinPeople(one, lacking, ["phone", "email"])
      for (const organization of [hiding, lacking]) yield* one.publish(organization, VISIBLE)
      const [here, there] = [yield* one.admit(hiding, "lena@atlas.com"), yield* one.admit(lacking, "lena@atlas.com")]
      const values = ["", "\u0000", "x", "call me", "x".repeat(2000)]
      const questions = [
        { entityTypeId: "secrets" },
        { entityTypeId: "secrets", selectColumns: ["name"] },
        { entityTypeId: "secrets", limit: -1 },
        { entityTypeId: "secret" },
        { selectColumns: ["phone"] },
        { selectColumns: ["name", "email"] },
        { selectColumns: ["phon"] },
        { selectColumns: ["company"] },
        { filters: [{ columnId: "company", op: "ilike" as const, value: "Atlas" }] },
        {
          filters: [
            { columnId: "name", op: "gte" as const, value: "x" },
            { columnId: "phone", op: "eq" as const, value: "x" }
          ]
        },
        { selectColumns: ["phone"], limit: 1000 },
        { selectColumns: ["phone"], cursorEntityId: "not an id" },
        ...(["eq", "ilike", "gte", "lt"] as const).flatMap((op) =>
          values.map((value) => ({ filters: [{ columnId: "phone", op, value }] }))
        )
      ]
      for (const question of questions) {
        const answers = [yield* answerText(one.find(here, question)), yield* answerText(one.find(there, question))]
        expect(answers[0]).toBe(answers[1])
        expect(answers[0]).toContain("UnknownName")
        for (const word of ["salary", "E-mail", "phone,", "companies", "Atlas of"])
          expect(answers[0]).not.toContain(word)
      }
      for (const type of ["secrets", "companies", "nonsense"]) {
        expect(yield* answerText(one.columns(here, type))).toBe(yield* answerText(one.columns(there, type)))
      }
      expect(yield* one.types(here)).toEqual(["people"])
      // A relation to a hidden type is hidden too. Suggestions contain visible columns only.
      expect(yield* one.columns(here)).toEqual(["name", "status", "owner"])
      expect(yield* answerText(one.find(here, { selectColumns: ["ownr"] }))).toContain("Did you mean owner?")
    })
  )

  it.effect("a suspended member's next call is refused in every process (GHSA-56p6-qw3c-fq2g)", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* startProcess(), yield* startProcess()]
      const organization = yield* makeOrganization(one, "suspending")
      yield* one.publish(organization, VISIBLE)
      const [inOne, inTwo] = [
        yield* one.admit(organization, "lena@atlas.com"),
        yield* two.admit(organization, "lena@atlas.com")
      ]
      expect(yield* names(one.find(inOne))).toEqual(["Lena", "Max", "Vera"])
      expect(yield* names(two.find(inTwo))).toEqual(["Lena", "Max", "Vera"])

      yield* two.run(Effect.flatMap(Memberships, (members) => members.suspend(organization, "lena@atlas.com")))
      for (const [process_, principal] of [
        [one, inOne],
        [two, inTwo]
      ] as const) {
        expect(yield* failureOf(process_.find(principal))).toEqual(NotAdmitted.error)
        expect(yield* failureOf(process_.find(principal, { selectColumns: ["nonsense"] }))).toEqual(NotAdmitted.error)
        expect(yield* failureOf(process_.types(principal))).toEqual(NotAdmitted.error)
        expect(yield* failureOf(process_.columns(principal))).toEqual(NotAdmitted.error)
        expect(yield* failureOf(process_.admit(organization, "lena@atlas.com"))).toEqual(NotAdmitted.error)
      }
      expect(yield* names(one.find(yield* one.admit(organization, "max@atlas.com")))).toEqual(["Lena", "Max", "Vera"])
    })
  )

  it.effect("a published policy takes effect on the next call in every process", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* startProcess(), yield* startProcess()]
      const organization = yield* makeOrganization(one, "publishing")
      yield* one.publish(organization, VISIBLE)
      const lena = yield* one.admit(organization, "lena@atlas.com")
      expect(yield* names(one.find(lena))).toEqual(["Lena", "Max", "Vera"])

      yield* two.publish(organization, [...VISIBLE, { effect: "deny", where: { status: "vip" } }])
      expect(yield* names(one.find(lena))).toEqual(["Lena", "Max"])
      // A column that was hidden before is now a known name.
      yield* two.publish(organization, [{}])
      expect((yield* one.find(lena, { filters: [{ columnId: "phone", op: "eq", value: "415-555-0100" }] })).total).toBe(
        1
      )
      yield* two.publish(organization, [{ effect: "deny" }, {}])
      expect(yield* answerText(one.find(lena))).toContain("UnknownName")
      expect(yield* one.types(lena)).toEqual([])
    })
  )

  it.effect("a call uses the member's current roles and attributes, not those at admission", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* startProcess(), yield* startProcess()]
      const organization = yield* makeOrganization(one, "changing")
      yield* one.publish(organization, [{ role: "manager" }, { where: { status: "$attr.word" } }])
      yield* one.run(addMember(organization, "lena@atlas.com", "lena", ["manager"]))
      const lena = yield* one.admit(organization, "lena@atlas.com")
      expect(yield* names(one.find(lena))).toEqual(["Lena", "Max", "Vera"])
      yield* two.run(addMember(organization, "lena@atlas.com", "lena", ["member"], { word: "vip" }))
      expect(yield* names(one.find(lena))).toEqual(["Vera"])
      yield* two.run(addMember(organization, "lena@atlas.com", "lena", ["member"], { word: "staff" }))
      expect(yield* names(one.find(lena))).toEqual(["Lena", "Max"])
    })
  )

  it.effect("a policy published between planning and reading causes at most two retries, then Unavailable", () =>
    Effect.gen(function* () {
      let times = 0
      let statements = 0
      const two = yield* startProcess()
      const organization = yield* makeOrganization(two, "racing")
      const one = yield* startProcess((text) => {
        if (!text.startsWith("/* max people")) return Effect.void
        statements += 1
        if (times === 0) return Effect.void
        times -= 1
        return two.publish(organization, [{ where: { status: "vip" } }])
      })
      yield* two.publish(organization, VISIBLE)
      const lena = yield* one.admit(organization, "lena@atlas.com")
      expect(yield* names(one.find(lena))).toEqual(["Lena", "Max", "Vera"])
      expect(statements).toBe(1)

      times = 1
      statements = 0
      expect(yield* names(one.find(lena))).toEqual(["Vera"])
      expect(statements).toBe(2)

      times = 2
      statements = 0
      expect(yield* names(one.find(lena))).toEqual(["Vera"])
      expect(statements).toBe(3)

      const again = yield* one.admit(organization, "lena@atlas.com")
      times = Infinity
      statements = 0
      expect(yield* failureOf(one.find(again))).toBeInstanceOf(Unavailable)
      expect(statements).toBe(3)
      times = 0
      expect(yield* names(one.find(lena))).toEqual(["Vera"])
    })
  )

  it.effect("a suspension between planning and reading takes effect", () =>
    Effect.gen(function* () {
      const two = yield* startProcess()
      const organization = yield* makeOrganization(two, "outrunning")
      let armed = false
      const one = yield* startProcess((text) => {
        if (!armed || !text.startsWith("/* max people")) return Effect.void
        armed = false
        return two.run(Effect.flatMap(Memberships, (members) => members.suspend(organization, "lena@atlas.com")))
      })
      yield* two.publish(organization, VISIBLE)
      const lena = yield* one.admit(organization, "lena@atlas.com")
      expect(yield* names(one.find(lena))).toEqual(["Lena", "Max", "Vera"])
      armed = true
      expect(yield* failureOf(one.find(lena))).toEqual(NotAdmitted.error)
    })
  )

  it.effect("a rule begins and ends on time, without a publication", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const organization = yield* makeOrganization(one, "timing")
      const lena = yield* one.admit(organization, "lena@atlas.com")
      let at = 0
      // On a slow machine the moment may pass before the first answer. Then a later moment is chosen.
      for (let delay = 800; at <= Date.now(); delay *= 4) {
        at = Date.now() + delay
        const moment = new Date(at).toISOString()
        yield* one.publish(organization, [
          { where: { status: "staff" }, notAfter: moment },
          { where: { status: "vip" }, notBefore: moment }
        ])
        const before = yield* names(one.find(lena))
        if (Date.now() < at) expect(before).toEqual(["Lena", "Max"])
      }
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, at - Date.now() + 20)))
      expect(yield* names(one.find(lena))).toEqual(["Vera"])
      expect(yield* one.types(lena)).toEqual(["people"])
    })
  )

  it.effect("a column added later starts hidden, and denied rows stay hidden", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const organization = yield* makeOrganization(one, "growing")
      yield* one.publish(organization, [{}, { effect: "deny", where: { status: "vip" } }])
      const lena = yield* one.admit(organization, "lena@atlas.com")
      const columns = yield* one.columns(lena)
      const unknown = (yield* answerText(one.find(lena, { selectColumns: ["zalary"] }))).replaceAll("zalary", "salary")
      yield* pinPeople(one, organization, [], "salary")
      expect(yield* one.columns(lena)).toEqual(columns)
      expect(yield* answerText(one.find(lena, { selectColumns: ["salary"] }))).toBe(unknown)
      expect(yield* answerText(one.find(lena, { filters: [{ columnId: "salary", op: "eq", value: "1" }] }))).toBe(
        unknown
      )

      yield* one.publish(organization, [{}, { effect: "deny", where: { status: { not: "staff" } } }])
      expect(yield* one.columns(lena)).toContain("salary")
      expect(yield* names(one.find(lena, { selectColumns: ["salary"] }))).toEqual(["Lena", "Max"])
    })
  )

  it.effect("concurrent callers in one process each see only their own rows (CVE-2023-2455)", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const callers = Array.from({ length: 8 }, (_, index) => `caller${index}`)
      const organization = yield* makeOrganization(one, "interleaving", [
        ...callers.map((id) => ({ id, name: `I am ${id}` })),
        ...callers.map((id) => ({ id: `x${id}`, name: `CANARY-${id}`, owner: id, status: id }))
      ])
      yield* one.publish(organization, [
        { where: { owner: "$me" } },
        { role: "manager", where: { status: "$attr.word" } }
      ])
      for (const [index, id] of callers.entries()) {
        yield* one.run(
          addMember(organization, `${id}@atlas.com`, id, index % 2 === 0 ? ["member"] : ["manager"], { word: id })
        )
      }
      const principals = yield* Effect.forEach(callers, (id) => one.admit(organization, `${id}@atlas.com`))
      const answers = yield* Effect.forEach(
        Array.from({ length: 320 }, (_, index) => index % callers.length),
        (who) =>
          Effect.map(
            Effect.all(
              [
                answerText(one.find(principals[who]!)),
                answerText(
                  one.find(principals[who]!, {
                    filters: [{ columnId: "name", op: "ilike", value: "canary" }],
                    limit: 1
                  })
                ),
                answerText(
                  one.find(principals[who]!, {
                    filters: [{ columnId: "name", op: "eq", value: `canary-${callers[(who + 1) % 8]!}` }]
                  })
                )
              ],
              { concurrency: "unbounded" }
            ),
            (texts) => ({ who, texts })
          ),
        { concurrency: 24 }
      )
      for (const { texts, who } of answers) {
        expect(texts[0]).toContain(`CANARY-${callers[who]!}"`)
        expect(texts[1]).toContain(`CANARY-${callers[who]!}"`)
        for (const text of texts)
          expect(text.match(/CANARY-caller\d/g) ?? []).not.toContainEqual(expect.not.stringContaining(callers[who]!))
        expect(texts[2]).toBe(JSON.stringify({ total: 0, limited: true, entities: [] }))
      }
    })
  )

  it.effect(
    "a cached plan serves exactly one principal: changing any part of the principal changes the answer (CVE-2026-33729, CVE-2024-56323)",
    () =>
      Effect.gen(function* () {
        const one = yield* startProcess()
        const organization = yield* makeOrganization(one, "caching", [
          { id: "lena", name: "Lena", status: "5" },
          { id: "max", name: "Max", owner: "lena", status: "a" },
          { id: "vera", name: "Vera", owner: "max", status: "b" },
          { id: "zoe", name: "Zoe", status: "a,b" }
        ])
        yield* one.publish(organization, [
          { where: { owner: "$me" } },
          { where: { status: "$attr.word" } },
          { role: "manager" },
          { role: "agent", where: { status: ["a", "b"] } },
          { role: "agent", where: { status: "$attr.other" } }
        ])
        const lena = yield* one.admit(organization, "lena@atlas.com")
        const shown = (change: Partial<Principal>) => names(one.find({ ...lena, ...change }))
        const actor = { id: "bot", roles: ["agent"], attributes: {} }
        for (let round = 0; round < 2; round++) {
          expect(yield* shown({})).toEqual(["Max"])
          expect(yield* shown({ anchorEntityId: idFor("max") })).toEqual(["Vera"])
          expect(yield* shown({ roles: ["member", "manager"] })).toEqual(["Lena", "Max", "Vera", "Zoe"])
          expect(yield* shown({ attributes: { word: "b" } })).toEqual(["Max", "Vera"])
          expect(yield* shown({ attributes: { word: "a,b" } })).toEqual(["Max", "Zoe"])
          expect(yield* shown({ attributes: { word: "5" } })).toEqual(["Lena", "Max"])
          expect(yield* shown({ attributes: { word: 5 } })).toEqual(["Max"])
          expect(yield* shown({ attributes: { other: "b" } })).toEqual(["Max"])
          expect(yield* shown({ roles: ["manager"], actor })).toEqual(["Max", "Vera"])
          expect(yield* shown({ roles: ["manager"], actor: { ...actor, attributes: { other: "5" } } })).toEqual([
            "Lena",
            "Max",
            "Vera"
          ])
          expect(yield* shown({ roles: ["manager"], actor: { ...actor, roles: ["manager"] } })).toEqual([
            "Lena",
            "Max",
            "Vera",
            "Zoe"
          ])
          expect(yield* shown({ scope: [{ type: "people", action: "read", columns: "*" }] })).toEqual(["Max"])
          const asked = { selectColumns: ["status"] }
          expect((yield* one.find(lena, asked)).entities[0]).toMatchObject({ columns: { status: "a" } })
          const nameOnly: Principal["scope"] = [{ type: "people", action: "read", columns: ["name"] }]
          expect(yield* shown({ scope: nameOnly })).toEqual(["Max"])
          expect(yield* answerText(one.find({ ...lena, scope: nameOnly }, asked))).toContain("UnknownName")
          expect(yield* answerText(one.find({ ...lena, scope: [] }))).toContain("UnknownName")
          expect(
            yield* answerText(one.find({ ...lena, scope: [{ type: "companies", action: "read", columns: "*" }] }))
          ).toContain("UnknownName")
        }
      })
  )

  it.effect("a plan isn't shared between organizations with identical policies, members and epochs", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const shown = []
      for (const [slug, country] of [
        ["american", "US"],
        ["german", "DE"]
      ] as const) {
        const organization = yield* createOrganization(one, slug, country)
        yield* one.run(
          addRows(organization, "people", [
            { id: "a", name: "A", phone: "+1 415 555 0100" },
            { id: "b", name: "B", phone: "+49 415 5550100" }
          ])
        )
        yield* one.publish(organization, [{ where: { phone: "(415) 555-0100" } }])
        yield* one.run(addMember(organization, "lena@atlas.com", "lena", ["member"]))
        yield* one.run(
          Effect.flatMap(
            Database,
            ({ owner }) => owner`UPDATE max.organizations SET epoch = 100 WHERE organization_id = ${organization.id}`
          )
        )
        shown.push(yield* names(one.find(yield* one.admit(organization, "lena@atlas.com"))))
      }
      // The same digits are different phone numbers in different countries.
      expect(shown).toEqual([["A"], ["B"]])
    })
  )

  it.effect("answers to one of two organizations with the same ids contain no byte of the other", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const rows = (canary: string): ReadonlyArray<Row> =>
        PEOPLE.map((row) => ({
          ...row,
          name: `${row.name} ${canary}`,
          ...(row.email === undefined ? {} : { email: `${canary}@example.com` })
        }))
      const organizations = []
      for (const canary of ["alpha", "omega"]) {
        const organization = yield* makeOrganization(one, canary, rows(canary))
        yield* one.run(
          addRows(organization, "meetings", [
            {
              id: "m",
              name: `Meeting ${canary}`,
              owner: "max",
              company: "at",
              start: "2026-03-01T12:00:00Z",
              attendees: ["lena", "vera"]
            }
          ])
        )
        // References and links whose targets exist only in the other organization.
        yield* one.run(
          addRows(organization, "people", [
            { id: `only-${canary}`, name: `Only ${canary}`, owner: `only-${canary === "alpha" ? "omega" : "alpha"}` }
          ])
        )
        yield* one.run(
          addRows(organization, "meetings", [
            {
              id: "n",
              name: `Next ${canary}`,
              owner: `only-${canary === "alpha" ? "omega" : "alpha"}`,
              attendees: [`only-${canary === "alpha" ? "omega" : "alpha"}`]
            }
          ])
        )
        yield* one.publish(organization, [{}, { type: "companies" }, { type: "meetings" }])
        organizations.push(organization)
      }
      for (const [index, organization] of organizations.entries()) {
        const [own, other] = index === 0 ? ["alpha", "omega"] : ["omega", "alpha"]
        const lena = yield* one.admit(organization, "lena@atlas.com")
        const questions = [
          { selectColumns: ["name", "owner", "company", "email", "phone"] },
          { entityTypeId: "companies", selectColumns: ["name", "owner"] },
          { entityTypeId: "meetings", selectColumns: ["name", "owner", "company", "attendees", "start"] },
          { filters: [{ columnId: "name", op: "ilike" as const, value: "l" }], selectColumns: ["owner"] },
          { filters: [{ columnId: "phone", op: "eq" as const, value: "415-555-0100" }], selectColumns: ["email"] },
          { filters: [{ columnId: "owner", op: "eq" as const, value: idFor("lena") }], selectColumns: ["owner"] },
          {
            entityTypeId: "meetings",
            filters: [{ columnId: "attendees", op: "ilike" as const, value: "Vera" }],
            selectColumns: ["attendees"]
          },
          {
            entityTypeId: "meetings",
            filters: [{ columnId: "start", op: "gte" as const, value: "2026" }],
            selectColumns: ["owner"]
          }
        ]
        for (const question of questions) {
          const text = yield* answerText(one.find(lena, question))
          expect(text).toContain(own)
          expect(text).not.toContain(other)
          for (const needle of [other!, `only ${other!}`, `${other!}@example.com`]) {
            for (const columnId of ["name", "owner", ...("entityTypeId" in question ? [] : ["email", "company"])]) {
              const found = yield* answerText(
                one.find(lena, { ...question, filters: [{ columnId, op: "ilike", value: needle }] })
              )
              if (!found.includes("UnknownName")) expect(found).toContain(`"total":0`)
            }
          }
        }
        // References to ids that exist only in the other organization are empty.
        const next = yield* one.find(lena, {
          entityTypeId: "meetings",
          filters: [{ columnId: "name", op: "eq", value: `next ${own!}` }],
          selectColumns: ["owner", "attendees"]
        })
        expect(next.entities).toEqual([{ entityId: idFor("n"), displayName: `Next ${own!}`, columns: {} }])
        // A request for another organization than the principal's is refused.
        const foreign = organizations[1 - index]!
        for (const principal of [lena, { ...lena, organizationId: foreign.id }]) {
          const asked = yield* Effect.result(
            one.run(
              Effect.flatMap(EntityQueryService, (queries) =>
                queries.findEntities({
                  organizationId: principal === lena ? foreign.id : organization.id,
                  entityTypeId: "people",
                  filters: []
                })
              ).pipe(Effect.provideService(CurrentPrincipal, principal))
            )
          )
          expect(Result.isFailure(asked) && asked.failure).toEqual(NotAdmitted.error)
        }
      }
    })
  )

  it.effect("editing a row's e-mail address doesn't change who is admitted", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const organization = yield* makeOrganization(one, "editing")
      yield* one.publish(organization, VISIBLE)
      yield* one.run(
        Effect.flatMap(
          Database,
          ({ owner }) => owner`
        UPDATE data.people SET email = 'lena@atlas.com', email_k = 'lena@atlas.com' WHERE organization_id = ${organization.id} AND name = 'Vera'`
        )
      )
      expect((yield* one.admit(organization, "lena@atlas.com")).anchorEntityId).toBe(idFor("lena"))
      expect(yield* failureOf(one.admit(organization, "lena@example.com"))).toEqual(NotAdmitted.error)
      expect(yield* failureOf(one.admit(organization, "vera@atlas.com"))).toEqual(NotAdmitted.error)
    })
  )

  it.effect("an attribute of an unsupported type counts as missing and affects no other rule", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const organization = yield* makeOrganization(one, "attributes")
      yield* one.publish(organization, [
        { where: { status: "$attr.word" } },
        { type: "companies" },
        { type: "companies", effect: "deny", columns: ["phone"], where: { name: "$attr.regions" } }
      ])
      // JSON stores NaN as null.
      for (const broken of [
        { level: Number.NaN },
        { level: null },
        { regions: ["north", "south"] },
        { regions: { a: 1 } }
      ]) {
        yield* one.run(
          addMember(organization, "lena@atlas.com", "lena", ["member"], { word: "vip", ...broken } as never)
        )
        const lena = yield* Effect.exit(
          Effect.flatMap(one.admit(organization, "lena@atlas.com"), (principal) =>
            Effect.all([names(one.find(principal)), one.types(principal), one.columns(principal, "companies")])
          )
        )
        expect(lena).toMatchObject({ value: [["Vera"], ["people", "companies"], ["name", "status", "owner", "email"]] })
      }
    })
  )
})
