/** What callers of the service pass and get when they propose. */
import type { Confirmation } from "../../domain/Action.ts"
import type { Preview } from "../../domain/Change.ts"
import type { ActionSettings } from "../actions/Actions.ts"
import type { ChangeLimits } from "./limits.ts"
import type { Via } from "./records.ts"
import type { SourceRow } from "../actions/readRows.ts"
import type { ProposedStep } from "./pointers.ts"

export interface ChangeSettings {
  /** Whether changes are switched on. */
  readonly enabled: boolean
  readonly limits: ChangeLimits
  /** How long a change waits for another person. */
  readonly approvalHours: number
  /** How long the values of a decided change are kept. */
  readonly days: number
  /** The secrets and private hosts of actions that read. */
  readonly reading: ActionSettings
}

export interface Proposal {
  /** Those that only read come first. Later ones can point at what they read, and at what earlier ones write; with `continues`, that draft's own steps come before. */
  readonly steps: ReadonlyArray<ProposedStep>
  readonly via: Via
  /** `drafted` until its turn is kept; without it the change is open at once. */
  readonly drafted?: boolean | undefined
  readonly sessionId?: string | undefined
  readonly reference?: string | undefined
  /** An idempotency key: the same key is the same change. */
  readonly key?: string | undefined
  readonly atLeast?: Confirmation | undefined
  /** The id of a draft of the same turn that this one replaces: its steps come first. */
  readonly continues?: string | undefined
}

/** A proposed change. The entity ids of its creates are those that the rows will have. */
export interface Draft {
  readonly changeId: string
  /** Whether the same proposal existed before. */
  readonly known: boolean
  readonly preview: Preview
  /** What its steps have read, in their order. */
  readonly reads?: ReadonlyArray<{ readonly actionId: string; readonly rows: ReadonlyArray<SourceRow> }>
}
