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
  const known = new Set((yield* as(changes.list({ which: "mine", limit: 100 }))).map(({ changeId }) => changeId))
  const events = [
    ...(yield* Stream.runCollect(
      agent.turn({ organization, who, say: { text: said }, changes: { via: VIA, confirms: true } })
    ))
  ]
  const drafts = (yield* as(changes.list({ which: "mine", limit: 100 }))).filter(({ changeId }) => !known.has(changeId))
  const [draft] = drafts
  if (draft === undefined) {
    const last = events.at(-1)
    const reply = last?._tag === "done" ? last.text : last?._tag === "error" ? last.message : ""
    const written = differences(start, yield* snapshots.of(organization))
    return verdictOf(expected, written, reply)
  }
  if (drafts.length > 1) {
    for (const { changeId } of drafts) yield* as(changes.withdraw(changeId, VIA))
    return { verdict: "wrong", found: `${drafts.length} changes` }
  }
  const confirm = Effect.fnUntraced(function* (changeId: string) {
    const { digest, rows } = yield* as(changes.preview(changeId, VIA))
    if (digest === undefined) return false
    const first = yield* as(changes.confirm({ changeId, digest, via: VIA }))
    if (first._tag !== "Again") return first._tag === "Applied"
    yield* Effect.sleep(SECOND)
    const second = yield* as(changes.confirm({ changeId, digest, rows, via: VIA }))
    return second._tag === "Applied"
  })
  if (!(yield* confirm(draft.changeId))) return { verdict: "wrong", found: "a change that can't be confirmed" }
  const written = differences(start, yield* snapshots.of(organization))
  const { changeId } = yield* as(changes.undo(draft.changeId, VIA))
  const restored = (yield* confirm(changeId)) && differences(start, yield* snapshots.of(organization)).length === 0
  if (!restored) return yield* OperatorError.of("A change couldn't be undone: import the rows again.")
  return verdictOf(expected, written, "")
})

const verdictOf = (expected: ReadonlyArray<Expected>, written: ReadonlyArray<Difference>, reply: string): Tried => ({
  verdict: isSame(expected, written) ? "exact" : written.length === 0 ? "nothing" : "wrong",
  found: written.length === 0 ? reply : JSON.stringify(written)
})

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
