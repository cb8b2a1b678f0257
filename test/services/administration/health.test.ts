import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { Env } from "../../../src/env.ts"
import { installationOf } from "../../../src/layers.ts"
import { Administration } from "../../../src/services/administration/Administration.ts"
import { AuditLog } from "../../../src/services/audit/AuditLog.ts"
import { IdentityResolver } from "../../../src/services/members/IdentityResolver.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { recordBackup } from "../../../src/services/operations/backupRecord.ts"
import { examine } from "../../../src/services/operations/Doctor.ts"
import { administered } from "../../support/administered.ts"
import { TestServices } from "../../support/database.ts"

const yukiOf = ({ host, organization }: Effect.Success<ReturnType<typeof administered>>) =>
  Effect.flatMap(IdentityResolver, (identities) =>
    Effect.map(identities.admit(organization, { kind: "email", key: `yuki@${host}` }), ({ principal }) => principal)
  )

layer(TestServices, { excludeTestServices: true })("health", (it) => {
  it.effect("shows the only organization what doctor finds, without the address of the database", () =>
    Effect.gen(function* () {
      const harbor = yield* administered({ slug: "harbor" })
      const { health } = yield* Administration
      const env = yield* Env
      const found = yield* examine(installationOf(env))
      const { findings } = yield* health(yield* yukiOf(harbor))
      expect(findings.map(({ check }) => check)).toEqual(found.map(({ check }) => check))
      for (const check of ["postgres", "schema", "roles", "organizations", "indexes"]) {
        const { message, status } = found.find((one) => one.check === check)!
        expect(findings.find((one) => one.check === check)).toMatchObject({ message, state: status })
      }
      expect(found[0]!.message).toContain(":")
      expect(findings[0]).toMatchObject({ check: "connection", message: "The database answers its owner." })
    })
  )

  it.effect("shows nothing of another organization: neither its findings nor whether it has any", () =>
    Effect.gen(function* () {
      const cedar = yield* administered({ slug: "cedar-canary" })
      const { organization: first } = yield* administered({ slug: "birch" })
      const members = yield* Memberships
      // Doctor names an organization without an active member.
      for (const { identifiers } of yield* members.list(cedar.organization))
        yield* Effect.ignore(members.suspend(cedar.organization, identifiers[0]!))
      const found = yield* examine(installationOf(yield* Env))
      expect(JSON.stringify(found)).toContain("cedar-canary")
      const { health } = yield* Administration
      const birch = yield* (yield* IdentityResolver).admit(first, { kind: "email", key: "yuki@birch.example" })
      const report = yield* health(birch.principal)
      expect(JSON.stringify(report)).not.toContain("cedar-canary")
      expect(report.findings.map(({ check, state }) => [check, state])).toEqual([
        ["connection", "ok"],
        ["postgres", "ok"],
        ["schema", "ok"],
        ["extensions", "ok"],
        ["clock", "ok"],
        ["others", "operator"]
      ])
    })
  )

  it.effect("says when the last backup was made, from the audit log of the organization", () =>
    Effect.gen(function* () {
      const maple = yield* administered({ slug: "maple" })
      const { health } = yield* Administration
      const { owner } = yield* Database
      const yuki = yield* yukiOf(maple)
      expect((yield* health(yuki)).lastBackup).toBeUndefined()
      yield* recordBackup(owner, { rows: 7, bytes: 4096 })
      yield* recordBackup(owner, { rows: 8, bytes: 4097 })
      const log = yield* AuditLog
      const [latest, before] = yield* log.list(maple.organization, {
        chain: "changes",
        action: "backup.made",
        limit: 9
      })
      expect(latest).toMatchObject({ actor: "operator", subject: "database", details: { rows: 8, bytes: 4097 } })
      expect(before).toMatchObject({ details: { rows: 7 } })
      const { lastBackup } = yield* health(yuki)
      expect(lastBackup!.slice(0, 19)).toBe(new Date(latest!.at).toISOString().slice(0, 19))
      expect((yield* log.verify(maple.organization)).every(({ broken }) => broken === undefined)).toBe(true)
    })
  )
})
