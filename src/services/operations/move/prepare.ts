/** Reads both sides of a move, and words the failures of their databases. */
import { Effect } from "effect"
import { SqlError } from "effect/sql"
import { identityOf } from "../backup/snapshot.ts"
import { faultOf } from "../../../database/fault.ts"
import { OperatorError } from "../../../domain/errors.ts"
import { nextId } from "../../../domain/ids.ts"
import { quoted } from "../../../domain/text.ts"
import { type Moving, type MoveRow, readMove, type Side } from "./Moving.ts"
import { checkVersions } from "./preflight.ts"
import { tablesOf } from "./tables.ts"

export interface Sides {
  readonly slug: string
  readonly source: Side
  readonly target: Side
  readonly say: Moving["say"]
}

export const organizationId = Effect.fnUntraced(function* ({ owner }: Side, slug: string) {
  const [row] = yield* owner<{ id: bigint }>`SELECT organization_id AS id FROM max.organizations WHERE slug = ${slug}`
  return row?.id ?? (yield* OperatorError.of(`There is no organization with the slug ${quoted(slug)}: max org list`))
})

/** Both sides, or why they can't be read. */
export const prepare = Effect.fnUntraced(function* ({ say, slug, source, target }: Sides) {
  const versions = yield* checkVersions({ source, target })
  if (versions.length > 0) return yield* refuse(slug, versions)
  if ((yield* identityOf(source.owner)) === (yield* identityOf(target.owner)))
    return yield* OperatorError.of("--to names this very database: there is nothing to move.")
  const id = yield* organizationId(source, slug)
  const tables = yield* tablesOf(source.owner, id)
  const moving: Moving = { id, slug, source, target, run: nextId(), tables, say }
  return { moving, here: yield* readMove(source.owner, id), there: yield* readMove(target.owner, id) }
})

export const refuse = (slug: string, reasons: ReadonlyArray<string>) =>
  OperatorError.of(
    `${slug} can't be moved yet:`,
    reasons.map((reason) => `- ${reason}`)
  )

export const isInForceThere = (there: MoveRow | undefined) => there?.incoming === true && !there.closed

/** Words failures of the databases for operators. */
export function explaining<A, E, R>(
  self: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError> | OperatorError, R> {
  return self.pipe(
    Effect.catchDefect((defect) => (SqlError.isSqlError(defect) ? Effect.fail(defect) : Effect.die(defect))),
    Effect.catch((error): Effect.Effect<never, Exclude<E, SqlError.SqlError> | OperatorError> =>
      SqlError.isSqlError(error)
        ? Effect.fail(
            OperatorError.of(
              `A database failed: ${faultOf(error).reason}. Run the same max move again, or with --undo.`
            )
          )
        : Effect.fail(error as Exclude<E, SqlError.SqlError>)
    )
  )
}
