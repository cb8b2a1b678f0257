/** What a confirmed change leaves behind, each whole: its receipt, its steps, its events and its audit records. */
import { layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { expect } from "vitest"
import { appendAudit } from "../../../src/database/audit.ts"
import { Database } from "../../../src/database/Database.ts"
import type { ChangeDocument } from "../../../src/domain/Change.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { entityId } from "../../../src/domain/values.ts"
import { Actions } from "../../../src/services/actions/Actions.ts"
import { AuditLog } from "../../../src/services/audit/AuditLog.ts"
import { auditDetails, type Deciding } from "../../../src/services/changes/apply.ts"
import { canonicalJson, sha256 } from "../../../src/services/changes/document.ts"
import { addPeople } from "../../support/atlas.ts"
import {
  applyAs,
  as,
  callerOf,
  cellOf,
  changing,
  confirmed,
  forgetLimits,
  person,
  publish,
  readsPeople,
  valuesOf
} from "../../support/changes.ts"
import { TestServices } from "../../support/database.ts"
import { fileOf } from "../../support/service.ts"

const HOST = "orders.example"
const Configured = Actions.layer({ hosts: [HOST], secretOf: () => Effect.fail({ message: "no such secret" }) }).pipe(
  Layer.provideMerge(TestServices)
)
const VIA = { channel: "test", credentialId: "credential" }
const AT = expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string
const INVOKE = { id: "buys", effect: "allow", role: "admin", action: "invoke", name: "set_quantity" }
const ORDER = { actionId: "set_quantity", values: valuesOf({ order: "4500000001", quantity: "44" }) }

type Draft = Parameters<typeof applyAs>[0]

const DAY = 86_400_000
/** Applies a change with the callers that are given, ten days after the confirmation has begun. */
const applied = (draft: Draft, writers: Deciding["writers"], rest: Parameters<typeof applyAs>[2] = {}) =>
  applyAs(draft, { via: VIA, writers, started: performance.now() - 10 * DAY }, rest)

/** What is stored of a change beside its document. */
const kept = Effect.fnUntraced(function* ({ id }: Organization, { changeId }: Draft) {
  const { owner } = yield* Database
  const [change] = yield* owner<{
    receipt: object | null
  }>`SELECT state, decided_by, decided_channel, made, undone_by, receipt FROM max.changes
    WHERE organization_id = ${id} AND change_id = ${changeId}`
  const steps =
    yield* owner`SELECT s.step, s.action_key, s.action_version, s.type_key, s.entity_id, s.columns, s.applied_at = c.decided_at AS at_once
    FROM max.change_steps s JOIN max.changes c USING (organization_id, change_id)
    WHERE s.organization_id = ${id} AND s.change_id = ${changeId} ORDER BY s.step`
  const events = yield* owner<{
    ms: number | null
  }>`SELECT phase, outcome, who, credential_id, channel, ms, detail FROM max.change_events
    WHERE organization_id = ${id} AND change_id = ${changeId} ORDER BY sequence`
  const audit = yield* owner<{ details: string }>`SELECT chain, actor, action, details FROM max.audit_log
    WHERE organization_id = ${id} AND subject = ${changeId} ORDER BY sequence`
  const timed = events.map(({ ms, ...rest }) => ({
    ...rest,
    ms: ms !== null && ms >= 10 * DAY && ms < 11 * DAY ? "since the confirmation began" : ms
  }))
  return {
    change,
    steps,
    events: timed,
    audit: audit.map((one) => ({ ...one, details: JSON.parse(one.details) as unknown }))
  }
})

const versionOf = Effect.fnUntraced(function* ({ id }: Organization) {
  const { owner } = yield* Database
  const [row] = yield* owner<{ version: bigint }>`SELECT version FROM max.data_versions WHERE organization_id = ${id}`
  return row?.version
})

const event = (who: string, phase: string, rest: object = {}) => ({
  phase,
  outcome: "ok",
  who,
  credential_id: "credential",
  channel: "test",
  ms: null,
  detail: {},
  ...rest
})
const appliedEvent = (who: string, rows: number) =>
  event(who, "applied", { ms: "since the confirmation began", detail: { rows } })

layer(Configured, { excludeTestServices: true })("a confirmed change", (it) => {
  it.effect("leaves a receipt, steps, events and one audit record, which name rows and columns and no value", () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* changing("recorded")
      const [ada, bob, cid] = yield* addPeople(
        organization,
        ["Ada", "Bob", "Cid"].map((name) => ({ name, status: "Lead" }))
      )
      const draft = yield* admin.propose({
        steps: [
          {
            actionId: "people.update",
            entityIds: [ada!, bob!],
            values: valuesOf({ status: "Won", phone: "555-0100" })
          },
          { actionId: "companies.create", values: valuesOf({ status: "New", name: "Heron" }) },
          { actionId: "people.update", entityIds: [cid!], values: valuesOf({ email: "cid@x.example" }) }
        ]
      })
      const who = admin.anchorId
      const heron = draft.preview.steps[2]!.entityId
      const before = yield* versionOf(organization)
      const receipt = {
        state: "applied",
        message: "Done: 3 people changed, 1 company added.",
        rows: 4,
        at: AT,
        by: who,
        entities: [
          { actionId: "people.update", entityTypeId: "people", entityId: ada },
          { actionId: "people.update", entityTypeId: "people", entityId: bob },
          { actionId: "companies.create", entityTypeId: "companies", entityId: heron },
          { actionId: "people.update", entityTypeId: "people", entityId: cid }
        ]
      }
      const done = yield* applied(draft, [yield* callerOf(admin)])
      expect(done).toEqual(receipt)
      expect((yield* admin.preview(draft.changeId)).receipt).toEqual(done)
      expect((yield* Effect.flip(applied(draft, [yield* callerOf(admin)])))._tag).toBe("NotClaimed")
      expect(yield* versionOf(organization)).not.toEqual(before)
      const step = (number: number, key: string, entity: string, columns: ReadonlyArray<string>) => ({
        step: number,
        action_key: key,
        action_version: 1,
        type_key: key.split(".")[0],
        entity_id: entityId(entity),
        columns,
        at_once: true
      })
      expect(yield* kept(organization, draft)).toEqual({
        change: { state: "applied", decided_by: who, decided_channel: "test", made: null, undone_by: null, receipt },
        steps: [
          step(1, "people.update", ada!, ["phone", "status"]),
          step(2, "people.update", bob!, ["phone", "status"]),
          step(3, "companies.create", heron, ["name", "status"]),
          step(4, "people.update", cid!, ["email"])
        ],
        events: [event(who, "confirmed"), appliedEvent(who, 4)],
        audit: [
          {
            chain: "changes",
            actor: who,
            action: "change.applied",
            details: {
              digest: draft.preview.digest,
              proposer: who,
              decider: who,
              actions: ["people.update", "companies.create"],
              columns: ["email", "name", "phone", "status"],
              rows: 4
            }
          }
        ]
      })
      const one = yield* admin.update("people.update", [ada!], { status: "Lost" })
      expect((yield* applied(one, [yield* callerOf(admin)])).message).toBe("Done: 1 person changed.")
    })
  )

  it.effect("of level second leaves the approver's event and an audit record of the approval before its own", () =>
    Effect.gen(function* () {
      const confirm = [{ action: "update", type: "people", columns: ["status"], by: "second", approvers: ["manager"] }]
      const { admin, organization } = yield* changing("recorded-second", [readsPeople("manager")], { confirm })
      const mara = yield* person(organization, "mara@recorded-second.example", "manager")
      const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }])
      const draft = yield* admin.update("people.update", [ada!], { status: "Won" })
      yield* admin.confirm({ changeId: draft.changeId, digest: draft.preview.digest! })
      const asked = (yield* kept(organization, draft)).events
      const done = yield* applied(draft, [yield* callerOf(admin)], { approver: yield* callerOf(mara) })
      const by = mara.anchorId
      expect(done).toMatchObject({ message: "Done: 1 person changed.", by })
      const { audit, change, events } = yield* kept(organization, draft)
      expect(change).toMatchObject({ state: "applied", decided_by: by })
      expect(events).toEqual([...asked, event(by, "approved"), appliedEvent(by, 1)])
      const details = {
        digest: draft.preview.digest,
        proposer: admin.anchorId,
        decider: by,
        actions: ["people.update"],
        columns: ["status"],
        rows: 1
      }
      expect(audit).toEqual(
        ["change.approved", "change.applied"].map((action) => ({ chain: "changes", actor: by, action, details }))
      )
    })
  )

  it.effect("that undoes another one is recorded as an undo, and is an event of the one that it undoes", () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* changing("recorded-undo")
      const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }])
      const draft = yield* admin.update("people.update", [ada!], { status: "Won" })
      yield* applied(draft, [yield* callerOf(admin)])
      const before = yield* kept(organization, draft)
      const undo = yield* admin.undo(draft.changeId)
      yield* applied(undo, [yield* callerOf(admin)])
      const who = admin.anchorId
      expect(yield* kept(organization, draft)).toEqual({
        ...before,
        change: { ...before.change, undone_by: undo.changeId },
        events: [...before.events, event(who, "undone")]
      })
      const { audit, events } = yield* kept(organization, undo)
      expect(events).toEqual([event(who, "confirmed"), appliedEvent(who, 1)])
      const details = {
        digest: undo.preview.digest,
        proposer: who,
        decider: who,
        actions: ["people.update"],
        columns: ["status"],
        rows: 1,
        undoes: draft.changeId
      }
      expect(audit).toEqual([{ chain: "changes", actor: who, action: "change.undone", details }])
    })
  )

  it.effect("of another system's actions counts them as rows, and leaves the version of the data", () =>
    Effect.gen(function* () {
      const { admin: before, organization } = yield* changing("recorded-calls", [INVOKE])
      yield* (yield* Actions).publish(organization, fileOf(`https://${HOST}`), "test")
      const admin = yield* as(before.principal)
      const who = before.anchorId
      const draft = yield* admin.propose({ steps: [ORDER] })
      const version = yield* versionOf(organization)
      const receipt = { state: "applied", message: "Confirmed.", rows: 1, calls: 1, at: AT, by: who, entities: [] }
      expect(yield* applied(draft, [yield* callerOf(admin)])).toEqual(receipt)
      expect(yield* versionOf(organization)).toEqual(version)
      const { audit, events, steps } = yield* kept(organization, draft)
      expect([steps, events]).toEqual([[], [event(who, "confirmed"), appliedEvent(who, 0)]])
      const details = { digest: draft.preview.digest, proposer: who, decider: who, columns: [] }
      expect(audit).toMatchObject([{ details: { ...details, actions: ["set_quantity"], rows: 1 } }])
      // With rows, both are counted.
      const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }])
      const both = yield* admin.propose({
        steps: [{ actionId: "people.update", entityIds: [ada!], values: valuesOf({ status: "Won" }) }, ORDER]
      })
      expect(yield* applied(both, [yield* callerOf(admin)])).toEqual({
        ...receipt,
        message: "Done: 1 person changed.",
        rows: 2,
        entities: [{ actionId: "people.update", entityTypeId: "people", entityId: ada }]
      })
      expect((yield* kept(organization, both)).audit).toMatchObject([
        { details: { actions: ["people.update", "set_quantity"], columns: ["status"], rows: 2 } }
      ])
      const { owner } = yield* Database
      expect(
        yield* owner`SELECT change_id, action FROM max.change_outbox WHERE organization_id = ${organization.id}`
      ).toEqual([
        { change_id: draft.changeId, action: "set_quantity" },
        { change_id: both.changeId, action: "set_quantity" }
      ])
    })
  )

  it.effect("says by name what it doesn't take back of the change that it undoes", () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* changing("recorded-remains")
      const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }])
      const draft = yield* admin.update("people.update", [ada!], { status: "Won" })
      const { owner } = yield* Database
      const [row] = yield* owner<{
        document: string
      }>`SELECT document FROM max.changes WHERE change_id = ${draft.changeId}`
      const remains = ["Notify the supplier", "Print a label"]
      const document = canonicalJson({ ...(JSON.parse(row!.document) as object), remains })
      yield* owner`UPDATE max.changes SET document = ${document}, digest = decode(${sha256(document)}, 'hex') WHERE change_id = ${draft.changeId}`
      expect((yield* applied(draft, [yield* callerOf(admin)])).message).toBe(
        "Done: 1 person changed. “Notify the supplier” wasn't taken back. “Print a label” wasn't taken back."
      )
    })
  )

  it.effect("waits for another record of the organization, and continues the chain after it", () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* changing("recorded-after")
      const { owner } = yield* Database
      const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }])
      const draft = yield* admin.update("people.update", [ada!], { status: "Won" })
      const caller = yield* callerOf(admin)
      const applying = yield* owner.withTransaction(
        Effect.gen(function* () {
          yield* appendAudit(owner, organization.id, "changes", [
            { actor: "test", action: "change.other", subject: "x" }
          ])
          const fiber = yield* Effect.forkDetach(Effect.result(applied(draft, [caller])))
          const waits = owner`SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
            AND application_name = 'max changes' AND wait_event_type = 'Lock'`
          yield* Effect.repeat(waits, { until: (rows) => rows.length > 0 })
          return fiber
        })
      )
      expect(yield* Fiber.join(applying)).toMatchObject({ _tag: "Success", success: { by: admin.anchorId } })
      const audit = yield* AuditLog
      expect((yield* audit.verify(organization)).map(({ broken }) => broken)).toEqual([undefined, undefined])
      const log = yield* audit.list(organization, { chain: "changes", action: "change.", limit: 9 })
      expect(log.map(({ subject }) => subject)).toEqual([draft.changeId, "x"])
    })
  )

  it.effect("beside others of the organization continues one chain of audit records", () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* changing("recorded-at-once")
      const people = yield* addPeople(
        organization,
        Array.from({ length: 8 }, (_, at) => ({ name: `P${at}`, status: "Lead" }))
      )
      const drafts = yield* Effect.forEach(people, (id) => admin.update("people.update", [id], { status: "Won" }))
      const caller = yield* callerOf(admin)
      yield* Effect.forEach(drafts, (draft) => applied(draft, [caller]), { concurrency: "unbounded" })
      const audit = yield* AuditLog
      expect((yield* audit.verify(organization)).map(({ broken }) => broken)).toEqual([undefined, undefined])
      const log = yield* audit.list(organization, { chain: "changes", action: "change.", limit: 20 })
      expect(log.map(({ subject }) => subject).toSorted()).toEqual(drafts.map(({ changeId }) => changeId).toSorted())
    })
  )
})

