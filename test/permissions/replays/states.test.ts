/**
 * Replays of published vulnerabilities in sessions, caches and inconsistent reads, each named after its source. Each
 * process has its own caches over one database.
 */
import { layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { NotAdmitted, Unavailable } from "../../../src/domain/errors.ts"
import { Importer } from "../../../src/services/import/Importer.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { names, type Process, failureOf, startProcess, answerText, Url } from "../process.ts"
import { addMember, idFor } from "../tables.ts"
import { filter, under } from "./setting.ts"

const suspend = ({ run }: Process, organization: Organization, identifier: string) =>
  run(Effect.flatMap(Memberships, (members) => members.suspend(organization, identifier)))

const owner = ({ run }: Process, statements: (organizationId: bigint) => ReadonlyArray<string>, { id }: Organization) =>
  run(
    Effect.flatMap(Database, (database) =>
      Effect.forEach(statements(id), (statement) => database.owner.unsafe(statement).unprepared, { discard: true })
    )
  )

/** Pins a version of people in which slugs name other columns. */
const remapped = (organizationId: bigint) => [
  `INSERT INTO builder.entity_type_versions (organization_id, type_key, version, name, plural_name, relation_schema, relation_table, position)
   SELECT ${organizationId}, type_key, 2, name, plural_name, relation_schema, relation_table, position
   FROM builder.entity_type_versions WHERE organization_id = 0 AND type_key = 'people'`,
  `INSERT INTO builder.columns SELECT ${organizationId}, type_key, 2, column_key,
     CASE column_key WHEN 'phone' THEN 'mobile' WHEN 'email' THEN 'phone' ELSE slug END, name, kind, storage, position
   FROM builder.columns WHERE organization_id = 0 AND type_key = 'people'`,
  `INSERT INTO builder.version_refs VALUES (${organizationId}, 'people', ${organizationId}, 2)`,
  `UPDATE max.organizations SET epoch = epoch + 1 WHERE organization_id = ${organizationId}`
]

layer(Url.layer, { excludeTestServices: true })("session and cache state", (it) => {
  it.effect("policy, membership, catalog and epoch are read atomically (a barrier)", () =>
    Effect.gen(function* () {
      const two = yield* startProcess()
      for (const [slug, change, before, after] of [
        [
          "policy",
          (organization: Organization) => two.publish(organization, [{ where: { status: "vip" } }]),
          ["Ann", "Bob", "Lena"],
          ["Ann"]
        ],
        [
          "membership",
          (organization: Organization) => two.run(addMember(organization, "lena@atlas.com", "lena", ["no-such-role"])),
          ["Ann", "Bob", "Lena"],
          []
        ],
        [
          "catalog",
          (organization: Organization) => owner(two, remapped, organization),
          ["Ann", "Bob", "Lena"],
          ["Ann", "Bob", "Lena"]
        ]
      ] as const) {
        let organization: Organization | undefined
        let read = false
        // Applies the change right after the state is read, before the next statement.
        const one = yield* startProcess((text) => {
          if (organization === undefined) return Effect.void
          if (!read) {
            read = text.startsWith("/* max state")
            return Effect.void
          }
          const changing = change(organization)
          organization = undefined
          return changing
        })
        const made = yield* under(`barrier-${slug}`, [{}], {}, two)
        const lena = yield* one.admit(made.organization, "lena@atlas.com")
        expect(yield* names(one.find(lena))).toEqual(before)
        yield* two.publish(made.organization, [{}, { type: "meetings" }])
        organization = made.organization
        read = false
        // The first query may be Unavailable. No answer may use the stale state.
        const answers = [
          yield* answerText(one.find(lena, { selectColumns: ["phone"] })),
          yield* answerText(one.find(lena))
        ]
        expect(organization).toBeUndefined()
        if (slug === "policy") for (const answer of answers) expect(answer).not.toContain("Bob")
        if (slug === "membership") expect(answers.join()).not.toContain("entityId")
        if (slug === "catalog") expect(answers[0]).not.toContain("+1415555")
        expect((yield* Effect.result(names(one.find(lena))))._tag).toBe(after.length > 0 ? "Success" : "Failure")
        if (after.length > 0) expect(yield* names(one.find(lena))).toEqual(after)
      }
    })
  )

  it.effect("rules follow the key of a column whose slug changes (a slug under a pin)", () =>
    Effect.gen(function* () {
      const { find, lena, organization, process } = yield* under("remapping", [{ columns: ["name", "phone"] }])
      expect(yield* process.columns(lena)).toEqual(["name", "phone"])
      yield* owner(process, remapped, organization)
      // The slug `phone` now names the e-mail column, which no rule shows; the phone column is `mobile`.
      expect(yield* process.columns(lena)).toEqual(["name", "mobile"])
      expect(yield* answerText(find({ selectColumns: ["phone"] }))).toContain("UnknownName")
      expect(yield* answerText(find(filter("phone", "eq", "x@example.com")))).toContain("UnknownName")
      expect(yield* find({ ...filter("mobile", "eq", "+14155550101"), selectColumns: ["mobile"] })).toMatchObject({
        entities: [{ displayName: "Ann", columns: { mobile: "+14155550101" } }]
      })
    })
  )

  it.effect("an admin's phone imported onto another person, or another phone onto the admin, admits no one else", () =>
    Effect.gen(function* () {
      const { organization, process } = yield* under("importing", [{}])
      const members = yield* process.run(Effect.map(Memberships, (all) => all))
      yield* members.add(organization, { identifier: "+14155550100", roles: ["manager"] })
      const admin = { kind: "phone", key: "+14155550100" } as const
      const path = join(mkdtempSync(join(tmpdir(), "max-phones-")), "people.csv")
      const importing = (text: string) => {
        writeFileSync(path, text)
        return process.run(
          Effect.flatMap(Importer, (importer) => importer.import(organization, { files: [path], type: "people" }))
        )
      }
      yield* importing("id,name,phone\nv,Vera,415-555-0100\nw,Wim,415-555-0199\n")
      // Two people now have the admin's phone number, but it still admits only the admin's membership.
      expect((yield* process.admitBy(organization, admin)).anchorEntityId).toBe(idFor("lena"))
      // A phone number written into the admin's row is not a verified identifier.
      yield* owner(
        process,
        (id) => [
          `UPDATE data.people SET phone = '415-555-0199', phone_k = '+14155550199' WHERE organization_id = ${id} AND name = 'Lena'`
        ],
        organization
      )
      const other = { kind: "phone", key: "+14155550199" } as const
      expect(yield* failureOf(process.admitBy(organization, other))).toEqual(NotAdmitted.error)
      rmSync(dirname(path), { recursive: true })
    })
  )

  it.effect("a row of another organization in a result makes the whole answer Unavailable", () =>
    Effect.gen(function* () {
      let broken = false
      const one = yield* startProcess(
        () => Effect.void,
        (rows) =>
          rows.map((row, index) =>
            broken && index === 1 && "organization_id" in row ? { ...row, organization_id: 1n } : row
          )
      )
      const { find, lena } = yield* under("foreign", [{}], {}, one)
      expect(yield* names(find())).toEqual(["Ann", "Bob", "Lena"])
      broken = true
      expect(yield* failureOf(find())).toBeInstanceOf(Unavailable)
      // The check includes the extra row that is read to detect a next page.
      expect(yield* failureOf(one.find(lena, { limit: 1 }))).toBeInstanceOf(Unavailable)
      broken = false
      expect(yield* names(find())).toEqual(["Ann", "Bob", "Lena"])
    })
  )

  it.effect("concurrent calls of one member with different attributes each get their own answer (CVE-2026-34972)", () =>
    Effect.gen(function* () {
      const { lena, process } = yield* under("batching", [
        { where: { name: "$attr.word" } },
        { role: "agent", where: { name: ["Ann", "Bob"] } },
        { type: "companies", where: { name: "$attr.word" } }
      ])
      const questions = ["Ann", "Bob", "Lena", "Secret Inc", "Open Inc"].flatMap((word) =>
        (["people", "companies"] as const).flatMap((entityTypeId) =>
          [undefined, { id: "bot", roles: ["agent"], attributes: { word } }].map((actor) => ({
            word,
            entityTypeId,
            actor
          }))
        )
      )
      const asked = Array.from({ length: 8 }, () => questions).flat()
      const answers = yield* Effect.forEach(
        asked,
        ({ actor, entityTypeId, word }) =>
          answerText(
            process.find({ ...lena, attributes: { word }, ...(actor === undefined ? {} : { actor }) }, { entityTypeId })
          ),
        { concurrency: "unbounded" }
      )
      for (const [index, { actor, entityTypeId, word }] of asked.entries()) {
        const seen = [...answers[index]!.matchAll(/"displayName":"([^"]+)"/g)].map(([, name]) => name)
        const own = word.endsWith("Inc") ? "companies" : "people"
        const visible = entityTypeId === own && (actor === undefined || ["Ann", "Bob"].includes(word))
        expect([word, entityTypeId, actor?.roles, seen]).toEqual([
          word,
          entityTypeId,
          actor?.roles,
          visible ? [word] : []
        ])
      }
    })
  )

  it.effect("a plan for one role isn't reused for another, in any order of calls (CVE-2023-2455)", () =>
    Effect.gen(function* () {
      const { lena, process } = yield* under("roles", [
        { columns: ["name"], where: { status: "vip" } },
        { role: "manager", columns: ["name", "phone"] }
      ])
      for (const roles of [["manager"], ["member"], ["manager"], ["manager", "member"], ["member"]]) {
        const found = process.find({ ...lena, roles })
        const phones = yield* answerText(process.find({ ...lena, roles }, { selectColumns: ["phone"] }))
        expect(yield* names(found)).toEqual(roles.includes("manager") ? ["Ann", "Bob", "Lena"] : ["Ann"])
        expect(phones.includes("+1415555")).toBe(roles.includes("manager"))
      }
    })
  )

  it.effect("thirty-two callers under load can neither delay nor outrun a suspension", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const two = yield* startProcess()
      const { organization } = yield* under("hammering", [{}], {}, one)
      yield* one.run(addMember(organization, "max@atlas.com", "bob", ["member"]))
      const [lena, max] = [
        yield* one.admit(organization, "lena@atlas.com"),
        yield* one.admit(organization, "max@atlas.com")
      ]
      let suspended = false
      let refused = 0
      const outran: Array<string> = []
      const enough = yield* Deferred.make<void>()
      const caller = (number: number) =>
        Effect.gen(function* () {
          for (let after = 0; after < 3;) {
            const late = suspended
            if (late) after += 1
            const query = number % 2 === 0 ? { entityTypeId: "companies" } : {}
            const answer = yield* answerText(one.find(lena, query))
            refused += 1
            if (refused === 200) yield* Deferred.succeed(enough, undefined)
            if (late && answer !== JSON.stringify({ fault: "NotAdmitted", message: NotAdmitted.error.message })) {
              outran.push(answer)
            }
            if (number % 2 === 0) expect(answer).not.toContain("Inc")
          }
        })
      const callers = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: 32 }, (_, number) => number),
          caller,
          { concurrency: "unbounded" }
        )
      )
      yield* Deferred.await(enough)
      yield* suspend(two, organization, "lena@atlas.com")
      suspended = true
      yield* Fiber.join(callers)
      expect(outran).toEqual([])
      expect(yield* names(one.find(max))).toEqual(["Ann", "Bob", "Lena"])
    })
  )
})
