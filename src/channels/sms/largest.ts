/** Figures in a text message: the three largest groups of a list. */
import type { TurnEvent } from "../../wire/TurnEvent.ts"

const MOST = 3

/** An answer's text with the three largest of the groups that it lists. */
export const largestOf = (text: string, events: ReadonlyArray<TurnEvent>): string => {
  const figures = events.flatMap((event) => (event._tag === "figures" ? [event.figures] : []))
  const { groups = [], groupsTotal, lines: range, several } = figures.find(({ lines }) => lines !== undefined) ?? {}
  // Amounts in several currencies aren't ranked.
  if (range === undefined || groups.length <= MOST || several === true) return text
  const [from, to] = range
  const valueOf = (index: number): number => {
    const { count, figures: cells } = groups[index]!
    return cells === undefined ? count : Number(cells[0]?.[0]?.value ?? 0)
  }
  const largest = groups.map((_, index) => index).toSorted((a, b) => valueOf(b) - valueOf(a))
  const kept = new Set(largest.slice(0, MOST))
  const lines = text.split("\n")
  return [
    ...lines.slice(0, from),
    ...lines.slice(from, to).filter((_, index) => kept.has(index)),
    `The ${MOST} largest of ${groupsTotal ?? groups.length}.`
  ].join("\n")
}
