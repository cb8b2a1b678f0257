import { type Kind, lookup } from "./Kind.ts"

const MODULES =
  "asset audit batch billing booking build campus cargo catalog claim clinic contract customs depot dispatch energy event facility feed fleet forecast freight garden grid harbor incident ledger lease line logistics machine meter network outlet packaging parcel payroll permit pipeline planning port press quality quota rail recipe route safety sample sensor service ship site stock supply survey tank tariff test tool track trade training transit vault vehicle vendor visit waste water weather yard zone".split(
    " "
  )
const NOUNS =
  "account alert batch category change comment contact cost document entry event file item limit note order plan rate record report request rule schedule stage step".split(
    " "
  )
const WORDS =
  "amount:numeric(12,2) city:text closed_at:timestamptz code:text comment:text country:text currency:text description:text due_date:date enabled:boolean height:integer label:text level:smallint location:text opened_on:date phone:text position:integer priority:text quantity:integer rating:smallint reason:text region:text source:text state:text title:text total:bigint unit:text url:text valid_until:date weight:real".split(
    " "
  )

export const PLANT_TABLES = 1000

/** The columns of a table, by its number: the same in every run. */
const table = (at: number): string => {
  const name = `${MODULES[at % MODULES.length]!}_${NOUNS[Math.floor(at / MODULES.length) % NOUNS.length]!}`
  const columns = Array.from({ length: 8 }, (_, n) =>
    WORDS[(at * 7 + n * 11 + ((n * at) % 5)) % WORDS.length]!.split(":")
  )
  const unique = new Map(columns.map(([column, type]) => [column!, type!]))
  const above = at - MODULES.length
  const parent = above < 0 ? "" : `, parent_id bigint REFERENCES ${nameOf(above)}`
  return `CREATE TABLE ${name} (id bigint PRIMARY KEY, name text NOT NULL, owner_id int REFERENCES plant_staff, status text, ${[...unique].map(([column, type]) => `${column} ${type}`).join(", ")}${parent});
INSERT INTO ${name} (id, name, owner_id, status) SELECT n, '${name} ' || n, 1 + n % 2, CASE WHEN n % 3 = 0 THEN 'open' ELSE 'done' END FROM generate_series(1, 4) n;
`
}
const nameOf = (at: number): string =>
  `${MODULES[at % MODULES.length]!}_${NOUNS[Math.floor(at / MODULES.length) % NOUNS.length]!}`

const own = (name: string) => `SELECT id FROM ${name} WHERE owner_id = 2`
const SHOWN = ["cargo_alerts", "harbor_accounts", "meter_batches"]

/** A thousand tables of one program. */
export const plant: Kind = {
  name: "plant",
  schemas: ["plant"],
  sql: `
CREATE TABLE plant_staff (id int PRIMARY KEY, name text NOT NULL, email text, phone text, access_token text);
INSERT INTO plant_staff VALUES (1, 'Io Chief', 'io@plant.example'), (2, 'Uma Hand', 'uma@plant.example');
${Array.from({ length: PLANT_TABLES - 1 }, (_, at) => table(at)).join("")}`,
  without: [],
  // Of the tables of people of all programs, one is the members'.
  edits: { "plant.plant_staff": { type: "people" }, "northwind.employees": { type: "nw_employees" } },
  admin: "io@plant.example",
  second: "uma@plant.example",
  sees: {
    people: { columns: ["name"], sql: "SELECT id FROM plant_staff" },
    ...Object.fromEntries(
      SHOWN.map((type) => {
        const name = type.replace(/e?s$/, (end) => (type.endsWith("ches") ? "" : end === "es" ? "e" : ""))
        return [type, { columns: "*", where: { owner: "$me" }, sql: own(name) }]
      })
    )
  },
  lookups: [
    lookup("cargo_alerts", "", "SELECT id FROM cargo_alert"),
    lookup("cargo_alerts", "owner=Uma Hand", own("cargo_alert")),
    lookup("cargo_alerts", "status=open", "SELECT id FROM cargo_alert WHERE status = 'open'"),
    lookup("cargo_alerts", "name=cargo_alert 2", "SELECT 2"),
    lookup(
      "harbor_accounts",
      "owner=Io Chief",
      "SELECT id FROM harbor_account WHERE owner_id = 1",
      "SELECT 1 WHERE false"
    ),
    lookup("harbor_accounts", "name~account 3", "SELECT 3"),
    lookup("meter_batches", "status=done", "SELECT id FROM meter_batch WHERE status = 'done'"),
    lookup("zone_events", "status=done", "SELECT id FROM zone_event WHERE status = 'done'", undefined),
    lookup("people", "name=uma hand", "SELECT 2"),
    lookup("people", "email=IO@plant.example", "SELECT 1", undefined)
  ],
  credentials: ["plant_staff.access_token"],
  drop: { table: "water_file", type: "water_files" },
  rename: { table: "cargo_alert", column: "status", type: "cargo_alerts", slug: "status" }
}
