/** Two mapped types beside the system types, for tests without a database. */
import { type Catalog, type Column, type ColumnKind, type EntityType, Storage } from "../../src/domain/EntityType.ts"
import { systemCatalog } from "./catalog.ts"

const column = (key: string, kind: ColumnKind, storage: Storage, more: Partial<Column> = {}): Column => ({
  key,
  slug: key,
  name: key,
  kind,
  storage,
  ...more
})
const source = (
  key: string,
  kind: ColumnKind,
  type: "text" | "numeric" | "timestamp" | "date" | "integer",
  more = {}
) => column(key, kind, Storage.Value({ column: key, source: { columns: [key], type, ...more } }))
const mapped = (key: string, columns: ReadonlyArray<Column>, unique: boolean): EntityType => ({
  key,
  slug: key,
  name: key,
  pluralName: key,
  system: false,
  version: 1,
  relation: { schema: "host", table: key },
  columns,
  mapping: {
    id: { column: "Key", type: "uuid" },
    organization: { column: "tenant", type: "text" },
    where: [{ column: "gone", is: false }],
    unique,
    reads: { [`"host"."${key}"`]: `identity of ${key}`, '"host"."watch"': "identity of watch" }
  }
})

export const agents = mapped("agents", [source("name", "text", "text")], true)
export const tickets = mapped(
  "tickets",
  [
    source("name", "text", "text"),
    source("status", "text", "text"),
    source("fee", "number", "numeric", { currency: "cur" }),
    source("opened", "timestamp", "timestamp", { timeZone: "Asia/Kolkata" }),
    source("due", "date", "date"),
    source("count", "integer", "integer"),
    source("weight", "number", "numeric"),
    column("agent", "reference", Storage.One({ column: "agent_id", target: "agents" }), { ids: "uuid" }),
    column(
      "watchers",
      "references",
      Storage.Many({ link: { schema: "host", table: "watch" }, from: "t", to: "a", target: "agents", mapped: true }),
      { ids: "uuid" }
    )
  ],
  false
)
export const catalog: Catalog = {
  ...systemCatalog,
  organization: { ...systemCatalog.organization, externalKey: "acme" },
  types: [...systemCatalog.types, agents, tickets]
}
