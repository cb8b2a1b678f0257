/** The public data of a sales company. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Importer, type ImportRequest } from "../../../src/services/import/Importer.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { fixture } from "../../support/fixtures.ts"
import { rowsOf } from "../../support/imports.ts"

layer(TestServices, { excludeTestServices: true })("an import", (it) => {
  it.effect("takes WorkBench's data, one import a file", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("workbench")
      const importer = yield* Importer
      const seed = (file: string, type: string, options: Partial<ImportRequest>) =>
        importer.import(organization, { files: [fixture("workbench", file)], type, ...options })
      const steps = Effect.all([
        seed("seed_companies_workbench.jsonl", "companies", { ignore: ["people"] }),
        seed("seed_people_workbench_staff.jsonl", "people", { ignore: ["company"] }),
        seed("seed_people_workbench_customers.jsonl", "people", {
          map: { owner: "owner:people.email", company: "company:companies.name" },
          create: true
        }),
        seed("seed_meetings_workbench.jsonl", "meetings", {
          map: { title: "name", with_: "attendees:people.email", start: "start" },
          ignore: ["minutes"]
        })
      ])
      const first = yield* steps
      expect(first.map(({ inserted, rows }) => [rows, inserted])).toEqual([
        [187, 187],
        [20, 20],
        [200, 200],
        [300, 300]
      ])
      expect(first[2]!.createdColumns).toEqual([
        { slug: "product", name: "Product", kind: "text" },
        { slug: "last_contact", name: "Last contact", kind: "date" },
        { slug: "follow_up", name: "Follow up", kind: "date" },
        { slug: "notes", name: "Notes", kind: "text" }
      ])
      expect(first.flatMap(({ warnings }) => warnings)).toEqual([])
      expect((yield* steps).map(({ unchanged }) => unchanged)).toEqual([187, 20, 200, 300])
      const staff = yield* importer
        .import(organization, {
          files: [fixture("workbench", "seed_people_workbench_staff.jsonl")],
          type: "people",
          map: { company: "company:companies.name" }
        })
        .pipe(Effect.flip)
      expect(staff).toMatchObject({
        message: "Nothing was imported: seed_people_workbench_staff.jsonl has 20 bad rows."
      })
      const original = yield* importer.import(organization, {
        files: [fixture("workbench", "customer_relationship_manager_data.csv")],
        type: "people",
        create: true,
        map: {
          customer_id: "id",
          customer_name: "name",
          customer_email: "email",
          customer_phone: "phone",
          assigned_to_email: "owner:people.email",
          product_interest: "product",
          last_contact_date: "last_contact",
          follow_up_by: "follow_up"
        }
      })
      expect(original).toMatchObject({ rows: 200, inserted: 200, createdColumns: [] })
      const rows = yield* rowsOf(organization, "people", "id", "phone", "phone#")
      expect(rows.filter(([, phone, key]) => phone !== null && key !== null)).toHaveLength(200)
      expect(rows.filter(([, phone, key]) => phone !== null && key === null)).toEqual([])
    })
  )
})
