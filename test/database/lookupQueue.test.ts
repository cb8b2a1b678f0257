/** The order in which waiting lookups run, their grouping into batches, and the bounds of an organization. */
import { describe, expect, it } from "vitest"
import { type ConnectionName, LookupQueue, MAX_WAITING } from "../../src/database/LookupQueue.ts"
import { Neighbours } from "../../src/database/Neighbours.ts"
import type { BatchForm, Statement } from "../../src/database/sql/ResolvedQuery.ts"

const FORM: BatchForm = { text: "batch", shared: new Set() }

interface Request {
  readonly id: number
  readonly organizationId: bigint
  readonly statement: Statement
  readonly since: number
  resume: unknown
}

let ids = 0
const request = (more: Partial<Statement> = {}, organizationId = 1n): Request => ({
  id: ids++,
  organizationId,
  statement: { text: "one", parameters: [1, "x"], batch: () => FORM, ...more },
  since: 0,
  resume: true
})

const requests = (count: number, more: Partial<Statement> = {}, organizationId = 1n) =>
  Array.from({ length: count }, () => request(more, organizationId))

const ALONE = { beside: () => false, isSearching: () => false }
const BESIDE_OTHERS = { beside: () => true, isSearching: () => false }

const queueOf = (...all: ReadonlyArray<Request>) => {
  const queue = new LookupQueue<Request>(ALONE)
  for (const one of all) expect(queue.push(one)).toBe(true)
  return queue
}

/** All batches in the order of their turns. */
const drain = (queue: LookupQueue<Request>, connection: ConnectionName = "second", running = 0) => {
  const batches: Array<{ readonly of: ReadonlyArray<Request>; readonly batched: boolean }> = []
  for (let batch = queue.take(connection, running); batch !== undefined; batch = queue.take(connection, running))
    batches.push({ of: batch.requests, batched: batch.form !== undefined })
  return batches
}

const [HOSTILE, QUIET, OTHER] = [1n, 2n, 3n]
const organizationsOf = (batches: ReturnType<typeof drain>) =>
  batches.map(({ of }) => of.map(({ organizationId }) => organizationId))

describe("turns of organizations", () => {
  it("follow each other, however many lookups with different texts an organization has waiting", () => {
    const flood = Array.from({ length: 100 }, (_, index) => request({ text: `text ${index}` }, HOSTILE))
    const queue = queueOf(...flood, request({ text: "q1" }, QUIET), request({ text: "q2" }, QUIET), request({}, OTHER))
    const order = organizationsOf(drain(queue)).flat()
    expect(order.slice(0, 6)).toEqual([HOSTILE, QUIET, OTHER, HOSTILE, QUIET, HOSTILE])
    expect(order).toHaveLength(103)
  })

  it("come after at most one batch of each other organization, also for lookups that arrive later", () => {
    const queue = queueOf(...requests(200, { batch: undefined }, HOSTILE))
    for (let round = 0; round < 20; round++) {
      queue.take("second", 0)
      const late = request({ text: "late" }, QUIET)
      queue.push(late)
      expect([queue.take("second", 0), queue.take("second", 0)].some((batch) => batch!.requests[0] === late)).toBe(true)
    }
  })

  it("give every organization a place in the next batch of its text", () => {
    const late = [2n, 3n, 4n].map((organizationId) => request({}, organizationId))
    const queue = queueOf(...requests(100, {}, HOSTILE), ...late)
    const [first] = drain(queue)
    expect(first!.of).toHaveLength(32)
    expect(first!.of).toEqual(expect.arrayContaining(late))
  })

  it("take one request of each organization at a time", () => {
    const queue = queueOf(...requests(40, {}, HOSTILE), ...requests(40, {}, QUIET), ...requests(4, {}, OTHER))
    const [first] = organizationsOf(drain(queue))
    const count = (organizationId: bigint) => first!.filter((id) => id === organizationId).length
    expect([count(HOSTILE), count(QUIET), count(OTHER)]).toEqual([14, 14, 4])
  })
})

