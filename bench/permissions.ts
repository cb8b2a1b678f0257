/**
 * Measures planning and compiling per call by number of rules, and CASL on the same rules in the same run. CASL is
 * installed from npm into bench/peers at run time; a failure is reported and skipped.
 */
import { compilable } from "../src/database/sql/compilable.ts"
import { compileFind } from "../src/database/sql/find.ts"
import { type Catalog, type Column, DISPLAY_NAME, type EntityType, STATUS, Storage } from "../src/domain/EntityType.ts"
import { encodeId } from "../src/domain/ids.ts"
import { NEVER } from "../src/domain/Predicate.ts"
import type { Principal } from "../src/domain/Principal.ts"
import { plan } from "../src/permissions/PermissionEngine.ts"
import type { Policy } from "../src/permissions/Policy.ts"
import { readPolicy } from "../src/permissions/readPolicy.ts"
import { makeViews } from "../src/services/lookup/views.ts"
import type { Timed } from "./figures.ts"
import { installPeer } from "./peers.ts"

const TYPES = 5
const ROUNDS = 100
const TARGETS: ReadonlyArray<readonly [rules: number, target: number]> = [
  [20, 1],
  [200, 3],
  [2000, 20]
]

const value = (slug: string, kind: Column["kind"]): Column => ({
  key: slug,
  slug,
  name: slug,
  kind,
  storage: Storage.Value({ column: slug, keyColumn: `${slug}_k`, indexed: true })
})
const one = (slug: string, target: string): Column => ({
  key: slug,
  slug,
  name: slug,
  kind: "reference",
  storage: Storage.One({ column: `${slug}_id`, target })
})

const typeNamed = (slug: string): EntityType => ({
  key: slug,
  slug,
  name: slug,
  pluralName: slug,
  system: true,
  version: 1,
  relation: { schema: "data", table: slug },
  columns: [
    value("name", "text"),
    value("status", "text"),
    one("owner", "people"),
    value("phone", "phone"),
    value("email", "email"),
    value("level", "integer"),
    value("region", "text")
  ]
})
const slugs = ["people", ...Array.from({ length: TYPES - 1 }, (_, index) => `type${index}`)]
const catalog: Catalog = {
  organization: { id: 1n, slug: "bench", name: "Bench", country: "US", timeZone: "UTC" },
  epoch: 1n,
  types: slugs.map(typeNamed)
}
const principal: Principal = {
  organizationId: 1n,
  anchorEntityId: encodeId(12345n),
  roles: ["member"],
  attributes: { region: "west" },
  epoch: 1n
}

interface BenchRule {
  readonly type: string
  readonly effect: "allow" | "deny"
  readonly columns: ReadonlyArray<string>
  readonly status: string
  readonly level: number
}

/** Every seventh rule denies a cell; the others show rows by status and minimum level, or by owner. */
const rulesOf = (count: number): ReadonlyArray<BenchRule> =>
  Array.from({ length: count }, (_, index) => ({
    type: slugs[index % TYPES]!,
    effect: index % 7 === 6 ? "deny" : "allow",
    columns: index % 7 === 6 ? ["phone"] : index % 2 === 0 ? ["name", "status", "phone"] : ["name", "email"],
    status: `s${index % 40}`,
    level: index
  }))

const policyOf = (rules: ReadonlyArray<BenchRule>): Policy => {
  const reading = readPolicy(
    JSON.stringify({
      version: 1,
      roles: { member: {} },
      rules: rules.map(({ columns, effect, level, status, type }, index) => ({
        id: `r${index}`,
        effect,
        role: "member",
        action: "read",
        type,
        columns,
        where:
          index % 3 === 0
            ? { any: [{ owner: "$me" }, { status, level: { gte: level } }] }
            : { status, level: { gte: level } }
      }))
    }),
    catalog
  )
  if ("problems" in reading) throw new Error(reading.problems.map(({ message }) => message).join("\n"))
  return reading.policy
}

/** The 95th percentile. */
const p95 = (times: ReadonlyArray<number>): number => [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.95)]!

/**
 * The lowest p95 of ten blocks. Each sample is the smaller of wall time and CPU time, to exclude the load of other
 * processes on a shared machine.
 */
const timed = (rounds: number, run: (round: number) => unknown): number => {
  for (let round = 0; round < rounds; round++) run(round)
  const blocks = Array.from({ length: 10 }, () => {
    const times: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      const [cpu, started] = [process.cpuUsage(), performance.now()]
      run(round)
      const [wall, { system, user }] = [performance.now() - started, process.cpuUsage(cpu)]
      times.push(Math.min(wall, (system + user) / 1000))
    }
    return p95(times)
  })
  return Math.min(...blocks)
}

