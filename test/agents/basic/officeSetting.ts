/** The organizations of the office questions: the sample organization of `max demo`, WorkBench, and Chinook. */
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { isDeepStrictEqual } from "node:util"
import { generate, STAFF } from "../../../src/services/import/sample/generate.ts"
import policy from "../../../src/channels/cli/demo/policy.json" with { type: "json" }
import { Database } from "../../../src/database/Database.ts"
import { Importer } from "../../../src/services/import/Importer.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { load, openTo } from "../../support/basic.ts"
import { fixture } from "../../support/fixtures.ts"
import { asExistingPerson, mapTables, runScript } from "../../support/mappedTables.ts"

const owner = "owner:people.email"

/** Harbor Supply, the sample organization of `max demo`, with meetings around today. */
export const harbor = Effect.gen(function* () {
  const organization = yield* makeOrganization("harbor")
  const sample = generate(new Date())
  const { companies, meetings, people } = sample
  yield* oracle("truth_harbor", sample)
  yield* load(organization, "people", people.slice(0, STAFF.length), { ignore: ["owner", "company"] })
  yield* load(organization, "companies", companies, { map: { owner } })
  yield* load(organization, "people", people, { map: { owner, company: "company:companies.id" } })
  yield* load(organization, "meetings", meetings, {
    map: { owner, company: "company:companies.id", attendees: "attendees:people.email" }
  })
  const policies = yield* Policies
  yield* policies.publish(organization, JSON.stringify(policy), "test")
  const members = yield* Memberships
  for (const { email, role } of STAFF) yield* members.add(organization, { identifier: email, roles: [role] })
  return organization
})

/** WorkBench: 200 customers, 20 employees and 300 meetings. */
export const workbench = Effect.gen(function* () {
  const organization = yield* makeOrganization("workbench")
  const importer = yield* Importer
  const seed = (type: string, file: string, more: object) =>
    importer.import(organization, { files: [fixture("workbench", `seed_${file}.jsonl`)], type, create: true, ...more })
  yield* oracle("truth_workbench", {
    people: [
      ...rows("people_workbench_staff").map((row) => ({ ...row, company: null })),
      ...rows("people_workbench_customers")
    ],
    companies: rows("companies_workbench"),
    meetings: rows("meetings_workbench")
  })
  yield* seed("companies", "companies_workbench", { ignore: ["people"] })
  yield* seed("people", "people_workbench_staff", { ignore: ["company"] })
  yield* seed("people", "people_workbench_customers", { map: { owner, company: "company:companies.name" } })
  yield* seed("meetings", "meetings_workbench", { map: { title: "name", with_: "attendees:people.email" } })
  yield* openTo(organization, "people", "companies", "meetings")
  return organization
})

/** WorkBench as a team uses it: Lena Schmidt has customers, and the calendar is Sam Reyes's. */
export const team = Effect.gen(function* () {
  const organization = yield* makeOrganization("team")
  const importer = yield* Importer
  const seed = (type: string, file: string, more: object) =>
    importer.import(organization, { files: [fixture("workbench", `seed_${file}.jsonl`)], type, create: true, ...more })
  yield* oracle("truth_team", {
    people: [...rows("people_workbench_staff"), ...rows("people_changes"), ...rows("people_workbench_customers")],
    companies: rows("companies_workbench"),
    meetings: rows("meetings_changes")
  })
  yield* seed("companies", "companies_workbench", { ignore: ["people"] })
  yield* seed("people", "people_workbench_staff", { ignore: ["company"] })
  yield* seed("people", "people_changes", { ignore: ["company"] })
  yield* seed("people", "people_workbench_customers", { map: { owner, company: "company:companies.name" } })
  yield* seed("meetings", "meetings_changes", { map: { owner, attendees: "attendees:people.email" } })
  yield* asExistingPerson(organization, LENA, "admin")
  yield* openTo(organization, "people", "companies", "meetings")
  const members = yield* Memberships
  yield* members.add(organization, { identifier: SAM, roles: ["admin"] })
  return organization
})

export const [LENA, SAM] = ["lena.schmidt@atlas.com", "sam@atlas.com"]

export const JANE = "jane@chinookcorp.com"

/** Chinook as it is proposed, asked by a support rep who sees everything. */
export const chinook = Effect.gen(function* () {
  yield* runScript(readFileSync(fixture("chinook", "Chinook_PostgreSql.sql"), "utf8"))
  const organization = yield* makeOrganization("shop")
  yield* mapTables(organization, {
    tables: [
      "album",
      "artist",
      "customer",
      "employee",
      "genre",
      "invoice",
      "invoice_line",
      "media_type",
      "playlist",
      "playlist_track",
      "track"
    ].map((table) => `public.${table}`),
    exclusive: true
  })
  yield* asExistingPerson(organization, JANE, "admin")
  return organization
})

type Row = Readonly<Record<string, unknown>>

