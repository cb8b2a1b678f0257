/** Publishing a policy as a change: who proposes and approves it, what it is shown as, and what ends it. */
import { layer } from "@effect/vitest"
import { Effect, Exit, Result } from "effect"
import { createHash } from "node:crypto"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { PreviewCell } from "../../../src/domain/Change.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { Policies } from "../../../src/services/policies/Policies.ts"
import { TestServices } from "../../support/database.ts"
import { governing, policyFile, publications } from "../../support/governing.ts"

const WIDER = policyFile(["name", "status"])
const tagOf = <R>(effect: Effect.Effect<unknown, { readonly _tag: string }, R>) =>
  Effect.match(effect, { onSuccess: () => "done", onFailure: ({ _tag }) => _tag })

layer(TestServices, { excludeTestServices: true })("publishing a policy as a change", (it) => {
  it.effect("waits for another person, to whom it says what changes, and who puts it in force", () =>
    Effect.gen(function* () {
      const { ada, bo, events, inForce, version } = yield* governing("approved")
      const { changeId, preview } = yield* ada.propose(WIDER, version)
      expect([preview.state, preview.level, preview.approvers, preview.own]).toEqual([
        "waiting",
        "second",
        ["admin"],
        true
      ])
      expect((yield* inForce).version).toBe(version)
      expect((yield* bo.list("me")).map((one) => [one.changeId, one.actionIds])).toEqual([
        [changeId, ["policy.publish"]]
      ])
      const shown = yield* bo.preview(changeId)
      expect(shown.policy).toEqual({
        replaces: version,
        changes: [
          { mark: "~", what: "member-people: member may also see status of people on the rows that the rule matches" }
        ],
        warnings: expect.any(Array),
        tests: { count: 0, failing: [] },
        problems: []
      })
      const [{ becomes, name }] = shown.steps[0]!.cells as [PreviewCell]
      expect([name, becomes]).toEqual(["Changed", shown.policy!.changes[0]!.what])
      expect(yield* bo.file(changeId)).toBe(WIDER)

      const approved = yield* bo.approve(changeId, shown.digest!)
      expect(approved).toMatchObject({ _tag: "Applied", receipt: { version: version + 1, by: bo.anchorId, rows: 1 } })
      expect(yield* inForce).toEqual({ version: version + 1, document: WIDER })
      const sha256 = createHash("sha256").update(WIDER).digest("hex")
      const [applied, by, published] = yield* events
      expect(published).toMatchObject({
        actor: ada.anchorId,
        action: "policy.published",
        subject: String(version + 1),
        details: { sha256, change: changeId, approver: bo.anchorId }
      })
      const details = {
        proposer: ada.anchorId,
        decider: bo.anchorId,
        actions: ["policy.publish"],
        policy: sha256,
        columns: []
      }
      expect(by).toMatchObject({ actor: bo.anchorId, action: "change.approved", subject: changeId, details })
      expect(applied).toMatchObject({ actor: bo.anchorId, action: "change.applied", subject: changeId, details })
      // A second press is answered with the same receipt.
      expect(yield* bo.approve(changeId, shown.digest!)).toEqual(approved)
      expect((yield* inForce).version).toBe(version + 1)
      expect((yield* bo.preview(changeId)).policy).toMatchObject({ problems: [], changes: shown.policy!.changes })
    })
  )

  it.effect("is never approved by its proposer, whatever the credential", () =>
    Effect.gen(function* () {
      const { ada, inForce, version } = yield* governing("oneself")
      const { changeId, preview } = yield* ada.propose(WIDER, version)
      const callers = [
        ada,
        yield* publications(ada.principal, { credentialId: "another" }),
        yield* publications({ ...ada.principal, claimedRoles: ["admin"], roles: ["admin"] })
      ]
      for (const caller of callers) {
        expect((yield* caller.approve(changeId, preview.digest!))._tag).toBe("Waiting")
        expect(yield* caller.list("me")).toEqual([])
      }
      expect((yield* inForce).version).toBe(version)
    })
  )

  it.effect("is proposed, shown and approved only in person, by members who may change the policy", () =>
    Effect.gen(function* () {
      const { ada, bo, inForce, member, version } = yield* governing("in-person")
      const lena = yield* member("lena", "member")
      const cleo = yield* member("cleo", "clerk")
      const agent = { id: "agent", roles: ["admin"], attributes: {} }
      const scope = [{ type: "people", action: "read", columns: ["name"] }]
      const narrowed = [
        yield* publications(bo.principal, { administers: false }),
        yield* publications({ ...bo.principal, actor: agent }),
        yield* publications({ ...bo.principal, scope })
      ]
      for (const one of [lena, cleo, ...narrowed]) expect(yield* tagOf(one.propose(WIDER, version))).toBe("NotInScope")
      const { changeId } = yield* ada.propose(WIDER, version)
      const { digest } = yield* bo.preview(changeId)
      for (const one of narrowed) {
        const shown = yield* one.preview(changeId)
        expect([shown.complete, shown.digest, shown.policy]).toEqual([false, undefined, undefined])
        expect(yield* tagOf(one.file(changeId))).toBe("NotInScope")
        expect(yield* tagOf(one.approve(changeId, digest!))).toBe("NotInScope")
      }
      // A lawyer may propose, and is no approver; the others don't learn that there is such a change.
      const lou = yield* member("lou", "lawyer")
      for (const one of [lena, cleo, lou]) {
        expect(yield* one.list("me")).toEqual([])
        for (const refused of [
          one.preview(changeId),
          one.file(changeId),
          one.approve(changeId, digest!),
          one.reject(changeId)
        ])
          expect(yield* tagOf(refused)).toBe("UnknownName")
      }
      expect((yield* inForce).version).toBe(version)
      const { changeId: second } = yield* lou.propose(policyFile(["name", "phone"]), version)
      expect((yield* bo.approve(second, (yield* bo.preview(second)).digest!))._tag).toBe("Applied")
    })
  )

  it.effect("is another organization's business: its administrators find nothing", () =>
    Effect.gen(function* () {
      const { ada, bo, version } = yield* governing("here")
      const there = yield* governing("there")
      const { changeId } = yield* ada.propose(WIDER, version)
      const { digest } = yield* bo.preview(changeId)
      expect(yield* there.bo.list("me")).toEqual([])
      for (const refused of [there.bo.preview(changeId), there.bo.file(changeId), there.bo.approve(changeId, digest!)])
        expect(yield* tagOf(refused)).toBe("UnknownName")
    })
  )

  it.effect("is stale once another version is in force, and is then shown without a digest", () =>
    Effect.gen(function* () {
      const { ada, bo, inForce, publish, version } = yield* governing("stale")
      const { changeId } = yield* ada.propose(WIDER, version)
      const { digest } = yield* bo.preview(changeId)
      const other = policyFile(["name", "phone"])
      yield* publish(other)
      expect(yield* tagOf(ada.propose(policyFile(["name", "email"]), version))).toBe("Stale")
      const shown = yield* bo.preview(changeId)
      expect([shown.digest, shown.policy?.problems]).toEqual([
        undefined,
        ["Another version of the policy is in force by now: nothing was published."]
      ])
      expect(yield* tagOf(bo.approve(changeId, digest!))).toBe("Stale")
      expect((yield* bo.preview(changeId)).state).toBe("stale")
      expect(yield* inForce).toEqual({ version: version + 1, document: other })
      expect(yield* tagOf(ada.again(changeId))).toBe("Stale")
    })
  )

  it.effect("is approved once, by one of two people at the same time", () =>
    Effect.gen(function* () {
      const { ada, bo, inForce, member, version } = yield* governing("races")
      const cy = yield* member("cy", "admin")
      for (let round = 0; round < 4; round++) {
        const { changeId } = yield* ada.propose(
          policyFile(["name", round % 2 === 0 ? "status" : "phone"]),
          version + round
        )
        const { digest } = yield* bo.preview(changeId)
        const outcomes = yield* Effect.all(
          [bo, cy, bo, cy].map((one) => Effect.result(one.approve(changeId, digest!))),
          { concurrency: "unbounded" }
        )
        const receipts = outcomes.flatMap((one) =>
          Result.isSuccess(one) && one.success._tag === "Applied" ? [one.success.receipt] : []
        )
        expect(receipts.length).toBeGreaterThan(0)
        expect(new Set(receipts.map(({ version: of }) => of))).toEqual(new Set([version + round + 1]))
        expect((yield* inForce).version).toBe(version + round + 1)
      }
    })
  )

  it.effect("ends when its proposer may not change the policy any more", () =>
    Effect.gen(function* () {
      const { ada, bo, inForce, member, organization, version } = yield* governing("demoted")
      const members = yield* Memberships
      yield* member("cy", "admin")
      const { changeId } = yield* ada.propose(WIDER, version)
      const { digest } = yield* bo.preview(changeId)
      yield* members.add(organization, { identifier: ada.email, roles: ["member"] })
      expect(yield* tagOf(bo.approve(changeId, digest!))).toBe("NotAllowed")
      expect((yield* bo.preview(changeId)).state).toBe("failed")
      expect((yield* inForce).version).toBe(version)
    })
  )

  it.effect("isn't approved by a person who has lost the approver's role, or was suspended, since it was shown", () =>
    Effect.gen(function* () {
      const { ada, bo, inForce, member, organization, version } = yield* governing("lost")
      const members = yield* Memberships
      const cy = yield* member("cy", "admin")
      const { changeId } = yield* ada.propose(WIDER, version)
      const { digest } = yield* bo.preview(changeId)
      yield* members.add(organization, { identifier: bo.email, roles: ["lawyer"] })
      yield* members.suspend(organization, cy.email)
      expect(yield* tagOf(bo.approve(changeId, digest!))).toBe("UnknownName")
      expect(yield* tagOf(cy.approve(changeId, digest!))).toBe("NotAdmitted")
      expect((yield* inForce).version).toBe(version)
    })
  )

  it.effect("runs the file's tests when it is proposed, when it is shown, and when it is approved", () =>
    Effect.gen(function* () {
      const { ada, bo, inForce, organization, version } = yield* governing("tested")
      const members = yield* Memberships
      const test = (email: string, hides: string) => ({ tests: [{ as: email, read: "people", hides: [hides] }] })
      expect(yield* tagOf(ada.propose(policyFile(["name"], test(bo.email, "phone")), version))).toBe("InvalidInput")
      const { changeId } = yield* ada.propose(policyFile(["name", "status"], test(ada.email, "email")), version)
      const shown = yield* bo.preview(changeId)
      expect(shown.policy!.tests).toEqual({ count: 1, failing: [] })
      // The person whom the test is about is no member any more, so it fails.
      const cy = yield* members.add(organization, { identifier: "cy@tested.example", roles: ["admin"], create: {} })
      const { owner } = yield* Database
      yield* owner`UPDATE max.identifiers SET anchor_id = ${cy.anchorId} WHERE organization_id = ${organization.id} AND key = ${ada.email}`
      yield* owner`UPDATE max.memberships SET suspended_at = now() WHERE organization_id = ${organization.id} AND anchor_id = ${cy.anchorId}`
      expect((yield* bo.preview(changeId)).policy!.tests!.failing).toHaveLength(1)
      expect(yield* tagOf(bo.approve(changeId, shown.digest!))).toBe("NotAllowed")
      expect((yield* bo.preview(changeId)).state).toBe("failed")
      expect((yield* inForce).version).toBe(version)
    })
  )

  it.effect("never takes away the last active person who may change the policy, or the last approver", () =>
    Effect.gen(function* () {
      const { ada, bo, inForce, version } = yield* governing("last")
      const without = JSON.parse(policyFile()) as { readonly roles: object }
      const unheld = { ...without, roles: { ...without.roles, admin: { inherits: [] } }, confirm: [] }
      const alone = {
        ...without,
        confirm: [{ action: "publish", by: "second", approvers: ["lawyer"] }]
      }
      for (const file of [unheld, alone]) {
        const { changeId } = yield* ada.propose(JSON.stringify(file), version)
        const { digest } = yield* bo.preview(changeId)
        expect(yield* tagOf(bo.approve(changeId, digest!))).toBe("NotAllowed")
      }
      expect((yield* inForce).version).toBe(version)
    })
  )

  it.effect("is undone by proposing the replaced version's file, once and over its own version", () =>
    Effect.gen(function* () {
      const { ada, bo, inForce, publish, version } = yield* governing("undone")
      const before = (yield* inForce).document
      const { changeId } = yield* ada.propose(WIDER, version)
      yield* bo.approve(changeId, (yield* bo.preview(changeId)).digest!)
      const undo = yield* ada.undo(changeId)
      expect([undo.preview.state, undo.preview.undoes]).toEqual(["open", changeId])
      expect((yield* ada.approve(undo.changeId, undo.preview.digest!))._tag).toBe("Waiting")
      expect((yield* bo.approve(undo.changeId, (yield* bo.preview(undo.changeId)).digest!))._tag).toBe("Applied")
      expect(yield* inForce).toEqual({ version: version + 2, document: before })
      expect((yield* ada.preview(changeId)).undoneBy).toBe(undo.changeId)
      expect(yield* tagOf(ada.undo(changeId))).toBe("Decided")
      // Another version in between: restoring would take that back as well.
      const { changeId: next } = yield* ada.propose(WIDER, version + 2)
      yield* bo.approve(next, (yield* bo.preview(next)).digest!)
      yield* publish(policyFile(["name", "phone"]))
      expect(yield* tagOf(ada.undo(next))).toBe("Stale")
    })
  )

  it.effect("is proposed again after it has expired, and is rejected or withdrawn like any change", () =>
    Effect.gen(function* () {
      const { ada, bo, inForce, organization, version } = yield* governing("again")
      const { owner } = yield* Database
      const { changeId, preview } = yield* ada.propose(WIDER, version)
      // The same file again is the same change.
      expect(yield* ada.propose(WIDER, version)).toMatchObject({ changeId, known: true })
      yield* owner`UPDATE max.changes SET expires_at = now() - interval '1 minute' WHERE organization_id = ${organization.id}`
      expect(yield* tagOf(bo.approve(changeId, preview.digest!))).toBe("Expired")
      const again = yield* ada.again(changeId)
      expect((yield* ada.approve(again.changeId, again.preview.digest!))._tag).toBe("Waiting")
      yield* bo.reject(again.changeId)
      expect((yield* ada.preview(again.changeId)).state).toBe("rejected")
      const third = yield* ada.propose(policyFile(["name", "phone"]), version)
      const { digest } = yield* bo.preview(third.changeId)
      yield* ada.withdraw(third.changeId)
      expect(yield* tagOf(bo.approve(third.changeId, digest!))).toBe("Decided")
      expect((yield* inForce).version).toBe(version)
    })
  )
})

