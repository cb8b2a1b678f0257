/** How an import runs: several files together, bad rows left out, dry runs, who sees new columns, columns of a table in use. */
import { layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { describe, expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { badRowTexts } from "../../../src/services/import/BadRows.ts"
import type { Progress } from "../../../src/services/import/Importer.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { asMember, makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { importFiles, refusalOfFiles, rowsOf, stateOf, typeOf } from "../../support/imports.ts"

/** All that an import may change, as one text. */
const everything = Effect.fnUntraced(function* (organization: Organization) {
  const { owner } = yield* Database
  const { catalog, policy } = yield* stateOf(organization)
  const rows = yield* Effect.forEach(catalog.types, ({ relation }) =>
    owner.unsafe(
      `SELECT t.*::text FROM ${relation.schema}.${relation.table} t WHERE organization_id = $1::bigint ORDER BY id`,
      [organization.id]
    )
  )
  const columns =
    yield* owner`SELECT attrelid::regclass::text, attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace = 'data'::regnamespace ORDER BY 1, 2`
  const audit = yield* owner`SELECT count(*)::int FROM max.audit_log WHERE organization_id = ${organization.id}`
  return JSON.stringify([catalog, policy, rows, columns, audit], (_, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value
  )
})

const namesOf = (organization: Organization) =>
  Effect.map(rowsOf(organization, "people", "id", "name"), (rows) => rows.map((row) => row.join(" ")))

layer(TestServices, { excludeTestServices: true })("an import", (it) => {
  describe("of several files", () => {
    it.effect(
      "takes different headers and formats, infers columns from all of the files, and resolves references across them",
      () =>
        Effect.gen(function* () {
          const organization = yield* makeOrganization("several")
          const done = yield* importFiles(
            organization,
            {
              "a.csv": ["id,name,score,boss", "1,Ada,1,3", "2,Bob,,"],
              "b.csv": ["name;key;score;boss;note", "Cy;3;2.5;;x"],
              "c.jsonl": [`{"id": 4, "name": "Dan", "boss": "1"}`]
            },
            { create: true, map: { key: "id", boss: "boss:people.id" }, idPrefix: "hr:" }
          )
          expect(done).toMatchObject({ rows: 4, inserted: 4 })
          expect(done.createdColumns.map(({ kind, slug }) => [slug, kind])).toEqual([
            ["score", "number"],
            ["boss", "reference"],
            ["note", "text"]
          ])
          expect(done.files.map(({ format }) => format)).toEqual([
            "CSV, commas, UTF-8",
            "CSV, semicolons, UTF-8",
            "JSONL, UTF-8"
          ])
          expect(yield* namesOf(organization)).toEqual(["hr:1 Ada", "hr:2 Bob", "hr:3 Cy", "hr:4 Dan"])
          const admin = yield* asMember(organization, "admin@example.com", "admin")
          const found = yield* admin.find({
            filters: [{ columnId: "boss", op: "ilike", value: "ada" }],
            selectColumns: ["boss"]
          })
          expect(found.entities).toMatchObject([{ displayName: "Dan" }])
        })
    )

    it.effect("is atomic: a bad row is reported with its file, and so is an id that another file has", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("whole")
        const before = yield* everything(organization)
        const found = yield* refusalOfFiles(organization, {
          "a.csv": ["id,name", "1,Ada", "2,Bob"],
          "b.csv": ["id,name", "3,Cy", "2,Bob", "4,"]
        })
        expect(found.message).toBe("Nothing was imported: the files have 2 bad rows.")
        expect(found.details).toEqual([
          `b.csv, line 3: id: "2" is on line 3 of a.csv too`,
          "b.csv, line 4: name: empty, but every record needs a name"
        ])
        expect(
          (yield* refusalOfFiles(organization, { "a.csv": ["id,name", "1,Ada"], "b.csv": ["id,nom", "2,Bob"] })).message
        ).toContain(`b.csv: People have no column for the header "nom".`)
        expect(
          (yield* refusalOfFiles(
            organization,
            { "a.csv": ["id,name", "1,Ada"], "b.csv": ["id,name", "2,Bob"] },
            { map: { nom: "name" } }
          )).message
        ).toContain(`--map: no file has the header "nom".`)
        expect(yield* everything(organization)).toBe(before)
      })
    )
  })

  describe("with --skip-bad", () => {
    it.effect("imports the good rows and reports each row that it left out", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("skipping")
        const lines = [
          "id,name,status",
          "1,Ada,x",
          "2,,x",
          "3,Cy",
          "1,Ada again,x",
          `4,Dan,${"z".repeat(401)}`,
          "5,Eve,x"
        ]
        const done = yield* importFiles(organization, { "skip.csv": lines }, { skipBad: true })
        expect(done).toMatchObject({ rows: 6, inserted: 2, leftOut: 4, unchanged: 0 })
        expect(badRowTexts(done.badRows, false)).toEqual([
          "line 3: name: empty, but every record needs a name",
          "line 4: 2 cells, but the header has 3",
          `line 5: id: "1" is on line 2 too`,
          "line 6: status: it has more than 400 characters"
        ])
        expect(done.badRows[1]).toEqual({
          file: "skip.csv",
          unit: "line",
          line: 4,
          problems: ["2 cells, but the header has 3"]
        })
        expect(yield* namesOf(organization)).toEqual(["1 Ada", "5 Eve"])
        expect(yield* importFiles(organization, { "skip.csv": lines }, { skipBad: true })).toMatchObject({
          inserted: 0,
          updated: 0,
          unchanged: 2,
          leftOut: 4
        })
        const wide = Array.from({ length: 10_000 }, () => "x").join(",")
        expect(
          badRowTexts(
            (yield* importFiles(organization, { "wide.csv": ["id,name", wide, "6,Fay"] }, { skipBad: true })).badRows,
            false
          )
        ).toEqual(["line 2: 10000 cells; the limit is 1000"])
      })
    )

    it.effect("also leaves out rows that refer to rows left out", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("hanging")
        yield* importFiles(organization, { "old.csv": ["id,name", "2,Old Bob"] })
        const done = yield* importFiles(
          organization,
          {
            "chain.csv": ["id,name,boss", "1,Ada,2", "2,Bob,3", "3,Cy,9", "4,Dan,5", "5,Eve,", "6,,5"]
          },
          { skipBad: true, create: true, map: { boss: "boss:people.name" } }
        )
        expect(done.leftOut).toBe(5)
        const byId = yield* importFiles(
          organization,
          { "chain.csv": ["id,name,boss", "1,Ada,2", "2,Bob,3", "3,Cy,9", "4,Dan,5", "5,Eve,", "6,,5"] },
          { skipBad: true }
        )
        // No row has the id 9, so 3 is bad, and so is 2, which refers to 3; the earlier import of 2 stays.
        expect([...badRowTexts(byId.badRows, false), ...byId.warnings]).toEqual([
          `line 3: boss: none of the people has the id "3"`,
          `line 4: boss: none of the people has the id "9"`,
          "line 7: name: empty, but every record needs a name",
          "boss was read as ids of people. To look them up by another column: --map boss=boss:people.name"
        ])
        expect(yield* namesOf(organization)).toEqual(["1 Ada", "2 Old Bob", "4 Dan", "5 Eve"])
      })
    )
  })

  describe("with --dry-run", () => {
    it.effect("reports new and changed rows, and changes nothing", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("dry")
        yield* importFiles(organization, { "first.csv": ["id,name,status", "1,Ada,Lead", "2,Bob,Lead", "3,Cy,Won"] })
        const before = yield* everything(organization)
        const next = ["id,name,status,score,owner", "1,Ada,Won,5,2", "2,Bob,Lead,,", "3,Cy,Won,7,1", "4,Dan,,,9"]
        const request = { create: true, map: { owner: "owner:people.id" } }
        expect(
          (yield* refusalOfFiles(organization, { "next.csv": next }, { ...request, dryRun: true })).details
        ).toEqual([`line 5: owner: none of the people has the id "9"`])
        next[4] = "4,Dan,,,4"
        const dry = yield* importFiles(organization, { "next.csv": next }, { ...request, dryRun: true })
        expect(dry).toMatchObject({ dryRun: true, rows: 4, inserted: 1, updated: 2, unchanged: 1 })
        expect(dry.createdColumns).toEqual([{ slug: "score", name: "Score", kind: "integer" }])
        expect(dry.visibility).toEqual({ columns: ["people.score"], shownTo: ["admin"], hiddenFrom: ["member"] })
        expect(dry.preview).toEqual({
          columns: [
            { column: "status", rows: 1 },
            { column: "owner", rows: 2 },
            { column: "score", rows: 2 }
          ].sort((a, b) => order.indexOf(a.column) - order.indexOf(b.column)),
          examples: {
            new: [{ file: "next.csv", line: 5, id: "4", name: "Dan" }],
            changed: [
              {
                file: "next.csv",
                line: 2,
                id: "1",
                name: "Ada",
                columns: [
                  { column: "status", was: "Lead", now: "Won" },
                  { column: "owner" },
                  { column: "score", was: null, now: "5" }
                ]
              },
              {
                file: "next.csv",
                line: 4,
                id: "3",
                name: "Cy",
                columns: [{ column: "owner" }, { column: "score", was: null, now: "7" }]
              }
            ]
          }
        })
        expect(yield* everything(organization)).toBe(before)
        const { inserted, unchanged, updated } = yield* importFiles(organization, { "next.csv": next }, request)
        expect([inserted, updated, unchanged]).toEqual([1, 2, 1])
        // The same for a new type, and for new columns of the organization's own table.
        const after = yield* everything(organization)
        expect(
          yield* importFiles(
            organization,
            { "t.csv": ["id,name,part of", "1,A,2", "2,B,"] },
            {
              type: "parts",
              create: true,
              dryRun: true,
              map: { "part of": "part_of:parts.id" }
            }
          )
        ).toMatchObject({ type: { created: true }, inserted: 2 })
        expect(
          yield* importFiles(
            organization,
            { "next.csv": ["id,name,tier", "1,Ada,gold"] },
            { create: true, dryRun: true }
          )
        ).toMatchObject({ updated: 1, createdColumns: [{ slug: "tier" }] })
        expect(yield* everything(organization)).toBe(after)
      })
    )

    const order = ["status", "owner", "score"]

    it.effect("doesn't block lookups", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("dry-lock")
        yield* importFiles(organization, { "a.csv": ["id,name,tier", "1,Ada,gold"] }, { create: true })
        const admin = yield* asMember(organization, "admin@example.com", "admin")
        const rows = ["id,name,tier,extra", ...Array.from({ length: 30_000 }, (_, row) => `${row},Person,gold,x`)]
        for (const dryRun of [true, false]) {
          let writing = false
          const fiber = yield* Effect.forkChild(
            importFiles(
              organization,
              { "long.csv": rows },
              { create: true, dryRun, onProgress: ({ doing }) => (writing ||= doing === "writing") }
            )
          )
          yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => writing })
          const found = yield* admin.find({ filters: [{ columnId: "tier", op: "eq", value: "gold" }] })
          expect(found.total).toBe(1)
          expect(fiber.pollUnsafe()).toBeUndefined()
          yield* Fiber.join(fiber)
        }
      })
    )
  })

  describe("that creates columns", () => {
    it.effect("shows them to admins while that rule is the starter policy's, and to no other role", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("starter")
        const policies = yield* Policies
        const { owner } = yield* Database
        const first = yield* policies.current(organization)
        yield* importFiles(
          organization,
          { "c.csv": ["id,name,tier", "1,Acme,gold"] },
          { type: "companies", create: true }
        )
        // The member's rule said "*" as well, which stands for the columns at the time of publishing: it is shown as these.
        const { document, version } = yield* policies.current(organization)
        expect(version).toBe(first.version + 1)
        const rulesIn = (text: string) => (JSON.parse(text) as { rules: ReadonlyArray<{ id: string }> }).rules
        const columns = ["name", "status", "owner", "phone", "email"]
        expect(rulesIn(document)).toEqual(
          rulesIn(first.document).map((rule) => (rule.id === "member-companies" ? { ...rule, columns } : rule))
        )
        const admin = yield* asMember(organization, "admin@example.com", "admin")
        const member = yield* asMember(organization, "member@example.com", "member")
        const seen = (principal: typeof admin) =>
          Effect.map(principal.columns("companies"), ({ columns }) => columns.some(({ id }) => id === "tier"))
        expect([yield* seen(admin), yield* seen(member)]).toEqual([true, false])
        const made = yield* importFiles(
          organization,
          { "g.csv": ["id,name", "1,Jazz"] },
          { type: "genres", create: true }
        )
        expect(made.visibility.shownTo).toEqual(["admin"])
        const now = JSON.parse((yield* policies.current(organization)).document) as { rules: Array<{ id: string }> }
        expect(now.rules.slice(-4)).toEqual(
          ["read", "create", "update", "delete"].map((action) => ({
            id: action === "read" ? "admin-genres" : `admin-${action}-genres`,
            effect: "allow",
            role: "admin",
            action,
            type: "genres",
            columns: "*"
          }))
        )
        // The extended policy can be published again.
        yield* policies.publish(organization, JSON.stringify(now), "test")
        const narrowed = {
          ...now,
          rules: now.rules.map((rule) => (rule.id === "admin-people" ? { ...rule, where: { owner: "$me" } } : rule))
        }
        yield* policies.publish(organization, JSON.stringify(narrowed), "test")
        const hidden = yield* importFiles(organization, { "p.csv": ["id,name,salary", "1,Ada,5"] }, { create: true })
        expect(hidden.visibility).toEqual({
          columns: ["people.salary"],
          shownTo: [],
          hiddenFrom: ["admin", "member"]
        })
        const other = yield* importFiles(
          organization,
          { "h.csv": ["id,name", "1,Hat"] },
          { type: "hats", create: true }
        )
        expect(other.visibility.shownTo).toEqual([])
        const audit = yield* owner<{ action: string }>`
          SELECT action FROM max.audit_log WHERE organization_id = ${organization.id} AND chain = 'changes' ORDER BY sequence`
        expect(
          audit.map(({ action }) => action).filter((action) => !/^(membership|identifier|data)/.test(action))
        ).toEqual([
          "organization.created",
          "policy.published",
          "catalog.published",
          "policy.published",
          "catalog.published",
          "policy.published",
          "policy.published",
          "policy.published",
          "catalog.published",
          "catalog.published"
        ])
      })
    )

    it.effect("leaves spare physical columns behind when it fails, which the next one uses", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("spare")
        const { owner } = yield* Database
        yield* importFiles(organization, { "a.csv": ["id,name,tier", "1,Ada,gold"] }, { create: true })
        const { relation } = yield* typeOf(organization, "people")
        const columns = Effect.map(
          owner<{ name: string }>`SELECT attname::text AS name FROM pg_attribute
            WHERE attrelid = to_regclass(${`${relation.schema}.${relation.table}`}) AND attnum > 0 AND attname ~ '^c[0-9]' ORDER BY 1`,
          (rows) => rows.map(({ name }) => name)
        )
        const catalog = (yield* stateOf(organization)).catalog
        yield* refusalOfFiles(
          organization,
          { "b.csv": ["id,name,score,note", "1,Ada,1,x", "2,,2,y"] },
          { create: true }
        )
        expect((yield* stateOf(organization)).catalog).toEqual(catalog)
        expect(yield* columns).toEqual(["c1", "c1_k", "c2", "c3", "c3_k"])
        yield* importFiles(organization, { "b.csv": ["id,name,mail,score,other", "1,Ada,x@y,1,2"] }, { create: true })
        // Text and whole number reuse the spare columns of their types; the third gets a new one.
        expect(yield* columns).toEqual(["c1", "c1_k", "c2", "c3", "c3_k", "c4"])
      })
    )
  })

  it.effect("waits for a lock on a busy table one second at a time, then fails and says so", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("endless")
      const { search } = yield* Database
      yield* importFiles(organization, { "a.csv": ["id,name,tier", "1,Ada,gold"] }, { create: true })
      const { relation } = yield* typeOf(organization, "people")
      const catalog = (yield* stateOf(organization)).catalog
      const message = yield* search.withTransaction(
        Effect.andThen(
          search.unsafe(`SELECT 1 FROM ${relation.schema}.${relation.table}`),
          Effect.map(
            refusalOfFiles(organization, { "b.csv": ["id,name,score", "1,Ada,1"] }, { create: true }),
            (error) => error.message
          )
        )
      )
      expect(message).toBe(
        "People are being read by a long statement, and adding a column must wait for it. Import again later."
      )
      expect((yield* stateOf(organization)).catalog).toEqual(catalog)
      expect(
        yield* importFiles(organization, { "b.csv": ["id,name,score", "1,Ada,1"] }, { create: true })
      ).toMatchObject({
        updated: 1
      })
    })
  )

  it.effect("reports its progress", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("progress")
      const seen: Array<Progress> = []
      yield* importFiles(
        organization,
        { "p.csv": ["id,name,x", ...Array.from({ length: 5000 }, (_, row) => `${row},Person,1`)] },
        { create: true, onProgress: (progress) => void seen.push(progress) }
      )
      expect(seen.filter(({ doing }) => doing === "reading").at(-1)).toEqual({
        file: "p.csv",
        doing: "reading",
        rows: 5000,
        share: 1
      })
      expect(seen.filter(({ doing }) => doing === "writing").map(({ rows }) => rows)).toEqual([2000, 4000, 5000])
    })
  )
})
