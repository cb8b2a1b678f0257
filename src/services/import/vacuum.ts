/** Updates statistics and the visibility map after an import, which index-only scans need. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { qualified } from "../../database/sql/SqlWriter.ts"
import type { Relation } from "../../domain/EntityType.ts"

/** Both commands only improve speed: a failure doesn't undo the import. */
export const makeVacuum = (owner: PgClient.PgClient) => (relations: ReadonlyArray<Relation>) =>
  Effect.forEach(
    ["ANALYZE", "VACUUM (TRUNCATE false)"].flatMap((command) =>
      relations.map((relation) => `${command} ${qualified(relation)}`)
    ),
    (statement) => owner.unsafe(statement).unprepared,
    { discard: true }
  ).pipe(Effect.timeout("1 minute"), Effect.ignore)
