/** Updates statistics and the visibility map after an import, which index-only scans need. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { qualified } from "../../database/sql/SqlWriter.ts"
import { refreshStatistics } from "../../database/statistics.ts"
import type { Relation } from "../../domain/EntityType.ts"

/** Both only improve speed: a failure doesn't undo the import. */
export const makeVacuum = (owner: PgClient.PgClient) => (relations: ReadonlyArray<Relation>) =>
  refreshStatistics(owner, relations).pipe(
    Effect.andThen(
      Effect.forEach(
        relations,
        (relation) => owner.unsafe(`VACUUM (TRUNCATE false) ${qualified(relation)}`).unprepared,
        { discard: true }
      )
    ),
    Effect.timeout("1 minute"),
    Effect.ignore
  )
