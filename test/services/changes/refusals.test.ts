/** What a change refuses: each bad input, and each fact that is no longer as it was shown, with one clear error and nothing written. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { describe, expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Organization } from "../../../src/domain/EntityType.ts"
import { entityId } from "../../../src/domain/values.ts"
import { raiseEpoch } from "../../../src/database/epoch.ts"
import { Memberships } from "../../../src/services/members/Memberships.ts"
import { addPeople } from "../../support/atlas.ts"
import {
  as,
  cellOf,
  changing,
  confirmed,
  forgetLimits,
  person,
  publish,
  rowsIn,
  valuesOf
} from "../../support/changes.ts"
import { TestServices } from "../../support/database.ts"

const tables = ["people", "companies", "meetings", "meeting_attendees"]
const everything = (organization: Organization) => Effect.forEach(tables, (table) => rowsIn(organization, table))

const repRules = [
  {
    id: "rep-reads",
    effect: "allow",
    role: "rep",
    action: "read",
    type: "people",
    columns: ["name", "status", "owner", "phone"],
    where: { any: [{ status: null }, { not: { status: "Hidden" } }] }
  },
  {
    id: "rep-own",
    effect: "allow",
    role: "rep",
    action: "update",
    type: "people",
    columns: ["status", "owner", "phone"],
    where: { owner: "$me" }
  }
]

layer(TestServices, { excludeTestServices: true })("a change is refused", (it) => {
  it.effect("with one clear error for each bad input, and nothing is written", () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* changing("bad-input")
      const [ada] = yield* addPeople(organization, [
        { name: "Ada Lovelace", status: "Lead" },
        { name: "Bob Ek" },
        { name: "Bob Ek" }
      ])
      const before = yield* everything(organization)
      const update = (values: Record<string, string>, ids = [ada!]) => admin.update("people.update", ids, values)
      const cases: ReadonlyArray<
        readonly [Effect.Effect<unknown, { readonly _tag: string; readonly message: string }>, string, string]
      > = [
        [admin.propose({ steps: [] }), "InvalidInput", "A change has at least one step."],
        [
          update(
            { phone: "1" },
            Array.from({ length: 26 }, (_, at) => `a${at}`.replace(/\d/g, (d) => "bcdefghijk"[Number(d)]!))
          ),
          "InvalidInput",
          "people.update takes at most 25 entityIds."
        ],
        [update({ status: "Won" }, []), "InvalidInput", "people.update needs entityIds."],
        [update({}), "InvalidInput", "people.update needs values."],
        [update({ name: "  " }), "InvalidInput", "name can't be empty."],
        [update({ name: "x".repeat(401) }), "InvalidInput", "name: it has more than 400 characters."],
        [update({ name: "x".repeat(10_001) }), "InvalidInput", "name has at most 10000 characters."],
        [update({ name: "A\u0000" }), "InvalidInput", "name: it contains a NUL character."],
        [update({ nickname: "Addie" }), "UnknownName", `There is no column "nickname" in people.`],
        [update({ owner: "Stranger Unknown" }), "InvalidInput", `owner: there is no person "Stranger Unknown".`],
        [update({ owner: "Bob Ek" }), "Unclear", `owner: several people fit "Bob Ek". Which one?`],
        [update({ status: "Won" }, ["zzzz"]), "UnknownName", `There is no person with the id "zzzz".`],
        [update({ status: "Won" }, ["NOT AN ID"]), "UnknownName", `There is no person with the id "NOT AN ID".`],
        [update({ status: "Lead" }), "InvalidInput", "Nothing would change: the values are there already."],
        [admin.create("people.create", { status: "Lead" }), "InvalidInput", "people.create needs name."],
        [
          admin.create("meetings.create", { name: "M", start: "31.3.2026" }),
          "InvalidInput",
          `start: "31.3.2026" isn't a time such as 2026-03-31 14:00.`
        ],
        [admin.create("planets.create", { name: "Mars" }), "UnknownName", `There is no action "planets.create".`],
        [
          admin.propose({ steps: [{ actionId: "people.create", entityIds: [ada!], values: valuesOf({ name: "X" }) }] }),
          "InvalidInput",
          "people.create takes no entityIds: it gives the id."
        ],
        [
          admin.propose({ steps: [{ actionId: "people.delete", entityIds: [ada!], values: valuesOf({ name: "X" }) }] }),
          "InvalidInput",
          "people.delete takes no values."
        ],
        [
          admin.propose({
            steps: [
              {
                actionId: "people.update",
                entityIds: [ada!],
                values: [...valuesOf({ status: "A" }), ...valuesOf({ status: "B" })]
              }
            ]
          }),
          "InvalidInput",
          "status is set twice."
        ],
        [
          admin.propose({
            steps: [
              { actionId: "people.update", entityIds: [ada!], values: valuesOf({ status: "A" }) },
              { actionId: "people.delete", entityIds: [ada!] }
            ]
          }),
          "InvalidInput",
          "One change does one thing to a person."
        ],
        [
          admin.remove("people.delete", [admin.anchorId]),
          "NotAllowed",
          "Admin is a member and can't be deleted: suspend the member instead."
        ],
        [admin.preview("zzzz"), "UnknownName", "There is no change with that id."],
        [admin.undo("zzzz"), "UnknownName", "There is no change with that id."],
        [admin.reject("zzzz"), "UnknownName", "There is no change with that id."],
        [admin.confirm({ changeId: "zzzz", digest: "0".repeat(64) }), "UnknownName", "There is no change with that id."]
      ]
      for (const [attempt, tag, message] of cases) {
        yield* forgetLimits(organization)
        const refusal = yield* Effect.flip(attempt)
        expect([refusal._tag, refusal.message.slice(0, message.length)]).toEqual([tag, message])
      }
      expect(yield* everything(organization)).toEqual(before)
    })
  )

  it.effect("for a forged or old digest, another person's change, and twice at once", () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* changing("digests")
      const other = yield* person(organization, "other@digests.example", "admin")
      const [ada] = yield* addPeople(organization, [{ name: "Ada" }])
      const old = yield* admin.update("people.update", [ada!], { status: "Old" })
      const draft = yield* admin.update("people.update", [ada!], { status: "New" })
      const { changeId } = draft
      const digest = draft.preview.digest!
      const tag = (attempt: Effect.Effect<unknown, { readonly _tag: string }>) =>
        Effect.map(Effect.flip(attempt), ({ _tag }) => _tag)
      expect(yield* tag(admin.confirm({ changeId, digest: "no digest" }))).toBe("InvalidInput")
      expect(yield* tag(admin.confirm({ changeId, digest: "0".repeat(64) }))).toBe("Stale")
      expect(yield* tag(admin.confirm({ changeId, digest: old.preview.digest! }))).toBe("Stale")
      expect(yield* tag(other.confirm({ changeId, digest }))).toBe("UnknownName")
      expect(yield* tag(other.preview(changeId))).toBe("UnknownName")
      expect(yield* tag(other.withdraw(changeId))).toBe("UnknownName")
      expect(yield* cellOf(organization, entityId(ada!), "status")).toBeNull()
      yield* admin.withdraw(old.changeId)
      expect(yield* tag(admin.confirm({ changeId: old.changeId, digest: old.preview.digest! }))).toBe("Decided")
      expect(yield* admin.confirm({ changeId, digest })).toMatchObject({ _tag: "Applied" })
      expect(yield* tag(admin.withdraw(changeId))).toBe("Decided")
      // Another organization's administrator, who knows the id and the digest.
      const foreign = yield* changing("digests-elsewhere")
      expect(yield* tag(foreign.admin.confirm({ changeId, digest }))).toBe("UnknownName")
      expect(yield* tag(foreign.admin.undo(changeId))).toBe("UnknownName")
    })
  )

  it.effect("for a hidden row and a hidden column with the very errors of what doesn't exist", () =>
    Effect.gen(function* () {
      const { organization } = yield* changing("hidden", repRules)
      const rita = yield* person(organization, "rita@hidden.example", "rep")
      const [hidden, shown] = yield* addPeople(organization, [
        { name: "Hidden Person", status: "Hidden", owner: entityId(rita.anchorId) },
        { name: "Shown Person", status: "Lead" }
      ])
      const message = (attempt: Effect.Effect<unknown, { readonly message: string }>, secret: string) =>
        Effect.map(Effect.flip(attempt), (error) => error.message.replaceAll(secret, "…"))
      const values = { status: "Won" }
      expect(yield* message(rita.update("people.update", [hidden!], values), hidden!)).toBe(
        yield* message(rita.update("people.update", ["zzzz"], values), "zzzz")
      )
      expect(yield* message(rita.update("people.update", [shown!], { email: "a@b.c" }), "email")).toBe(
        yield* message(rita.update("people.update", [shown!], { fmail: "a@b.c" }), "fmail")
      )
      expect(yield* message(rita.create("companies.create", { name: "X" }), "companies")).toBe(
        yield* message(rita.create("companiez.create", { name: "X" }), "companiez")
      )
      expect(yield* message(rita.update("people.update", [shown!], { owner: "Hidden Person" }), "Hidden Person")).toBe(
        yield* message(rita.update("people.update", [shown!], { owner: "Stranger Unknown" }), "Stranger Unknown")
      )
      expect(yield* message(rita.history("people", hidden!), hidden!)).toBe(
        yield* message(rita.history("people", "zzzz"), "zzzz")
      )
    })
  )

  it.effect("with words for what the policy doesn't permit, and each such attempt counts", () =>
    Effect.gen(function* () {
      const { organization } = yield* changing("refused", repRules)
      const rita = yield* person(organization, "rita@refused.example", "rep")
      const [mine, theirs] = yield* addPeople(organization, [
        { name: "Mine", status: "Lead", owner: entityId(rita.anchorId) },
        { name: "Theirs", status: "Lead" }
      ])
      const refusal = (attempt: Effect.Effect<unknown, { readonly _tag: string; readonly message: string }>) =>
        Effect.map(Effect.flip(attempt), ({ _tag, message }) => [_tag, message])
      expect(yield* refusal(rita.update("people.update", [theirs!], { status: "Won" }))).toEqual([
        "NotAllowed",
        "You may not change status of Theirs."
      ])
      expect(yield* refusal(rita.update("people.update", [mine!], { owner: "Theirs" }))).toEqual([
        "NotAllowed",
        "You may not change owner of Mine to that."
      ])
      expect(yield* refusal(rita.update("people.update", [mine!], { name: "Other" }))).toEqual([
        "NotAllowed",
        "You may not change name of people."
      ])
      for (let attempt = 2; attempt < 10; attempt++)
        yield* refusal(rita.update("people.update", [theirs!], { status: "Won" }))
      expect(yield* refusal(rita.update("people.update", [theirs!], { status: "Won" }))).toEqual([
        "TooManyCalls",
        expect.stringContaining("At most 10 changes a minute.")
      ])
      expect(yield* rita.list("mine")).toEqual([])
    })
  )

  describe("when something has changed between the preview and the confirmation:", () => {
    const world = Effect.fnUntraced(function* (slug: string) {
      const { admin, organization } = yield* changing(slug, repRules)
      const rita = yield* person(organization, `rita@${slug}.example`, "rep")
      const [ada] = yield* addPeople(organization, [
        { name: "Ada", status: "Lead", phone: "617 555 0100", email: "ada@x.example", owner: entityId(rita.anchorId) }
      ])
      const draft = yield* rita.update("people.update", [ada!], { status: "Won" })
      const { owner } = yield* Database
      const set = (assignment: string) =>
        owner.unsafe(
          `UPDATE data.people SET ${assignment} WHERE organization_id = $1::bigint AND id = $2::text::bigint`,
          [organization.id, entityId(ada!)]
        )
      return { admin, ada: ada!, confirm: confirmed(rita, draft), draft, organization, owner, rita, set }
    })
    type World = Effect.Success<ReturnType<typeof world>>

    const moved: Readonly<
      Record<
        string,
        {
          readonly change: (world: World) => Effect.Effect<unknown, unknown, Memberships>
          readonly tag: string
          readonly says: string
        }
      >
    > = {
      "the changed cell": {
        change: ({ set }) => set("status = 'Paused', status_k = 'paused'"),
        tag: "Stale",
        says: "Status was Lead when you looked; it is Paused now. Nothing was changed."
      },
      "the name": {
        change: ({ set }) => set("name = 'Eve', name_k = 'eve'"),
        tag: "Stale",
        says: "It is called Eve now: nothing was changed."
      },
      "a cell that a rule looks at": {
        change: ({ set }) => set("owner_id = NULL"),
        tag: "NotAllowed",
        says: "You may not change status of Ada."
      },
      "the row itself": {
        change: ({ ada, organization, owner }) =>
          owner`DELETE FROM data.people WHERE organization_id = ${organization.id} AND id = ${BigInt(entityId(ada))}`,
        tag: "Stale",
        says: "What you looked at isn't there any more: nothing was changed."
      },
      "the membership": {
        change: ({ organization, rita }) =>
          Effect.flatMap(Memberships, (members) => members.suspend(organization, rita.email)),
        tag: "NotAdmitted",
        says: "You don't have access here."
      },
      "the role": {
        change: ({ organization, rita }) =>
          Effect.flatMap(Memberships, (members) =>
            members.add(organization, { identifier: rita.email, roles: ["member"] })
          ),
        tag: "NotAllowed",
        says: "You may not change people any more: nothing was changed."
      },
      "the type's version": {
        change: ({ organization, owner }) =>
          owner.withTransaction(
            Effect.gen(function* () {
              yield* owner`INSERT INTO builder.entity_type_versions (organization_id, type_key, version, name, plural_name, relation_schema, relation_table, position)
                SELECT ${organization.id}, type_key, 2, name, plural_name, relation_schema, relation_table, position FROM builder.entity_type_versions WHERE organization_id = 0 AND type_key = 'people'`
              yield* owner`INSERT INTO builder.columns (organization_id, type_key, version, column_key, slug, name, kind, storage, position)
                SELECT ${organization.id}, type_key, 2, column_key, slug, name, kind, storage, position FROM builder.columns WHERE organization_id = 0 AND type_key = 'people'`
              yield* owner`INSERT INTO builder.version_refs (organization_id, type_key, source_organization_id, version) VALUES (${organization.id}, 'people', ${organization.id}, 2)`
              yield* raiseEpoch(owner, organization.id, [{ actor: "test", action: "type.changed", subject: "people" }])
            })
          ),
        tag: "Stale",
        says: "The columns of people have changed since you looked: nothing was changed."
      }
    }
    for (const [what, { change, says, tag }] of Object.entries(moved)) {
      it.effect(`${what} changed, which is said, and nothing is written`, () =>
        Effect.gen(function* () {
          const here = yield* world(what.replaceAll(/[^a-z]/g, "-"))
          yield* change(here)
          const before = yield* rowsIn(here.organization)
          const refusal = yield* Effect.flip(here.confirm)
          expect([refusal._tag, refusal.message.slice(0, says.length)]).toEqual([tag, says])
          expect(yield* rowsIn(here.organization)).toEqual(before)
        })
      )
    }

    it.effect("a person who would be deleted became a member: that is said, and the row stays", () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("joined")
        const [ada] = yield* addPeople(organization, [{ name: "Ada", email: "ada@joined.example" }])
        const draft = yield* admin.remove("people.delete", [ada!])
        const members = yield* Memberships
        yield* members.add(organization, { identifier: "ada@joined.example", roles: ["member"] })
        expect(yield* Effect.flip(confirmed(admin, draft))).toMatchObject({
          _tag: "NotAllowed",
          message: "Ada is a member and can't be deleted: suspend the member instead."
        })
        expect(yield* cellOf(organization, entityId(ada!), "name")).toBe("Ada")
      })
    )

    it.effect("the policy changed: the rules of now decide, and a change that they still permit is applied", () =>
      Effect.gen(function* () {
        const here = yield* world("policy-kept")
        yield* publish(here.organization, [...repRules].toReversed())
        expect(yield* here.confirm).toMatchObject({ _tag: "Applied" })
        const lost = yield* world("policy-lost")
        yield* publish(lost.organization, repRules.slice(0, 1))
        expect((yield* Effect.flip(lost.confirm))._tag).toBe("NotAllowed")
        expect(yield* cellOf(lost.organization, entityId(lost.ada), "status")).toBe("Lead")
      })
    )

    it.effect("a related row that a rule looks at changed: the rule sees the row of now", () =>
      Effect.gen(function* () {
        const { organization } = yield* changing("related", [
          repRules[0]!,
          { ...repRules[1]!, where: { owner: { status: "Active" } } }
        ])
        const rita = yield* person(organization, "rita@related.example", "rep")
        const [boss] = yield* addPeople(organization, [{ name: "Boss", status: "Active" }])
        const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead", owner: entityId(boss!) }])
        const draft = yield* rita.update("people.update", [ada!], { status: "Won" })
        const { owner } = yield* Database
        yield* owner`UPDATE data.people SET status = 'Gone', status_k = 'gone' WHERE organization_id = ${organization.id} AND id = ${BigInt(entityId(boss!))}`
        expect((yield* Effect.flip(confirmed(rita, draft)))._tag).toBe("NotAllowed")
        expect(yield* cellOf(organization, entityId(ada!), "status")).toBe("Lead")
      })
    )

    it.effect("an unrelated cell and the epoch changed: the change is applied", () =>
      Effect.gen(function* () {
        const here = yield* world("unrelated")
        yield* here.set("email = 'other@x.example'")
        yield* raiseEpoch(here.owner, here.organization.id, [{ actor: "test", action: "session.ended", subject: "x" }])
        expect(yield* here.confirm).toMatchObject({ _tag: "Applied" })
        expect(yield* cellOf(here.organization, entityId(here.ada), "email")).toBe("other@x.example")
      })
    )
  })

  it.effect("when a trigger makes something else of the value, and the row stays as it was", () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* changing("trigger")
      const { owner } = yield* Database
      const [ada] = yield* addPeople(organization, [{ name: "Ada", status: "Lead" }])
      yield* owner.unsafe(
        `CREATE FUNCTION max.twist() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.status = NEW.status || '!'; RETURN NEW; END $$`
      )
      yield* owner.unsafe(
        `CREATE TRIGGER twist BEFORE UPDATE ON data.people FOR EACH ROW WHEN (NEW.organization_id = ${organization.id}) EXECUTE FUNCTION max.twist()`
      )
      const draft = yield* admin.update("people.update", [ada!], { status: "Won" })
      expect(draft.preview.steps[0]!.cells).toMatchObject([{ becomes: "Won" }])
      const refusal = yield* Effect.flip(confirmed(admin, draft))
      expect(refusal.message).toBe("The database made something else of Status: nothing was changed.")
      expect(yield* cellOf(organization, entityId(ada!), "status")).toBe("Lead")
      yield* owner.unsafe("DROP FUNCTION max.twist() CASCADE")
    })
  )

  it.effect("for a principal without a person", () =>
    Effect.gen(function* () {
      const { admin, organization } = yield* changing("nameless")
      const [ada] = yield* addPeople(organization, [{ name: "Ada" }])
      const anonymous = yield* as({ ...admin.principal, anchorEntityId: "" })
      expect(yield* Effect.flip(anonymous.update("people.update", [ada!], { status: "Won" }))).toMatchObject({
        _tag: "NotAllowed",
        message: "Only an identified member can propose changes."
      })
    })
  )

  it.effect(
    "no hostile name reaches a preview: control and bidirectional characters are gone and the text is cut",
    () =>
      Effect.gen(function* () {
        const { admin, organization } = yield* changing("hostile")
        const hostile = `Ada\u202e (approved by IT)\u0007 <b>${"x".repeat(300)}`
        const [ada] = yield* addPeople(organization, [{ name: hostile, status: "Lead" }])
        const draft = yield* admin.update("people.update", [ada!], { status: "\u2066Won\u2069 <script>" })
        const [step] = draft.preview.steps
        expect(step!.displayName).toHaveLength(200)
        expect(step!.displayName).toMatch(/^Ada \(approved by IT\) {2}<b>x+…$/)
        expect(step!.cells).toMatchObject([{ was: "Lead", becomes: "Won <script>" }])
      })
  )

  it.effect("waits for the disk when it is refused or decided, and not for a draft alone", () =>
    Effect.gen(function* () {
      const { organization } = yield* changing("durable", repRules)
      const rita = yield* person(organization, "rita@durable.example", "rep")
      const [mine, theirs] = yield* addPeople(organization, [
        { name: "Mine", status: "Lead", owner: entityId(rita.anchorId) },
        { name: "Theirs", status: "Lead" }
      ])
      const { owner } = yield* Database
      yield* owner.unsafe("CREATE TABLE max.commits (state text, waits text)")
      yield* owner.unsafe(
        `CREATE FUNCTION max.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
           INSERT INTO max.commits VALUES (NEW.state, current_setting('synchronous_commit')); RETURN NULL; END $$`
      )
      // A deferred trigger runs when the transaction commits.
      yield* owner.unsafe(
        `CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE ON max.changes DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
         WHEN (NEW.organization_id = ${organization.id}) EXECUTE FUNCTION max.note()`
      )
      const draft = yield* rita.update("people.update", [mine!], { status: "Won" })
      yield* Effect.flip(rita.update("people.update", [theirs!], { status: "Won" }))
      yield* confirmed(rita, draft)
      expect(yield* owner`SELECT state, waits FROM max.commits`).toEqual([
        { state: "open", waits: "off" },
        { state: "failed", waits: "on" },
        { state: "applied", waits: "on" }
      ])
      yield* owner.unsafe("DROP FUNCTION max.note() CASCADE")
      yield* owner.unsafe("DROP TABLE max.commits")
    })
  )
})
