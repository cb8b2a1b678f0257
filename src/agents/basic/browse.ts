/** Lists and counts with conditions. Candidate filters are counted first; the answer uses the first that matches. */
import { uncapitalized } from "../english.ts"
import { PEOPLE } from "../../domain/EntityType.ts"
import type { ListedColumn, Page } from "../../domain/Page.ts"
import type { Filter } from "../../domain/Query.ts"
import type { Context } from "./readConversation.ts"
import type { Lookup } from "./Lookup.ts"
import { namesakes } from "./alternatives.ts"
import { both } from "./locate.ts"
import { narrow } from "./narrow.ts"
import { idsOf } from "./references.ts"
import type { Said } from "./phrases.ts"
import { columnsOf, count, find, type Script } from "./script.ts"
import { distinguishing } from "./describeSubject.ts"
import { beginning, endless, isWholeDays, withoutEnd } from "./underWay.ts"
import { among, amount, called, cell, differing, ON_REQUEST, numbered } from "./replies.ts"

const MAX_SHOWN = 5
const MAX_READ = 25

export function* browse(mode: "list" | "count", asked: Lookup, skip: number, context: Context): Script<string> {
  const { type } = asked.noun
  if (mode === "count" && (asked.limit !== undefined || asked.order !== undefined)) return cannot(asked)
  const [columns, references] = yield* both(columnsOf(type.id), idsOf(asked.conditions, context))
  const narrowed = yield* narrow(asked, columns, context, references)
  if (typeof narrowed === "string") return narrowed
  const { filters, noun = asked.noun, said } = narrowed
  const lookup = { ...asked, noun }
  const open = yield* endless(asked, filters, columns)
  if (open > 0 && isWholeDays(asked)) return yield* browse(mode, beginning(asked), skip, context)
  if (open > 0 && (yield* count({ entityTypeId: type.id, filters }))?.total === 0) {
    // What begins within the time is under way then, whenever it ends.
    const within = yield* narrow(beginning(asked), columns, context, references)
    const begun =
      typeof within === "string" ? undefined : yield* count({ entityTypeId: type.id, filters: within.filters })
    if (begun !== undefined && begun.total > 0) {
      const reply = yield* browse(mode, beginning(asked), skip, context)
      return open > begun.total ? `${reply}\n${withoutEnd(lookup, open - begun.total)}` : reply
    }
    return `I can't tell whether there is one. ${withoutEnd(lookup, open)}`
  }
  const reply = yield* answer(mode, lookup, { columns, filters, said }, skip)
  return open > 0 ? `${reply}\n${withoutEnd(lookup, open)}` : reply
}

interface Narrowed {
  readonly columns: ReadonlyArray<ListedColumn>
  readonly filters: ReadonlyArray<Filter>
  readonly said: Said
}

