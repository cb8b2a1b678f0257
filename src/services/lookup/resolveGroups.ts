/**
 * Request for groups or figures + the caller's plans → resolved groups. The words are in `selectColumns`: `by status`,
 * `by month due`, `sum amount`. Names resolve first, among the visible ones; a hidden and an unknown name read the same.
 */
import { Result } from "effect"
import { currencyColumn } from "../../domain/derived.ts"
import type { Column } from "../../domain/EntityType.ts"
import {
  type Bucket,
  BUCKETS,
  type Figure,
  type Filter,
  type FindQuery,
  MAX_BY,
  MAX_FILTERS,
  MAX_LIMIT,
  MAX_SELECT
} from "../../domain/Query.ts"
import type { Condition } from "../../database/sql/Parameter.ts"
import { LITERALS } from "../../database/sql/prepared.ts"
import type { GroupPath, Having, ResolvedGroups } from "../../database/sql/ResolvedGroups.ts"
import { isPartialPath, type Path, resolvePath } from "./paths.ts"
import { resolveType } from "./resolve.ts"
import { singlePath } from "./singlePath.ts"
import { type Fault, invalid } from "./resolveFilter.ts"
import { resolveTerms } from "./resolveTerms.ts"
import { type Visible, visibleColumns, type VisibleType } from "./visible.ts"

/** No slug has a space in it. */
const WORDS = /^\s*(by|sum|avg|min|max|distinct)\s+(\S[^]*)/i
const COUNT = "count"

/** Whether a request asks for groups or figures instead of entities. */
export const asksForGroups = ({ selectColumns }: FindQuery): boolean =>
  selectColumns !== undefined &&
  (selectColumns.some((text) => WORDS.test(text)) || (selectColumns.length === 1 && selectColumns[0] === COUNT))

/** One word of `selectColumns`. */
interface Asked {
  readonly written: string
  readonly word: Figure | "by"
  readonly bucket: Bucket | undefined
  readonly path: Path
}

/** With the filters that are about groups, as they were given. */
type Resolved = ResolvedGroups & { readonly onGroups: ReadonlyArray<Filter> }

/** `most`: the groups of a page. */
export const resolveGroups = (query: FindQuery, visible: Visible, most = MAX_LIMIT): Result.Result<Resolved, Fault> =>
  Result.gen(function* () {
    const from = yield* resolveType(query.entityTypeId, visible)
    if (query.filters.length > MAX_FILTERS) return yield* invalid(`At most ${MAX_FILTERS} filters.`)
    const requested = [...new Set((query.selectColumns ?? []).map(spaced))].filter((text) => text !== COUNT)
    if (requested.length > MAX_SELECT) return yield* invalid(`At most ${MAX_SELECT} columns can be selected.`)
    const asked: Array<Asked> = []
    for (const text of requested) asked.push(yield* readWord(text, from, visible))
    const headings = asked.map(({ written }) => written)
    const onGroups = query.filters.filter((filter) => isOnGroups(filter, from, visible))
    const rows = query.filters.filter((filter) => !onGroups.includes(filter))
    const paths: Array<Path> = []
    for (const filter of rows) paths.push(yield* resolvePath(filter.columnId, from, visible))

    const by: Array<ResolvedGroups["by"][number]> = []
    const figures: Array<ResolvedGroups["figures"][number]> = []
    for (const { bucket, path, word } of asked) {
      const resolved = yield* singlePath(path, visible, word === "by")
      if (word === "by") {
        const fault = groupFault(path.column!, bucket)
        if (fault !== undefined) return yield* invalid(fault)
        by.push({ path: resolved, bucket })
      } else {
        const fault = figureFault(path.column!, word)
        if (fault !== undefined) return yield* invalid(fault)
        figures.push({ figure: word, path: resolved })
      }
    }
    if (by.length > MAX_BY) return yield* invalid(`Group by at most ${MAX_BY} columns.`)
    const money = moneyOf(figures)
    if (new Set([...money].map((index) => pathKey(figures[index]!.path))).size > 1)
      return yield* invalid("Ask for amounts of one column at a time.")
    if (money.size > 0 && figures.some(({ figure }) => figure === "distinct"))
      return yield* invalid("Ask for distinct and for amounts separately.")

    const filters: Array<Condition> = []
    for (const [index, filter] of rows.entries())
      filters.push(yield* resolveTerms(filter, paths[index]!, visible, LITERALS))
    const having: Array<Having> = []
    for (const filter of onGroups) having.push(yield* havingOf(filter, asked))
    const limit = query.limit ?? most
    if (!Number.isInteger(limit) || limit < 0 || limit > most)
      return yield* invalid(`limit must be an integer from 0 to ${most}.`)
    const cursor = query.cursorEntityId
    if (cursor !== undefined && !/^[0-9a-f]{32}$/.test(cursor))
      return yield* invalid("cursorEntityId is not a nextCursorEntityId of an earlier page.")
    return {
      type: from.type,
      plan: from.plan.where,
      filters,
      by,
      figures,
      money,
      having,
      upwards: onGroups.some(({ op }) => op === "gte"),
      onGroups,
      limited:
        from.plan.limited ||
        paths.some((path) => isPartialPath(path, visible)) ||
        asked.some(({ path }) => isPartialPath(path, visible)),
      limit,
      cursor,
      headings,
      label: [from.type.slug, ...headings, ...rows.map(({ op }, index) => `${paths[index]!.written}:${op}`)].join(" ")
    }
  })

