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

/** A fixed amount of work, which takes a common machine 10 ms. */
const calibrate = () => {
  let sum = 0
  for (let index = 0; index < 9_600_000; index++) sum = (sum * 31 + index) | 0
  return sum
}

const texts = SIZES.map(hostileTexts)

/** How much slower than a common machine this one is. */
const slownessNow = () => Math.max(1, time(calibrate, 0) / 10)

/**
 * The hostile texts that a reader takes too long for, with their times. A reader in a process of its own, such as an
 * import's, may take longer than other requests can wait.
 */
export const slowTexts = (read: (text: string) => unknown, { isServing = true } = {}): ReadonlyArray<string> => {
  const slow: Array<string> = []
  // A slower machine takes longer for everything.
  const slowness = slownessNow()
  const [blocked, noise] = [isServing ? BLOCKED * slowness : Number.POSITIVE_INFINITY, NOISE * slowness]
  for (const [index, [family, small]] of texts[0]!.entries()) {
    const first = time(() => read(small), noise)
    let allowed = Math.max(first, noise)
    for (const [step, size] of SIZES.entries()) {
      if (step > 0) allowed *= (3 * size) / SIZES[step - 1]!
      const most = isServing && size === 1_000_000 ? Math.max(blocked, allowed) : Math.min(blocked, allowed)
      const taken = step === 0 ? first : time(() => read(texts[step]![index]![1]), most)
      if (taken > most) {
        slow.push(`${family}, ${size}: ${taken.toFixed(0)} ms of ${most.toFixed(0)}`)
        break
      }
    }
  }
  return slow
}

/** The texts that a reader holds the event loop for too long with, with their times. */
export const slowAmong = (sentences: ReadonlyArray<string>, read: (text: string) => unknown): ReadonlyArray<string> => {
  const most = BLOCKED * slownessNow()
  return sentences.flatMap((text) => {
    const taken = time(() => read(text), most, 25)
    return taken > most ? [`${taken.toFixed(0)} ms of ${most.toFixed(0)}: ${text}`] : []
  })
}
