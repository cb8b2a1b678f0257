/** Chinook, a music shop's public sample database, mapped as it is proposed. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { expect } from "vitest"
import { Importer } from "../../../src/services/import/Importer.ts"
import { Mappings } from "../../../src/services/mapping/Mappings.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { fixture } from "../../support/fixtures.ts"
import { asExistingPerson, byHand, ids, mapTables, policyFor, runScript } from "../../support/mappedTables.ts"

const script = fixture("chinook", "Chinook_PostgreSql.sql")
const JANE = "jane@chinookcorp.com"
const STEVE = "steve@chinookcorp.com"

const rule = (id: string, role: string, type: string, columns: unknown, where?: object) => ({
  id,
  effect: "allow",
  role,
  action: "read",
  type,
  columns,
  ...(where === undefined ? {} : { where })
})

layer(TestServices, { excludeTestServices: true })("the mapped Chinook database", (it) => {
  it.effect("gives two roles the answers of hand-written SQL, from the proposed mapping", () =>
    Effect.gen(function* () {
      yield* runScript(readFileSync(script, "utf8"))
      expect(yield* byHand("SELECT count(*) AS id FROM public.track")).toEqual(["366"])
      const organization = yield* makeOrganization("shop")
      const { applied, proposed } = yield* mapTables(organization, { exclusive: true })
      expect(proposed.types.map(({ table, type }) => `${table} ${type}`)).toEqual([
        "public.album albums",
        "public.artist artists",
        "public.customer customers",
        "public.employee people",
        "public.genre genres",
        "public.invoice invoices",
        "public.invoice_line invoice_lines",
        "public.media_type media_types",
        "public.playlist playlists",
        "public.track tracks"
      ])
      expect(applied.admin).toBe(true)

      const jane = yield* asExistingPerson(organization, JANE, "admin")
      expect(jane.anchorId).toBe("3")
      expect(yield* jane.types).toContain("customers")
      expect(yield* jane.columns("customers")).toContain("support_rep")

      const customers = "SELECT customer_id AS id FROM customer"
      const janes = yield* jane.findAll("customers", ["support_rep~jane peacock"], ["support_rep", "phone"])
      expect(ids(janes)).toEqual(yield* byHand(`${customers} WHERE support_rep_id = 3 ORDER BY 1`))
      expect(janes[0]!.displayName).toBe("Luís Gonçalves")
      expect(janes[0]!.columns).toEqual({
        support_rep: { id: "3", name: "Jane Peacock" },
        phone: "+55 (12) 3923-5555"
      })
      expect(ids(yield* jane.findAll("customers", ["support_rep=3"]))).toEqual(ids(janes))

      const albums = yield* jane.findAll("albums", ["artist~led zeppelin"], ["artist"])
      expect(albums.map((album) => album.displayName)).toEqual(
        yield* byHand(
          "SELECT title AS id FROM album JOIN artist USING (artist_id) WHERE name = 'Led Zeppelin' ORDER BY album_id"
        )
      )
      expect(albums).toHaveLength(14)

      const late = yield* jane.findAll("invoices", ["invoice_date>=2024-03"], ["total", "customer", "invoice_date"], 25)
      expect(ids(late)).toEqual(
        yield* byHand(
          "SELECT invoice_id AS id FROM invoice WHERE invoice_date >= '2024-03-01' ORDER BY invoice_date, invoice_id"
        )
      )
      expect(late.length).toBeGreaterThan(100)
      expect(ids(yield* jane.findAll("invoices", ["invoice_date=2024-03"]))).toEqual(
        yield* byHand(
          "SELECT invoice_id AS id FROM invoice WHERE date_trunc('month', invoice_date) = '2024-03-01' ORDER BY 1"
        )
      )
      expect(ids(yield* jane.findAll("invoices", ["total>=15"], ["total"]))).toEqual(
        yield* byHand("SELECT invoice_id AS id FROM invoice WHERE total >= 15 ORDER BY total, invoice_id")
      )

      for (const written of [
        "+55 (12) 3923-5555",
        "+551239235555",
        "0055 12 3923 5555",
        "551239235555",
        "tel:+55-12-3923-5555"
      ]) {
        expect(ids((yield* jane.find("customers", [`phone=${written}`])).entities), written).toEqual(["1"])
      }
      for (const written of [
        "+1 (425) 882-8080",
        "425-882-8080",
        "(425) 882 8080",
        "1 425 882 8080",
        "0014258828080"
      ]) {
        expect(ids((yield* jane.find("customers", [`phone=${written}`])).entities), written).toEqual(["17"])
      }
      expect(ids((yield* jane.find("customers", ["name=luis goncalves"])).entities)).toEqual(["1"])
      expect(ids((yield* jane.find("customers", ["email=LUISG@EMBRAER.com.br"])).entities)).toEqual(["1"])
      expect(ids(yield* jane.findAll("tracks", ["playlists~grunge"]))).toEqual(
        yield* byHand("SELECT track_id AS id FROM playlist_track WHERE playlist_id = 16 ORDER BY 1")
      )

      // The policy in force can be published again and grants the same.
      const policies = yield* Policies
      const { document } = yield* policies.current(organization)
      yield* policies.publish(organization, document, "test")
      expect(yield* jane.types).toContain("customers")
      expect(JSON.parse(document).rules.find((one: { id: string }) => one.id === "member-contacts")).toEqual({
        ...rule("member-contacts", "member", "people", ["name", "phone", "email"]),
        where: { any: [{ id: "$me" }] }
      })

      // The second role: a support agent with assigned customers.
      yield* policyFor(organization, {
        version: 1,
        roles: { admin: {}, agent: {} },
        rules: [
          ...proposed.types.map(({ type }) => rule(`admin-${type}`, "admin", type, "*")),
          rule("own-customers", "agent", "customers", ["name", "phone", "email", "support_rep"], {
            support_rep: "$me"
          }),
          rule("customer-names", "agent", "customers", ["name", "country"], { country: "Canada" }),
          rule("colleagues", "agent", "people", ["name"]),
          rule("own-invoices", "agent", "invoices", "*", { customer: { support_rep: "$me" } }),
          rule("artists", "agent", "artists", ["name"]),
          rule("albums", "agent", "albums", "*")
        ]
      })
      const steve = yield* asExistingPerson(organization, STEVE, "agent")
      expect(steve.anchorId).toBe("5")
      expect(yield* steve.types).toEqual(["people", "albums", "artists", "customers", "invoices"])
      expect(ids(yield* steve.findAll("customers", ["support_rep~steve johnson"]))).toEqual(
        yield* byHand(`${customers} WHERE support_rep_id = 5 ORDER BY 1`)
      )
      // Some of Jane's customers are visible by name, but not their support rep.
      expect((yield* steve.find("customers", ["support_rep~jane peacock"])).total).toBe(0)
      expect(ids(yield* steve.findAll("customers"))).toEqual(
        yield* byHand(`${customers} WHERE support_rep_id = 5 OR country = 'Canada' ORDER BY 1`)
      )
      expect((yield* steve.find("customers", ["phone=+55 (12) 3923-5555"])).total).toBe(0)
      expect(ids(yield* steve.findAll("invoices", ["invoice_date>=2024-03"], ["total"], 25))).toEqual(
        yield* byHand(`SELECT invoice_id AS id FROM invoice JOIN customer USING (customer_id)
            WHERE invoice_date >= '2024-03-01' AND support_rep_id = 5 ORDER BY invoice_date, invoice_id`)
      )
      expect(ids(yield* steve.findAll("albums", ["artist~led zeppelin"]))).toEqual(ids(albums))
      expect(yield* Effect.flip(steve.find("tracks"))).toMatchObject({ _tag: "UnknownName" })

      // A value that can't be an id matches nothing and is no error.
      for (const id of ["absent", "99999999999999999999", "3.0", " 3", "-1", "bcd", "3; DROP TABLE customer"]) {
        expect((yield* jane.find("customers", [`support_rep=${id}`])).total, id).toBe(0)
      }

      const importer = yield* Importer
      const refused = yield* Effect.flip(importer.import(organization, { files: [script], type: "people" }))
      expect(refused._tag).toBe("OperatorError")
      const mappings = yield* Mappings
      expect(yield* mappings.diff(organization)).toEqual([])
      expect(yield* mappings.drifted).toEqual([])
      expect(yield* mappings.advice(organization)).toEqual([])
    })
  )
})