/** Plans and compiles the first page, cycling through the types. */
const planAndCompile = (policy: Policy) => (round: number) => {
  const type = catalog.types[round % TYPES]!
  const planned = compilable(plan(policy, catalog, principal, type, "read", 0), type, catalog)
  if (planned._tag === "Denied") return planned.reason
  return compileFind(
    {
      type,
      plan: planned.where,
      filters: [],
      limit: 5,
      name: planned.cells.get(DISPLAY_NAME) ?? NEVER,
      status: planned.cells.get(STATUS) ?? NEVER,
      select: type.columns.flatMap((column) => {
        const mask = planned.cells.get(column.key)
        return mask === undefined || column.storage._tag !== "Value" ? [] : [{ column, mask }]
      }),
      hops: "array",
      pool: "search",
      label: type.slug
    },
    catalog
  )
}

/** Generates SQL from the rules with CASL, or returns the reason why that fails. */
const casl = async () => {
  const peer = installPeer("casl")
  if (typeof peer === "string") return peer
  return {
    ability: await peer.load("@casl/ability"),
    extra: await peer.load("@casl/ability/extra"),
    sql: await peer.load("@ucast/sql")
  }
}

type Casl = Exclude<Awaited<ReturnType<typeof casl>>, string>

interface CaslSql {
  readonly milliseconds: number
  readonly parameters: number
}

const runCasl = (peers: Casl, rules: ReadonlyArray<BenchRule>, rounds: number): CaslSql => {
  type Make = (rules: ReadonlyArray<object>) => unknown
  const createMongoAbility = peers.ability["createMongoAbility"] as Make
  const rulesToAST = peers.extra["rulesToAST"] as (ability: unknown, action: string, subject: string) => unknown
  const createSqlInterpreter = peers.sql["createSqlInterpreter"] as (
    all: unknown
  ) => (condition: unknown, options: unknown) => readonly [string, ReadonlyArray<unknown>, unknown]
  const interpret = createSqlInterpreter(peers.sql["allInterpreters"])
  const ability = createMongoAbility(
    rules.map(({ columns, effect, level, status, type }, index) => ({
      action: "read",
      subject: type,
      fields: columns,
      inverted: effect === "deny",
      conditions:
        index % 3 === 0
          ? { $or: [{ owner_id: "12345" }, { status, level: { $gte: level } }] }
          : { status, level: { $gte: level } }
    }))
  )
  let parameters = 0
  const milliseconds = timed(rounds, (round) => {
    const ast = rulesToAST(ability, "read", slugs[round % TYPES]!)
    const [, bound] = interpret(ast, { ...(peers.sql["pg"] as object), joinRelation: () => false })
    parameters = bound.length
  })
  return { milliseconds, parameters }
}

export const permissions = async (quiet: boolean): Promise<ReadonlyArray<Timed>> => {
  const peers = await casl().catch((error: unknown) => (error as Error).message.split("\n")[0]!)
  if (typeof peers === "string" && !quiet) console.log(`CASL was skipped: ${peers}`)
  const found: Array<Timed> = []
  for (const [count, target] of TARGETS) {
    const rules = rulesOf(count)
    const policy = policyOf(rules)
    const planned = planAndCompile(policy)(0)
    const ms = timed(count > 500 ? 20 : ROUNDS, planAndCompile(policy))
    const size =
      typeof planned === "string"
        ? planned
        : `${planned.parameters.length} parameters, ${planned.text.length} characters`
    found.push({
      scenario: `plan and compile, ${count} rules over ${TYPES} types (${size})`,
      ms,
      target,
      ok: ms <= target
    })
    const visibleTo = makeViews()
    const state = { catalog, policy, policyHash: "bench" }
    const cached = timed(ROUNDS, (round) => visibleTo({ principal, state }).planOf(catalog.types[round % TYPES]!))
    found.push({ scenario: `the plan from the cache, ${count} rules`, ms: cached, target: 0.05, ok: cached <= 0.05 })
    if (typeof peers === "string") continue
    try {
      const theirs = runCasl(peers, rules, ROUNDS)
      found.push({
        scenario: `CASL's SQL for the same ${count} rules (${theirs.parameters} parameters)`,
        ms: theirs.milliseconds,
        ok: true
      })
    } catch (error) {
      if (!quiet) console.log(`CASL failed at ${count} rules: ${(error as Error).message.split("\n")[0]!}`)
    }
  }
  return found
}
