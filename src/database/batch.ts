/**
 * Lookups of several callers in one statement. What is asked while the connection is busy travels together: to Postgres,
 * beginning a statement costs several times what looking up one more row does. Callers share a statement only when theirs
 * have one text, so that nothing but values differs; each gets the rows that its own values found, under its own plan.
 */
import { Context, Effect, Exit, type Fiber, References } from "effect"
import type { SqlError } from "effect/sql"
import { Unavailable } from "../domain/errors.ts"
import type { StatementPool } from "./StatementPool.ts"
import { givenBy, type Group, rowsOf, sharing } from "./batchGroups.ts"
import type { Statement } from "./sql/find.ts"

/** Beyond the server's own statement timeout: a socket that answers nothing doesn't keep its caller. */
export const DEADLINE_MS = 8000
/** How often it is looked for who has waited that long. */
const WATCH_MS = 500
/** Statements under way: while Postgres is at one, the rows of the other are read here. */
const UNDER_WAY = 2

type Rows = ReadonlyArray<object>
type Failure = SqlError.SqlError | Unavailable

interface Asked {
  readonly statement: Statement
  readonly since: number
  /** Undefined once nobody waits for it any more. */
  answer: ((exit: Exit.Exit<Rows, Failure>) => void) | undefined
}

/** What a statement needs of its caller's context: nothing. */
export const forkUntraced = Effect.runForkWith(Context.make(References.TracerEnabled, false))

/** A statement that is under way. */
interface Run {
  readonly askers: ReadonlyArray<Asked>
  readonly fiber: Fiber.Fiber<Rows, SqlError.SqlError>
}

/** The lookups of one pool. */
export class Lookups {
  private readonly pool: Pick<StatementPool, "unsafe">
  private waiting: Array<Asked> = []
  private readonly runs = new Set<Run>()
  private due = false
  private watched = false

  constructor(pool: Pick<StatementPool, "unsafe">) {
    this.pool = pool
  }

  /** The rows of a statement, with what others ask at the same time; fails after the deadline at the latest. */
  ask(statement: Statement): Effect.Effect<Rows, Failure> {
    return Effect.callback((resume) => {
      const asked: Asked = { statement, since: performance.now(), answer: resume }
      this.waiting.push(asked)
      this.next()
      return Effect.sync(() => {
        asked.answer = undefined
      })
    })
  }

  /** When there is room: at once for one who is alone, or else with everybody who asks in this turn of the loop. */
  private next(): void {
    if (this.due || this.runs.size >= UNDER_WAY || this.waiting.length === 0) return
    this.due = true
    if (this.runs.size === 0 && this.waiting.length === 1) queueMicrotask(this.begin)
    else setImmediate(this.begin)
  }

  private readonly begin = (): void => {
    this.due = false
    const asked = this.waiting.filter(({ answer }) => answer !== undefined)
    this.waiting = []
    const room = UNDER_WAY - this.runs.size
    for (const group of sharing(asked, room)) this.send(group)
    this.watch()
  }

  private send({ askers, several }: Group<Asked>): void {
    const { parameters, text } = askers[0]!.statement
    if (several === undefined) this.run(askers, text, parameters, (rows) => [rows])
    else this.run(askers, several.text, givenBy(askers, several), (rows) => rowsOf(rows, askers.length))
  }

  private run(
    askers: ReadonlyArray<Asked>,
    text: string,
    parameters: ReadonlyArray<unknown>,
    each: (rows: Rows) => ReadonlyArray<Rows> | undefined
  ): void {
    const run: Run = { askers, fiber: forkUntraced(this.pool.unsafe<object>(text, parameters)) }
    this.runs.add(run)
    run.fiber.addObserver((exit) => {
      this.runs.delete(run)
      if (Exit.isSuccess(exit)) {
        const rows = each(exit.value)
        if (rows === undefined) answer(askers, UNAVAILABLE)
        else for (let index = 0; index < askers.length; index++) askers[index]!.answer?.(Exit.succeed(rows[index]!))
      } else if (askers.length === 1) answer(askers, exit)
      // What is wrong with one of them must not be the others' failure.
      else for (const one of askers) if (one.answer !== undefined) this.send({ askers: [one], several: undefined })
      this.next()
    })
  }

  /** One timer for all of them: what was asked too long ago is unavailable. */
  private watch(): void {
    if (this.watched || this.runs.size + this.waiting.length === 0) return
    this.watched = true
    setTimeout(() => {
      this.watched = false
      const before = performance.now() - DEADLINE_MS
      answer(
        this.waiting.filter(({ since }) => since < before),
        UNAVAILABLE
      )
      for (const { askers, fiber } of this.runs) {
        const late = askers.filter(({ since }) => since < before)
        answer(late, UNAVAILABLE)
        if (late.length === askers.length) fiber.interruptUnsafe()
      }
      this.watch()
    }, WATCH_MS).unref()
  }
}

const UNAVAILABLE = Exit.fail(Unavailable.error)

const answer = (askers: ReadonlyArray<Asked>, exit: Exit.Exit<Rows, Failure>): void => {
  for (const one of askers) {
    one.answer?.(exit)
    one.answer = undefined
  }
}
