/** Waits for a condition instead of a time, so that a busy machine only makes a test slower. */
import { setTimeout as sleep } from "node:timers/promises"

/** Polls every 20 ms until the condition holds; fails after `within` milliseconds. */
export const until = async (condition: () => boolean | Promise<boolean>, within = 60_000): Promise<void> => {
  const deadline = performance.now() + within
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Not within ${within} ms: ${String(condition)}`)
    await sleep(20)
  }
}
