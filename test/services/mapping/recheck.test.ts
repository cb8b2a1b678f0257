/** Mapped tables that other programs drop, make again, alter and take the rights of, under a running server. */
import { layer } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { inspect, rolesOf } from "../../../src/database/migrate.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { OperatorError } from "../../../src/domain/errors.ts"
import { AuditLog } from "../../../src/services/audit/AuditLog.ts"
import { grantAll } from "../../../src/services/mapping/writeGrants.ts"
import { Mappings } from "../../../src/services/mapping/Mappings.ts"
import { mapped } from "../../../src/services/operations/doctor/mapped.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { asExistingPerson, mapTables, policyFor, runScript } from "../../support/mappedTables.ts"
import { until } from "../../support/until.ts"

const WORKERS = `CREATE TABLE shop.workers (id int PRIMARY KEY, name text, email text, phone text, site text);
INSERT INTO shop.workers VALUES (1, 'Lee', 'lee@shop.example', '+12025550101', 'north'), (2, 'Kim', 'kim@shop.example', NULL, 'south');
`
const ORDERS = `CREATE TABLE shop.orders (id int PRIMARY KEY, name text, worker_id int, total int, note text);
INSERT INTO shop.orders VALUES (1, 'Lamp', 1, 70, 'x'), (2, 'Rug', 2, 90, 'y');
`
const STOCK = `CREATE VIEW shop.stock AS SELECT id, name, total FROM shop.orders;
`
const TAGS = `CREATE TABLE shop.tags (id int PRIMARY KEY, name text);
CREATE TABLE shop.order_tags (order_id int REFERENCES shop.orders, tag_id int REFERENCES shop.tags, PRIMARY KEY (order_id, tag_id));
INSERT INTO shop.tags VALUES (1, 'red');
INSERT INTO shop.order_tags VALUES (1, 1);
`
const START = `CREATE SCHEMA shop;\n${WORKERS}${ORDERS}${STOCK}${TAGS}`

/** Each shop has a schema of its own, which its statements call `shop`. */
let shops = 0
const within = (text: string) => text.replaceAll(/\bshop\b(?!\.example)/g, `shop_${shops}`)
const run = (script: string) => runScript(within(script))

const rule = (role: string, type: string, more: object = {}) => ({
  id: `${role}-${type}`,
  effect: "allow",
  role,
  action: "read",
  type,
  columns: "*",
  ...more
})

/** A shop with an administrator, a clerk of one site and an auditor, over tables of its own. */
const open = Effect.gen(function* () {
  shops += 1
  yield* run(START)
  const shop = yield* makeOrganization(`shop-${shops}`)
  yield* mapTables(shop, {
    tables: ["workers", "orders", "stock", "tags", "order_tags"].map((table) => within(`shop.${table}`)),
    exclusive: true,
    edit: (entry) => (entry.table === within("shop.workers") ? { ...entry, type: "people" } : entry)
  })
  yield* policyFor(shop, {
    version: 1,
    roles: { boss: {}, clerk: {} },
    rules: [
      ...["people", "orders", "stocks", "tags"].map((type) => rule("boss", type)),
      rule("clerk", "people", { where: { site: "north" } }),
      rule("clerk", "orders"),
      { ...rule("clerk", "orders"), id: "none", effect: "deny", where: { note: "x" } }
    ]
  })
  const lee = yield* asExistingPerson(shop, "lee@shop.example", "boss")
  const kim = yield* asExistingPerson(shop, "kim@shop.example", "clerk")
  return { shop, lee, kim }
})

const eventually = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Effect.context<R>(), (context) =>
    Effect.promise(() => until(() => Effect.runPromise(Effect.provideContext(Effect.isSuccess(effect), context))))
  )

/** The server checks the same by itself, and one waits for the other for two seconds. */
const recheck = (shop: Organization) =>
  Effect.flatMap(Mappings, (mappings) =>
    Effect.retry(mappings.recheck(shop), { times: 20, schedule: Schedule.spaced("500 millis") })
  )

