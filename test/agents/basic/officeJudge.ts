/** Judges a reply of basic mode against a truth. */

export type Kind = "count" | "list" | "value" | "none"
export type Judged = "right" | "declined" | "false"

export interface Question {
  readonly kind: Kind
  /** The messages of the conversation; the last one is judged. */
  readonly turns: ReadonlyArray<string>
  readonly sql: string
}

export const questionsOf = (file: string): ReadonlyArray<Question> =>
  file
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [kind, turns, sql] = line.split(" | ") as [Kind, string, string]
      return { kind, turns: turns.split(" => "), sql }
    })

/** Replies that claim nothing about the data. */
const DECLINES =
  /^(I can't|I didn't understand|I don't|That's not something|Which|Whom|I couldn't find|I know of no|I found no person who matches all of this|One question)|\(English\)/

/** The number that a list or a count begins with. */
const numberIn = (text: string): number | undefined => {
  if (/^(You have|I found|There (is|are)) no\b/.test(text)) return 0
  const found = /^(?:You have|There (?:is|are)|I found|No: you have|Yes: you have) ([\d,]+)\b/.exec(text)?.[1]
  if (found !== undefined) return Number(found.replaceAll(",", ""))
  return undefined
}

const namesIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/^\d+\. (.+?)(?: — |$)/gm)].map(([, name]) => name!)

const MONTH_DAY = new Intl.DateTimeFormat("en-US", { dateStyle: "long", timeZone: "UTC" })

/** Whether a reply has a value; a date also as a person writes it. */
const says = (text: string, value: string): boolean =>
  text.includes(value) || (/^\d{4}-\d\d-\d\d$/.test(value) && text.includes(MONTH_DAY.format(new Date(value))))

export const judge = (kind: Kind, truth: ReadonlyArray<string>, text: string): Judged => {
  const declines = DECLINES.test(text)
  if (kind === "none") return declines ? "right" : "false"
  switch (kind) {
    case "count": {
      const [wanted] = truth
      const capped = /^(You have|There are) more than 1,000/.test(text) && Number(wanted) > 1000
      if (capped || numberIn(text) === Number(wanted)) return "right"
      break
    }
    case "list": {
      const names = namesIn(text)
      const total = numberIn(text) ?? (names.length > 0 ? names.length : undefined)
      const all = names.every((name) => truth.includes(name))
      if (total === truth.length && all && (names.length > 0 || truth.every((name) => text.includes(name))))
        return "right"
      break
    }
    case "value":
      if (truth.length > 0 && truth.every((value) => says(text, value))) return "right"
  }
  // A suggestion is a decline with a step; "couldn't find" is one only for what doesn't exist, so it is none here.
  const suggests = text.includes("Did you mean ")
  return suggests || (declines && !text.startsWith("I couldn't find")) ? "declined" : "false"
}
