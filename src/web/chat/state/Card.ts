/** A change as the page shows it. */
import { type Signal, signal } from "@preact/signals"
import type { Preview } from "../../../wire/changes.ts"

interface Difference {
  readonly row: string
  readonly cell: string
  readonly was: string | undefined
  readonly now: string | undefined
}

export interface Card {
  readonly id: string
  /** The position of its turn, of a change that a conversation drafted. */
  readonly turn: number | undefined
  readonly preview: Signal<Preview>
  /** When its time is over, in milliseconds of `performance.now()`. */
  readonly endsAt: Signal<number | undefined>
  readonly busy: Signal<boolean>
  /** Why the last press did nothing. */
  readonly problem: Signal<string | undefined>
  /** What has changed since the person looked before. */
  readonly differences: Signal<ReadonlyArray<Difference>>
  /** The inverse change, while it waits for its confirmation. */
  readonly undo: Signal<Card | undefined>
}

export const isPending = ({ state }: Pick<Preview, "state">): boolean => state === "open" || state === "waiting"

export const newCard = (preview: Preview, turn: number | undefined): Card => ({
  id: preview.changeId,
  turn,
  preview: signal(preview),
  endsAt: signal(endOf(preview)),
  busy: signal(false),
  problem: signal(undefined),
  differences: signal([]),
  undo: signal(undefined)
})

export const endOf = ({ seconds }: Preview): number | undefined =>
  seconds === undefined ? undefined : performance.now() + seconds * 1000

/** The cells that two looks at the same steps show differently. */
export const differencesOf = (before: Preview, after: Preview): ReadonlyArray<Difference> =>
  after.steps.flatMap((step) => {
    const earlier = before.steps.find(
      ({ entityId, entityTypeId }) => entityId === step.entityId && entityTypeId === step.entityTypeId
    )
    const row = step.displayName ?? ""
    if (earlier === undefined) return []
    return [
      ...(earlier.displayName === step.displayName
        ? []
        : [{ row, cell: "Name", was: earlier.displayName, now: step.displayName }]),
      ...step.cells.flatMap(({ columnId, name, was }) => {
        const seen = earlier.cells.find((cell) => cell.columnId === columnId)
        return seen === undefined || seen.was === was ? [] : [{ row, cell: name, was: seen.was, now: was }]
      })
    ]
  })
