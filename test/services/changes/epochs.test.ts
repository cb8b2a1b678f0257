/** A confirmation under plans that aren't those of this moment: nothing is written, and everything is looked at again. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import { entityId } from "../../../src/domain/values.ts"
import { apply } from "../../../src/services/changes/apply.ts"
import { makeCallers } from "../../../src/services/changes/callers.ts"
import { readChange } from "../../../src/services/changes/records.ts"
import { IdentityResolver } from "../../../src/services/members/IdentityResolver.ts"
import { OrgEntityStore } from "../../../src/services/OrgEntityStore.ts"
import { addPeople } from "../../support/atlas.ts"
import { cellOf, changing, person, publish, VIA } from "../../support/changes.ts"
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
const rules = [allow("rep", "read"), allow("rep", "update"), allow("manager", "read")]
const confirm = [{ action: "update", type: "people", columns: ["status"], by: "second", approvers: ["manager"] }]

/** A change that waits for a manager, and functions that admit its two persons and apply it with callers. */
const waiting = Effect.fnUntraced(function* (slug: string) {
  const { organization } = yield* changing(slug, rules, { confirm })
  const rita = yield* person(organization, `rita@${slug}.example`, "rep")
  const mara = yield* person(organization, `mara@${slug}.example`, "manager")
  const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }])
  const { changeId, preview } = yield* rita.update("people.update", [ada!], { status: "Won" })
  yield* rita.confirm({ changeId, digest: preview.digest! })
  const database = yield* Database
  const identities = yield* IdentityResolver
  const callerOf = makeCallers(yield* OrgEntityStore)
  const admitted = (who: typeof rita) => Effect.map(identities.readmit(who.principal), callerOf)
  type Caller = Effect.Success<ReturnType<typeof admitted>>
  return {
    proposer: admitted(rita),
    approver: admitted(mara),
    publishAgain: publish(organization, [...rules, allow("manager", "update")], { confirm }),
    applied: Effect.fnUntraced(function* (writer: Caller, approver: Caller) {
      const stored = (yield* readChange(database.changes, organization.id, changeId))!
      const decider = mara.principal.anchorEntityId
      const deciding = { decider, via: VIA, writers: [writer], approver, started: performance.now() } as const
      const outcome = yield* Effect.result(apply(stored, deciding, database))
      const { state } = (yield* readChange(database.changes, organization.id, changeId))!
      return {
        outcome: outcome._tag === "Success" ? outcome.success.state : outcome.failure._tag,
        state,
        status: yield* cellOf(organization, entityId(ada!), "status")
      }
    })
  }
})

const NOTHING = { outcome: "StalePlan", state: "waiting", status: "Lead" }

layer(TestServices, { excludeTestServices: true })("a confirmation", (it) => {
  it.effect("applies nothing when one of its two persons was planned from an earlier state than the other", () =>
    Effect.gen(function* () {
      const { applied, approver, proposer, publishAgain } = yield* waiting("uneven")
      const [earlierProposer, earlierApprover] = [yield* proposer, yield* approver]
      yield* publishAgain
      expect(yield* applied(yield* proposer, earlierApprover)).toEqual(NOTHING)
      expect(yield* applied(earlierProposer, yield* approver)).toEqual(NOTHING)
      expect(yield* applied(yield* proposer, yield* approver)).toEqual({
        outcome: "applied",
        state: "applied",
        status: "Won"
      })
    })
  )

  it.effect("applies nothing, and isn't over, when both were planned from an earlier state", () =>
    Effect.gen(function* () {
      const { applied, approver, proposer, publishAgain } = yield* waiting("earlier")
      const [writer, reader] = [yield* proposer, yield* approver]
      yield* publishAgain
      expect(yield* applied(writer, reader)).toEqual(NOTHING)
    })
  )
})
