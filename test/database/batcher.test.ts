/** When a process sends its lookups, on which connection, and what each request gets; the statements are answered by the test. */
import { Cause, Effect, Exit, Fiber } from "effect"
import { SqlError } from "effect/sql"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { DEADLINE_MS, LookupBatcher } from "../../src/database/batch.ts"
import { CONCURRENT } from "../../src/database/LookupQueue.ts"
import type { Statement } from "../../src/database/sql/ResolvedQuery.ts"

interface Sent {
  readonly on: "first" | "second"
  readonly text: string
  readonly parameters: ReadonlyArray<unknown>
  readonly end: (exit: Exit.Exit<ReadonlyArray<object>, SqlError.SqlError>) => void
  interrupted: boolean
}

const { LockTimeoutError, SqlError: Failed, StatementTimeoutError, UnknownError } = SqlError
const REASONS = { LockTimeoutError, StatementTimeoutError, UnknownError }
const failure = (reason: keyof typeof REASONS) =>
  Exit.fail(new Failed({ reason: new REASONS[reason]({ cause: new Error(reason) }) }))

const statement = (more: Partial<Statement> = {}): Statement => ({
  text: "one",
  parameters: [1],
  batch: () => ({ text: "many", shared: new Set() }),
  ...more
})

/** A batcher whose statements wait until the test ends them. */
const batcher = ({ locked = [] as ReadonlyArray<string>, beside = false, searching = false } = {}) => {
  const sent: Array<Sent> = []
  const pool = (on: Sent["on"]) => ({
    unsafe: (text: string, parameters: ReadonlyArray<unknown> = []) =>
      Effect.callback<ReadonlyArray<object>, SqlError.SqlError>((resume) => {
        const one: Sent = { on, text, parameters, end: resume, interrupted: false }
        sent.push(one)
        return Effect.sync(() => {
          one.interrupted = true
        })
      })
  })
  const isLocked = (relations: ReadonlyArray<string> = []) => relations.some((each) => locked.includes(each))
  const all = new LookupBatcher(pool("first") as never, pool("second") as never, { isLocked } as never, {
    beside: () => beside,
    isSearching: () => searching
  })
  const exits: Array<Exit.Exit<ReadonlyArray<object>, unknown> | undefined> = []
  /** Asks as a caller; its exit stands in `exits` at the place that is returned. */
  const ask = (more: Partial<Statement> = {}, organizationId = 1n) => {
    const at = exits.push(undefined) - 1
    const fiber = Effect.runFork(all.request(organizationId, statement(more)))
    fiber.addObserver((exit) => {
      exits[at] = exit
    })
    return { at, fiber }
  }
  return { ask, exits, sent }
}

const tagOf = (exit: Exit.Exit<unknown, unknown> | undefined): unknown =>
  exit !== undefined && Exit.isFailure(exit) ? (Cause.squash(exit.cause) as { readonly _tag: string })._tag : exit
const rows = (...of: ReadonlyArray<object>) => Exit.succeed(of)
/** Until everything that is due in this turn of the event loop has run. */
const tick = async () => {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A clock that the test moves: timers and `performance.now` follow it. */
const clock = () => {
  const real = { setTimeout: globalThis.setTimeout, now: performance.now }
  const timers = new Set<{ readonly at: number; readonly run: () => void }>()
  let now = 1000
  globalThis.setTimeout = ((run: () => void, after = 0) => {
    timers.add({ at: now + after, run })
    return { unref: () => undefined }
  }) as never
  performance.now = () => now
  return {
    timers,
    advance: async (milliseconds: number) => {
      const until = now + milliseconds
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)
        if (next === undefined) break
        timers.delete(next)
        now = next.at
        next.run()
        await tick()
      }
      now = until
    },
    stop: () => {
      globalThis.setTimeout = real.setTimeout
      performance.now = real.now
    }
  }
}
let time: ReturnType<typeof clock>
beforeEach(() => {
  time = clock()
})
afterEach(() => time.stop())

