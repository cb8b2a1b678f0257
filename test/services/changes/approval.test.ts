/** The second person's yes: who can't give it, and what ends it while it is waited for. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { describe, expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { entityId } from "../../../src/domain/values.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { addPeople } from "../../support/atlas.ts"
import { as, cellOf, changing, person, publish } from "../../support/changes.ts"
import { TestServices } from "../../support/database.ts"

const allow = (role: string, action: string) => ({
  id: `${role}-${action}`,
  effect: "allow",
  role,
  action,
  type: "people",
  columns: ["name", "status"],
  where: {}
})
const managers = [allow("manager", "read"), allow("manager", "update")]
const rules = [allow("rep", "read"), allow("rep", "update"), ...managers]
const confirm = [{ action: "update", type: "people", columns: ["status"], by: "second", approvers: ["manager"] }]

/** A rep's change that the rep has confirmed, and a manager who may approve it and who could make it, too. */
const waiting = Effect.fnUntraced(function* (slug: string) {
  const { organization } = yield* changing(slug, rules, { confirm })
  const rita = yield* person(organization, `rita@${slug}.example`, "rep")
  const mara = yield* person(organization, `mara@${slug}.example`, "manager")
  const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }])
  const draft = yield* rita.update("people.update", [ada!], { status: "Won" })
  const decision = { changeId: draft.changeId, digest: draft.preview.digest! }
  expect((yield* rita.confirm(decision))._tag).toBe("Waiting")
  expect((yield* mara.preview(draft.changeId)).digest).toBe(decision.digest)
  return { organization, rita, mara, decision, status: statusOf(organization, ada!) }
})

const statusOf = (organization: Organization, id: string) => cellOf(organization, entityId(id), "status")

layer(TestServices, { excludeTestServices: true })("an approval", (it) => {
  it.effect("is never given by the proposer, with the approver's role, another token or an agent", () =>
    Effect.gen(function* () {
      const { organization } = yield* changing("oneself", rules, { confirm })
      const mara = yield* person(organization, "mara@oneself.example", "manager")
      const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }])
      const draft = yield* mara.update("people.update", [ada!], { status: "Won" })
      const decision = { changeId: draft.changeId, digest: draft.preview.digest! }
      yield* mara.confirm(decision)
      const scope = ["read", "update"].map((action) => ({ type: "people", action, columns: ["name", "status"] }))
      const callers = [
        mara,
        yield* as({ ...mara.principal, scope }),
        yield* as({ ...mara.principal, actor: { id: "agent", roles: ["manager"], attributes: {} } })
      ]
      for (const caller of callers) {
        expect(yield* caller.confirm(decision)).toEqual({ _tag: "Waiting", approvers: ["manager"] })
        expect(yield* caller.list("me")).toEqual([])
      }
      expect(yield* statusOf(organization, ada!)).toBe("Lead")
    })
  )

  it.effect("is asked for in a list that names its proposer only to a reader who may see that person", () =>
    Effect.gen(function* () {
      const narrow = [
        allow("rep", "read"),
        allow("rep", "update"),
        { ...allow("manager", "read"), where: { status: "Won" } },
        allow("manager", "update")
      ]
      const roles = Object.fromEntries(["rep", "manager", "admin"].map((role) => [role, { inherits: [] }]))
      for (const [slug, given] of [
        ["named", rules],
        ["unnamed", narrow]
      ] as const) {
        const { organization } = yield* changing(slug, given, { confirm, roles })
        const rita = yield* person(organization, `rita@${slug}.example`, "rep")
        const mara = yield* person(organization, `mara@${slug}.example`, "manager")
        const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Won" }])
        const draft = yield* rita.update("people.update", [ada!], { status: "Lost" })
        yield* rita.confirm({ changeId: draft.changeId, digest: draft.preview.digest! })
        const [listed, ...others] = yield* mara.list("me")
        expect(others).toEqual([])
        expect(listed!.proposer).toBe(rita.principal.anchorEntityId)
        expect(listed!.proposerName !== undefined).toBe(given === rules)
        expect((yield* mara.preview(draft.changeId)).proposerName).toBe(listed!.proposerName)
      }
    })
  )

  describe("while it is waited for", () => {
    it.effect("applies nothing after the proposer was suspended", () =>
      Effect.gen(function* () {
        const { organization, rita, mara, decision, status } = yield* waiting("proposer-gone")
        yield* (yield* Memberships).suspend(organization, rita.email)
        expect(yield* Effect.flip(mara.confirm(decision))).toMatchObject({
          _tag: "NotAllowed",
          message: "Its proposer has no access any more: nothing was changed."
        })
        expect(yield* status).toBe("Lead")
      })
    )

    it.effect("applies nothing after the proposer lost the permission, though the approver has it", () =>
      Effect.gen(function* () {
        const { organization, mara, decision, status } = yield* waiting("proposer-narrowed")
        yield* publish(organization, [allow("rep", "read"), ...managers], { confirm })
        expect((yield* Effect.flip(mara.confirm(decision)))._tag).toBe("NotAllowed")
        expect(yield* status).toBe("Lead")
      })
    )

    it.effect("is refused to a person who no longer has the approver's role, or was suspended", () =>
      Effect.gen(function* () {
        const { organization, mara, decision, status } = yield* waiting("approver-gone")
        const members = yield* Memberships
        yield* members.add(organization, { identifier: mara.email, roles: ["rep"] })
        expect((yield* Effect.flip(mara.confirm(decision)))._tag).toBe("UnknownName")
        yield* members.suspend(organization, mara.email)
        expect((yield* Effect.flip(mara.confirm(decision)))._tag).toBe("NotAdmitted")
        expect(yield* status).toBe("Lead")
      })
    )

    it.effect("applies before the proposer's suspension that comes at the same moment, and never after it", () =>
      Effect.gen(function* () {
        for (let round = 0; round < 4; round++) {
          const { organization, rita, mara, decision, status } = yield* waiting(`at-once-${round}`)
          const members = yield* Memberships
          const [outcome] = yield* Effect.all(
            [Effect.result(mara.confirm(decision)), members.suspend(organization, rita.email)],
            { concurrency: "unbounded" }
          )
          expect(yield* status).toBe(outcome._tag === "Success" ? "Won" : "Lead")
          const { owner } = yield* Database
          const log = yield* owner<{ action: string }>`SELECT action FROM max.audit_log
            WHERE organization_id = ${organization.id} AND chain = 'changes' ORDER BY sequence`
          const actions = log.map(({ action }) => action)
          const suspended = actions.indexOf("membership.suspended")
          expect(suspended).not.toBe(-1)
          expect(actions.slice(suspended)).not.toContain("change.applied")
        }
      })
    )
  })
})
