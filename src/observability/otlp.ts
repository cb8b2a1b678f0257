/**
 * Encodes traces as OTLP in JSON (opentelemetry-proto, trace/v1) and decodes them; a round trip preserves them.
 */
import { Array as Arr, Result, Schema } from "effect"
import { type AttributeValue, ATTRIBUTES, type Trace, type TraceSpan } from "./Trace.ts"

const KINDS = ["internal", "server", "client", "producer", "consumer"] as const
/** OTLP numbers kinds from 1; 0 is unspecified. */
const kindNumber = (kind: TraceSpan["kind"]): number => KINDS.indexOf(kind) + 1

const ERROR = 2
const UNSET = 0
/** The attribute of the semantic conventions for a span's failure. */
const ERROR_TYPE = "error.type"
const DROPPED = "max.spans.dropped"

const hex = (length: number) => Schema.String.check(Schema.isPattern(new RegExp(`^[0-9a-f]{${length}}$`)))
const Nanoseconds = Schema.String.check(Schema.isPattern(/^\d{1,19}$/))

const Value = Schema.Union([
  Schema.Struct({ stringValue: Schema.String }),
  Schema.Struct({ boolValue: Schema.Boolean }),
  Schema.Struct({ intValue: Schema.String.check(Schema.isPattern(/^-?\d{1,19}$/)) }),
  Schema.Struct({ doubleValue: Schema.Number })
])

const KeyValue = Schema.Struct({ key: Schema.String, value: Value })

const OtlpSpan = Schema.Struct({
  traceId: hex(32),
  spanId: hex(16),
  parentSpanId: Schema.optionalKey(hex(16)),
  name: Schema.String,
  kind: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 })),
  startTimeUnixNano: Nanoseconds,
  endTimeUnixNano: Nanoseconds,
  attributes: Schema.Array(KeyValue),
  links: Schema.optionalKey(Schema.Array(Schema.Struct({ traceId: hex(32), spanId: hex(16) }))),
  status: Schema.Struct({ code: Schema.Int, message: Schema.optionalKey(Schema.String) })
})

type OtlpSpan = typeof OtlpSpan.Type

export const TracesData = Schema.Struct({
  resourceSpans: Schema.Array(
    Schema.Struct({
      resource: Schema.Struct({ attributes: Schema.Array(KeyValue) }),
      scopeSpans: Schema.Array(
        Schema.Struct({
          scope: Schema.Struct({ name: Schema.String, version: Schema.optionalKey(Schema.String) }),
          spans: Schema.Array(OtlpSpan)
        })
      )
    })
  )
})
export type TracesData = typeof TracesData.Type

const value = (attribute: AttributeValue): typeof Value.Type =>
  typeof attribute === "string"
    ? { stringValue: attribute }
    : typeof attribute === "boolean"
      ? { boolValue: attribute }
      : Number.isSafeInteger(attribute)
        ? { intValue: String(attribute) }
        : { doubleValue: attribute }

const keyValues = (attributes: Readonly<Record<string, AttributeValue>>) =>
  Object.entries(attributes).map(([key, attribute]) => ({ key, value: value(attribute) }))

const otlpSpan = (trace: Trace, span: TraceSpan, index: number): OtlpSpan => {
  const start = trace.startedAt + BigInt(span.start)
  const failed = span.failure !== undefined && span.failure !== "interrupted"
  return {
    traceId: trace.traceId,
    spanId: span.spanId,
    ...(span.parentId === undefined ? {} : { parentSpanId: span.parentId }),
    name: span.name,
    kind: kindNumber(span.kind),
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(start + BigInt(span.duration)),
    attributes: keyValues({
      ...span.attributes,
      ...(span.failure === undefined ? {} : { [ERROR_TYPE]: span.failure }),
      ...(index === 0 && trace.dropped > 0 ? { [DROPPED]: trace.dropped } : {})
    }),
    ...(span.links === undefined ? {} : { links: span.links }),
    status: { code: failed ? ERROR : UNSET }
  }
}

