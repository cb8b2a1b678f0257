/** Drafts are opened by the transaction that keeps their turn, and by nothing else; a restore expires what was open. */
import { layer } from "@effect/vitest"
import { Effect, Exit, Redacted, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect } from "vitest"
import { connectOwner, Database } from "../../../src/database/Database.ts"
import { sourceOf } from "../../../src/database/DatabaseSource.ts"
import { Changes } from "../../../src/services/changes/Changes.ts"
import { Sessions } from "../../../src/services/conversations/Sessions.ts"
import { backup, restore } from "../../../src/services/operations/Backup.ts"
import { addPeople } from "../../support/atlas.ts"
import { changing, confirmed, valuesOf, VIA } from "../../support/changes.ts"
import { freshDatabase, TestServices } from "../../support/database.ts"

const turn = {
  asked: "Make Ada Won",
  answered: "That waits for you.",
  epoch: 1n,
  references: [],
  model: "test",
  inputTokens: 0,
  outputTokens: 0,
  reference: "ABCD"
}
const basis = { key: "k", expiresAt: Infinity }

layer(TestServices, { excludeTestServices: true })("the drafts of a turn", (it) => {
  const drafted = Effect.fnUntraced(function* (slug: string) {
    const { admin, organization } = yield* changing(slug)
    const changes = yield* Changes
    const sessions = yield* Sessions
    const [ada] = yield* addPeople(organization, [{ name: "Ada" }])
    const draft = yield* admin.propose({
      steps: [{ actionId: "people.update", entityIds: [ada!], values: valuesOf({ status: "Won" }) }],
      drafted: true
    })
    return {
      admin,
      draft,
      organization,
      owner: { organizationId: organization.id, anchorId: admin.anchorId },
      sessions,
      opening: changes.opening(admin.principal, VIA, [draft.changeId])
    }
  })

  it.effect(
    "proposed again keep their level and their time, and are withdrawn where the repeat needs a higher one",
    () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("repeats")
        const { owner: sql } = yield* Database
        const [ada, bob] = yield* addPeople(organization, [{ name: "Ada" }, { name: "Bob" }])
        const proposed = (id: string, atLeast: "none" | "twice") =>
          admin.propose({
            steps: [{ actionId: "people.update", entityIds: [id], values: valuesOf({ status: "Won" }) }],
            atLeast
          })
        const timesOf = (changeId: string) =>
          sql`SELECT expires_at::text FROM max.changes WHERE change_id = ${changeId}`
        const strict = yield* proposed(ada!, "twice")
        const before = yield* timesOf(strict.changeId)
        const repeat = yield* proposed(ada!, "none")
        expect(repeat).toMatchObject({ changeId: strict.changeId, known: true, preview: { level: "twice" } })
        expect(yield* timesOf(strict.changeId)).toEqual(before)

        const easy = yield* proposed(bob!, "none")
        const raised = yield* proposed(bob!, "twice")
        expect(raised).toMatchObject({ known: false, preview: { level: "twice", state: "open" } })
        expect(yield* admin.preview(easy.changeId)).toMatchObject({ state: "withdrawn" })
        expect((yield* Effect.flip(confirmed(admin, easy)))._tag).toBe("Decided")
        const events = yield* admin.events(easy.changeId)
        expect(events.map(({ phase }) => phase)).toEqual(["resolved", "planned", "opened", "withdrawn"])
      })
  )

  it.effect("open with the turn, and know their conversation and turn", () =>
    Effect.gen(function* () {
      const { admin, draft, opening, owner, sessions } = yield* drafted("kept")
      const session = yield* sessions.open(owner, undefined, 60)
      yield* session.save(turn, basis, opening)
      expect(yield* admin.preview(draft.changeId)).toMatchObject({ state: "open", complete: true })
      expect(yield* admin.list("mine", session.id)).toHaveLength(1)
      const { owner: sql } = yield* Database
      const [row] = yield* sql`SELECT session_id, turn FROM max.changes WHERE change_id = ${draft.changeId}`
      expect(row).toEqual({ session_id: session.id, turn: 1 })
    }).pipe(Effect.scoped)
  )

  it.effect("are withdrawn by the turn that takes the place of theirs, and not by a later one", () =>
    Effect.gen(function* () {
      const { admin, draft, opening, owner, sessions } = yield* drafted("replaced")
      const changes = yield* Changes
      const none = changes.opening(admin.principal, VIA, [])
      const id = yield* Effect.scoped(
        Effect.gen(function* () {
          const session = yield* sessions.open(owner, undefined, 60)
          yield* session.save(turn, basis)
          return session.id
        })
      )
      const next = (after: number | undefined, keeping: typeof opening) =>
        Effect.scoped(
          Effect.flatMap(sessions.open(owner, id, 60, { after }), (session) => session.save(turn, basis, keeping))
        )
      yield* next(undefined, opening)
      yield* next(undefined, none)
      expect(yield* admin.preview(draft.changeId)).toMatchObject({ state: "open" })
      yield* next(1, none)
      expect(yield* admin.preview(draft.changeId)).toMatchObject({ state: "withdrawn" })
    })
  )

  it.effect("stay hidden when the turn isn't kept, because its lease is lost or its statement fails", () =>
    Effect.gen(function* () {
      const { admin, draft, opening, owner, sessions } = yield* drafted("not-kept")
      const begun = yield* sessions.open(owner, undefined, 60)
      yield* begun.save(turn, basis)
      const lost = yield* Scope.make()
      const continued = yield* sessions.open(owner, begun.id, 60).pipe(Scope.provide(lost))
      yield* Scope.close(lost, Exit.void)
      yield* continued.save(turn, basis, opening)
      expect(yield* admin.list("mine")).toEqual([])
      const failing = yield* sessions.open(owner, undefined, 60)
      yield* Effect.flip(failing.save({ ...turn, asked: "\u0000" }, basis, opening))
      expect(yield* admin.list("mine")).toEqual([])
      expect((yield* Effect.flip(admin.preview(draft.changeId)))._tag).toBe("UnknownName")
    }).pipe(Effect.scoped)
  )

  it.effect("are gone after a restore, which expires open changes and keeps what was applied", () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* drafted("restored")
      const [ada, bob] = yield* addPeople(organization, [{ name: "Ada" }, { name: "Bob" }])
      const open = yield* admin.update("people.update", [ada!], { status: "Won" })
      const done = yield* admin.update("people.update", [bob!], { status: "Won" })
      yield* confirmed(admin, done)
      const { owner } = yield* Database
      const folder = mkdtempSync(join(tmpdir(), "max-changes-backup-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true, force: true })))
      yield* backup(owner, join(folder, "backup"), { force: false })
      const target = yield* connectOwner(sourceOf({ url: Redacted.make(yield* freshDatabase) }))
      yield* restore(target, join(folder, "backup"))
      const states = yield* target.owner<{
        change_id: string
        state: string
      }>`SELECT change_id, state FROM max.changes WHERE organization_id = ${organization.id}`
      expect(new Map(states.map(({ change_id, state }) => [change_id, state]))).toEqual(
        new Map([
          [open.changeId, "expired"],
          [done.changeId, "applied"]
        ])
      )
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )
})
