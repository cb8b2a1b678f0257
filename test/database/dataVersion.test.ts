/** The data version, by which a standby's rows are compared with the primary's. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { classOf } from "../../src/database/fault.ts"
import { encodeId } from "../../src/domain/ids.ts"
import { Memberships } from "../../src/services/members/Memberships.ts"
import { changing, confirmed } from "../support/changes.ts"
import { TestServices } from "../support/database.ts"
import { importFile } from "../support/imports.ts"

const TABLES = ["people", "companies", "meetings", "meeting_attendees"]

/** Fails a transaction that writes rows and replaces neither the epoch nor the data version of their organization. */
const CHECK = [
  `CREATE FUNCTION public.require_version() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
    DECLARE own bigint := CASE TG_OP WHEN 'DELETE' THEN OLD.organization_id ELSE NEW.organization_id END;
    BEGIN
      IF NOT EXISTS (SELECT FROM max.organizations o WHERE o.organization_id = own AND o.xmin = pg_current_xact_id()::xid)
        AND NOT EXISTS (SELECT FROM max.data_versions d WHERE d.organization_id = own AND d.xmin = pg_current_xact_id()::xid)
      THEN RAISE EXCEPTION 'rows were written without a new version'; END IF;
      RETURN NULL;
    END $$`,
  ...TABLES.map(
    (table) => `CREATE CONSTRAINT TRIGGER require_version AFTER INSERT OR UPDATE OR DELETE ON data.${table}
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.require_version()`
  )
]

layer(TestServices)("a transaction that writes rows", (it) => {
  it.effect("replaces the organization's epoch or data version, whichever service it is of", () =>
    Effect.gen(function* () {
      const { owner } = yield* Database
      for (const statement of CHECK) yield* owner.unsafe(statement).unprepared
      const { admin, organization } = yield* changing("versions")
      const versionOf = Effect.map(
        owner<{ epoch: bigint; version: bigint | null }>`SELECT o.epoch, d.version FROM max.organizations o
          LEFT JOIN max.data_versions d USING (organization_id) WHERE o.organization_id = ${organization.id}`,
        ([row]) => `${row!.epoch} ${row!.version}`
      )
      const seen: Array<string> = []
      const step = <A, E, R>(write: Effect.Effect<A, E, R>) =>
        Effect.tap(write, () => Effect.flatMap(versionOf, (version) => Effect.sync(() => seen.push(version))))

      // The check works: a writer that forgets is refused.
      const forgetful = owner`INSERT INTO data.people (organization_id, id, name, name_k) VALUES (${organization.id}, 1, 'X', 'x')`
      expect(classOf(yield* Effect.flip(forgetful))).toBe("P0001")

      const members = yield* Memberships
      yield* step(members.add(organization, { identifier: "new@versions.example", roles: ["rep"], create: {} }))
      yield* step(importFile(organization, ["id,name", "acme,Acme"], { type: "companies" }))
      yield* step(importFile(organization, ["id,name,email", "ada,Ada,ada@versions.example"]))
      yield* step(importFile(organization, ["id,name,email", "ada,Ada Lovelace,ada@versions.example"]))
      yield* step(
        importFile(organization, ["id,name,email", "bob,Bob,bob@versions.example", "eve,,"], { skipBad: true })
      )
      yield* step(importFile(organization, ["id,name,shoe size", "ada,Ada Lovelace,38"], { create: true }))
      const [acme] = yield* owner<{
        id: bigint
      }>`SELECT id FROM data.companies WHERE organization_id = ${organization.id}`
      const company = encodeId(acme!.id)
      for (const draft of [
        admin.create("companies.create", { name: "Initech" }),
        admin.update("companies.update", [company], { name: "Acme & Sons" }),
        admin.remove("companies.delete", [company])
      ]) {
        const proposed = yield* draft
        yield* step(confirmed(admin, proposed))
        yield* step(confirmed(admin, yield* admin.undo(proposed.changeId)))
      }
      expect(seen.length).toBeGreaterThan(8)
      expect(new Set(seen).size).toBe(seen.length)
    })
  )
})
