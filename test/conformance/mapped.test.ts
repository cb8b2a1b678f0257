/**
 * The same worlds, policies and oracle over mapped relations: another program's schema, two tenants in one table, a view
 * with duplicate ids, soft deletes, values without search keys. Policies must show the same rows and cells.
 */
import { layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as fc from "fast-check"
import { expect } from "vitest"
import { Database } from "../../src/database/Database.ts"
import { compileFind } from "../../src/database/sql/find.ts"
import {
  type Catalog,
  DISPLAY_NAME,
  type EntityType,
  readableColumns,
  STATUS,
  targetOf,
  typeBySlug
} from "../../src/domain/EntityType.ts"
import { encodeId } from "../../src/domain/ids.ts"
import { NEVER } from "../../src/domain/Predicate.ts"
import type { Principal } from "../../src/domain/Principal.ts"
import type { ResolvedQuery, SelectedColumn } from "../../src/database/sql/ResolvedQuery.ts"
import { plan } from "../../src/permissions/PermissionEngine.ts"
import { Policy, problemText } from "../../src/permissions/Policy.ts"
import { readPolicy } from "../../src/permissions/readPolicy.ts"
import type { ColumnEntry, TypeEntry } from "../../src/services/mapping/mappingFile.ts"
import { Mappings } from "../../src/services/mapping/Mappings.ts"
import { Organizations } from "../../src/services/organizations/Organizations.ts"
import { OrganizationState } from "../../src/services/catalog/OrganizationState.ts"
import { TestServices } from "../support/database.ts"
import { caller, NOW, policy } from "./generators.ts"
import { type Caller, localIn, type PolicyJson, visibleRelated, viewsOf } from "./oracle.ts"
import { caseText, count, declareDerived, floorOf, holds, makeTally, partOf, tallied } from "./setting.ts"
import {
  cellMaker,
  computed,
  type Entity,
  FIRST_ID,
  makeWorld,
  type Organization,
  PHONE_KEYS,
  random,
  SHAPES,
  TYPE_NAMES,
  type TypeName,
  READABLE
} from "./world.ts"

const CASES = partOf(2000)
const SEED = 20261124

/** A world id in the other program's form: a UUID, different in each tenant. */
const hostId = (id: bigint, tenant: number): string =>
  `${String(tenant).padStart(8, "0")}-0000-4000-8000-${id.toString().padStart(12, "0")}`

const worldId = (text: string): string => encodeId(BigInt(text.slice(-12)))

/** The ids in policies and attributes, in the other program's form. */
const translated = (value: unknown, tenant: number): unknown => {
  if (typeof value === "string") return KNOWN.has(value) ? hostId(KNOWN.get(value)!, tenant) : value
  if (Array.isArray(value)) return value.map((part) => translated(part, tenant))
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, translated(part, tenant)]))
    : value
}
const KNOWN = new Map(
  [...Array(60).keys(), 900].map((offset) => [encodeId(FIRST_ID + BigInt(offset)), FIRST_ID + BigInt(offset)])
)

const SQL: Readonly<Record<string, string>> = {
  text: "text",
  phone: "varchar(80)",
  email: "text",
  integer: "bigint",
  number: "numeric",
  boolean: "boolean",
  date: "date",
  timestamp: "timestamptz",
  list: "text[]"
}
/** Half of the timestamps are stored without a zone, in a declared one. */
const LOCAL = new Set(["start", "at"])
const LINKS = { attendees: "meetings", watchers: "deals" } as const
const idType = (type: TypeName) => (type === "companies" ? "text" : type === "deals" ? "char(36)" : "uuid")

const columnsOf = (type: TypeName) => Object.entries(SHAPES[type]).filter(([, { kind }]) => kind !== "many")

