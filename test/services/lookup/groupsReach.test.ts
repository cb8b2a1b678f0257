/** What a person can reach through groups: the rows of lookups and nothing else, a page at a time. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { asExistingPerson, mapTables, policyFor, runScript } from "../../support/mappedTables.ts"

const PEOPLE = 60
const SCRIPT = `
CREATE TABLE employee (employee_id int PRIMARY KEY, name text NOT NULL, email text, phone text, retired boolean NOT NULL);
INSERT INTO employee SELECT n, 'Person ' || n, 'p' || n || '@reach.test', '+1 617 555 ' || lpad(n::text, 4, '0'), n % 3 = 0 FROM generate_series(1, ${PEOPLE}) n;
CREATE TABLE bill (bill_id int PRIMARY KEY, title text NOT NULL, owner_id int REFERENCES employee, pay text);
INSERT INTO bill SELECT n, 'Bill ' || n, 1 + n % 7, 'pay ' || n % 5 FROM generate_series(1, 300) n;
CREATE TABLE visit (visit_id int PRIMARY KEY, name text NOT NULL, day date);
INSERT INTO visit VALUES (1, 'First', '2026-01-01'), (2, 'Last', '2026-01-25'), (3, 'Unplanned', NULL);
`

const rule = (id: string, type: string, columns: unknown, more: object = {}) => ({
  id,
  effect: "allow",
  role: "clerk",
  action: "read",
  type,
  columns,
  ...more
})

const setUp = Effect.gen(function* () {
  yield* runScript(SCRIPT)
  const organization = yield* makeOrganization("reach")
  yield* mapTables(organization, { exclusive: true })
  yield* policyFor(organization, {
    version: 1,
    roles: { clerk: {} },
    rules: [
      rule("people", "people", "*"),
      rule("retired", "people", ["email", "phone"], { effect: "deny", where: { retired: true } }),
      rule("bills", "bills", ["name", "owner"]),
      rule("visits", "visits", "*")
    ]
  })
  return yield* asExistingPerson(organization, "p1@reach.test", "clerk")
})

layer(TestServices, { excludeTestServices: true })("groups reach", (it) => {
  it.effect("the rows behind a group by a lookup of its key, and no column that lookups refuse", () =>
    Effect.gen(function* () {
      const clerk = yield* setUp
      const byOwner = yield* clerk.find("bills", [], { selectColumns: ["by owner"], limit: 25 })
      expect(byOwner.groups).toHaveLength(7)
      for (const { count, keys } of byOwner.groups!) {
        const behind = yield* clerk.find("bills", [`owner=${keys[0]!.id}`], { limit: 0 })
        expect(behind.total).toBe(count)
      }
      // A column that the caller may not read is refused in every word as one that doesn't exist.
      for (const words of ["by", "min", "max", "distinct"]) {
        const refusals = yield* Effect.all(
          ["pay", "zzz"].map((column) =>
            Effect.flip(clerk.find("bills", [], { selectColumns: [`${words} ${column}`], limit: 5 }))
          )
        )
        const [hidden, unknown] = refusals.map((refused) => JSON.stringify(refused).replaceAll(/\bpay\b/g, "zzz"))
        expect(hidden).toBe(unknown)
      }

      // A group by phone or e-mail says what paging says: at most 25 at a time, and hidden cells are one group without a value.
      for (const column of ["email", "phone"]) {
        const seen: Array<string | undefined> = []
        let cursorEntityId: string | undefined
        do {
          const page = yield* clerk.find("people", [], {
            selectColumns: [`by ${column}`],
            limit: 25,
            ...(cursorEntityId === undefined ? {} : { cursorEntityId })
          })
          expect(page.groups!.length).toBeLessThanOrEqual(25)
          seen.push(...page.groups!.map(({ keys }) => keys[0]!.value))
          for (const { count, keys } of page.groups!) expect(count).toBe(keys[0]!.value === undefined ? PEOPLE / 3 : 1)
          cursorEntityId = page.nextCursorEntityId
        } while (cursorEntityId !== undefined)
        expect(new Set(seen).size).toBe(seen.length)
        expect(seen).toHaveLength((2 * PEOPLE) / 3 + 1)
        const tooMany = yield* Effect.flip(clerk.find("people", [], { selectColumns: [`by ${column}`], limit: 26 }))
        expect(tooMany).toMatchObject({ _tag: "InvalidInput" })
      }

      // Periods without rows fill a page of 25 days; the visit without a day is on the next page.
      const days = { selectColumns: ["by day day"], limit: 25 }
      const first = yield* clerk.find("visits", [], days)
      expect(first.groups!.map(({ count }) => count)).toEqual([1, ...Array.from({ length: 23 }, () => 0), 1])
      const rest = yield* clerk.find("visits", [], { ...days, cursorEntityId: first.nextCursorEntityId })
      expect(rest.groups).toMatchObject([{ keys: [{}], count: 1 }])
      expect(rest.nextCursorEntityId).toBeUndefined()
    })
  )
})
