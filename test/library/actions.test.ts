/** Actions of a program: the same card, confirmation, outbox and phases as a request to another system. */
import { layer } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { describe, expect, it as test } from "vitest"
import { type ActionOptions, ActionDelayed, ActionRefused, type Deed, defineAction, Max } from "../../src/index.ts"
import { Actions } from "../../src/services/actions/Actions.ts"
import { fieldsOf } from "../../src/services/actions/fieldsOf.ts"
import { ChangeOutbox } from "../../src/services/changes/calls/ChangeOutbox.ts"
import { Database } from "../../src/database/Database.ts"
import { changing, confirmed, person, valuesOf } from "../support/changes.ts"
import { migratedDatabase } from "../support/database.ts"
import { fileOf } from "../support/service.ts"

const settings = { lookupTimeout: 10_000, searchTimeout: 30_000, writesPerMinute: 1000 }

class Url extends Context.Service<Url, string>()("test/Url") {}

const World = Layer.unwrap(
  Effect.map(migratedDatabase, (databaseUrl) =>
    Layer.merge(Max.layer({ databaseUrl, settings }), Layer.succeed(Url, databaseUrl))
  )
).pipe(Layer.orDie)

const Reminder = Schema.Struct({
  to: Schema.String.check(Schema.isMaxLength(60)).annotate({ title: "Recipient" }),
  days: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 30 })),
  urgent: Schema.optionalKey(Schema.Boolean),
  tone: Schema.Literals(["kind", "firm"]),
  lines: Schema.Array(Schema.Struct({ text: Schema.String, amount: Schema.Finite }))
})
const VALUES = { to: "Ada", days: "3", tone: "kind", lines: `[{"text":"Forks","amount":12.5}]` }
const step = (values: Readonly<Record<string, string>> = {}) => ({
  steps: [{ actionId: "send_reminder", values: valuesOf({ ...VALUES, ...values }) }]
})

/** A reminder that counts what it is asked to do. */
const reminder = (run: ActionOptions<typeof Reminder.Type>["run"], more: object = {}) => {
  const ran: Array<{ readonly values: typeof Reminder.Type; readonly deed: Deed }> = []
  const definition = defineAction({
    slug: "send_reminder",
    input: Reminder,
    category: "external",
    run: (values: typeof Reminder.Type, deed) => {
      ran.push({ values, deed })
      return run(values, deed)
    },
    ...more
  })
  return { definition, ran, runs: new Map([[definition.slug, definition]]) }
}

const BOOKING = {
  slug: "book_room",
  category: "write",
  input: Schema.Struct({ room: Schema.String }),
  run: async () => {}
} as const
const INVOKE = { id: "reminds", effect: "allow", role: "admin", action: "invoke", name: "send_reminder" }

/** An organization for which the action is declared, without a process that runs it. */
const declared = Effect.fnUntraced(function* (slug: string, one: ReturnType<typeof reminder>) {
  const { organization } = yield* changing(slug, [INVOKE])
  yield* (yield* Actions).declare(organization, [one.definition])
  const outbox = yield* ChangeOutbox
  const sender = yield* person(organization, `sender@${slug}.example`, "admin")
  const queued = Effect.gen(function* () {
    const draft = yield* sender.propose(step())
    yield* confirmed(sender, draft)
    return draft.changeId
  })
  return { organization, sender, queued, run: outbox.run(organization.id, one.runs) }
})

const outcome = Effect.fnUntraced(function* (changeId: string) {
  const { owner } = yield* Database
  const [row] = yield* owner<{
    state: string
    attempts: number
    error: string | null
  }>`SELECT state, attempts, error FROM max.change_outbox WHERE change_id = ${changeId}`
  return row!
})
const hurry = Effect.fnUntraced(function* (changeId: string) {
  const { owner } = yield* Database
  yield* owner`UPDATE max.change_outbox SET next_at = clock_timestamp() WHERE change_id = ${changeId}`
})

