/**
 * What is counted and measured: made of the spans as they end, kept ones and others, so that no figure can disagree with
 * a trace. Names are OpenTelemetry's where it has one. No label says of whom: an organization or type is in none.
 */
import { Context, Effect, Layer, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import type { AttributeValue } from "../domain/Trace.ts"

type Labels = Readonly<Record<string, string>>
type Attributes = ReadonlyMap<string, AttributeValue>

interface Family {
  readonly name: string
  readonly unit: "s" | "{token}" | "{trace}" | "{denial}"
  readonly description: string
  /** Of a histogram; a counter has none. */
  readonly boundaries?: ReadonlyArray<number>
}

/** The boundaries that OpenTelemetry's conventions advise. */
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
    description: "Tokens of one call of the model, in and out.",
    boundaries: [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576]
  },
  request: {
    name: "http.server.request.duration",
    unit: "s",
    description: "A request over HTTP, by route and status.",
    boundaries: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
  },
  lookup: {
    name: "max.lookup.duration",
    unit: "s",
    description: "A lookup or a question for types or columns, with all that it waited for.",
    boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
  },
  statement: {
    name: "db.client.operation.duration",
    unit: "s",
    description: "A statement, by lane, with its wait for a connection.",
    boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
  },
  wait: {
    name: "db.client.connection.wait_time",
    unit: "s",
    description: "How long a statement waited for a connection.",
    boundaries: [0.0001, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]
  },
  denied: { name: "max.denied", unit: "{denial}", description: "Reads and people that were refused." },
  unavailable: {
    name: "max.unavailable",
    unit: "{trace}",
    description: "Traces in which something couldn't be looked up, by where that began."
  }
} as const satisfies Readonly<Record<string, Family>>

type FamilyName = keyof typeof FAMILIES

/** Prometheus wants the unit in the name, and of a counter that it is one. */
const prometheusNames = new Map<string, string>(
  Object.values<Family>(FAMILIES).map(({ boundaries, name, unit }) => [
    name,
    boundaries === undefined ? `${name}_total` : unit === "s" ? `${name}_seconds` : name
  ])
)

const text = (attributes: Attributes, name: string): string => String(attributes.get(name) ?? "")

const LOOKUP = "EntityQueryService."

/** Series of one family at most; labels are routes, models, tools and lanes, of which there are few. */
const MAX_SERIES = 500

/** What is measured of this process since it began. */
export class Measures extends Context.Service<
  Measures,
  {
    /** Measures a span that has ended. */
    readonly span: (name: string, attributes: Attributes, nanoseconds: bigint, failure: string | undefined) => void
    readonly denied: (where: string) => void
    readonly unavailable: (where: string) => void
    /** As Prometheus reads them. */
    readonly prometheus: () => string
    /** The context in which Effect's own exporters find them. */
    readonly context: Context.Context<never>
  }
>()("max/observability/Measures") {
  static readonly make = (): Measures["Service"] => {
    const context = Context.make(Metric.MetricRegistry, new Map()) as Context.Context<never>
    const series = new Map<string, (value: number) => void>()

    const made = (family: FamilyName, labels: Labels): ((value: number) => void) => {
      const { boundaries, description, name, unit }: Family = FAMILIES[family]
      const attributes = { ...labels, unit }
      const metric =
        boundaries === undefined
          ? Metric.counter(name, { description, attributes, incremental: true })
          : Metric.histogram(name, { description, attributes, boundaries })
      return (value) => metric.updateUnsafe(value, context)
    }
    const record = (family: FamilyName, value: number, key: string, labels: () => Labels): void => {
      const whole = `${family} ${key}`
      let update = series.get(whole)
      if (update === undefined) {
        if (series.size >= MAX_SERIES) return
        series.set(whole, (update = made(family, labels())))
      }
      update(value)
    }
    const counted = (family: "denied" | "unavailable") => (where: string) =>
      record(family, 1, where, () => ({ "max.where": where }))

    const tokens = (attributes: Attributes, type: "input" | "output") => {
      const used = attributes.get(`gen_ai.usage.${type}_tokens`)
      if (typeof used !== "number") return
      const model = text(attributes, "gen_ai.request.model")
      record("tokens", used, `${model} ${type}`, () => ({
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": text(attributes, "gen_ai.provider.name"),
        "gen_ai.request.model": model,
        "gen_ai.token.type": type
      }))
    }

    const operation = (attributes: Attributes, seconds: number, failure: string | undefined) => {
      const what = text(attributes, "gen_ai.operation.name")
      const [provider, model, tool] = ["gen_ai.provider.name", "gen_ai.request.model", "gen_ai.tool.name"].map((name) =>
        text(attributes, name)
      )
      record("operation", seconds, `${what} ${model} ${tool} ${failure ?? ""}`, () =>
        given({
          "gen_ai.operation.name": what,
          "gen_ai.provider.name": provider,
          "gen_ai.request.model": model,
          "gen_ai.tool.name": tool,
          "error.type": failure
        })
      )
      if (what === "chat") (["input", "output"] as const).forEach((type) => tokens(attributes, type))
    }

    return Measures.of({
      context,
      denied: counted("denied"),
      unavailable: counted("unavailable"),
      prometheus: () =>
        PrometheusMetrics.formatUnsafe(context, { metricNameMapper: (name) => prometheusNames.get(name) ?? name }),
      span: (name, attributes, nanoseconds, failure) => {
        if (name === "postgres") {
          const lane = text(attributes, "max.lane")
          const seconds = Number(nanoseconds) / 1e9
          const key = failure === undefined ? lane : `${lane} ${failure}`
          record("statement", seconds, key, () =>
            given({ "db.system.name": "postgresql", "max.lane": lane, "error.type": failure })
          )
          const wait = attributes.get("db.client.connection.wait_time_ms")
          if (typeof wait === "number") record("wait", wait / 1000, lane, () => given({ "max.lane": lane }))
        } else if (name.startsWith(LOOKUP)) {
          record("lookup", Number(nanoseconds) / 1e9, failure === undefined ? name : `${name} ${failure}`, () =>
            given({ "max.operation": name.slice(LOOKUP.length), "error.type": failure })
          )
        } else if (attributes.has("gen_ai.operation.name")) {
          operation(attributes, Number(nanoseconds) / 1e9, failure)
        } else if (attributes.has("http.request.method")) {
          const [method, route, status] = ["http.request.method", "http.route", "http.response.status_code"].map(
            (label) => text(attributes, label)
          )
          record("request", Number(nanoseconds) / 1e9, `${method} ${route} ${status}`, () =>
            given({ "http.request.method": method, "http.route": route, "http.response.status_code": status })
          )
        }
      }
    })
  }

  static readonly layer = Layer.effect(Measures, Effect.sync(Measures.make))
}

/** Labels that say something. */
const given = (labels: Readonly<Record<string, string | undefined>>): Labels =>
  Object.fromEntries(Object.entries(labels).filter((entry): entry is [string, string] => (entry[1] ?? "") !== ""))
