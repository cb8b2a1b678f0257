/** Amounts relative to a row's current value: "raise the amount by 10 %", "add 50 to the amount". */
import type { Said, Word } from "./words.ts"

type Words = ReadonlyArray<Word>

const MORE = /^(raise|raised|increase|increased|up|lift|bump|boost|add|plus|grow|grows|rises|rise|rose|more|higher)$/
const LESS =
  /^(lower|lowered|reduce|reduced|decrease|decreased|cut|drop|drops|dropped|subtract|deduct|minus|less|fewer|shrink|falls|fell|down|lessen)$/
/** Words after a number that make it relative: "10 more". */
const COMPARED = /^(more|less|fewer|extra|additional|higher|lower|times|fold|percent|percentage|off)$/

/** How a relative amount changes the current value. */
export interface Change {
  /** Undefined if the words don't say whether it rises or falls. */
  readonly sign?: 1 | -1
  readonly isPercent: boolean
}

/** The change that the words ask for; undefined if they state the new value. */
export const changeOf = (value: Words, { text, words }: Said): Change | undefined => {
  const last = value.at(-1)!
  const from = words.findIndex(({ start }) => start === value[0]!.start)
  const [before, after] = [words[from - 1]?.word ?? "", words[from + value.length]?.word ?? ""]
  const isAdded = /^(add|subtract|deduct|plus|minus|another|extra|take|knock|put)$/.test(before)
  if (from < 0 || !(before === "by" || isAdded || COMPARED.test(after))) return undefined
  // "Raise it by -5 %" can mean either way.
  const isNegative = /^[-−–]/.test(value[0]!.text) || /[-−–]\s*$/.test(text.slice(0, value[0]!.start))
  const said = words.filter((each, at) => each.quoted !== true && at < from).map(({ word }) => word)
  const isMore = said.some((word) => MORE.test(word))
  const isLess = said.some((word) => LESS.test(word))
  return {
    isPercent: /^\s*%/.test(text.slice(last.end)) || /^percent(age)?$/.test(after),
    ...(isNegative || isMore === isLess || COMPARED.test(after.replace(/^percent(age)?$/, ""))
      ? {}
      : { sign: isMore ? 1 : -1 })
  }
}

/** The new value; undefined if it has more than two decimals, falls below zero or is too large to be exact. */
export const changed = (now: number, by: number, { isPercent, sign }: Change): number | undefined => {
  const exact = now + (sign ?? Number.NaN) * (isPercent ? (now * by) / 100 : by)
  const rounded = Number(exact.toFixed(2))
  return Math.abs(exact) * 100 <= Number.MAX_SAFE_INTEGER &&
    !(now >= 0 && exact < 0) &&
    Math.abs(exact - rounded) < 1e-9 * Math.max(1, Math.abs(exact))
    ? rounded
    : undefined
}
