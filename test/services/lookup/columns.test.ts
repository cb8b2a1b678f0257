import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { renderColumns } from "../../../src/tools/render.ts"
import { addPeople, asMember, makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"

layer(TestServices)("A list of columns", (it) => {
  it.effect("says what each column holds and what leads here, so that a filter can name both", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("listed")
      yield* addPeople(organization, [{ name: "Ada Lovelace" }])
      const admin = yield* asMember(organization, "admin@example.com", "admin")
      const { columns, leadHere } = yield* admin.columns("people")
      expect(columns.find(({ id }) => id === "company")?.holds).toBe("→ companies")
      expect(columns.find(({ id }) => id === "phone")).not.toHaveProperty("holds")
      expect((yield* admin.columns("meetings")).columns.find(({ id }) => id === "start")?.holds).toBe("time")
      // Both columns of meetings lead to people, so that each needs its name.
      expect(leadHere?.map(({ id }) => id)).toEqual(["people", "companies", "meetings@owner", "meetings@attendees"])
      for (const { id } of leadHere ?? [])
        expect((yield* admin.find({ filters: [{ columnId: id, op: "ne", value: "*" }] })).total, id).toBeGreaterThan(0)
      const text = renderColumns({ columns, leadHere: leadHere ?? [] })
      expect(text).toContain("\nmeetings@owner\tMeetings\tleads here\n")
      expect(text).toMatch(/\ncompany\t\w+\t→ companies\n/)
    })
  )

  it.effect("names nothing that leads here from a hidden type or through a hidden column", () =>
    Effect.gen(function* () {
      const organization = yield* makeOrganization("unlisted")
      const policies = yield* Policies
      const admin = yield* asMember(organization, "admin@example.com", "admin")
      const rule = { effect: "allow", role: "clerk", action: "read" }
      yield* policies.publish(
        organization,
        JSON.stringify({
          version: 1,
          roles: { clerk: {}, admin: {} },
          rules: [
            { id: "people", ...rule, type: "people", columns: ["name"] },
            { id: "meetings", ...rule, type: "meetings", columns: ["name", "owner"] }
          ]
        }),
        "test"
      )
      const clerk = yield* asMember(organization, "clerk@example.com", "clerk")
      expect((yield* clerk.columns("people")).leadHere).toEqual([{ id: "meetings", name: "Meetings" }])
      const error = (columnId: string) =>
        Effect.map(Effect.flip(clerk.find({ filters: [{ columnId, op: "ne", value: "*" }] })), ({ message }) =>
          message.replaceAll(columnId, "NAME")
        )
      // A hidden column and a hidden type are as unknown as names that nothing has.
      const unknown = yield* error("nothing@owner")
      expect(unknown).toContain("There is no column")
      for (const name of ["meetings@attendees", "companies@owner", "companies", "meetings@nothing"])
        expect(yield* error(name)).toBe(unknown)
      expect((yield* admin.types).entityTypes).toEqual([])
    })
  )
})
