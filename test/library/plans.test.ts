/** Plans of a program's own actions: a later function takes what an earlier one has returned. */
import { layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { expect } from "vitest"
import { defineAction, Max } from "../../src/index.ts"
import { Actions } from "../../src/services/actions/Actions.ts"
import { ChangeOutbox } from "../../src/services/changes/calls/ChangeOutbox.ts"
import { changing, confirmed, person } from "../support/changes.ts"
import { migratedDatabase } from "../support/database.ts"

const settings = { lookupTimeout: 10_000, searchTimeout: 30_000, writesPerMinute: 1000 }
const World = Layer.unwrap(Effect.map(migratedDatabase, (databaseUrl) => Max.layer({ databaseUrl, settings }))).pipe(
  Layer.orDie
)

/** Books a room for a number of seats, and sends a key for a booking. */
const booking = (returned: Readonly<Record<string, string | number>>) => {
  const ran: Array<unknown> = []
  const book = defineAction({
    slug: "book_room",
    category: "write",
    input: Schema.Struct({ room: Schema.String }),
    run: async ({ room }: { room: string }) => {
      ran.push(room)
      return returned
    }
  })
  const key = defineAction({
    slug: "send_key",
    category: "external",
    input: Schema.Struct({ booking: Schema.String, seats: Schema.Int }),
    run: async (values: { booking: string; seats: number }) => void ran.push(values)
  })
  return { ran, definitions: [book, key] }
}

layer(World, { excludeTestServices: true })("a plan of functions", (it) => {
  it.effect(
    "fills in what an earlier one returned, typed, and runs no later one where that is missing or of another kind",
    () =>
      Effect.gen(function* () {
        const rules = ["book_room", "send_key"].map((name) => ({
          id: name,
          effect: "allow",
          role: "admin",
          action: "invoke",
          name
        }))
        const { organization } = yield* changing("plans", rules)
        const host = yield* person(organization, "host@plans.example", "admin")
        const outbox = yield* ChangeOutbox
        const from = (result: string) => ({ step: 0, result })
        const outcome = Effect.fnUntraced(function* (
          room: string,
          returned: Readonly<Record<string, string | number>>
        ) {
          const { definitions, ran } = booking(returned)
          yield* (yield* Actions).declare(organization, definitions)
          const draft = yield* host.propose({
            steps: [
              { actionId: "book_room", values: [{ columnId: "room", value: room }] },
              {
                actionId: "send_key",
                values: [
                  { columnId: "booking", value: from("id") },
                  { columnId: "seats", value: from("seats") }
                ]
              }
            ]
          })
          expect(draft.preview.steps[1]!.cells.map(({ becomes }) => becomes)).toEqual([
            "the id that “Book room” answers",
            "the seats that “Book room” answers"
          ])
          yield* confirmed(host, draft)
          const runs = new Map(definitions.map((one) => [one.slug, one]))
          while (yield* outbox.run(organization.id, runs));
          return { ran, message: (yield* host.preview(draft.changeId)).receipt!.message }
        })
        const done = yield* outcome("Blue", { id: "b-7", seats: 12 })
        expect(done.ran).toEqual(["Blue", { booking: "b-7", seats: 12 }])
        for (const [room, returned, problem] of [
          ["Red", { id: "b-8" }, "“Book room” has answered no seats, which this takes."],
          ["Green", { id: "b-9", seats: "many" }, '"many" isn\'t a whole number.']
        ] as const) {
          const { message, ran } = yield* outcome(room, returned)
          expect(ran).toEqual([room])
          expect(message).toContain("“Send key” was refused: ")
          expect(message).toContain(problem)
        }
      })
  )
})
