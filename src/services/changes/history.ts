/** A row's history: the applied changes of one entity, with the values that the reader may see on it now. */
import { Effect } from "effect"
import type { Database } from "../../database/Database.ts"
import { orUnavailable } from "../../database/execute.ts"
import type { SeenRow } from "../../database/sql/RowChange.ts"
import { compileSeen } from "../../database/sql/write.ts"
import { actionByKey } from "../../domain/Action.ts"
import type { HistoryEntry } from "../../domain/Change.ts"
import type { Unavailable, UnknownName } from "../../domain/errors.ts"
import { parseId } from "../../domain/values.ts"
import { resolveType } from "../lookup/resolve.ts"
import type { Caller } from "./callers.ts"
import { type Made, madeDocument } from "./made.ts"
import { cellsOf, namesOf, namesOfMembers, type SeenStep } from "./preview.ts"
import { compiled } from "./reader.ts"
import { isoTime } from "./records.ts"
import { noEntity } from "./resolve.ts"
import { unitOf } from "./Unit.ts"

interface HistoryRow {
  readonly change_id: string
  readonly action_key: string
  readonly columns: ReadonlyArray<string>
  readonly at: string
  readonly proposer_id: string
  readonly decided_by: string | null
  readonly channel: string
  readonly digest: string
  readonly document: string | null
  readonly made: Made | null
}

const MAX_ENTRIES = 50

export const historyOf = Effect.fnUntraced(function* (
  entityTypeId: string,
  entityId: string,
  reader: Caller,
  database: Database["Service"]
): Effect.fn.Return<ReadonlyArray<HistoryEntry>, UnknownName | Unavailable> {
  const { catalog } = reader
  const { plan, type } = yield* Effect.fromResult(resolveType(entityTypeId, reader.view))
  const id = parseId(entityId, type.mapping?.id.type)
  if (id === undefined) return yield* noEntity(type, entityId)
  const [seen] = yield* reader.read<SeenRow>(
    yield* compiled(() => compileSeen(type, [id], type.columns, plan, catalog))
  )
  if (seen === undefined) return yield* noEntity(type, entityId)
  const visible = new Set(type.columns.filter((_, index) => seen.visible[index] === true).map(({ key }) => key))
  const entries = yield* orUnavailable(
    database.changes.unsafe<HistoryRow>(
      `/* max history */ SELECT s.change_id, s.action_key, s.columns, ${isoTime("s.applied_at")} AS at, c.proposer_id, c.decided_by,
         coalesce(c.decided_channel, c.channel) AS channel, encode(c.digest, 'hex') AS digest, c.document, c.made
       FROM max.change_steps s JOIN max.changes c ON c.organization_id = s.organization_id AND c.change_id = s.change_id
       WHERE s.organization_id = $1::bigint AND s.type_key = $2::text AND s.entity_id = $3::text
       ORDER BY s.applied_at DESC LIMIT ${MAX_ENTRIES}`,
      [catalog.organization.id, type.key, id]
    )
  )
  const steps = entries.map((entry): SeenStep | undefined => {
    const step = madeDocument(entry)?.steps.find((one) => one.entity === id && one.type === type.key)
    const unit = step && unitOf(step, catalog)
    return step === undefined || unit === undefined
      ? undefined
      : { step, unit, isVisible: true, name: undefined, visible }
  })
  const names = yield* namesOf(
    steps.flatMap((step) => step ?? []),
    reader
  )
  const members = yield* namesOfMembers(
    [...new Set(entries.flatMap(({ decided_by, proposer_id }) => [proposer_id, decided_by ?? proposer_id]))],
    reader
  )
  return entries.map((entry, index) => {
    const seenStep = steps[index]
    const decider = entry.decided_by ?? entry.proposer_id
    const [proposerName, deciderName] = [members.get(entry.proposer_id), members.get(decider)]
    return {
      changeId: entry.change_id,
      actionId: actionByKey(catalog, entry.action_key)?.slug ?? entry.action_key,
      proposer: entry.proposer_id,
      decider,
      ...(proposerName === undefined ? {} : { proposerName }),
      ...(deciderName === undefined ? {} : { deciderName }),
      channel: entry.channel,
      at: entry.at,
      columnIds: type.columns
        .filter(({ key }) => entry.columns.includes(key) && visible.has(key))
        .map(({ slug }) => slug),
      ...(seenStep === undefined ? {} : { cells: cellsOf(seenStep.step, type, visible, catalog, names) })
    }
  })
})