const grantsOf = Effect.gen(function* () {
  const { owner } = yield* Database
  const { database } = yield* inspect(owner)
  return { owner, role: rolesOf(database).read }
})

/** The findings of a status, also of the shops of other tests. */
const found = (wanted: "fail" | "warn") =>
  Effect.flatMap(Database, ({ owner, search }) =>
    Effect.flatMap(inspect(owner), (inspection) =>
      Effect.map(mapped({ owner, inspection, reader: search }), (findings) =>
        findings
          .filter(({ status }) => status === wanted)
          .map(({ mend, message }) => [message, ...(mend ?? [])].join("\n"))
      )
    )
  )
const doctor = found("fail")

layer(TestServices, { excludeTestServices: true })("mapped tables of other programs", (it) => {
  it.effect(
    "that are dropped and made again as they were are read again by themselves, and the audit log says so",
    () =>
      Effect.gen(function* () {
        const { lee, shop } = yield* open
        expect((yield* lee.find("orders", ["total>=80"])).total).toBe(1)
        yield* run(`DROP TABLE shop.orders CASCADE;\n${ORDERS}${STOCK}`)
        yield* eventually(lee.find("orders", ["total>=80"]))
        expect((yield* lee.find("orders", ["total>=80"])).entities).toMatchObject([{ displayName: "Rug" }])
        yield* eventually(lee.find("stocks"))
        expect((yield* lee.find("stocks")).total).toBe(2)
        expect((yield* (yield* Mappings).diff(shop)).join("\n")).not.toContain("map it again")
        const audit = yield* AuditLog
        const events = yield* audit.list(shop, { chain: "changes", limit: 20 })
        expect(events.map(({ action }) => action)).toContain("catalog.rechecked")
      })
  )

  it.effect("that are replaced as dbt does it, with a new column, are read again", () =>
    Effect.gen(function* () {
      const { lee } = yield* open
      yield* run(`DROP VIEW shop.stock;
DROP TABLE shop.order_tags;
CREATE TABLE shop.orders__tmp AS SELECT *, 'n' AS more FROM shop.orders;
ALTER TABLE shop.orders__tmp ADD PRIMARY KEY (id);
ALTER TABLE shop.orders RENAME TO orders__backup;
ALTER TABLE shop.orders__tmp RENAME TO orders;
DROP TABLE shop.orders__backup;
`)
      yield* eventually(lee.find("orders"))
      expect((yield* lee.find("orders", ["total>=80"], { selectColumns: ["note"] })).entities).toMatchObject([
        { displayName: "Rug", columns: { note: "y" } }
      ])
    })
  )

  it.effect("that are made again as something else stay unavailable, until they are mapped again", () =>
    Effect.gen(function* () {
      const { lee, shop } = yield* open
      const mappings = yield* Mappings
      for (const [made, type] of [
        [
          "DROP TABLE shop.orders CASCADE;\nCREATE TABLE shop.orders (id int PRIMARY KEY, name text, worker_id int, total text, note text);\n",
          "orders"
        ],
        [
          "DROP TABLE shop.orders;\nCREATE VIEW shop.orders AS SELECT id, name, 1 AS worker_id, 2 AS total, 'z' AS note FROM shop.tags;\n",
          "orders"
        ],
        ["CREATE VIEW shop.stock AS SELECT id, name, id AS total FROM shop.workers;\n", "stocks"]
      ] as const) {
        yield* run(made)
        yield* recheck(shop)
        expect(yield* Effect.flip(lee.find(type)), made).toMatchObject({ _tag: "Unavailable" })
        expect((yield* mappings.diff(shop)).join("\n"), made).toContain("mapped again")
      }
    })
  )

  it.effect("lose a column that is dropped or renamed, and nothing else", () =>
    Effect.gen(function* () {
      const { lee, shop } = yield* open
      const mappings = yield* Mappings
      yield* run("ALTER TABLE shop.orders RENAME note TO remark;\nALTER TABLE shop.workers DROP phone;\n")
      // The refused statement starts the recheck.
      yield* Effect.ignore(lee.find("orders", ["note=y"]))
      yield* eventually(
        Effect.flatMap(lee.columns("orders"), (columns) =>
          columns.includes("note") ? Effect.fail("still there") : Effect.void
        )
      )
      expect((yield* lee.find("orders", ["total>=80"], { selectColumns: ["total", "worker"] })).entities).toMatchObject(
        [{ displayName: "Rug", columns: { total: 90, worker: { id: "2", name: "Kim" } } }]
      )
      expect(yield* Effect.flip(lee.find("orders", ["note=y"]))).toMatchObject({ _tag: "UnknownName" })
      expect(yield* lee.columns("people")).not.toContain("phone")
      expect((yield* lee.find("people", ["email=kim@shop.example"])).total).toBe(1)
      const changes = (yield* mappings.diff(shop)).join("\n")
      expect(changes).toContain(within('note: shop.orders has no column "note"'))
      expect((yield* doctor).join("\n")).toMatch(new RegExp(within("note of shop.orders[^]*max map diff")))
      // Back under its name, it is read again from the next start, or when the mapping is applied.
      yield* run("ALTER TABLE shop.orders RENAME remark TO note;\n")
      yield* recheck(shop)
      expect((yield* lee.find("orders", ["note=y"])).total).toBe(1)
    })
  )

  it.effect("keep rules that name a column from showing anything once it is gone", () =>
    Effect.gen(function* () {
      const { kim, shop } = yield* open
      expect((yield* kim.find("people")).total).toBe(1)
      expect((yield* kim.find("orders")).total).toBe(1)
      yield* run("ALTER TABLE shop.workers DROP site;\nALTER TABLE shop.orders DROP note CASCADE;\n")
      yield* recheck(shop)
      // The condition is unknown on every row: what it allowed is hidden, and so is what it didn't deny.
      for (const type of ["people", "orders"])
        expect(yield* Effect.flip(kim.find(type)), type).toMatchObject({ _tag: "UnknownName" })
    })
  )

  it.effect("that are dropped are unavailable, and what refers to them is read without the reference", () =>
    Effect.gen(function* () {
      const { lee, shop } = yield* open
      const mappings = yield* Mappings
      yield* run("DROP TABLE shop.tags CASCADE;\nDROP TABLE shop.order_tags;\n")
      yield* recheck(shop)
      expect(yield* Effect.flip(lee.find("tags"))).toMatchObject({ _tag: "Unavailable" })
      expect((yield* lee.find("orders")).total).toBe(2)
      expect(yield* lee.columns("orders")).not.toContain("tags")
      const gone = new RegExp(within("shop.tags[^]*max map remove tags"))
      expect((yield* mappings.diff(shop)).join("\n")).toMatch(gone)
      expect((yield* doctor).join("\n")).toMatch(gone)
    })
  )

  it.effect("that lose Max's grants are unavailable, doctor tries to read them, and they get the grants again", () =>
    Effect.gen(function* () {
      const { lee } = yield* open
      const { owner, role } = yield* grantsOf
      const revoke = [
        `REVOKE ALL ON shop.orders FROM ${role}`,
        `REVOKE SELECT (id, name, worker_id, total, note) ON shop.orders FROM ${role}`
      ]
      const before = yield* doctor
      for (const statement of revoke) yield* owner.unsafe(within(statement)).unprepared
      expect((yield* doctor).join("\n")).toMatch(new RegExp(within("shop.orders[^]*max migrate")))
      // What `max migrate` and `max restore` do.
      expect((yield* grantAll(owner)).join()).not.toContain(within("shop.orders"))
      expect(yield* doctor).toEqual(before)
      expect((yield* lee.find("orders")).total).toBe(2)
      for (const statement of revoke) yield* owner.unsafe(within(statement)).unprepared
      // A running server grants by itself what it may grant.
      yield* eventually(lee.find("orders"))
      expect(yield* doctor).toEqual(before)
    })
  )

  it.effect("that lose Max's grants while lookups run answer in full or not at all, and the other tables answer", () =>
    Effect.gen(function* () {
      const { lee } = yield* open
      const { owner, role } = yield* grantsOf
      const outcomes = new Set<string>()
      const asked = (type: string) =>
        Effect.map(
          Effect.match(lee.find(type), { onSuccess: ({ total }) => String(total), onFailure: ({ _tag }) => _tag }),
          (outcome) => void outcomes.add(`${type}: ${outcome}`)
        )
      const looking = yield* Effect.forkChild(
        Effect.forEach(["orders", "orders", "orders", "tags"], (type) => Effect.forever(asked(type)), {
          concurrency: "unbounded"
        })
      )
      const revoked = Effect.gen(function* () {
        yield* owner.unsafe(within(`REVOKE ALL ON shop.orders FROM ${role}`)).unprepared
        yield* owner.unsafe(within(`REVOKE SELECT (id, name, worker_id, total, note) ON shop.orders FROM ${role}`))
          .unprepared
        yield* Effect.sleep("100 millis")
      })
      const seen = (outcome: string) => Effect.promise(() => until(() => outcomes.has(outcome)))
      for (let times = 0; times < 3; times++) {
        outcomes.clear()
        yield* seen("orders: 2")
        // Again, if a recheck that was under way has granted before a lookup noticed.
        yield* Effect.repeat(revoked, { until: () => outcomes.has("orders: Unavailable") })
        yield* eventually(lee.find("orders"))
        yield* seen("tags: 1")
        expect([...outcomes].sort()).toEqual(["orders: 2", "orders: Unavailable", "tags: 1"])
      }
      yield* Fiber.interrupt(looking)
    })
  )

  it.effect("that the role of changes may not read are said by doctor, and it gets the right again", () =>
    Effect.gen(function* () {
      yield* open
      const { owner, role } = yield* grantsOf
      const change = role.replace("max_read_", "max_change_")
      const before = yield* found("warn")
      for (const statement of [
        `REVOKE ALL ON shop.orders FROM ${change}`,
        `REVOKE SELECT (id, name, worker_id, total, note) ON shop.orders FROM ${change}`
      ])
        yield* owner.unsafe(within(statement)).unprepared
      expect((yield* found("warn")).join("\n")).toMatch(
        new RegExp(within("Changes whose rules look at [^]*shop.orders[^]*can't be confirmed[^]*max migrate"))
      )
      yield* grantAll(owner)
      expect(yield* found("warn")).toEqual(before)
    })
  )

  it.effect("are removed from the organization, after a preview of what hangs on them", () =>
    Effect.gen(function* () {
      const { lee, shop } = yield* open
      const mappings = yield* Mappings
      const preview = yield* mappings.removal(shop, "tags")
      expect(preview).toEqual({
        type: "tags",
        table: within("shop.tags"),
        rules: ["boss-tags"],
        references: ["orders.tags"],
        members: 0
      })
      expect(yield* lee.types).toContain("tags")
      yield* mappings.remove(shop, "tags")
      expect(yield* lee.types).not.toContain("tags")
      expect((yield* lee.find("orders")).total).toBe(2)
      expect(yield* lee.columns("orders")).not.toContain("tags")
      // The members' own table stays, and an unknown name is refused.
      expect(yield* mappings.removal(shop, "people")).toMatchObject({ members: 2 })
      for (const type of ["people", "nothing"])
        expect(yield* Effect.flip(mappings.remove(shop, type))).toBeInstanceOf(OperatorError)
      // Mapped again, it is the type that it was: the rules hold again.
      yield* mapTables(shop, { tables: [within("shop.tags")], exclusive: true })
      expect((yield* lee.find("tags")).total).toBe(1)
    })
  )
})
