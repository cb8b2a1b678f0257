/** Units of how long something takes: a column's label says its unit, and a figure may be said in another one. */
import { foldText } from "../domain/keys.ts"
import { byWord } from "../domain/text.ts"

/** How many of each unit a minute has. */
export const PER_MINUTE = byWord<number>({
  milliseconds: 60_000,
  seconds: 60,
  minutes: 1,
  hours: 1 / 60,
  days: 1 / 1440
})

/** How many of a label's unit a minute has; undefined if the label has none. */
export const perMinuteIn = (label: string): number | undefined =>
  foldText(label.replaceAll("_", " "))
    .split(" ")
    .map((word) => PER_MINUTE[word] ?? PER_MINUTE[`${word}s`])
    .find((unit) => unit !== undefined)
