/** Benchmark results, printed as a table or, with `--json`, as one JSON document. */

export interface Measured {
  readonly scenario: string
  readonly ratio: number
  /** Without a target the figure is only reported. */
  readonly target?: number
  /** The target is a lower bound; by default it is an upper bound. */
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
      const bound = target === undefined ? "" : ` (target ${atLeast === true ? "≥" : "≤"} ${target}×)`
      console.log(`${verdict(target, reached(one))} ${scenario.padEnd(84)} ${ratio.toFixed(2)}×${bound}`)
    }
  }

export const printTimes =
  (json: boolean) =>
  (measured: ReadonlyArray<Timed>): void => {
    if (json) return console.log(JSON.stringify(measured, null, 2))
    for (const { ms, ok, scenario, target } of measured) {
      const bound = target === undefined ? "" : ` (target ≤ ${target} ms)`
      console.log(`${verdict(target, ok)} ${scenario.padEnd(84)} ${ms.toFixed(3)} ms${bound}`)
    }
  }
