/** A question with its answer, as the page shows it. */
import { type Signal, signal } from "@preact/signals"
import type { Reference, ShownFigures, StoredTurn } from "../../../wire/conversations.ts"
import type { Choice, RequestedForm } from "../../../wire/TurnEvent.ts"

export interface Failure {
  readonly title: string
  readonly detail: string
  readonly reference?: string | undefined
  /** Whether the same question may succeed later. */
  readonly mayRetry: boolean
  /** Whether the server can't be reached; the page tries again by itself. */
  readonly isUnreachable: boolean
}

export type Phase = "asked" | "answered" | "stopped" | "failed" | "withheld"

export interface Turn {
  readonly key: string
  readonly asked: string
  readonly at: Date
  /** The position of a stored turn in its conversation, from 1. */
  readonly position: Signal<number | undefined>
  readonly phase: Signal<Phase>
  readonly text: Signal<string>
  /** What was said before lookups. */
  readonly prefaces: Signal<ReadonlyArray<string>>
  /** Descriptions of the lookups so far. */
  readonly activity: Signal<ReadonlyArray<string>>
  readonly references: Signal<ReadonlyArray<Reference>>
  /** The lookup behind the answer's list. */
  readonly list: Signal<StoredTurn["list"]>
  readonly figures: Signal<ReadonlyArray<ShownFigures>>
  readonly choices: Signal<ReadonlyArray<Choice>>
  /** The action that the answer asks values for. */
  readonly form: Signal<RequestedForm | undefined>
  readonly reference: Signal<string | undefined>
  readonly failure: Signal<Failure | undefined>
  /** The turns that this one replaces; they can be restored if it fails. */
  readonly replaces: ReadonlyArray<Turn>
}

let created = 0

export const newTurn = (asked: string, replaces: ReadonlyArray<Turn> = []): Turn => ({
  key: `turn-${(created += 1)}`,
  asked,
  at: new Date(),
  position: signal(undefined),
  phase: signal<Phase>("asked"),
  text: signal(""),
  prefaces: signal([]),
  activity: signal([]),
  references: signal([]),
  list: signal<StoredTurn["list"]>(undefined),
  figures: signal([]),
  choices: signal([]),
  form: signal<RequestedForm | undefined>(undefined),
  reference: signal(undefined),
  failure: signal(undefined),
  replaces
})

/** The question of a stored turn. A choice is stored as its number; its name is in the previous turn. */
const questionOf = ({ asked }: StoredTurn, before: StoredTurn | undefined): string => {
  const number = /^number (\d)$/.exec(asked)?.[1]
  const name = number === undefined ? undefined : before?.references?.[Number(number) - 1]?.name
  return name === undefined || name === "" ? asked : name
}

export const fromStored = (turns: ReadonlyArray<StoredTurn>): ReadonlyArray<Turn> =>
  turns.map((stored, index) => ({
    ...newTurn(questionOf(stored, turns[index - 1])),
    at: new Date(stored.at),
    position: signal<number | undefined>(stored.position),
    phase: signal<Phase>(stored.answered === undefined ? "withheld" : "answered"),
    text: signal(stored.answered ?? ""),
    references: signal(stored.references ?? []),
    list: signal(stored.list),
    figures: signal(stored.figures ?? []),
    choices: signal(stored.choices ?? []),
    reference: signal<string | undefined>(stored.reference)
  }))
