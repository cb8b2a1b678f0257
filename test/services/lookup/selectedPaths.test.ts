/** Columns of what references lead to, in selectColumns. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { makeWorld } from "../../conformance/world.ts"
import { admit, makePlaces } from "../../conformance/setting.ts"
import { CurrentPrincipal } from "../../../src/domain/Principal.ts"
import { encodeId } from "../../../src/domain/ids.ts"
import { EntityQueryService } from "../../../src/services/EntityQueryService.ts"
import { TestServices } from "../../support/database.ts"
import { type PolicyJson, viewsOf } from "../../conformance/oracle.ts"
import { NOW } from "../../conformance/generators.ts"

const rule = (id: string, type: string, columns: unknown, where?: object, effect = "allow") => ({
  id,
  effect,
  role: "member",
  action: "read",
  type,
  columns,
  ...(where === undefined ? {} : { where })
})

const POLICY = {
  version: 1,
  roles: { member: { inherits: [] } },
  rules: [
    rule("people", "people", "*", { not: { status: "vip" } }),
    rule("deals", "deals", "*"),
    rule("companies", "companies", "*"),
    rule("phones", "people", ["phone"], { company: null }, "deny"),
    rule("persons", "deals", ["person"], { secret: true }, "deny")
  ]
} as unknown as PolicyJson

layer(TestServices, { excludeTestServices: true })("a path in selectColumns", (it) => {
  it.effect("shows the cell that a lookup of the related row shows, and nothing where a step is hidden", () =>
    Effect.gen(function* () {
      const [organization] = makeWorld(61)
      const [place] = yield* makePlaces([organization!])
      const caller = { me: 30n, roles: ["member"], attributes: {} }
      const principal = yield* admit(place!, POLICY, caller)
      const views = viewsOf(POLICY, caller, organization!, NOW)
      const queries = yield* EntityQueryService
      const page = yield* queries
        .findEntities({
          organizationId: principal.organizationId,
          entityTypeId: "deals",
          filters: [],
          limit: 25,
          selectColumns: ["person.phone", "person.owner", "company.owner.name"]
        })
        .pipe(Effect.provideService(CurrentPrincipal, principal))
      const { companies, deals, people } = organization!.entities
      const seen = (type: "people" | "companies" | "deals", id: unknown, column: string): unknown => {
        const row = { companies, deals, people }[type].get(id as bigint)
        return row !== undefined && views[type].get(row.id)?.has(column) === true
          ? (row.cells[column] ?? undefined)
          : undefined
      }
      let shown = 0
      expect(page.entities).toHaveLength(views.deals.size)
      for (const { columns, entityId } of page.entities) {
        const id = [...deals.keys()].find((one) => encodeId(one) === entityId)!
        const person = seen("deals", id, "person")
        const owner = seen("people", person, "owner")
        expect(columns!["person.phone"]).toBe(seen("people", person, "phone"))
        const isShown = typeof owner === "bigint" && views.people.has(owner)
        expect((columns!["person.owner"] as { id: string } | undefined)?.id).toBe(isShown ? encodeId(owner) : undefined)
        const boss = seen("companies", seen("deals", id, "company"), "owner")
        expect(columns!["company.owner.name"]).toBe(seen("people", boss, "name"))
        shown += Object.keys(columns!).length
      }
      expect(shown).toBeGreaterThan(3)
    })
  )
})
