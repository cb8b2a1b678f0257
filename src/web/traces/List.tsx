import type { Bar, TraceLine } from "../../wire/traces.ts"
import { boundary, counted, duration, startTime } from "./format.ts"
import { filters, listed, live, marked, narrow, show, shownId } from "./state.ts"

const SINCE = [
  [15, "last 15 minutes"],
  [60, "last hour"],
  [1440, "last day"],
  [10_080, "last week"],
  [0, "all stored traces"]
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
    <form class="filters" role="search" aria-label="Filter traces" onSubmit={(event) => event.preventDefault()}>
      <input
        id="name"
        type="search"
        aria-label="Name begins with"
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
            {label}
          </option>
        ))}
      </select>
      <div class="toggles" role="group" aria-label="Only traces that are">
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

const describeBar = ({ count, failed, from, to }: Bar): string =>
  `${counted(count, "trace")} took ${to === undefined ? `${boundary(from)} or more` : `${boundary(from)} to ${boundary(to)}`}${
    failed > 0 ? `, ${failed} failed or denied` : ""
  }`

/** Durations of the traces; pressing a bar limits the list to traces of at least that duration. */
const Histogram = ({ bars }: { readonly bars: ReadonlyArray<Bar> }) => {
  const highest = Math.max(1, ...bars.map(({ count }) => count))
  return (
    <figure class="histogram">
      <figcaption class="visually-hidden">Durations of the traces</figcaption>
      <ol>
        {bars.map((bar) => (
          <li key={bar.from}>
            {bar.count === 0 ? (
              <span class="empty" />
            ) : (
              <button
                type="button"
                title={describeBar(bar)}
                aria-label={describeBar(bar)}
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

const stateOf = ({ denied, failure }: TraceLine): string | undefined => failure ?? (denied ? "denied" : undefined)

const Row = ({ line, slow }: { readonly line: TraceLine; readonly slow: number }) => {
  const state = stateOf(line)
  const isSelected = shownId.value === line.traceId || shownId.value === line.reference
  return (
    <li>
      <a
        class="row"
        href={`?trace=${line.traceId}`}
        data-trace={line.traceId}
        aria-current={isSelected ? "true" : undefined}
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
        <span class={`took ${line.milliseconds >= slow ? "slow" : ""}`}>{duration(line.milliseconds)}</span>
        <span class="meta">
          <span class="ref">{line.reference}</span> {startTime(line.startedAt)} · {counted(line.spans, "span")}
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
          Choose a trace to compare with <span class="ref">{marked.value.reference}</span>.{" "}
          <button type="button" class="plain" onClick={() => (marked.value = undefined)}>
            Cancel
          </button>
        </p>
      )}
      <p class="count" role="status">
        {answer === undefined
          ? "Loading…"
          : `${counted(answer.traces.length, "trace")}${answer.traces.length >= 200 ? ", the newest" : ""}${live.value ? " · live" : ""}`}
      </p>
      {answer?.traces.length === 0 && (
        <p class="nothing">
          No traces are stored. Slow, failed and denied traces always are; MAX_TRACE_SHARE=1 stores all.
        </p>
      )}
      <ol class="rows">
        {answer?.traces.map((line) => (
          <Row key={`${line.traceId} ${line.name} ${line.startedAt}`} line={line} slow={answer.slow} />
        ))}
      </ol>
    </section>
  )
}
