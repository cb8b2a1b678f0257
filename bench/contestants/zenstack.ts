/** ZenStack: an ORM that compiles the policies in its schema to SQL. Its code is generated into its own folder. */
import { build } from "esbuild"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { Database } from "../../src/database/Database.ts"
import { decodeId } from "../../src/domain/ids.ts"
import { answering, type Assignment } from "./answering.ts"
import { outside } from "../outside.ts"
import { installPeer, oneLine, type Peer } from "../peers.ts"
import { asking } from "../store.ts"
import { openWorld } from "../world/load.ts"
import { beNewer, NEWER } from "./newer.ts"

const MODEL = `
datasource db { provider = "postgresql" url = env("DATABASE_URL") schemas = ["data"] }
plugin policy { provider = "@zenstackhq/plugin-policy" }
type Auth { id BigInt @id organization BigInt @@auth }
model Company {
  organization_id BigInt
  id BigInt
  status String?
  people Person[]
  @@id([organization_id, id])
  @@map("companies")
  @@schema("data")
  @@allow('read', organization_id == auth().organization)
}
model Person {
  organization_id BigInt
  id BigInt
  name String
  status String?
  email String?
  phone_k String?
  owner_id BigInt?
  company_id BigInt?
  company Company? @relation(fields: [organization_id, company_id], references: [organization_id, id])
  @@id([organization_id, id])
  @@map("people")
  @@schema("data")
  @@allow('read', organization_id == auth().organization && (owner_id == auth().id || company.status == 'Partner'))
}
`

/** Loads the generated schema module. Returns one line with the reason if that fails. */
const generated = async (peer: Peer) => {
  const at = (name: string) => join(peer.folder, name)
  writeFileSync(at("schema.zmodel"), MODEL)
  writeFileSync(at("newer.mjs"), NEWER)
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    [
      "--import",
      at("newer.mjs"),
      at("node_modules/@zenstackhq/cli/bin/cli"),
      "generate",
      "--schema",
      "schema.zmodel",
      "--output",
      "node_modules/.generated"
    ],
    { cwd: peer.folder, encoding: "utf8", timeout: 60_000, env: { ...process.env, DO_NOT_TRACK: "1" } }
  )
  if (status !== 0) throw new Error(oneLine(stderr) || oneLine(stdout))
  await build({
    entryPoints: [at("node_modules/.generated/schema.ts")],
    outfile: at("node_modules/.generated/schema.mjs"),
    format: "esm"
  })
  return (await import(pathToFileURL(at("node_modules/.generated/schema.mjs")).href)) as { readonly schema: unknown }
}

interface Person {
  readonly findMany: (query: object) => Promise<ReadonlyArray<Record<string, unknown>>>
  readonly count: (query: object) => Promise<number>
}
interface Client {
  readonly $use: (plugin: unknown) => Client
  readonly $setAuth: (who: object) => { readonly person: Person }
}

export const zenstack = Effect.fnUntraced(function* ({ role, rows, size }: Assignment) {
  const { search } = yield* Database
  const of = (yield* openWorld(rows)).organizations[size]
  const { principal } = yield* asking(of, role)
  const peer = installPeer("zenstack")
  if (typeof peer === "string") return yield* Effect.die(new Error(peer))
  beNewer()
  const client = yield* Effect.promise(async () => {
    const { schema } = await generated(peer)
    const [orm, dialects, policy, pg] = await Promise.all(
      ["@zenstackhq/orm", "@zenstackhq/orm/dialects/postgres", "@zenstackhq/plugin-policy", "pg"].map(peer.load)
    )
    const make = <A>(module: Record<string, unknown> | undefined, name: string, ...given: ReadonlyArray<unknown>) =>
      new (module![name] as new (...given: ReadonlyArray<unknown>) => A)(...given)
    const { Pool } = pg!["default"] as { readonly Pool: new (config: object) => unknown }
    const dialect = make(dialects, "PostgresDialect", { pool: new Pool({ ...outside(search), max: 8 }) })
    return make<Client>(orm, "ZenStackClient", schema, { dialect }).$use(make(policy, "PolicyPlugin"))
  })
  const id = decodeId(principal.anchorEntityId)
  return yield* answering(async ({ filters }) => {
    const { person } = client.$setAuth({ id, organization: of.organization.id })
    const where = { organization_id: of.organization.id, phone_k: filters[0]!.value }
    const [entities, total] = await Promise.all([
      person.findMany({
        where,
        take: 5,
        orderBy: { id: "asc" },
        select: { id: true, name: true, status: true, email: true }
      }),
      person.count({ where })
    ])
    return { total, entities: entities.map((one) => ({ ...one, id: String(one["id"]) })) }
  })
})
