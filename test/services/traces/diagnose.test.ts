import { layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { Env } from "../../../src/env.ts"
import { Observability } from "../../../src/layers.ts"
import { Mappings } from "../../../src/services/mapping/Mappings.ts"
import { diagnose } from "../../../src/services/traces/diagnose.ts"
import { TraceStore } from "../../../src/services/traces/TraceStore.ts"
import { asMember, makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { slowTrace, storedTraces } from "../../support/traces.ts"

const Traced = Layer.unwrap(
  Effect.map(Env, (env) => Observability.pipe(Layer.provide(Layer.succeed(Env, { ...env, traceShare: 1 }))))
).pipe(Layer.provideMerge(TestServices))

layer(Traced, { excludeTestServices: true })("the diagnosis of stored traces", (it) => {
  it.effect("reports a missing index for a slow lookup that reads a whole large table, until the index exists", () =>
    Effect.gen(function* () {
      const { owner } = yield* Database
      const store = yield* TraceStore
      const organization = yield* makeOrganization("finder")
      const mappings = yield* Mappings
      yield* owner.unsafe("CREATE SCHEMA IF NOT EXISTS finder").unprepared
      yield* owner.unsafe("CREATE TABLE finder.contacts (id bigint PRIMARY KEY, full_name text NOT NULL, email text)")
        .unprepared
      yield* owner.unsafe(
        "INSERT INTO finder.contacts SELECT n, 'Person ' || n, 'p' || n || '@example.com' FROM generate_series(1, 20000) n"
      ).unprepared
      yield* owner.unsafe("ANALYZE finder.contacts").unprepared
      const { file } = yield* mappings.propose(organization, ["finder.contacts"], true)
      yield* mappings.apply(organization, file)
      const admin = yield* asMember(organization, "ops@finder.example", "admin")
      const ask = Effect.withSpan(
        admin.find({
          entityTypeId: "contacts",
          filters: [{ columnId: "email", op: "eq", value: "p7@example.com" }]
        }),
        "asked"
      )
      expect((yield* ask).total).toBe(1)
      const own = { organizationId: organization.id }
      yield* storedTraces({ ...own, name: "asked", limit: 1 })
      // The same lookup with the duration that a hundred times as many rows would take.
      const [fast] = yield* store.read({ ...own, name: "asked", limit: 1 })
      yield* store.write([
        {
          ...fast!,
          traceId: "f".repeat(32),
          spans: fast!.spans.map((span) => ({ ...span, duration: span.duration + 900_000_000 }))
        },
        // A trace whose statement's text isn't stored neither adds a finding nor fails.
        { ...slowTrace(organization.id, 500), statements: { "0": "/* max gone */ SELECT FROM nowhere" } }
      ])
      const before = yield* diagnose(own)
      expect(before.findings[0]).toMatchObject({
        kind: "missing index",
        command: "max doctor",
        message: expect.stringMatching(
          /^max contacts email:eq reads every row of finder\.contacts, about 20,000, for .*fold_email/
        )
      })
      expect(before.findings.filter(({ kind }) => kind === "slow statement").length).toBeGreaterThan(0)
      yield* owner.unsafe(`CREATE INDEX ON finder.contacts ((max.fold_email(email::text) COLLATE "C"))`).unprepared
      yield* owner.unsafe("ANALYZE finder.contacts").unprepared
      const after = yield* diagnose(own)
      expect(after.findings.map(({ kind }) => kind)).not.toContain("missing index")
    })
  )
})
