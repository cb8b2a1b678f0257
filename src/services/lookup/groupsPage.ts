/** The rows of a statement for groups → a page: names of periods, shares, changes, and the periods that nothing falls into. */
import type { FigureCell, Group, GroupKey, Page } from "../../domain/Page.ts"
import { nextPeriod, periodName } from "../../domain/periods.ts"
import type { Bucket } from "../../domain/Query.ts"
import { printable } from "../../domain/text.ts"
import { showId } from "../../domain/values.ts"
import type { ResolvedGroups } from "../../database/sql/ResolvedGroups.ts"

/** A group in one currency. */
export type GroupRow = {
  readonly fresh: boolean | null
  readonly total: bigint | string | null
  readonly groups: number | null
  readonly several: boolean | null
  readonly own: string
  readonly place: number | null
  readonly n: bigint | string | null
  readonly u?: string | null
  readonly share?: number | null
} & { readonly [cell: string]: unknown }

type Placed = Group & { readonly own?: string; readonly first: string | undefined }

export const groupsPage = (rows: ReadonlyArray<GroupRow>, query: ResolvedGroups): Page => {
  const head = rows[0]!
  const byPlace = new Map<number, Array<GroupRow>>()
  for (const row of rows) {
    if (row.place === null) continue
    const same = byPlace.get(row.place)
    if (same === undefined) byPlace.set(row.place, [row])
    else same.push(row)
  }
  const total = Number(head.total ?? 0)
  const found = [...byPlace.values()].map((same) => placed(same, query, total))
  const bucket = query.by.find((one) => one.bucket !== undefined)?.bucket
  const { groups, more } =
    bucket === undefined
      ? { groups: found.slice(0, query.limit), more: found.length > query.limit }
      : inTime(found, bucket, query)
  return {
    total,
    ...(query.limited ? { limited: true as const } : {}),
    entities: [],
    groups: groups.map(groupOf),
    headings: query.headings,
    groupsTotal: head.groups ?? 0,
    ...(head.several === true ? { several: true as const } : {}),
    ...(more === undefined || more === false || query.limit === 0
      ? {}
      : { nextCursorEntityId: typeof more === "string" ? more : groups.at(-1)!.own! })
  }
}

const groupOf = ({ change, count, figures, keys, share }: Placed): Group => ({
  keys,
  count,
  ...(share === undefined ? {} : { share }),
  ...(change === undefined ? {} : { change }),
  ...(figures === undefined ? {} : { figures })
})

const placed = (rows: ReadonlyArray<GroupRow>, query: ResolvedGroups, total: number): Placed => {
  const { by, figures, money } = query
  const row = rows[0]!
  const count = Number(row.n)
  const keys = by.map(({ bucket, path }, index): GroupKey => {
    const text = row[`t${index}`] as string | null
    if (text === null) return {}
    if (bucket !== undefined) return { value: periodName(bucket, text) }
    if (path.target === undefined)
      return { value: path.column.kind === "timestamp" ? text.replace(/:00$/, "") : printable(text) }
    const name = row[`name${index}`] as string | null
    return { ...(name === null ? {} : { value: printable(name) }), id: showId(text, path.column.ids) }
  })
  const cells = figures.map((_, index): ReadonlyArray<FigureCell> => {
    const several = money.has(index) ? rows : [row]
    return several.flatMap((one) => {
      const value = one[`f${index}`] as string | null
      const of = Number(one[`c${index}`])
      if (value === null || of === 0) return []
      const text = value.replace(/^(\d{4}-\d{2}-\d{2} \d{2}:\d{2}):00$/, "$1")
      return [{ value: text, ...(typeof one.u === "string" && money.has(index) ? { unit: printable(one.u) } : {}), of }]
    })
  })
  // A row with several references is in several groups, so their sums have no whole.
  const overlap = figures[0]?.figure === "sum" && by.some(({ path }) => path.column.kind === "references")
  const shares = by.length > 0 && by.every(({ bucket }) => bucket === undefined) && total > 0 && !overlap
  const ofSum = rows.map(({ share }) => share).find((share) => share !== null && share !== undefined)
  return {
    keys,
    count,
    ...(shares ? { share: ofSum ?? Math.round((100 * count) / total) } : {}),
    ...(figures.length === 0 ? {} : { figures: cells }),
    own: row.own,
    first: by.length === 1 && by[0]!.bucket !== undefined ? ((row["t0"] as string | null) ?? undefined) : undefined
  }
}

