/** Latency of "who is X" in basic mode, from the question to the stored answer, in a large organization. */
import { Effect, Layer, Stream } from "effect"
import { BasicStep } from "../src/agents/basic/BasicStep.ts"
import { MaxAgent } from "../src/agents/MaxAgent.ts"
import { Database } from "../src/database/Database.ts"
import { nextId } from "../src/domain/ids.ts"
import { ToolHandlers } from "../src/tools/handlers.ts"
import { asMember, makeOrganization } from "../test/support/atlas.ts"
import type { Timed } from "./figures.ts"
import { onDatabase } from "./database.ts"

const ROUNDS = 300
const WARM_UP = 30
const TARGET_MS = 60
const ADMIN = "admin@harbor.example"

/** A unique name for a number, computed alike in SQL and here. */
const NAME = `'Ada ' || initcap(translate(substr(md5(n::text), 1, 10), '0123456789', 'ghijklmnop'))`

const rounds = Effect.fnUntraced(function* (rows: number) {
  const { owner } = yield* Database
  const agent = yield* MaxAgent
  const organization = yield* makeOrganization("harbor")
  yield* owner.unsafe(
    `INSERT INTO data.people (organization_id, id, name, name_k, status, status_k)
     SELECT $1::bigint, $2::bigint + n, ${NAME}, lower(${NAME}), 'lead', 'lead' FROM generate_series(1, $3::int) n`,
    [organization.id, nextId(), rows]
  )
  yield* owner.unsafe("ANALYZE data.people").unprepared
  yield* asMember(organization, ADMIN, "admin")
  const names = (yield* owner.unsafe<{ name: string }>(
    `SELECT ${NAME} AS name FROM (SELECT 1 + (i * 7919) % $1::int AS n FROM generate_series(1, $2::int) i) s`,
    [rows, ROUNDS + WARM_UP]
  )).map(({ name }) => name)
  const times: Array<number> = []
  for (const [round, name] of names.entries()) {
    const started = performance.now()
    const events = yield* Stream.runCollect(
      agent.turn({
        organization,
        who: { kind: "email", key: ADMIN },
        session: undefined,
        say: { text: `who is ${name}?` }
      })
    )
    if (round >= WARM_UP) times.push(performance.now() - started)
    const last = events.at(-1)
    if (last?._tag !== "done" || !last.text.includes(name))
      return yield* Effect.die(new Error("The answer isn't about the person who was asked for"))
  }
  return times.sort((a, b) => a - b)
})

export const basic = (rows: number) =>
  onDatabase(
    {},
    Effect.map(
      rounds(rows).pipe(
        Effect.provide(MaxAgent.layer.pipe(Layer.provideMerge(BasicStep), Layer.provideMerge(ToolHandlers)))
      ),
      (times): ReadonlyArray<Timed> => {
        const at = (share: number) => times[Math.floor(times.length * share)]!
        return [
          { scenario: `who is X among ${rows} people, median`, ms: at(0.5), ok: true },
          { scenario: `who is X among ${rows} people, p95`, ms: at(0.95), target: TARGET_MS, ok: at(0.95) <= TARGET_MS }
        ]
      }
    )
  )
