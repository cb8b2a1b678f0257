/** Whether the long form of a test series runs: `npm run prove` sets the variable. */
export const LONG = process.env["MAX_TEST_LONG"] === "on"

/** The sets of a corpus that run: every third in `npm test`, all in `npm run prove`. */
export const someOf = <A>(sets: ReadonlyArray<A>): ReadonlyArray<A> =>
  LONG ? sets : sets.filter((_, index) => index % 3 === 0)

/** The length of a test series in `npm test` and in `npm run prove`. */
export const series = ({ short, long }: { readonly short: number; readonly long: number }): number =>
  LONG ? long : short
