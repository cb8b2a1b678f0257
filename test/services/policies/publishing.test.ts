/** Concurrent publications, and a database connection that dies during one. */
import { layer } from "@effect/vitest"
import { Effect, Fiber, Result, Schedule } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { OperatorError, Unavailable } from "../../../src/domain/errors.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { names, startProcess, Url } from "../../permissions/process.ts"
import { file } from "../../permissions/support.ts"
import { under } from "../../permissions/replays/setting.ts"

layer(Url.layer, { excludeTestServices: true })("publishing a policy", (it) => {
  it.effect("concurrently from two processes loses no version, and a losing process gets an error", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* startProcess(), yield* startProcess()]
      const { lena, organization } = yield* under("racing", [{}], {}, one)
      const publish = (at: typeof one, name: string) =>
        at.run(
          Effect.flatMap(Policies, (policies) => policies.publish(organization, file([{ where: { name } }]), "test"))
        )
      for (let round = 0; round < 8; round++) {
        const before = yield* one.run(Effect.flatMap(Policies, (policies) => policies.current(organization)))
        const outcomes = yield* Effect.all([Effect.result(publish(one, "Ann")), Effect.result(publish(two, "Bob"))], {
          concurrency: "unbounded"
        })
        const published = outcomes.filter(Result.isSuccess)
        for (const outcome of outcomes) {
          if (Result.isFailure(outcome)) expect(outcome.failure).toBeInstanceOf(OperatorError)
        }
        expect(published.length).toBeGreaterThan(0)
        const now = yield* one.run(Effect.flatMap(Policies, (policies) => policies.current(organization)))
        expect(now.version).toBe(before.version + published.length)
        // Both processes use the version in force.
        const shown = now.document.includes("Ann") ? ["Ann"] : ["Bob"]
        expect([yield* names(one.find(lena)), yield* names(two.find(lena))]).toEqual([shown, shown])
      }
    })
  )

  it.effect("fails as Unavailable when the connection dies, and the old version stays in force", () =>
    Effect.gen(function* () {
      const one = yield* startProcess()
      const { lena, organization } = yield* under("dying", [{ where: { name: "Ann" } }], {}, one)
      const { owner } = yield* one.run(Effect.map(Database, (database) => database))
      const before = yield* one.run(Effect.flatMap(Policies, (policies) => policies.current(organization)))
      const outcome = yield* owner.withTransaction(
        Effect.gen(function* () {
          // Publication waits for the lock on the organization's row; then its connection is terminated.
          yield* owner`SELECT 1 FROM max.organizations WHERE organization_id = ${organization.id} FOR UPDATE`
          const publishing = yield* Effect.forkChild(Effect.result(one.publish(organization, [{}])))
          yield* Effect.repeat(
            owner`
              SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
                AND application_name = 'max app' AND wait_event_type = 'Lock'`,
            { until: (rows) => rows.length > 0, schedule: Schedule.spaced("20 millis") }
          )
          return yield* Fiber.join(publishing)
        })
      )
      expect(Result.isFailure(outcome) && outcome.failure).toBeInstanceOf(Unavailable)
      expect(yield* one.run(Effect.flatMap(Policies, (policies) => policies.current(organization)))).toEqual(before)
      expect(yield* names(one.find(lena))).toEqual(["Ann"])
      yield* one.publish(organization, [{}])
      expect(yield* names(one.find(lena))).toEqual(["Ann", "Bob", "Lena"])
    })
  )
})
