/** Cells that refer to other rows. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { describe, expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { importFile, refusalOfFile, rowIds, rowsOf } from "../../support/imports.ts"

layer(TestServices, { excludeTestServices: true })("an import", (it) => {
  describe("references", () => {
    it.effect("resolve by another type's column to exactly one record, or the row is bad", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("references")
        yield* importFile(organization, [
          "id,name,email,phone",
          "s1,Lena,Lena@Atlas.com,724-857-2625",
          "s2,Raj,raj@atlas.com,",
          "s3,Twin,twin@atlas.com,",
          "s4,Twin,twin@atlas.com,"
        ])
        yield* importFile(organization, ["id,name,owner", "c1,Ajax,s1", "c2,Bolt,s2", "c3,Bolt,"], {
          type: "companies"
        })
        const owners = Effect.map(
          rowsOf(organization, "companies", "id", "owner"),
          (rows) => new Map(rows.map(([id, owner]) => [id, owner]))
        )
        const people = new Map((yield* rowIds(organization)).map(({ external_id, id }) => [external_id, String(id)]))
        expect(yield* owners).toEqual(
          new Map([
            ["c1", people.get("s1")],
            ["c2", people.get("s2")],
            ["c3", null]
          ])
        )
        for (const [header, value, by] of [
          ["mail", "lena@ATLAS.com", "email"],
          ["tel", "+1 724 857 2625", "phone"],
          ["who", " LENA ", "name"],
          ["key", "s1", "id"]
        ] as const) {
          expect(
            yield* importFile(organization, [`id,name,${header}`, `c2,Bolt,${value}`], {
              type: "companies",
              map: { [header]: `owner:people.${by}` }
            })
          ).toMatchObject({ updated: 1 })
          expect((yield* owners).get("c2")).toBe(people.get("s1"))
          yield* importFile(organization, ["id,name,owner", "c2,Bolt,s2"], { type: "companies" })
        }
        const bad = yield* refusalOfFile(
          organization,
          [
            "id,name,mail",
            "c1,Ajax,absent@atlas.com",
            "c2,Bolt,twin@atlas.com",
            "c3,Bolt,not an address",
            "c4,Ok,raj@atlas.com"
          ],
          {
            type: "companies",
            map: { mail: "owner:people.email" }
          }
        )
        expect(bad.details).toEqual([
          `line 2: mail: none of the people has the email "absent@atlas.com"`,
          `line 3: mail: more than one of the people has the email "twin@atlas.com"`,
          `line 4: mail: "not an address" isn't an e-mail address`
        ])
        const byId = yield* refusalOfFile(organization, ["id,name,owner", "c1,Ajax,lena@atlas.com"], {
          type: "companies"
        })
        expect(byId.details).toEqual([
          `line 2: owner: none of the people has the id "lena@atlas.com"`,
          "owner was read as ids of people. To look them up by another column: --map owner=owner:people.name"
        ])
        const other = yield* makeOrganization("other-references")
        expect(
          (yield* refusalOfFile(other, ["id,name,owner", "c1,Ajax,s1"], { type: "companies" })).details[0]
        ).toContain("none of the people")
      })
    )

    it.effect("may lead to rows of the same file, before or after", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("same-file")
        const content = [
          "id,name,email,boss",
          "1,Ann,ann@example.com,cy@example.com",
          "2,Bob,bob@example.com,ann@example.com",
          "3,Cy,cy@example.com,"
        ]
        const map = { boss: "owner:people.email" }
        expect(yield* importFile(organization, content, { map })).toMatchObject({ rows: 3, inserted: 3, updated: 0 })
        const owners = Effect.gen(function* () {
          const ids = new Map((yield* rowIds(organization)).map(({ external_id, id }) => [String(id), external_id]))
          return (yield* rowsOf(organization, "people", "id", "owner")).map(([id, owner]) => [
            id,
            owner === null ? null : ids.get(owner!)
          ])
        })
        expect(yield* owners).toEqual([
          ["1", "3"],
          ["2", "1"],
          ["3", null]
        ])
        expect(yield* importFile(organization, content, { map })).toMatchObject({
          inserted: 0,
          updated: 0,
          unchanged: 3
        })
        // The file gives Cy's address to Bob as well: what was one person is two by the end of it.
        const twice = yield* refusalOfFile(
          organization,
          ["id,name,email,boss", "1,Ann,ann@example.com,cy@example.com", "2,Bob,cy@example.com,"],
          { map }
        )
        expect(twice.details).toEqual([`line 2: boss: more than one of the people has the email "cy@example.com"`])
        expect(
          (yield* refusalOfFile(organization, ["id,name,email,boss", "1,Ann,ann@example.com,absent@example.com"], {
            map
          })).details
        ).toEqual([`line 2: boss: none of the people has the email "absent@example.com"`])
        expect(yield* owners).toEqual([
          ["1", "3"],
          ["2", "1"],
          ["3", null]
        ])
        // Without ids the second pass still knows which row is which.
        const nameless = yield* makeOrganization("same-file-no-ids")
        expect(
          yield* importFile(nameless, ["name,owner", "Ann,Cy", "Bob,Ann", "Cy,"], {
            map: { owner: "owner:people.name" }
          })
        ).toMatchObject({ inserted: 3, updated: 0 })
        const { owner: sql } = yield* Database
        expect(
          yield* sql`SELECT p.name, o.name AS owner FROM data.people p LEFT JOIN data.people o ON o.organization_id = p.organization_id AND o.id = p.owner_id
          WHERE p.organization_id = ${nameless.id} ORDER BY p.name`
        ).toEqual([
          { name: "Ann", owner: "Cy" },
          { name: "Bob", owner: "Ann" },
          { name: "Cy", owner: null }
        ])
      })
    )

    it.effect("to many are replaced by those of the file, from a list or a JSON array", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("many")
        yield* importFile(organization, [
          "id,name,email",
          "a,Ann,ann@example.com",
          "b,Bob,bob@example.com",
          "c,Cy,cy@example.com"
        ])
        const meetings = (...rows: ReadonlyArray<string>) =>
          importFile(organization, ["id,name,with,start", ...rows], {
            type: "meetings",
            map: { with: "attendees:people.email" }
          })
        const attendees = Effect.gen(function* () {
          const { owner } = yield* Database
          const rows = yield* owner<{ found: string }>`
            SELECT m.external_id || ':' || string_agg(p.external_id, '' ORDER BY p.external_id) AS found FROM data.meetings m
            JOIN data.meeting_attendees l ON l.organization_id = m.organization_id AND l.meeting_id = m.id
            JOIN data.people p ON p.organization_id = m.organization_id AND p.id = l.person_id
            WHERE m.organization_id = ${organization.id} GROUP BY m.external_id ORDER BY 1`
          return rows.map((row) => row.found)
        })
        const both = [
          `1,Sync,ann@example.com; Bob@example.com;ann@example.com,2023-08-01 09:00:00`,
          `2,Review,"[""cy@example.com""]",2023-08-01`,
          "3,Alone,,2023-08-01T09:00Z"
        ]
        expect(yield* meetings(...both)).toMatchObject({ inserted: 3 })
        expect(yield* attendees).toEqual(["1:ab", "2:c"])
        expect(yield* meetings(...both)).toMatchObject({ unchanged: 3 })
        expect(
          yield* meetings(
            "1,Sync,bob@example.com;cy@example.com,2023-08-01 09:00:00",
            both[1]!,
            "3,Alone,ann@example.com,2023-08-01T09:00Z"
          )
        ).toMatchObject({ updated: 2, unchanged: 1 })
        expect(yield* attendees).toEqual(["1:bc", "2:c", "3:a"])
        const { owner } = yield* Database
        // Local times are the organization's.
        expect(
          yield* owner`SELECT to_char(start_at, 'YYYY-MM-DD HH24:MI') AS utc FROM data.meetings WHERE organization_id = ${organization.id} ORDER BY external_id`
        ).toEqual([{ utc: "2023-08-01 13:00" }, { utc: "2023-08-01 04:00" }, { utc: "2023-08-01 09:00" }])
        expect((yield* Effect.flip(meetings("1,Sync,bob@example.com;absent@example.com,x"))).message).toContain(
          "1 bad row"
        )
        expect(yield* attendees).toEqual(["1:bc", "2:c", "3:a"])
        expect(
          (yield* Effect.flip(
            importFile(organization, ["id,name,owner", "1,x,a;b"], {
              type: "meetings",
              map: { owner: "owner:people.id" }
            })
          )).message
        ).toContain("bad row")
        yield* importFile(organization, [JSON.stringify({ id: "1", name: "Sync", attendees: ["a"] })], {
          name: "file.jsonl",
          type: "meetings"
        })
        expect((yield* attendees)[0]).toBe("1:a")
      })
    )
  })
})