layer(World, { excludeTestServices: true })("an action of a program", (it) => {
  it.effect("is proposed, shown, confirmed and run once, by promises and by an Effect, with its typed values", () =>
    Effect.gen(function* () {
      const { organization } = yield* changing("embeds", [INVOKE])
      const { email } = yield* person(organization, "sender@embeds.example", "admin")
      const databaseUrl = yield* Url
      for (const run of [async () => ({ sent: 1 }), () => Effect.succeed({ sent: 1 })]) {
        const { definition, ran } = reminder(run)
        yield* Effect.promise(async () => {
          await using max = await Max.open({ databaseUrl, organization: "embeds", settings, actions: [definition] })
          const me = max.as({ email })
          expect((await me.actions()).find(({ id }) => id === "send_reminder")).toMatchObject({
            name: "Send reminder",
            category: "external",
            input: { properties: { values: { required: ["to", "days", "tone", "lines"] } } }
          })
          const values = { ...VALUES, to: `Ada ${ran.length} ${run.constructor.name}` }
          const draft = await me.propose([{ actionId: "send_reminder", values }])
          expect(draft.preview).toMatchObject({
            level: "once",
            steps: [{ call: { host: "a program of your organization" }, cells: [{ name: "Recipient" }, {}, {}, {}] }]
          })
          expect(ran).toEqual([])
          const done = await me.confirm(draft.changeId, draft.preview.digest!)
          await expect.poll(() => ran.length).toBe(1)
          if (done._tag === "Applied" && !done.receipt.message.includes("being sent"))
            expect(done.receipt.message).toBe("“Send reminder” is done (sent: 1).")
          expect(ran[0]).toEqual({
            values: { to: values.to, days: 3, tone: "kind", lines: [{ text: "Forks", amount: 12.5 }] },
            deed: { idempotencyKey: expect.stringMatching(/^[0-9a-f]{40}$/), person: expect.any(String), attempt: 1 }
          })
        })
      }
      // The same definition again is the same version.
      const [only] = yield* (yield* Actions).list(organization)
      expect(only).toMatchObject({ slug: "send_reminder", version: 1, target: "program", author: "program" })
    })
  )

  it.effect("is open to no one whom no rule allows it", () =>
    Effect.gen(function* () {
      const { organization } = yield* declared(
        "unruled",
        reminder(async () => {})
      )
      const rep = yield* person(organization, "rep@unruled.example", "rep")
      expect(yield* Effect.flip(rep.propose(step()))).toMatchObject({ _tag: "UnknownName" })
    })
  )

  it.effect("takes only values that fit its schema", () =>
    Effect.gen(function* () {
      const { sender } = yield* declared(
        "values",
        reminder(async () => {})
      )
      for (const wrong of [{ days: "31" }, { days: "2.5" }, { tone: "rude" }, { to: "x".repeat(61) }, { lines: "[1]" }])
        expect(yield* Effect.flip(sender.propose(step(wrong as never)))).toMatchObject({ _tag: "InvalidInput" })
    })
  )

  it.effect("is taken back by the function that it names, with what it returned, after a confirmation", () =>
    Effect.gen(function* () {
      const ran: Array<readonly [string, unknown]> = []
      const book = defineAction({
        slug: "book_room",
        category: "write",
        input: Schema.Struct({ room: Schema.String }),
        inverse: { action: "cancel_room", fields: { booking: { result: "booking" }, room: { field: "room" } } },
        run: async (values) => {
          ran.push(["book", values])
          return values.room === "Nowhere" ? {} : { booking: "b-7" }
        }
      })
      const cancel = defineAction({
        slug: "cancel_room",
        category: "destructive",
        input: Schema.Struct({ booking: Schema.String, room: Schema.String }),
        run: async (values) => void ran.push(["cancel", values])
      })
      const rules = ["book_room", "cancel_room"].map((name) => ({ ...INVOKE, id: name, name }))
      const { organization } = yield* changing("rooms", rules)
      const actions = yield* Actions
      yield* actions.declare(organization, [book, cancel])
      const runs = new Map([book, cancel].map((one) => [one.slug, one]))
      const outbox = yield* ChangeOutbox
      const host = yield* person(organization, "host@rooms.example", "admin")
      const booked = (room: string) =>
        Effect.gen(function* () {
          const draft = yield* host.propose({ steps: [{ actionId: "book_room", values: valuesOf({ room }) }] })
          yield* confirmed(host, draft)
          yield* outbox.run(organization.id, runs)
          return draft.changeId
        })
      const changeId = yield* booked("Blue")
      expect((yield* host.preview(changeId)).receipt).toMatchObject({ invertible: true })
      const undo = yield* host.undo(changeId)
      expect(undo.preview).toMatchObject({
        level: "twice",
        steps: [{ actionId: "cancel_room", cells: [{ becomes: "b-7" }, { becomes: "Blue" }] }]
      })
      expect(ran).toEqual([["book", { room: "Blue" }]])
      yield* confirmed(host, undo)
      yield* outbox.run(organization.id, runs)
      expect(ran.slice(1)).toEqual([["cancel", { booking: "b-7", room: "Blue" }]])
      // A function that didn't return the value leaves nothing to take back.
      expect(yield* Effect.flip(host.undo(yield* booked("Nowhere")))).toMatchObject({ _tag: "Decided" })
      const wrong = defineAction({
        ...BOOKING,
        inverse: { action: "cancel_room", fields: { place: { field: "room" } } }
      })
      expect(yield* Effect.flip(actions.declare(organization, [wrong, cancel]))).toMatchObject({
        details: expect.arrayContaining([expect.stringContaining('cancel_room has no field "place"')])
      })
    })
  )

  it.effect("is unknown after a failure that doesn't say whether it was done, unless its key makes it run once", () =>
    Effect.gen(function* () {
      for (const [slug, idempotent, state] of [
        ["fails-once", false, "unknown"],
        ["fails-key", true, "queued"]
      ] as const) {
        const one = reminder(() => Promise.reject(new Error("the value is 4711")), { idempotent })
        const { queued, run } = yield* declared(slug, one)
        const changeId = yield* queued
        yield* run
        expect(yield* outcome(changeId)).toMatchObject({ state, error: "failed" })
        yield* hurry(changeId)
        expect(yield* run).toBe(idempotent)
        expect(new Set(one.ran.map(({ deed }) => deed.idempotencyKey)).size).toBe(1)
        expect(one.ran).toHaveLength(idempotent ? 2 : 1)
      }
    })
  )

  it.effect("says that it is refused, or that it comes later", () =>
    Effect.gen(function* () {
      const refusing = yield* declared(
        "refuses",
        reminder(() => Effect.fail(new ActionRefused({ message: "Ada wants no reminders." })))
      )
      const refused = yield* refusing.queued
      yield* refusing.run
      expect((yield* refusing.sender.preview(refused)).receipt!.message).toBe(
        "“Send reminder” was refused: Ada wants no reminders."
      )
      const delayed = reminder((_, { attempt }) =>
        attempt === 1 ? Promise.reject(new ActionDelayed({ seconds: 60 })) : Promise.resolve()
      )
      const later = yield* declared("delays", delayed)
      const changeId = yield* later.queued
      yield* later.run
      expect(yield* outcome(changeId)).toMatchObject({ state: "queued", error: "delayed" })
      yield* hurry(changeId)
      yield* later.run
      expect(yield* outcome(changeId)).toMatchObject({ state: "done", attempts: 2 })
    })
  )

  it.effect("that doesn't end in its time is unknown", () =>
    Effect.gen(function* () {
      const { queued, run } = yield* declared(
        "hangs",
        reminder(() => Effect.never, { seconds: 1 })
      )
      const changeId = yield* queued
      yield* run
      expect(yield* outcome(changeId)).toMatchObject({ state: "unknown", error: "timeout" })
    })
  )

  it.effect("is run by the program of its own organization only, and never by the server that sends requests", () =>
    Effect.gen(function* () {
      const mine = reminder(async () => {})
      const { organization, queued } = yield* declared("mine", mine)
      const others = reminder(async () => {})
      const other = yield* declared("theirs", others)
      const changeId = yield* queued
      const outbox = yield* ChangeOutbox
      expect([yield* outbox.deliver, yield* other.run]).toEqual([false, false])
      expect(yield* outcome(changeId)).toMatchObject({ state: "queued" })
      expect(yield* outbox.run(organization.id, mine.runs)).toBe(true)
      expect([mine.ran.length, others.ran.length]).toEqual([1, 0])
    })
  )

  it.effect("stays retired, and shares no name with an action of a file", () =>
    Effect.gen(function* () {
      const { organization } = yield* changing("retires", [INVOKE])
      const actions = yield* Actions
      const { definition } = reminder(async () => {})
      yield* actions.declare(organization, [definition])
      const file = fileOf("https://sap.example.com", {}, { slug: "send_reminder" })
      expect(yield* Effect.flip(actions.publish(organization, file, "test"))).toMatchObject({ _tag: "OperatorError" })
      yield* actions.retire(organization, "send_reminder", "test")
      expect(yield* actions.declare(organization, [definition])).toEqual([])
      expect(yield* actions.list(organization)).toMatchObject([{ retired: true }])
      yield* actions.publish(organization, fileOf("https://sap.example.com", {}, { slug: "other" }), "test")
      const taking = defineAction({ slug: "other", input: Schema.Struct({}), category: "write", run: async () => {} })
      expect(yield* Effect.flip(actions.declare(organization, [taking]))).toMatchObject({ _tag: "OperatorError" })
    })
  )
})

