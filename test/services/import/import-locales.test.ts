/** Files as programs of other countries write them: separators, dates, words for yes and no, lines before the header. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { asMember, makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { importFile, refusalOfFile } from "../../support/imports.ts"

const kindsOf = ({
  createdColumns
}: {
  readonly createdColumns: ReadonlyArray<{ readonly slug: string; readonly kind: string }>
}) => Object.fromEntries(createdColumns.map(({ kind, slug }) => [slug, kind]))

/** The rows of a new type as its boss sees them. */
const rowsOf = Effect.fnUntraced(function* (
  organization: Organization,
  entityTypeId: string,
  columns: ReadonlyArray<string>
) {
  const boss = yield* asMember(organization, `boss@${organization.slug}.example`, "admin")
  const page = yield* boss.find({ entityTypeId, selectColumns: columns })
  return page.entities.map((entity) => entity.columns)
})

layer(TestServices, { excludeTestServices: true })("files of other countries", (it) => {
  it.effect("are read by their locale: separators, dates and words, with a preview of each reading", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("german")
      const file = [
        "sep=;",
        "Nr;Name;Betrag;Anteil;Beginn;Aktiv;Vermerk",
        'a;Lampe;"1.234,50";12,5%;03.04.2025;ja;1.234,50',
        "b;Teppich;-7;3%;31.12.2024 14:30;Nein;x"
      ]
      const request = { type: "items", create: true, locale: "de-DE", map: { Nr: "id" } }
      const tried = yield* importFile(organization, file, { ...request, dryRun: true })
      const read = tried.files[0]!.mapped.map(({ example, to }) => [to, example?.text, example?.read])
      expect(read).toContainEqual(["betrag", "1.234,50", "1234.50"])
      expect(read).toContainEqual(["beginn", "03.04.2025", "2025-04-03 00:00"])
      expect(read).toContainEqual(["vermerk", undefined, undefined])
      const imported = yield* importFile(organization, file, request)
      expect(kindsOf(imported)).toEqual({
        betrag: "number",
        anteil: "number",
        beginn: "timestamp",
        aktiv: "boolean",
        vermerk: "text"
      })
      expect(yield* rowsOf(organization, "items", ["betrag", "anteil", "beginn", "aktiv", "vermerk"])).toEqual([
        { betrag: "1234.50", anteil: "12.5", beginn: "2025-04-03 00:00", aktiv: true, vermerk: "1.234,50" },
        { betrag: "-7", anteil: "3", beginn: "2024-12-31 14:30", aktiv: false, vermerk: "x" }
      ])
    })
  )

  it.effect("read amounts that have one meaning without a locale, and never guess at the others", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("amounts")
      const lines = [
        "name,price,rate,both,open,posted,range",
        'a,"$1,234.50",12.5%,"1.234,50","1,234","1.200,00-",12-',
        'b,"-$5.00",7 %,"2.000,00 €","7,5","(2.000,00 €)",7'
      ]
      const imported = yield* importFile(organization, lines, { type: "prices", create: true })
      expect(kindsOf(imported)).toEqual({
        price: "number",
        rate: "number",
        both: "number",
        open: "text",
        posted: "number",
        range: "text"
      })
      expect(yield* rowsOf(organization, "prices", ["price", "rate", "both", "posted", "range"])).toEqual([
        { price: "1234.50", rate: "12.5", both: "1234.50", posted: "-1200.00", range: "12-" },
        { price: "-5.00", rate: "7", both: "2000.00", posted: "-2000.00", range: "7" }
      ])
      // A day and a month that could be exchanged need an order; an impossible one is a problem of its line.
      const dates = ["name,day", "a,03/04/2025", "b,12/31/2024"]
      expect(kindsOf(yield* importFile(organization, dates, { type: "days", create: true, dates: "mdy" }))).toEqual({
        day: "date"
      })
      expect(yield* rowsOf(organization, "days", ["day"])).toEqual([{ day: "2025-03-04" }, { day: "2024-12-31" }])
      const refused = yield* refusalOfFile(organization, dates, { type: "days", dates: "dmy" })
      expect(refused.details.join("\n")).toContain("12/31/2024")
      for (const options of [{ locale: "xx-nowhere-at-all" }, { dates: "ydm" }])
        expect((yield* refusalOfFile(organization, dates, { type: "days", ...options })).message).toMatch(/de-DE|dmy/)
    })
  )

  it.effect("begin at the header row, and one header may be the id and further columns", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("preamble")
      const { owner } = yield* Database
      const lines = [
        "Export of 3 May; page 1",
        "",
        "Customer No;Mobile;E-mail address",
        "K-1;0044 20 7946 0958;kim@preamble.example"
      ]
      const imported = yield* importFile(organization, lines, {
        headerRow: 3,
        create: true,
        map: { "Customer No": "id,name,customer_number" }
      })
      expect(imported.files[0]!.mapped.map(({ header, to }) => `${header}=${to}`)).toEqual([
        "Customer No=id",
        "Customer No=name",
        "Customer No=customer_number",
        "Mobile=phone",
        "E-mail address=email"
      ])
      const boss = yield* asMember(organization, "boss@preamble.example", "admin")
      for (const [columnId, value] of [
        ["customer_number", "k-1"],
        ["phone", "0044 2079460958"],
        ["phone", "+44 20 7946 0958"]
      ] as const)
        expect((yield* boss.find({ filters: [{ columnId, op: "eq", value }] })).entities, value).toMatchObject([
          { displayName: "K-1" }
        ])
      expect((yield* refusalOfFile(organization, lines, { headerRow: 9 })).message).toContain("row 9")
      expect((yield* refusalOfFile(organization, lines)).message).toContain("--header-row")
      expect((yield* owner`SELECT 1 AS one`).length).toBe(1)
    })
  )

  it.effect("have headers in the words of four languages", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("words")
      for (const [index, header] of [
        "Full Name,Mobile,E-mail address",
        "Vollständiger Name,Handynummer,E-Mail-Adresse",
        "Nom complet,Téléphone portable,Adresse e-mail",
        "Nombre completo,Teléfono móvil,Correo electrónico"
      ].entries()) {
        const imported = yield* importFile(organization, [
          header,
          `Lee ${index},+12025550${100 + index},lee${index}@words.example`
        ])
        expect(
          imported.files[0]!.mapped.map(({ to }) => to),
          header
        ).toEqual(["name", "phone", "email"])
      }
    })
  )

  it.effect("have phone numbers, by the header's word or by the country's code, and codes that are none", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("rufnummern")
      const named = "Mobil,Handynummer,Telefon 2,Téléphone,Mobiel nummer,Diensttelefon".split(",")
      const others = "Kontakt,Notruf,Artikel,Mobiliar,Gewicht,Spanne".split(",")
      const number = "0044 20 7946 0958 ext. 12"
      const imported = yield* importFile(
        organization,
        [
          ["Name", ...named, ...others].join(";"),
          [
            "Lee",
            ...named.map(() => number),
            number,
            "+49 711 2842222",
            "0044207946",
            "0711 2842",
            "+5",
            "+49 711 2842222"
          ],
          ["Kim", ...named.map(() => "+12025550101"), "(+49) 711 2842222", "", "0012345678", "7112842", "+7", "x"]
        ].map((line) => (typeof line === "string" ? line : line.join(";"))),
        { type: "partners", create: true }
      )
      const phones = [
        "mobil",
        "handynummer",
        "telefon_2",
        "telephone",
        "mobiel_nummer",
        "diensttelefon",
        "kontakt",
        "notruf"
      ]
      expect(kindsOf(imported)).toEqual({
        ...Object.fromEntries(phones.map((slug) => [slug, "phone"])),
        ...Object.fromEntries(["artikel", "mobiliar", "gewicht", "spanne"].map((slug) => [slug, "text"]))
      })
      const boss = yield* asMember(organization, "boss@rufnummern.example", "admin")
      for (const columnId of phones.filter((slug) => slug !== "notruf"))
        expect(
          (yield* boss.find({
            entityTypeId: "partners",
            filters: [{ columnId, op: "eq", value: "+44 2079460958 x12" }]
          })).entities,
          columnId
        ).toMatchObject([{ displayName: "Lee" }])
    })
  )
})