describe("a lookup", () => {
  it("that is alone is sent in this tick, and several of one tick are one statement", async () => {
    const { ask, exits, sent } = batcher()
    ask({ parameters: [7] })
    await Promise.resolve()
    expect(sent.map(({ on, parameters, text }) => [on, text, parameters])).toEqual([["first", "one", [7]]])
    sent[0]!.end(rows({ a: 1 }))
    await tick()
    expect(exits[0]).toEqual(rows({ a: 1 }))
    ask({ parameters: [1] })
    ask({ parameters: [2] })
    await tick()
    expect(sent.slice(1).map(({ parameters, text }) => [text, parameters])).toEqual([["many", [[1, 2]]]])
    sent[1]!.end(rows({ n: 2, b: 2 }))
    await tick()
    expect(exits.slice(1)).toEqual([rows(), rows({ n: 2, b: 2 })])
  })

  it("of a busy organization that searches beside others is sent after the rest, though nothing else happens", async () => {
    const { ask, sent } = batcher({ beside: true, searching: true })
    for (let asked = 0; asked < 6; asked++) ask({ text: `text ${asked}` })
    await tick()
    expect(sent).toHaveLength(1)
    await time.advance(4)
    sent[0]!.end(rows())
    await tick()
    await time.advance(11)
    expect(sent).toHaveLength(1)
    await time.advance(1)
    expect(sent.map(({ on, text }) => [on, text])).toEqual([
      ["second", "text 0"],
      ["second", "text 1"]
    ])
  })

  it("that arrives while another one runs waits for the end of the tick, so that the next can join it", async () => {
    const { ask, sent } = batcher()
    ask({ batch: undefined })
    await tick()
    ask({ parameters: [1] })
    await Promise.resolve()
    expect(sent).toHaveLength(1)
    ask({ parameters: [2] })
    await tick()
    expect(sent.map(({ text }) => text)).toEqual(["one", "many"])
  })

  it("goes to the connection with fewer statements, and waits when each has as many as it may", async () => {
    const { ask, exits, sent } = batcher()
    for (let organization = 1; organization <= 2 * CONCURRENT + 3; organization++)
      ask({ batch: undefined, text: `${organization}` }, BigInt(organization))
    await tick()
    // What is left gathers into batches on the connection of busy organizations.
    expect(sent.map(({ on }) => on)).toEqual(["first", "second", "first"])
    sent[0]!.end(rows())
    await tick()
    expect(sent.slice(3).map(({ on }) => on)).toEqual(["first"])
    for (let done = 1; done < sent.length; done++) {
      sent[done]!.end(rows())
      await tick()
    }
    expect(exits).toEqual(Array.from({ length: 2 * CONCURRENT + 3 }, () => rows()))
  })

  it("of a relation that is locked fails without a statement, and a lock met by one fails as such", async () => {
    const { ask, exits, sent } = batcher({ locked: ["people"] })
    ask({ relations: ["people"] })
    await tick()
    expect([sent, tagOf(exits[0])]).toEqual([[], "RelationLocked"])
    ask({ relations: ["companies"] })
    ask({ relations: ["companies"] })
    await tick()
    sent[0]!.end(failure("LockTimeoutError"))
    await tick()
    expect(exits.slice(1).map(tagOf)).toEqual(["RelationLocked", "RelationLocked"])
    expect(sent).toHaveLength(1)
  })

  it("that takes too long for the server fails as such, alone: of a batch each is tried again by itself", async () => {
    const { ask, exits, sent } = batcher()
    ask({ parameters: [1] })
    ask({ parameters: [2] })
    await tick()
    sent[0]!.end(failure("StatementTimeoutError"))
    await tick()
    expect(sent.slice(1).map(({ parameters, text }) => [text, parameters])).toEqual([
      ["one", [1]],
      ["one", [2]]
    ])
    sent[1]!.end(failure("StatementTimeoutError"))
    sent[2]!.end(rows({ b: 2 }))
    await tick()
    expect([tagOf(exits[0]), exits[1]]).toEqual(["LookupTimedOut", rows({ b: 2 })])
    ask({}, 5n)
    await tick()
    sent[3]!.end(failure("UnknownError"))
    await tick()
    expect(tagOf(exits[2])).toBe("SqlError")
    // Whose lookup was slow keeps to the second connection; another failure changes nothing.
    ask({ text: "slow" }, 9n)
    await tick()
    sent[4]!.end(failure("StatementTimeoutError"))
    await tick()
    ask({ text: "after" }, 9n)
    ask({ text: "after" }, 5n)
    await tick()
    expect(sent.slice(5).map(({ on, text }) => [on, text])).toEqual(
      expect.arrayContaining([
        ["first", "after"],
        ["second", "after"]
      ])
    )
  })

  it("gets nothing if a row of its batch belongs to none of its requests", async () => {
    const { ask, exits, sent } = batcher()
    ask()
    ask()
    await tick()
    sent[0]!.end(rows({ n: 1 }, { n: 3 }))
    await tick()
    expect(exits.map(tagOf)).toEqual(["Unavailable", "Unavailable"])
  })

  it("of a caller who no longer waits holds up none, and isn't sent if it waited", async () => {
    const { ask, exits, sent } = batcher()
    const [gone] = [ask({ parameters: [1] }), ask({ parameters: [2] })]
    await tick()
    Effect.runFork(Fiber.interrupt(gone.fiber))
    await tick()
    sent[0]!.end(rows({ n: 1 }, { n: 2 }))
    await tick()
    expect(exits[1]).toEqual(rows({ n: 2 }))
    expect(Exit.isFailure(exits[0]!)).toBe(true)
    for (let organization = 1; organization <= 2 * CONCURRENT; organization++)
      ask({ batch: undefined, text: `${organization}` }, BigInt(organization))
    const late = ask({ text: "late" }, 99n)
    await tick()
    Effect.runFork(Fiber.interrupt(late.fiber))
    await tick()
    for (const { end } of sent.slice(1)) end(rows())
    await tick()
    expect(sent.map(({ text }) => text)).not.toContain("late")
  })
})

