/** Measures whether a reader of text takes time in proportion to the text's length, and holds the event loop only briefly. */
import { hostileTexts } from "./hostileTexts.js"
import { LONG } from "./long.ts"

/** The bounds of messages and replies are among them. The largest, which takes most of the time, is left to `npm run prove`. */
const SIZES = [4_000, 15_000, 64_000, ...(LONG ? [1_000_000] : [])]
/** One piece must not block the event loop longer, in milliseconds; texts over a reader's bound are cut or refused. */
const BLOCKED = 50
/** Times below this are noise. */
const NOISE = 4

/** Milliseconds of processor time: those of other processes don't count. */
const processorTime = (run: () => unknown): number => {
  const before = process.cpuUsage()
  run()
  const { system, user } = process.cpuUsage(before)
  return (system + user) / 1000
}

/** The shortest of some runs: the first within `enough`, since garbage collection and a busy machine only lengthen a run. */
const time = (run: () => unknown, enough: number, attempts = 7): number => {
  let best = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < attempts && best > enough; attempt++) best = Math.min(best, processorTime(run))
  return best
}

const WORDS = Array.from(
  { length: 4000 },
  (_, at) => `${"abcdefghijklmnopqrstuvwxyz".slice(at % 13, (at % 24) + 2)}${at % 97}`
)

/** A fixed amount of a reader's work, matching and allocating, which takes a common machine 10 ms. */
const calibrate = () => {
  let sum = 0
  for (let round = 0; round < 15; round++)
    for (const word of WORDS.join(" ").split(" ")) {
      if (/^(?:[a-m]+|[n-z]+)\d$/i.test(word)) sum += word.toLowerCase().normalize("NFKD").length
      sum += new Set([word, word.slice(1)]).size
    }
  return sum
}

const texts = SIZES.map(hostileTexts)

/** How much slower than a common machine this one is, by the best of some runs. */
const slownessNow = (attempts = 7) => Math.max(1, time(calibrate, 0, attempts) / 10)

/**
 * The milliseconds of a run, if it takes longer than `most` on a common machine. Other processes slow a processor down for seconds at a
 * time, so a run that took too long is measured again between two calibrations.
 */
const tooLong = (run: () => unknown, most: number, attempts: number, slowness: number): number | undefined => {
  if (time(run, most * slowness, attempts) <= most * slowness) return undefined
  let best = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < attempts; attempt++) {
    const before = slownessNow(1)
    const taken = time(run, 0, 1)
    best = Math.min(best, taken / Math.min(before, slownessNow(1)))
    if (best <= most) return undefined
  }
  return best
}

/**
 * The hostile texts that a reader takes too long for, with their times. A reader in a process of its own, such as an
 * import's, may take longer than other requests can wait.
 */
export const slowTexts = (read: (text: string) => unknown, { isServing = true } = {}): ReadonlyArray<string> => {
  const slow: Array<string> = []
  const slowness = slownessNow()
  const blocked = isServing ? BLOCKED : Number.POSITIVE_INFINITY
  for (const [index, [family, small]] of texts[0]!.entries()) {
    const first = time(() => read(small), NOISE * slowness) / slowness
    let allowed = Math.max(first, NOISE)
    for (const [step, size] of SIZES.entries()) {
      if (step > 0) allowed *= (3 * size) / SIZES[step - 1]!
      const most = isServing && size === 1_000_000 ? Math.max(blocked, allowed) : Math.min(blocked, allowed)
      const taken =
        step === 0 && first <= most ? undefined : tooLong(() => read(texts[step]![index]![1]), most, 7, slowness)
      if (taken === undefined) continue
      slow.push(`${family}, ${size}: ${taken.toFixed(0)} ms of ${most.toFixed(0)}`)
      break
    }
  }
  return slow
}

/** The texts that a reader holds the event loop for too long with, with their times. */
export const slowAmong = (sentences: ReadonlyArray<string>, read: (text: string) => unknown): ReadonlyArray<string> => {
  const slowness = slownessNow()
  return sentences.flatMap((text) => {
    const taken = tooLong(() => read(text), BLOCKED, 25, slowness)
    return taken === undefined ? [] : [`${taken.toFixed(0)} ms of ${BLOCKED}: ${text}`]
  })
}
