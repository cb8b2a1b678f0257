/** Groups and figures of an answer: a table with a bar in each row, or a line above it. */
import { useId } from "preact/hooks"
import type { ShownFigures } from "../../../wire/conversations.ts"
import { type FigureRow, tableOf } from "../state/figureTable.ts"
import { cut } from "./texts.ts"

/** Characters of a group's name. */
const MAX_KEY = 60

const Bar = ({ most, value }: { readonly most: number; readonly value: number }) => (
  <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    <rect class={value < 0 ? "below" : undefined} width={most === 0 ? 0 : (Math.abs(value) / most) * 100} height="8" />
  </svg>
)

const [WIDTH, HEIGHT] = [600, 120]

/** A line through all periods, from zero or below. */
const Line = ({ rows }: { readonly rows: ReadonlyArray<FigureRow> }) => {
  const values = rows.map(({ value }) => value)
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)]
  const y = (value: number) => HEIGHT - ((value - least) / (most - least || 1)) * HEIGHT
  const points = values.map(
    (value, index) => `${((index / (values.length - 1)) * WIDTH).toFixed(1)},${y(value).toFixed(1)}`
  )
  return (
    <svg class="line" viewBox={`-4 -6 ${WIDTH + 8} ${HEIGHT + 12}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="zero" d={`M0,${y(0).toFixed(1)}H${WIDTH}`} />
      <polyline points={points.join(" ")} />
    </svg>
  )
}

const nounOf = (title: string): string =>
  title
    .replace(/ by [^]*$/, "")
    .replace(/^.* of /, "")
    .toLowerCase()

export const Figures = ({ figures }: { readonly figures: ShownFigures }) => {
  const { chart, groups, groupsTotal = groups.length, limited, lines, several, title } = figures
  // The sentence above the list says what was counted, and of which rows.
  const isIntroduced = lines !== undefined
  const { keys, numbers, rows } = tableOf(figures)
  const most = Math.max(...rows.map(({ value }) => Math.abs(value)))
  const id = useId()
  const notes = [
    ...(limited === true ? [`Among the ${nounOf(title)} you can see.`] : []),
    ...(several === true ? ["Amounts in several currencies aren’t added up or ranked."] : []),
    ...(groupsTotal > groups.length ? [`${groups.length} of ${groupsTotal} groups.`] : [])
  ]
  return (
    <figure class="figures" aria-labelledby={id}>
      <figcaption id={id} class={isIntroduced ? "visually-hidden" : undefined}>
        {title}
      </figcaption>
      {chart === "line" && <Line rows={rows} />}
      <div class="scrolled" role="region" tabIndex={0} aria-labelledby={id}>
        <table>
          <thead>
            <tr>
              {keys.map((key) => (
                <th key={key} scope="col">
                  {key}
                </th>
              ))}
              {chart === "bar" && <td class="bar" />}
              {numbers.map((name) => (
                <th key={name} scope="col" class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <tr key={index}>
                {row.keys.map((key, place) => (
                  <th key={place} scope="row" title={cut(key, MAX_KEY) === key ? undefined : key}>
                    <bdi>{cut(key, MAX_KEY)}</bdi>
                  </th>
                ))}
                {chart === "bar" && (
                  <td class="bar">
                    <Bar most={most} value={row.value} />
                  </td>
                )}
                {row.numbers.map((number, place) => (
                  <td key={place} class="number">
                    {number}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {!isIntroduced && notes.length > 0 && <p class="aside">{notes.join(" ")}</p>}
    </figure>
  )
}
