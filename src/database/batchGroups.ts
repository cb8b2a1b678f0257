/** Maps values and rows between requests and the one statement that answers them. */
import type { BatchForm, Statement } from "./sql/ResolvedQuery.ts"

/** Requests in one batch. */
export const MAX_BATCH = 32
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

/** The size of a batch when so many requests of one text wait: large groups are split over the `room` for concurrent statements. */
export const sizeOf = (waiting: number, room: number): number =>
  Math.min(MAX_BATCH, Math.max(MIN_SPLIT, Math.ceil(waiting / room)))

/** Whether two requests with one text fit one batch: their list parameters are equal, in order. */
export const fitTogether = (one: Request, other: Request, { shared }: Pick<BatchForm, "shared">): boolean =>
  shared.size === 0 || listsOf(one, shared) === listsOf(other, shared)

const listsOf = ({ statement }: Request, shared: ReadonlySet<number>): string =>
  JSON.stringify(statement.parameters.filter((_, index) => shared.has(index)))

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
