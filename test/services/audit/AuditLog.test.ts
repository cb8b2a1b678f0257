import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { expect } from "vitest"
import { appendAudit } from "../../../src/database/audit.ts"
import { Database } from "../../../src/database/Database.ts"
import { CurrentPrincipal } from "../../../src/domain/Principal.ts"
import { AuditLog } from "../../../src/services/audit/AuditLog.ts"
import { EntityQueryService } from "../../../src/services/EntityQueryService.ts"
import { IdentityResolver } from "../../../src/services/members/IdentityResolver.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { Refusals } from "../../../src/services/audit/Refusals.ts"
import { addPeople, asMember, makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"

const changes = { chain: "changes", limit: 100 } as const
const reads = { chain: "reads", limit: 100 } as const

layer(TestServices)("the audit log", (it) => {
  it.effect("records every change once and in order", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("order")
      const members = yield* Memberships
      const audit = yield* AuditLog
      yield* addPeople(organization, [{ name: "Lena", phone: "724-857-2625" }])
      const lena = { identifier: "724-857-2625", roles: ["member"], attributes: { region: "west" } }
      yield* members.add(organization, lena)
      yield* members.add(organization, lena)
      yield* members.add(organization, { ...lena, roles: ["admin"] })
      yield* members.suspend(organization, "724-857-2625")
      const records = (yield* audit.list(organization, changes)).toReversed()
      expect(records.map(({ action, sequence }) => [Number(sequence), action])).toEqual([
        [1, "organization.created"],
        [2, "policy.published"],
        [3, "membership.added"],
        [4, "identifier.verified"],
        [5, "membership.changed"],
        [6, "membership.suspended"]
      ])
      expect(records[2]!.details).toEqual({ roles: ["member"], attributes: { region: "west" } })
      expect(records[3]!.details).toEqual({ kind: "phone", identifier: "…2625" })
      expect(records[4]!.details).toMatchObject({ roles: ["admin"], before: { roles: ["member"], suspended: false } })
      expect(JSON.stringify(records.map(({ details }) => details))).not.toContain("857")
    })
  )

  it.effect("commits a change and its record together: a failed transaction leaves neither", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("together")
      const policies = yield* Policies
      const audit = yield* AuditLog
      const { app, owner } = yield* Database
      const { document } = yield* policies.current(organization)
      const before = yield* audit.list(organization, changes)
      yield* owner.unsafe(
        "ALTER TABLE max.audit_log ADD CONSTRAINT broken CHECK (action <> 'policy.published') NOT VALID"
      )
      const failure = yield* Effect.flip(policies.publish(organization, document, "operator"))
      yield* owner.unsafe("ALTER TABLE max.audit_log DROP CONSTRAINT broken")
      expect(failure._tag).toBe("Unavailable")
      expect((yield* policies.current(organization)).version).toBe(1)
      expect(yield* audit.list(organization, changes)).toEqual(before)
      expect(yield* app`SELECT 1 FROM max.policies WHERE organization_id = ${organization.id} AND version > 1`).toEqual(
        []
      )
    })
  )

  it.effect("is append-only for the role that writes it", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("append")
      const { app, search } = yield* Database
      for (const attempt of [
        "UPDATE max.audit_log SET actor = 'x'",
        "DELETE FROM max.audit_log",
        "TRUNCATE max.audit_log"
      ]) {
        expect((yield* Effect.flip(app.unsafe(attempt))).reason._tag).toBe("AuthorizationError")
      }
      expect((yield* Effect.flip(search.unsafe("SELECT 1 FROM max.audit_log"))).reason._tag).toBe("AuthorizationError")
      expect((yield* Effect.flatMap(AuditLog, (audit) => audit.list(organization, changes))).length).toBe(2)
    })
  )

  it.effect("chains records by a hash that other programs can compute", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("chain")
      const { app } = yield* Database
      yield* app.withTransaction(
        appendAudit(app, organization.id, "changes", [
          {
            actor: "operator",
            action: "test",
            subject: 'a "quoted" \\ subject\n',
            details: { text: "ä\u0001…", empty: "" }
          }
        ])
      )
      const rows = yield* app<Record<"sequence" | "at" | "actor" | "action" | "subject" | "details" | "hash", string>>`
        SELECT sequence::text AS sequence, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS at, actor, action,
          subject, details, encode(hash, 'hex') AS hash FROM max.audit_log
        WHERE organization_id = ${organization.id} ORDER BY sequence`
      let previous = Buffer.alloc(0)
      for (const { action, actor, at, details, hash, sequence, subject } of rows) {
        const fields = [String(organization.id), "changes", sequence, at, actor, action, subject, details]
        const record = `[${fields.map((field) => JSON.stringify(field)).join(", ")}]`
        previous = createHash("sha256").update(previous).update(record).digest()
        expect(previous.toString("hex")).toBe(hash)
      }
      expect(rows.length).toBe(3)
    })
  )

  it.effect("detects altered, removed, inserted and moved records, and a truncated chain", () =>
    Effect.gen(function* () {
      const audit = yield* AuditLog
      const { owner } = yield* Database
      const members = yield* Memberships
      const tamperings: ReadonlyArray<readonly [string, bigint]> = [
        ["UPDATE max.audit_log SET subject = 'x' WHERE organization_id = $1 AND sequence = 3", 3n],
        ["UPDATE max.audit_log SET at = at + interval '1 microsecond' WHERE organization_id = $1 AND sequence = 2", 2n],
        ["UPDATE max.audit_log SET details = details || ' ' WHERE organization_id = $1 AND sequence = 1", 1n],
        ["DELETE FROM max.audit_log WHERE organization_id = $1 AND sequence = 2", 2n],
        ["DELETE FROM max.audit_log WHERE organization_id = $1 AND sequence = 1", 1n],
        ["UPDATE max.audit_log SET sequence = sequence + 1 WHERE organization_id = $1 AND sequence = 4", 4n],
        [
          `INSERT INTO max.audit_log SELECT organization_id, chain, 5, at, actor, action, subject, details, hash
           FROM max.audit_log WHERE organization_id = $1 AND sequence = 4`,
          5n
        ]
      ]
      for (const [index, [statement, place]] of tamperings.entries()) {
        const organization = yield* makeOrganization(`tampered-${index}`)
        yield* members.add(organization, { identifier: "a@b.example", roles: ["member"], create: {} })
        const [whole] = yield* audit.verify(organization)
        expect(whole).toMatchObject({ broken: undefined, head: { sequence: 4n } })
        yield* owner.unsafe(statement, [organization.id])
        expect((yield* audit.verify(organization))[0]!.broken).toBe(place)
      }
      const organization = yield* makeOrganization("cut")
      const { head } = (yield* audit.verify(organization))[0]!
      yield* owner`DELETE FROM max.audit_log WHERE organization_id = ${organization.id} AND sequence = ${head!.sequence}`
      expect((yield* audit.verify(organization))[0]!.broken).toBe(undefined)
      expect(yield* audit.contains(organization, "changes", head!)).toBe(false)
    })
  )

  it.effect("remains one chain under concurrent appends", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("many")
      const { app, owner } = yield* Database
      const audit = yield* AuditLog
      yield* Effect.forEach(
        Array.from({ length: 40 }, (_, index) => index),
        (index) => {
          const sql = index % 2 === 0 ? app : owner
          return sql.withTransaction(
            appendAudit(sql, organization.id, "changes", [
              { actor: "operator", action: "test", subject: String(index) }
            ])
          )
        },
        { concurrency: "unbounded" }
      )
      expect((yield* audit.verify(organization))[0]).toMatchObject({ broken: undefined, head: { sequence: 42n } })
    })
  )

  it.effect("counts refused reads by catalog names, never by the caller's input", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("refused")
      const audit = yield* AuditLog
      const refusals = yield* Refusals
      const policies = yield* Policies
      const members = yield* Memberships
      const identities = yield* IdentityResolver
      const queries = yield* EntityQueryService
      yield* policies.publish(
        organization,
        JSON.stringify({
          version: 1,
          roles: { member: { inherits: [] } },
          rules: [
            {
              id: "names",
              effect: "allow",
              role: "member",
              action: "read",
              type: "people",
              columns: ["name"],
              where: {}
            }
          ]
        }),
        "operator"
      )
      const lena = yield* asMember(organization, "lena@atlas.example", "member")
      const phone = [{ columnId: "phone", op: "eq", value: "canary 724" }] as const
      for (let times = 0; times < 3; times++) yield* Effect.flip(lena.find({ filters: phone }))
      yield* Effect.flip(lena.find({ entityTypeId: "meetings" }))
      yield* Effect.flip(lena.columns("meetings"))
      yield* Effect.flip(lena.find({ entityTypeId: "canary" }))
      yield* lena.find({ filters: [{ columnId: "name", op: "eq", value: "canary" }] })
      yield* members.suspend(organization, "lena@atlas.example")
      yield* Effect.flip(
        Effect.provideService(
          queries.listEntityTypes({ organizationId: organization.id }),
          CurrentPrincipal,
          lena.principal
        )
      )
      yield* Effect.flip(identities.admit(organization, { kind: "email", key: "canary@atlas.example" }))
      expect(yield* audit.list(organization, reads)).toEqual([])
      yield* refusals.flush
      const records = yield* audit.list(organization, reads)
      const anchor = lena.principal.anchorEntityId
      expect(
        records.map(({ action, actor, details, subject }) => [actor, action, subject, details["count"]]).toSorted()
      ).toEqual(
        [
          [anchor, "admission.refused", "membership", 1],
          [anchor, "read.refused", "meetings", 2],
          [anchor, "read.refused", "people.phone", 3],
          [anchor, "read.refused", "unknown", 1],
          ["nobody", "admission.refused", "email", 1]
        ].toSorted()
      )
      expect(JSON.stringify(records, (_, value) => (typeof value === "bigint" ? String(value) : value))).not.toContain(
        "canary"
      )
      expect((yield* audit.verify(organization))[1]).toMatchObject({ broken: undefined, head: { sequence: 5n } })
    })
  )

  it.effect("bounds a flood of refusals, and counts the overflow together", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("flood")
      const audit = yield* AuditLog
      const refusals = yield* Refusals
      for (let index = 0; index < 5000; index++) {
        refusals.record({
          organizationId: organization.id,
          actor: `p${index}`,
          action: "read.refused",
          subject: "people"
        })
      }
      yield* refusals.flush
      const records = yield* audit.list(organization, { chain: "reads", limit: 5000 })
      expect(records.length).toBe(1001)
      expect(records.find(({ actor }) => actor === "several")!.details["count"]).toBe(4000)
    })
  )

  it.effect("retains refusals while they can't be written", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("kept")
      const audit = yield* AuditLog
      const refusals = yield* Refusals
      const { owner } = yield* Database
      const refuse = () =>
        refusals.record({ organizationId: organization.id, actor: "p", action: "read.refused", subject: "people" })
      refuse()
      yield* owner.unsafe("ALTER TABLE max.audit_log RENAME TO elsewhere")
      yield* refusals.flush
      yield* owner.unsafe("ALTER TABLE max.elsewhere RENAME TO audit_log")
      refuse()
      yield* refusals.flush
      expect((yield* audit.list(organization, reads)).map(({ details }) => details["count"])).toEqual([2])
    })
  )
})