layer(TestServices, { excludeTestServices: true })("a policy that asks for a second person", (it) => {
  it.effect("is replaced by no other way, but for an operator who says so, which the audit log records", () =>
    Effect.gen(function* () {
      const { ada, events, inForce, organization, version } = yield* governing("required")
      const policies = yield* Policies
      const { epoch } = yield* policies.prepare(organization, WIDER)
      const administrator = { ...ada.principal, epoch }
      for (const options of [{}, { replacing: version }, { administrator, replacing: version }]) {
        const refused = yield* Effect.exit(policies.publish(organization, WIDER, "operator", options))
        expect(Exit.isFailure(refused) && JSON.stringify(refused)).toContain("A second person (admin) approves each")
      }
      const same = yield* Effect.exit(
        policies.change(organization, (document) => ({ document: { ...document, rules: [] } }), "operator")
      )
      expect(Exit.isFailure(same) && JSON.stringify(same)).toContain("A second person (admin) approves each")
      expect((yield* inForce).version).toBe(version)
      yield* policies.publish(organization, policyFile(["name"], { confirm: [] }), "operator", {
        withoutApproval: true
      })
      expect((yield* events)[0]).toMatchObject({ action: "policy.published", details: { withoutApproval: true } })
      // It doesn't ask for one any more.
      const { epoch: now } = yield* policies.prepare(organization, WIDER)
      yield* policies.publish(organization, WIDER, "operator", { administrator: { ...administrator, epoch: now } })
      expect((yield* events)[0]!.details).not.toHaveProperty("withoutApproval")
    })
  )
})