describe("a batch", () => {
  it("holds requests whose statements have one text, in their order", () => {
    const [a, b, c, d] = [request(), request({ text: "other" }), request(), request({ text: "third" })]
    expect(drain(queueOf(a!, b!, c!, d!))).toEqual([
      { of: [a, c], batched: true },
      { of: [b], batched: false },
      { of: [d], batched: false }
    ])
  })

  it("isn't formed for a lone request, or for statements without a batch form", () => {
    const [lone, ...plain] = [request(), ...requests(2, { batch: undefined })]
    expect(drain(queueOf())).toEqual([])
    expect(drain(queueOf(lone!))).toEqual([{ of: [lone], batched: false }])
    expect(drain(queueOf(...plain))).toEqual(plain.map((one) => ({ of: [one], batched: false })))
  })

  it("holds requests only if all their list parameters are equal, in order, also of several organizations", () => {
    const batch = () => ({ text: "batch", shared: new Set([1, 2]) })
    const withLists = (organizationId: bigint, ...lists: ReadonlyArray<ReadonlyArray<string>>) =>
      request({ parameters: [organizationId, ...lists], batch }, organizationId)
    const all = [
      withLists(1n, ["a", "b"], ["c"]),
      withLists(1n, ["a"], ["b", "c"]),
      withLists(2n, ["a", "b"], ["c"]),
      withLists(1n, ["b", "a"], ["c"]),
      withLists(2n, ["a,b"], ["c"]),
      withLists(3n, ["a"], ["b", "c"])
    ]
    const batches = drain(queueOf(...all)).map(({ batched, of }) => [of.map((one) => all.indexOf(one)).sort(), batched])
    expect(batches).toHaveLength(4)
    expect(batches).toEqual(
      expect.arrayContaining([
        [[0, 2], true],
        [[1, 5], true],
        [[3], false],
        [[4], false]
      ])
    )
  })

  it("is a part of a large group, which is split over the room for concurrent statements", () => {
    const sizes = (count: number, room: 1 | 2) =>
      drain(queueOf(...requests(count)), "second", 2 - room).map(({ batched, of }) => (batched ? of.length : "alone"))
    expect(sizes(16, 2)).toEqual([8, 4, 4])
    expect(sizes(16, 1)).toEqual([16])
    expect(sizes(5, 1)).toEqual([5])
    expect(sizes(5, 2)).toEqual([4, "alone"])
    expect(sizes(65, 1)).toEqual([32, 32, "alone"])
  })

  it("leaves out requests whose callers no longer wait", () => {
    const all = requests(10)
    for (const one of all.slice(0, 9)) one.resume = undefined
    const queue = queueOf(...all)
    expect(drain(queue)).toEqual([{ of: [all[9]], batched: false }])
    expect(queue.size).toBe(0)
  })

  it("that failed is retried one by one", () => {
    const queue = queueOf(...requests(3))
    const batch = queue.take("second", 0)!
    queue.retry(batch.requests)
    expect(drain(queue).map(({ batched, of }) => [of.length, batched])).toEqual([
      [1, false],
      [1, false],
      [1, false]
    ])
  })
})

describe("a waiting lookup", () => {
  it("that is retried doesn't join the batch of a later one", () => {
    const queue = queueOf(...requests(2))
    const { requests: failed } = queue.take("second", 0)!
    queue.push(request())
    queue.retry(failed)
    expect(drain(queue).map(({ of }) => of.length)).toEqual([1, 1, 1])
  })

  it("is late if it arrived before a time", () => {
    const queue = queueOf({ ...request(), since: 5 }, { ...request({}, OTHER), since: 9 }, { ...request(), since: 10 })
    expect(queue.waitingBefore(10).map(({ since }) => since)).toEqual([5, 9])
  })

  it("that was abandoned doesn't count as outstanding", () => {
    let time = 0
    const queue = new LookupQueue<Request>(ALONE, () => time)
    for (const one of requests(5, {}, HOSTILE)) {
      queue.push(one)
      one.resume = undefined
    }
    expect(queue.take("second", 0)).toBeUndefined()
    time = 1001
    queue.push(request({}, HOSTILE))
    expect(queue.take("first", 0)?.requests).toHaveLength(1)
  })
})

