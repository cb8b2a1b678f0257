/**
 * What row-level security costs a lookup: the same questions with it off and on, in blocks that take turns, because it is
 * a state of the database. What the transaction alone costs is told apart from what the policy does to the plan.
 */
import { Effect } from "effect"
import { Database } from "../src/database/Database.ts"
import { runWithin } from "../src/database/read.ts"
import { switchRowSecurity } from "../src/database/switchRowSecurity.ts"
import { CurrentPrincipal } from "../src/domain/Principal.ts"
import type { FindQuery } from "../src/domain/Query.ts"
import { EntityQueryService } from "../src/services/EntityQueryService.ts"
import type { Measured } from "./figures.ts"
import { byEmail, makePeople, median, onOwnDatabase } from "./store.ts"

const BLOCKS = 6
const ROUNDS = 50
const WARM_UP = 10

const byName = (_: number, round: number): FindQuery => ({
  entityTypeId: "people",
  filters: [{ columnId: "name", op: "ilike", value: `on ${(round * 7919) % 1000}` }]
})

export const rls = (rows: number, quiet: boolean) => onOwnDatabase(scenarios(rows, quiet))

const scenarios = Effect.fnUntraced(function* (rows: number, quiet: boolean) {
  const { owner, search } = yield* Database
  const { admit, organization } = yield* makePeople(rows)
  const queries = yield* EntityQueryService
  const measured: Array<Measured> = []
  for (const [name, question] of [
    ["eq by e-mail", byEmail],
    ["ilike by a part of the name", byName]
  ] as const) {
    const times: Record<"off" | "transaction" | "on", Array<number>> = { off: [], transaction: [], on: [] }
    for (let block = 0; block < 3 * BLOCKS; block++) {
      const contestant = (["off", "transaction", "on"] as const)[block % 3]!
      yield* switchRowSecurity(owner, contestant === "on")
      const principal = yield* admit
      const asked = (round: number) => ({ ...question(rows, round), organizationId: organization.id })
      for (let round = 0; round < ROUNDS + WARM_UP; round++) {
        const statement = yield* queries.explain(asked(round)).pipe(Effect.provideService(CurrentPrincipal, principal))
        const started = performance.now()
        yield* contestant === "transaction"
          ? Effect.asVoid(runWithin(search, organization.id, statement))
          : Effect.asVoid(queries.findEntities(asked(round)).pipe(Effect.provideService(CurrentPrincipal, principal)))
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
