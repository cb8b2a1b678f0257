/** Undo: the inverse change, which restores rows, keys and links byte for byte, or says what has changed since. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { encodeId } from "../../../src/domain/ids.ts"
import { entityId } from "../../../src/domain/values.ts"
import { addPeople } from "../../support/atlas.ts"
import {
  as,
  cellOf,
  changing,
  confirmed,
  forgetLimits,
  person,
  publish,
  rowsIn,
  valuesOf
} from "../../support/changes.ts"
import { TestServices } from "../../support/database.ts"
import { series } from "../../support/long.ts"
import { importFiles } from "../../support/imports.ts"

const TABLES = ["people", "companies", "meetings", "meeting_attendees"]
/** How many random changes are undone. */
const CHANGES = series({ short: 120, long: 1000 })

/** A generator of the same numbers in every run. */
const randomOf = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
}

/** Every row of the organization's tables, also of a table of its own. */
const everything = (organization: Organization, tables = TABLES) =>
  Effect.forEach(tables, (table) => rowsIn(organization, table))

layer(TestServices, { excludeTestServices: true })("an undo", (it) => {
  it.effect("restores what was changed, with a confirmation of its own, and can itself be undone", () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* changing("undo")
      const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead", phone: "617 555 0100" }])
      const before = yield* everything(organization)
      const draft = yield* admin.update("people.update", [ada!], { phone: "", status: "Won" })
      yield* confirmed(admin, draft)
      const after = yield* everything(organization)
      const undo = yield* admin.undo(draft.changeId)
      expect(undo.preview).toMatchObject({
        undoes: draft.changeId,
        level: "once",
        steps: [
          {
            displayName: "Ada",
            cells: [
              { columnId: "status", was: "Won", becomes: "Lead" },
              { columnId: "phone", becomes: "617 555 0100" }
            ]
          }
        ]
      })
      expect(yield* everything(organization)).toEqual(after)
      yield* confirmed(admin, undo)
      expect(yield* everything(organization)).toEqual(before)
      expect(yield* admin.preview(draft.changeId)).toMatchObject({ undoneBy: undo.changeId })
      expect(yield* Effect.flip(admin.undo(draft.changeId))).toMatchObject({ _tag: "Decided" })
      yield* confirmed(admin, yield* admin.undo(undo.changeId))
      expect(yield* everything(organization)).toEqual(after)
    })
  )

  it.effect("says cell by cell what has been changed since, and undoes nothing then", () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* changing("conflict")
      const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead", phone: "617 555 0100" }])
      const draft = yield* admin.update("people.update", [ada!], { phone: "617 555 0111", status: "Won" })
      yield* confirmed(admin, draft)
      const created = yield* admin.create("people.create", { name: "Bo" })
      yield* confirmed(admin, created)
      const bo = created.preview.steps[0]!.entityId
      yield* confirmed(admin, yield* admin.update("people.update", [ada!, bo], { status: "Lost" }))
      expect(yield* Effect.flip(admin.undo(draft.changeId))).toMatchObject({
        _tag: "Stale",
        message: "Status was made Won; it is Lost now. It wasn't undone."
      })
      expect(yield* Effect.flip(admin.undo(created.changeId))).toMatchObject({
        _tag: "Stale",
        message: "Status was made empty; it is Lost now. It wasn't undone."
      })
      expect(yield* cellOf(organization, entityId(ada!), "phone")).toBe("617 555 0111")
    })
  )

  it.effect("goes through the permissions of the person who undoes, who must have proposed or decided", () =>
    Effect.gen(function* () {
      const rules = [
        { id: "r", effect: "allow", role: "rep", action: "read", type: "people", columns: "*", where: {} },
        { id: "d", effect: "allow", role: "rep", action: "delete", type: "people", columns: "*", where: {} }
      ]
      const { admin, organization } = yield* changing("undoer", rules)
      const rita = yield* person(organization, "rita@undoer.example", "rep")
      const [ada] = yield* addPeople(organization, [{ name: "Ada" }])
      const draft = yield* rita.remove("people.delete", [ada!])
      yield* confirmed(rita, draft)
      expect((yield* Effect.flip(rita.undo(draft.changeId)))._tag).toBe("NotAllowed")
      expect((yield* Effect.flip(admin.undo(draft.changeId)))._tag).toBe("UnknownName")
    })
  )

  it.effect(`of each of ${CHANGES} random changes, last first, restores every row, key and link byte for byte`, () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* changing("random")
      const { owner } = yield* Database
      // A table of its own with columns of further kinds, and a stored search key that no writer would make now.
      yield* importFiles(
        organization,
        {
          "people.jsonl": [
            JSON.stringify({
              id: "x1",
              name: "Wide",
              score: "1.50",
              born: "1999-12-31",
              tags: ["a b", 'c"d', "NULL", "é,{}"],
              vip: true,
              level: "3"
            })
          ]
        },
        { create: true }
      )
      // "*" stands for the columns that there are.
      yield* publish(organization)
      const [own] = yield* owner<{ table: string }>`SELECT relation_table AS table FROM builder.entity_type_versions
        WHERE organization_id = ${organization.id} AND type_key = 'people' ORDER BY version DESC LIMIT 1`
      const tables = [own!.table, ...TABLES.slice(1)]
      const who = { ...(yield* as(admin.principal)), anchorId: admin.anchorId }
      const random = randomOf(7)
      const pick = <A>(list: ReadonlyArray<A>): A => list[random(list.length)]!
      const states: Array<unknown> = [yield* everything(organization, tables)]
      const done: Array<{ readonly changeId: string }> = []
      const idsIn = (table: string) =>
        Effect.map(
          owner.unsafe<{ id: string }>(
            `SELECT id::text AS id FROM data.${table} WHERE organization_id = $1::bigint AND id::text <> $2::text ORDER BY id`,
            [organization.id, entityId(who.anchorId)]
          ),
          (rows) => rows.map(({ id }) => encodeId(BigInt(id)))
        )
      const words = ["Ada", "Zoë Straße", "x,y", 'q"uote', "back\\slash", "", "Won", "{curly}", " spaced "]
      const values = (type: string): Record<string, string> => ({
        name: `N ${pick(words)} ${random(1000)}`,
        status: pick(words),
        ...(type === "meetings"
          ? { start: `20${10 + random(80)}-0${1 + random(9)}-1${random(9)} 1${random(9)}:3${random(9)}` }
          : {
              phone: pick(["617 555 01" + String(10 + random(89)), "", "ext. 4"]),
              email: pick(["A.B@x.example", "", "no address"])
            }),
        ...(type === "people"
          ? {
              score: pick(["1.50", "-0.000001", "12345678901234567890.5", ""]),
              born: pick(["2001-02-28", ""]),
              tags: pick(['["a b","c\\"d"]', "x;y", ""]),
              vip: pick(["true", "no", ""]),
              level: pick(["9007199254740993", "-1", ""])
            }
          : {})
      })
      for (let tries = 0; done.length < CHANGES && tries < CHANGES * 3; tries++) {
        if (tries % 8 === 0) yield* forgetLimits(organization)
        const type = pick(["people", "companies", "meetings"])
        const people = yield* idsIn(tables[0]!)
        const companies = yield* idsIn("companies")
        const rows = yield* idsIn(type === "people" ? tables[0]! : type)
        const references: Record<string, string> = {
          ...(people.length > 0 ? { owner: pick([...people, ""]) } : {}),
          ...(type !== "companies" && companies.length > 0 ? { company: pick([...companies, ""]) } : {}),
          ...(type === "meetings" && people.length > 0 ? { attendees: [pick(people), pick(people)].join(";") } : {})
        }
        const all = { ...values(type), ...references }
        const some = Object.fromEntries(
          Object.entries(all).filter(([slug, value]) => random(3) === 0 && !(slug === "name" && value.trim() === ""))
        )
        const op = rows.length === 0 ? "create" : pick(["create", "update", "update", "update", "delete"])
        const draft = yield* Effect.result(
          op === "create"
            ? who.create(`${type}.create`, { ...some, name: all["name"]! })
            : op === "delete"
              ? who.remove(`${type}.delete`, [pick(rows)])
              : who.propose({
                  steps: [
                    {
                      actionId: `${type}.update`,
                      entityIds: [...new Set([pick(rows), pick(rows)])],
                      values: valuesOf(some)
                    }
                  ]
                })
        )
        // Nothing set, nothing changed, or text that is a list of ids and isn't found.
        if (draft._tag === "Failure") {
          expect(["InvalidInput", "UnknownName"]).toContain(draft.failure._tag)
          continue
        }
        const outcome = yield* Effect.result(confirmed(who, draft.success))
        if (outcome._tag === "Failure") return expect.fail(`${op} ${type}: ${outcome.failure.message}`)
        done.push(draft.success)
        states.push(yield* everything(organization, tables))
      }
      expect(done).toHaveLength(CHANGES)
      for (const [at, { changeId }] of [...done.entries()].toReversed()) {
        if (at % 4 === 0) yield* forgetLimits(organization)
        const undo = yield* who.undo(changeId)
        yield* confirmed(who, undo)
        expect(yield* everything(organization, tables)).toEqual(states[at])
      }
    })
  )
})
