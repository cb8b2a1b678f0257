/**
 * Compares an organization's rows at the source and at the target, in buckets of each table. Most buckets are compared while the
 * organization is in use. After the fence, only those are compared that were different then, or that have changed since: a bucket's
 * row versions (`xmin` and `ctid`) say so without reading a value.
 */
import { Effect } from "effect"
import { identifier, qualified } from "../../../database/sql/SqlWriter.ts"
import { nameOf, type TableShape } from "../backup/TableShape.ts"
import { CHECKSUM, fixSettings } from "../backup/snapshot.ts"
import type { Moving, Side } from "./Moving.ts"

const BUCKETS = 256

interface Bucket {
  readonly part: number
  readonly bucket: number
  readonly rows: number
  readonly checksum: string
  /** Of the row versions. */
  readonly versions: string
}

const bucketOf = ({ keys }: TableShape) =>
  `(hashtextextended(ROW(${keys[0]!.columns.map((column) => `whole.${identifier(column)}`).join(", ")})::text, 0) & ${BUCKETS - 1})::int`

const VERSIONS = "sum(hashtextextended(whole.xmin::text || whole.ctid::text, 0)::numeric)::text AS versions"

const SELECTED = {
  rows: "",
  checksum: `, ${CHECKSUM} AS checksum`,
  versions: `, ${VERSIONS}`,
  both: `, ${CHECKSUM} AS checksum, ${VERSIONS}`
}

interface Part {
  readonly shape: TableShape
  /** The buckets to read; all of them without. */
  readonly only?: ReadonlyArray<number> | undefined
}

/** The buckets of each table, by one statement, because each round trip adds to the time behind the fence. */
const read = Effect.fnUntraced(function* (
  { owner }: Side,
  id: bigint,
  parts: ReadonlyArray<Part>,
  what: keyof typeof SELECTED
) {
  if (parts.length === 0) return []
  const statement = parts.map(
    ({ only, shape }, at) => `SELECT ${at} AS part, ${bucketOf(shape)} AS bucket, count(*)::int AS rows${SELECTED[what]}
      FROM ${qualified(shape)} whole WHERE whole.organization_id = ${id}::bigint${only === undefined ? "" : ` AND ${bucketOf(shape)} IN (${only.join(", ")})`}
      GROUP BY 2`
  )
  const rows = yield* Effect.andThen(
    fixSettings(owner),
    owner.unsafe<Bucket>(`/* max move sums */ ${statement.join(" UNION ALL ")}`).unprepared
  ).pipe(owner.withTransaction)
  const tables = parts.map(() => new Map<number, Bucket>())
  for (const row of rows) tables[row.part]!.set(row.bucket, row)
  return tables
})

const isEqual = (one: Bucket | undefined, other: Bucket | undefined) =>
  one?.rows === other?.rows && one?.checksum === other?.checksum

/** The row versions at the source of each bucket that was equal on both sides, by table. */
export type Compared = ReadonlyMap<string, ReadonlyMap<number, string>>

/** Compares all rows while the organization is in use; what differs may be on its way. */
export const compareAhead = Effect.fn("Move.compareAhead")(function* ({ id, source, tables, target }: Moving) {
  const parts = tables.map((shape) => ({ shape }))
  const [mine, theirs] = yield* Effect.all([read(source, id, parts, "both"), read(target, id, parts, "checksum")], {
    concurrency: 2
  })
  return new Map(
    tables.map((shape, at) => {
      const equal = [...mine[at]!.values()].filter((bucket) => isEqual(bucket, theirs[at]!.get(bucket.bucket)))
      return [nameOf(shape), new Map(equal.map(({ bucket, versions }) => [bucket, versions]))] as const
    })
  ) as Compared
})

/** Compares what `ahead` doesn't prove, after the fence: the number of all rows, and the tables that differ. */
export const compareFenced = Effect.fn("Move.compareFenced")(function* (
  { id, source, tables, target }: Moving,
  ahead: Compared
) {
  const all = tables.map((shape) => ({ shape }))
  const [marks, counts] = yield* Effect.all([read(source, id, all, "versions"), read(target, id, all, "rows")], {
    concurrency: 2
  })
  const open = tables.flatMap((shape, at): ReadonlyArray<Part> => {
    const before = ahead.get(nameOf(shape))
    if (before === undefined) return [{ shape }]
    const [now, there] = [marks[at]!, counts[at]!]
    const only = [...new Set([...before.keys(), ...now.keys(), ...there.keys()])].filter(
      (bucket) => before.get(bucket) !== now.get(bucket)?.versions || now.get(bucket)?.rows !== there.get(bucket)?.rows
    )
    return only.length === 0 ? [] : [{ shape, only }]
  })
  const [mine, theirs] = yield* Effect.all([read(source, id, open, "checksum"), read(target, id, open, "checksum")], {
    concurrency: 2
  })
  const different = open.filter((_, at) =>
    [...new Set([...mine[at]!.keys(), ...theirs[at]!.keys()])].some(
      (bucket) => !isEqual(mine[at]!.get(bucket), theirs[at]!.get(bucket))
    )
  )
  return {
    rows: marks.flatMap((buckets) => [...buckets.values()]).reduce((sum, { rows }) => sum + rows, 0),
    different: different.map(({ shape }) => nameOf(shape))
  }
})
