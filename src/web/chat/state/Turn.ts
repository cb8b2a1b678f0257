/** One question with its answer, as the page has it. */
import { type Signal, signal } from "@preact/signals"
import type { Choice, KeptTurn, Reference } from "../wire.ts"

export interface Failure {
  readonly title: string
  readonly detail: string
  readonly reference?: string | undefined
  /** Whether asking the same again may help. */
  readonly again: boolean
}

export type Phase = "asked" | "answered" | "stopped" | "failed" | "withheld"

export interface Turn {
  readonly key: string
  readonly asked: string
  readonly at: Date
  /** Its place in the conversation, from 1 on, when it is kept. */
  readonly position: Signal<number | undefined>
  readonly phase: Signal<Phase>
  readonly text: Signal<string>
  /** What is being looked up, in people's words. */
  readonly activity: Signal<ReadonlyArray<string>>
  readonly references: Signal<ReadonlyArray<Reference>>
  readonly choices: Signal<ReadonlyArray<Choice>>
  readonly reference: Signal<string | undefined>
  readonly failure: Signal<Failure | undefined>
  /** What stood where this turn was asked again; comes back when there is no answer. */
  readonly replaces: ReadonlyArray<Turn>
}

let made = 0

export const newTurn = (asked: string, replaces: ReadonlyArray<Turn> = []): Turn => ({
  key: `turn-${(made += 1)}`,
  asked,
  at: new Date(),
  position: signal(undefined),
  phase: signal<Phase>("asked"),
  text: signal(""),
  activity: signal([]),
  references: signal([]),
  choices: signal([]),
  reference: signal(undefined),
  failure: signal(undefined),
  replaces
})

/** A choice is kept by its number alone; what it was called stands in the turn before. */
const wordsOf = ({ asked }: KeptTurn, before: KeptTurn | undefined): string => {
  const number = /^number (\d)$/.exec(asked)?.[1]
  const named = number === undefined ? undefined : before?.references?.[Number(number) - 1]?.name
  return named === undefined || named === "" ? asked : named
}

export const keptTurns = (turns: ReadonlyArray<KeptTurn>): ReadonlyArray<Turn> =>
  turns.map((kept, index) => ({
    ...newTurn(wordsOf(kept, turns[index - 1])),
    at: new Date(kept.at),
    position: signal<number | undefined>(kept.position),
    phase: signal<Phase>(kept.answered === undefined ? "withheld" : "answered"),
    text: signal(kept.answered ?? ""),
    references: signal(kept.references ?? []),
    choices: signal(kept.choices ?? []),
    reference: signal<string | undefined>(kept.reference)
  }))
