/** Synchronizing members with a list: its changes, its faults and its audit records. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { OperatorError } from "../../../src/domain/errors.ts"
import { IdentityResolver } from "../../../src/services/members/IdentityResolver.ts"
import { Importer } from "../../../src/services/import/Importer.ts"
import { membersByColumn } from "../../../src/services/members/memberColumn.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { addPeople, makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"

const folder = mkdtempSync(join(tmpdir(), "max-members-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const people = [
  { name: "Ada", email: "ada@example.com", phone: "212-555-0101" },
  { name: "Bob", email: "bob@example.com" },
  { name: "Cy", email: "cy@example.com" },
  { name: "Twin", email: "twin@example.com" },
  { name: "Twin", email: "twin@example.com" }
]

const listed = (...rows: ReadonlyArray<readonly [identifier: string, ...roles: ReadonlyArray<string>]>) =>
  rows.map(([identifier, ...roles], index) => ({ place: `line ${index + 2}`, identifier, roles }))

const eventsOf = Effect.fnUntraced(function* (organization: Organization) {
  const { owner } = yield* Database
  const rows = yield* owner<{ action: string }>`SELECT action FROM max.audit_log
    WHERE organization_id = ${organization.id} AND chain = 'changes' AND action ~ '^(membership|identifier)' ORDER BY sequence`
  return rows.map(({ action }) => action)
})

layer(TestServices, { excludeTestServices: true })("a list of members", (it) => {
  it.effect("adds, changes and suspends members, and records it; a dry run reports the same without changes", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("listed")
      const members = yield* Memberships
      const identities = yield* IdentityResolver
      yield* addPeople(organization, people)
      yield* members.sync(organization, listed(["ada@example.com", "admin"], ["bob@example.com", "member"]))
      expect(yield* eventsOf(organization)).toEqual([
        "membership.added",
        "identifier.verified",
        "membership.added",
        "identifier.verified"
      ])
      const next = listed(["(212) 555-0101", "admin"], ["cy@example.com", "member", "admin"])
      const before = yield* members.list(organization)
      const dry = yield* members.sync(organization, next, { dryRun: true })
      expect(dry).toEqual({
        added: [{ who: "cy@example.com", roles: ["member", "admin"] }],
        changed: [],
        suspended: [{ id: expect.any(String), who: "bob@example.com", roles: ["member"] }],
        uninvited: [],
        verified: ["(212) 555-0101"],
        unchanged: 1
      })
      expect(yield* members.list(organization)).toEqual(before)
      expect(yield* eventsOf(organization)).toHaveLength(4)
      expect(yield* members.sync(organization, next)).toEqual(dry)
      expect((yield* eventsOf(organization)).slice(4).sort()).toEqual([
        "identifier.verified",
        "identifier.verified",
        "membership.added",
        "membership.suspended"
      ])
      const bob = identities.admit(organization, { kind: "email", key: "bob@example.com" })
      expect((yield* Effect.flip(bob))._tag).toBe("NotAdmitted")
      const back = yield* members.sync(organization, [...next, ...listed(["bob@example.com", "admin"])])
      expect(back).toMatchObject({
        changed: [{ who: "bob@example.com", roles: ["admin"], before: { roles: ["member"], suspended: true } }]
      })
      expect((yield* bob).principal.roles).toEqual(["admin"])
      expect(yield* members.sync(organization, [...next, ...listed(["bob@example.com", "admin"])])).toMatchObject({
        added: [],
        changed: [],
        suspended: [],
        unchanged: 3
      })
    })
  )

  it.effect("with any fault changes nothing, and reports all faults", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("in-the-way")
      const members = yield* Memberships
      const { owner } = yield* Database
      yield* addPeople(organization, people)
      yield* members.sync(organization, listed(["ada@example.com", "admin"]))
      // Since then the address has moved to Bob's row, which doesn't make it his verified identifier.
      yield* owner`UPDATE data.people SET email_k = 'old@example.com' WHERE organization_id = ${organization.id} AND name = 'Ada'`
      yield* owner`UPDATE data.people SET email_k = 'ada@example.com' WHERE organization_id = ${organization.id} AND name = 'Bob'`
      const before = yield* members.list(organization)
      for (const dryRun of [true, false]) {
        const error = yield* Effect.flip(
          members.sync(
            organization,
            listed(
              ["ada@example.com", "member"],
              ["cy@example.com", "membr"],
              ["cy@example.com", "member"],
              ["cy@example.com", "admin"],
              ["twin@example.com", "member"],
              ["unknown@example.com", "member"],
              ["nonsense", "member"],
              ["212-555-0101"]
            ),
            { dryRun }
          )
        )
        expect((error as OperatorError).details).toEqual([
          `line 3: There is no role "membr". Did you mean member?`,
          "line 5: this is the person of line 4 again.",
          `line 6: "twin@example.com" belongs to several people. Only an identifier of one person can admit it.`,
          `line 7: No person has "unknown@example.com". Import the person first, or create one: max member add … --create`,
          `line 8: "nonsense" is neither an e-mail address nor a phone number.`,
          `line 9: "212-555-0101" has no role.`,
          `line 2: "ada@example.com" is the verified identifier of another member. max member list shows whose.`
        ])
      }
      expect(((yield* Effect.flip(members.sync(organization, []))) as OperatorError).details).toEqual([
        "The list is empty: that would suspend every member."
      ])
      expect(yield* members.list(organization)).toEqual(before)
    })
  )

  it.effect("may come from a column of people", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("by-column")
      const members = yield* Memberships
      const importer = yield* Importer
      const importPeople = (...lines: ReadonlyArray<string>) => {
        const file = join(folder, "people.csv")
        writeFileSync(file, ["id,name,email,phone,access", ...lines].join("\n"))
        return importer.import(organization, { files: [file], type: "people", create: true })
      }
      yield* importPeople("1,Ada,ada@example.com,,admin", "2,Bob,,212-555-0101,member; admin", "3,Cy,cy@example.com,,")
      expect(yield* members.sync(organization, yield* membersByColumn(organization, "people.access"))).toMatchObject({
        added: [
          { who: "ada@example.com", roles: ["admin"] },
          { who: "212-555-0101", roles: ["member", "admin"] }
        ]
      })
      yield* importPeople("1,Ada,ada@example.com,,", "2,Bob,,212-555-0101,member")
      expect(yield* members.sync(organization, yield* membersByColumn(organization, "people.access"))).toMatchObject({
        changed: [{ who: "212-555-0101", roles: ["member"] }],
        suspended: [{ who: "ada@example.com" }]
      })
      yield* importPeople("4,Dan,,,admin")
      const nameless = yield* Effect.flip(membersByColumn(organization, "people.access"))
      expect((nameless as OperatorError).details).toEqual([`"Dan" has neither an e-mail address nor a phone number.`])
      for (const path of ["people.acces", "companies.name", "access", "people.owner"]) {
        expect((yield* Effect.flip(membersByColumn(organization, path))).message).toContain(
          "--column must be a column of people that holds text or a list"
        )
      }
    })
  )
})
