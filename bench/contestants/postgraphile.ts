/** PostGraphile with row-level security: a copy of the rows in its own tables with a policy, and a role per request. */
import { Effect } from "effect"
import { Database } from "../../src/database/Database.ts"
import { decodeId } from "../../src/domain/ids.ts"
import { answering, type Assignment } from "./answering.ts"
import { outside, urlOf } from "../outside.ts"
import { installPeer } from "../peers.ts"
import { asking } from "../store.ts"
import { openWorld } from "../world/load.ts"
import { beNewer } from "./newer.ts"

const setting = (name: string) => `(SELECT nullif(current_setting('claims.${name}', true), '')::bigint)`

/** Copies the rows, because a policy on Max's tables would also apply to Max. */
const COPY = [
  "DROP SCHEMA IF EXISTS peers CASCADE",
  "CREATE SCHEMA peers",
  ...["companies", "people"].flatMap((table) => [
    `CREATE TABLE peers.${table} (LIKE data.${table})`,
    `INSERT INTO peers.${table} SELECT * FROM data.${table}`,
    `ALTER TABLE peers.${table} ADD PRIMARY KEY (organization_id, id)`,
    `ALTER TABLE peers.${table} ENABLE ROW LEVEL SECURITY`
  ]),
  "CREATE INDEX ON peers.people (organization_id, phone_k, id)",
  "CREATE INDEX ON peers.people (phone_k)",
  `CREATE POLICY companies ON peers.companies USING (organization_id = ${setting("organization")})`,
  `CREATE POLICY people ON peers.people USING (organization_id = ${setting("organization")} AND (owner_id = ${setting("person")}
     OR EXISTS (SELECT FROM peers.companies c WHERE c.organization_id = people.organization_id AND c.id = people.company_id AND c.status = 'Partner')))`,
  "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'max_bench_peer') THEN CREATE ROLE max_bench_peer; END IF; END $$",
  "GRANT USAGE ON SCHEMA peers TO max_bench_peer",
  "GRANT SELECT ON ALL TABLES IN SCHEMA peers TO max_bench_peer",
  "ANALYZE peers.companies",
  "ANALYZE peers.people"
]

const DOCUMENT = `query Find($phone: String!) {
  allPeople(condition: { phoneK: $phone }, first: 5, orderBy: [PRIMARY_KEY_ASC]) {
    totalCount
    nodes { rowId name status email }
  }
}`

export const postgraphile = Effect.fnUntraced(function* ({ role, rows, size }: Assignment) {
  const { owner } = yield* Database
  const of = (yield* openWorld(rows)).organizations[size]
  const { principal } = yield* asking(of, role)
  const peer = installPeer("postgraphile")
  if (typeof peer === "string") return yield* Effect.die(new Error(peer))
  beNewer()
  for (const statement of COPY) yield* owner.unsafe(statement).unprepared
  const answer = yield* Effect.promise(async () => {
    const [core, amber, adaptor, grafast] = (await Promise.all(
      ["postgraphile", "postgraphile/presets/amber", "postgraphile/adaptors/pg", "postgraphile/grafast"].map(peer.load)
    )) as ReadonlyArray<Record<string, any>>
    const settings = {
      role: "max_bench_peer",
      "claims.organization": String(of.organization.id),
      "claims.person": String(decodeId(principal.anchorEntityId))
    }
    const preset = {
      grafast: { context: () => ({ pgSettings: settings }) },
      extends: [amber!["PostGraphileAmberPreset"] ?? amber!["default"]],
      pgServices: [
        adaptor!["makePgService"]({
          connectionString: urlOf(outside(owner)),
          schemas: ["peers"],
          poolConfig: { max: 8 }
        })
      ]
    }
    const { resolvedPreset, schema } = await core!["makeSchema"](preset)
    return async (phone: string) => {
      const result = await grafast!["grafast"]({
        schema,
        source: DOCUMENT,
        variableValues: { phone },
        resolvedPreset,
        requestContext: {}
      })
      if (result.errors) throw new Error(JSON.stringify(result.errors))
      return result.data
    }
  })
  return yield* answering(({ filters }) => answer(filters[0]!.value) as Promise<unknown>)
})