const rows = (file: string): ReadonlyArray<Row> =>
  readFileSync(fixture("workbench", `seed_${file}.jsonl`), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))

/** Creates a schema with the rows as they were before the import, so that truths don't depend on how Max stores them. */
const oracle = Effect.fnUntraced(function* (
  schema: string,
  rows: Readonly<Record<"people" | "companies" | "meetings", ReadonlyArray<Row>>>
) {
  const { owner } = yield* Database
  const run = (sql: string, ...parameters: ReadonlyArray<unknown>) => owner.unsafe(sql, parameters).unprepared
  yield* run(`CREATE SCHEMA ${schema}`)
  for (const [name, all] of Object.entries(rows)) {
    const columns = [...new Set(all.flatMap(Object.keys))].map((column) => `"${column}" text`).join(", ")
    yield* run(
      `CREATE TABLE ${schema}.${name} AS SELECT * FROM json_to_recordset($1::json) AS x(${columns})`,
      JSON.stringify(all)
    )
    // Without these, each truth joins by comparing every row with every other one.
    if (all.some((row) => "email" in row)) yield* run(`CREATE INDEX ON ${schema}.${name} (email)`)
    yield* run(`ANALYZE ${schema}.${name}`)
  }
})

/** The tables of an organization's truths: `p` people, `c` companies, `m` meetings, with names in place of references. */
export const HARBOR = `WITH p AS (
  SELECT x.name, x.status, nullif(x.email, '') AS email, nullif(x.phone, '') AS phone, o.name AS owner, c.name AS company
  FROM truth_harbor.people x LEFT JOIN truth_harbor.people o ON o.email = x.owner AND x.owner <> '' LEFT JOIN truth_harbor.companies c ON c.id = x.company),
c AS (SELECT x.name, x.status, x.phone, x.email, o.name AS owner FROM truth_harbor.companies x JOIN truth_harbor.people o ON o.email = x.owner),
m AS (SELECT x.id, x.name, x.status, x.start::timestamp AS start, x."end"::timestamp AS "end", o.name AS owner, c.name AS company,
  (SELECT array_agg(a.name) FROM truth_harbor.people a WHERE a.email = ANY (string_to_array(x.attendees, ';'))) AS attendees
  FROM truth_harbor.meetings x JOIN truth_harbor.people o ON o.email = x.owner LEFT JOIN truth_harbor.companies c ON c.id = x.company),
g AS (SELECT m.start, m.owner AS host, a.email, a.status FROM m JOIN truth_harbor.meetings x USING (id)
  JOIN truth_harbor.people a ON a.email = ANY (string_to_array(x.attendees, ';'))),
t AS (SELECT today, ARRAY(SELECT today + mod(n + 7 - date_part('dow', today)::int, 7) FROM generate_series(1, 7) n) AS coming
  FROM (SELECT (now() AT TIME ZONE 'America/New_York')::date AS today) x) `

export const WORKBENCH = `WITH p AS (
  SELECT x.name, x.status, x.email, x.phone, x.product, o.name AS owner, x.company, x.last_contact::date, x.follow_up::date
  FROM truth_workbench.people x LEFT JOIN truth_workbench.people o ON o.email = x.owner),
c AS (SELECT name FROM truth_workbench.companies),
m AS (SELECT x.title AS name, x.start::timestamp AS start, x.minutes::int AS minutes, a.name AS attendee
  FROM truth_workbench.meetings x LEFT JOIN truth_workbench.people a ON a.email = x.with_) `

export const TEAM = `WITH p AS (
  SELECT x.name, x.status, x.email, x.phone, x.product, o.name AS owner, x.company, x.last_contact::date, x.follow_up::date
  FROM truth_team.people x LEFT JOIN truth_team.people o ON o.email = x.owner),
c AS (SELECT name FROM truth_team.companies),
m AS (SELECT x.name, x.start::timestamp AS start, x.minutes::int AS minutes, a.name AS attendee
  FROM truth_team.meetings x LEFT JOIN truth_team.people a ON a.email = x.attendees) `

/** The answers of a truth in order. */
export const truthOf = Effect.fnUntraced(function* (sql: string) {
  const { owner } = yield* Database
  const rows = yield* owner.unsafe<{ readonly answer: unknown }>(sql).unprepared
  return rows.map(({ answer }) => String(answer))
})

/** A reply with a truth that held before and after it; asks again where the truth changed meanwhile: a meeting began, a day ended. */
export const duringOneTruth = Effect.fnUntraced(function* <A, B, E1, E2, R1, R2>(
  truth: Effect.Effect<A, E1, R1>,
  ask: Effect.Effect<B, E2, R2>
) {
  let before = yield* truth
  while (true) {
    const reply = yield* ask
    const after = yield* truth
    if (isDeepStrictEqual(before, after)) return { reply, truth: after }
    before = after
  }
})
