/** Confirmations at the same time, at the end of a change's time, and beside other writers; limits over two processes. */
import { layer } from "@effect/vitest"
import { Effect, Fiber, Layer, ManagedRuntime } from "effect"
import { describe, expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { Env } from "../../../src/env.ts"
import { ConfiguredDatabase, Services } from "../../../src/layers.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { entityId } from "../../../src/domain/values.ts"
import { addPeople } from "../../support/atlas.ts"
import { as, cellOf, changing, confirmed, forgetLimits, person, readsPeople, rowsIn } from "../../support/changes.ts"
import { envFor, migratedDatabase, TestServices } from "../../support/database.ts"

layer(TestServices, { excludeTestServices: true })("a change", (it) => {
  describe("confirmed fifty times at once", () => {
    it.effect("is applied once, and every confirmation gets the same receipt", () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("fifty")
        const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }])
        const draft = yield* admin.update("people.update", [ada!], { status: "Won" })
        const confirm = admin.confirm({ changeId: draft.changeId, digest: draft.preview.digest! })
        const outcomes = yield* Effect.all(
          Array.from({ length: 50 }, () => confirm),
          { concurrency: "unbounded" }
        )
        expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1)
        expect(outcomes[0]).toMatchObject({ _tag: "Applied" })
        const { owner } = yield* Database
        const applied =
          yield* owner`SELECT count(*)::int AS n FROM max.change_events WHERE organization_id = ${organization.id} AND phase = 'applied'`
        expect(applied).toEqual([{ n: 1 }])
      })
    )

    it.effect("by two approvers is applied once, and of two changes of one cell the second is stale", () =>
      Effect.gen(function* () {
        const confirm = [{ action: "update", type: "people", by: "second", approvers: ["manager"] }]
        const { admin, organization } = yield* changing("approvers", [readsPeople("manager")], { confirm })
        const first = yield* person(organization, "one@approvers.example", "manager")
        const second = yield* person(organization, "two@approvers.example", "manager")
        const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }])
        const [won, lost] = [
          yield* admin.update("people.update", [ada!], { status: "Won" }),
          yield* admin.update("people.update", [ada!], { status: "Lost" })
        ]
        for (const draft of [won, lost]) yield* confirmed(admin, draft)
        const decision = { changeId: won.changeId, digest: won.preview.digest! }
        const outcomes = yield* Effect.all(
          Array.from({ length: 25 }, () => [first.confirm(decision), second.confirm(decision)]).flat(),
          { concurrency: "unbounded" }
        )
        expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1)
        expect((yield* Effect.flip(confirmed(first, lost)))._tag).toBe("Stale")
        expect(yield* Effect.flip(confirmed(first, lost))).toMatchObject({ _tag: "Decided", state: "stale" })
        expect(yield* cellOf(organization, entityId(ada!), "status")).toBe("Won")
      })
    )
  })

  describe("at the end of its time", () => {
    it.effect("is judged by the database's clock, to the millisecond, inside the claim", () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("clock")
        const { owner } = yield* Database
        const [ada, bob] = yield* addPeople(organization, [
          { name: "Ada", status: "Lead" },
          { name: "Bob", status: "Lead" }
        ])
        const [over, open] = [
          yield* admin.update("people.update", [ada!], { status: "Won" }),
          yield* admin.update("people.update", [bob!], { status: "Won" })
        ]
        // The claim waits for the row's lock; the change's time ends, or goes on, while it waits.
        const race = (changeId: string, digest: string, milliseconds: number) =>
          owner.withTransaction(
            Effect.gen(function* () {
              yield* owner`UPDATE max.changes SET expires_at = expires_at WHERE organization_id = ${organization.id} AND change_id = ${changeId}`
              const confirming = yield* Effect.forkDetach(Effect.result(admin.confirm({ changeId, digest })))
              for (let waiting = 0; waiting === 0; yield* Effect.sleep("10 millis")) {
                const [row] = yield* owner<{ waiting: number }>`SELECT count(*)::int AS waiting FROM pg_stat_activity
                  WHERE datname = current_database() AND application_name = 'max changes' AND wait_event_type = 'Lock'`
                waiting = row!.waiting
              }
              yield* owner`UPDATE max.changes SET expires_at = clock_timestamp() + make_interval(secs => ${milliseconds / 1000}::float8)
                WHERE organization_id = ${organization.id} AND change_id = ${changeId}`
              return confirming
            })
          )
        /** On a slow machine the claim may give up its wait: then it is tried again. */
        const decided = Effect.fnUntraced(function* (draft: typeof open, milliseconds: number) {
          for (;;) {
            const result = yield* Fiber.join(yield* race(draft.changeId, draft.preview.digest!, milliseconds))
            if (result._tag === "Success" || result.failure._tag !== "NotYet") return result
          }
        })
        expect(yield* decided(over, -1)).toMatchObject({ _tag: "Failure", failure: { _tag: "Expired" } })
        expect(yield* decided(open, 60_000)).toMatchObject({ _tag: "Success", success: { _tag: "Applied" } })
        expect(yield* cellOf(organization, entityId(ada!), "status")).toBe("Lead")
      })
    )
  })

  describe("beside other writers", () => {
    it.effect("doesn't wait for a row that another transaction holds, stays open, and is applied afterwards", () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("held-row")
        const { owner } = yield* Database
        const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }])
        const draft = yield* admin.update("people.update", [ada!], { status: "Won" })
        const refusal = yield* owner.withTransaction(
          Effect.gen(function* () {
            yield* owner`UPDATE data.people SET name = name WHERE organization_id = ${organization.id} AND id = ${BigInt(entityId(ada!))}`
            return yield* Effect.flip(confirmed(admin, draft))
          })
        )
        expect(refusal).toMatchObject({
          _tag: "NotYet",
          message: "This is being changed right now. Try again in a minute."
        })
        expect(yield* confirmed(admin, draft)).toMatchObject({ _tag: "Applied" })
      })
    )

    it.effect("is applied before a suspension that comes later, and not after one that came first", () =>
      Effect.gen(function* () {
        const { organization } = yield* changing("suspended")
        const members = yield* Memberships
        const { owner } = yield* Database
        const ids = yield* addPeople(
          organization,
          Array.from({ length: 8 }, (_, at) => ({ name: `P${at}`, status: "Lead" }))
        )
        for (const [at, id] of ids.entries()) {
          const rep = yield* person(organization, `rep${at}@suspended.example`, "admin")
          const draft = yield* rep.update("people.update", [id], { status: "Won" })
          const [outcome] = yield* Effect.all(
            [Effect.result(confirmed(rep, draft)), members.suspend(organization, rep.email)],
            { concurrency: "unbounded" }
          )
          const status = yield* cellOf(organization, entityId(id), "status")
          expect(status).toBe(outcome._tag === "Success" ? "Won" : "Lead")
        }
        // In the audit chain, no change of a person follows the person's suspension.
        const log = yield* owner<{
          actor: string
          action: string
          subject: string
        }>`SELECT actor, action, subject FROM max.audit_log
          WHERE organization_id = ${organization.id} AND chain = 'changes' ORDER BY sequence`
        for (const [at, { actor, action }] of log.entries())
          if (action === "change.applied")
            expect(log.slice(0, at).some((one) => one.action === "membership.suspended" && one.subject === actor)).toBe(
              false
            )
      })
    )

    it.effect("is lost whole when the connection goes between claim and commit, and can be confirmed again", () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("lost-connection")
        const { owner } = yield* Database
        const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }])
        yield* owner.unsafe(
          `CREATE FUNCTION max.die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END $$`
        )
        yield* owner.unsafe("ALTER FUNCTION max.die() SECURITY DEFINER")
        const draft = yield* admin.update("people.update", [ada!], { status: "Won" })
        yield* owner.unsafe(
          `CREATE TRIGGER die AFTER UPDATE ON data.people FOR EACH ROW WHEN (NEW.organization_id = ${organization.id}) EXECUTE FUNCTION max.die()`
        )
        const before = yield* rowsIn(organization)
        expect((yield* Effect.flip(confirmed(admin, draft)))._tag).toBe("Unavailable")
        yield* owner.unsafe("DROP FUNCTION max.die() CASCADE")
        expect(yield* rowsIn(organization)).toEqual(before)
        expect(yield* admin.preview(draft.changeId)).toMatchObject({ state: "open" })
        expect(yield* confirmed(admin, draft)).toMatchObject({ _tag: "Applied" })
      })
    )
  })
})

