import type { Span, Trace } from "../../wire/traces.ts"
import { attributeName, duration } from "./format.ts"
import { span as selected } from "./state.ts"

/** Labels of the time axis, as shares; there is no room for one at 0.75. */
const TICKS = [0, 0.25, 0.5, 1]

/** The arrow keys move to the next or previous span. */
const move = (event: KeyboardEvent): void => {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return
  const spans = [...document.querySelectorAll<HTMLElement>(".waterfall [data-span]")]
  const next = spans[spans.indexOf(event.target as HTMLElement) + (event.key === "ArrowDown" ? 1 : -1)]
  if (next === undefined) return
  event.preventDefault()
  event.stopPropagation()
  next.focus()
  selected.value = next.dataset["span"]
}

const SUMMARIES = ["db.query.summary", "gen_ai.request.model", "max.shape", "max.type"] as const

/** The subject of a span, shown beside its name. */
const about = ({ attributes, name }: Span): string => {
  const summary = SUMMARIES.map((key) => attributes[key]).find(
    (value) => value !== undefined && !name.includes(String(value))
  )
  return summary === undefined ? "" : String(summary).replace(/^max /, "")
}

const Row = ({ one, whole }: { readonly one: Span; readonly whole: number }) => {
  const isSelected = selected.value === one.spanId
  const kind = one.failure !== undefined ? "failed" : one.critical ? "critical" : ""
  return (
    <tr class={`${isSelected ? "selected" : ""} ${kind}`}>
      <th scope="row">
        <button
          type="button"
          class="plain span"
          data-span={one.spanId}
          aria-pressed={isSelected}
          tabIndex={isSelected ? 0 : -1}
          style={{ paddingInlineStart: `${one.depth * 0.875}rem` }}
          onClick={() => (selected.value = one.spanId)}
        >
          <span class="name">{one.name}</span> <span class="about">{about(one)}</span>
          {one.critical && <span class="visually-hidden"> (on the critical path)</span>}
        </button>
      </th>
      <td class="time" aria-hidden="true">
        <span
          class="bar"
          style={{
            left: `${Math.min(99.6, (one.start / whole) * 100)}%`,
            width: `${Math.max(0.4, Math.min(100 - (one.start / whole) * 100, (one.milliseconds / whole) * 100))}%`
          }}
        />
      </td>
      <td class="number">{duration(one.milliseconds)}</td>
      <td class="number self">
        <span class="meter" style={{ width: `${(one.self / whole) * 100}%` }} />
        <span>{duration(one.self)}</span>
      </td>
    </tr>
  )
}

export const Waterfall = ({ trace }: { readonly trace: Trace }) => {
  const whole = Math.max(0.001, ...trace.spans.map(({ milliseconds, start }) => start + milliseconds))
  return (
    <div class="scrolling" role="region" aria-label="Waterfall" tabIndex={-1} onKeyDown={move}>
      <table class="waterfall">
        <thead>
          <tr>
            <th scope="col">Span</th>
            <th scope="col" class="time">
              <span class="visually-hidden">When it ran</span>
              {TICKS.map((tick) => (
                <span key={tick} class="tick" aria-hidden="true" style={{ left: `${tick * 100}%` }}>
                  {tick === 0 ? "0" : duration(whole * tick)}
                </span>
              ))}
            </th>
            <th scope="col" class="number">
              Duration
            </th>
            <th scope="col" class="number">
              Self time
            </th>
          </tr>
        </thead>
        <tbody>
          {trace.spans.map((one) => (
            <Row key={one.spanId} one={one} whole={whole} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** The attributes and the statement of the selected span. */
export const SpanDetails = ({ trace }: { readonly trace: Trace }) => {
  const one = trace.spans.find(({ spanId }) => spanId === selected.value)
  if (one === undefined) return null
  const hash = one.attributes["max.statement"]
  const statement = hash === undefined ? undefined : trace.statements[String(hash)]
  return (
    <section class="details" aria-label="The selected span">
      <h3>{one.name}</h3>
      <dl>
        <div>
          <dt>start</dt>
          <dd>{duration(one.start)} after the trace began</dd>
        </div>
        <div>
          <dt>duration</dt>
          <dd>
            {duration(one.milliseconds)}, self time {duration(one.self)}
          </dd>
        </div>
        {one.failure !== undefined && (
          <div class="failed">
            <dt>failed</dt>
            <dd>{one.failure}</dd>
          </div>
        )}
        {Object.entries(one.attributes)
          .filter(([name]) => name !== "max.organization.id" && name !== "db.system.name")
          .map(([name, value]) => (
            <div key={name}>
              <dt title={name}>{attributeName(name)}</dt>
              <dd>{typeof value === "number" ? value.toLocaleString("en") : String(value)}</dd>
            </div>
          ))}
      </dl>
      {statement !== undefined && (
        <>
          <pre tabIndex={0} aria-label="The statement, without its values">
            {statement}
          </pre>
          <p class="soft">
            Values are never recorded. To see the database's plan:{" "}
            <code>
              max trace explain {trace.reference} --statement {String(hash)}
            </code>
          </p>
        </>
      )}
    </section>
  )
}