layer(Configured, { excludeTestServices: true })("a confirmation", (it) => {
  const failing = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.map(Effect.flip(effect), (error) => [error._tag, (error as { readonly message?: string }).message])

  it.effect("applies nothing of a change whose type is gone, whose values are erased, or whose organization is", () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* changing("gone")
      const { owner } = yield* Database
      const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }])
      const draft = yield* admin.update("people.update", [ada!], { status: "Won" })
      const caller = yield* callerOf(admin)
      const { catalog } = caller
      const without = { ...catalog, types: catalog.types.filter(({ slug }) => slug !== "people") }
      expect(yield* failing(applied(draft, [{ ...caller, catalog: without }]))).toEqual([
        "Stale",
        "The columns of this type have changed since you looked: nothing was changed."
      ])
      const elsewhere = { ...catalog, organization: { ...catalog.organization, id: 999_999n } }
      expect((yield* failing(applied(draft, [{ ...caller, catalog: elsewhere }])))[0]).toBe("StalePlan")
      expect(yield* cellOf(organization, entityId(ada!), "status")).toBe("Lead")
      yield* owner`UPDATE max.changes SET document = NULL WHERE change_id = ${draft.changeId}`
      expect((yield* failing(applied(draft, [caller])))[0]).toBe("NotClaimed")
      expect((yield* admin.preview(draft.changeId)).state).toBe("open")
    })
  )

  it.effect("applies nothing when the second of two writers was planned from another state than the first", () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* changing("writers")
      const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }])
      const draft = yield* admin.update("people.update", [ada!], { status: "Won" })
      const earlier = yield* callerOf(admin)
      yield* publish(organization, [INVOKE])
      const now = yield* callerOf(admin)
      for (const writers of [
        [now, earlier],
        [earlier, now]
      ] as const)
        expect((yield* failing(applied(draft, writers)))[0]).toBe("StalePlan")
      expect((yield* failing(applied(draft, [now], { approver: earlier })))[0]).toBe("StalePlan")
      expect(yield* cellOf(organization, entityId(ada!), "status")).toBe("Lead")
      yield* applied(draft, [now, now])
      expect(yield* cellOf(organization, entityId(ada!), "status")).toBe("Won")
    })
  )

  it.effect("needs the action of another system for each writer, in the version that was shown", () =>
    Effect.gen(function* () {
      const rep = { ...INVOKE, id: "rep-buys", role: "rep" }
      const { admin: before, organization } = yield* changing("versions", [INVOKE, rep])
      const actions = yield* Actions
      yield* actions.publish(organization, fileOf(`https://${HOST}`), "test")
      const admin = yield* as(before.principal)
      const agent = yield* as({ ...before.principal, actor: { id: "agent", roles: ["rep"], attributes: {} } })
      const draft = yield* admin.propose({ steps: [ORDER] })
      const both = Effect.all([callerOf(agent), callerOf(admin)])
      yield* publish(organization, [INVOKE])
      const lost = ["NotAllowed", "You may not use this action any more: nothing was changed."]
      expect(yield* failing(applied(draft, yield* both))).toEqual(lost)
      expect(yield* failing(applied(draft, (yield* both).toReversed() as never))).toEqual(lost)
      const cancels = ["admin", "rep"].map((role) => ({ ...INVOKE, id: `${role}-cancels`, role, name: "cancel" }))
      yield* publish(organization, [INVOKE, rep, ...cancels])
      const file = JSON.parse(fileOf(`https://${HOST}`)) as { actions: ReadonlyArray<object> }
      const other = { ...file.actions[0], slug: "cancel" }
      yield* actions.publish(organization, JSON.stringify({ ...file, actions: [other, ...file.actions] }), "test")
      yield* applied(draft, yield* both)
      const next = yield* admin.propose({ steps: [{ ...ORDER, values: valuesOf({ order: "1", quantity: "2" }) }] })
      yield* actions.publish(organization, fileOf(`https://${HOST}`, { seconds: 20 }), "test")
      expect(yield* failing(applied(next, yield* both))).toEqual([
        "Stale",
        "The action has been published anew since you looked: nothing was changed."
      ])
      yield* actions.retire(organization, "set_quantity", "test")
      expect(yield* failing(applied(next, yield* both))).toEqual(lost)
      const newer = { ...(yield* callerOf(admin)), newerActions: ["set_quantity"] }
      const waits = ["NotYet", expect.stringMatching(/^set_quantity isn't available here/)]
      expect(yield* failing(applied(next, [yield* callerOf(admin), newer]))).toEqual(waits)
    })
  )

  it.effect("changes and deletes rows as the narrow role, and as the service where the server has no such role", () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* changing("roles")
      const { changeRole, changes, owner } = yield* Database
      for (const statement of [
        "CREATE TABLE public.written (name text, role text)",
        "GRANT USAGE ON SCHEMA public TO PUBLIC",
        "GRANT INSERT ON public.written TO PUBLIC",
        "CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.written VALUES (OLD.name, current_user); RETURN OLD; END $$",
        `CREATE TRIGGER note AFTER UPDATE OR DELETE ON data.people FOR EACH ROW WHEN (OLD.organization_id = ${organization.id}) EXECUTE FUNCTION public.note()`
      ])
        yield* owner.unsafe(statement)
      const written: Array<object> = []
      const [service] = yield* changes<{ role: string }>`SELECT current_user AS role`
      for (const role of [changeRole, undefined]) {
        const [ada, bob] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }, { name: "Bob" }])
        const writers = [yield* callerOf(admin)] as const
        yield* applied(yield* admin.update("people.update", [ada!], { status: "Won" }), writers, { changeRole: role })
        const removal = yield* admin.remove("people.delete", [bob!])
        yield* owner`UPDATE max.changes SET yes_at = clock_timestamp() - interval '2 seconds' WHERE change_id = ${removal.changeId}`
        yield* applied(removal, writers, { changeRole: role })
        expect(yield* cellOf(organization, entityId(ada!), "status")).toBe("Won")
        expect(yield* cellOf(organization, entityId(bob!), "name")).toBeUndefined()
        for (const name of ["Ada", "Bob"]) written.push({ name, role: role ?? service!.role })
      }
      expect(yield* owner`SELECT name, role FROM public.written`).toEqual(written)
      yield* owner.unsafe("DROP FUNCTION public.note() CASCADE")
    })
  )

  it.effect("sets a reference to a row that is gone only where an undo restores it", () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* changing("dangling")
      const [boss, next] = yield* addPeople(organization, [{ name: "Boss" }, { name: "Next" }])
      const [ada] = yield* addPeople(organization, [{ name: "Ada", owner: entityId(boss!) }])
      const to = (owner: string) => admin.update("people.update", [ada!], { owner })
      const moved = yield* to(next!)
      yield* confirmed(admin, moved)
      const back = yield* admin.update("people.update", [ada!], { owner: boss!, status: "Won" })
      yield* confirmed(admin, yield* admin.remove("people.delete", [boss!]))
      yield* forgetLimits(organization)
      expect(yield* failing(confirmed(admin, back))).toEqual([
        "Stale",
        "What you looked at isn't there any more: nothing was changed."
      ])
      expect(yield* cellOf(organization, entityId(ada!), "owner_id")).toBe(entityId(next!))
      yield* confirmed(admin, yield* admin.undo(moved.changeId))
      expect(yield* cellOf(organization, entityId(ada!), "owner_id")).toBe(entityId(boss!))
    })
  )

  it.effect("of a publication is recorded by the digest of the policy, without rows, columns or its text", () =>
    Effect.sync(() => {
      const document: ChangeDocument = {
        v: 2,
        organization: "1",
        change: "c",
        proposer: "p",
        steps: [],
        publishes: { replaces: 3, sha256: "s", text: "canary" },
        level: "second"
      }
      expect(auditDetails(document, "d", "q")).toEqual({
        digest: "d",
        proposer: "p",
        decider: "q",
        actions: ["policy.publish"],
        columns: [],
        rows: 0,
        policy: "s"
      })
    })
  )
})