const schema = (): ReadonlyArray<string> => [
  "CREATE SCHEMA host",
  ...TYPE_NAMES.map((type) => {
    const columns = columnsOf(type).map(([name, { kind, target }]) => {
      const sql = target === undefined ? (LOCAL.has(name) ? "timestamp" : SQL[kind]!) : idType(target)
      return `"The ${name}" ${sql}`
    })
    const key = type === "deals" ? "" : " PRIMARY KEY"
    return `CREATE TABLE host."${type} rows" ("Key" ${idType(type)}${key}, "Tenant" text, gone boolean NOT NULL, ${columns.join(", ")})`
  }),
  `CREATE VIEW host.deals AS SELECT * FROM host."deals rows"`,
  ...Object.entries(LINKS).map(([link, from]) => `CREATE TABLE host."${link}" (f ${idType(from)}, t uuid)`)
]

const entryOf = (type: TypeName): TypeEntry => ({
  table: type === "deals" ? "host.deals" : `host.${type} rows`,
  type,
  organization: "Tenant",
  id: "Key",
  where: { gone: false },
  columns: Object.fromEntries(
    Object.entries(SHAPES[type]).map(([name, { kind, target }]): [string, ColumnEntry] => {
      const to = target === undefined ? {} : { to: `host.${target} rows` }
      if (kind === "many") return [name, { from: "f", via: "t", through: `host.${name}`, ...to }]
      if (kind === "one") return [name, { from: `The ${name}`, ...to }]
      return [name, { from: `The ${name}`, kind, ...(LOCAL.has(name) ? { timeZone: "Asia/Kolkata" } : {}) }]
    })
  )
})

/** An invalid phone has no normal form here: its key is its digits, or NULL. */
const callable = (organization: Organization): Organization => ({
  ...organization,
  entities: Object.fromEntries(
    TYPE_NAMES.map((type) => [
      type,
      new Map(
        [...organization.entities[type]].map(([id, entity]): [bigint, Entity] => {
          const phone = entity.cells["phone"]
          const silent = typeof phone === "string" && PHONE_KEYS.get(phone)![organization.country] === null
          return [id, silent ? { id, cells: { ...entity.cells, phone: null } } : entity]
        })
      )
    ])
  ) as unknown as Organization["entities"]
})

/** The organization with additional deals under some existing ids. */
const doubled = (organization: Organization, seed: number): Organization => {
  const { row } = cellMaker(random(seed))
  const deals = new Map(
    [...organization.entities.deals.keys()]
      .filter((id) => id % 3n === 0n)
      .map((id) => [id, computed("deals", row("deals", id), organization.timeZone)])
  )
  return { ...organization, entities: { ...organization.entities, deals } }
}

interface Place {
  readonly tenant: number
  /** The organization, and the same with the view's additional rows. */
  readonly organizations: readonly [Organization, Organization]
  readonly catalog: Catalog
}

const insert = Effect.fnUntraced(function* (type: TypeName, tenant: number, organization: Organization, gone: boolean) {
  const { owner } = yield* Database
  const rows = [...organization.entities[type].values()].map(({ cells, id }) => ({
    Key: hostId(gone ? id + 5000n : id, tenant),
    Tenant: `tenant ${tenant}`,
    gone,
    ...Object.fromEntries(
      columnsOf(type).map(([name, { kind }]) => {
        const cell = cells[name] ?? null
        const value =
          kind === "one" && cell !== null
            ? hostId(cell as bigint, tenant)
            : LOCAL.has(name) && cell !== null
              ? localIn(Date.parse(cell as string), "Asia/Kolkata")
              : cell
        return [`The ${name}`, value]
      })
    )
  }))
  const table = `host."${type} rows"`
  yield* owner.unsafe(`INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1::text::json)`, [
    JSON.stringify(rows)
  ])
})