describe("a schema", () => {
  test("makes fields with their bounds", () => {
    expect(fieldsOf(Reminder)).toMatchObject([
      { slug: "to", name: "Recipient", kind: "text", needed: true, maxLength: 60 },
      { slug: "days", name: "Days", kind: "integer", min: 1, max: 30 },
      { slug: "urgent", kind: "boolean", needed: false },
      { slug: "tone", kind: "text", values: ["kind", "firm"] },
      { slug: "lines", kind: "group", fields: [{ slug: "text" }, { slug: "amount", kind: "number" }] }
    ])
    const more = Schema.Struct({
      code: Schema.String.check(Schema.isPattern(/^[A-Z]{2}$/)),
      on: Schema.optional(Schema.String.annotate({ format: "date" })),
      tags: Schema.Array(Schema.String).check(Schema.isMaxLength(5))
    })
    expect(fieldsOf(more)).toMatchObject([
      { kind: "text", pattern: "[A-Z]{2}" },
      { kind: "date", needed: false },
      { kind: "list", maxLength: 5 }
    ])
  })

  const of = (schema: Schema.Top) => Schema.Struct({ x: schema as typeof Schema.String })
  test.each<readonly [string, Schema.Top]>([
    ["a number that may be infinite", of(Schema.Number)],
    ["a date object", of(Schema.Date)],
    ["a transformation", of(Schema.NumberFromString)],
    ["a nested struct", of(Schema.Struct({ a: Schema.String }))],
    ["a union of kinds", of(Schema.Union([Schema.String, Schema.Boolean]))],
    ["a check without a form", of(Schema.String.check(Schema.isStartingWith("a")))],
    ["a pattern about a part", of(Schema.String.check(Schema.isPattern(/a/)))],
    ["anything", of(Schema.Unknown)],
    ["no struct", Schema.String]
  ])("that a form can't show is refused: %s", (_, schema) => {
    expect(() => fieldsOf(schema)).toThrow(/^input\./)
  })
})
