/** Amounts in several currencies, cursors of groups, and requests for groups that can't be answered. */
import { it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { Env } from "../../../src/env.ts"
import { ConfiguredDatabase, Services } from "../../../src/layers.ts"
import { CurrentPrincipal } from "../../../src/domain/Principal.ts"
import { Exports } from "../../../src/services/exports/Exports.ts"
import { renderPage } from "../../../src/tools/render.ts"
import { addPeople, asMember, makeOrganization } from "../../support/atlas.ts"
import { migratedDatabase, TestServices } from "../../support/database.ts"
import { asExistingPerson, mapTables, policyFor, runScript } from "../../support/mappedTables.ts"
import { random } from "../../conformance/world.ts"

const SETS = 200
const CURRENCIES = ["EUR", "USD", " EUR ", "JPY", "", null]

const SCRIPT = `
CREATE TABLE employee (employee_id int PRIMARY KEY, name text NOT NULL, email text);
INSERT INTO employee VALUES (1, 'Ada Stone', 'ada@groups.test'), (2, 'Bo Reed', 'bo@groups.test'), (3, 'Cy Hill', 'cy@groups.test');
CREATE TABLE bill (bill_id int PRIMARY KEY, title text NOT NULL, batch int NOT NULL, owner_id int REFERENCES employee, amount numeric, currency text, secret boolean NOT NULL, due timestamptz);
`

interface Bill {
  readonly id: number
  readonly batch: number
  readonly owner: number | null
  readonly cents: number | null
  readonly currency: string | null
  readonly secret: boolean
}

const makeBills = (): ReadonlyArray<Bill> => {
  const next = random(7)
  const pick = <A>(from: ReadonlyArray<A>): A => from[Math.floor(next() * from.length)]!
  return Array.from({ length: SETS }, (_, batch) => {
    const used = CURRENCIES.slice(0, 1 + (batch % CURRENCIES.length))
    return Array.from({ length: 12 }, (__, index): Bill => ({
      id: batch * 12 + index,
      batch,
      owner: pick([1, 2, 3, null]),
      cents: next() < 0.15 ? null : Math.floor(next() * 100_000) - 20_000,
      currency: pick(used),
      secret: next() < 0.3
    }))
  }).flat()
}

const rule = (id: string, type: string, columns: unknown, effect = "allow", where?: object) => ({
  id,
  effect,
  role: "clerk",
  action: "read",
  type,
  columns,
  ...(where === undefined ? {} : { where })
})

const setUp = Effect.gen(function* () {
  const { owner } = yield* Database
  yield* runScript(SCRIPT)
  const bills = makeBills()
  yield* owner.unsafe(
    `INSERT INTO public.bill SELECT b.id, 'Bill ' || b.id, b.batch, b.owner, b.cents / 100.0, b.currency, b.secret, timestamptz '2026-03-28 23:30+00' + make_interval(hours => b.id)
     FROM jsonb_to_recordset($1::jsonb) AS b(id int, batch int, owner int, cents numeric, currency text, secret boolean)`,
    [JSON.stringify(bills)]
  )
  const organization = yield* makeOrganization("groups")
  yield* mapTables(organization, { exclusive: true })
  yield* policyFor(organization, {
    version: 1,
    roles: { clerk: {} },
    rules: [
      rule("people", "people", "*"),
      rule("bills", "bills", "*"),
      rule("secret", "bills", ["amount"], "deny", { secret: true })
    ]
  })
  return { bills, ada: yield* asExistingPerson(organization, "ada@groups.test", "clerk") }
})

layer(TestServices, { excludeTestServices: true })("groups", (it) => {
  it.effect("amounts in different currencies are never added together, in 200 random sets", () =>
    Effect.gen(function* () {
      const { ada, bills } = yield* setUp
      let mixed = 0
      for (let batch = 0; batch < SETS; batch++) {
        const page = yield* ada.find("bills", [`batch=${batch}`], {
          selectColumns: ["by owner", "sum amount"],
          limit: 25
        })
        const wanted = new Map<string, { sum: number; of: number }>()
        for (const { cents, currency, owner, secret } of bills.filter((bill) => bill.batch === batch)) {
          if (cents === null || secret) continue
          const key = `${owner ?? ""} ${(currency ?? "").trim()}`
          const before = wanted.get(key) ?? { sum: 0, of: 0 }
          wanted.set(key, { sum: before.sum + cents, of: before.of + 1 })
        }
        const got = new Map(
          page.groups!.flatMap(({ figures, keys }) =>
            figures![0]!.map(({ of, unit = "", value }) => [
              `${keys[0]!.id ?? ""} ${unit}`,
              { sum: Math.round(Number(value) * 100), of }
            ])
          )
        )
        expect([...got].toSorted(), `set ${batch}`).toEqual([...wanted].toSorted())
        const units = new Set([...wanted.keys()].map((key) => key.slice(key.indexOf(" ") + 1)))
        expect(page.several ?? false).toBe(units.size > 1)
        if (units.size > 1) mixed += 1
        if (units.size > 1) {
          const counts = page.groups!.filter(({ keys }) => keys[0]!.id !== undefined).map((group) => group.count)
          expect(counts).toEqual(counts.toSorted((a, b) => b - a))
        }
        expect(page.total).toBe(12)
        expect(page.groups!.reduce((sum, group) => sum + group.count, 0)).toBe(12)
      }
      expect(mixed).toBeGreaterThan(100)

      // A cursor whose group is gone, or was never there, gives nothing.
      const first = yield* ada.find("bills", [], { selectColumns: ["by due"], limit: 2 })
      expect(first.nextCursorEntityId).toMatch(/^[0-9a-f]{32}$/)
      const unknown = { selectColumns: ["by due"], limit: 2, cursorEntityId: "0".repeat(32) }
      expect((yield* ada.find("bills", [], unknown)).groups).toEqual([])
      const severalUnits = { selectColumns: ["by owner", "sum amount"], limit: 1 }
      const one = yield* ada.find("bills", [], severalUnits)
      const two = yield* ada.find("bills", [], { ...severalUnits, cursorEntityId: one.nextCursorEntityId })
      expect(two.groups).toHaveLength(1)
      expect(two.groups![0]!.keys).not.toEqual(one.groups![0]!.keys)

      // On days of 23 and 25 hours, each hour belongs to one day.
      const days = yield* ada.find("bills", [], { selectColumns: ["by month due"], limit: 25 })
      expect(days.groups!.reduce((sum, group) => sum + group.count, 0)).toBe(bills.length)

      for (const [selectColumns, message] of [
        [["by owner", "name"], /select "by X" or a figure/],
        [["by month name"], /is not a date/],
        [["sum name"], /sum is for numbers/],
        [["by owner name"], /by is for one column/],
        [["sum amount", "distinct name"], /separately/],
        [["by name", "by owner", "by due"], /at most 2/]
      ] as const) {
        const refused = yield* Effect.flip(ada.find("bills", [], { selectColumns }))
        expect(refused).toMatchObject({ _tag: "InvalidInput", message: expect.stringMatching(message) })
      }
      const text = renderPage(yield* ada.find("bills", ["batch=5"], { selectColumns: ["by owner", "sum amount"] }))
      expect(text.split("\n")[0]).toMatch(/^total 12 in \d groups \(limited\); several currencies/)
    })
  )
})

it.live("groups are refused where they are turned off, also in exports, and lookups are answered", () =>
  Effect.gen(function* () {
    const url = yield* migratedDatabase
    const env = Env.layerWith({ databaseUrl: Redacted.make(url), lookupTimeout: 10_000, figures: "off" })
    const services = Services.pipe(Layer.provideMerge(ConfiguredDatabase.pipe(Layer.provideMerge(env))), Layer.orDie)
    yield* Effect.gen(function* () {
      const organization = yield* makeOrganization("figureless")
      yield* addPeople(organization, [{ name: "Lee", email: "lee@figureless.example" }])
      const member = yield* asMember(organization, "boss@figureless.example", "admin")
      const refused = yield* Effect.flip(member.find({ filters: [], selectColumns: ["by status"] }))
      expect(refused).toMatchObject({ _tag: "InvalidInput", message: "Groups and figures are turned off." })
      const exports = yield* Exports
      const file = exports.begin({ entityTypeId: "people", filters: [], selectColumns: ["by status"] })
      expect(yield* Effect.flip(Effect.provideService(file, CurrentPrincipal, member.principal))).toEqual(refused)
      expect((yield* member.find({ filters: [{ columnId: "name", op: "eq", value: "Lee" }] })).total).toBe(1)
    }).pipe(Effect.provide(services))
  }).pipe(Effect.scoped)
)
