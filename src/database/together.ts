/**
 * Lookups of several callers in one statement. What is asked while the connection is busy travels together: to Postgres,
 * beginning a statement costs several times what looking up one more row does. Callers share a statement only when theirs
 * have one text, so that nothing but values differs; each gets the rows that its own values found, under its own plan.
 */
import { Context, Effect, Exit, type Fiber, References } from "effect"
import type { SqlError } from "effect/sql"
import { Unavailable } from "../domain/errors.ts"
import type { Lane } from "./Lane.ts"
import type { Several, Statement } from "./sql/find.ts"

/** Beyond the server's own statement timeout: a socket that answers nothing doesn't keep its caller. */
export const DEADLINE_MS = 8000
/** How often it is looked for who has waited that long. */
const WATCH_MS = 500
/** Statements under way: while Postgres is at one, the rows of the other are read here. */
const UNDER_WAY = 2
/** Callers of one statement. */
const MOST = 32
/** So many are no reason to make two statements of them. */
const FEW = 4

type Rows = ReadonlyArray<object>
type Failure = SqlError.SqlError | Unavailable

interface Asked {
  readonly statement: Statement
  readonly since: number
  /** Undefined once nobody waits for it any more. */
  answer: ((exit: Exit.Exit<Rows, Failure>) => void) | undefined
}

/** A row that says whose it is, counted from 1. */
interface Numbered {
  readonly n: number
}

interface Group {
  readonly askers: ReadonlyArray<Asked>
  readonly several: Several | undefined
}

/** What a statement needs of its caller's context: nothing. */
export const forkUntraced = Effect.runForkWith(Context.make(References.TracerEnabled, false))

/** A statement that is under way. */
interface Run {
  readonly askers: ReadonlyArray<Asked>
  readonly fiber: Fiber.Fiber<Rows, SqlError.SqlError>
}

/** The lookups of one lane. */
export class Lookups {
  private readonly lane: Pick<Lane, "unsafe">
  private waiting: Array<Asked> = []
  private readonly runs = new Set<Run>()
  private due = false
  private watched = false

  constructor(lane: Pick<Lane, "unsafe">) {
    this.lane = lane
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
    for (const group of groupsOf(asked)) for (const part of partsOf(group, room)) this.send(part)
    this.watch()
  }

  private send({ askers, several }: Group): void {
    const { parameters, text } = askers[0]!.statement
    if (several === undefined) return this.run(askers, text, parameters, (rows) => [rows])
    const values = parameters.map((shared, index) =>
      several.shared.has(index) ? shared : askers.map(({ statement }) => statement.parameters[index])
    )
    this.run(askers, several.text, values, (rows) => byAsker(rows as ReadonlyArray<Numbered>, askers.length))
  }

  private run(
    askers: ReadonlyArray<Asked>,
    text: string,
    parameters: ReadonlyArray<unknown>,
    each: (rows: Rows) => ReadonlyArray<Rows> | undefined
  ): void {
    const run: Run = { askers, fiber: forkUntraced(this.lane.unsafe<object>(text, parameters)) }
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

/** Whose rows they are; undefined when one is nobody's, and then nobody gets any. */
const byAsker = (rows: ReadonlyArray<Numbered>, askers: number): ReadonlyArray<Rows> | undefined => {
  const each = Array.from({ length: askers }, (): Array<object> => [])
  for (const row of rows) {
    const own = each[row.n - 1]
    if (own === undefined) return undefined
    own.push(row)
  }
  return each
}

const answer = (askers: ReadonlyArray<Asked>, exit: Exit.Exit<Rows, Failure>): void => {
  for (const one of askers) {
    one.answer?.(exit)
    one.answer = undefined
  }
}

/** Who can be answered by one statement. */
const groupsOf = (asked: ReadonlyArray<Asked>): ReadonlyArray<Group> => {
  if (asked.length === 1) return [{ askers: asked, several: undefined }]
  const byText = new Map<string, Array<Asked>>()
  for (const one of asked) {
    const alike = byText.get(one.statement.text)
    if (alike === undefined) byText.set(one.statement.text, [one])
    else alike.push(one)
  }
  return [...byText.values()].flatMap(alikeIn)
}

/** Those with one text share a statement if it can be written for several, and if its lists are theirs. */
const alikeIn = (alike: ReadonlyArray<Asked>): ReadonlyArray<Group> => {
  const several = alike.length === 1 ? undefined : alike[0]!.statement.several?.()
  if (several === undefined) return alike.map((one) => ({ askers: [one], several }))
  if (several.shared.size === 0) return [{ askers: alike, several }]
  const byLists = new Map<string, Array<Asked>>()
  for (const one of alike) {
    const lists = JSON.stringify(one.statement.parameters.filter((_, index) => several.shared.has(index)))
    const same = byLists.get(lists)
    if (same === undefined) byLists.set(lists, [one])
    else same.push(one)
  }
  return [...byLists.values()].map((askers) => ({ askers, several: askers.length === 1 ? undefined : several }))
}

/** As many statements as there is room for, unless there are few callers, or too many. */
const partsOf = ({ askers, several }: Group, room: number): ReadonlyArray<Group> => {
  const size = Math.min(MOST, Math.max(FEW, Math.ceil(askers.length / Math.max(1, room))))
  if (askers.length <= size) return [{ askers, several }]
  const parts: Array<Group> = []
  for (let from = 0; from < askers.length; from += size) {
    const part = askers.slice(from, from + size)
    parts.push({ askers: part, several: part.length === 1 ? undefined : several })
  }
  return parts
}
