/** What the page shows and where that comes from: its address first, so that every view of it can be sent on. */
import { computed, effect, signal } from "@preact/signals"
import { get, Problem } from "../shared/api.ts"
import type { Comparison, Found, Line, Listed, Total, Trace } from "./types.ts"

export interface Filters {
  readonly name: string
  readonly slow: boolean
  readonly failed: boolean
  readonly denied: boolean
  /** Minutes back; 0 is all of them. */
  readonly since: number
  /** Milliseconds. */
  readonly atLeast: number
}

/** What the right side shows. */
export type View =
  | { readonly _tag: "Overview" }
  | { readonly _tag: "Trace"; readonly id: string }
  | { readonly _tag: "Compare"; readonly before: string; readonly after: string }

const query = () => new URLSearchParams(location.search)

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

export const filters = signal(filtersOf(query()))
export const view = signal<View>(viewOf(query()))
export const live = signal(false)
/** The trace that another one is to be compared with. */
export const marked = signal<Line | undefined>(undefined)

export const listed = signal<Listed | undefined>(undefined)
export const found = signal<Found | undefined>(undefined)
export const totals = signal<ReadonlyArray<Total>>([])
export const trace = signal<Trace | undefined>(undefined)
export const comparison = signal<Comparison | undefined>(undefined)
/** The span whose details are shown. */
export const span = signal<string | undefined>(undefined)
export const problem = signal<Problem | undefined>(undefined)
/** Why there is nothing on the right side. */
export const missing = signal<string | undefined>(undefined)

const asked = (): URLSearchParams => {
  const { atLeast, denied, failed, name, since, slow } = filters.value
  const words = new URLSearchParams()
  if (name !== "") words.set("name", name)
  for (const [key, on] of Object.entries({ slow, failed, denied })) if (on) words.set(key, "true")
  if (since > 0) words.set("since", String(since))
  if (atLeast > 0) words.set("atLeast", String(atLeast))
  return words
}

/** The address of what is shown now, or would be with another view. */
export const addressOf = (shown: View): string => {
  const words = asked()
  words.delete("since")
  if (filters.value.since !== 1440) words.set("since", String(filters.value.since))
  if (shown._tag === "Trace") words.set("trace", shown.id)
  if (shown._tag === "Compare") {
    words.set("trace", shown.before)
    words.set("with", shown.after)
  }
  const text = words.toString()
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

/** The newest answer counts, whatever order they come in. */
const latest = <A>(ask: () => Promise<A>, use: (answer: A) => void, failed: (error: Problem) => void) => {
  let asking = 0
  return () => {
    const mine = ++asking
    ask().then(
      (answer) => {
        if (mine === asking) use(answer)
      },
      (error: unknown) => {
        if (mine === asking && error instanceof Problem) failed(error)
      }
    )
  }
}

const refused = (error: Problem) => {
  problem.value = error
}

const loadList = latest(
  () => get<Listed>(`/v1/traces?limit=200&${asked().toString()}`),
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
      get<Found>(`/v1/traces/findings${since}`),
      get<{ spans: ReadonlyArray<Total> }>(`/v1/traces/top?${asked().toString()}`)
    ])
  },
  ([findings, top]) => {
    found.value = findings
    totals.value = top.spans
  },
  refused
)

const gone = (error: Problem) => {
  missing.value = error.message
}

const loadTrace = (id: string) =>
  latest(
    () => get<Trace>(`/v1/traces/${encodeURIComponent(id)}`),
    (answer) => {
      trace.value = answer
      span.value = answer.spans.toSorted((a, b) => b.self - a.self)[0]?.spanId
    },
    gone
  )()

const loadComparison = (before: string, after: string) =>
  latest(
    () => get<Comparison>(`/v1/traces/compare?a=${encodeURIComponent(before)}&b=${encodeURIComponent(after)}`),
    (answer) => {
      comparison.value = answer
    },
    gone
  )()

const isShown = (line: Line): boolean => {
  const { atLeast, denied, failed, slow } = filters.value
  return (
    line.milliseconds >= Math.max(atLeast, slow ? (listed.value?.slow ?? 0) : 0) &&
    (!(failed || denied) || (failed && line.failure !== null) || (denied && line.denied))
  )
}

const withLine = (before: Listed, line: Line): Listed => ({
  ...before,
  traces: [line, ...before.traces].slice(0, 500),
  histogram: before.histogram.map((bar) =>
    line.milliseconds >= bar.from && line.milliseconds < (bar.to ?? Infinity)
      ? { ...bar, count: bar.count + 1, failed: bar.failed + (line.failure !== null || line.denied ? 1 : 0) }
      : bar
  )
})

/** Keeps what is shown what the address says, from now on. */
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
    const events = new EventSource(`/v1/traces/live?${asked().toString()}`)
    events.addEventListener("trace", ({ data }) => {
      const line = JSON.parse(data as string) as Line
      if (listed.value !== undefined && isShown(line)) listed.value = withLine(listed.value, line)
    })
    return () => events.close()
  })
  addEventListener("popstate", () => {
    filters.value = filtersOf(query())
    view.value = viewOf(query())
  })
}
