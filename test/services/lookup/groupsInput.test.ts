/** Groups and figures over values and requests at their limits: each gets a true answer or one clear error. */
import { layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { InvalidInput, UnknownName } from "../../../src/domain/errors.ts"
import type { FindQuery } from "../../../src/domain/Query.ts"
import { random } from "../../conformance/world.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { series } from "../../support/long.ts"
import { asExistingPerson, mapTables, policyFor, runScript } from "../../support/mappedTables.ts"

const MANY = series({ short: 120_000, long: 1_000_000 })

/** Readings have every value at which an operator of Postgres fails or means something else. */
const SCRIPT = `
CREATE TABLE employee (employee_id int PRIMARY KEY, name text NOT NULL, email text, team text);
INSERT INTO employee VALUES (1, 'Ada Stone', 'ada@limits.test', 'red'), (2, 'Bo Reed', 'bo@limits.test', 'blue'), (3, 'Cy Hill', 'cy@limits.test', 'red');
CREATE TABLE reading (reading_id int PRIMARY KEY, title text NOT NULL, amount numeric, level float8, at timestamptz, day date, small smallint, big bigint, wall timestamp);
INSERT INTO reading (reading_id, title, amount, level, at, day, small, big) VALUES (1, 'a', 'NaN', 'NaN', 'infinity', 'infinity', 1, 9223372036854775807), (2, 'a', 'Infinity', 'Infinity', '-infinity', '-infinity', 2, 9223372036854775807),
  (3, 'a', '-Infinity', '-Infinity', '4713-01-01 00:00+00 BC', '4713-01-01 BC', 32767, -9223372036854775808), (4, 'b', 1e100, 1.7976931348623157e308, '294276-12-31 23:59:59.999999+00', '5874897-12-31', NULL, NULL),
  (5, 'b', -1e-100, 4.9e-324, '2026-03-08 06:59:59+00', '2026-03-08', 0, 0), (6, 'b', 10.5, 10.5, '2026-11-01 05:30+00', '2026-11-01', 3, 1);
UPDATE reading SET wall = CASE reading_id WHEN 3 THEN '4714-11-24 00:00 BC' ELSE at AT TIME ZONE 'UTC' END, at = CASE reading_id WHEN 3 THEN '4714-11-24 00:00+00 BC' ELSE at END;
CREATE TABLE hourly (hourly_id int PRIMARY KEY, title text NOT NULL, at timestamptz NOT NULL);
INSERT INTO hourly SELECT row_number() OVER (ORDER BY h), 'h', h FROM (SELECT generate_series(timestamptz '2026-03-07 05:00+00', '2026-03-10 03:00+00', '1 hour') h
  UNION ALL SELECT generate_series(timestamptz '2026-10-31 04:00+00', '2026-11-03 04:00+00', '1 hour')) x;
CREATE TABLE item (item_id int PRIMARY KEY, title text NOT NULL, batch int NOT NULL);
INSERT INTO item SELECT n, 'Item ' || n, n / 2 FROM generate_series(1, ${MANY}) n;
`

const setUp = Effect.gen(function* () {
  yield* runScript(SCRIPT)
  const { owner } = yield* Database
  yield* owner.unsafe("ANALYZE public.item")
  const organization = yield* makeOrganization("limits", "America/New_York")
  yield* mapTables(organization, { exclusive: true })
  const rule = (role: string, type: string, columns: unknown, where?: object) => ({
    id: `${role}-${type}`,
    effect: "allow",
    role,
    action: "read",
    type,
    columns,
    ...(where === undefined ? {} : { where })
  })
  const policy = {
    version: 1,
    roles: { clerk: {}, red: {}, blue: {} },
    rules: [
      ...["people", "readings", "hourlies", "items"].map((type) => rule("clerk", type, "*")),
      rule("red", "people", ["name", "team"], { team: "red" }),
      rule("blue", "people", ["name", "team"], { team: "blue" })
    ]
  }
  yield* policyFor(organization, policy)
  const ada = yield* asExistingPerson(organization, "ada@limits.test", "clerk")
  const bo = yield* asExistingPerson(organization, "bo@limits.test", "red", "blue")
  return { organization, policy, ada, bo }
})

const counts = (page: {
  readonly groups?: ReadonlyArray<{ keys: ReadonlyArray<{ value?: string }>; count: number }>
}) => Object.fromEntries((page.groups ?? []).map(({ count, keys }) => [keys[0]!.value ?? "(none)", count]))

layer(TestServices, { excludeTestServices: true })("groups at their limits", (it) => {
  it.effect("have a true answer or one clear error", () =>
    Effect.gen(function* () {
      const { ada, bo, organization, policy } = yield* setUp

      // No value of a row makes a figure or a bucket fail, whatever its kind.
      for (const column of ["amount", "level", "small", "big"])
        for (const figure of ["sum", "avg", "min", "max", "distinct"]) {
          const page = yield* ada.find("readings", [], { selectColumns: [`${figure} ${column}`, "by name"] })
          expect(counts(page), `${figure} ${column}`).toEqual({ a: 3, b: 3 })
        }
      for (const column of ["at", "wall", "day"])
        for (const bucket of ["hour", "weekday", "day", "week", "month", "quarter", "year"]) {
          if (column === "day" && bucket === "hour") continue
          const page = yield* ada.find("readings", [], { selectColumns: [`by ${bucket} ${column}`] })
          expect(page.total, `${bucket} ${column}`).toBe(6)
          // What isn't a moment is as empty as an empty cell. Periods are filled in between the first and the last one.
          if (bucket === "hour" || bucket === "weekday") expect(counts(page)["(none)"]).toBe(2)
        }
      const [amounts] = (yield* ada.find("readings", ["name=b"], {
        selectColumns: ["by name", "sum small", "max day"]
      })).groups!
      expect(amounts).toMatchObject({ count: 3, figures: [[{ value: "3", of: 2 }], [{ of: 3 }]] })
      const [sums] = (yield* ada.find("readings", ["name=a"], {
        selectColumns: ["by name", "sum amount", "sum big"]
      })).groups!
      // Not a number and infinities are no numbers; a sum of the largest ones doesn't overflow.
      expect(sums).toMatchObject({ figures: [[], [{ value: "9223372036854775806", of: 3 }]] })

      // A list shows them, too, in their zone and in the organization's, and filters compare them.
      const shown = yield* ada.find("readings", [], {
        selectColumns: ["at", "wall", "day", "amount", "level"],
        limit: 25
      })
      expect(shown.total).toBe(6)
      expect(shown.entities.flatMap(({ columns }) => columns?.["day"] ?? [])).toContain("5874897-12-31")
      for (const column of ["at", "wall"])
        for (const [value, total] of [
          ["2026..", 4],
          ["..2026", 4],
          ["0001..9999-12-31", 2],
          ["*", 4]
        ] as const)
          expect((yield* ada.find("readings", [`${column}=${value}`])).total, `${column}=${value}`).toBe(total)

      // Days of 23 and 25 hours, in the organization's zone.
      for (const [period, days] of [
        ["2026-03-07..2026-03-09", { "2026-03-07": 24, "2026-03-08": 23, "2026-03-09": 24 }],
        ["2026-10-31..2026-11-02", { "2026-10-31": 24, "2026-11-01": 25, "2026-11-02": 24 }]
      ] as const)
        expect(counts(yield* ada.find("hourlies", [`at=${period}`], { selectColumns: ["by day at"] }))).toEqual(days)
      const march = counts(yield* ada.find("hourlies", ["at=2026-03-08"], { selectColumns: ["by hour at"], limit: 25 }))
      const november = counts(
        yield* ada.find("hourlies", ["at=2026-11-01"], { selectColumns: ["by hour at"], limit: 25 })
      )
      expect([march["02:00"], march["03:00"], november["01:00"], november["02:00"]]).toEqual([undefined, 1, 2, 1])
      expect((yield* ada.find("hourlies", ["at=2026-11-01"])).total).toBe(25)

      // As many groups as rows allow: exact, or none with a lower bound; never a part.
      for (const selectColumns of [["by batch"], ["by name", "max batch"]]) {
        const page = yield* ada.find("items", [], { selectColumns, limit: 25 })
        if (page.tooMany === true) expect(page.groups).toBe(undefined)
        else {
          expect(page.total).toBe(MANY)
          expect(page.groups).toHaveLength(25)
          expect(page.groupsTotal).toBe(selectColumns.length === 1 ? Math.floor(MANY / 2) + 1 : MANY)
        }
      }

      // The rows of several roles are one set: a row that two of them show counts once.
      expect(counts(yield* bo.find("people", [], { selectColumns: ["by team"] }))).toEqual({ red: 2, blue: 1 })

      // What isn't a request for groups gets one error, in words.
      const nonsense = [
        ["by"],
        ["sum"],
        ["by by"],
        ["by name", "amount"],
        ["by nothing"],
        ["by hour name"],
        ["by century at"],
        ["by hour day"],
        ["sum name"],
        ["avg at"],
        ["min name"],
        ["by id"],
        ["by name.name"],
        ["by name@x"],
        ["by *"],
        ["by name|amount"],
        ["by name..amount"],
        ["by ."],
        ["by @"],
        [`by ${"x".repeat(4096)}`],
        ["colourless green ideas ".repeat(180)],
        Array.from({ length: 6 }, (_, index) => `sum c${index}`),
        ["by name", "by day", "by small"]
      ]
      const queries: ReadonlyArray<Partial<FindQuery>> = [
        ...nonsense.map((selectColumns) => ({ selectColumns })),
        { selectColumns: ["by name"], limit: -1 },
        { selectColumns: ["by name"], limit: 26 },
        { selectColumns: ["by name"], cursorEntityId: "'; --" },
        ...["ne", "ilike"].map((op) => ({
          selectColumns: ["by name"],
          filters: [{ columnId: "count", op: op as "ne", value: "1" }]
        })),
        ...["many", "1|2", "1..2", "*", "1e5", "", " ", "9".repeat(31)].map((value) => ({
          selectColumns: ["by name"],
          filters: [{ columnId: "count", op: "gte" as const, value }]
        })),
        { selectColumns: ["by name"], filters: [{ columnId: "sum amount", op: "gte", value: "1" }] },
        { selectColumns: ["by name", "max at"], filters: [{ columnId: "max at", op: "gte", value: "1" }] }
      ]
      for (const query of queries) {
        const answer = yield* Effect.result(ada.find("readings", [], query))
        const text = JSON.stringify(query).slice(0, 100)
        if (Result.isSuccess(answer)) throw new Error(`${text} was answered`)
        expect(
          [UnknownName, InvalidInput].some((kind) => answer.failure instanceof kind),
          text
        ).toBe(true)
        expect((answer.failure as Error).message.length, text).toBeLessThan(300)
      }

      // The grammar of values: what it means, or one error in words, for every kind of column and every comparison.
      const columns = [
        "id",
        "name",
        "amount",
        "level",
        "at",
        "wall",
        "day",
        "small",
        "big",
        "name.x",
        "hourlies",
        "readings@name"
      ]
      const pieces = ["|", "*", "..", "@", ".", "\\", "1", "a", "-", "2026", "-W53", "-02-29", "T24:00", "9".repeat(40), "e", "+", " ", "NaN", "infinity", "today"] // prettier-ignore
      const next = random(22)
      const at = (size: number) => Math.floor(next() * size)
      for (let round = 0; round < 400; round++) {
        const value = Array.from({ length: 1 + at(5) }, () => pieces[at(pieces.length)]!).join("")
        const columnId = columns[round % columns.length]!
        const op = (["eq", "ne", "ilike", "gte", "lt"] as const)[at(5)]!
        const answer = yield* Effect.result(ada.find("readings", [], { filters: [{ columnId, op, value }] }))
        const text = JSON.stringify({ columnId, op, value })
        if (Result.isSuccess(answer)) expect(answer.success.total, text).toBeLessThanOrEqual(6)
        else expect(["UnknownName", "InvalidInput"], text).toContain((answer.failure as { _tag: string })._tag)
      }

      // A figure that was planned before a change of the policy has no row.
      const planned = yield* ada.statement("readings", { selectColumns: ["by name"] })
      const { figures } = yield* Database
      const run = figures!.unsafe<object>(planned.text, planned.parameters)
      expect(yield* run).toMatchObject([{ fresh: true }, { fresh: true }])
      yield* policyFor(organization, { ...policy, rules: policy.rules.filter(({ type }) => type !== "readings") })
      expect(yield* run).toMatchObject([{ fresh: false, total: null, n: null, t0: null }])
      const hidden = yield* Effect.flip(ada.find("readings", [], { selectColumns: ["by name"] }))
      expect(hidden._tag).toBe("UnknownName")
    })
  )
})
