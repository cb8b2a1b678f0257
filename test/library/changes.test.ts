/** Changes by the library's promises: the same rules as over HTTP, and inputs that programs without types get wrong. */
import { layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { expect } from "vitest"
import { Changes, CurrentPrincipal, Max } from "../../src/index.ts"
import { decodeId } from "../../src/domain/ids.ts"
import { Credentials } from "../../src/services/access/Credentials.ts"
import { addPeople } from "../support/atlas.ts"
import { cellOf, changing, person } from "../support/changes.ts"
import { migratedDatabase } from "../support/database.ts"

const settings = { lookupTimeout: 10_000, searchTimeout: 30_000, writesPerMinute: 1000 }

class Url extends Context.Service<Url, string>()("test/Url") {}

const World = Layer.unwrap(
  Effect.map(migratedDatabase, (databaseUrl) =>
    Layer.merge(Max.layer({ databaseUrl, settings }), Layer.succeed(Url, databaseUrl))
  )
).pipe(Layer.orDie)

const opened = Effect.fnUntraced(function* (slug: string) {
  const world = yield* changing(slug, [], {
    confirm: [{ action: "delete", type: "people", by: "second", approvers: ["admin"] }]
  })
  const databaseUrl = yield* Url
  const max = yield* Effect.acquireRelease(
    Effect.promise(() => Max.open({ databaseUrl, organization: slug, settings })),
    (open) => Effect.promise(() => open.close())
  )
  const [ada] = yield* addPeople(world.organization, [{ name: "Ada Lovelace", status: "Lead" }])
  const stored = Effect.suspend(() => cellOf(world.organization, String(decodeId(ada!)), "status"))
  return { ...world, max, ada: ada!, stored }
})

const setStatus = (id: string, status: string) => [{ actionId: "people.update", entityIds: [id], values: { status } }]
const refusal = async (promise: Promise<unknown>): Promise<{ _tag: string; message: string }> => {
  try {
    await promise
  } catch (error) {
    return error as never
  }
  throw new Error("It wasn't refused")
}

layer(World, { excludeTestServices: true })("a change by the library", (it) => {
  it.effect("is proposed, previewed, confirmed, listed and undone", () =>
    Effect.gen(function* () {
      const { ada, admin, max, stored } = yield* opened("library")
      const me = max.as({ email: admin.email })
      yield* Effect.promise(async () => {
        const draft = await me.propose(setStatus(ada, "Won"), { key: "k-1" })
        expect(draft).toMatchObject({ known: false, preview: { channel: "library", level: "once" } })
        expect((await me.propose(setStatus(ada, "Won"), { key: "k-1" })).changeId).toBe(draft.changeId)
        expect((await me.changes()).map(({ changeId }) => changeId)).toEqual([draft.changeId])
        const shown = await me.preview(draft.changeId)
        expect(shown.steps[0]!.cells).toEqual([{ columnId: "status", name: "Status", was: "Lead", becomes: "Won" }])
        const confirmed = await me.confirm(draft.changeId, shown.digest!)
        expect(confirmed).toMatchObject({ _tag: "Applied", receipt: { rows: 1 } })
        expect((await me.history("people", ada))[0]).toMatchObject({ channel: "library" })
        expect((await me.events(draft.changeId)).at(-1)).toMatchObject({ phase: "applied", outcome: "ok" })
        expect((await me.actions()).map(({ id }) => id)).toContain("people.delete")
        const undo = await me.undo(draft.changeId)
        expect(await me.confirm(undo.changeId, undo.preview.digest!)).toMatchObject({ _tag: "Applied" })
        const other = await me.propose(setStatus(ada, "Lost"))
        await me.reject(other.changeId)
        expect(await refusal(me.confirm(other.changeId, other.preview.digest!))).toMatchObject({
          _tag: "Decided",
          state: "rejected"
        })
        const last = await me.propose(setStatus(ada, "Late"))
        await me.withdraw(last.changeId)
        expect((await me.changes({ list: "decided", limit: 1 })).map(({ state }) => state)).toEqual(["withdrawn"])
      })
      expect(yield* stored).toBe("Lead")
    }).pipe(Effect.scoped)
  )

  it.effect("that needs a second person is approved by another one", () =>
    Effect.gen(function* () {
      const { ada, admin, max, organization, stored } = yield* opened("second")
      const other = yield* person(organization, "other@second.example", "admin")
      yield* Effect.promise(async () => {
        const me = max.as({ email: admin.email })
        const draft = await me.propose([{ actionId: "people.delete", entityIds: [ada] }])
        const digest = draft.preview.digest!
        expect(await me.confirm(draft.changeId, digest)).toEqual({ _tag: "Waiting", approvers: ["admin"] })
        const approver = max.as({ email: other.email })
        expect((await approver.changes())[0]).toMatchObject({ changeId: draft.changeId, state: "waiting" })
        expect(await approver.confirm(draft.changeId, digest)).toMatchObject({ _tag: "Applied" })
      })
      expect(yield* stored).toBeUndefined()
    }).pipe(Effect.scoped)
  )

  it.effect("is confirmed by a token with the scope confirm, and by a vouched person only if the host says so", () =>
    Effect.gen(function* () {
      const { ada, admin, max, organization, stored } = yield* opened("scopes")
      const credentials = yield* Credentials
      const tokenOf = (...scopes: ReadonlyArray<"tools" | "chat" | "changes" | "confirm">) =>
        Effect.map(
          credentials.createToken(organization, { anchorId: admin.anchorId, name: "nightly sync", scopes, days: 1 }),
          ({ secret }) => max.as({ token: secret })
        )
      const [reader, drafter, decider] = [
        yield* tokenOf("tools", "chat"),
        yield* tokenOf("changes"),
        yield* tokenOf("changes", "confirm")
      ]
      const vouched = (confirms?: boolean) =>
        max.as(
          Max.principal({
            organization: "scopes",
            subject: { entityId: admin.anchorId },
            roles: ["admin"],
            ...(confirms === undefined ? {} : { confirms })
          })
        )
      yield* Effect.promise(async () => {
        expect((await refusal(reader.propose(setStatus(ada, "Won"))))._tag).toBe("NotInScope")
        const draft = await drafter.propose(setStatus(ada, "Won"))
        // A program has no words of the person to compare: the card names the token.
        expect(draft.preview.token).toBe("nightly sync")
        const digest = draft.preview.digest!
        for (const one of [reader, drafter, vouched(), vouched(false)]) {
          expect((await refusal(one.confirm(draft.changeId, digest)))._tag).toBe("NotInScope")
          expect((await refusal(one.reject(draft.changeId)))._tag).toBe("NotInScope")
        }
        expect((await vouched().preview(draft.changeId)).digest).toBe(digest)
      })
      expect(yield* stored).toBe("Lead")
      yield* Effect.promise(async () => {
        const first = await drafter.propose(setStatus(ada, "Won"))
        expect(await decider.confirm(first.changeId, first.preview.digest!)).toMatchObject({ _tag: "Applied" })
        const second = await vouched().propose(setStatus(ada, "Lost"))
        expect(await vouched(true).confirm(second.changeId, second.preview.digest!)).toMatchObject({ _tag: "Applied" })
        const nameless = max.as(Max.principal({ organization: "scopes", roles: ["admin"], confirms: true }))
        expect(await refusal(nameless.propose(setStatus(ada, "X")))).toMatchObject({
          _tag: "NotAllowed",
          message: "Only an identified member can propose changes."
        })
      })
      expect(yield* stored).toBe("Lost")
    }).pipe(Effect.scoped)
  )

  it.effect("with invalid input is refused before anything is looked up", () =>
    Effect.gen(function* () {
      const { ada, admin, max } = yield* opened("invalid")
      const me = max.as({ email: admin.email })
      const bad: ReadonlyArray<() => Promise<unknown>> = [
        () => me.propose(undefined as never),
        () => me.propose([{ actionId: 5 }] as never),
        () => me.propose([{ actionId: "people.update", ids: [ada] }] as never),
        () => me.propose(setStatus(ada, "X"), { key: "" }),
        () => me.preview(undefined as never),
        () => me.preview("a\u0000"),
        () => me.confirm("abc", undefined as never),
        () => me.reject({} as never),
        () => me.history("people", 5 as never)
      ]
      yield* Effect.promise(async () => {
        for (const attempt of bad) expect((await refusal(attempt()))._tag).toBe("InvalidInput")
      })
    }).pipe(Effect.scoped)
  )

  it.effect("is a service for programs with Effect", () =>
    Effect.gen(function* () {
      const { ada, admin, organization, stored } = yield* opened("effect")
      const changes = yield* Changes
      const principal = yield* Max.admit(organization, { email: admin.email }, "confirm")
      const via = { channel: "nightly" }
      yield* Effect.gen(function* () {
        const values = [{ columnId: "status", value: "Won" }]
        const { changeId, preview } = yield* changes.propose({
          steps: [{ actionId: "people.update", entityIds: [ada], values }],
          via
        })
        expect((yield* changes.confirm({ changeId, digest: preview.digest!, via }))._tag).toBe("Applied")
      }).pipe(Effect.provideService(CurrentPrincipal, principal))
      expect(yield* stored).toBe("Won")
    }).pipe(Effect.scoped)
  )
})
