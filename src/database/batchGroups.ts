/** Groups identical statements into batches, and maps values and rows between requests and their batch. */
import type { BatchForm, Statement } from "./sql/ResolvedQuery.ts"

/** Requests in one batch. */
const MAX_BATCH = 32
/** A smaller batch is never split. */
const MIN_SPLIT = 4

interface Request {
  readonly statement: Statement
}

/** Requests that one execution answers: by the batch form, or, for a single request, by its own statement. */
export interface Batch<R extends Request> {
  readonly requests: ReadonlyArray<R>
  readonly form: BatchForm | undefined
}

/** A row of a batch; `n` is the number of its request, counted from 1. */
interface NumberedRow {
  readonly n: number
}

/** Groups requests into as few batches as possible, but splits large groups over the `room` for concurrent statements. */
export const batchesOf = <R extends Request>(requests: ReadonlyArray<R>, room: number): ReadonlyArray<Batch<R>> =>
  requests.length === 1
    ? [single(requests[0]!)]
    : groupBy(requests, ({ statement }) => statement.text).flatMap(batchesOfText(room))

const single = <R extends Request>(request: R): Batch<R> => ({ requests: [request], form: undefined })

/** Requests with one text share a batch if the statement has a batch form and their list parameters are equal. */
const batchesOfText =
  (room: number) =>
  <R extends Request>(identical: ReadonlyArray<R>): ReadonlyArray<Batch<R>> => {
    const form = identical.length === 1 ? undefined : identical[0]!.statement.batch?.()
    if (form === undefined) return identical.map(single)
    const { shared } = form
    const lists = ({ statement }: R) => JSON.stringify(statement.parameters.filter((_, index) => shared.has(index)))
    return (shared.size === 0 ? [identical] : groupBy(identical, lists)).flatMap((requests) => {
      const size = Math.min(MAX_BATCH, Math.max(MIN_SPLIT, Math.ceil(requests.length / Math.max(1, room))))
      const batches: Array<Batch<R>> = []
      for (let from = 0; from < requests.length; from += size) {
        const part = requests.slice(from, from + size)
        batches.push(part.length === 1 ? single(part[0]!) : { requests: part, form })
      }
      return batches
    })
  }

const groupBy = <A>(all: ReadonlyArray<A>, keyOf: (one: A) => string): ReadonlyArray<ReadonlyArray<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const one of all) {
    const key = keyOf(one)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [one])
    else group.push(one)
  }
  return [...groups.values()]
}

/** The parameters of a batch: an array of the requests' values for each, or the list that they share. */
export const batchParameters = (
  requests: ReadonlyArray<Request>,
  { shared }: Pick<BatchForm, "shared">
): ReadonlyArray<unknown> =>
  requests[0]!.statement.parameters.map((value, index) =>
    shared.has(index) ? value : requests.map(({ statement }) => statement.parameters[index])
  )

/** The rows of each request; undefined when a row belongs to no request, and then none may be used. */
export const rowsByRequest = (
  rows: ReadonlyArray<object>,
  requests: number
): ReadonlyArray<ReadonlyArray<object>> | undefined => {
  const each = Array.from({ length: requests }, (): Array<object> => [])
  for (const row of rows as ReadonlyArray<NumberedRow>) {
    const own = each[row.n - 1]
    if (own === undefined) return undefined
    own.push(row)
  }
  return each
}
