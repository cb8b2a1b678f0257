/** Changes of managed rows whose rules look at a mapped table that another program drops and makes again. */
import { layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { encodeId } from "../../../src/domain/ids.ts"
import { IdentityResolver } from "../../../src/services/members/IdentityResolver.ts"
import { Mappings } from "../../../src/services/mapping/Mappings.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { as, confirmed } from "../../support/changes.ts"
import { TestServices } from "../../support/database.ts"
import { asExistingPerson, mapTables, policyFor, runScript } from "../../support/mappedTables.ts"

const WORKERS = `CREATE TABLE depot.workers (id int PRIMARY KEY, name text, email text, site text);
INSERT INTO depot.workers VALUES (1, 'Lee', 'lee@depot.example', 'north');
`

/** A person whose rule about meetings looks at the site of a worker, in a table of another program. */
const depot = Effect.fnUntraced(function* (slug: string) {
  const table = WORKERS.replaceAll("depot.workers", `${slug}.workers`)
  yield* runScript(`CREATE SCHEMA ${slug};\n${table}`)
  const organization = yield* makeOrganization(slug)
  yield* mapTables(organization, {
    tables: [`${slug}.workers`],
    exclusive: true,
    edit: (entry) => ({ ...entry, type: "people" })
  })
  const where = { owner: { site: "north" } }
  const rule = (action: string, type: string, more: object = {}) => ({
    id: `${action}-${type}`,
    effect: "allow",
    role: "boss",
    action,
    type,
    columns: "*",
    ...more
  })
  yield* policyFor(organization, {
    version: 1,
    roles: { boss: {} },
    rules: [rule("read", "people"), rule("read", "meetings", { where }), rule("update", "meetings", { where })]
  })
  yield* asExistingPerson(organization, "lee@depot.example", "boss")
  const identities = yield* IdentityResolver
  const { principal } = yield* identities.admit(organization, { kind: "email", key: "lee@depot.example" })
  const { owner: sql } = yield* Database
  yield* sql`INSERT INTO data.meetings (organization_id, id, name, name_k, owner_id) VALUES (${organization.id}, 7, 'Sync', 'sync', 1)`
  return { lee: yield* as(principal), organization, table }
})

/** Makes the table as it was mapped again. */
const restoring = (drift: number, slug: string) =>
  [
    WORKERS.replaceAll("depot.workers", `${slug}.workers`),
    `DROP TABLE ${slug}.workers;\nALTER TABLE ${slug}.old_workers RENAME TO workers;\n`,
    `DROP VIEW ${slug}.workers;\nALTER TABLE ${slug}.old_workers RENAME TO workers;\n`,
    `ALTER TABLE ${slug}.workers RENAME COLUMN place TO site;\n`,
    `DROP POLICY taking ON ${slug}.workers;\nALTER TABLE ${slug}.workers DISABLE ROW LEVEL SECURITY;\n`
  ][drift]!

layer(TestServices, { excludeTestServices: true })("a change whose rule looks at a mapped table", (it) => {
  it.effect("is unavailable while the table differs from its mapping, and proposed again when it is checked", () =>
    Effect.gen(function* () {
      const { lee } = yield* depot("depot")
      const proposed = lee.update("meetings.update", [encodeId(7n)], { name: "Weekly" })
      expect((yield* proposed).preview.state).toBe("open")
      yield* runScript("DROP TABLE depot.workers;\n")
      expect(yield* Effect.flip(proposed)).toMatchObject({ _tag: "Unavailable" })
      yield* runScript(WORKERS)
      // Each try makes the mapping checked again; 30 of them a minute are permitted.
      const again = Effect.andThen(Effect.sleep("500 millis"), Effect.isSuccess(proposed))
      let isOpen = false
      for (let tries = 0; tries < 25 && !isOpen; tries++) isOpen = yield* again
      expect(isOpen).toBe(true)
    })
  )

  const drifts: Readonly<Record<string, string>> = {
    "is gone": "DROP TABLE SLUG.workers",
    "is another one of the same name":
      "ALTER TABLE SLUG.workers RENAME TO old_workers;\nCREATE TABLE SLUG.workers (LIKE SLUG.old_workers INCLUDING ALL);\nINSERT INTO SLUG.workers SELECT * FROM SLUG.old_workers;\nGRANT SELECT ON SLUG.workers TO PUBLIC",
    "is a view of another program now":
      "ALTER TABLE SLUG.workers RENAME TO old_workers;\nCREATE VIEW SLUG.workers AS SELECT id, name, email, 'north' AS site FROM SLUG.old_workers;\nGRANT SELECT ON SLUG.workers TO PUBLIC",
    "has lost the column": "ALTER TABLE SLUG.workers RENAME COLUMN site TO place",
    // As the role that applies changes, it could change the rows of every organization.
    "has a policy whose function changes rows":
      "CREATE FUNCTION SLUG.taking() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN UPDATE data.meetings SET name = 'Taken'; RETURN true; END $$;\nALTER TABLE SLUG.workers ENABLE ROW LEVEL SECURITY;\nCREATE POLICY taking ON SLUG.workers USING (SLUG.taking());\nGRANT USAGE ON SCHEMA SLUG TO PUBLIC"
  }
  for (const [at, [what, script]] of Object.entries(drifts).entries())
    it.effect(
      `applies nothing when the table ${what} at the confirmation, and the change is applied when the table is as it was and checked`,
      () =>
        Effect.gen(function* () {
          const slug = `depot${at}`
          const { lee, organization } = yield* depot(slug)
          const { owner: sql } = yield* Database
          const draft = yield* lee.update("meetings.update", [encodeId(7n)], { name: "Weekly" })
          yield* runScript(`${script.replaceAll("SLUG", slug)};\n`)
          expect(yield* Effect.flip(confirmed(lee, draft))).toMatchObject({ _tag: "Unavailable" })
          expect(yield* sql`SELECT name FROM data.meetings WHERE organization_id = ${organization.id}`).toEqual([
            { name: "Sync" }
          ])
          expect(
            yield* sql`SELECT state FROM max.changes WHERE organization_id = ${organization.id} AND change_id = ${draft.changeId}`
          ).toEqual([{ state: "open" }])
          yield* runScript(restoring(at, slug))
          // A column that was found missing is read again once the mapping is checked.
          // The process checks it by itself at the same time, and one waits for the other for two seconds.
          yield* Effect.flatMap(Mappings, ({ recheck }) =>
            Effect.retry(recheck(organization), { times: 20, schedule: Schedule.spaced("500 millis") })
          )
          let isApplied = false
          for (let tries = 0; tries < 25 && !isApplied; tries++)
            isApplied = yield* Effect.andThen(Effect.sleep("500 millis"), Effect.isSuccess(confirmed(lee, draft)))
          expect(isApplied).toBe(true)
        })
    )
})
