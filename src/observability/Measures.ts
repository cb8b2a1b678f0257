/**
 * Metrics, computed from all spans as they end, whether their trace is kept or not, so that metrics agree with traces.
 * Names follow OpenTelemetry's semantic conventions. No label identifies an organization, a type or a person.
 */
import { Context, Effect, Layer, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"

type Labels = Readonly<Record<string, string>>
/** Adds a value to a series. */
type Update = (value: number) => void

/** An ended span. */
export interface Measured {
  readonly name: string
  /** The text of a database span's statement. */
  readonly statement: string | undefined
  readonly get: (attribute: string) => unknown
}

interface Family {
  readonly name: string
  readonly unit: "s" | "{token}" | "{trace}" | "{read}" | "{denial}" | "{block}"
  readonly description: string
  /** The buckets of a histogram; absent for a counter. */
  readonly boundaries?: ReadonlyArray<number>
}

/** Boundaries follow the advice of the semantic conventions. */
const FAMILIES = {
  operation: {
    name: "gen_ai.client.operation.duration",
    unit: "s",
    description: "A turn, a call of the model, or a call of a tool.",
    boundaries: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
  },
  tokens: {
    name: "gen_ai.client.token.usage",
    unit: "{token}",
    description: "Tokens of one call of the model, input and output.",
    boundaries: [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576]
  },
  request: {
    name: "http.server.request.duration",
    unit: "s",
    description: "An HTTP request, by route and status.",
    boundaries: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
  },
  lookup: {
    name: "max.lookup.duration",
    unit: "s",
    description: "A lookup, or a list of types or columns, including waits.",
    boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
  },
  statement: {
    name: "db.client.operation.duration",
    unit: "s",
    description: "A statement, by pool, including its wait for a connection.",
    boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
  },
  wait: {
    name: "db.client.connection.wait_time",
    unit: "s",
    description: "A statement's wait for a connection.",
    boundaries: [0.0001, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
  },
  lost: {
    name: "max.traces.lost",
    unit: "{trace}",
    description: "Traces that were to be stored and weren't: too many waited, or the database failed."
  },
  denied: { name: "max.denied", unit: "{denial}", description: "Denied reads and refused admissions." },
  unavailable: {
    name: "max.unavailable",
    unit: "{trace}",
    description: "Traces with a failed lookup, by the span in which it failed first."
  },
  replica: {
    name: "max.replica.reads",
    unit: "{read}",
    description: "Lookups that could go to a standby, by outcome; only answered ones used its rows."
  },
  blocked: {
    name: "max.eventloop.blocked",
    unit: "{block}",
    description: "Periods of at least 100 ms in which the event loop was blocked."
  }
} as const satisfies Readonly<Record<string, Family>>

type FamilyName = keyof typeof FAMILIES

/** The gauges of the event loop's delay. */
const DELAYS = ["min", "max", "mean", "stddev", "p50", "p90", "p99"] as const
export type LoopDelay = Readonly<Record<(typeof DELAYS)[number], number>>
const delayName = (which: (typeof DELAYS)[number]) => `nodejs.eventloop.delay.${which}`

/** Prometheus expects the unit in the name, and `total` in that of a counter. */
const prometheusNames = new Map<string, string>([
  ...Object.values<Family>(FAMILIES).map(({ boundaries, name, unit }): [string, string] => [
    name,
    boundaries === undefined ? `${name}_total` : unit === "s" ? `${name}_seconds` : name
  ]),
  ...DELAYS.map((which): [string, string] => [delayName(which), `${delayName(which)}_seconds`])
])

const text = (span: Measured, name: string): string => String(span.get(name) ?? "")

const LOOKUP = "EntityQueryService."

/** The limit of series per family; there are few routes, models, tools and pools. */
const MAX_SERIES = 500

/** The metrics of this process. */
export class Measures extends Context.Service<
  Measures,
  {
    /** Records an ended span. */
    readonly span: (span: Measured, milliseconds: number, failure: string | undefined) => void
    readonly denied: (where: string) => void
    readonly unavailable: (where: string) => void
    /** Records traces that are lost between the recorder and the store. */
    readonly lost: (where: "queue" | "store", traces: number) => void
    /** Records what became of a lookup that could go to a standby. */
    readonly replica: (outcome: string) => void
    /** Records that the event loop was blocked. */
    readonly blocked: () => void
    /** Records the event loop's delay in the latest period, in seconds. */
    readonly loopDelay: (delay: LoopDelay) => void
    /** In Prometheus' text format. */
    readonly prometheus: () => string
    /** The context in which Effect's exporters find the metrics. */
    readonly context: Context.Context<never>
  }
>()("max/observability/Measures") {
  static readonly make = (): Measures["Service"] => {
    const registry: (typeof Metric.MetricRegistry)["Service"] = new Map()
    const context = Context.make(Metric.MetricRegistry, registry) as Context.Context<never>
    const series = Object.fromEntries(
      Object.keys(FAMILIES).map((family) => [family, new Map<string, Update>()])
    ) as Record<FamilyName, Map<string, Update>>

    const addSeries = (family: FamilyName, key: string, labels: Labels): Update => {
      if (series[family].size >= MAX_SERIES) return () => {}
      const { boundaries, description, name, unit }: Family = FAMILIES[family]
      const attributes = { ...labels, unit }
      const metric =
        boundaries === undefined
          ? Metric.counter(name, { description, attributes, incremental: true })
          : Metric.histogram(name, { description, attributes, boundaries })
      metric.valueUnsafe(context)
      // Takes the hooks from the registry once: updating through `metric` looks them up for every value.
      const { update } = [...registry.values()].at(-1)!.hooks as Metric.Metric.Hooks<number, unknown>
      const record = (value: number) => update(value, context)
      series[family].set(key, record)
      return record
    }
    const counted =
      (family: "denied" | "lost" | "replica" | "unavailable", label = "max.where") =>
      (where: string, count = 1) =>
        (series[family].get(where) ?? addSeries(family, where, { [label]: where }))(count)

    const delays = DELAYS.map(
      (which) =>
        [
          which,
          Metric.gauge(delayName(which), {
            description: "The event loop's delay in the latest ten seconds.",
            attributes: { unit: "s" }
          })
        ] as const
    )

    const statement = (span: Measured, seconds: number, failure: string | undefined) => {
      const pool = text(span, "max.pool")
      const key = keyOf(pool, failure)
      const took =
        series.statement.get(key) ??
        addSeries(
          "statement",
          key,
          labelled({ "db.system.name": "postgresql", "max.pool": pool, "error.type": failure })
        )
      took(seconds)
      const wait = span.get("db.client.connection.wait_time_ms")
      if (typeof wait !== "number") return
      const waited = series.wait.get(pool) ?? addSeries("wait", pool, labelled({ "max.pool": pool }))
      waited(wait / 1000)
    }

    const lookup = (name: string, seconds: number, failure: string | undefined) => {
      const key = keyOf(name, failure)
      const took =
        series.lookup.get(key) ??
        addSeries("lookup", key, labelled({ "max.operation": name.slice(LOOKUP.length), "error.type": failure }))
      took(seconds)
    }

    const tokens = (span: Measured, type: "input" | "output") => {
      const used = span.get(`gen_ai.usage.${type}_tokens`)
      if (typeof used !== "number") return
      const model = text(span, "gen_ai.request.model")
      const key = `${model} ${type}`
      const counts =
        series.tokens.get(key) ??
        addSeries("tokens", key, {
          "gen_ai.operation.name": "chat",
          "gen_ai.provider.name": text(span, "gen_ai.provider.name"),
          "gen_ai.request.model": model,
          "gen_ai.token.type": type
        })
      counts(used)
    }

    const operation = (span: Measured, what: string, seconds: number, failure: string | undefined) => {
      const model = text(span, "gen_ai.request.model")
      const tool = text(span, "gen_ai.tool.name")
      const key = `${what} ${model} ${tool} ${failure ?? ""}`
      const took =
        series.operation.get(key) ??
        addSeries(
          "operation",
          key,
          labelled({
            "gen_ai.operation.name": what,
            "gen_ai.provider.name": text(span, "gen_ai.provider.name"),
            "gen_ai.request.model": model,
            "gen_ai.tool.name": tool,
            "error.type": failure
          })
        )
      took(seconds)
      if (what === "chat") (["input", "output"] as const).forEach((type) => tokens(span, type))
    }

    const request = (span: Measured, method: string, seconds: number) => {
      const route = text(span, "http.route")
      const status = text(span, "http.response.status_code")
      const key = `${method} ${route} ${status}`
      const took =
        series.request.get(key) ??
        addSeries(
          "request",
          key,
          labelled({ "http.request.method": method, "http.route": route, "http.response.status_code": status })
        )
      took(seconds)
    }

    return Measures.of({
      context,
      denied: counted("denied"),
      unavailable: counted("unavailable"),
      lost: counted("lost"),
      replica: counted("replica", "max.outcome"),
      blocked: () => (series.blocked.get("") ?? addSeries("blocked", "", {}))(1),
      loopDelay: (delay) => {
        for (const [which, gauge] of delays) gauge.updateUnsafe(delay[which], context)
      },
      prometheus: () =>
        PrometheusMetrics.formatUnsafe(context, { metricNameMapper: (name) => prometheusNames.get(name) ?? name }),
      span: (span, milliseconds, failure) => {
        const seconds = milliseconds / 1000
        if (span.statement !== undefined) return statement(span, seconds, failure)
        if (span.name.startsWith(LOOKUP)) return lookup(span.name, seconds, failure)
        const what = text(span, "gen_ai.operation.name")
        if (what !== "") return operation(span, what, seconds, failure)
        const method = text(span, "http.request.method")
        if (method !== "") request(span, method, seconds)
      }
    })
  }

  static readonly layer = Layer.effect(Measures, Effect.sync(Measures.make))
}

/** Success uses the name itself as key, which allocates no string. */
const keyOf = (name: string, failure: string | undefined): string =>
  failure === undefined ? name : `${name} ${failure}`

/** Leaves empty labels out. */
const labelled = (labels: Readonly<Record<string, string | undefined>>): Labels =>
  Object.fromEntries(Object.entries(labels).filter((entry): entry is [string, string] => (entry[1] ?? "") !== ""))