const makePlaces = Effect.gen(function* () {
  const { owner } = yield* Database
  const organizations = yield* Organizations
  const mappings = yield* Mappings
  const states = yield* OrganizationState
  for (const statement of schema()) yield* owner.unsafe(statement)
  const places: Array<Place> = []
  for (const [tenant, made] of [...makeWorld(21), ...makeWorld(22)].entries()) {
    const first = callable(made)
    const second = doubled(first, 100 + tenant)
    for (const type of TYPE_NAMES) {
      yield* insert(type, tenant, first, false)
      // Deleted rows that resemble the others as closely as possible.
      yield* insert(type, tenant, first, true)
    }
    yield* insert("deals", tenant, second, false)
    for (const link of ["attendees", "watchers"] as const) {
      yield* owner.unsafe(
        `INSERT INTO host."${link}" SELECT x.f::${idType(LINKS[link])}, x.t::uuid FROM json_to_recordset($1::text::json) AS x(f text, t text)`,
        [JSON.stringify(first.links[link].map(([from, to]) => ({ f: hostId(from, tenant), t: hostId(to, tenant) })))]
      )
    }
    const stored = yield* organizations.create({ ...made, externalKey: `tenant ${tenant}` })
    yield* mappings.apply(stored, { version: 1, types: TYPE_NAMES.map(entryOf) })
    yield* declareDerived(stored)
    const { state } = yield* states.read(stored.id, { by: "none" })
    places.push({ tenant, organizations: [first, second], catalog: state.catalog })
  }
  return places
})

interface Case {
  readonly policy: PolicyJson
  readonly caller: Caller
  readonly type: TypeName
  readonly where: number
}

const kase: fc.Arbitrary<Case> = fc
  .constantFrom(...TYPE_NAMES, "deals" as const)
  .chain((type) => fc.record({ policy: policy(type), caller, type: fc.constant(type), where: fc.nat({ max: 3 }) }))

/** Rows with their visible cells as sorted texts; an id may occur twice. */
type Shown = ReadonlyArray<string>

const line = (id: string, cells: Readonly<Record<string, unknown>>): string =>
  JSON.stringify([id, Object.entries(cells).sort(([a], [b]) => (a < b ? -1 : 1))])

const expected = ({ caller: who, policy: file, type }: Case, { organizations }: Place): Shown =>
  organizations
    .flatMap((organization, again) => {
      if (again === 1 && type !== "deals") return []
      const views = viewsOf(file, who, organization, NOW)
      return [...views[type]].map(([id, columns]) => {
        const entity = organization.entities[type].get(id)!
        const cells: Record<string, unknown> = {}
        for (const column of columns) {
          const { kind } = READABLE[type][column]!
          const cell = entity.cells[column] ?? null
          if (kind === "one" || kind === "many") {
            const shown =
              cell === null && kind === "one" ? [] : visibleRelated(type, column, entity, views, organization)
            if (shown.length > 0)
              cells[column] = shown.slice(0, 11).map((reference) => [reference.id, reference.name ?? null])
          } else if (cell !== null) {
            cells[column] = kind === "timestamp" ? localIn(Date.parse(cell as string), organization.timeZone) : cell
          }
        }
        return line(encodeId(id), cells)
      })
    })
    .sort()

const planned = (one: Case, { catalog, tenant }: Place) => {
  const reading = readPolicy(JSON.stringify(translated(one.policy, tenant)), catalog)
  if ("problems" in reading) throw new Error(reading.problems.map(problemText).join("\n"))
  const stored = Schema.decodeUnknownSync(Policy)(JSON.parse(JSON.stringify(Schema.encodeSync(Policy)(reading.policy))))
  const { actor, attributes, me, roles } = one.caller
  const principal: Principal = {
    organizationId: catalog.organization.id,
    anchorEntityId: hostId(me, tenant),
    roles,
    attributes: translated(attributes, tenant) as Principal["attributes"],
    ...(actor === undefined
      ? {}
      : { actor: { id: "agent", ...(translated(actor, tenant) as Omit<NonNullable<Principal["actor"]>, "id">) } }),
    epoch: catalog.epoch
  }
  const planOf = (type: EntityType) => {
    const made = plan(stored, catalog, principal, type, "read", NOW)
    return made._tag === "Granted" ? made : undefined
  }
  const type = typeBySlug(catalog, one.type)!
  const granted = planOf(type)
  if (granted === undefined) return undefined
  const select = readableColumns(type).flatMap((column): ReadonlyArray<SelectedColumn> => {
    const mask = granted.cells.get(column.key)
    const target = targetOf(catalog, column)
    const other = target && planOf(target)
    if (mask === undefined || (target !== undefined && other === undefined)) return []
    return [
      {
        column,
        mask,
        ...(target === undefined
          ? {}
          : { target: { type: target, where: other!.where, name: other!.cells.get(DISPLAY_NAME) ?? NEVER } })
      }
    ]
  })
  const query: Omit<ResolvedQuery, "hops"> = {
    type,
    plan: granted.where,
    filters: [],
    limit: 500,
    select,
    pool: "search",
    label: "mapped",
    name: granted.cells.get(DISPLAY_NAME) ?? NEVER,
    status: granted.cells.get(STATUS) ?? NEVER
  }
  return query
}