/** The latest periods of a page in the order of time, the empty key last; with one key, also those without a row. */
const inTime = (
  found: ReadonlyArray<Placed>,
  bucket: Bucket,
  query: ResolvedGroups
): { readonly groups: ReadonlyArray<Placed>; readonly more: string | undefined } => {
  const { by, limit } = query
  const page = found.slice(0, limit)
  let more = found.length > limit ? page.at(-1)?.own : undefined
  const index = by.findIndex((one) => one.bucket !== undefined)
  const empty = page.filter(({ keys }) => keys[index]!.value === undefined)
  const dated = page.filter(({ keys }) => keys[index]!.value !== undefined)
  if (by.length > 1) {
    const inOrder = new Map<string, Array<Placed>>()
    for (const one of dated) {
      const same = inOrder.get(one.keys[index]!.value!)
      if (same === undefined) inOrder.set(one.keys[index]!.value!, [one])
      else same.push(one)
    }
    return { groups: [...[...inOrder.values()].toReversed().flat(), ...empty], more }
  }
  const groups: Array<Placed> = []
  for (const one of dated) {
    const filled = groups[0] === undefined || query.having.length > 0 ? [] : between(one, groups[0], bucket, query)
    if (groups.length + filled.length + 1 > limit) {
      // The rest is on the next page, which starts at a period with rows.
      more = groups[0]!.own
      return { groups: withChanges(groups, query), more }
    }
    groups.unshift(one, ...filled)
  }
  // Periods without rows can fill the page: then the empty key is on the next one.
  return groups.length + empty.length > limit && groups.length > 0
    ? { groups: withChanges(groups, query), more: groups[0]!.own }
    : { groups: [...withChanges(groups, query), ...empty], more }
}

/** The periods between two groups, without rows. */
const between = (earlier: Placed, later: Placed, bucket: Bucket, query: ResolvedGroups): ReadonlyArray<Placed> => {
  const filled: Array<Placed> = []
  let first = nextPeriod(bucket, earlier.first!)
  while (first !== undefined && first < later.first! && filled.length <= query.limit) {
    const cells = query.figures.map((): ReadonlyArray<FigureCell> => [])
    filled.push({
      keys: [{ value: periodName(bucket, first) }],
      count: 0,
      ...(query.figures.length === 0 ? {} : { figures: cells }),
      first
    })
    first = nextPeriod(bucket, first)
  }
  return filled
}

/** The change of the first figure against the period before, or of the count. */
const withChanges = (groups: ReadonlyArray<Placed>, { by, figures }: ResolvedGroups): ReadonlyArray<Placed> => {
  const [first] = figures
  const { bucket } = by[0]!
  if (bucket === "hour" || bucket === "weekday" || first?.figure === "min" || first?.figure === "max") return groups
  const units = new Set(groups.flatMap((group) => (group.figures?.[0] ?? []).map(({ unit }) => unit)))
  if (units.size > 1) return groups
  const measure = (group: Placed): number | undefined => {
    if (first === undefined) return group.count
    const cell = group.figures?.[0]?.[0]
    return cell === undefined ? (first.figure === "avg" ? undefined : 0) : Number(cell.value)
  }
  return groups.map((group, index) => {
    const [before, now] = [index === 0 ? undefined : measure(groups[index - 1]!), measure(group)]
    if (before === undefined || now === undefined || before <= 0) return group
    return { ...group, change: Math.round((1000 * (now - before)) / before) / 10 }
  })
}