/** Encodes traces of this service as one document. */
export const toOtlp = (traces: ReadonlyArray<Trace>, version: string): TracesData => ({
  resourceSpans: [
    {
      resource: { attributes: keyValues({ "service.name": "max", "service.version": version }) },
      scopeSpans: [
        {
          scope: { name: "max", version },
          spans: traces.flatMap((trace) => trace.spans.map((span, index) => otlpSpan(trace, span, index)))
        }
      ]
    }
  ]
})

const attributeOf = (one: typeof Value.Type): AttributeValue =>
  "stringValue" in one
    ? one.stringValue
    : "boolValue" in one
      ? one.boolValue
      : "intValue" in one
        ? Number(one.intValue)
        : one.doubleValue

const traceSpan = (span: OtlpSpan, startedAt: bigint): TraceSpan => {
  const attributes = Object.fromEntries(span.attributes.map(({ key, value: one }) => [key, attributeOf(one)]))
  const failure = attributes[ERROR_TYPE]
  const start = BigInt(span.startTimeUnixNano)
  return {
    spanId: span.spanId,
    ...(span.parentSpanId === undefined ? {} : { parentId: span.parentSpanId }),
    name: span.name,
    kind: KINDS[span.kind - 1] ?? "internal",
    start: Number(start - startedAt),
    duration: Number(BigInt(span.endTimeUnixNano) - start),
    ...(typeof failure === "string" ? { failure } : span.status.code === ERROR ? { failure: "error" } : {}),
    ...(span.links === undefined || span.links.length === 0 ? {} : { links: span.links }),
    // The allowlist applies to documents of other programs, too.
    attributes: Object.fromEntries(Object.entries(attributes).filter(([key]) => ATTRIBUTES.has(key)))
  }
}

/**
 * The parts of a trace, as they were recorded: each root with the spans below it. One trace id can have several roots, even
 * of several organizations, because a request can continue a trace of its caller.
 */
const partsOf = (spans: ReadonlyArray<OtlpSpan>): ReadonlyArray<ReadonlyArray<OtlpSpan>> => {
  const known = new Set(spans.map(({ spanId }) => spanId))
  const children = Arr.groupBy(spans, ({ parentSpanId = "" }) => parentSpanId)
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === undefined || !known.has(parentSpanId))
  const order = new Map(spans.map((span, index) => [span, index]))
  const visited = new Set<OtlpSpan>(roots)
  return roots.map((root) => {
    const below: Array<OtlpSpan> = []
    for (let span: OtlpSpan | undefined = root, next = 0; span !== undefined; span = below[next++])
      for (const child of children[span.spanId] ?? [])
        if (!visited.has(child)) {
          visited.add(child)
          below.push(child)
        }
    return [root, ...below.toSorted((a, b) => order.get(a)! - order.get(b)!)]
  })
}

const traceOf = (ordered: ReadonlyArray<OtlpSpan>): Trace => {
  const root = ordered[0]!
  const startedAt = BigInt(root.startTimeUnixNano)
  const dropped = root.attributes.find(({ key }) => key === DROPPED)?.value
  return {
    traceId: root.traceId,
    startedAt,
    spans: ordered.map((span) => traceSpan(span, startedAt)),
    dropped: dropped === undefined ? 0 : Number(attributeOf(dropped)),
    statements: {}
  }
}

const decode = Schema.decodeUnknownResult(TracesData)

/** Decodes a document; undefined if it isn't OTLP. */
export const fromOtlp = (document: unknown): ReadonlyArray<Trace> | undefined => {
  const data = decode(document)
  if (Result.isFailure(data)) return undefined
  const byTrace = new Map<string, Array<OtlpSpan>>()
  for (const { scopeSpans } of data.success.resourceSpans) {
    for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
      const group = byTrace.get(span.traceId)
      if (group === undefined) byTrace.set(span.traceId, [span])
      else group.push(span)
    }
  }
  return [...byTrace.values()].flatMap(partsOf).map(traceOf)
}