describe("the deadline", () => {
  it("fails a request whose statement doesn't end, cancels the statement, and frees the connection", async () => {
    const { ask, exits, sent } = batcher()
    ask()
    await tick()
    await time.advance(DEADLINE_MS - 600)
    expect([exits[0], sent[0]!.interrupted]).toEqual([undefined, false])
    await time.advance(1200)
    await tick()
    expect([tagOf(exits[0]), sent[0]!.interrupted]).toEqual(["Unavailable", true])
    ask()
    await tick()
    sent[1]!.end(rows({ a: 1 }))
    await tick()
    expect(exits[1]).toEqual(rows({ a: 1 }))
  })

  it("fails what waits as long, also on the second connection, and leaves later requests alone", async () => {
    const { ask, exits, sent } = batcher()
    for (let organization = 1; organization <= 2 * CONCURRENT + 1; organization++)
      ask({ batch: undefined, text: `${organization}` }, BigInt(organization))
    await tick()
    await time.advance(DEADLINE_MS - 1000)
    ask({ text: "later" }, 77n)
    await tick()
    await time.advance(1600)
    await tick()
    expect(exits.slice(0, 2 * CONCURRENT + 1).map(tagOf)).toEqual(
      Array.from({ length: 2 * CONCURRENT + 1 }, () => "Unavailable")
    )
    expect(sent.slice(0, 3).map(({ interrupted, on }) => [on, interrupted])).toEqual([
      ["first", true],
      ["second", true],
      ["first", true]
    ])
    expect(exits.at(-1)).toBeUndefined()
    sent.find(({ text }) => text === "later")!.end(rows({ a: 1 }))
    await tick()
    expect(exits.at(-1)).toEqual(rows({ a: 1 }))
  })

  it("isn't watched while nothing waits or runs", async () => {
    const { ask, sent } = batcher()
    ask()
    await tick()
    expect(time.timers.size).toBe(1)
    ask()
    await tick()
    expect(time.timers.size).toBe(1)
    for (const { end } of sent) end(rows())
    await time.advance(600)
    expect(time.timers.size).toBe(0)
  })
})
