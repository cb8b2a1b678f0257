/** What is shown of a policy is what is in force: publishing it again changes nothing. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { OrganizationState } from "../../../src/services/catalog/OrganizationState.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"
import { asExistingPerson, mapTables, policyFor, runScript } from "../../support/mappedTables.ts"

const rulesOf = (organization: Organization) =>
  Effect.gen(function* () {
    const { state } = yield* (yield* OrganizationState).read(organization.id, { by: "none" })
    // Columns that a type no longer has show nothing.
    const shown = (type: string, columns: "*" | ReadonlyArray<string>) =>
      state.catalog.types
        .find(({ key }) => key === type)!
        .columns.flatMap(({ key }) => (columns === "*" || columns.includes(key) ? [key] : []))
        .sort()
    return new Map(
      state.policy.rules.map(({ action, columns, effect, id, role, type }) => [
        id,
        { action, effect, role, type, columns: shown(type, columns) }
      ])
    )
  })

/** Publishes what is shown, and compares what is in force before and after. */
const shownAgain = Effect.fnUntraced(function* (organization: Organization) {
  const policies = yield* Policies
  const before = yield* rulesOf(organization)
  const { document } = yield* policies.current(organization)
  yield* policies.publish(organization, document, "test")
  const after = yield* rulesOf(organization)
  for (const [id, rule] of after) expect(rule, id).toEqual(before.get(id))
  return { document, lost: [...before.keys()].filter((id) => !after.has(id)) }
})

layer(TestServices, { excludeTestServices: true })("the policy that is shown", (it) => {
  it.effect("keeps a member's own contact data readable, whatever the columns of the mapped people are called", () =>
    Effect.gen(function* () {
      const shop = yield* makeOrganization("shop")
      yield* runScript(`
CREATE SCHEMA hr;
CREATE TABLE hr.employees (employee_id int PRIMARY KEY, first_name text, last_name text, home_phone text, work_email text);
INSERT INTO hr.employees VALUES (1, 'Nan', 'Ode', '+12065550101', 'nan@shop.example'), (2, 'Al', 'Pine', '+12065550102', 'al@shop.example');
`)
      yield* mapTables(shop, { exclusive: true })
      const nan = yield* asExistingPerson(shop, "nan@shop.example", "member")
      const own = ["home_phone=+1 206 555 0101"]
      expect((yield* nan.find("people", own, { selectColumns: ["work_email"] })).entities).toMatchObject([
        { columns: { work_email: "nan@shop.example" } }
      ])
      const { document, lost } = yield* shownAgain(shop)
      expect(document).toContain("home_phone")
      // A rule about meetings' attendees stays: the organization still has meetings.
      expect(lost).toEqual([])
      expect((yield* nan.find("people", own)).total).toBe(1)
      expect((yield* nan.find("people", ["home_phone=+1 206 555 0102"])).total).toBe(0)
    })
  )

  it.effect(
    "names the columns of a rule that says all, once its type has more, and a built-in rule that its file lacks",
    () =>
      Effect.gen(function* () {
        const desk = yield* makeOrganization("desk")
        const { owner } = yield* Database
        yield* runScript(`
CREATE SCHEMA desk;
CREATE TABLE desk.staff (id int PRIMARY KEY, name text, email text);
CREATE TABLE desk.orders (id int PRIMARY KEY, name text);
INSERT INTO desk.staff VALUES (1, 'Bo', 'bo@desk.example');
INSERT INTO desk.orders VALUES (1, 'Lamp');
`)
        const tables = ["desk.staff", "desk.orders"]
        yield* mapTables(desk, { tables, exclusive: true })
        yield* policyFor(desk, {
          version: 1,
          roles: { clerk: {} },
          rules: [{ id: "all", effect: "allow", role: "clerk", action: "read", type: "orders", columns: "*" }]
        })
        yield* runScript("ALTER TABLE desk.orders ADD margin int;\n")
        yield* mapTables(desk, { tables, exclusive: true })
        const bo = yield* asExistingPerson(desk, "bo@desk.example", "clerk")
        expect(yield* bo.columns("orders")).toEqual(["name"])
        const { document } = yield* shownAgain(desk)
        expect(JSON.parse(document).rules).toMatchObject([{ id: "all", columns: ["name"] }])
        expect(yield* bo.columns("orders")).toEqual(["name"])

        // An older version left the built-in rule out of the file that it stored.
        const mill = yield* makeOrganization("mill")
        yield* owner`
        UPDATE max.policies SET document = (document::jsonb #- '{rules,14}')::text WHERE organization_id = ${mill.id}`
        expect((yield* (yield* Policies).current(mill)).document).toContain("member-contacts")
        expect((yield* shownAgain(mill)).lost).toEqual([])
      })
  )
})
