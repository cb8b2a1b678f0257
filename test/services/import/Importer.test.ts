/** Files of rows: how they are read, validated and upserted. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { describe, expect, inject } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { type Organization } from "../../../src/domain/EntityType.ts"
import { Importer } from "../../../src/services/import/Importer.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { asMember, makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import {
  type Content,
  expectUntouched,
  importFile,
  physicalColumn,
  refusalOfFile,
  rowIds,
  rowsOf,
  typeOf
} from "../../support/imports.ts"

layer(TestServices, { excludeTestServices: true })("an import", (it) => {
  describe("a file", () => {
    it.effect("is upserted by id: importing it again changes nothing, and new values change only mapped columns", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("upsert")
        const first = [
          "id,name,email,phone,status",
          "1,Ada,ada@example.com,724-857-2625,Lead",
          "2,Bob,,,",
          "3,Cy,cy@example.com,,Won"
        ]
        expect(yield* importFile(organization, first)).toMatchObject({ rows: 3, inserted: 3 })
        const before = yield* rowIds(organization)
        const versions = yield* rowVersions(organization)
        expect(yield* importFile(organization, first)).toMatchObject({ rows: 3, inserted: 0, updated: 0, unchanged: 3 })
        expect(yield* rowVersions(organization)).toEqual(versions)
        expect(yield* importFile(organization, ["status,name,id", "Won,Ada,1", ",Bob,2", "Won,Dan,4"])).toMatchObject({
          inserted: 1,
          updated: 1,
          unchanged: 1
        })
        expect(yield* rowsOf(organization, "people", "id", "name", "email", "phone", "status")).toEqual([
          ["1", "Ada", "ada@example.com", "724-857-2625", "Won"],
          ["2", "Bob", null, null, null],
          ["3", "Cy", "cy@example.com", null, "Won"],
          ["4", "Dan", null, null, "Won"]
        ])
        expect(yield* importFile(organization, ["id,name,status", "1,Ada,"])).toMatchObject({ updated: 1 })
        expect((yield* rowsOf(organization, "people", "id", "status"))[0]).toEqual(["1", null])
        expect((yield* rowIds(organization)).slice(0, 3)).toEqual(before)
      })
    )

    it.effect("without ids inserts new rows every time and warns of it", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("no-ids")
        const done = yield* importFile(organization, ["name", "Ada", "Ada"])
        expect(done).toMatchObject({ inserted: 2 })
        expect(done.warnings[0]).toContain("importing it again would duplicate them")
        expect(yield* importFile(organization, ["name", "Ada", "Ada"])).toMatchObject({ inserted: 2 })
        expect(yield* rowsOf(organization, "people", "id", "name")).toHaveLength(4)
      })
    )

    it.effect("may have any delimiter, a byte order mark, Windows line ends, quoted cells and empty lines", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("dialects")
        for (const [number, delimiter] of [",", ";", "\t", "|"].entries()) {
          const lines = [
            ["\ufeffid", "name", "status"],
            [number, `"Lovelace, ; | ""Ada"",\r\nCountess"`, "Won"],
            [],
            [`x${number}`, "Bob", "=cmd|'/c calc'!A1"]
          ]
          const text = lines
            .map((cells) => cells.join(delimiter))
            .join("\r\n")
            .replace(/=cmd.*/, delimiter === "|" ? `"$&"` : "$&")
          expect(yield* importFile(organization, text)).toMatchObject({ inserted: 2 })
        }
        const rows = yield* rowsOf(organization, "people", "id", "name", "name#", "status")
        expect(rows[0]).toEqual(["0", `Lovelace, ; | "Ada",\r\nCountess`, `lovelace, ; | "ada", countess`, "Won"])
        expect(rows[4]).toEqual(["x0", "Bob", "bob", "=cmd|'/c calc'!A1"])
        expect(yield* importFile(organization, "id,name\rmac,Old Mac\rmac2,Older")).toMatchObject({ inserted: 2 })
      })
    )

    it.effect("may be JSONL: null and missing values are empty, numbers keep their digits, arrays are lists", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("jsonl")
        const rows = [
          { id: 1, name: "Ada", email: null, score: 1.5, tags: ["New", "VIP"], vip: true },
          { id: "2", name: "Bob", note: `5" pipe, 1.10` }
        ].map((row) => JSON.stringify(row))
        rows.push(
          `{"id": 9007199254740993, "name": "Big", "score": 12345678901234567890.10, "tags": [9007199254740993, null]}`,
          "",
          `{"id":"4","name":"\\u00c9va"}`
        )
        const done = yield* importFile(organization, rows, { name: "file.jsonl", create: true })
        expect(done.createdColumns).toEqual([
          { slug: "score", name: "Score", kind: "number" },
          { slug: "tags", name: "Tags", kind: "list" },
          { slug: "vip", name: "Vip", kind: "boolean" },
          { slug: "note", name: "Note", kind: "text" }
        ])
        expect(yield* rowsOf(organization, "people", "id", "name", "score", "tags", "tags#", "vip", "note")).toEqual([
          ["1", "Ada", "1.5", "{New,VIP}", "{new,vip}", "true", null],
          ["2", "Bob", null, null, null, null, `5" pipe, 1.10`],
          ["4", "Éva", null, null, null, null, null],
          ["9007199254740993", "Big", "12345678901234567890.10", "{9007199254740993}", "{9007199254740993}", null, null]
        ])
        const bad = yield* refusalOfFile(
          organization,
          [`{"id":"1","name":"x"}`, "nonsense", "[1]", `{"id":"2","name":{"first":"Ada"}}`, `{"id":"3","name":["a"]}`],
          { name: "file.jsonl" }
        )
        expect(bad.details).toEqual([
          "line 2: not a JSON object: JSONL has one object a line",
          "line 3: not a JSON object: JSONL has one object a line",
          "line 4: name: an object; only text, numbers, true, false and lists of them can be imported",
          "line 5: name: a list, but name is one value"
        ])
      })
    )

    it.effect("that can't be read is refused with the reason and the line of the file", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("unreadable")
        const message = (content: Content, name = "file.csv") =>
          Effect.map(refusalOfFile(organization, content, { name }), (found) => found.message)
        expect(yield* message("")).toBe("file.csv: the file is empty.")
        expect(yield* message("\n\n")).toBe("file.csv: the file has no header.")
        expect(yield* message("id,name\n")).toBe("file.csv has headers, but no rows.")
        expect(yield* message("id,name,id\n1,x,2")).toBe(
          `file.csv, line 1: columns 1 and 3 have the same header, "id".`
        )
        expect(yield* message("id,name,\n1,x,2")).toBe("file.csv, line 1: column 3 has no header.")
        expect(yield* message(`id,name\n1,"Ada\n2,Bob\n`)).toBe(
          "file.csv, line 2: a quote is opened in the record that begins here and never closed."
        )
        expect(yield* message(`id,name\n1,Ada\n2,B"o"b\n`)).toContain("file.csv, line 3: a cell contains a quote.")
        expect(yield* message(`id,name\n1,Ada\n2,"${"x".repeat(9_000_000)}"\n`)).toContain(
          "file.csv, line 3: the record that begins here is longer than 8 MB."
        )
        expect(yield* message(`{"id":"1","name":"x"}\n{"id":"${"x".repeat(9_000_000)}"}`, "file.jsonl")).toBe(
          "file.jsonl, line 2: this line is longer than 8 MB."
        )
        expect(yield* message(Array.from({ length: 1001 }, (_, index) => `h${index}`).join(","))).toContain(
          "there are 1001 columns. At most 1000"
        )
        const importer = yield* Importer
        for (const [file, reason] of [
          [join(inject("files"), "nowhere.csv"), "there is no such file"],
          [inject("files"), "this is a folder"],
          ["/dev/zero", "isn't a regular file"]
        ] as const) {
          expect(
            (yield* Effect.flip(importer.import(organization, { files: [file], type: "people" }))).message
          ).toContain(reason)
        }
        yield* expectUntouched(organization)
      })
    )

    it.effect("with bad rows writes nothing and reports the problems of each line", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("bad-rows")
        const middle = Array.from({ length: 5000 }, (_, index) =>
          index === 2500 ? `${index},,x` : `${index},Person ${index},x`
        )
        expect(yield* refusalOfFile(organization, ["id,name,status", ...middle])).toEqual({
          message: "Nothing was imported: file.csv has 1 bad row.",
          details: ["line 2502: name: empty, but every record needs a name"]
        })
        const long = "y".repeat(401)
        const found = yield* refusalOfFile(organization, [
          "id,name,status",
          `"two\nlines",x,x`,
          "1,Ada,x",
          "1,Ada again,x",
          "2,x",
          ",Unknown,x",
          `3,${long},${long}`,
          "4,a\u0000b,x",
          `5,x,${"z".repeat(100_001)}`,
          `${"9".repeat(401)},x,x`,
          "1 ,x,x"
        ])
        expect(found.message).toBe("Nothing was imported: file.csv has 8 bad rows.")
        expect(found.details).toEqual([
          `line 5: id: "1" is on line 4 too`,
          "line 6: 2 cells, but the header has 3",
          "line 7: id: empty, but the other rows have an id",
          "line 8: name: it has more than 400 characters; status: it has more than 400 characters",
          "line 9: name: it contains a NUL character",
          `line 10: "status" has more than 100000 characters`,
          "line 11: id: it has more than 400 characters",
          `line 12: id: "1" is on line 4 too`
        ])
        const many = yield* refusalOfFile(organization, ["id,name", ...Array.from({ length: 3000 }, () => "1,")])
        expect(many.message).toBe("Nothing was imported: file.csv has 1000 bad rows or more.")
        expect(many.details).toHaveLength(1000)
        expect(
          (yield* refusalOfFile(organization, [`{"id":"1","name":"\\ud800 half"}`], { name: "file.jsonl" })).details
        ).toEqual(["line 1: name: it contains half of a surrogate pair"])
        yield* expectUntouched(organization)
      })
    )

    it.effect("with a repeated id is refused however far apart the lines are", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("far-apart")
        const rows = Array.from({ length: 30_000 }, (_, index) => `${index === 29_990 ? 17 : index},P`)
        expect((yield* refusalOfFile(organization, ["id,name", ...rows])).details).toEqual([
          `line 29992: id: "17" is on line 19 too`
        ])
        yield* expectUntouched(organization)
      })
    )

    it.effect("stores values that look like SQL, formulas or literals as plain text", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("dangerous")
        const values = [
          `'; DROP TABLE data.people; --`,
          `=HYPERLINK("http://x")`,
          `{"a":1}`,
          `\\x41`,
          `$1`,
          `{NULL,"x"}`,
          `NaN`,
          `٣`,
          `﷽`.repeat(399)
        ]
        expect(
          yield* importFile(
            organization,
            values.map((name, index) => JSON.stringify({ id: String(index), name, status: name })),
            { name: "file.jsonl" }
          )
        ).toMatchObject({ inserted: values.length })
        expect((yield* rowsOf(organization, "people", "name")).map(([name]) => name)).toEqual(values)
        const lists = values.slice(0, 8)
        yield* importFile(
          organization,
          [JSON.stringify({ id: "0", name: "x", tags: [...lists, "a,b", `"`, "NULL"] })],
          {
            name: "file.jsonl",
            create: true
          }
        )
        const { owner } = yield* Database
        const type = yield* typeOf(organization, "people")
        const [row] = yield* owner.unsafe<{ tags: ReadonlyArray<string> }>(
          `SELECT ${physicalColumn(type, "tags")} AS tags FROM data.${type.relation.table} WHERE external_id = '0'`
        )
        expect(row!.tags).toEqual([...lists, "a,b", `"`, "NULL"])
      })
    )
  })

  describe("values", () => {
    it.effect("are validated by their column's kind before anything is written", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("kinds")
        yield* importFile(
          organization,
          ["id,name,visits,score,vip,born,seen", "1,Ada,3,1.5,true,1815-12-10,2024-05-01 10:00"],
          { create: true }
        )
        const good = [
          "id,name,visits,score,vip,born,seen",
          "2,B,9223372036854775807,1.5E+05,No,2000-02-29,2024-05-01T10:00:00.123+05:30",
          `3,C,-0,.5,YES,0001-01-01,2024-05-01`
        ]
        expect(yield* importFile(organization, good)).toMatchObject({ inserted: 2 })
        expect(yield* importFile(organization, good)).toMatchObject({ unchanged: 2 })
        expect(
          (yield* rowsOf(organization, "people", "id", "visits", "score", "vip", "born", "seen")).slice(1)
        ).toEqual([
          ["2", "9223372036854775807", "150000", "false", "2000-02-29", "2024-05-01 04:30:00.123+00"],
          ["3", "0", "0.5", "true", "0001-01-01", "2024-05-01 04:00:00+00"]
        ])
        const bad = [
          "4,D,9223372036854775808,NaN,maybe,2023-02-29,noon",
          "5,E,1.5,Infinity,2,01/02/2024,2024-05-01 25:00",
          "6,F,1e3,1e999,,0000-01-01,2024-05-01T10:00+99:00",
          `7,G,"1,000",0x10,,10000-01-01,2024-05-01T10:00:00+05:75`
        ]
        expect((yield* refusalOfFile(organization, [good[0]!, ...bad])).details).toEqual([
          `line 2: visits: "9223372036854775808" isn't a whole number; score: "NaN" isn't a number; vip: "maybe" isn't true or false; born: "2023-02-29" isn't a date such as 2026-03-31; seen: "noon" isn't a time such as 2026-03-31 14:00`,
          `line 3: visits: "1.5" isn't a whole number; score: "Infinity" isn't a number; vip: "2" isn't true or false; born: "01/02/2024" isn't a date such as 2026-03-31; seen: "2024-05-01 25:00" isn't a time such as 2026-03-31 14:00`,
          `line 4: visits: "1e3" isn't a whole number; score: "1e999" isn't a number; born: "0000-01-01" isn't a date such as 2026-03-31; seen: "2024-05-01T10:00+99:00" isn't a time such as 2026-03-31 14:00`,
          `line 5: visits: "1,000" isn't a whole number; score: "0x10" isn't a number; born: "10000-01-01" isn't a date such as 2026-03-31; seen: "2024-05-01T10:00:00+05:75" isn't a time such as 2026-03-31 14:00`
        ])
      })
    )

    it.effect("decide the kind of a new column, which is text unless all of them fit another", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("inference")
        const kinds = Effect.fnUntraced(function* (columns: Record<string, ReadonlyArray<string>>) {
          const slugs = Object.keys(columns)
          const rows = Array.from({ length: 4 }, (_, row) =>
            [`${row}`, "x", ...slugs.map((slug) => columns[slug]![row] ?? "")].map((cell) => `"${cell}"`).join(",")
          )
          const done = yield* importFile(organization, [["id", "name", ...slugs].join(","), ...rows], { create: true })
          return Object.fromEntries(done.createdColumns.map(({ kind, slug }) => [slug, kind]))
        })
        expect(
          yield* kinds({
            whole: ["1", "-20", "", "9223372036854775807"],
            too_big: ["1", "9223372036854775808"],
            decimal: ["1", "2.50"],
            zip: ["02134", "10001"],
            code: ["12E3"],
            truth: ["true", "FALSE"],
            answer: ["yes", "no"],
            day: ["2024-02-29", "2023-12-31"],
            no_day: ["2024-02-29", "2023-02-29"],
            moment: ["2024-02-29", "2024-02-29T10:00Z"],
            empty: [],
            words: ["1", "two"],
            mobile_phone: ["724-857-2625", "+442079460000"],
            office_phone: ["724-857-2625", "ask Bob"],
            work_email: ["a@b", "c@d.com"],
            second_e_mail: ["a@b", "none"],
            cell_count: ["5", "7"]
          })
        ).toEqual({
          whole: "integer",
          too_big: "number",
          decimal: "number",
          zip: "text",
          code: "text",
          truth: "boolean",
          answer: "boolean",
          day: "date",
          no_day: "text",
          moment: "timestamp",
          empty: "text",
          words: "text",
          mobile_phone: "phone",
          office_phone: "text",
          work_email: "email",
          second_e_mail: "text",
          cell_count: "text"
        })
      })
    )
  })

  it.effect("leaves the verified identifiers of members as they are when it changes addresses", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("takeover")
      const members = yield* Memberships
      yield* importFile(organization, ["id,name,email", "1,Admin,admin@example.com", "2,Mallory,mallory@example.com"])
      yield* members.add(organization, { identifier: "admin@example.com", roles: ["admin"] })
      const before = yield* members.list(organization)
      yield* importFile(organization, ["id,name,email", "1,Admin,other@example.com", "2,Mallory,admin@example.com"])
      expect(yield* members.list(organization)).toEqual(before)
      const admin = yield* asMember(organization, "probe@example.com", "admin")
      const found = yield* admin.find({ filters: [{ columnId: "email", op: "eq", value: "admin@example.com" }] })
      expect(found.entities).toMatchObject([{ displayName: "Mallory" }])
      expect(before[0]!.anchorId).not.toBe(found.entities[0]!.entityId)
    })
  )

  it.effect("is refused for an organization that doesn't exist", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        importFile({ id: 1n, slug: "x", name: "x", country: "US", timeZone: "UTC" }, ["id,name", "1,x"])
      )
      expect(error._tag).toBe("NotAdmitted")
    })
  )
})

const rowVersions = Effect.fnUntraced(function* (organization: Organization) {
  const { owner } = yield* Database
  return yield* owner`SELECT ctid::text, xmin::text FROM data.people WHERE organization_id = ${organization.id} ORDER BY external_id`
})
