/** The system types as the first migration writes them, for tests without a database. */
import { type Catalog, type Column, type EntityType, Storage } from "../../src/domain/EntityType.ts"

const value = (key: string, kind: Column["kind"], keyColumn?: string): Column => ({
  key,
  slug: key,
  name: key,
  kind,
  storage: Storage.Value(keyColumn === undefined ? { column: `${key}_at` } : { column: key, keyColumn, indexed: true })
})
const one = (key: string, target: string): Column => ({
  key,
  slug: key,
  name: key,
  kind: "reference",
  storage: Storage.One({ column: `${key}_id`, target })
})
const shared = [value("name", "text", "name_k"), value("status", "text", "status_k")]
const contact = [value("phone", "phone", "phone_k"), value("email", "email", "email_k")]

const type = (key: string, columns: ReadonlyArray<Column>): EntityType => ({
  key,
  slug: key,
  name: key,
  pluralName: key,
  system: true,
  version: 1,
  relation: { schema: "data", table: key },
  columns
})

export const systemCatalog: Catalog = {
  organization: { id: 1n, slug: "atlas", name: "Atlas", country: "US", timeZone: "America/New_York" },
  epoch: 7n,
  types: [
    type("people", [...shared, one("owner", "people"), one("company", "companies"), ...contact]),
    type("companies", [...shared, one("owner", "people"), ...contact]),
    type("meetings", [
      ...shared,
      value("start", "timestamp"),
      value("end", "timestamp"),
      one("owner", "people"),
      one("company", "companies"),
      {
        key: "attendees",
        slug: "attendees",
        name: "attendees",
        kind: "references",
        storage: Storage.Many({
          link: { schema: "data", table: "meeting_attendees" },
          from: "meeting_id",
          to: "person_id",
          target: "people"
        })
      }
    ])
  ]
}
