/** What a confirmation compares and judges in its transaction: the rows as they were shown, as they are, and as they are written. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { describe, expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { entityId } from "../../../src/domain/values.ts"
import { addPeople } from "../../support/atlas.ts"
import {
  applyAs,
  callerOf,
  cellOf,
  changing,
  confirmed,
  forgetLimits,
  person,
  publish,
  rowsIn,
  valuesOf,
  VIA
} from "../../support/changes.ts"
import { TestServices } from "../../support/database.ts"

const MOVED = "What you looked at isn't there any more: nothing was changed."
const OTHERWISE = "The database made something else of it: nothing was changed."
const UNREADABLE = "You can't see everything that this changes, so you can't approve it."
const NO_LONGER = "You may not change people any more: nothing was changed."

const rule = (action: string, columns: unknown = "*", where: object = {}, type = "people") => ({
  id: `${type}-${action}-${JSON.stringify([columns, where]).replaceAll(/[^a-z]/gi, "")}`,
  effect: "allow",
  role: "rep",
  action,
  type,
  columns,
  where
})

const failing = <A, E extends { readonly _tag: string; readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ _tag, message }) => [_tag, message])

/** Sets cells of people, as another program does. */
const set = Effect.fnUntraced(function* ({ id }: Organization, ids: ReadonlyArray<string>, assignment: string) {
  const { owner } = yield* Database
  yield* owner.unsafe(
    `UPDATE data.people SET ${assignment} WHERE organization_id = $1::bigint AND id::text = ANY($2::text[])`,
    [id, ids.map(entityId)]
  )
})

/** A rep who changes people as `rules` say, under rules that can be published anew. */
const reping = Effect.fnUntraced(function* (slug: string, rules: ReadonlyArray<ReturnType<typeof rule>>) {
  const { admin, organization } = yield* changing(slug, rules)
  const rita = yield* person(organization, `rita@${slug}.example`, "rep")
  return { admin, organization, rita, under: (now: typeof rules) => publish(organization, now) }
})

