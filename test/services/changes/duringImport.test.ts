/** A change while an import of 100,000 rows writes the same table. */
import { layer } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { encodeId } from "../../../src/domain/ids.ts"
import { cellOf, changing, confirmed } from "../../support/changes.ts"
import { TestServices } from "../../support/database.ts"
import { importFile } from "../../support/imports.ts"
import { series } from "../../support/long.ts"

const ROWS = series({ short: 10_000, long: 100_000 })
const file = (status: string) => [
  "id,name,status",
  ...Array.from({ length: ROWS }, (_, index) => `${index},Person ${index},${status}`)
]

layer(TestServices, { excludeTestServices: true })("a change while an import writes", (it) => {
  it.effect(
    `says at once to try again, holds up neither the import of ${ROWS} rows nor another change, and is applied afterwards`,
    () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("importing")
        const { owner } = yield* Database
        yield* importFile(organization, file("Lead"))
        const idOf = (name: string) =>
          Effect.map(
            owner<{
              id: string
            }>`SELECT id::text AS id FROM data.people WHERE organization_id = ${organization.id} AND name = ${name}`,
            ([row]) => row!.id
          )
        const id = yield* idOf("Person 7")
        const draft = yield* admin.update("people.update", [encodeId(BigInt(id))], { phone: "+1 512-555-0142" })
        const beside = yield* admin.update("people.update", [admin.principal.anchorEntityId], { status: "Staff" })
        const importing = yield* Effect.forkChild(importFile(organization, file("Won")))
        // Until the import holds the row.
        const held = Effect.map(
          Effect.exit(
            owner.withTransaction(
              owner`SELECT 1 FROM data.people WHERE organization_id = ${organization.id} AND id = ${BigInt(id)} FOR UPDATE NOWAIT`
            )
          ),
          Exit.isFailure
        )
        while (!(yield* held)) yield* Effect.sleep("5 millis")
        const began = performance.now()
        const refusal = yield* Effect.flip(confirmed(admin, draft))
        expect(refusal).toMatchObject({
          _tag: "NotYet",
          message: "This is being changed right now. Try again in a minute."
        })
        expect(performance.now() - began).toBeLessThan(2000)
        expect(yield* confirmed(admin, beside)).toMatchObject({ _tag: "Applied" })
        expect(importing.pollUnsafe()).toBeUndefined()
        expect(yield* Fiber.join(importing)).toMatchObject({ updated: ROWS })
        expect(yield* confirmed(admin, draft)).toMatchObject({ _tag: "Applied" })
        expect([yield* cellOf(organization, id, "phone"), yield* cellOf(organization, id, "status")]).toEqual([
          "+1 512-555-0142",
          "Won"
        ])
      }),
    120_000
  )
})
