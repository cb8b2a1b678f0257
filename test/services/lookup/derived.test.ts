/** Derived columns: what they hold, where they can be used, and how they are declared, refused and removed. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { today } from "../../../src/domain/today.ts"
import { AuditLog } from "../../../src/services/audit/AuditLog.ts"
import { DerivedColumns } from "../../../src/services/catalog/DerivedColumns.ts"
import { asMember, makeOrganization, zoneAtNoon } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { derive, publish, withCases } from "../../support/derived.ts"
import { importFile, refusalOfFile } from "../../support/imports.ts"

const refusal = (organization: Organization, name: string, form: string) =>
  Effect.map(Effect.flip(derive(organization, name, form)), (error) =>
    error._tag === "OperatorError"
      ? [error.message, ...(error.details ?? [])].join(" ")
      : expect.fail(`It failed with ${error._tag}`)
  )

const NAMES = ["Alpha", "Beta", "Gamma", "Delta"]

layer(TestServices, { excludeTestServices: true })("a derived column", (it) => {
  it.effect(
    "holds the hours and days between two times, and the product of two numbers, and is empty without both",
    () =>
      Effect.gen(function* () {
        const organization = yield* withCases("derived-values")
        const admin = yield* asMember(organization, "admin@example.com", "admin")
        const page = yield* admin.find({
          entityTypeId: "cases",
          selectColumns: ["handle_time", "waiting", "total"]
        })
        expect(page.entities.map(({ displayName }) => displayName)).toEqual(NAMES)
        expect(page.entities.map(({ columns }) => columns)).toEqual([
          // 1 March begins at 05:00 UTC in New York, and 9 March has 23 hours before it.
          { handle_time: "26.5", waiting: "1.1667", total: "50" },
          { handle_time: "-1", waiting: "0.1667", total: "0.3" },
          { waiting: "0.1667" },
          { handle_time: "47", waiting: "0.5", total: "6" }
        ])
        const { columns } = yield* admin.columns("cases")
        expect(columns.find(({ id }) => id === "handle_time")).toEqual({
          id: "handle_time",
          name: "Handle time",
          holds: "number"
        })
      })
  )

  it.effect("is a number like any other: rows are filtered, ordered, paged and grouped by it, and it is added up", () =>
    Effect.gen(function* () {
      const organization = yield* withCases("derived-uses")
      const admin = yield* asMember(organization, "admin@example.com", "admin")
      const names = (op: "eq" | "ne" | "gte" | "lt", value: string, limit = 25, cursorEntityId?: string) =>
        Effect.map(
          admin.find({
            entityTypeId: "cases",
            filters: [{ columnId: "handle_time", op, value }],
            limit,
            cursorEntityId
          }),
          ({ entities }) => entities.map(({ displayName }) => displayName)
        )
      expect(yield* names("gte", "0")).toEqual(["Alpha", "Delta"])
      expect(yield* names("lt", "100")).toEqual(["Delta", "Alpha", "Beta"])
      expect(yield* names("eq", "26.5")).toEqual(["Alpha"])
      expect(yield* names("eq", "0..50|-1")).toEqual(["Alpha", "Beta", "Delta"])
      expect(yield* names("ne", "*")).toEqual(["Gamma"])
      const first = yield* admin.find({
        entityTypeId: "cases",
        filters: [{ columnId: "total", op: "gte", value: "0" }],
        limit: 2
      })
      expect(
        yield* Effect.map(
          admin.find({
            entityTypeId: "cases",
            filters: [{ columnId: "total", op: "gte", value: "0" }],
            limit: 2,
            cursorEntityId: first.nextCursorEntityId
          }),
          ({ entities }) => entities.map(({ displayName }) => displayName)
        )
      ).toEqual(["Alpha"])
      const groups = yield* admin.find({
        entityTypeId: "cases",
        filters: [],
        selectColumns: ["by waiting", "sum total", "avg handle_time", "max handle_time", "distinct total"]
      })
      expect(
        groups.groups?.map(({ count, figures, keys }) => [
          keys[0]!.value,
          count,
          ...figures!.map((cells) => cells[0]?.value)
        ])
      ).toEqual([
        ["1.1667", 1, "50", "26.5", "26.5", "1"],
        ["0.5", 1, "6", "47", "47", "1"],
        ["0.1667", 2, "0.3", "-1", "-1", "1"]
      ])
    })
  )

  it.effect("is a part of what a path leads to", () =>
    Effect.gen(function* () {
      const organization = yield* withCases("derived-paths")
      yield* importFile(organization, ["id,name,case", "7,First note,1", "8,Second note,2"], {
        type: "notes",
        create: true,
        map: { case: "case:cases.id" }
      })
      yield* publish(organization, {}, { type: "notes" })
      const admin = yield* asMember(organization, "admin@example.com", "admin")
      const page = yield* admin.find({
        entityTypeId: "notes",
        filters: [{ columnId: "case.total", op: "gte", value: "1" }],
        selectColumns: ["case.handle_time"]
      })
      expect(page.entities.map(({ columns, displayName }) => [displayName, columns])).toEqual([
        ["First note", { "case.handle_time": "26.5" }]
      ])
      const back = yield* admin.find({
        entityTypeId: "cases",
        filters: [{ columnId: "notes", op: "eq", value: "*" }],
        selectColumns: ["sum total"]
      })
      expect(back.groups?.[0]?.figures?.[0]?.[0]?.value).toBe("50.3")
    })
  )

  it.effect("counts whole years until today in the organization's zone, also from 29 February", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("derived-years", zoneAtNoon())
      const now = today(organization.timeZone)
      const year = Number(now.slice(0, 4))
      const shifted = (days: number) =>
        new Date(Date.parse(`${now}T00:00:00Z`) + days * 86_400_000).toISOString().slice(5, 10)
      yield* importFile(
        organization,
        [
          "id,name,born,joined",
          `1,Today,${year - 30}-${now.slice(5)},2026-01-01`,
          `2,Tomorrow,${year - 30 + (shifted(1) === "01-01" ? 1 : 0)}-${shifted(1)},2026-01-01`,
          "3,Leap,2000-02-29,2025-02-28",
          "4,Leap after,2000-02-29,2025-03-01",
          "5,Later,2030-06-01,2028-05-31",
          "6,Birthday unknown,,2026-01-01"
        ],
        { type: "staff", create: true }
      )
      yield* publish(organization, { type: "staff" })
      yield* derive(organization, "staff.age", "years since born")
      yield* derive(organization, "staff.age_then", "Years between born and joined")
      const admin = yield* asMember(organization, "admin@example.com", "admin")
      const page = yield* admin.find({ entityTypeId: "staff", selectColumns: ["age", "age_then"], limit: 25 })
      const cells = new Map(page.entities.map(({ columns, displayName }) => [displayName, columns]))
      expect(cells.get("Today")?.["age"]).toBe("30")
      expect(cells.get("Tomorrow")?.["age"]).toBe("29")
      expect(cells.get("Leap")?.["age_then"]).toBe("24")
      expect(cells.get("Leap after")?.["age_then"]).toBe("25")
      expect(cells.get("Later")?.["age_then"]).toBe("-2")
      expect(cells.get("Birthday unknown")).toEqual({})
    })
  )
})

layer(TestServices, { excludeTestServices: true })("declaring a derived column", (it) => {
  it.effect("is refused with the reason: unknown columns, wrong kinds, taken names, other forms, derived sources", () =>
    Effect.gen(function* () {
      const organization = yield* withCases("derived-refused")
      const refused = (name: string, form: string) => refusal(organization, name, form)
      expect(yield* refused("cases.x", "hours between created and closd")).toBe(
        'Cases have no column "closd". Did you mean closed?'
      )
      expect(yield* refused("cases.x", "hours between created and price")).toBe(
        '"hours between created and price" can\'t be computed: price is no date or time.'
      )
      expect(yield* refused("cases.x", "name times price")).toContain("name is no number")
      expect(yield* refused("cases.price", "price times quantity")).toContain("Cases have that already")
      expect(yield* refused("cases.id", "price times quantity")).toContain("that word is reserved")
      expect(yield* refused("cases.Total", "price times quantity")).toContain("a name is lower-case letters")
      expect(yield* refused("cases.total", "price times price")).toBe(
        'cases.total is derived already, as "price times quantity". To declare it anew, remove it first: max catalog derive cases.total --remove'
      )
      expect(yield* refused("cases.x", "price times total")).toContain('"total" is derived itself')
      expect(yield* refused("orders.x", "price times quantity")).toContain('There is no type "orders".')
      expect(yield* refused("total", "price times quantity")).toContain("isn't TYPE.COLUMN")
      for (const form of [
        "price plus quantity",
        "minutes between created and closed",
        "",
        "years since",
        "a times b c"
      ])
        expect(yield* refused("cases.x", form)).toBe(
          `${JSON.stringify(form)} is none of the forms that a column can be derived by: hours between A and B days between A and B years between A and B years since A A times B`
        )
      const columns = yield* DerivedColumns
      const missing = yield* Effect.flip(columns.remove(organization, "cases.price"))
      expect(missing.message).toContain('Cases have no derived column "price"')
    })
  )

  it.effect(
    "raises the epoch and is in the audit log, as its removal is, and other organizations have none of it",
    () =>
      Effect.gen(function* () {
        const { owner } = yield* Database
        const [ours, theirs] = [yield* withCases("derived-ours"), yield* makeOrganization("derived-theirs")]
        const epochOf = Effect.map(
          owner<{ epoch: bigint }>`SELECT epoch FROM max.organizations WHERE organization_id = ${ours.id}`,
          (rows) => rows[0]!.epoch
        )
        const before = yield* epochOf
        yield* derive(ours, "meetings.length", "hours between start and end")
        const declared = yield* epochOf
        expect(declared).toBeGreaterThan(before)
        const columns = yield* DerivedColumns
        expect(yield* columns.list(ours)).toContainEqual({
          column: "meetings.length",
          name: "Length",
          is: "hours between start and end",
          broken: false
        })
        expect(yield* columns.list(theirs)).toEqual([])
        yield* columns.remove(ours, "meetings.length")
        expect(yield* epochOf).toBeGreaterThan(declared)
        const audit = yield* AuditLog
        const events = yield* audit.list(ours, { chain: "changes", limit: 2 })
        expect(events.map(({ action, details, subject }) => [action, subject, details])).toEqual([
          ["catalog.underived", "meetings.length", {}],
          ["catalog.derived", "meetings.length", { is: "hours between start and end" }]
        ])
        // Imports extend the type afterwards: its rows move to a table of the organization.
        yield* derive(ours, "meetings.length", "hours between start and end")
        yield* importFile(
          ours,
          ["id,name,start,end,room", "1,Stand-up,2026-03-02T09:00:00Z,2026-03-02T09:30:00Z,Blue"],
          {
            type: "meetings",
            create: true
          }
        )
        yield* publish(ours, { type: "meetings" })
        const admin = yield* asMember(ours, "admin@example.com", "admin")
        const page = yield* admin.find({ entityTypeId: "meetings", selectColumns: ["length", "room"] })
        expect(page.entities[0]?.columns).toEqual({ length: "0.5", room: "Blue" })
        const [tables] = yield* owner<{ shared: number }>`
        SELECT count(*)::int AS shared FROM data.meetings WHERE organization_id = ${ours.id}`
        expect(tables!.shared).toBe(0)
      })
  )

  it.effect(
    "leaves nothing to import into it: a header of its name is refused, and so is a new column of its name",
    () =>
      Effect.gen(function* () {
        const organization = yield* withCases("derived-import")
        for (const create of [false, true]) {
          const { message } = yield* refusalOfFile(organization, ["id,name,Handle time", "1,Alpha,5"], {
            type: "cases",
            create
          })
          expect(message).toBe(
            '"Handle time": handle_time is computed from other columns, and nothing is imported into it. Leave it out: --ignore "Handle time".'
          )
        }
        const mapped = yield* refusalOfFile(organization, ["id,name,x", "1,Alpha,5"], {
          type: "cases",
          map: { x: "handle_time" }
        })
        expect(mapped.message).toContain("handle_time is computed from other columns")
      })
  )
})