describe("a busy organization", () => {
  it("stays busy for ten seconds after a timeout, whatever else it does", () => {
    let time = 0
    const queue = new LookupQueue<Request>(ALONE, () => time)
    queue.markSlow(HOSTILE)
    for (const one of requests(5, {}, HOSTILE)) queue.push(one)
    for (const { of } of drain(queue)) queue.done(of)
    time = 9999
    queue.push(request({}, HOSTILE))
    expect(queue.take("first", 0)).toBeUndefined()
  })

  it("has more than four lookups outstanding, or had them within the last second", () => {
    let time = 0
    const queue = new LookupQueue<Request>(ALONE, () => time)
    for (const one of [...requests(5, {}, HOSTILE), ...requests(4, {}, QUIET)]) queue.push(one)
    expect(organizationsOf(drain(queue, "first"))).toEqual([[QUIET, QUIET, QUIET, QUIET]])
    queue.done(queue.take("second", 1)!.requests)
    queue.push(request({}, HOSTILE))
    expect(queue.take("first", 0)).toBeUndefined()
    time = 1001
    expect(queue.take("first", 0)?.requests).toHaveLength(1)
  })

  it("has four statements running at most, and any other organization two on the first connection", () => {
    const busy = queueOf(...requests(10))
    expect(busy.take("second", 4)).toBeUndefined()
    expect(busy.take("second", 3)).toBeDefined()
    expect(queueOf(request()).take("first", 2)).toBeUndefined()
    expect(queueOf(request()).take("first", 1)).toBeDefined()
  })

  it("has one lookup running at most while other organizations read, also in a batch", () => {
    const queue = new LookupQueue<Request>(BESIDE_OTHERS)
    for (const one of [...requests(10, {}, HOSTILE), ...requests(10, {}, OTHER), ...requests(2, {}, QUIET)])
      queue.push(one)
    expect(queue.take("second", 1)).toBeUndefined()
    const batch = queue.take("second", 0)!.requests.map(({ organizationId }) => organizationId)
    expect(batch).toEqual([HOSTILE, OTHER, QUIET, QUIET])
    expect(queue.take("second", 1)).toBeUndefined()
  })

  it("runs its next lookup beside others only after one of an organization that isn't busy", () => {
    const queue = new LookupQueue<Request>(BESIDE_OTHERS)
    const take = (connection: ConnectionName) => queue.take(connection, 0)?.requests ?? []
    const organizationOf = ([first]: ReadonlyArray<Request>) => first?.organizationId
    for (const one of requests(10, {}, HOSTILE)) queue.push(one)
    for (let round = 0; round < 3; round++) {
      for (const one of [request({ text: "q1" }, QUIET), request({ text: "q2" }, QUIET)]) queue.push(one)
      const [first, hostile, second] = [take("first"), take("second"), take("first")]
      expect([first, hostile, second].map(organizationOf)).toEqual([QUIET, HOSTILE, QUIET])
      queue.done(hostile)
      expect(take("second")).toEqual([])
      queue.done(first)
      const next = take("second")
      expect(organizationOf(next)).toBe(HOSTILE)
      queue.done([...next, ...second])
    }
    // Without a lookup of another organization, nothing holds it up.
    queue.done(take("second"))
    expect(organizationOf(take("second"))).toBe(HOSTILE)
  })

  it("rests after a lookup for three times as long as it took, 50 ms at most, while it searches beside others", () => {
    let [time, isSearching, beside] = [1000, true, true]
    const queue = new LookupQueue<Request>({ beside: () => beside, isSearching: () => isSearching }, () => time)
    for (const one of requests(10, {}, HOSTILE)) queue.push(one)
    const run = (duration: number) => {
      const { requests } = queue.take("second", 0)!
      time += duration
      queue.done(requests)
    }
    expect(queue.rest()).toBeUndefined()
    run(2)
    expect([queue.take("second", 0), queue.rest()]).toEqual([undefined, 6])
    time += 5
    expect([queue.take("second", 0), queue.rest()]).toEqual([undefined, 1])
    time += 1
    expect(queue.rest()).toBeUndefined()
    run(200)
    expect(queue.rest()).toBe(50)
    isSearching = false
    expect(queue.rest()).toBeUndefined()
    run(2)
    isSearching = true
    expect(queue.rest()).toBe(6)
    beside = false
    expect(queue.rest()).toBeUndefined()
    expect(queue.take("second", 0)).toBeDefined()
  })

  it("doesn't rest after a lookup that was abandoned before it ran", () => {
    let time = 1000
    const queue = new LookupQueue<Request>({ beside: () => true, isSearching: () => true }, () => time)
    const [abandoned, ...rest] = requests(10, {}, HOSTILE)
    for (const one of [abandoned!, ...rest]) queue.push(one)
    abandoned!.resume = undefined
    time += 100
    expect(queue.take("second", 0)?.requests).toEqual([rest[0]])
  })

  it("isn't part of another organization's batch on the first connection", () => {
    const queue = queueOf(...requests(5, {}, HOSTILE), request({}, QUIET))
    expect(organizationsOf(drain(queue, "first"))).toEqual([[QUIET]])
  })

  it("is one whose lookup reached the statement timeout, or whose failed batch is retried", () => {
    const queue = queueOf(request({}, HOSTILE), request({}, QUIET), request({ text: "other" }, OTHER))
    queue.markSlow(HOSTILE)
    expect(organizationsOf(drain(queue, "first"))).toEqual([[QUIET], [OTHER]])
    const batch = queue.take("second", 0)!
    queue.retry(batch.requests)
    expect(queue.take("first", 0)).toBeUndefined()
  })

  it(`has at most ${MAX_WAITING} lookups waiting; another organization's are queued all the same`, () => {
    const queue = queueOf(...requests(MAX_WAITING, {}, HOSTILE))
    expect(queue.push(request({}, HOSTILE))).toBe(false)
    expect(queue.push(request({}, QUIET))).toBe(true)
    queue.take("second", 0)
    expect(queue.push(request({}, HOSTILE))).toBe(true)
  })
})

