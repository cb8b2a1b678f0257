/** The state of the page, derived from its address, so that every view can be shared as a link. */
import { computed, effect, signal } from "@preact/signals"
import type { Findings, SpanTotals, TopSpans, Trace, TraceComparison, TraceLine, TraceList } from "../../wire/traces.ts"
import { get, Problem } from "../shared/api.ts"

export interface Filters {
  readonly name: string
  readonly slow: boolean
  readonly failed: boolean
  readonly denied: boolean
  /** Minutes back; 0 means no limit. */
  readonly since: number
  /** Milliseconds. */
  readonly atLeast: number
}

/** The content of the right side. */
export type View =
  | { readonly _tag: "Overview" }
  | { readonly _tag: "Trace"; readonly id: string }
  | { readonly _tag: "Compare"; readonly before: string; readonly after: string }

const currentQuery = () => new URLSearchParams(location.search)

const filtersOf = (from: URLSearchParams): Filters => ({
  name: from.get("name") ?? "",
  slow: from.has("slow"),
  failed: from.has("failed"),
  denied: from.has("denied"),
  since: Number(from.get("since") ?? 1440) || 0,
  atLeast: Number(from.get("atLeast") ?? 0) || 0
})

const viewOf = (from: URLSearchParams): View => {
  const [trace, other] = [from.get("trace"), from.get("with")]
  if (trace === null) return { _tag: "Overview" }
  return other === null ? { _tag: "Trace", id: trace } : { _tag: "Compare", before: trace, after: other }
}

export const filters = signal(filtersOf(currentQuery()))
export const view = signal<View>(viewOf(currentQuery()))
export const live = signal(false)
/** The first of two traces to compare, until the second is chosen. */
export const marked = signal<TraceLine | undefined>(undefined)

export const listed = signal<TraceList | undefined>(undefined)
export const findings = signal<Findings | undefined>(undefined)
export const totals = signal<ReadonlyArray<SpanTotals>>([])
export const trace = signal<Trace | undefined>(undefined)
export const comparison = signal<TraceComparison | undefined>(undefined)
/** The id of the selected span. */
export const span = signal<string | undefined>(undefined)
export const problem = signal<Problem | undefined>(undefined)
/** Why the right side is empty. */
export const missing = signal<string | undefined>(undefined)

const filterQuery = (): URLSearchParams => {
  const { atLeast, denied, failed, name, since, slow } = filters.value
  const query = new URLSearchParams()
  if (name !== "") query.set("name", name)
  for (const [key, on] of Object.entries({ slow, failed, denied })) if (on) query.set(key, "true")
  if (since > 0) query.set("since", String(since))
  if (atLeast > 0) query.set("atLeast", String(atLeast))
  return query
}

/** The address of a view, with the current filters. */
export const addressOf = (shown: View): string => {
  const query = filterQuery()
  query.delete("since")
  if (filters.value.since !== 1440) query.set("since", String(filters.value.since))
  if (shown._tag === "Trace") query.set("trace", shown.id)
  if (shown._tag === "Compare") {
    query.set("trace", shown.before)
    query.set("with", shown.after)
  }
  const text = query.toString()
  return text === "" ? location.pathname : `${location.pathname}?${text}`
}

export const show = (next: View): void => {
  history.pushState(null, "", addressOf(next))
  view.value = next
}

export const narrow = (change: Partial<Filters>): void => {
  filters.value = { ...filters.value, ...change }
  history.replaceState(null, "", addressOf(view.value))
}

export const shownId = computed(() =>
  view.value._tag === "Trace" ? view.value.id : view.value._tag === "Compare" ? view.value.after : undefined
)

/** Wraps a request so that only the response to the latest call is used. */
const latest = <A>(send: () => Promise<A>, use: (answer: A) => void, failed: (error: Problem) => void) => {
  let calls = 0
  return () => {
    const call = ++calls
    send().then(
      (answer) => {
        if (call === calls) use(answer)
      },
      (error: unknown) => {
        if (call === calls && error instanceof Problem) failed(error)
      }
    )
  }
}

const refused = (error: Problem) => {
  problem.value = error
}

const loadList = latest(
  () => get<TraceList>(`/v1/traces?limit=200&${filterQuery().toString()}`),
  (answer) => {
    problem.value = undefined
    listed.value = answer
  },
  refused
)

const loadOverview = latest(
  () => {
    const since = filters.value.since > 0 ? `?since=${filters.value.since}` : ""
    return Promise.all([
      get<Findings>(`/v1/traces/findings${since}`),
      get<TopSpans>(`/v1/traces/top?${filterQuery().toString()}`)
    ])
  },
  ([all, top]) => {
    findings.value = all
    totals.value = top.spans
  },
  refused
)

const showMissing = (error: Problem) => {
  missing.value = error.message
}

const loadTrace = (id: string) =>
  latest(
    () => get<Trace>(`/v1/traces/${encodeURIComponent(id)}`),
    (answer) => {
      trace.value = answer
      span.value = answer.spans.toSorted((a, b) => b.self - a.self)[0]?.spanId
    },
    showMissing
  )()

const loadComparison = (before: string, after: string) =>
  latest(
    () => get<TraceComparison>(`/v1/traces/compare?a=${encodeURIComponent(before)}&b=${encodeURIComponent(after)}`),
    (answer) => {
      comparison.value = answer
    },
    showMissing
  )()

const isShown = (line: TraceLine): boolean => {
  const { atLeast, denied, failed, slow } = filters.value
  return (
    line.milliseconds >= Math.max(atLeast, slow ? (listed.value?.slow ?? 0) : 0) &&
    (!(failed || denied) || (failed && line.failure !== null) || (denied && line.denied))
  )
}

const withLine = (before: TraceList, line: TraceLine): TraceList => ({
  ...before,
  traces: [line, ...before.traces].slice(0, 500),
  histogram: before.histogram.map((bar) =>
    line.milliseconds >= bar.from && line.milliseconds < (bar.to ?? Infinity)
      ? { ...bar, count: bar.count + 1, failed: bar.failed + (line.failure !== null || line.denied ? 1 : 0) }
      : bar
  )
})

/** Loads data whenever the address or a filter changes. */
export const start = (): void => {
  effect(() => {
    void filters.value
    loadList()
    loadOverview()
  })
  effect(() => {
    const shown = view.value
    missing.value = undefined
    if (shown._tag === "Trace") {
      if (trace.peek()?.traceId !== shown.id) trace.value = undefined
      loadTrace(shown.id)
    }
    if (shown._tag === "Compare") loadComparison(shown.before, shown.after)
  })
  effect(() => {
    if (!live.value) return
    const events = new EventSource(`/v1/traces/live?${filterQuery().toString()}`)
    events.addEventListener("trace", ({ data }) => {
      const line = JSON.parse(data as string) as TraceLine
      if (listed.value !== undefined && isShown(line)) listed.value = withLine(listed.value, line)
    })
    return () => events.close()
  })
  addEventListener("popstate", () => {
    filters.value = filtersOf(currentQuery())
    view.value = viewOf(currentQuery())
  })
}
