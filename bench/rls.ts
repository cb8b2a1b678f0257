/**
 * The cost of row-level security per lookup: the same lookups with it off and on, in alternating blocks, because it is a
 * state of the database. Separates the cost of the transaction from the policy's effect on the plan.
 */
import { Effect } from "effect"
import { Database } from "../src/database/Database.ts"
import { runWithin } from "../src/database/execute.ts"
import { switchRowSecurity } from "../src/database/switchRowSecurity.ts"
import { onDatabase, type Where } from "./database.ts"
import type { Measured } from "./figures.ts"
import { median } from "./race.ts"
import { asking } from "./store.ts"
import { openWorld } from "./world/load.ts"
import { byPhone, type Question } from "./world/questions.ts"

const BLOCKS = 6
const ROUNDS = 50
const WARM_UP = 10

const byName: Question = (_, round) => ({
  entityTypeId: "people",
  filters: [{ columnId: "name", op: "ilike", value: ["maria", "erdos", "smith", "skłodow"][round % 4]! }]
})

export const rls = (rows: number, where: Where, quiet: boolean) => onDatabase(where, scenarios(rows, quiet))

const scenarios = Effect.fnUntraced(function* (rows: number, quiet: boolean) {
  const { owner, search } = yield* Database
  const { huge } = (yield* openWorld(rows)).organizations
  const measured: Array<Measured> = []
  for (const [name, question] of [
    ["eq by phone", byPhone],
    ["ilike by a part of the name", byName]
  ] as const) {
    const times: Record<"off" | "transaction" | "on", Array<number>> = { off: [], transaction: [], on: [] }
    for (let block = 0; block < 3 * BLOCKS; block++) {
      const contestant = (["off", "transaction", "on"] as const)[block % 3]!
      yield* switchRowSecurity(owner, contestant === "on")
      const { explain, find } = yield* asking(huge, "masked")
      for (let round = 0; round < ROUNDS + WARM_UP; round++) {
        const query = question(huge, round)
        const statement = yield* explain(query)
        const started = performance.now()
        yield* contestant === "transaction"
          ? Effect.asVoid(runWithin(search, huge.organization.id, statement))
          : Effect.asVoid(find(query))
        if (round >= WARM_UP) times[contestant].push(performance.now() - started)
      }
    }
    const [off, transaction, on] = [median(times.off), median(times.transaction), median(times.on)]
    if (!quiet)
      console.log(
        `${rows} people, ${name}: off ${off.toFixed(3)} ms, off in a transaction ${transaction.toFixed(3)} ms, on ${on.toFixed(3)} ms (medians)`
      )
    measured.push(
      { scenario: `${name}: row-level security on against off`, ratio: on / off },
      { scenario: `${name}: row-level security on against off in a transaction`, ratio: on / transaction }
    )
  }
  return measured
})
