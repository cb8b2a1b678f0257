/** A change from its proposal to its receipt, its undo and its history. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { describe, expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { entityId } from "../../../src/domain/values.ts"
import { AuditLog } from "../../../src/services/audit/AuditLog.ts"
import { Changes } from "../../../src/services/changes/Changes.ts"
import { addPeople } from "../../support/atlas.ts"
import { as, cellOf, changing, confirmed, person, publish, rowsIn, valuesOf, VIA } from "../../support/changes.ts"
import { TestServices } from "../../support/database.ts"

layer(TestServices, { excludeTestServices: true })("a change", (it) => {
  describe("of rows", () => {
    it.effect("changes nothing when it is proposed, and one cell with its key when it is confirmed", () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("one-cell")
        const [ada] = yield* addPeople(organization, [
          { name: "Ada Lovelace", status: "Lead", phone: "(617) 555-0100" }
        ])
        const before = yield* rowsIn(organization)
        const draft = yield* admin.update("people.update", [ada!], { phone: "617 555 0199" })
        expect(draft.preview).toMatchObject({
          state: "open",
          level: "once",
          complete: true,
          rows: 1,
          steps: [
            {
              actionId: "people.update",
              displayName: "Ada Lovelace",
              cells: [{ columnId: "phone", was: "(617) 555-0100", becomes: "617 555 0199" }]
            }
          ]
        })
        expect(yield* rowsIn(organization)).toEqual(before)
        const outcome = yield* confirmed(admin, draft)
        expect(outcome).toMatchObject({
          _tag: "Applied",
          receipt: { state: "applied", message: "Done: 1 person changed.", rows: 1 }
        })
        expect(yield* cellOf(organization, entityId(ada!), "phone")).toBe("617 555 0199")
        expect(yield* cellOf(organization, entityId(ada!), "phone_k")).toBe("+16175550199")
        expect(yield* cellOf(organization, entityId(ada!), "status")).toBe("Lead")
      })
    )

    it.effect("creates rows that refer to each other, in one change, with the ids that the draft gave", () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("creates")
        const first = yield* admin.propose({
          steps: [{ actionId: "companies.create", values: valuesOf({ name: "Heron Optics" }) }],
          drafted: true
        })
        const company = first.preview.steps[0]!.entityId
        const draft = yield* admin.propose({
          steps: [
            { actionId: "people.create", values: valuesOf({ name: "Bo Ek", company, owner: admin.email }) },
            {
              actionId: "meetings.create",
              values: valuesOf({ name: "Kick-off", start: "2026-03-31 14:00", attendees: admin.email })
            }
          ],
          continues: first.changeId
        })
        expect(draft.preview.steps.map(({ actionId, cells }) => [actionId, cells])).toEqual([
          ["companies.create", [{ columnId: "name", name: "Name", becomes: "Heron Optics" }]],
          [
            "people.create",
            [
              { columnId: "name", name: "Name", becomes: "Bo Ek" },
              { columnId: "owner", name: "Owner", becomes: "Admin" },
              { columnId: "company", name: "Company", becomes: "Heron Optics" }
            ]
          ],
          [
            "meetings.create",
            [
              { columnId: "name", name: "Name", becomes: "Kick-off" },
              { columnId: "start", name: "Start", becomes: "2026-03-31 14:00" },
              { columnId: "attendees", name: "Attendees", becomes: "Admin" }
            ]
          ]
        ])
        expect(yield* rowsIn(organization, "companies")).toEqual([])
        expect(yield* confirmed(admin, draft)).toMatchObject({
          receipt: { message: "Done: 1 company added, 1 person added, 1 meeting added." }
        })
        const [bo, meeting] = [draft.preview.steps[1]!.entityId, draft.preview.steps[2]!.entityId]
        expect(yield* cellOf(organization, entityId(bo), "company_id")).toBe(entityId(company))
        expect(yield* cellOf(organization, entityId(bo), "owner_id")).toBe(entityId(admin.anchorId))
        expect(yield* cellOf(organization, entityId(meeting), "start_at", "meetings")).toBe("2026-03-31 18:00:00+00")
        expect(yield* rowsIn(organization, "meeting_attendees")).toHaveLength(1)
      })
    )

    it.effect("shows of the entities that a row refers to only those that the viewer sees, and no sign of others", () =>
      Effect.gen(function* () {
        const rule = (id: string, action: string, type: string, where = {}) => ({
          id,
          effect: "allow",
          role: "rep",
          action,
          type,
          columns: "*",
          where
        })
        const { admin, organization } = yield* changing("partly", [
          rule("see-meetings", "read", "meetings"),
          rule("delete-meetings", "delete", "meetings"),
          rule("see-myself", "read", "people", { id: "$me" })
        ])
        const rep = yield* person(organization, "rep@partly.example", "rep")
        const hidden = ["one@partly.example", "two@partly.example"]
        yield* addPeople(
          organization,
          hidden.map((email) => ({ name: email, email }))
        )
        for (const attendees of [[rep.email], [rep.email, ...hidden]]) {
          const values = {
            name: "Review",
            start: "2026-03-31 14:00",
            owner: admin.email,
            attendees: attendees.join(";")
          }
          const draft = yield* admin.create("meetings.create", values)
          yield* confirmed(admin, draft)
          const { preview } = yield* rep.remove("meetings.delete", [draft.preview.steps[0]!.entityId])
          expect(preview.steps[0]!.cells).toEqual([
            { columnId: "name", name: "Name", was: "Review" },
            { columnId: "start", name: "Start", was: "2026-03-31 14:00" },
            { columnId: "attendees", name: "Attendees", was: "Rep" }
          ])
        }
      })
    )

    it.effect("deletes a row with its links after two confirmations, and leaves references to it", () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("deletes")
        const [boss] = yield* addPeople(organization, [{ name: "Boss" }])
        const [rep] = yield* addPeople(organization, [{ name: "Rep", owner: entityId(boss!) }])
        const draft = yield* admin.remove("people.delete", [boss!])
        expect(draft.preview).toMatchObject({ level: "twice", destructive: true })
        const digest = draft.preview.digest!
        expect(yield* admin.confirm({ changeId: draft.changeId, digest })).toEqual({ _tag: "Again", rows: 1 })
        const soon = yield* Effect.flip(admin.confirm({ changeId: draft.changeId, digest, rows: 1 }))
        expect(soon._tag).toBe("NotYet")
        const other = yield* Effect.flip(confirmed(admin, { ...draft, preview: { digest, rows: 7 } }))
        expect(other).toMatchObject({ message: "This changes 1 rows. Type that number to confirm it." })
        expect(yield* cellOf(organization, entityId(boss!), "name")).toBe("Boss")
        expect(yield* confirmed(admin, draft)).toMatchObject({ _tag: "Applied" })
        expect(yield* cellOf(organization, entityId(boss!), "name")).toBeUndefined()
        expect(yield* cellOf(organization, entityId(rep!), "owner_id")).toBe(entityId(boss!))
      })
    )

    it.effect("applies several rows whole or not at all, whichever of them can't be written", () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("atomic")
        const { owner } = yield* Database
        const people = yield* addPeople(
          organization,
          ["Ann", "Bob", "Cid", "Dee"].map((name) => ({ name, status: "Lead" }))
        )
        for (const [index, id] of people.entries()) {
          const draft = yield* admin.propose({
            steps: people.map((each, number) => ({
              actionId: "people.update",
              entityIds: [each],
              values: valuesOf({ status: `Won ${index} ${number}` })
            }))
          })
          yield* owner`UPDATE data.people SET status = ${`moved ${index}`} WHERE organization_id = ${organization.id} AND id = ${BigInt(entityId(id))}`
          const before = yield* rowsIn(organization)
          expect((yield* Effect.flip(confirmed(admin, draft)))._tag).toBe("Stale")
          expect(yield* rowsIn(organization)).toEqual(before)
        }
      })
    )
  })

  describe("in a conversation", () => {
    it.effect("is one change for all drafts of a turn, which the transaction that keeps the turn opens", () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("turn")
        const changes = yield* Changes
        const { app } = yield* Database
        const [ada, bob] = yield* addPeople(organization, [{ name: "Ada" }, { name: "Bob" }])
        const step = (id: string, values: Record<string, string>) => ({
          steps: [{ actionId: "people.update", entityIds: [id], values: valuesOf(values) }],
          drafted: true,
          sessionId: "s1"
        })
        const first = yield* admin.propose(step(ada!, { status: "Won" }))
        const again = yield* admin.propose({ ...step(ada!, { status: "Won" }), continues: first.changeId })
        expect(again).toMatchObject({ changeId: first.changeId, known: true })
        const second = yield* admin.propose({ ...step(ada!, { phone: "617 555 0123" }), continues: first.changeId })
        const third = yield* admin.propose({ ...step(bob!, { status: "Won" }), continues: second.changeId })
        expect(third.preview.steps.map(({ cells, displayName }) => [displayName, cells.length])).toEqual([
          ["Ada", 2],
          ["Bob", 1]
        ])
        expect(
          (yield* Effect.flip(admin.confirm({ changeId: third.changeId, digest: third.preview.digest! })))._tag
        ).toBe("UnknownName")
        expect(yield* admin.list("mine")).toEqual([])
        expect((yield* Effect.flip(admin.preview(third.changeId)))._tag).toBe("UnknownName")
        const open = changes.opening(admin.principal, VIA, [third.changeId])
        yield* app.withTransaction(open(app, { sessionId: "s1", position: 1 }))
        const preview = yield* admin.preview(third.changeId)
        expect(preview).toMatchObject({ state: "open", complete: true })
        expect(preview.seconds).toBeGreaterThan(290)
        expect(yield* admin.list("mine", "s1")).toHaveLength(1)
        expect(
          (yield* Effect.flip(admin.propose({ ...step(bob!, { phone: "1" }), continues: third.changeId })))._tag
        ).toBe("Decided")
        expect(yield* confirmed(admin, { ...third, preview })).toMatchObject({ receipt: { rows: 2 } })
      })
    )

    it.effect("leaves nothing to confirm when the transaction that keeps its turn is rolled back", () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("lost-turn")
        const changes = yield* Changes
        const { app } = yield* Database
        const [ada] = yield* addPeople(organization, [{ name: "Ada" }])
        const draft = yield* admin.propose({
          steps: [{ actionId: "people.update", entityIds: [ada!], values: valuesOf({ status: "Won" }) }],
          drafted: true
        })
        const open = changes.opening(admin.principal, VIA, [draft.changeId])
        yield* Effect.flip(app.withTransaction(Effect.andThen(open(app, undefined), Effect.fail("lost"))))
        expect(yield* admin.list("me")).toEqual([])
        expect((yield* Effect.flip(admin.preview(draft.changeId)))._tag).toBe("UnknownName")
      })
    )
  })

  describe("proposed again", () => {
    it.effect("is the same change while it is open, and another one after it was decided", () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("again")
        const [ada] = yield* addPeople(organization, [{ name: "Ada" }])
        const propose = admin.update("people.update", [ada!], { status: "Won" })
        const first = yield* propose
        expect(yield* propose).toMatchObject({ changeId: first.changeId, known: true })
        yield* admin.reject(first.changeId)
        const second = yield* propose
        expect(second.changeId).not.toBe(first.changeId)
        expect(second.known).toBe(false)
      })
    )

    it.effect(
      "with the caller's key is the same change even after it was applied, and refused for other entities or values",
      () =>
        Effect.gen(function* () {
          const { admin, organization } = yield* changing("keyed")
          const [ada, bob] = yield* addPeople(organization, [{ name: "Ada" }, { name: "Bob" }])
          const propose = (id: string, status = "Won") =>
            admin.propose({
              steps: [{ actionId: "people.update", entityIds: [id], values: valuesOf({ status }) }],
              key: "k-1"
            })
          const first = yield* propose(ada!)
          yield* confirmed(admin, first)
          expect(yield* propose(ada!)).toMatchObject({
            changeId: first.changeId,
            known: true,
            preview: { state: "applied" }
          })
          for (const other of [propose(bob!), propose(ada!, "Lost")])
            expect((yield* Effect.flip(other)).message).toBe(
              "This key belongs to another change. Use a new key for each change."
            )
        })
    )
  })

  describe("of level second", () => {
    const confirm = [{ action: "update", type: "people", columns: ["status"], by: "second", approvers: ["manager"] }]
    const reads = (role: string, columns: ReadonlyArray<string>) => ({
      id: `${role}-reads`,
      effect: "allow",
      role,
      action: "read",
      type: "people",
      columns,
      where: {}
    })

    it.effect("waits for another person with the role who sees every cell, and is applied by that person's yes", () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("second", [reads("manager", ["name", "status"])], { confirm })
        const mara = yield* person(organization, "mara@second.example", "manager")
        const rita = yield* person(organization, "rita@second.example", "rep")
        const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }])
        const draft = yield* admin.update("people.update", [ada!], { status: "Won" })
        const decision = { changeId: draft.changeId, digest: draft.preview.digest! }
        expect(draft.preview).toMatchObject({ level: "second", approvers: ["manager"] })
        expect((yield* Effect.flip(mara.confirm(decision)))._tag).toBe("UnknownName")
        expect(yield* admin.confirm(decision)).toEqual({ _tag: "Waiting", approvers: ["manager"] })
        expect(yield* admin.confirm(decision)).toMatchObject({ _tag: "Waiting" })
        expect(yield* cellOf(organization, entityId(ada!), "status")).toBe("Lead")
        expect((yield* Effect.flip(rita.confirm(decision)))._tag).toBe("UnknownName")
        expect(yield* mara.list("me")).toMatchObject([{ changeId: draft.changeId, state: "waiting" }])
        expect(yield* rita.list("me")).toEqual([])
        const preview = yield* mara.preview(draft.changeId)
        expect(preview).toMatchObject({ complete: true, digest: decision.digest, state: "waiting" })
        expect(preview.seconds).toBeGreaterThan(71 * 3600)
        expect(yield* mara.confirm(decision)).toMatchObject({ _tag: "Applied", receipt: { by: mara.anchorId } })
        expect(yield* mara.list("me")).toEqual([])
        expect(yield* cellOf(organization, entityId(ada!), "status")).toBe("Won")
        const log = yield* (yield* AuditLog).list(organization, { chain: "changes", action: "change.", limit: 9 })
        expect(log.map(({ action }) => action)).toEqual(["change.applied", "change.approved"])
      })
    )

    it.effect("can't be approved by a person who doesn't see a cell that it changes, also without the preview", () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("blind", [reads("manager", ["name"])], { confirm })
        const mara = yield* person(organization, "mara@blind.example", "manager")
        const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }])
        const draft = yield* admin.update("people.update", [ada!], { status: "Won" })
        const decision = { changeId: draft.changeId, digest: draft.preview.digest! }
        yield* admin.confirm(decision)
        const preview = yield* mara.preview(draft.changeId)
        expect(preview.complete).toBe(false)
        expect(preview.digest).toBeUndefined()
        expect(preview.steps).toMatchObject([{ displayName: "Ada", cells: [] }])
        expect(yield* Effect.flip(mara.confirm(decision))).toMatchObject({ _tag: "NotAllowed" })
        expect(yield* cellOf(organization, entityId(ada!), "status")).toBe("Lead")
      })
    )

    it.effect("can be rejected by the approver, whose decision is in the audit log without values", () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("rejected", [reads("manager", ["name", "status"])], { confirm })
        const mara = yield* person(organization, "mara@rejected.example", "manager")
        const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Canary-was" }])
        const draft = yield* admin.update("people.update", [ada!], { status: "Canary-becomes" })
        const decision = { changeId: draft.changeId, digest: draft.preview.digest! }
        yield* admin.confirm(decision)
        yield* mara.reject(draft.changeId)
        expect(yield* Effect.flip(mara.confirm(decision))).toMatchObject({ _tag: "Decided", state: "rejected" })
        expect(yield* Effect.flip(admin.confirm(decision))).toMatchObject({ _tag: "Decided" })
        const log = yield* (yield* AuditLog).list(organization, { chain: "changes", limit: 50 })
        expect(log[0]).toMatchObject({
          action: "change.rejected",
          actor: mara.anchorId,
          details: { digest: decision.digest, proposer: admin.anchorId, columns: ["status"], rows: 1 }
        })
        expect(JSON.stringify(log, (_, value) => (typeof value === "bigint" ? String(value) : value))).not.toContain(
          "Canary"
        )
        const events = yield* admin.events(draft.changeId)
        expect(events.map(({ phase }) => phase)).toEqual(["resolved", "planned", "opened", "confirmed", "rejected"])
        const { owner } = yield* Database
        const kept =
          yield* owner`SELECT c.begun, e.detail FROM max.changes c JOIN max.change_events e USING (organization_id, change_id)
          WHERE c.organization_id = ${organization.id}`
        expect(kept).toHaveLength(2)
        expect(JSON.stringify([events, kept])).not.toContain("Canary")
      })
    )
  })

  describe("afterwards", () => {
    it.effect("is in the row's history under the reader's plan of now, until its values are erased", () =>
      Effect.gen(function* () {
        const rep = ["name", "status"]
        const { admin, organization } = yield* changing("history", [
          { id: "rep-reads", effect: "allow", role: "rep", action: "read", type: "people", columns: rep, where: {} }
        ])
        const rita = yield* person(organization, "rita@history.example", "rep")
        const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead", phone: "617 555 0100" }])
        yield* confirmed(admin, yield* admin.update("people.update", [ada!], { status: "Won", phone: "617 555 0111" }))
        expect(yield* admin.history("people", ada!)).toMatchObject([
          {
            actionId: "people.update",
            proposer: admin.anchorId,
            channel: "test",
            columnIds: ["status", "phone"],
            cells: [
              { columnId: "status", was: "Lead", becomes: "Won" },
              { columnId: "phone", was: "617 555 0100", becomes: "617 555 0111" }
            ]
          }
        ])
        expect(yield* rita.history("people", ada!)).toMatchObject([
          { columnIds: ["status"], cells: [{ columnId: "status", was: "Lead", becomes: "Won" }] }
        ])
        const { owner } = yield* Database
        const changes = yield* Changes
        const audit = yield* AuditLog
        expect(yield* changes.tidy(organization.id)).toEqual({ expired: 0, erased: 0 })
        yield* owner`UPDATE max.changes SET decided_at = decided_at - interval '91 days' WHERE organization_id = ${organization.id}`
        expect(yield* changes.tidy(organization.id)).toEqual({ expired: 0, erased: 1 })
        const [entry] = yield* admin.history("people", ada!)
        expect(entry).toMatchObject({ columnIds: ["status", "phone"], proposer: admin.anchorId })
        expect(entry!.cells).toBeUndefined()
        const [stored] =
          yield* owner`SELECT digest IS NOT NULL AS kept, document FROM max.changes WHERE organization_id = ${organization.id}`
        expect(stored).toEqual({ kept: true, document: null })
        expect((yield* audit.verify(organization)).map(({ broken }) => broken)).toEqual([undefined, undefined])
        const undo = yield* Effect.flip(admin.undo(entry!.changeId))
        expect(undo).toMatchObject({ _tag: "Decided", message: "The values of this change aren't kept any more." })
      })
    )

    it.effect("shows old values only to a viewer who may read them now", () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("later")
        const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }])
        const draft = yield* admin.update("people.update", [ada!], { status: "Won" })
        yield* publish(organization, [
          { id: "no", effect: "deny", role: "admin", action: "read", type: "people", columns: ["status"], where: {} }
        ])
        const preview = yield* admin.preview(draft.changeId)
        expect(preview).toMatchObject({ complete: false, steps: [{ cells: [] }] })
        expect(preview.digest).toBeUndefined()
        const refusal = yield* Effect.flip(admin.confirm({ changeId: draft.changeId, digest: draft.preview.digest! }))
        expect(refusal).toMatchObject({ _tag: "NotAllowed" })
        expect(yield* cellOf(organization, entityId(ada!), "status")).toBe("Lead")
      })
    )

    it.effect("expires in the list and in a preview once its time is over", () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("expired")
        const { owner } = yield* Database
        const changes = yield* Changes
        const [ada] = yield* addPeople(organization, [{ name: "Ada" }])
        const draft = yield* admin.update("people.update", [ada!], { status: "Won" })
        yield* owner`UPDATE max.changes SET expires_at = clock_timestamp() WHERE organization_id = ${organization.id}`
        expect(yield* admin.list("mine")).toMatchObject([{ state: "expired" }])
        expect(yield* admin.list("me")).toEqual([])
        expect((yield* admin.preview(draft.changeId)).digest).toBeUndefined()
        expect(yield* changes.tidy(organization.id)).toMatchObject({ expired: 1 })
        expect((yield* admin.update("people.update", [ada!], { status: "Won" })).changeId).not.toBe(draft.changeId)
      })
    )
  })

  it.effect("writes rows as a role that has no right to memberships, credentials or policies", () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* changing("narrow-role")
      const { app, changeRole, owner } = yield* Database
      const [ada] = yield* addPeople(organization, [{ name: "Ada" }])
      yield* owner.unsafe("CREATE TABLE public.writers (role text)")
      yield* owner.unsafe("GRANT INSERT ON public.writers TO PUBLIC")
      yield* owner.unsafe("GRANT USAGE ON SCHEMA public TO PUBLIC")
      yield* owner.unsafe(
        `CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.writers VALUES (current_user); RETURN NEW; END $$`
      )
      yield* owner.unsafe(
        `CREATE TRIGGER note AFTER UPDATE ON data.people FOR EACH ROW WHEN (NEW.organization_id = ${organization.id}) EXECUTE FUNCTION public.note()`
      )
      yield* confirmed(admin, yield* admin.update("people.update", [ada!], { status: "Won" }))
      expect(yield* owner`SELECT role FROM public.writers`).toEqual([{ role: changeRole }])
      expect(changeRole).toMatch(/^max_change_[0-9a-f]{8}$/)
      yield* owner.unsafe("DROP FUNCTION public.note() CASCADE")
      for (const statement of [
        "UPDATE max.memberships SET roles = '{admin}'",
        "INSERT INTO max.policies SELECT * FROM max.policies",
        "SELECT * FROM max.credentials",
        "UPDATE max.changes SET state = 'applied'",
        "DELETE FROM builder.columns",
        "CREATE TABLE data.x (id int)"
      ]) {
        const refusal = yield* Effect.flip(
          app.withTransaction(
            Effect.andThen(app`SELECT set_config('role', ${changeRole!}, true)`, app.unsafe(statement).unprepared)
          )
        )
        expect(refusal.reason._tag).toBe("AuthorizationError")
      }
      const events = yield* Effect.flip(app.unsafe("UPDATE max.change_events SET outcome = 'x'"))
      expect(events.reason._tag).toBe("AuthorizationError")
    })
  )

  it.effect("of a caller whose agent or token narrows it needs both, also when the person confirms alone", () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* changing("narrowed")
      const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }])
      const scope = ["read", "update"].map((action) => ({ type: "people", action, columns: ["name", "status"] }))
      const token = yield* as({ ...admin.principal, scope })
      expect((yield* token.actions).map(({ action, columns }) => [action.slug, columns])).toEqual([
        ["people.update", ["name", "status"]]
      ])
      expect((yield* Effect.flip(token.update("people.update", [ada!], { phone: "617 555 0100" })))._tag).toBe(
        "UnknownName"
      )
      const agent = yield* as({ ...admin.principal, actor: { id: "agent", roles: ["rep"], attributes: {} } })
      expect((yield* Effect.flip(agent.update("people.update", [ada!], { status: "Won" })))._tag).toBe("UnknownName")
      const draft = yield* token.update("people.update", [ada!], { status: "Won" })
      const { owner } = yield* Database
      yield* owner`UPDATE max.changes SET scope = '[]' WHERE organization_id = ${organization.id}`
      expect((yield* Effect.flip(confirmed(admin, draft)))._tag).toBe("NotAllowed")
      expect(yield* cellOf(organization, entityId(ada!), "status")).toBe("Lead")
    })
  )
})
