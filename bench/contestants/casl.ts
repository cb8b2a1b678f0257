/** pg + CASL: builds the ability for each request, translates its rules to SQL and runs the query. */
import { Effect } from "effect"
import { Database } from "../../src/database/Database.ts"
import { decodeId } from "../../src/domain/ids.ts"
import { answering, type Assignment } from "./answering.ts"
import { outside } from "../outside.ts"
import { installPeer } from "../peers.ts"
import { asking } from "../store.ts"
import { openWorld } from "../world/load.ts"

interface Pool {
  readonly query: (config: object) => Promise<{ readonly rows: ReadonlyArray<Record<string, unknown>> }>
}

type Interpret = (
  condition: unknown,
  options: object
) => readonly [string, ReadonlyArray<unknown>, ReadonlyArray<string>]

export const casl = Effect.fnUntraced(function* ({ role, rows, size }: Assignment) {
  const { search } = yield* Database
  const of = (yield* openWorld(rows)).organizations[size]
  const { principal } = yield* asking(of, role)
  const peer = installPeer("casl")
  if (typeof peer === "string") return yield* Effect.die(new Error(peer))
  const [pg, ability, extra, sql] = yield* Effect.promise(() =>
    Promise.all(["pg", "@casl/ability", "@casl/ability/extra", "@ucast/sql"].map(peer.load))
  )
  const { Pool } = pg!["default"] as { readonly Pool: new (config: object) => Pool }
  const createAbility = ability!["createMongoAbility"] as (rules: ReadonlyArray<object>) => unknown
  const rulesToAST = extra!["rulesToAST"] as (ability: unknown, action: string, subject: string) => unknown
  const interpret = (sql!["createSqlInterpreter"] as (all: unknown) => Interpret)(sql!["allInterpreters"])
  const pool = new Pool({ ...outside(search), max: 8 })
  const me = String(decodeId(principal.anchorEntityId))
  return yield* answering(async ({ filters }) => {
    // CASL ORs the rules of one action.
    const granted = createAbility([
      { action: "read", subject: "people", conditions: { owner_id: me } },
      { action: "read", subject: "people", conditions: { "company.status": "Partner" } }
    ])
    const [where, parameters] = interpret(rulesToAST(granted, "read", "people"), {
      ...(sql!["pg"] as object),
      joinRelation: () => true
    })
    const own = where.replaceAll(`"owner_id"`, `people."owner_id"`)
    const next = parameters.length
    const text =
      `SELECT people.id, people.name, people.status, people.email, count(*) OVER () AS total FROM data.people ` +
      `LEFT JOIN data.companies company ON company.organization_id = people.organization_id AND company.id = people.company_id ` +
      `WHERE (${own}) AND people.organization_id = $${next + 1} AND people.phone_k = $${next + 2} ORDER BY people.id LIMIT 5`
    const values = [...parameters, of.organization.id, filters[0]!.value]
    const { rows: found } = await pool.query({ name: "find", text, values })
    return { total: Number(found[0]?.["total"] ?? 0), entities: found }
  })
})
