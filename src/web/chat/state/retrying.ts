/** An attempt that is made again, less and less often, until it succeeds. */

/** The longest pause between two attempts, in milliseconds. */
const MAX_PAUSE = 30_000

export interface Retrying {
  /** Makes the next attempt after so many milliseconds, instead of the one that waits. */
  readonly after: (pause: number) => void
  readonly stop: () => void
  readonly isWaiting: () => boolean
}

/** `isCurrent` is false for an attempt that was stopped or replaced while it ran. */
export const retrying = (attempt: (isCurrent: () => boolean) => Promise<unknown>): Retrying => {
  let timer: ReturnType<typeof setTimeout> | undefined
  let latest = 0
  const stop = () => {
    clearTimeout(timer)
    timer = undefined
    latest += 1
  }
  const after = (pause: number) => {
    stop()
    const own = latest
    const isCurrent = () => own === latest
    timer = setTimeout(() => {
      timer = undefined
      attempt(isCurrent).catch(() => {
        if (isCurrent()) after(Math.min(MAX_PAUSE, Math.max(1000, 2 * pause)))
      })
    }, pause)
  }
  return { after, stop, isWaiting: () => timer !== undefined }
}