function* answer(
  mode: "list" | "count",
  lookup: Lookup,
  { columns, filters, said }: Narrowed,
  skip: number
): Script<string> {
  const { type } = lookup.noun
  if (mode === "count") {
    const [page, whose] = yield* both(count({ entityTypeId: type.id, filters }), namesakes(filters, columns))
    return page === undefined
      ? cannot(lookup)
      : page.total === 0
        ? nothing(lookup, page, said)
        : `${there(lookup, page, said)}.${whose}`
  }
  // In the order of the columns: what is under way at a time shows its start before its end.
  const times = columns
    .map(({ id }) => id)
    .filter((id) => filters.some(({ columnId, op }) => columnId === id && (op === "gte" || op === "lt")))
  const named = filters
    .map(({ columnId }) => columnId)
    .filter((id) => columns.some((column) => column.id === id))
    .filter((id) => id !== "id" && id !== "name" && id !== "attendees")
  const shown = distinguishing(type, columns, [...new Set([...times, ...named])]).slice(
    0,
    type.id === PEOPLE ? Math.max(3, named.length) : 4
  )
  const size =
    lookup.limit ?? (lookup.order === "next" || (lookup.order !== undefined && isOne(lookup)) ? 1 : MAX_SHOWN)
  const single = lookup.order !== undefined && size === 1 && skip === 0
  const limit = single ? MAX_SHOWN : Math.min(MAX_READ, size + skip)
  const page = yield* find({ entityTypeId: type.id, filters, limit, selectColumns: shown })
  if (page === undefined) return cannot(lookup)
  if (page.total === 0) return nothing(lookup, page, said)
  const rest = { ...page, entities: single ? together(page, filters) : page.entities.slice(skip) }
  if (rest.entities.length === 0 && page.total <= skip) return "Those were all."
  if (rest.entities.length === 0) return `That's all I can list: narrow it down to see others, for example by name.`
  const shownCells =
    rest.entities.length > 1
      ? differing(
          rest,
          shown.filter((id) => named.includes(id) || !ON_REQUEST.test(id))
        )
      : shown.filter((id) => !ON_REQUEST.test(id))
  const items = numbered(rest, columns, shownCells)
  if (lookup.order !== undefined && rest.entities.length === 1)
    return `The ${lookup.order} one: ${items.replace(/^1\. /, "")}.`
  if (single) return `The ${lookup.order} ones, at the same time${sameTime(rest, filters)}:\n${items}`
  if (page.total === 1) return `${there(lookup, page, said)}: ${items.replace(/^1\. /, "")}.`
  const left = page.total > skip + rest.entities.length
  const range = skip === 0 ? (left ? ` The first ${rest.entities.length}:` : "") : ` The next ${rest.entities.length}:`
  return `${there(lookup, page, said)}.${range}\n${items}${left && limit < MAX_READ ? "\n\nSay “more” for the next ones, or a number for one of them." : ""}`
}

/** The first row of an order, with those at the same time. */
const together = ({ entities }: Page, filters: ReadonlyArray<Filter>): Page["entities"] => {
  const by = filters.find(({ op }) => op === "gte" || op === "lt")?.columnId ?? ""
  return entities.filter(({ columns }) => columns?.[by] === entities[0]?.columns?.[by])
}

const sameTime = ({ entities }: Page, filters: ReadonlyArray<Filter>): string => {
  const time = cell(entities[0]?.columns?.[filters.find(({ op }) => op === "gte" || op === "lt")?.columnId ?? ""])
  return time === "" ? "" : ` (${time})`
}

const isOne = ({ noun }: Lookup): boolean =>
  called(noun.said, noun.type, 1) === uncapitalized(noun.said) ||
  noun.said.toLowerCase() === noun.type.name.toLowerCase()

/** Describes a lookup in plain words: "open deals in Boston since March". */
export const described = ({ noun }: Lookup, said: Said, total: number, limited = false): string =>
  [
    ...said.filter(({ before }) => before).map(({ text }) => text),
    called(noun.said, noun.type, total),
    ...said
      .filter(({ before, text }) => !before && text !== "")
      .map((one) => (limited ? (one.limited ?? one.text) : one.text))
  ].join(" ")

const isMine = ({ conditions }: Lookup): boolean => conditions.some(({ _tag }) => _tag === "Mine")

/** What is said once about a limited page: of a condition that looks like none where values are hidden, or of all rows. */
const within = (lookup: Lookup, page: Page, said: Said): string => {
  if (isMine(lookup)) return described(lookup, said, page.total, page.limited)
  const hides = page.limited === true && said.some(({ limited }) => limited !== undefined)
  return hides
    ? described(lookup, said, page.total, true)
    : `${described(lookup, said, page.total)}${among(page.limited, lookup.noun.type)}`
}

const there = (lookup: Lookup, page: Page, said: Said): string => {
  const lead = isMine(lookup) ? "You have" : page.total === 1 ? "There is" : "There are"
  return `${lead} ${amount(page)} ${within(lookup, page, said)}`
}

const nothing = (lookup: Lookup, page: Page, said: Said): string => {
  const next = said.length === 0 ? "" : ` Try it wider: “list ${called(lookup.noun.type.plural, lookup.noun.type, 2)}”.`
  // Earlier ones may exist.
  const ahead = lookup.order === "next" ? " coming up" : ""
  return `${isMine(lookup) ? "You have" : "I found"} no ${within(lookup, { ...page, total: 2 }, said)}${ahead}.${next}`
}

const cannot = ({ noun }: Lookup): string =>
  `I can't look that up the way you put it. Try “list ${called(noun.type.plural, noun.type, 2)}” with one thing at a time.`
