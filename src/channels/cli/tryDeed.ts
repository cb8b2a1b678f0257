/**
 * A `do` case of `max eval`: says a request, confirms the one change that it drafts, compares all rows with those before,
 * and undoes the change, so that every case begins from the same rows.
 */
import { Effect, Schema, Stream } from "effect"
import type { MaxAgent } from "../../agents/MaxAgent.ts"
import type { Organization } from "../../domain/EntityType.ts"
import {
  type Decided,
  type DecisionError,
  type NotYet,
  OperatorError,
  type ProposalError
} from "../../domain/errors.ts"
import { CurrentPrincipal, type Principal } from "../../domain/Principal.ts"
import type { TurnEvent } from "../../wire/TurnEvent.ts"
import type { Changes } from "../../services/changes/Changes.ts"
import { type Difference, differences, type Snapshot, type Snapshots } from "../../services/operations/Snapshots.ts"

/** A write that a case expects. */
export const Expected = Schema.Struct({
  action: Schema.String,
  id: Schema.optionalKey(Schema.String),
  values: Schema.optionalKey(Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Array(Schema.String)])))
})
type Expected = typeof Expected.Type

/** `wrong`: another write than was expected, proposed or applied. */
export type Verdict = "exact" | "nothing" | "wrong"

export interface Tried {
  readonly verdict: Verdict
  readonly found: string
  /** The change couldn't be undone: the rows aren't those of the start, so no other case can follow. */
  readonly spoiled?: true
}

interface World {
  readonly organization: Organization
  readonly agent: MaxAgent["Service"]
  readonly changes: Changes["Service"]
  readonly snapshots: Snapshots["Service"]
  /** The rows that every case begins from. */
  readonly start: Snapshot
}

export type TryError = DecisionError | ProposalError | Decided | NotYet | OperatorError

const VIA = { channel: "cli" }
/** The second confirmation of a change is at least a second after the first. */
const SECOND = "1100 millis"

/** Tries one case. */
export const tryDeed = Effect.fnUntraced(function* (
  said: string,
  expected: ReadonlyArray<Expected>,
  who: Principal,
  { agent, changes, organization, snapshots, start }: World
): Effect.fn.Return<Tried, TryError> {
  const as = Effect.provideService(CurrentPrincipal, who)
  const mine = Effect.map(as(changes.list({ which: "mine", limit: 100 })), (listed) =>
    listed.map(({ changeId }) => changeId)
  )
  const written = Effect.map(snapshots.of(organization), (now) => differences(start, now))
  const known = new Set(yield* mine)
  const events = yield* Stream.runCollect(
    agent.turn({ organization, who, say: { text: said }, changes: { via: VIA, confirms: true } })
  )
  const drafts = (yield* mine).filter((changeId) => !known.has(changeId))
  const [draft, ...others] = drafts
  if (draft === undefined) return verdictOf(expected, yield* written, start, replyIn([...events]))
  if (others.length > 0) {
    for (const changeId of drafts) yield* as(changes.withdraw(changeId, VIA))
    return { verdict: "wrong", found: `${drafts.length} changes` }
  }
  /** What stands in the way of a change; undefined if it was applied. */
  const confirm = Effect.fnUntraced(function* (changeId: string) {
    const { digest, rows } = yield* as(changes.preview(changeId, VIA))
    if (digest === undefined) return "a change of which something is hidden"
    const first = yield* as(changes.confirm({ changeId, digest, via: VIA }))
    if (first._tag === "Applied") return undefined
    if (first._tag !== "Again") return "a change that another person has to approve"
    yield* Effect.sleep(SECOND)
    const second = yield* as(changes.confirm({ changeId, digest, rows, via: VIA }))
    return second._tag === "Applied" ? undefined : "a change that isn't applied"
  })
  const refused = yield* Effect.catch(confirm(draft), ({ message }) => Effect.succeed(message))
  if (refused !== undefined) {
    yield* Effect.ignore(as(changes.withdraw(draft, VIA)))
    return { verdict: "wrong", found: refused }
  }
  const tried = verdictOf(expected, yield* written, start, "")
  const restored = yield* Effect.gen(function* () {
    const { changeId } = yield* as(changes.undo(draft, VIA))
    return (yield* confirm(changeId)) === undefined && (yield* written).length === 0
  }).pipe(Effect.orElseSucceed(() => false))
  return restored ? tried : { ...tried, spoiled: true }
})

const replyIn = (events: ReadonlyArray<TurnEvent>): string => {
  const last = events.at(-1)
  return last?._tag === "done" ? last.text : last?._tag === "error" ? last.message : ""
}

const verdictOf = (
  expected: ReadonlyArray<Expected>,
  written: ReadonlyArray<Difference>,
  start: Snapshot,
  reply: string
): Tried => {
  const wanted = expected.filter((each) => !stands(each, start))
  return {
    verdict: isSame(wanted, written) ? "exact" : written.length === 0 ? "nothing" : "wrong",
    found: written.length === 0 ? reply : JSON.stringify(written)
  }
}

/** Whether the rows are as an update would make them: then it makes no difference. */
const stands = ({ action, id, values = {} }: Expected, start: Snapshot): boolean =>
  [...start.values()].some(
    ({ cells, name, type }) =>
      action === `${type}.update` &&
      name === id &&
      Object.entries(values).every(([slug, value]) => textOf(cells[slug]) === textOf(value))
  )

const textOf = (cell: string | ReadonlyArray<string> | null | undefined): string =>
  cell === null || cell === undefined ? "" : typeof cell === "string" ? cell : [...cell].sort().join()

const isSame = (expected: ReadonlyArray<Expected>, written: ReadonlyArray<Difference>): boolean =>
  JSON.stringify(expected.map(normal).sort()) === JSON.stringify(written.map(normal).sort())

const normal = ({ action, id, values = {} }: Expected): string =>
  JSON.stringify([
    action,
    id ?? "",
    Object.entries(values)
      .map(([slug, value]) => [slug, typeof value === "string" ? value : [...value].sort()])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))
  ])
