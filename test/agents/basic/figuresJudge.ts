/** Judges a reply with figures of basic mode against a truth from SQL. */
import { foldText } from "../../../src/domain/keys.ts"

export type Judged = "right" | "declined" | "wrong"

export interface Sentence {
  readonly of: "chinook" | "workbench"
  /** The messages of a conversation; the reply to the last is judged. */
  readonly ask: ReadonlyArray<string>
  /** `best`: the first of several groups; `having`: the groups that meet a condition; `rows`: entities in an order. */
  readonly is: "figure" | "groups" | "best" | "having" | "rows" | "declines"
  readonly sql?: string
}

export interface Truth {
  readonly key?: string | null
  readonly answer: string | number | null
}

export const sentencesOf = (file: string): ReadonlyArray<Sentence> =>
  file
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Sentence)

/** Replies that claim nothing about the data. */
const DECLINES =
  /^(I can't|I didn't understand|I don't|That's not something|Which|Whom|I couldn't find|I know of no|One question|There is no)/

/** Lines of a list that an answer shows. */
const MAX_SHOWN = 10

const LINE = /^(?:- |\d+\. )(.+?)(?:: | — |$)(.*)$/gm
const NUMBER = /(?<![\p{L}\d.,-])-?\d[\d,]*(?:\.\d+)?/gu

/** Half a cent is rounded up: 301890.725 is 301890.73, though its product with 100 is a little less than that as a binary number. */
const rounded = (value: string | number | null): number =>
  Math.round(Number((Number(value) * 100).toPrecision(14))) / 100
const numbersIn = (text: string): ReadonlyArray<number> =>
  [...text.matchAll(NUMBER)].map(([number]) => Number(number.replaceAll(",", "")))

const isRight = (is: Sentence["is"], truth: ReadonlyArray<Truth>, text: string): boolean => {
  const lines = [...text.matchAll(LINE)].map(([, key, rest]) => ({ key: foldText(key!), numbers: numbersIn(rest!) }))
  const wanted = truth.map(({ answer, key }) => ({
    key: key === null || key === undefined ? undefined : foldText(key),
    answer: answer === null ? undefined : rounded(answer)
  }))
  const meets = (key: string, numbers: ReadonlyArray<number>) => {
    const one = wanted.find((each) => (each.key === undefined ? key.startsWith("without ") : each.key === key))
    return one !== undefined && (one.answer === undefined || numbers[0] === one.answer)
  }
  switch (is) {
    case "figure":
      return wanted.length === 1 && numbersIn(text.replace(/^.*?: /, "")).at(0) === wanted[0]!.answer
    case "best":
      return (
        wanted.length > 0 &&
        wanted.every(({ key }) => foldText(text).includes(key!)) &&
        numbersIn(text).includes(wanted[0]!.answer!) &&
        lines.length === 0
      )
    case "rows":
      return lines.length === 0
        ? wanted.length === 1 && foldText(text).includes(wanted[0]!.key!)
        : lines.every(({ key }) => wanted.some((one) => key.includes(one.key!)))
    case "having":
      return wanted.length === 0
        ? text.startsWith("No ")
        : lines.length === Math.min(wanted.length, MAX_SHOWN) && lines.every(({ key, numbers }) => meets(key, numbers))
    default:
      return (
        lines.length > 0 &&
        lines.length <= Math.max(wanted.length, 1) &&
        lines.length >= Math.min(wanted.length, 3) &&
        lines.every(({ key, numbers }) => meets(key, numbers))
      )
  }
}

export const judge = ({ is }: Sentence, truth: ReadonlyArray<Truth>, text: string): Judged => {
  const declines = DECLINES.test(text)
  if (is === "declines") return declines ? "right" : "wrong"
  if (declines) return "declined"
  return isRight(is, truth, text) ? "right" : "wrong"
}