describe("any other organization", () => {
  it("doesn't join statements that run on the second connection", () => {
    expect(queueOf(request()).take("second", 1)).toBeUndefined()
  })

  it("keeps to the connection on which its lookups run, and may use both afterwards", () => {
    const queue = queueOf(request({}, QUIET))
    const { requests: running } = queue.take("first", 0)!
    queue.push(request({}, QUIET))
    expect(queue.take("second", 0)).toBeUndefined()
    queue.done([...running, ...queue.take("first", 0)!.requests])
    queue.push(request({}, QUIET))
    expect(queue.take("second", 0)?.requests).toHaveLength(1)
  })
})

describe("the neighbours of an organization", () => {
  it("are the other organizations that have read within the last second", () => {
    let time = 0
    const neighbours = new Neighbours(() => time)
    expect(neighbours.beside(HOSTILE)).toBe(false)
    neighbours.arrive(HOSTILE)
    neighbours.arrive(HOSTILE)
    expect([HOSTILE, QUIET].map((one) => neighbours.beside(one))).toEqual([false, true])
    neighbours.arrive(QUIET)
    time = 600
    neighbours.arrive(HOSTILE)
    expect([HOSTILE, QUIET, OTHER].map((one) => neighbours.beside(one))).toEqual([true, true, true])
    time = 1000
    expect([HOSTILE, QUIET, OTHER].map((one) => neighbours.beside(one))).toEqual([false, true, true])
    neighbours.arrive(QUIET)
    neighbours.arrive(OTHER)
    time = 1600
    expect([HOSTILE, QUIET, OTHER].map((one) => neighbours.beside(one))).toEqual([true, true, true])
    time = 2000
    expect([HOSTILE, QUIET, OTHER].map((one) => neighbours.beside(one))).toEqual([false, false, false])
  })
})