const spaced = (text: string): string => text.trim().replace(/\s+/g, " ")

const readWord = (text: string, from: VisibleType, visible: Visible): Result.Result<Asked, Fault> =>
  Result.gen(function* () {
    const read = WORDS.exec(text)
    if (read === null)
      return yield* invalid(
        `With groups, select "by X" or a figure ("sum X", "avg X", "min X", "max X", "distinct X"), not a column.`
      )
    const word = read[1]!.toLowerCase() as Asked["word"]
    const parts = read[2]!.split(" ")
    const [first] = parts
    const bucket = word === "by" && parts.length === 2 ? BUCKETS.find((one) => one === first!.toLowerCase()) : undefined
    const name = parts.at(-1)!
    if (parts.length > (bucket === undefined ? 1 : 2))
      return yield* invalid(`${word} is for one column: "${word} ${name}"; of a date "by ${BUCKETS.join("|")} X".`)
    const path = yield* resolvePath(name, from, visible)
    return { written: [word, ...(bucket === undefined ? [] : [bucket]), path.written].join(" "), word, bucket, path }
  })

const isTime = ({ kind }: Column): boolean => kind === "date" || kind === "timestamp"
const isNumber = ({ kind }: Column): boolean => kind === "number" || kind === "integer"

const groupFault = (column: Column, bucket: Bucket | undefined): string | undefined => {
  if (bucket === undefined) return undefined
  if (!isTime(column)) return `${column.slug} is not a date: "by ${column.slug}".`
  return bucket === "hour" && column.kind === "date" ? `${column.slug} has no hours.` : undefined
}

const figureFault = (column: Column, figure: Figure): string | undefined => {
  if (figure === "distinct" || isNumber(column)) return undefined
  if (figure === "sum" || figure === "avg") return `${figure} is for numbers, and ${column.slug} isn't one.`
  return isTime(column) ? undefined : `${figure} is for numbers and dates, and ${column.slug} is neither.`
}

const moneyOf = (figures: ResolvedGroups["figures"]): ReadonlySet<number> =>
  new Set(
    figures.flatMap(({ figure, path }, index) =>
      figure !== "distinct" && currencyColumn(path.column) !== undefined ? [index] : []
    )
  )

const pathKey = ({ column, steps }: GroupPath): string =>
  JSON.stringify([...steps.map(({ relation }) => relation.key), column.key])

/** A filter on groups: on their count, unless the type shows a column of that name, or on a figure of the request. */
const isOnGroups = ({ columnId }: Filter, from: VisibleType, visible: Visible): boolean =>
  spaced(columnId) === COUNT ? !visibleColumns(from, visible).some(({ slug }) => slug === COUNT) : WORDS.test(columnId)

const havingOf = ({ columnId, op, value }: Filter, asked: ReadonlyArray<Asked>): Result.Result<Having, Fault> => {
  const name = spaced(columnId)
  const figures = asked.filter(({ word }) => word !== "by")
  const index = figures.findIndex(({ written }) => written === name)
  if (name !== COUNT && index < 0) return invalid(`A filter on groups names count or a figure that is selected.`)
  const figure = figures[index]
  if (figure !== undefined && figure.word !== "distinct" && isTime(figure.path.column!))
    return invalid(`${name} can't be a filter: it is a date.`)
  if (op !== "eq" && op !== "gte" && op !== "lt") return invalid(`A filter on groups is eq, gte or lt.`)
  if (!/^-?\d{1,30}(\.\d{1,10})?$/.test(value.trim())) return invalid(`The value for ${name} is a number, such as 42.`)
  return Result.succeed({ of: name === COUNT ? COUNT : index, op, value: value.trim() })
}
