/** Conversations as they are stored: whose they are, what is shown of them, and which process writes. */
import { layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { expect } from "vitest"
import { Database } from "../../../src/database/Database.ts"
import type { Basis } from "../../../src/domain/Basis.ts"
import { encodeId } from "../../../src/domain/ids.ts"
import { Sessions } from "../../../src/services/conversations/Sessions.ts"
import { Organizations } from "../../../src/services/organizations/Organizations.ts"
import type { Keeping, NewTurn } from "../../../src/services/conversations/storeTurns.ts"
import { addPeople, makeOrganization } from "../../support/atlas.ts"
import { TestServices } from "../../support/database.ts"

const DAY = 86_400_000
const BASIS: Basis = { key: "rights", expiresAt: Date.now() + DAY }
const ADA = { type: "people", id: "ada", name: "Ada Byron" }
const BOB = { type: "people", id: "bob", name: "Bob" }
const REFERENCE = { type: "people", id: "ada" }

const turn = (asked: string, more: Partial<NewTurn> = {}): NewTurn => ({
  asked,
  answered: `${asked}!`,
  epoch: 7n,
  references: [],
  model: "scripted",
  inputTokens: 3,
  outputTokens: 4,
  reference: "abcd1234",
  ...more
})

/** An organization, and a person of it who converses. */
const company = Effect.fnUntraced(function* (slug: string) {
  const organization = yield* makeOrganization(slug)
  const [anchorId] = yield* addPeople(organization, [{ name: "Lena" }])
  const sessions = yield* Sessions
  const owner = { organizationId: organization.id, anchorId: anchorId! }
  const say = (text: string, id?: string, more: Partial<NewTurn> = {}, after?: number, basis = BASIS) =>
    Effect.scoped(
      Effect.gen(function* () {
        const session = yield* sessions.open(owner, id, 60, { after })
        yield* session.save(turn(text, more), basis)
        return session
      })
    )
  const opened = (id: string, after?: number, whose = owner) =>
    Effect.scoped(
      Effect.gen(function* () {
        const session = yield* sessions.open(whose, id, 60, { after })
        return { ...session, turns: (yield* session.turnsOf(BASIS)).map(({ asked }) => asked) }
      })
    )
  return { organization, owner, opened, say, sessions }
})

const leaseOf = (id: string) =>
  Effect.flatMap(Database, ({ owner }) =>
    Effect.map(
      owner<{ lease: string | null; left: number | null }>`
        SELECT lease, extract(epoch FROM leased_until - clock_timestamp())::float8 AS left FROM max.sessions WHERE session_id = ${id}`,
      ([row]) => row!
    )
  )

layer(TestServices, { excludeTestServices: true })("a session", (it) => {
  it.effect("begins without turns, and continues with its turns and focus", () =>
    Effect.gen(function* () {
      const { opened, say } = yield* company("begun")
      const first = yield* say("one", undefined, { references: [ADA] })
      expect(first).toMatchObject({ isNew: true, focus: [] })
      expect(first.id).toMatch(/^[0-9a-f]{32}$/)
      expect(yield* first.turnsOf(BASIS)).toEqual([])
      expect((yield* say("another")).id).not.toBe(first.id)
      expect(yield* opened(first.id)).toMatchObject({ id: first.id, isNew: false, focus: [REFERENCE], turns: ["one"] })
      const second = yield* say("two", first.id)
      expect(yield* second.turnsOf(BASIS)).toEqual([
        { asked: "one", answered: "one!" },
        { asked: "two", answered: "two!" }
      ])
      expect(yield* opened(first.id), "an answer without entities keeps the focus").toMatchObject({
        focus: [REFERENCE]
      })
    })
  )

  it.effect("shows its latest eight turns, made from the same rights, while their basis lasts", () =>
    Effect.gen(function* () {
      const { opened, say } = yield* company("kept")
      const { id } = yield* say("1")
      for (let number = 2; number <= 9; number++) yield* say(String(number), id)
      expect((yield* opened(id)).turns).toEqual(["2", "3", "4", "5", "6", "7", "8", "9"])
      yield* say("of other rights", id, {}, undefined, { ...BASIS, key: "other" })
      yield* say("expired", id, {}, undefined, { ...BASIS, expiresAt: Date.now() - 1 })
      expect((yield* opened(id)).turns).toEqual(["2", "3", "4", "5", "6", "7", "8", "9"])
    })
  )

  it.effect("keeps something with a turn in one transaction, for the place of the turn: both, or neither", () =>
    Effect.gen(function* () {
      const { opened, owner, say, sessions } = yield* company("beside")
      const { id } = yield* say("one")
      const saved = (asked: string, keeping: Keeping) =>
        Effect.scoped(
          Effect.flatMap(sessions.open(owner, id, 60, {}), (session) => session.save(turn(asked), BASIS, keeping))
        )
      const places: Array<unknown> = []
      yield* saved("two", (_, place) => Effect.sync(() => places.push(place)))
      expect(places).toEqual([{ sessionId: id, position: 2 }])
      const broken = yield* saved("three", (sql) => Effect.asVoid(sql`SELECT 1 / 0`)).pipe(Effect.flip)
      expect(broken._tag).toBe("Unavailable")
      expect((yield* opened(id)).turns).toEqual(["one", "two"])
    })
  )

  it.effect("continues behind an earlier turn with that turn's focus; saving replaces the later turns", () =>
    Effect.gen(function* () {
      const { opened, organization, say, sessions } = yield* company("branched")
      const { id } = yield* say("one")
      yield* say("two", id, { references: [ADA] })
      yield* say("three", id)
      yield* say("four", id, { references: [BOB] })
      expect(yield* opened(id, 1)).toMatchObject({ isNew: false, focus: [], turns: ["one"] })
      expect(yield* opened(id, 3)).toMatchObject({ focus: [REFERENCE], turns: ["one", "two", "three"] })
      yield* say("again", id, {}, 2)
      expect((yield* opened(id)).turns).toEqual(["one", "two", "again"])
      expect((yield* sessions.show(organization, id)).session.turns).toBe(3)
      expect((yield* opened(id)).focus).toEqual([REFERENCE])
    })
  )

  it.effect("is its owner's only: another person's, another organization's or an unknown id begins a new session", () =>
    Effect.gen(function* () {
      const { opened, owner, say } = yield* company("own")
      const other = yield* company("other")
      const { id } = yield* say("one")
      for (const [whose, asked] of [
        [{ ...owner, anchorId: encodeId(1n) }, id],
        [other.owner, id],
        [{ ...owner, organizationId: other.owner.organizationId }, id],
        [owner, "0".repeat(32)]
      ] as const) {
        const found = yield* opened(asked, undefined, whose)
        expect(found).toMatchObject({ isNew: true, focus: [], turns: [] })
        expect(found.id).not.toBe(asked)
      }
    })
  )

  it.effect("is leased by one turn at a time: the next one waits until it is saved or given up", () =>
    Effect.gen(function* () {
      const { opened, owner, say, sessions } = yield* company("leased")
      const { id } = yield* say("one")
      const held = yield* Deferred.make<void>()
      const saved = yield* Deferred.make<void>()
      const first = yield* Effect.forkChild(
        Effect.scoped(
          Effect.gen(function* () {
            const session = yield* sessions.open(owner, id, 600, { lease: "first" })
            yield* Deferred.succeed(held, undefined)
            yield* Deferred.await(saved)
            yield* session.save(turn("two"), BASIS)
          })
        )
      )
      yield* Deferred.await(held)
      const lease = yield* leaseOf(id)
      expect(lease.lease).toBe("first")
      expect(lease.left!).toBeGreaterThan(300)
      const second = yield* Effect.forkChild(opened(id))
      yield* Effect.sleep(250)
      expect(second.pollUnsafe(), "it waits").toBeUndefined()
      // A turn that is cancelled while it waits ends at once.
      const third = yield* Effect.forkChild(opened(id))
      yield* Effect.sleep(50)
      yield* Fiber.interrupt(third)
      expect((yield* leaseOf(id)).lease).toBe("first")
      yield* Deferred.succeed(saved, undefined)
      yield* Fiber.join(first)
      expect((yield* Fiber.join(second)).turns).toEqual(["one", "two"])
      expect(yield* leaseOf(id), "given up without saving").toEqual({ lease: null, left: null })
    })
  )

  it.effect("has a new lease for each turn; one that lost its lease writes nothing and releases nothing", () =>
    Effect.gen(function* () {
      const { opened, organization, owner, say, sessions } = yield* company("fenced")
      const sql = (yield* Database).owner
      const { id } = yield* say("one")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const late = yield* sessions.open(owner, id, 60)
          const before = yield* leaseOf(id)
          expect(before.lease).toMatch(/^[\w-]{16}$/)
          yield* sql`UPDATE max.sessions SET leased_until = clock_timestamp() - interval '1 second' WHERE session_id = ${id}`
          const next = yield* sessions.open(owner, id, 60)
          const { lease } = yield* leaseOf(id)
          expect(lease).not.toBe(before.lease)
          let kept = 0
          const keeping = () => Effect.sync(() => void kept++)
          yield* late.save(turn("late"), BASIS, keeping)
          expect([kept, (yield* leaseOf(id)).lease]).toEqual([0, lease])
          yield* next.save(turn("two"), BASIS, keeping)
          expect(kept).toBe(1)
          yield* sql`UPDATE max.sessions SET lease = 'of another process' WHERE session_id = ${id}`
        })
      )
      expect((yield* leaseOf(id)).lease).toBe("of another process")
      yield* sql`UPDATE max.sessions SET lease = NULL WHERE session_id = ${id}`
      expect((yield* opened(id)).turns).toEqual(["one", "two"])
      expect((yield* sessions.show(organization, id)).turns.map(({ asked }) => asked)).toEqual(["one", "two"])
    })
  )

  it.effect("is listed and shown to operators with its turns, and removed by its id", () =>
    Effect.gen(function* () {
      const { organization, owner, say, sessions } = yield* company("shown")
      const other = yield* company("unshown")
      const { id } = yield* say("one", undefined, { references: [ADA] })
      const { id: second } = yield* say("other")
      yield* say("two", id, { model: "another", inputTokens: 5, outputTokens: 6, reference: "ffff0000", epoch: 8n })
      const listed = yield* sessions.list(organization)
      const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      expect(listed).toEqual([
        { id, anchorId: owner.anchorId, turns: 2, createdAt: at, updatedAt: at },
        { id: second, anchorId: owner.anchorId, turns: 1, createdAt: at, updatedAt: at }
      ])
      const common = { references: [], at }
      expect(yield* sessions.show(organization, id)).toEqual({
        session: listed[0],
        turns: [
          {
            ...common,
            asked: "one",
            answered: "one!",
            references: [ADA],
            epoch: 7n,
            model: "scripted",
            inputTokens: 3,
            outputTokens: 4,
            reference: "abcd1234"
          },
          {
            ...common,
            asked: "two",
            answered: "two!",
            epoch: 8n,
            model: "another",
            inputTokens: 5,
            outputTokens: 6,
            reference: "ffff0000"
          }
        ]
      })
      expect(yield* sessions.list(other.organization)).toEqual([])
      const fault = {
        _tag: "OperatorError",
        message: "There is no session with that id. max sessions list shows them."
      }
      expect(yield* Effect.flip(sessions.show(other.organization, id))).toMatchObject(fault)
      expect(yield* Effect.flip(sessions.remove(other.organization, id))).toMatchObject(fault)
      yield* sessions.remove(organization, id)
      expect(yield* Effect.flip(sessions.remove(organization, id))).toMatchObject(fault)
      expect((yield* sessions.list(organization)).map((one) => one.id)).toEqual([second])
    })
  )

  it.effect("is removed after so many days without a turn, and counted", () =>
    Effect.gen(function* () {
      const { organization, say, sessions } = yield* company("pruned")
      const other = yield* company("unpruned")
      const sql = (yield* Database).owner
      const ids = [yield* say("one"), yield* say("two"), yield* say("three"), yield* other.say("four")].map(
        ({ id }) => id
      )
      const old = [ids[0]!, ids[1]!, ids[3]!]
      yield* sql`UPDATE max.sessions SET updated_at = now() - interval '31 days' WHERE session_id = ANY(${old}::text[])`
      expect(yield* sessions.removeOlderThan(organization.id, 32)).toBe(0)
      expect(yield* sessions.removeOlderThan(organization.id, 30)).toBe(2)
      expect((yield* sessions.list(organization)).map(({ id }) => id)).toEqual([ids[2]])
      expect(yield* other.sessions.list(other.organization)).toHaveLength(1)
    })
  )

  it.effect("is removed after the organization's own days, which are never more than the operator's", () =>
    Effect.gen(function* () {
      const { organization, say, sessions } = yield* company("shorter")
      const other = yield* company("as-ever")
      const organizations = yield* Organizations
      const sql = (yield* Database).owner
      const aged = (days: number) =>
        Effect.gen(function* () {
          for (const { id } of [yield* say("one"), yield* other.say("two")])
            yield* sql`UPDATE max.sessions SET updated_at = now() - make_interval(days => ${days}::int) WHERE session_id = ${id}`
        })
      yield* organizations.change(organization, { conversationDays: 7 })
      yield* aged(8)
      yield* aged(6)
      // Both have a conversation of eight days and one of six.
      expect(yield* sessions.removeOlderThan(organization.id, 30)).toBe(1)
      expect(yield* sessions.removeOlderThan(other.organization.id, 30)).toBe(0)
      expect(yield* sql`SELECT 1 FROM max.turns WHERE organization_id = ${organization.id}`).toHaveLength(1)
      // An operator who keeps them for a shorter time than the organization wants.
      expect(yield* sessions.removeOlderThan(organization.id, 5)).toBe(1)
      yield* organizations.change(organization, { conversationDays: null })
      yield* aged(8)
      expect(yield* sessions.removeOlderThan(organization.id, 30)).toBe(0)
    })
  )
})
