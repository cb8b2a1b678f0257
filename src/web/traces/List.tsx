import { filters, listed, live, marked, narrow, show, shownId } from "./state.ts"
import type { Bar, Line } from "./types.ts"
import { boundary, many, took, when } from "./words.ts"

const SINCE = [
  [15, "15 minutes"],
  [60, "hour"],
  [1440, "day"],
  [10_080, "week"],
  [0, "all that is kept"]
] as const

const Toggle = ({ name, label }: { readonly name: "slow" | "failed" | "denied"; readonly label: string }) => (
  <button
    type="button"
    class="toggle"
    aria-pressed={filters.value[name]}
    onClick={() => narrow({ [name]: !filters.value[name] })}
  >
    {label}
  </button>
)

const Filters = () => {
  const { atLeast, name, since } = filters.value
  return (
    <form class="filters" role="search" aria-label="Which traces" onSubmit={(event) => event.preventDefault()}>
      <input
        id="name"
        type="search"
        aria-label="What the name begins with"
        placeholder="Name begins with…"
        value={name}
        onInput={(event) => narrow({ name: event.currentTarget.value })}
      />
      <select
        aria-label="How far back"
        value={String(since)}
        onChange={(event) => narrow({ since: Number(event.currentTarget.value) })}
      >
        {SINCE.map(([minutes, label]) => (
          <option key={minutes} value={String(minutes)}>
            {minutes === 0 ? label : `last ${label}`}
          </option>
        ))}
      </select>
      <div class="toggles" role="group" aria-label="Only traces that were">
        <Toggle name="slow" label="Slow" />
        <Toggle name="failed" label="Failed" />
        <Toggle name="denied" label="Denied" />
        {atLeast > 0 && (
          <button type="button" class="toggle chip" onClick={() => narrow({ atLeast: 0 })}>
            ≥ {boundary(atLeast)} <span aria-hidden="true">×</span>
            <span class="visually-hidden"> remove</span>
          </button>
        )}
        <button
          type="button"
          class="toggle live"
          aria-pressed={live.value}
          onClick={() => {
            live.value = !live.value
          }}
        >
          Live
        </button>
      </div>
    </form>
  )
}

const said = ({ count, failed, from, to }: Bar): string =>
  `${many(count, "trace")} took ${to === undefined ? `${boundary(from)} or more` : `${boundary(from)} to ${boundary(to)}`}${
    failed > 0 ? `, ${failed} failed or denied` : ""
  }`

/** How long they took; a bar narrows the list to what took at least as long. */
const Histogram = ({ bars }: { readonly bars: ReadonlyArray<Bar> }) => {
  const highest = Math.max(1, ...bars.map(({ count }) => count))
  return (
    <figure class="histogram">
      <figcaption class="visually-hidden">How long the traces took</figcaption>
      <ol>
        {bars.map((bar) => (
          <li key={bar.from}>
            {bar.count === 0 ? (
              <span class="empty" />
            ) : (
              <button
                type="button"
                title={said(bar)}
                aria-label={said(bar)}
                aria-pressed={filters.value.atLeast === bar.from && bar.from > 0}
                onClick={() => narrow({ atLeast: filters.value.atLeast === bar.from ? 0 : Math.ceil(bar.from) })}
              >
                <span class="bar" style={{ height: `${8 + Math.sqrt(bar.count / highest) * 92}%` }}>
                  <span class="failed" style={{ height: `${(bar.failed / bar.count) * 100}%` }} />
                </span>
              </button>
            )}
          </li>
        ))}
      </ol>
      <div class="axis" aria-hidden="true">
        {[1, 10, 100, 1000, 10_000].map((at) => (
          <span key={at} style={{ left: `${(bars.findIndex(({ from }) => from === at) / bars.length) * 100}%` }}>
            {boundary(at)}
          </span>
        ))}
      </div>
    </figure>
  )
}

const stateOf = ({ denied, failure }: Line): string | undefined => failure ?? (denied ? "denied" : undefined)

const Row = ({ line, slow }: { readonly line: Line; readonly slow: number }) => {
  const state = stateOf(line)
  const isShown = shownId.value === line.traceId || shownId.value === line.reference
  return (
    <li>
      <a
        class="row"
        href={`?trace=${line.traceId}`}
        data-trace={line.traceId}
        aria-current={isShown ? "true" : undefined}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return
          event.preventDefault()
          const before = marked.value
          if (before === undefined || before.traceId === line.traceId) show({ _tag: "Trace", id: line.traceId })
          else {
            marked.value = undefined
            show({ _tag: "Compare", before: before.traceId, after: line.traceId })
          }
        }}
      >
        <span class="what">{line.name}</span>
        <span class={`took ${line.milliseconds >= slow ? "slow" : ""}`}>{took(line.milliseconds)}</span>
        <span class="meta">
          <span class="ref">{line.reference}</span> {when(line.startedAt)} · {many(line.spans, "span")}
        </span>
        {state !== undefined && <span class={`state ${line.failure === null ? "denied" : "failed"}`}>{state}</span>}
      </a>
    </li>
  )
}

export const List = () => {
  const answer = listed.value
  return (
    <section class="list" aria-label="Traces">
      <Filters />
      {answer !== undefined && <Histogram bars={answer.histogram} />}
      {marked.value !== undefined && (
        <p class="marked" role="status">
          Choose what to compare <span class="ref">{marked.value.reference}</span> with.{" "}
          <button type="button" class="plain" onClick={() => (marked.value = undefined)}>
            Cancel
          </button>
        </p>
      )}
      <p class="count" role="status">
        {answer === undefined
          ? "Loading…"
          : `${many(answer.traces.length, "trace")}${answer.traces.length >= 200 ? ", the newest" : ""}${live.value ? " · listening" : ""}`}
      </p>
      {answer?.traces.length === 0 && (
        <p class="nothing">None was kept. Slow, failed and denied ones always are; MAX_TRACE_SHARE=1 keeps all.</p>
      )}
      <ol class="rows">
        {answer?.traces.map((line) => (
          <Row key={`${line.traceId} ${line.name} ${line.startedAt}`} line={line} slow={answer.slow} />
        ))}
      </ol>
    </section>
  )
}
