/** The rows of a search through a relation, in each way that its statement can take (`matching.ts`). */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { BOUNDS } from "../../../src/database/sql/throughRelation.ts"
import { Database } from "../../../src/database/Database.ts"
import { decodeId } from "../../../src/domain/ids.ts"
import type { FindQuery } from "../../../src/domain/Query.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { addPeople, asMember, makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"

const MANY = 1000
/** By way: as the statement decides, few related rows, the first rows, all rows, and all because many rows lead to few. */
const WAYS: ReadonlyArray<Partial<typeof BOUNDS>> = [
  {},
  { often: MANY, related: MANY, leading: MANY },
  { often: -1, related: -1, read: MANY, probed: MANY },
  { often: MANY, related: -1 },
  { often: MANY, related: MANY, leading: 5 }
]

const read = (role: string, where: object, more: object = {}) => ({
  id: role,
  effect: "allow",
  role,
  action: "read",
  type: "people",
  columns: "*",
  where,
  ...more
})

/** Each role sees rows by one condition, so that the statement has no alternatives and may read the first rows. */
const RULES = [
  read("everyone", {}),
  read("leads", { status: "Lead" }),
  read("unlost", {}),
  { ...read("unlost", { status: "Lost" }), id: "unlost-deny", effect: "deny" },
  read("reached", { company: { status: "Open" } }),
  ...["everyone", "leads", "unlost", "reached"].map((role) => ({
    ...read(role, {}),
    id: `${role}-companies`,
    type: "companies"
  }))
]
const ROLES: Readonly<Record<string, (person: { status: string; open: boolean }) => boolean>> = {
  everyone: () => true,
  leads: ({ status }) => status === "Lead",
  unlost: ({ status }) => status !== "Lost",
  reached: ({ open }) => open
}

layer(TestServices, { excludeTestServices: true })("a search through a relation", (it) => {
  it.effect("shows the same rows whichever way its statement takes, and only those that the plan shows", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("ways")
      const policies = yield* Policies
      const roles = Object.fromEntries(Object.keys(ROLES).map((role) => [role, { inherits: [] }]))
      yield* policies.publish(organization, JSON.stringify({ version: 1, roles, rules: RULES }), "test")
      const people = Array.from({ length: 90 }, (_, index) => ({
        name: `Person ${index}`,
        status: ["Lead", "Lost", "Won"][index % 3]!,
        open: index % 2 === 0
      }))
      const ids = yield* addPeople(organization, people)
      const { owner } = yield* Database
      yield* owner.unsafe(
        `INSERT INTO data.companies (organization_id, id, name, name_k, status, status_k) VALUES
           ($1::bigint, 1, 'Alder Foods', 'alder foods', 'Open', 'open'), ($1::bigint, 2, 'Alder Mills', 'alder mills', 'Shut', 'shut')`,
        [organization.id]
      )
      yield* owner.unsafe(
        `UPDATE data.people SET company_id = CASE WHEN id = ANY($2::bigint[]) THEN 1 ELSE 2 END WHERE organization_id = $1::bigint AND name LIKE 'Person %'`,
        [organization.id, ids.filter((_, index) => people[index]!.open).map((id) => decodeId(id)!)]
      )
      const bounds = { ...BOUNDS }
      for (const [role, isShown] of Object.entries(ROLES)) {
        const member = yield* asMember(organization, `${role}@ways.example`, role)
        const expected = ids.filter((_, index) => isShown(people[index]!))
        const filters: FindQuery["filters"] = [{ columnId: "company", op: "ilike", value: "alder" }]
        for (const [index, way] of WAYS.entries()) {
          Object.assign(BOUNDS, bounds, way)
          const shown: Array<string> = []
          let cursorEntityId: string | undefined
          do {
            // Each way has a limit of its own, because statements are cached.
            const page = yield* member.find({ filters, limit: 3 + index, ...(cursorEntityId && { cursorEntityId }) })
            shown.push(...page.entities.map(({ entityId }) => entityId))
            cursorEntityId = page.nextCursorEntityId
          } while (cursorEntityId !== undefined)
          Object.assign(BOUNDS, bounds)
          expect(shown, `${role}, way ${index}`).toEqual(expected)
        }
      }
    })
  )
})
