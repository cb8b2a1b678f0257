/** Who shares a statement, what it is then given, and whose its rows are. */
import type { Several, Statement } from "./sql/find.ts"

/** Callers of one statement. */
const MOST = 32
/** So many are no reason to make two statements of them. */
const FEW = 4

interface Asker {
  readonly statement: Statement
}

/** Some askers and what answers them: the statement for several, or each one's own. */
export interface Group<A extends Asker> {
  readonly askers: ReadonlyArray<A>
  readonly several: Several | undefined
}

/** A row that says whose it is, counted from 1. */
interface Numbered {
  readonly n: number
}

/** The fewest groups in which statements are shared, in parts for which there is room, unless there are few askers or too many. */
export const sharing = <A extends Asker>(asked: ReadonlyArray<A>, room: number): ReadonlyArray<Group<A>> =>
  asked.length === 1 ? [alone(asked[0]!)] : alikeBy(asked, ({ statement }) => statement.text).flatMap(partsFor(room))

const alone = <A extends Asker>(asker: A): Group<A> => ({ askers: [asker], several: undefined })

/** Those with one text share a statement if it can be written for several, and if its lists are theirs. */
const partsFor =
  (room: number) =>
  <A extends Asker>(alike: ReadonlyArray<A>): ReadonlyArray<Group<A>> => {
    const several = alike.length === 1 ? undefined : alike[0]!.statement.several?.()
    if (several === undefined) return alike.map(alone)
    const { shared } = several
    const lists = ({ statement }: A) => JSON.stringify(statement.parameters.filter((_, index) => shared.has(index)))
    return (shared.size === 0 ? [alike] : alikeBy(alike, lists)).flatMap((askers) => {
      const size = Math.min(MOST, Math.max(FEW, Math.ceil(askers.length / Math.max(1, room))))
      const parts: Array<Group<A>> = []
      for (let from = 0; from < askers.length; from += size) {
        const part = askers.slice(from, from + size)
        parts.push(part.length === 1 ? alone(part[0]!) : { askers: part, several })
      }
      return parts
    })
  }

const alikeBy = <A>(all: ReadonlyArray<A>, keyOf: (one: A) => string): ReadonlyArray<ReadonlyArray<A>> => {
  const byKey = new Map<string, Array<A>>()
  for (const one of all) {
    const key = keyOf(one)
    const alike = byKey.get(key)
    if (alike === undefined) byKey.set(key, [one])
    else alike.push(one)
  }
  return [...byKey.values()]
}

/** The parameters of a statement for several: an array of their values for each, or the list that is the same for all. */
export const givenBy = (askers: ReadonlyArray<Asker>, { shared }: Several): ReadonlyArray<unknown> =>
  askers[0]!.statement.parameters.map((value, index) =>
    shared.has(index) ? value : askers.map(({ statement }) => statement.parameters[index])
  )

/** The rows of each asker; undefined when one is nobody's, and then nobody gets any. */
export const rowsOf = (
  rows: ReadonlyArray<object>,
  askers: number
): ReadonlyArray<ReadonlyArray<object>> | undefined => {
  const each = Array.from({ length: askers }, (): Array<object> => [])
  for (const row of rows as ReadonlyArray<Numbered>) {
    const own = each[row.n - 1]
    if (own === undefined) return undefined
    own.push(row)
  }
  return each
}