/** A process of its own over a database: its pools, caches and services. */
const startProcess = Effect.fnUntraced(function* (url: string, overrides: Parameters<typeof Env.layerWith>[0] = {}) {
  const env = Layer.effect(
    Env,
    Effect.map(Env, (values) => Env.of({ ...values, ...overrides }))
  ).pipe(Layer.provide(envFor(url)))
  const runtime = ManagedRuntime.make(
    Services.pipe(Layer.provideMerge(ConfiguredDatabase.pipe(Layer.provideMerge(env))))
  )
  yield* Effect.addFinalizer(() => runtime.disposeEffect)
  return <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof Services> | Database>) =>
    Effect.flatMap(runtime.contextEffect, (context) =>
      Effect.provideContext(effect, context as never)
    ) as Effect.Effect<A, E>
})

layer(Layer.empty, { excludeTestServices: true })("two processes", (it) => {
  it.effect(
    "share exact limits per person: changes, deletions, rows and calls, each refused with the seconds to wait",
    () =>
      Effect.gen(function* () {
        const url = yield* migratedDatabase
        const overrides = { changedRowsPerDay: 12 }
        const runs = [yield* startProcess(url, overrides), yield* startProcess(url, overrides)]
        const [run, other] = runs as [(typeof runs)[0], (typeof runs)[0]]
        const { admin, ids, organization } = yield* run(
          Effect.gen(function* () {
            const made = yield* changing("limits")
            const people = Array.from({ length: 40 }, (_, at) => ({ name: `P${at}`, status: "Lead" }))
            return { ...made, ids: yield* addPeople(made.organization, people) }
          })
        )
        const both = [
          { run, who: admin },
          { run: other, who: yield* other(as(admin.principal)) }
        ]
        /** Proposes for each id, in both processes by turns and all at once. */
        const attempts = (
          wanted: ReadonlyArray<string>,
          action: "people.update" | "people.delete",
          keys: "own" | undefined = undefined
        ) =>
          Effect.forEach(
            wanted,
            (id, at) => {
              const { run, who } = both[at % 2]!
              const values = action === "people.delete" ? [] : [{ columnId: "status", value: "Won" }]
              const key = keys === undefined ? undefined : `key ${at}`
              return run(Effect.result(who.propose({ steps: [{ actionId: action, entityIds: [id], values }], key })))
            },
            { concurrency: "unbounded" }
          )
        const outcome = (results: Effect.Success<ReturnType<typeof attempts>>) => {
          const refused = results.flatMap((result) => (result._tag === "Failure" ? [result.failure] : []))
          for (const refusal of refused) {
            expect(refusal._tag).toBe("TooManyCalls")
            expect((refusal as { retryAfter: number }).retryAfter).toBeGreaterThan(0)
          }
          return {
            proposed: results.length - refused.length,
            wait: Math.max(0, ...refused.map((refusal) => (refusal as { retryAfter: number }).retryAfter)),
            says: [...new Set(refused.map(({ message }) => message.replace(/\d+ seconds/, "… seconds")))]
          }
        }
        const forget = run(forgetLimits(organization))
        const changes = outcome(yield* attempts(ids.slice(0, 25), "people.update"))
        expect([changes.proposed, changes.says]).toEqual([10, ["At most 10 changes a minute. Try again in … seconds."]])
        expect(changes.wait).toBeLessThanOrEqual(60)
        expect(changes.wait).toBeGreaterThan(30)
        yield* forget
        // A call with the caller's own key is counted before. Each proposal takes a while, so that others come meanwhile.
        yield* run(
          Effect.gen(function* () {
            const { owner } = yield* Database
            yield* owner.unsafe(
              `CREATE FUNCTION max.slowly() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.03); RETURN NEW; END $$`
            ).unprepared
            yield* owner`CREATE TRIGGER slowly BEFORE INSERT ON max.changes FOR EACH ROW EXECUTE FUNCTION max.slowly()`
          })
        )
        const keyed = outcome(yield* attempts(ids.slice(0, 25), "people.update", "own"))
        expect([keyed.proposed, keyed.says]).toEqual([10, changes.says])
        yield* forget
        const deletions = outcome(yield* attempts(ids.slice(0, 9), "people.delete"))
        expect([deletions.proposed, deletions.says]).toEqual([
          5,
          ["At most 5 deletions an hour. Try again in … seconds."]
        ])
        expect(deletions.wait).toBeGreaterThan(3000)
        yield* forget
        const rows = yield* run(Effect.flip(admin.update("people.update", ids.slice(25, 38), { status: "Won" })))
        expect(rows).toMatchObject({
          _tag: "TooManyCalls",
          message: expect.stringMatching(/^At most 12 rows a day\./) as string
        })
        yield* run(admin.update("people.update", ids.slice(25, 37), { status: "Won" }))
        const more = yield* run(Effect.flip(admin.update("people.update", ids.slice(38, 39), { status: "Won" })))
        expect((more as { retryAfter: number }).retryAfter).toBeGreaterThan(86_000)
        yield* forget
        // Calls that come to nothing count too: unknown rows, which are no changes.
        yield* run(
          Effect.gen(function* () {
            // Not across the end of a minute, in which calls are counted.
            const { owner } = yield* Database
            const [clock] = yield* owner<{
              rest: number
            }>`SELECT 60 - extract(second FROM clock_timestamp())::float8 AS rest`
            if (clock!.rest < 20) yield* Effect.sleep(`${Math.ceil(clock!.rest + 0.5)} seconds`)
          })
        )
        const calls = outcome(
          (yield* attempts(
            Array.from({ length: 34 }, () => "zzzz"),
            "people.update"
          )).filter((result) => result._tag === "Success" || result.failure._tag !== "UnknownName")
        )
        expect(calls.says).toEqual(["Too many calls. Try again in … seconds."])
        const { calls: counted } = yield* run(
          Effect.gen(function* () {
            const { owner } = yield* Database
            const [row] = yield* owner<{
              calls: number
            }>`SELECT calls FROM max.calls WHERE organization_id = ${organization.id}`
            return row!
          })
        )
        expect(counted).toBe(30)
      })
  )

  it.effect(
    "take part in nothing while MAX_CHANGES is off: no action is listed, and no change proposed or confirmed",
    () =>
      Effect.gen(function* () {
        const url = yield* migratedDatabase
        const run = yield* startProcess(url)
        const off = yield* startProcess(url, { changes: "off" })
        const { admin, draft } = yield* run(
          Effect.gen(function* () {
            const made = yield* changing("off")
            const [ada] = yield* addPeople(made.organization, [{ name: "Ada" }])
            return { ...made, draft: yield* made.admin.update("people.update", [ada!], { status: "Won" }) }
          })
        )
        yield* off(
          Effect.gen(function* () {
            const same = yield* as(admin.principal)
            expect(yield* same.actions).toEqual([])
            const decision = { changeId: draft.changeId, digest: draft.preview.digest! }
            const attempts: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string; readonly message: string }>> =
              [
                same.update("people.update", ["zzzz"], { status: "Won" }),
                same.confirm(decision),
                same.preview(draft.changeId),
                same.list("mine"),
                same.undo(draft.changeId)
              ]
            for (const attempt of attempts)
              expect(yield* Effect.flip(attempt)).toMatchObject({
                _tag: "NotInScope",
                message: "Changes are switched off here."
              })
          })
        )
        expect(yield* run(confirmed(admin, draft))).toMatchObject({ _tag: "Applied" })
      })
  )
})
