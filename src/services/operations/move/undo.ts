/** Undoes a move, and cleans up after one. */
import { Effect } from "effect"
import { OperatorError } from "../../../domain/errors.ts"
import { printable } from "../../../domain/text.ts"
import { isOwnTable } from "../../catalog/physicalColumns.ts"
import { dropTriggers, reopen, TAKEN_OVER } from "./fence.ts"
import { type Moving, readMove } from "./Moving.ts"
import { explaining, isInForceThere, organizationId, prepare, type Sides } from "./prepare.ts"
import { unpublish, unsubscribe } from "./replicate.ts"
import { deleteRows, KEPT, ownTablesOf } from "./tables.ts"

/** Undoes a move that isn't in force at the target: the organization is as it was at the source, and nothing of it at the target. */
export const undoMove = Effect.fn("Move.undo")(function* (request: Sides) {
  const { here, moving, there } = yield* prepare(request)
  const { id, run, slug, source, target } = moving
  if (here?.moved === true || isInForceThere(there))
    return yield* OperatorError.of(`${slug} is in force at the target. To bring it back, move it from there.`)
  const isThis = there?.incoming === true && there.place === source.place
  if (here === undefined ? !isThis : here.incoming || here.place !== target.place)
    return yield* OperatorError.of(`No move of ${slug} to ${printable(target.place)} is under way.`)
  if (isThis) {
    const held = yield* target.owner`UPDATE max.moves SET run = ${run}
      WHERE organization_id = ${id} AND incoming AND closed RETURNING 1 AS one`
    if (held.length === 0)
      return yield* OperatorError.of(`${slug} is in force at the target. To bring it back, move it from there.`)
  }
  yield* source.owner`UPDATE max.moves SET run = ${run} WHERE organization_id = ${id} AND NOT incoming`
  if (here?.closed === true) yield* reopen(moving)
  else yield* dropTriggers(moving)
  yield* unsubscribe(moving)
  yield* unpublish(moving)
  if (isThis)
    yield* Effect.gen(function* () {
      // Locked until the rows are gone, so that no other run puts the organization in force meanwhile.
      const held = yield* target.owner`DELETE FROM max.moves
        WHERE organization_id = ${id} AND incoming AND closed AND run = ${run} RETURNING 1 AS one`
      if (held.length === 0) return yield* TAKEN_OVER
      yield* deleteRows(
        target.owner,
        id,
        moving.tables.filter(isOwnTable).map(({ table }) => table)
      )
      if (there.cleaned) yield* keepTrace(moving)
    }).pipe(target.owner.withTransaction)
  yield* source.owner`DELETE FROM max.moves WHERE organization_id = ${id} AND NOT incoming AND run = ${run}`
}, explaining)

/** Says again at the target, where the organization had lived before, where it went. */
const keepTrace = Effect.fnUntraced(function* ({ id, run, slug, source, target }: Moving) {
  const [row] = yield* source.owner<{ name: string; country: string; zone: string }>`
    SELECT name, country, time_zone AS zone FROM max.organizations WHERE organization_id = ${id}`
  yield* target.owner`INSERT INTO max.organizations (organization_id, slug, name, country, time_zone, epoch)
    VALUES (${id}, ${slug}, ${row!.name}, ${row!.country}, ${row!.zone}, ${run})`
  yield* target.owner`INSERT INTO max.moves (organization_id, slug, incoming, place, closed, run, moved_at, cleaned_at)
    VALUES (${id}, ${slug}, false, ${source.place}, true, ${run}, now(), now())`
})

/** Deletes the rows of an organization that moved away; what stays says where it went. */
export const cleanAfterMove = Effect.fn("Move.clean")(function* ({ slug, source }: Pick<Sides, "slug" | "source">) {
  const id = yield* organizationId(source, slug)
  const here = yield* readMove(source.owner, id)
  if (here === undefined || here.incoming || !here.moved)
    return yield* OperatorError.of(`${slug} hasn't moved away from this database: nothing was deleted.`)
  yield* deleteRows(source.owner, id, yield* ownTablesOf(source.owner, id), KEPT)
  yield* dropTriggers({ id, source })
  yield* source.owner`UPDATE max.moves SET cleaned_at = now() WHERE organization_id = ${id} AND NOT incoming`
  return here.place
}, explaining)
