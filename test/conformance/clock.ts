/** Local times of the zones of this suite, by another library than the product uses. */
/** The epoch milliseconds of a local time; none of ours is in a gap or ambiguous. */
export const instantIn = (local: string, timeZone: string): number => {
  const wanted = Date.parse(`${local}Z`)
  let guess = wanted
  for (let round = 0; round < 3; round++)
    guess = wanted - (Date.parse(`${localIn(guess, timeZone).replace(" ", "T")}Z`) - guess)
  return guess
}

const clocks = new Map<string, Intl.DateTimeFormat>()
const clockIn = (timeZone: string): Intl.DateTimeFormat => {
  const existing = clocks.get(timeZone)
  if (existing !== undefined) return existing
  const created = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit"
  })
  clocks.set(timeZone, created)
  return created
}

/** An instant as local time in a zone: YYYY-MM-DD HH:MM:SS. */
export const localIn = (millis: number, timeZone: string): string => {
  const parts = Object.fromEntries(
    clockIn(timeZone)
      .formatToParts(new Date(millis))
      .map(({ type, value }) => [type, value])
  )
  return `${parts["year"]}-${parts["month"]}-${parts["day"]} ${parts["hour"]}:${parts["minute"]}:${parts["second"]}`
}
