/** Renders line plots with logarithmic axes as SVG. */
interface Line {
  readonly name: string
  readonly points: ReadonlyArray<readonly [x: number, y: number]>
}

interface Plot {
  readonly title: string
  readonly x: string
  readonly y: string
  readonly lines: ReadonlyArray<Line>
  /** The command that reproduces the plot. */
  readonly command: string
}

const [WIDTH, HEIGHT] = [760, 420]
const [LEFT, RIGHT, TOP, BOTTOM] = [64, 230, 44, 70]
const COLORS = ["#0b6e99", "#c4572b", "#3b7d3a", "#7a4fa3", "#9a7b16", "#a3345c", "#4a5568", "#1f9e89"]

const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
const short = (value: number): string =>
  value >= 1_000_000
    ? `${value / 1_000_000}M`
    : value >= 1000
      ? `${value / 1000}k`
      : String(Number(value.toPrecision(2)))

/** The powers of ten that enclose the values. */
const decades = (values: ReadonlyArray<number>): ReadonlyArray<number> => {
  const from = Math.floor(Math.log10(Math.min(...values)))
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values))))
  return Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index))
}

export const plot = ({ command, lines, title, x, y }: Plot): string => {
  const points = lines.flatMap((line) => line.points)
  const [xs, ys] = [decades(points.map(([value]) => value)), decades(points.map(([, value]) => value))]
  const scale = (ticks: ReadonlyArray<number>, from: number, to: number) => (value: number) => {
    const [low, high] = [Math.log10(ticks[0]!), Math.log10(ticks.at(-1)!)]
    return Number((from + ((Math.log10(value) - low) / (high - low)) * (to - from)).toFixed(1))
  }
  const atX = scale(xs, LEFT, WIDTH - RIGHT)
  const atY = scale(ys, HEIGHT - BOTTOM, TOP)
  const text = (at: readonly [number, number], said: string, more = "") =>
    `<text x="${at[0]}" y="${at[1]}" ${more}>${escaped(said)}</text>`
  const parts = [
    text([LEFT, 22], title, `font-size="15" font-weight="600"`),
    ...xs.flatMap((tick) => [
      `<line x1="${atX(tick)}" x2="${atX(tick)}" y1="${TOP}" y2="${HEIGHT - BOTTOM}" stroke="#8884"/>`,
      text([atX(tick), HEIGHT - BOTTOM + 16], short(tick), `text-anchor="middle"`)
    ]),
    ...ys.flatMap((tick) => [
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${atY(tick)}" y2="${atY(tick)}" stroke="#8884"/>`,
      text([LEFT - 8, atY(tick) + 4], short(tick), `text-anchor="end"`)
    ]),
    text([(LEFT + WIDTH - RIGHT) / 2, HEIGHT - BOTTOM + 36], x, `text-anchor="middle"`),
    text(
      [14, (TOP + HEIGHT - BOTTOM) / 2],
      y,
      `text-anchor="middle" transform="rotate(-90 14 ${(TOP + HEIGHT - BOTTOM) / 2})"`
    ),
    text([LEFT, HEIGHT - 10], command, `font-family="monospace" font-size="11" opacity="0.7"`),
    ...lines.flatMap(({ name, points: line }, index) => {
      const color = COLORS[index % COLORS.length]!
      const path = line.map(([a, b]) => `${atX(a)},${atY(b)}`).join(" ")
      return [
        `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2"/>`,
        ...line.map(([a, b]) => `<circle cx="${atX(a)}" cy="${atY(b)}" r="3" fill="${color}"/>`),
        `<rect x="${WIDTH - RIGHT + 16}" y="${TOP + index * 20}" width="12" height="3" fill="${color}"/>`,
        text([WIDTH - RIGHT + 34, TOP + 6 + index * 20], name)
      ]
    })
  ]
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">` +
    `<style>text{fill:#222}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>\n${parts.join("\n")}\n</svg>\n`
  )
}
