/** The confirmation that a change needs. */
import { Effect } from "effect"
import type { Database } from "../../database/Database.ts"
import { type Confirmation, MAX_ONCE_ROWS, stricter } from "../../domain/Action.ts"
import type { ChangeStep } from "../../domain/Change.ts"
import { orUnavailable } from "../../database/execute.ts"
import { type Catalog, PEOPLE } from "../../domain/EntityType.ts"
import { NotAllowed } from "../../domain/errors.ts"
import { type Confirmable, confirmationOf } from "../../permissions/confirmation.ts"
import { NO_TYPE } from "../../permissions/Policy.ts"
import type { Call } from "./calls/Call.ts"
import type { Caller } from "./callers.ts"
import type { Unit } from "./Unit.ts"

/** The least confirmation of what a channel proposes. The author of a ticket or an e-mail is no member, so a member approves. */
const LEAST_OF_CHANNEL: Readonly<Record<string, Confirmation>> = { intake: "second" }

/** Whether what this channel proposes waits for another person at once: no one is there to say yes first. */
export const submits = (channel: string): boolean => LEAST_OF_CHANNEL[channel] === "second"

/** The least confirmation of a change that a channel proposes. */
export const leastOf = (channel: string, atLeast: Confirmation = "none"): Confirmation =>
  stricter(LEAST_OF_CHANNEL[channel] ?? "none", atLeast)

/** The confirmation of a change: the least of its actions, raised by what it does, by the channel and by the policy. */
export const confirmationFor = Effect.fnUntraced(function* (
  sql: Database["Service"]["changes"],
  units: ReadonlyArray<Unit>,
  calls: ReadonlyArray<Call>,
  steps: ReadonlyArray<ChangeStep>,
  atLeast: Confirmation = "none",
  { catalog, policy }: Caller
) {
  let level = [...units, ...calls].reduce((least, { action }) => stricter(least, action.confirm), atLeast)
  if (steps.length + calls.length > MAX_ONCE_ROWS) level = stricter(level, "twice")
  if (steps.some((step) => isContact(step, catalog.types.find(({ slug }) => slug === PEOPLE)?.key))) {
    // A number on a line that is open to identified people lets its owner in.
    if (yield* isOpen(sql, catalog)) level = stricter(level, "twice")
  }
  const kinds = new Map<string, Confirmable & { columns: Array<string>; rows: number }>()
  for (const { action, after, type } of steps) {
    const op = units.find((unit) => unit.action.key === action)!.op
    const kind = kinds.get(action) ?? { action: op, type, columns: [], rows: 0 }
    kind.rows += 1
    kind.columns.push(...Object.keys(after))
    kinds.set(action, kind)
  }
  for (const { action } of calls) {
    const kind = kinds.get(action.slug) ?? { action: "invoke", name: action.slug, type: NO_TYPE, columns: [], rows: 0 }
    kinds.set(action.slug, { ...kind, rows: kind.rows + 1 })
  }
  const confirmed = confirmationOf(policy, [...kinds.values()], level)
  const approvers = confirmed.level === "second" ? (confirmed.approvers ?? policy.administering ?? []) : []
  if (confirmed.level === "second" && approvers.length === 0)
    return yield* NotAllowed.of("Another person must approve this, and the policy names no role that may.")
  return { level: confirmed.level, approvers }
})

const opened = new WeakMap<Catalog, boolean>()

/** Whether text messages admit people by their number alone. Opening the channel raises the epoch, so a catalog has one answer. */
const isOpen = (sql: Database["Service"]["changes"], catalog: Catalog) => {
  const known = opened.get(catalog)
  if (known !== undefined) return Effect.succeed(known)
  return Effect.map(
    orUnavailable(
      sql.unsafe("SELECT 1 FROM max.sms_settings WHERE organization_id = $1::bigint AND open_role IS NOT NULL", [
        catalog.organization.id
      ])
    ),
    ({ length }) => {
      opened.set(catalog, length > 0)
      return length > 0
    }
  )
}

const isContact = ({ after, type }: ChangeStep, people: string | undefined): boolean =>
  type === people && (Object.hasOwn(after, "phone") || Object.hasOwn(after, "email"))
