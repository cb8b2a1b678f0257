/** Files as people have them: encodings, spreadsheets and archives that are too large. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { describe, expect } from "vitest"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { asMember, makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { importFiles, refusalOfFiles, rowsOf } from "../../support/imports.ts"
import { sheetXml, workbook, zip } from "../../support/xlsx.ts"

/** Names and statuses by external id. */
const peopleOf = (organization: Organization) => rowsOf(organization, "people", "id", "name", "status")

/** An archive whose total says one entry and whose disk has two: the unpacking library goes by the disk. */
const hiddenEntry = (name: string, size: number): Buffer => {
  const archive = zip({ "first.xml": "x", [name]: "x" }, { [name]: size })
  archive.writeUInt16LE(1, archive.length - 12)
  return archive
}

/** The same, where only a ZIP64 record says that there are two. */
const withZip64 = (archive: Buffer): Buffer => {
  const [body, end] = [archive.subarray(0, -22), Buffer.from(archive.subarray(-22))]
  const record = Buffer.alloc(56)
  record.writeUInt32LE(0x06064b50)
  record.writeUInt32LE(2, 32)
  record.writeUInt32LE(end.readUInt32LE(16), 48)
  const locator = Buffer.alloc(20)
  locator.writeUInt32LE(0x07064b50)
  locator.writeUInt32LE(body.length, 8)
  end.writeUInt16LE(1, 8)
  return Buffer.concat([body, record, locator, end])
}