const shownBy = Effect.fnUntraced(function* (
  query: Omit<ResolvedQuery, "hops">,
  { catalog }: Place,
  hops: ResolvedQuery["hops"]
) {
  const { search } = yield* Database
  const statement = compileFind({ ...query, hops }, catalog)
  const rows = yield* search.unsafe<Record<string, unknown>>(statement.text, statement.parameters)
  const shown = rows.flatMap((row) => {
    if (row["fresh"] !== true) throw new Error("The statement says that it is stale")
    if (row["id"] === null) return []
    if (row["organization_id"] !== catalog.organization.id) throw new Error("A row is another organization's")
    const cells: Record<string, unknown> = {}
    for (const [index, { column }] of query.select.entries()) {
      const value = row[`c${index}`]
      if (value === null) continue
      const pairs = value as ReadonlyArray<string | null>
      cells[column.slug] =
        column.storage._tag === "Value"
          ? value
          : Array.from({ length: pairs.length / 2 }, (_, at) => [worldId(pairs[2 * at]!), pairs[2 * at + 1]])
    }
    for (const system of ["name", "status"]) {
      if ((row[system] ?? undefined) !== cells[system]) throw new Error(`${system} isn't its cell`)
    }
    return [line(worldId(row["id"] as string), cells)]
  })
  if (rows[0]!["total"] !== shown.length) throw new Error(`total is ${String(rows[0]!["total"])} of ${shown.length}`)
  return shown.sort()
})

layer(TestServices, { excludeTestServices: true })("mapped relations", (it) => {
  it.effect(
    "show the rows and cells that the oracle finds, for both forms of hops, including views with two rows per id",
    () =>
      Effect.gen(function* () {
        const places = yield* makePlaces
        const tally = makeTally()
        let twice = 0
        yield* holds(
          kase,
          {
            name: "mapped",
            cases: CASES,
            seed: SEED,
            queue: (one) => one.where,
            text: (one) => caseText(one.caller, one.policy, `${one.type} of tenant ${one.where}`)
          },
          Effect.fnUntraced(function* (one: Case) {
            const place = places[one.where]!
            const want = expected(one, place)
            const query = planned(one, place)
            for (const hops of ["subplan", "array"] as const) {
              const got: Shown = query === undefined ? [] : yield* shownBy(query, place, hops)
              if (JSON.stringify(got) === JSON.stringify(want)) continue
              const missing = want.filter((row) => !got.includes(row)).slice(0, 3)
              const extra = got.filter((row) => !want.includes(row)).slice(0, 3)
              throw new Error(
                `${caseText(one.caller, one.policy, hops)}\nmissing ${missing.join("\n")}\nextra ${extra.join("\n")}`
              )
            }
            count(tally, want.length > 0, query !== undefined && query.plan._tag !== "Always")
            const keys = want.map((row) => JSON.parse(row)[0] as string)
            if (new Set(keys).size < keys.length) twice += 1
          })
        )
        tallied(`mapped, ${twice} with two rows of one id`, CASES, tally)
        expect(twice).toBeGreaterThanOrEqual(floorOf(80))
      })
  )
})