layer(TestServices, { excludeTestServices: true })("a confirmation", (it) => {
  describe("compares what was shown:", () => {
    it.effect("it names each cell that differs, of each of several rows, eight at most, and each once", () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("differs")
        const [boss] = yield* addPeople(organization, [{ name: "Boss" }])
        const people = yield* addPeople(
          organization,
          ["Ada", "Bob", "Cid", "Dee", "Eve"].map((name) => ({ name, status: "Lead" }))
        )
        const [ada, bob] = people
        const values = { status: "Won", phone: "555-0100", owner: admin.anchorId }
        const one = yield* admin.update("people.update", [ada!], values)
        const two = yield* admin.update("people.update", [ada!, bob!], values)
        const all = yield* admin.update("people.update", people, { status: "Lost", phone: "555-0101" })
        yield* set(
          organization,
          people,
          `status = 'Paused', status_k = 'paused', phone = '1', owner_id = ${entityId(boss!)}`
        )
        const caller = yield* callerOf(admin)
        const started = performance.now()
        const told = (draft: typeof one) =>
          failing(
            applyAs(draft, { via: VIA, writers: [caller, caller], started }) as Effect.Effect<unknown, never, Database>
          )
        const cells = (of: string) => [
          `Status${of} was Lead when you looked; it is Paused now.`,
          `Owner${of} has changed since you looked.`,
          `Phone${of} was empty when you looked; it is 1 now.`
        ]
        const stale = (...said: ReadonlyArray<string>) => ["Stale", `${said.join(" ")} Nothing was changed.`]
        expect(yield* told(one)).toEqual(stale(...cells("")))
        expect(yield* told(two)).toEqual(stale(...cells(" of Ada"), ...cells(" of Bob")))
        const four = ["Ada", "Bob", "Cid", "Dee"].flatMap((name) => cells(` of ${name}`).filter((_, at) => at !== 1))
        expect(yield* told(all)).toEqual(stale(...four))
      })
    )

    it.effect("a row that is called otherwise now, or in which something changed that isn't shown, is stale", () =>
      Effect.gen(function* () {
        const changes = [rule("update", ["status"]), rule("delete")]
        const { organization, rita, under } = yield* reping("renamed", [rule("read"), ...changes])
        const [ada, bob] = yield* addPeople(
          organization,
          ["Ada", "Bob"].map((name) => ({ name, status: "Lead" }))
        )
        const renamed = yield* rita.update("people.update", [ada!], { status: "Won" })
        const changed = yield* rita.remove("people.delete", [bob!])
        yield* set(organization, [bob!], "status_k = 'other'")
        expect(yield* failing(confirmed(rita, changed))).toEqual([
          "Stale",
          "Bob has changed since you looked: nothing was changed."
        ])
        yield* under([rule("read", ["status"]), ...changes])
        expect(yield* failing(confirmed(rita, renamed))).toEqual([
          "Stale",
          "It is called something else now: nothing was changed."
        ])
        expect(yield* rowsIn(organization)).toHaveLength(4)
      })
    )

    it.effect("a cell that the person doesn't see any more is refused by the row's name, if that is still seen", () =>
      Effect.gen(function* () {
        const changes = rule("update", ["status", "phone"])
        const { organization, rita, under } = yield* reping("unseen", [
          rule("read", ["name", "status", "phone"]),
          changes
        ])
        const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }])
        const values = { status: "Won", phone: "555-0100" }
        const [first, second] = [
          yield* rita.update("people.update", [ada!], values),
          yield* rita.update("people.update", [ada!], { ...values, status: "Lost" })
        ]
        yield* under([rule("read", ["name", "status"]), rule("read", ["phone"], { status: "Won" }), changes])
        expect(yield* failing(confirmed(rita, first))).toEqual(["NotAllowed", "You may not change phone of Ada."])
        yield* under([rule("read", ["status"]), rule("read", ["name", "phone"], { status: "Won" }), changes])
        expect(yield* failing(confirmed(rita, second))).toEqual([
          "NotAllowed",
          "You may not change phone of this person."
        ])
        expect(yield* cellOf(organization, entityId(ada!), "status")).toBe("Lead")
      })
    )

    it.effect("each of several rows is judged as it is afterwards, by what changed since, too", () =>
      Effect.gen(function* () {
        const own = { ...rule("update", ["status"]), becomes: { owner: "$me" } }
        const { organization, rita } = yield* reping("afterwards", [rule("read"), own])
        const owner = entityId(rita.anchorId)
        const people = yield* addPeople(
          organization,
          ["Ada", "Bob"].map((name) => ({ name, status: "Lead", owner }))
        )
        const [ada, bob] = people
        const draft = yield* rita.update("people.update", people, { status: "Won" })
        yield* set(organization, [bob!], "owner_id = NULL")
        expect(yield* failing(confirmed(rita, draft))).toEqual([
          "NotAllowed",
          "You may not change status of Bob to that."
        ])
        expect(yield* cellOf(organization, entityId(ada!), "status")).toBe("Lead")
        yield* set(organization, [bob!], `owner_id = ${owner}`)
        yield* confirmed(rita, yield* rita.update("people.update", people, { status: "Won" }))
        expect(yield* cellOf(organization, entityId(bob!), "status")).toBe("Won")
      })
    )

    it.effect(
      "nothing is changed by a person who may not read or change the type, or what a cell leads to, any more",
      () =>
        Effect.gen(function* () {
          const companies = rule("read", "*", {}, "companies")
          const all = [rule("read"), rule("update"), companies]
          const { admin, organization, rita, under } = yield* reping("types", all)
          const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }])
          const heron = yield* admin.create("companies.create", { name: "Heron" })
          yield* confirmed(admin, heron)
          const company = heron.preview.steps[0]!.entityId
          for (const kept of [all.slice(1), [rule("read"), companies], all.slice(0, 2)]) {
            yield* under(all)
            yield* forgetLimits(organization)
            const draft = yield* rita.update("people.update", [ada!], { status: "Won", company })
            yield* under(kept)
            expect(yield* failing(confirmed(rita, draft))).toEqual(["NotAllowed", NO_LONGER])
          }
          expect(yield* cellOf(organization, entityId(ada!), "status")).toBe("Lead")
        })
    )
  })

  describe("of a new row", () => {
    it.effect("needs each row that it refers to, as it did when it was shown", () =>
      Effect.gen(function* () {
        const open = [rule("read"), rule("create", "*", {}, "meetings"), rule("read", "*", {}, "meetings")]
        const { admin, organization, rita, under } = yield* reping("refers", open)
        const people = yield* addPeople(organization, [
          { name: "Ada", status: "Open" },
          { name: "Bob", status: "Open" }
        ])
        const [ada, bob] = people
        const meeting = (values: Readonly<Record<string, string>>) =>
          rita.create("meetings.create", { name: "Review", start: "2026-03-31 14:00", ...values })
        const both = yield* meeting({ attendees: people.join(";"), owner: ada! })
        const owned = yield* meeting({ owner: bob! })
        const attended = yield* meeting({ name: "Other", attendees: people.join(";") })
        yield* confirmed(rita, both)
        expect(yield* rowsIn(organization, "meeting_attendees")).toHaveLength(2)
        // One of them is hidden, then it is gone.
        yield* set(organization, [bob!], "status = 'Hidden', status_k = 'hidden'")
        yield* under([rule("read", "*", { not: { status: "Hidden" } }), ...open.slice(1)])
        expect(yield* failing(confirmed(rita, owned))).toEqual(["Stale", MOVED])
        yield* under(open)
        yield* confirmed(admin, yield* admin.remove("people.delete", [bob!]))
        expect(yield* failing(confirmed(rita, attended))).toEqual(["Stale", MOVED])
        expect(yield* rowsIn(organization, "meetings")).toHaveLength(1)
      })
    )

    it.effect("refers to rows that the same change adds, and an undo brings its links back with it", () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("linked")
        const steps = [{ actionId: "people.create", values: valuesOf({ name: "Cid", owner: "", company: "" }) }]
        const first = yield* admin.propose({ steps, drafted: true })
        const cid = first.preview.steps[0]!.entityId
        const meeting = {
          name: "Review",
          start: "2026-03-31 14:00",
          owner: cid,
          attendees: [cid, admin.anchorId].join(";")
        }
        const [ada] = yield* addPeople(organization, [{ name: "Ada" }])
        const draft = yield* admin.propose({
          steps: [
            { actionId: "meetings.create", values: valuesOf(meeting) },
            { actionId: "people.update", entityIds: [ada!], values: valuesOf({ owner: cid }) }
          ],
          continues: first.changeId
        })
        expect(yield* confirmed(admin, draft)).toMatchObject({
          receipt: { message: "Done: 1 person added, 1 meeting added, 1 person changed." }
        })
        expect(yield* cellOf(organization, entityId(ada!), "owner_id")).toBe(entityId(cid))
        const links = yield* rowsIn(organization, "meeting_attendees")
        expect(links).toHaveLength(2)
        const removal = yield* admin.remove("meetings.delete", [draft.preview.steps[1]!.entityId])
        yield* confirmed(admin, removal)
        expect(yield* rowsIn(organization, "meeting_attendees")).toEqual([])
        yield* confirmed(admin, yield* admin.undo(removal.changeId))
        expect(yield* rowsIn(organization, "meeting_attendees")).toEqual(links)
      })
    )

    it.effect("that an undo brings back is as it was, and refers to what it referred to, also where that is gone", () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("restored")
        const [boss] = yield* addPeople(organization, [{ name: "Boss" }])
        const [ada] = yield* addPeople(organization, [{ name: "Ada", owner: entityId(boss!) }])
        // A search key that no writer would make now.
        yield* set(organization, [ada!], "status = 'Lead', status_k = 'other'")
        const removal = yield* admin.remove("people.delete", [ada!])
        yield* confirmed(admin, removal)
        yield* confirmed(admin, yield* admin.remove("people.delete", [boss!]))
        yield* confirmed(admin, yield* admin.undo(removal.changeId))
        expect(yield* cellOf(organization, entityId(ada!), "owner_id")).toBe(entityId(boss!))
        expect(yield* cellOf(organization, entityId(ada!), "status_k")).toBe("other")
      })
    )

    it.effect("is approved only by a person who sees every cell of it, as it is then", () =>
      Effect.gen(function* () {
        const confirm = [{ action: "create", type: "people", by: "second", approvers: ["rep"] }]
        const reads = (columns: unknown, where: object = {}) => [rule("read", columns, where)]
        const { admin, organization } = yield* changing("approved-new", reads("*", { status: "Open" }), { confirm })
        const rita = yield* person(organization, "rita@approved-new.example", "rep")
        const create = Effect.fnUntraced(function* (name: string, status: string) {
          const draft = yield* admin.create("people.create", { name, status })
          yield* admin.confirm({ changeId: draft.changeId, digest: draft.preview.digest! })
          return draft
        })
        const approve = Effect.fnUntraced(function* (draft: { readonly changeId: string }) {
          const writers = [yield* callerOf(admin)] as const
          return yield* applyAs(draft, { via: VIA, writers, started: 0 }, { approver: yield* callerOf(rita) })
        })
        const refusal = (draft: { readonly changeId: string }) =>
          failing(approve(draft) as Effect.Effect<unknown, never, Effect.Services<ReturnType<typeof approve>>>)
        const [hidden, open] = [yield* create("Ada", "Closed"), yield* create("Bob", "Open")]
        expect(yield* refusal(hidden)).toEqual(["NotAllowed", UNREADABLE])
        expect(yield* approve(open)).toMatchObject({ message: "Done: 1 person added." })
        const narrow = yield* create("Cid", "Open")
        yield* publish(organization, reads(["name"]), { confirm })
        expect(yield* refusal(narrow)).toEqual(["NotAllowed", UNREADABLE])
        yield* publish(organization, [rule("read", "*", {}, "companies")], { confirm })
        expect(yield* refusal(narrow)).toEqual(["NotAllowed", UNREADABLE])
        expect(yield* rowsIn(organization)).toHaveLength(3)
      })
    )
  })

  it.effect("judges each row by the rules of now, before and after, and names it if its name was shown", () =>
    Effect.gen(function* () {
      const reads = rule("read")
      const changes = [rule("update", ["status"]), rule("create"), rule("delete")]
      const lead = { status: "Lead" }
      const { organization, rita, under } = yield* reping("judged", [reads, ...changes])
      const [ada, bob] = yield* addPeople(organization, [
        { name: "Ada", ...lead },
        { name: "Bob", status: "Won" }
      ])
      const [nameless] = yield* addPeople(organization, [{ name: "Eve", ...lead }])
      const update = yield* rita.update("people.update", [ada!], { status: "Won" })
      const create = yield* rita.create("people.create", { name: "Cid", status: "Won" })
      const remove = yield* rita.remove("people.delete", [bob!])
      yield* under([rule("read", ["status", "phone"]), rule("read", ["name"], { status: "Won" }), ...changes])
      const unnamed = yield* rita.update("people.update", [nameless!], { status: "Lost" })
      const judging = [rule("update", ["status"], lead), rule("create", "*", lead), rule("delete", "*", lead)]
      yield* under([rule("read", ["status", "phone"]), rule("read", ["name"], { status: "Won" }), ...judging])
      expect(yield* failing(confirmed(rita, unnamed))).toEqual([
        "NotAllowed",
        "You may not change status of this person to that."
      ])
      yield* under([reads, ...judging])
      expect(yield* failing(confirmed(rita, update))).toEqual([
        "NotAllowed",
        "You may not change status of Ada to that."
      ])
      expect(yield* failing(confirmed(rita, create))).toEqual(["NotAllowed", "You may not add a person like that."])
      expect(yield* failing(confirmed(rita, remove))).toEqual(["NotAllowed", "You may not delete Bob."])
      expect(yield* cellOf(organization, entityId(bob!), "name")).toBe("Bob")
    })
  )

  it.effect("is refused where a trigger keeps a row from being written or deleted, takes it away, or fails", () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* changing("triggers")
      const { owner } = yield* Database
      const [ada, bob] = yield* addPeople(organization, [
        { name: "Ada", status: "Lead" },
        { name: "Bob", status: "Lead" }
      ])
      const before = yield* rowsIn(organization)
      const update = yield* admin.update("people.update", [ada!, bob!], { status: "Won" })
      const others = yield* Effect.forEach(["A", "B", "C"], (status) =>
        admin.update("people.update", [ada!], { status })
      )
      const remove = yield* admin.remove("people.delete", [bob!])
      const create = yield* admin.create("people.create", { name: "Cid" })
      const under = Effect.fnUntraced(function* (
        when: string,
        body: string,
        draft: Parameters<typeof confirmed>[1],
        row = "NEW"
      ) {
        yield* owner.unsafe(
          `CREATE FUNCTION max.meddle() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN ${body} END $$`
        )
        yield* owner.unsafe(
          `CREATE TRIGGER meddle ${when} ON data.people FOR EACH ROW WHEN (${row}.organization_id = ${organization.id}) EXECUTE FUNCTION max.meddle()`
        )
        const refusal = yield* failing(confirmed(admin, draft))
        yield* owner.unsafe("DROP FUNCTION max.meddle() CASCADE")
        expect(yield* rowsIn(organization)).toEqual(before)
        return refusal
      })
      const one = `IF NEW.name = 'Bob' THEN RETURN NULL; END IF; RETURN NEW;`
      expect(yield* under("BEFORE UPDATE", one, update)).toEqual(["Stale", OTHERWISE])
      expect(yield* under("BEFORE DELETE", "RETURN NULL;", remove, "OLD")).toEqual(["Stale", OTHERWISE])
      expect(yield* under("BEFORE INSERT", "RETURN NULL;", create)).toEqual(["Stale", OTHERWISE])
      const away = "DELETE FROM data.people WHERE id = NEW.id AND organization_id = NEW.organization_id; RETURN NULL;"
      expect(yield* under("AFTER UPDATE", away, others[0]!)).toEqual(["Stale", OTHERWISE])
      const later = "UPDATE data.people SET status = 'D' WHERE id = NEW.id AND NEW.status <> 'D'; RETURN NULL;"
      expect(yield* under("AFTER UPDATE", later, others[2]!)).toEqual([
        "Stale",
        "The database made something else of Status: nothing was changed."
      ])
      expect((yield* under("BEFORE UPDATE", "RAISE EXCEPTION 'a secret';", others[1]!))[0]).toBe("Unavailable")
    })
  )
})