layer(TestServices, { excludeTestServices: true })("an import", (it) => {
  describe("of a text file", () => {
    const text = "id,name,status\n1,Jürgen Müller,Größe\n2,Zoë,\n"

    it.effect("detects UTF-8 and UTF-16 without a warning", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("shown")
        const utf16be = Buffer.from(`\ufeff${text}`, "utf16le").swap16()
        for (const bytes of [
          Buffer.from(text),
          Buffer.from(`\ufeff${text}`),
          Buffer.from(`\ufeff${text}`, "utf16le"),
          utf16be,
          Buffer.from(text, "utf16le"),
          utf16be.subarray(2)
        ]) {
          const done = yield* importFiles(organization, { "shown.csv": bytes })
          expect(done.warnings).toEqual([])
        }
        expect(yield* peopleOf(organization)).toEqual([
          ["1", "Jürgen Müller", "Größe"],
          ["2", "Zoë", null]
        ])
      })
    )

    it.effect("reads other Western text as Windows-1252 and warns with a word from the file", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("western")
        const rows = Array.from({ length: 20_000 }, (_, index) => `${index + 10},Plain Person,`).join("\n")
        const bytes = Buffer.from(`id,name,status\n${rows}\n1,Jürgen Müller,Größe\n`, "latin1")
        const done = yield* importFiles(organization, { "western.csv": bytes })
        expect(done).toMatchObject({ inserted: 20_001, files: [{ format: "CSV, commas, windows-1252" }] })
        expect(done.warnings).toEqual([
          `western.csv isn't UTF-8 and was read as Windows-1252: line 20002 has "Jürgen". If that is wrong, name the encoding: --encoding NAME`
        ])
        expect((yield* peopleOf(organization))[0]).toEqual(["1", "Jürgen Müller", "Größe"])
      })
    )

    it.effect("reads an encoding that can't be detected only when it is named", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("untold")
        const cyrillic = Buffer.concat([
          Buffer.from("id,name\n1,"),
          // "Лев Толстой" in Windows-1251.
          Buffer.from([0xcb, 0xe5, 0xe2, 0x20, 0xd2, 0xee, 0xeb, 0xf1, 0xf2, 0xee, 0xe9])
        ])
        const { message } = yield* refusalOfFiles(organization, { "untold.csv": cyrillic })
        expect(message).toContain("untold.csv, line 2: this isn't UTF-8. Save the file as UTF-8")
        expect(message).toContain("name its encoding, such as windows-1250")
        expect(
          (yield* refusalOfFiles(organization, { "untold.csv": cyrillic }, { encoding: "cp-nonsense" })).message
        ).toContain(`there is no encoding "cp-nonsense"`)
        expect(
          (yield* refusalOfFiles(organization, { "untold.csv": cyrillic }, { encoding: "gbk" })).message
        ).toContain("this isn't GBK")
        expect(
          (yield* refusalOfFiles(organization, { "untold.csv": cyrillic }, { encoding: "utf-8" })).message
        ).toContain("line 2: this isn't UTF-8")
        expect(yield* peopleOf(organization)).toEqual([])
        yield* importFiles(organization, { "untold.csv": cyrillic }, { encoding: "windows-1251" })
        expect(yield* peopleOf(organization)).toEqual([["1", "Лев Толстой", null]])
      })
    )

    it.effect("reports damaged UTF-8 instead of guessing another encoding", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("damaged")
        const bytes = Buffer.concat([Buffer.from("id,name\n1,Müller\n2,Zoë\n3,Jos"), Buffer.from([0xe9, 0x0a])])
        expect((yield* refusalOfFiles(organization, { "damaged.csv": bytes })).message).toContain(
          "line 4: this isn't UTF-8"
        )
      })
    )
  })

  describe("of a spreadsheet", () => {
    it.effect("reads the first sheet or a named one: dates, numbers, values of formulas, and text as text", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("sheets")
        const bytes = workbook({
          "Customers & co": sheetXml([
            [],
            ["id", "name", "phone", "since", "seen at", "score", "vip", "note", "total"],
            [
              1001,
              "Ada",
              7248572625,
              { date: 45_000 },
              { date: 45_000.75, time: true },
              0.1 + 0.2,
              true,
              "=cmd|'/c calc'!A1",
              { formula: "SUM(A1:A2)", value: 42 }
            ],
            [],
            [1002, "Bob", null, null, null, 1e-7, false, { formula: `HYPERLINK("x")`, value: "=1+1" }, 7]
          ]),
          Staff: sheetXml([
            ["id", "name"],
            ["s1", "Lena"]
          ])
        })
        const done = yield* importFiles(organization, { "sheets.xlsx": bytes }, { create: true })
        expect(done).toMatchObject({ inserted: 2, files: [{ format: `XLSX, sheet "Customers & co"` }] })
        expect(done.createdColumns.map(({ kind, slug }) => [slug, kind])).toEqual([
          ["since", "date"],
          ["seen_at", "timestamp"],
          ["score", "number"],
          ["vip", "boolean"],
          ["note", "text"],
          ["total", "integer"]
        ])
        const admin = yield* asMember(organization, "admin@example.com", "admin")
        const found = yield* admin.find({
          filters: [{ columnId: "phone", op: "eq", value: "(724) 857-2625" }],
          selectColumns: ["since", "seen_at", "score", "note", "total"]
        })
        expect(found.entities).toMatchObject([
          { columns: { since: "2023-03-15", score: "0.3", note: "=cmd|'/c calc'!A1", total: 42 } }
        ])
        expect(String(found.entities[0]!.columns!["seen_at"])).toBe("2023-03-15 18:00")
        const small = yield* admin.find({
          filters: [{ columnId: "total", op: "eq", value: "7" }],
          selectColumns: ["score"]
        })
        expect(small.entities).toMatchObject([{ columns: { score: "0.0000001" } }])
        expect((yield* importFiles(organization, { "sheets.xlsx": bytes }, { sheet: "Staff" })).inserted).toBe(1)
        expect((yield* refusalOfFiles(organization, { "sheets.xlsx": bytes }, { sheet: "Stuff" })).message).toBe(
          `sheets.xlsx: there is no sheet of that name. It has: "Customers & co", "Staff".`
        )
        expect((yield* refusalOfFiles(organization, { "a.csv": "id,name\n1,x" }, { sheet: "Staff" })).message).toBe(
          "a.csv: this isn't a spreadsheet and has no sheets."
        )
        const bad = workbook({
          One: sheetXml([
            ["id", "name"],
            [1, null]
          ])
        })
        expect((yield* refusalOfFiles(organization, { "bad.xlsx": bad })).details).toEqual([
          "row 2: name: empty, but every record needs a name"
        ])
      })
    )

    it.effect("refuses a file that isn't a spreadsheet, or that would fill the memory", () =>
      Effect.gen(function* () {
        const organization = yield* makeOrganization("bombs")
        const message = (name: string, bytes: Buffer) =>
          Effect.map(refusalOfFiles(organization, { [name]: bytes }), (error) => error.message)
        const tooLarge = "this spreadsheet is too large. Save the sheet as CSV"
        const damaged = "this isn't a spreadsheet, or it is damaged."
        expect(yield* message("cut.xlsx", Buffer.from("PK\u0003\u0004stuff"))).toContain(damaged)
        expect(yield* message("photos.xlsx", zip({ "photo.txt": "hello" }))).toContain(damaged)
        expect(yield* message("old.xls", Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]))).toContain(
          "Save it as .xlsx"
        )
        expect(yield* message("empty.xlsx", workbook({ One: sheetXml([]) }))).toContain("the sheet is empty.")
        const gigabyte = zip({ "xl/workbook.xml": "x" }, { "xl/workbook.xml": 4_000_000_000 })
        expect(yield* message("claims.xlsx", gigabyte)).toContain(tooLarge)
        const hidden = hiddenEntry("xl/workbook.xml", 4_000_000_000)
        expect(yield* message("total.xlsx", hidden)).toContain(tooLarge)
        expect(yield* message("zip64.xlsx", withZip64(hidden))).toContain(tooLarge)
        const far = sheetXml([["id", "name"]]).replace(
          "</sheetData>",
          `<row r="1000000000"><c r="A1000000000"><v>1</v></c></row></sheetData>`
        )
        expect(yield* message("far.xlsx", workbook({ One: far }))).toContain(tooLarge)
        const liar = zip({ "xl/worksheets/sheet1.xml": " ".repeat(5_000_000) }, { "xl/worksheets/sheet1.xml": 100 })
        expect(yield* message("liar.xlsx", liar)).toContain(damaged)
        // A few kilobytes that come to billions of cells.
        const wide = Array.from(
          { length: 40_000 },
          (_, row) => `<row r="${row + 2}"><c r="XFD${row + 2}"><v>1</v></c></row>`
        )
        const sheet = sheetXml([["id", "name"]]).replace("</sheetData>", `${wide.join("")}</sheetData>`)
        expect(yield* message("wide.xlsx", workbook({ One: sheet }))).toContain(tooLarge)
        expect(yield* peopleOf(organization)).toEqual([])
      })
    )
  })
})
