/** What a benchmark comes to, and how it is printed: as a table, or with --json as one document. */

export interface Measured {
  readonly scenario: string
  readonly ratio: number
  /** Without one, the figure is reported and nothing else. */
  readonly target?: number
  /** The target is what has to be reached, not what must not be passed. */
  readonly atLeast?: boolean
}

export interface Timed {
  readonly scenario: string
  readonly ms: number
  readonly target?: number | undefined
  readonly ok: boolean
}

export const reached = ({ atLeast, ratio, target }: Measured): boolean =>
  target === undefined || (atLeast === true ? ratio >= target : ratio <= target)

const verdict = (target: number | undefined, ok: boolean): string =>
  target === undefined ? "    " : ok ? "ok  " : "MISS"

export const print =
  (json: boolean) =>
  (measured: ReadonlyArray<Measured>): void => {
    if (json)
      return console.log(
        JSON.stringify(
          measured.map((one) => ({ ...one, ok: reached(one) })),
          null,
          2
        )
      )
    for (const one of measured) {
      const { atLeast, ratio, scenario, target } = one
      const wanted = target === undefined ? "" : ` (target ${atLeast === true ? "≥" : "≤"} ${target}×)`
      console.log(`${verdict(target, reached(one))} ${scenario.padEnd(84)} ${ratio.toFixed(2)}×${wanted}`)
    }
  }

export const printTimes =
  (json: boolean) =>
  (measured: ReadonlyArray<Timed>): void => {
    if (json) return console.log(JSON.stringify(measured, null, 2))
    for (const { ms, ok, scenario, target } of measured) {
      const wanted = target === undefined ? "" : ` (target ≤ ${target} ms)`
      console.log(`${verdict(target, ok)} ${scenario.padEnd(84)} ${ms.toFixed(3)} ms${wanted}`)
    }
  }
